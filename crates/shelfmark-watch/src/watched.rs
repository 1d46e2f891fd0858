//! A model and one of its schemas, ready to be compared with: its patterns as shapes of their requests,
//! with what they declare.
//!
//! Invariant: the requests are those that `shelfmark design calls` prints, read as a client's are.

use std::collections::BTreeSet;

use shelfmark_admin::{Declared, ModelFile};
use shelfmark_design::{Call, Document};
use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::schema::Schema;
use shelfmark_design_language::model::{Model, Read, Term, Value, canonical};
use shelfmark_design_language::syntax::tree::CondOp;
use shelfmark_design_plan::volume::{Figure, rows};
use shelfmark_design_prove::calls::Calls;

use crate::asked::{self, Reading};
use crate::items::Items;
use crate::shape::Shape;
use crate::tables::Tables;

/// Targets whose requests a server gets.
const TARGETS: [&str; 2] = ["dynamodb", "cql"];

/// A pattern, or several whose first requests are of one shape.
#[derive(Debug, Clone)]
pub struct Group {
    /// The names.
    pub patterns: Vec<String>,
    /// True for reads.
    pub reads: bool,
    /// The shape of the first request.
    pub shape: Shape,
    /// The declared rate of all, a second.
    pub rate: Option<f64>,
    /// The rows of one call, as declared.
    pub rows: Declared,
    /// True if at most one row is expected.
    pub unique: bool,
}

/// A model to compare with.
#[derive(Debug)]
pub struct Watched {
    /// The name of its text.
    pub name: String,
    document: Document,
    schema: usize,
    /// The keys.
    pub tables: Tables,
    /// The patterns.
    pub groups: Vec<Group>,
    /// Shapes of further requests of a pattern, with the place of its group.
    pub further: Vec<(Shape, usize)>,
    /// Patterns without requests, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// The row families.
    pub items: Items,
}

impl Watched {
    /// Reads a model, proves it, and takes the requests of the patterns that hold.
    ///
    /// Cost: that of [`Document::prove`].
    ///
    /// # Errors
    ///
    /// A message: the text is no model, there is no such schema, or its target is not one whose requests
    /// a server gets.
    pub fn open(file: &ModelFile) -> Result<Self, String> {
        if file.text.len() > shelfmark_design::limits::SOURCE_BYTES_MAX {
            let most = shelfmark_design::limits::SOURCE_BYTES_MAX;
            return Err(format!("a model has at most {most} bytes"));
        }
        let document =
            Document::parse(&file.name, &file.text).map_err(|report| report.to_string())?;
        let place = chosen(document.model(), file.schema.as_deref())?;
        let schema = document.model().schemas.get(place).ok_or("there is no such schema")?;
        let calls = Calls::new(document.model(), schema).ok_or("there is no such target")?;
        let requests = document.calls(&schema.name.text, None)?;
        let tables = Tables::of(schema, &calls);
        let items = Items::of(document.model(), schema, &calls);
        let mut watched = Self {
            name: file.name.clone(),
            tables,
            groups: Vec::new(),
            further: Vec::new(),
            left_out: requests.left_out,
            items,
            schema: place,
            document: document.clone(),
        };
        for call in &requests.calls {
            watched.add(call, &requests.target);
        }
        Ok(watched)
    }

    /// Returns the model.
    #[must_use]
    pub fn model(&self) -> &Model {
        self.document.model()
    }

    /// Returns the schema.
    #[must_use]
    pub fn schema(&self) -> Option<&Schema> {
        self.model().schemas.get(self.schema)
    }

    /// Returns the name of the schema.
    #[must_use]
    pub fn schema_name(&self) -> &str {
        self.schema().map_or("", |schema| schema.name.text.as_str())
    }

    /// Returns the target.
    #[must_use]
    pub fn target(&self) -> &str {
        self.schema().map_or("", |schema| schema.target.as_str())
    }

    fn add(&mut self, call: &Call, target: &str) {
        let reading = match target {
            "cql" => match call.request.get("statement").and_then(serde_json::Value::as_str) {
                Some(text) => asked::statement(text),
                None => Reading::Unread,
            },
            _ => asked::operation(&call.operation, &call.request),
        };
        let Reading::Asks(asked) = reading else {
            let why = "its request has a form that is not compared".to_owned();
            self.left_out.push((call.pattern.clone(), why));
            return;
        };
        let known =
            |groups: &[Group]| groups.iter().position(|own| own.patterns.contains(&call.pattern));
        for asked in asked {
            let shape = self.tables.shape(&asked);
            match known(&self.groups) {
                None => self.add_first(call, shape),
                Some(group) => {
                    let is_own = self.groups.get(group).is_some_and(|own| own.shape == shape);
                    if !is_own && !self.further.contains(&(shape.clone(), group)) {
                        self.further.push((shape, group));
                    }
                }
            }
        }
    }

    fn add_first(&mut self, call: &Call, shape: Shape) {
        let model = self.document.model();
        let read = model.reads.iter().find(|own| own.name.text == call.pattern);
        let write = model.writes.iter().find(|own| own.name.text == call.pattern);
        let facts = read.map(|own| &own.facts).or(write.map(|own| &own.facts));
        let rate = facts.and_then(|facts| facts.get("rate")).copied();
        let declared = read.map_or_else(Declared::default, |read| declared(model, read));
        let unique = read.is_some_and(|read| read.unique);
        if let Some(own) = self.groups.iter_mut().find(|own| own.shape == shape) {
            own.patterns.push(call.pattern.clone());
            own.rate = match (own.rate, rate) {
                (None, other) | (other, None) => other,
                (Some(one), Some(other)) => Some(one + other),
            };
            own.rows = wider(own.rows, declared);
            own.unique &= unique;
            own.reads |= read.is_some();
            return;
        }
        self.groups.push(Group {
            patterns: vec![call.pattern.clone()],
            reads: read.is_some(),
            shape,
            rate,
            rows: declared,
            unique,
        });
    }

    /// Finds the group that covers a request: its first requests, or with `true` a further one.
    #[must_use]
    pub fn covering(&self, request: &Shape) -> Option<(usize, bool)> {
        let first = self.groups.iter().enumerate();
        let first = first.filter_map(|(at, own)| Some((own.shape.covers(request)?, at)));
        let further = self.further.iter();
        let further = further.filter_map(|(shape, at)| Some((shape.covers(request)?, *at)));
        match first.min() {
            Some((_, at)) => Some((at, false)),
            None => further.min().map(|(_, at)| (at, true)),
        }
    }
}

/// Returns the place of the schema that is named, or of the only one that a server can be asked.
fn chosen(model: &Model, name: Option<&str>) -> Result<usize, String> {
    let fits = |schema: &Schema| TARGETS.contains(&schema.target.as_str());
    let all = model.schemas.iter().enumerate();
    let names = || {
        let fit = model.schemas.iter().filter(|own| fits(own)).map(|own| own.name.text.as_str());
        fit.collect::<Vec<_>>().join(", ")
    };
    if let Some(name) = name {
        let found = all.clone().find(|(_, schema)| schema.name.text == name);
        return match found {
            Some((place, schema)) if fits(schema) => Ok(place),
            Some((_, schema)) => Err(format!(
                "schema {name} is for {}; requests of dynamodb and cql are compared: {}",
                schema.target,
                names()
            )),
            None => Err(format!("there is no schema {name}; there are: {}", names())),
        };
    }
    let fitting: Vec<usize> =
        all.filter(|(_, schema)| fits(schema)).map(|(place, _)| place).collect();
    match fitting.as_slice() {
        [only] => Ok(*only),
        [] => {
            Err("the model has no schema for dynamodb or cql; derive one with: shelfmark design \
                   plan FILE --target dynamodb"
                .to_owned())
        }
        _ => Err(format!("the model has several schemas; choose one: {}", names())),
    }
}

/// Returns the rows of one call of a read, by the counts and fan-outs that the model declares.
fn declared(model: &Model, read: &Read) -> Declared {
    if read.unique {
        return Declared { average: None, p99: None, max: Some(1.0) };
    }
    let most = constant(read.limit.as_ref());
    let sum = |figure: Figure| -> Option<f64> {
        let each = read.sources.iter().map(|source| {
            // A limit of its own bounds a row type as one of all rows bounds them all.
            let own = constant(source.limit.as_ref());
            match (of_source(model, source, figure), own) {
                (Some(rows), Some(own)) => Some(rows.min(own)),
                (rows, own) => rows.or(own.filter(|_| figure == Figure::Worst)),
            }
        });
        let all: Option<f64> = each.sum();
        // Without a declared figure a constant limit still is one, at most.
        match (all, most) {
            (Some(all), Some(most)) => Some(all.min(most)),
            (None, Some(most)) if figure == Figure::Worst => Some(most),
            (all, _) => all,
        }
    };
    Declared { average: sum(Figure::Average), p99: sum(Figure::P99), max: sum(Figure::Worst) }
}

/// Returns the number of a limit that is no input.
fn constant(limit: Option<&Term>) -> Option<f64> {
    match limit {
        Some(Term::Const(Value::Int(most))) => Some(*most as f64),
        _ => None,
    }
}

fn of_source(model: &Model, source: &Source, figure: Figure) -> Option<f64> {
    let (equal, other): (Vec<_>, Vec<_>) =
        source.predicates.iter().partition(|own| matches!(own.op, CondOp::Eq | CondOp::In));
    // How much a range or a sparse attribute leaves is not declared; at most it is all.
    if !other.is_empty() && figure != Figure::Worst {
        return None;
    }
    let known: BTreeSet<_> =
        equal.iter().map(|own| canonical(model, source.relation, &own.path)).collect();
    rows(model, source.relation, &known, figure)
}

/// Returns the larger of two figures, where both are declared.
fn wider(one: Declared, other: Declared) -> Declared {
    let larger = |one: Option<f64>, other: Option<f64>| Some(one?.max(other?));
    Declared {
        average: larger(one.average, other.average),
        p99: larger(one.p99, other.p99),
        max: larger(one.max, other.max),
    }
}

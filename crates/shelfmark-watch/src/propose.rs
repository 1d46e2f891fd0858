//! Writes the line of the model language that would cover a request that no pattern covers.
//!
//! What it is not: advice. Whether a key can serve the line is for the prover; the line says what is asked.
//!
//! Invariant: appended to its model, each line is a text of the language.

use std::collections::BTreeSet;

use shelfmark_design_language::model::schema::{Family, Part};
use shelfmark_design_language::model::{ColumnPath, Model, Term, canonical};
use shelfmark_design_prove::closure::determines_tuple;

use crate::shape::{Bound, Kind, STRANGE, Shape};
use crate::template::Template;
use crate::watched::Watched;

/// Lines for one request: one for each row family that its range may hold.
const LINES_MAX: usize = 4;

/// Returns why no pattern covers a request, and the lines that would.
pub(crate) fn proposed(watched: &Watched, shape: &Shape, rate: f64) -> (String, Vec<String>) {
    let Some(key) = watched.tables.find(&shape.table, shape.index.as_deref()) else {
        let what = match &shape.index {
            Some(index) if watched.tables.has(&shape.table) => {
                format!("index {index} of {}", shape.table)
            }
            _ => format!("table {}", shape.table),
        };
        return (format!("the model has no {what}"), Vec::new());
    };
    if shape.parts.iter().any(|own| own.bound.forms().first() == STRANGE) {
        return ("no row of the model has such a key".to_owned(), Vec::new());
    }
    let Some(schema) = watched.schema() else { return (String::new(), Vec::new()) };
    let names: Vec<&str> = key.columns.iter().map(|own| own.name.as_str()).collect();
    let families = schema.of_table(key.id).map(|(_, family)| family);
    let families = families.filter(|family| fits(family, shape, &names));
    let mut lines = Vec::new();
    for family in families {
        let attributes = Asked::of(watched, family, shape, &names);
        let line = match shape.kind {
            Kind::Read => Some(attributes.read(shape, rate)),
            Kind::Put | Kind::Update | Kind::Delete => attributes.write(shape),
        };
        if let Some(line) = line.filter(|line| !lines.contains(line)) {
            lines.push(line);
        }
    }
    let more = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    let mut why = why(watched, shape);
    if more > 0 {
        why += &format!("; {more} further row types lie in its range");
    }
    (why, lines)
}

/// Says what of the key is not bound, or which pattern is nearest.
fn why(watched: &Watched, shape: &Shape) -> String {
    let of_table = |own: &&crate::watched::Group| {
        own.shape.table == shape.table && own.shape.kind == shape.kind
    };
    if shape.kind == Kind::Read && shape.parts.is_empty() {
        return "it reads the whole table, and no pattern does".to_owned();
    }
    let near = watched.groups.iter().filter(of_table).find(|own| {
        let columns =
            |shape: &Shape| shape.parts.iter().map(|own| own.column.clone()).collect::<Vec<_>>();
        own.shape.index == shape.index && columns(&own.shape) == columns(shape)
    });
    match near {
        Some(near) => format!("nearest is {}: {}", near.patterns.join(", "), near.shape),
        None => "no pattern binds these parts of the key".to_owned(),
    }
}

/// Returns true if rows of the family may lie in the range.
fn fits(family: &Family, shape: &Shape, names: &[&str]) -> bool {
    shape.parts.iter().all(|part| {
        let at = names.iter().position(|own| *own == part.column);
        let Some(column) = at.and_then(|at| family.key.get(at)) else { return true };
        let template = Template::of(&column.parts);
        match &part.bound {
            Bound::Equal(forms) => forms.0.iter().any(|own| *own == template.form() || own == "*"),
            Bound::Prefix(forms) | Bound::Range { forms, .. } => forms.0.iter().any(|own| {
                let begun = own.trim_end_matches('…');
                own == "*" || template.begun(begun).is_some()
            }),
        }
    })
}

/// A request to a row family, in attributes of its entity or link.
struct Asked<'m> {
    model: &'m Model,
    family: &'m Family,
    /// Attributes that have one value.
    equal: Vec<ColumnPath>,
    /// Attributes between two ends.
    between: Vec<(ColumnPath, bool, bool)>,
    /// The attributes behind those, in the order of the key.
    order: Vec<ColumnPath>,
}

impl<'m> Asked<'m> {
    fn of(watched: &'m Watched, family: &'m Family, shape: &Shape, names: &[&str]) -> Self {
        let model = watched.model();
        let mut found =
            Self { model, family, equal: Vec::new(), between: Vec::new(), order: Vec::new() };
        for (at, column) in family.key.iter().enumerate() {
            let name = names.get(at).copied().unwrap_or_default();
            let part = shape.parts.iter().find(|own| own.column == name);
            let paths = paths(model, family, &column.parts);
            match part.map(|own| &own.bound) {
                Some(Bound::Equal(_)) => found.equal.extend(paths),
                Some(Bound::Range { from, to, .. }) => {
                    found.between.extend(paths.first().map(|path| (path.clone(), *from, *to)));
                    found.order.extend(paths);
                }
                Some(Bound::Prefix(_)) | None => found.order.extend(paths),
            }
        }
        // Columns of CQL beside the key are attributes by their names.
        for part in shape.parts.iter().filter(|own| !names.contains(&own.column.as_str())) {
            let relation = model.relation(family.source);
            if let (Some(column), Bound::Equal(_)) = (relation.column(&part.column), &part.bound) {
                found.equal.push(vec![column]);
            }
        }
        let equal: BTreeSet<ColumnPath> = found.equal.drain(..).collect();
        found.order.retain(|path| !equal.contains(path));
        found.equal = equal.into_iter().collect();
        found
    }

    fn text(&self, path: &[usize]) -> String {
        self.model.path_text(self.family.source, path)
    }

    fn source(&self) -> &'m str {
        &self.model.relation(self.family.source).name.text
    }

    /// Returns a name of a pattern: of the verb, the entity and the attributes that it knows.
    fn name(&self, verb: &str) -> String {
        let known = self.equal.iter().chain(self.between.iter().map(|(path, ..)| path));
        let known: Vec<String> = known.map(|path| self.text(path).replace('.', "_")).collect();
        let name = format!("{verb}{}", self.source().to_lowercase());
        if known.is_empty() { name } else { format!("{name}_by_{}", known.join("_")) }
    }

    fn read(&self, shape: &Shape, rate: f64) -> String {
        let (mut params, mut conditions) = (Vec::new(), Vec::new());
        for (at, path) in self.equal.iter().enumerate() {
            params.push(format!("p{at}"));
            conditions.push(format!("{} = p{at}", self.text(path)));
        }
        for (at, (path, from, to)) in self.between.iter().enumerate() {
            let name = self.text(path);
            let (low, high) = (format!("from{at}"), format!("to{at}"));
            conditions.push(match (from, to) {
                (true, true) => format!("{name} between {low} and {high}"),
                (true, false) => format!("{name} >= {low}"),
                _ => format!("{name} <= {high}"),
            });
            params.extend(from.then_some(low));
            params.extend(to.then_some(high));
        }
        let equal: BTreeSet<ColumnPath> = self.equal.iter().cloned().collect();
        let unique = determines_tuple(self.model, self.family.source, &equal);
        let mut line = String::new();
        if shape.limited && !unique {
            params.push("n".to_owned());
        }
        let verb = if conditions.is_empty() { "every_" } else { "" };
        line += &format!("read {}({}) = {}", self.name(verb), params.join(", "), self.source());
        if !conditions.is_empty() {
            line += &format!(" where {}", conditions.join(" and "));
        }
        // A read of a whole hashed table has no order.
        let ordered = !unique && !shape.parts.is_empty() && !self.order.is_empty();
        if ordered && (shape.limited || shape.backward || !self.between.is_empty()) {
            let direction = if shape.backward { " desc" } else { "" };
            let keys: Vec<String> =
                self.order.iter().map(|path| format!("{}{direction}", self.text(path))).collect();
            line += &format!(" order by {}", keys.join(", "));
        }
        line += if unique { " unique" } else { "" };
        line += if shape.limited && !unique { " limit n" } else { "" };
        line += &rate_text(rate);
        line
    }

    fn write(&self, shape: &Shape) -> Option<String> {
        let relation = self.model.relation(self.family.source);
        let columns = |columns: &[usize]| -> Vec<String> {
            columns.iter().map(|own| relation.column_name(*own).to_owned()).collect()
        };
        let given = |names: &[String]| {
            let texts = names.iter().enumerate().map(|(at, name)| format!("{name} p{at}"));
            texts.collect::<Vec<_>>().join(", ")
        };
        let params =
            |count: usize| (0..count).map(|at| format!("p{at}")).collect::<Vec<_>>().join(", ");
        let (source, key) = (self.source(), columns(relation.key()));
        let changed = shape.changes.iter().filter_map(|own| relation.column(own));
        let changed = columns(&changed.collect::<Vec<_>>());
        match shape.kind {
            Kind::Put => {
                let all: Vec<usize> = (0..relation.columns.len()).collect();
                if !relation.is_link {
                    let (all, name) = (columns(&all), self.name("insert_"));
                    let params = params(all.len());
                    return Some(format!(
                        "write {name}({params}) = insert {source}({})",
                        given(&all)
                    ));
                }
                let rest: Vec<usize> =
                    all.into_iter().filter(|own| !relation.key().contains(own)).collect();
                let (rest, name) = (columns(&rest), self.name("link_"));
                let params = params(key.len() + rest.len());
                let sets = rest.iter().enumerate();
                let sets = sets.map(|(at, own)| format!("{own} = p{}", key.len() + at));
                let sets = sets.collect::<Vec<_>>().join(", ");
                let set = if sets.is_empty() { String::new() } else { format!(" set {sets}") };
                Some(format!("write {name}({params}) = link {source}({}){set}", given(&key)))
            }
            Kind::Update if !changed.is_empty() => {
                let count = key.len() + changed.len();
                let sets = changed.iter().enumerate();
                let sets = sets.map(|(at, own)| format!("{own} = p{}", key.len() + at));
                let sets = sets.collect::<Vec<_>>().join(", ");
                let name = format!("set_{}_{}", source.to_lowercase(), changed.join("_"));
                let of_key = given(&key);
                Some(format!(
                    "write {name}({}) = update {source}({of_key}) set {sets}",
                    params(count)
                ))
            }
            Kind::Delete => {
                let name = format!("delete_{}", source.to_lowercase());
                let of_key = given(&key);
                let verb = if relation.is_link { "unlink" } else { "delete" };
                Some(format!("write {name}({}) = {verb} {source}({of_key})", params(key.len())))
            }
            Kind::Read | Kind::Update => None,
        }
    }
}

/// Returns the attributes that stand in a key column as they are.
fn paths(model: &Model, family: &Family, parts: &[Part]) -> Vec<ColumnPath> {
    let path = |part: &Part| match part {
        Part::Hole { term: Term::Column(path), .. } => Some(canonical(model, family.source, path)),
        _ => None,
    };
    parts.iter().filter_map(path).collect()
}

/// Returns a rate as a model declares it, in the largest unit in which it is at least one.
fn rate_text(rate: f64) -> String {
    let units = [(1.0, "s"), (60.0, "min"), (3_600.0, "h"), (86_400.0, "day")];
    let found = units.into_iter().find(|(seconds, _)| rate * seconds >= 1.0);
    let Some((seconds, unit)) = found else { return String::new() };
    format!(" rate {:.0}/{unit}", (rate * seconds).ceil())
}

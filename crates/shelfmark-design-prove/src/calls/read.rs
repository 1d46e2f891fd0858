//! Steps of a read as requests.

use serde_json::{Value as Json, json};

use super::Calls;
use super::expr::{Expr, Piece};
use super::request::{Ask, End, Guard, Refusal, Request};
use shelfmark_design_language::model::schema::{
    Codec, EachOf, FilterPredicate, Part, ReadStep, Serve, Step,
};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{Consistency, OrderKey, Read, Term, Value, canonical};
use shelfmark_design_language::syntax::tree::Verb;

/// Turns the steps of a plan into requests; filters and sorts stand beside the read before them.
pub(super) fn requests(
    calls: &Calls<'_>,
    read: &Read,
    serve: &Serve,
) -> Result<Vec<Request>, Refusal> {
    let sorted = serve.steps.iter().any(|step| matches!(step, Step::Sort(_)));
    let mut found: Vec<Request> = Vec::new();
    let by_uuid =
        !sorted
            && read.order.iter().any(|(key, _)| match key {
                OrderKey::Kind => false,
                OrderKey::Columns(paths) => read.sources.iter().zip(paths).any(|(source, path)| {
                    calls.model.path_type(source.relation, path) == Type::Uuid
                }),
            });
    let mut before: Option<(usize, &ReadStep)> = None;
    for step in &serve.steps {
        let Step::Read(step) = step else {
            if let Some(Request::Read { then, .. }) = found.last_mut() {
                then.push(work(read, step));
            }
            continue;
        };
        let number = found.len() + 1;
        let reader = Reader { calls, read, step, before };
        found.push(reader.request(number, by_uuid)?);
        before = Some((number, step));
    }
    Ok(found)
}

/// What the caller does with rows that came.
fn work(read: &Read, step: &Step) -> Json {
    let value = |term: &Term| plain(read, term).json();
    match step {
        Step::Filter(filters) => {
            let one = |filter: &FilterPredicate| {
                let values: Vec<Json> = filter.values.iter().map(value).collect();
                json!([filter.name, filter.op, values])
            };
            json!({ "filter": filters.iter().map(one).collect::<Vec<_>>() })
        }
        Step::Sort(orders) => {
            let one =
                |(name, desc): &(String, bool)| json!([name, if *desc { "desc" } else { "asc" }]);
            json!({ "sort": orders.iter().map(one).collect::<Vec<_>>() })
        }
        Step::Take(limit) => json!({ "take": value(limit) }),
        Step::Read(_) => Json::Null,
    }
}

/// A term of inputs and constants alone.
fn plain(read: &Read, term: &Term) -> Expr {
    match term {
        Term::Param(at) => match read.params.get(*at) {
            Some(param) => Expr::input(param),
            None => Expr::Const(Value::Null, Type::Bool),
        },
        Term::Const(value) => Expr::Const(value.clone(), type_of(value)),
        Term::Call(function, args) => {
            let args: Vec<Expr> = args.iter().map(|arg| plain(read, arg)).collect();
            let ty = args.first().map_or(Type::Bool, Expr::ty);
            Expr::Call(*function, args, ty)
        }
        Term::Each | Term::Prior(_) | Term::Column(_) => Expr::Const(Value::Null, Type::Bool),
    }
}

/// The type that a constant by itself has.
pub(super) fn type_of(value: &Value) -> Type {
    match value {
        Value::Null | Value::Bool(_) => Type::Bool,
        Value::Int(_) => Type::Int(None),
        Value::Id(_) => Type::Uuid,
        Value::Text(_) => super::expr::plain_text(),
        Value::List(items) => Type::List(Box::new(items.first().map_or(Type::Bool, type_of)), None),
    }
}

struct Reader<'a> {
    calls: &'a Calls<'a>,
    read: &'a Read,
    step: &'a ReadStep,
    /// The read before, with its number.
    before: Option<(usize, &'a ReadStep)>,
}

impl Reader<'_> {
    fn request(&self, number: usize, by_uuid: bool) -> Result<Request, Refusal> {
        let step = self.step;
        let key = self.calls.columns.key(step.table);
        let mut equal = Vec::new();
        for (at, parts) in step.bound.iter().enumerate() {
            let ty = key.get(at).map(|column| column.ty.clone());
            equal.push(self.column(parts, ty)?);
        }
        let mut ends = Vec::new();
        for (kind, parts) in &step.bounds {
            let ty = key.get(step.bound.len()).map(|column| column.ty.clone());
            let typed = matches!(parts.as_slice(), [Part::Hole { codec: Codec::Native, .. }]);
            let whole = typed || matches!(parts.last(), Some(Part::End));
            ends.push(End { kind: *kind, value: self.column(parts, ty)?, whole });
        }
        let limit = step.limit.as_ref().map(|limit| plain(self.read, limit));
        let table = self.calls.schema.tables.get(step.table);
        let is_index = table.is_some_and(|table| table.is_index);
        let point = !is_index && ends.is_empty() && equal.len() == key.len() && !key.is_empty();
        let mut guards = Vec::new();
        if let Some(limit) = limit.as_ref().filter(|limit| !is_positive(limit)) {
            let one = Expr::Const(Value::Int(1), Type::Int(None));
            guards.push(Guard {
                left: limit.clone(),
                op: shelfmark_design_language::syntax::tree::CondOp::Ge,
                right: vec![one],
            });
        }
        let fresh = matches!(self.read.consistency, Consistency::Strong | Consistency::Session);
        let each = match &step.each {
            None => self.before.map(|(before, _)| json!({ "step": before })),
            Some(EachOf::Param(at)) => {
                self.read.params.get(*at).map(|param| json!({ "$input": param.name }))
            }
            Some(EachOf::Numbers(low, high)) => Some(json!({ "from": low, "to": high })),
        };
        let get = point || step.verb == Verb::Get && limit.is_none();
        let ask = Box::new(Ask {
            table: step.table,
            equal,
            ends,
            desc: step.desc,
            limit: limit.filter(|_| !point),
            fresh: fresh && !is_index,
            by_uuid: by_uuid && !get,
            point,
        });
        Ok(Request::Read { step: number, ask, each, guards, then: Vec::new() })
    }

    /// The value of a key column.
    fn column(&self, parts: &[Part], ty: Option<Type>) -> Result<Expr, Refusal> {
        if let [Part::Hole { term, ty: of, codec: Codec::Native }] = parts {
            return self.term(term, ty.unwrap_or_else(|| of.clone()));
        }
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                Part::Literal(text) => pieces.push(Piece::Literal(text.clone())),
                Part::Hole { term, ty, codec } => {
                    pieces.push(Piece::Hole(self.term(term, ty.clone())?, *codec));
                }
                Part::End => {}
            }
        }
        Ok(Expr::text(pieces))
    }

    fn term(&self, term: &Term, ty: Type) -> Result<Expr, Refusal> {
        Ok(match term {
            Term::Param(at) => match self.read.params.get(*at) {
                Some(param) => Expr::input(param),
                None => Expr::Const(Value::Null, ty),
            },
            Term::Const(value) => Expr::Const(value.clone(), ty),
            Term::Each => self.each(ty),
            Term::Prior(path) => self.prior(path, ty)?,
            Term::Call(function, args) => {
                let of: Result<Vec<Expr>, Refusal> = args
                    .iter()
                    .map(|arg| {
                        let ty = match arg {
                            Term::Const(value) => type_of(value),
                            _ => ty.clone(),
                        };
                        self.term(arg, ty)
                    })
                    .collect();
                Expr::Call(*function, of?, ty)
            }
            Term::Column(_) => Expr::Const(Value::Null, ty),
        })
    }

    fn each(&self, ty: Type) -> Expr {
        match &self.step.each {
            Some(EachOf::Param(at)) => match self.read.params.get(*at) {
                Some(param) => {
                    let of = match &param.ty {
                        Type::List(element, _) => (**element).clone(),
                        other => other.clone(),
                    };
                    Expr::Each(param.name.clone(), of)
                }
                None => Expr::Const(Value::Null, ty),
            },
            _ => Expr::Each("number".to_owned(), ty),
        }
    }

    /// What a row of the read before shows.
    fn prior(&self, path: &[usize], ty: Type) -> Result<Expr, Refusal> {
        let Some((step, before)) = self.before else {
            return Ok(Expr::Const(Value::Null, ty));
        };
        let calls = self.calls;
        let base = calls.base_of(before.table);
        let found = self.read.sources.iter().find_map(|source| {
            let path = canonical(calls.model, source.relation, path);
            calls.columns.attribute(base, source.relation, &path).map(str::to_owned)
        });
        // A read of another relation leads there by its own attributes.
        let other = || {
            calls.schema.of_table(base).find_map(|(_, family)| {
                let path = canonical(calls.model, family.source, path);
                calls.columns.attribute(base, family.source, &path).map(str::to_owned)
            })
        };
        match found.or_else(other) {
            Some(name) => Ok(Expr::Row { name, step, ty }),
            None => Err(calls.refuse("shown", "a follow-up read is by what no row shows")),
        }
    }
}

/// Returns true if a limit is never 0 or less.
fn is_positive(limit: &Expr) -> bool {
    match limit {
        Expr::Const(Value::Int(n), _) => *n >= 1,
        other => matches!(other.ty(), Type::Int(Some((low, _))) if low >= 1),
    }
}

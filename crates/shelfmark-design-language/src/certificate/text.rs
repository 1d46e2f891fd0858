//! Formats plans and keys for people.

use super::{Range, RangeEnd};
use crate::model::pattern::{Param, Predicate};
use crate::model::schema::{
    Codec, EachOf, Part, ReadStep, Schema, Step, WritePlan, WriteStep, WriteStepKind,
};
use crate::model::value::iso_text;
use crate::model::{Function, Model, Read, RelationId, Term, Type, Value};
use crate::syntax::print::quote;
use crate::syntax::tree::{BoundKind, CondOp, Verb};
use crate::target::profile;

/// Prints a term with the names of a read's inputs.
pub fn term(read: &Read, term: &Term) -> String {
    params_term(&read.params, term)
}

/// Prints a term with the names of these inputs.
pub fn params_term(params: &[Param], term: &Term) -> String {
    match term {
        Term::Param(index) => {
            params.get(*index).map_or_else(String::new, |param| param.name.clone())
        }
        Term::Each => "each".to_owned(),
        Term::Const(Value::Int(n)) => n.to_string(),
        Term::Const(Value::Text(text)) => format!("{text:?}"),
        Term::Const(value) => value.text(&Type::Uuid),
        Term::Prior(_) => "row".to_owned(),
        Term::Column(_) => "column".to_owned(),
        Term::Call(Function::Div, args) => {
            let args: Vec<String> = args.iter().map(|arg| params_term(params, arg)).collect();
            args.join("/")
        }
        Term::Call(function, args) => {
            let args: Vec<String> = args.iter().map(|arg| params_term(params, arg)).collect();
            format!("{}({})", function.name(), args.join(", "))
        }
    }
}

/// Writes conditions of rows with constants, as a schema has them; those that no schema has are left out.
pub fn conditions(model: &Model, relation: RelationId, all: &[Predicate]) -> String {
    let texts: Vec<String> = all.iter().filter_map(|one| condition(model, relation, one)).collect();
    texts.join(" and ")
}

/// Writes a comparison with a constant, as a schema has it.
pub fn condition(model: &Model, relation: RelationId, one: &Predicate) -> Option<String> {
    let name = model.path_text(relation, &one.path);
    let word = match one.op {
        CondOp::Present => return Some(format!("{name} is present")),
        CondOp::Absent => return Some(format!("{name} is absent")),
        CondOp::Eq => "=",
        CondOp::Lt => "<",
        CondOp::Le => "<=",
        CondOp::Gt => ">",
        CondOp::Ge => ">=",
        _ => return None,
    };
    let ty = model.path_type(relation, &one.path);
    let Some(Term::Const(value)) = one.values.first() else { return None };
    let value = match (value, &ty) {
        (Value::Int(at), Type::Timestamp) => quote(&iso_text(*at)),
        (Value::Int(n), Type::Int(_) | Type::Decimal(_)) => n.to_string(),
        (Value::Bool(bit), _) => bit.to_string(),
        (value, ty) => quote(&value.text(ty)),
    };
    Some(format!("{name} {word} {value}"))
}

/// Formats a column's text with its holes: `chats#<c>#message#`.
pub fn parts(parts: &[Part], hole: &impl Fn(&Term) -> String) -> String {
    parts
        .iter()
        .map(|part| match part {
            Part::Literal(text) => text.clone(),
            Part::End => String::new(),
            Part::Hole { term, codec, .. } => {
                let codec = match codec {
                    Codec::Native | Codec::Plain => String::new(),
                    Codec::Pad(width) => format!(":pad({width})"),
                    Codec::Lexint => ":lexint".to_owned(),
                    Codec::Iso => ":iso".to_owned(),
                    Codec::Esc => ":esc".to_owned(),
                };
                format!("<{}{codec}>", hole(term))
            }
        })
        .collect()
}

/// Formats a column of a read's plan: inputs by their names, attributes of earlier rows as `row.…`.
pub fn column(model: &Model, read: &Read, column: &[Part]) -> String {
    let source = read.sources.first().map_or(0, |source| source.relation);
    let hole = |one: &Term| match one {
        Term::Prior(path) => format!("row.{}", model.path_text(source, path)),
        other => term(read, other),
    };
    parts(column, &hole)
}

fn kind_word(kind: BoundKind) -> &'static str {
    match kind {
        BoundKind::Begins => "begins",
        BoundKind::From => "from",
        BoundKind::After => "after",
        BoundKind::To => "to",
        BoundKind::Before => "before",
        BoundKind::Through => "through",
    }
}

/// Returns the range of a read step, with the pattern's inputs in it.
pub fn range(model: &Model, schema: &Schema, read: &Read, step: &ReadStep) -> Range {
    let table = schema.tables.get(step.table);
    let partition = table.map_or(0, |table| table.partition);
    let texts: Vec<String> = step.bound.iter().map(|one| column(model, read, one)).collect();
    let (head, fixed) = texts.split_at(partition.min(texts.len()));
    let mut from = fixed.to_vec();
    let mut to = fixed.to_vec();
    let mut prefix = step.bounds.is_empty();
    let mut ends = Vec::new();
    for (kind, end) in &step.bounds {
        let text = column(model, read, end);
        let whole = matches!(end.last(), Some(Part::End));
        ends.push(RangeEnd { kind: kind_word(*kind).to_owned(), value: text.clone(), whole });
        match kind {
            BoundKind::Begins => {
                from.push(text.clone());
                to.push(text);
                prefix = true;
            }
            BoundKind::From => from.push(text),
            BoundKind::After => from.push(format!("after {text}")),
            BoundKind::To => to.push(format!("to {text}")),
            BoundKind::Before => to.push(format!("before {text}")),
            BoundKind::Through => to.push(format!("through {text}")),
        }
    }
    Range {
        table: table.map_or_else(String::new, |table| table.name.text.clone()),
        partition: head.to_vec(),
        from,
        to,
        prefix,
        descending: step.desc,
        limit: step.limit.as_ref().map(|limit| term(read, limit)),
        equal: fixed.to_vec(),
        ends,
    }
}

/// Formats the steps of a read, one line each.
pub fn steps(model: &Model, schema: &Schema, read: &Read, steps: &[Step]) -> Vec<String> {
    steps
        .iter()
        .map(|step| match step {
            Step::Read(step) => read_step(model, schema, read, step),
            Step::Also(step) => format!("and {}", read_step(model, schema, read, step)),
            Step::Filter(filters) => {
                let names: Vec<&str> = filters.iter().map(|filter| filter.name.as_str()).collect();
                format!("filter by {} outside the store", names.join(", "))
            }
            Step::Sort(orders) => {
                let names: Vec<&str> = orders.iter().map(|(name, _)| name.as_str()).collect();
                format!("sort by {} outside the store", names.join(", "))
            }
            Step::Take(limit) => format!("take {}", term(read, limit)),
        })
        .collect()
}

fn read_step(model: &Model, schema: &Schema, read: &Read, step: &ReadStep) -> String {
    let range = range(model, schema, read, step);
    let mut out = match &step.each {
        None => String::new(),
        Some(EachOf::Numbers(low, high)) => format!("for each of {low}..{high}: "),
        Some(EachOf::Param(index)) => {
            format!("for each of {}: ", term(read, &Term::Param(*index)))
        }
    };
    out.push_str(if step.verb == Verb::Get { "get " } else { "range of " });
    out.push_str(&range.table);
    if !range.partition.is_empty() {
        out.push_str(&format!(" in ({})", range.partition.join(", ")));
    }
    if range.prefix {
        if !range.from.is_empty() {
            let word = if step.verb == Verb::Get { "at" } else { "beginning with" };
            out.push_str(&format!(" {word} ({})", range.from.join(", ")));
        }
    } else {
        out.push_str(&format!(" from ({}) to ({})", range.from.join(", "), range.to.join(", ")));
    }
    if range.descending {
        out.push_str(", backwards");
    }
    if let Some(limit) = range.limit {
        out.push_str(&format!(", first {limit}"));
    }
    out
}

/// Formats the steps of a write, one line each.
pub fn write_steps(schema: &Schema, plan: &WritePlan) -> Vec<String> {
    plan.steps
        .iter()
        .map(|step| {
            let name = step.families.first().and_then(|id| schema.families.get(*id));
            let name = name.map_or("", |family| family.name.text.as_str());
            let (verb, each) = match &step.kind {
                WriteStepKind::Read { .. } => ("read", &None),
                WriteStepKind::Put { each } => ("put", each),
                WriteStepKind::Delete { each } => ("delete", each),
                WriteStepKind::Patch { each } => ("patch", each),
            };
            let each = each.as_ref().map_or_else(String::new, |each| format!(" for each {each}"));
            // Where a transaction takes one operation for an item, a put under the same key is all.
            let once = profile(&schema.target).is_some_and(|target| target.one_operation_per_item);
            let put_too = |other: &WriteStep| {
                matches!(other.kind, WriteStepKind::Put { .. })
                    && other.transaction == step.transaction
                    && other.families.iter().any(|id| step.families.contains(id))
            };
            let deletes = matches!(step.kind, WriteStepKind::Delete { .. });
            let moved =
                once && deletes && step.transaction.is_some() && plan.steps.iter().any(put_too);
            let moved = if moved { " where its key changes" } else { "" };
            let inside =
                step.transaction.map_or_else(String::new, |n| format!(" (transaction {n})"));
            format!("{verb} {name}{each}{moved}{inside}")
        })
        .collect()
}

/// Returns a row in the form of witnesses, with the values of its columns as texts.
pub fn row<'v>(
    table: &str,
    key: impl Iterator<Item = String>,
    fields: impl Iterator<Item = (String, &'v Value)>,
) -> serde_json::Value {
    let ty = Type::Int(None);
    let values = fields.map(|(name, value)| (name, value.json(&ty)));
    super::shown::row(table, key.map(serde_json::Value::from).collect(), values.collect())
}

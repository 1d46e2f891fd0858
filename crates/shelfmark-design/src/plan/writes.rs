//! Plans of writes as text. The prover derives them; this writes them down, with the transaction
//! around them that the target has.

use super::serve::term;
use crate::document::Document;
use crate::model::pattern::Write;
use crate::model::schema::{Schema, WritePlan, WriteStep, WriteStepKind};
use crate::model::{Model, Term, Value};
use crate::prove;
use crate::target::Target;

/// The plans of all writes in a schema given as text.
pub(super) fn plans(
    document: &Document,
    schema: &str,
    target: &Target,
) -> Result<Vec<String>, String> {
    let whole =
        Document::parse("plan", &document.with_only(schema)).map_err(|report| report.text)?;
    let model = &whole.model;
    let Some(schema) = model.schemas.first() else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for (index, write) in model.writes.iter().enumerate() {
        let plan = prove::writes::plan(model, schema, target, index, write);
        found.extend(text(model, schema, target, write, &plan));
    }
    Ok(found)
}

fn text(
    model: &Model,
    schema: &Schema,
    target: &Target,
    write: &Write,
    plan: &WritePlan,
) -> Option<String> {
    if plan.steps.is_empty() {
        return None;
    }
    let mut reads = Vec::new();
    let mut changes = Vec::new();
    for one in &plan.steps {
        let line = step(model, schema, write, one)?;
        if matches!(one.kind, WriteStepKind::Read { .. }) {
            reads.push(line)
        } else {
            changes.push(line)
        }
    }
    let together = |lines: &[String]| format!("transaction {{ {} }}", lines.join(" ; "));
    let steps = if reads.len() + changes.len() < 2 || !target.transactions {
        [reads, changes].concat()
    } else if target.reading_transactions {
        vec![together(&[reads, changes].concat())]
    } else if changes.len() > 1 {
        [reads, vec![together(&changes)]].concat()
    } else {
        [reads, changes].concat()
    };
    Some(format!("write {} {{ {} }}", write.name.text, steps.join(" ; ")))
}

fn step(model: &Model, schema: &Schema, write: &Write, step: &WriteStep) -> Option<String> {
    let family = step.families.first().and_then(|id| schema.families.get(*id))?;
    let name = match family.base {
        None => &family.name.text,
        Some(_) => &schema.tables.get(family.table)?.name.text,
    };
    let each = |each: &Option<String>| {
        each.as_ref().map_or_else(String::new, |alias| format!(" for each {alias}"))
    };
    Some(match &step.kind {
        WriteStepKind::Put { each: one } => format!("put {name}{}", each(one)),
        WriteStepKind::Delete { each: one } => format!("delete {name}{}", each(one)),
        WriteStepKind::Patch { each: one } => format!("patch {name}{}", each(one)),
        WriteStepKind::Read { bindings, alias } => {
            let mut conds = Vec::new();
            for (path, value) in bindings {
                let value = condition(write, value)?;
                conds.push(format!("{} = {value}", model.path_text(family.source, path)));
            }
            let filter = if conds.is_empty() {
                String::new()
            } else {
                format!(" where {}", conds.join(" and "))
            };
            let alias = alias.as_ref().map_or_else(String::new, |name| format!(" as {name}"));
            format!("read {name}{filter}{alias}")
        }
    })
}

/// In conditions a text is a text, without holes.
fn condition(write: &Write, value: &Term) -> Option<String> {
    match value {
        Term::Const(Value::Text(text)) => Some(crate::syntax::print::quote(text)),
        other => term(&write.params, other),
    }
}

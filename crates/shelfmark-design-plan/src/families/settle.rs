//! Completes a derived schema: proves its reads, derives the plans of its writes and writes them
//! with the transactions that the target has.
//!
//! Invariant: no plan is written down that the prover refuses, and each pattern without one has a
//! note that says why.

use std::collections::{BTreeMap, BTreeSet};

use super::serve::term;
use crate::basis::Basis;
use shelfmark_design_language::certificate::text;
use shelfmark_design_language::model::pattern::Write;
use shelfmark_design_language::model::schema::{Schema, Step, WritePlan, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{Model, Term, Value};
use shelfmark_design_language::syntax::print::quote;
use shelfmark_design_language::syntax::tree::Existing;
use shelfmark_design_language::target::Target;
use shelfmark_design_prove::write_case::WriteCase;
use shelfmark_design_prove::{ReadProof, decisive, prove_read, write, write_certificate};

/// The findings about a schema.
#[derive(Default)]
pub(crate) struct Settled {
    /// Reads that it does not serve, and why.
    pub(crate) refused: BTreeMap<usize, String>,
    pub(crate) writes: Vec<String>,
    /// Writes that have no plan.
    pub(crate) lost: BTreeSet<usize>,
    pub(crate) notes: Vec<String>,
    /// Writes with conditions that change rows behind the one that compares, where others may come between.
    pub(crate) trailing: usize,
    /// True if each write has a plan, and each count.
    pub(crate) sound: bool,
}

/// Proves the reads of a schema and derives its writes.
pub(crate) fn settle(
    basis: &Basis<'_>,
    skeleton: &str,
    written: &BTreeSet<usize>,
    target: &Target,
) -> Result<Settled, String> {
    let model = &basis.with(skeleton)?;
    let mut settled = Settled { sound: true, ..Settled::default() };
    let Some(schema) = model.schemas.first() else { return Ok(settled) };
    for (index, read) in model.reads.iter().enumerate() {
        let proof = prove_read(model, schema, target, index, read);
        if let Some(failure) = decisive(&proof.analysis) {
            settled.refused.insert(index, failure.reason.clone());
        } else if !written.contains(&index) {
            let steps = text::steps(model, schema, read, steps_of(&proof));
            settled.notes.push(format!(
                "{} is served by {}, which cannot be written here; the prover finds it",
                read.name.text,
                steps.join(", then ")
            ));
        }
    }
    for case in WriteCase::all(model, schema, target) {
        settled.write(case);
    }
    Ok(settled)
}

fn steps_of(proof: &ReadProof) -> &[Step] {
    proof.serve.as_ref().map_or(&[], |serve| serve.steps.as_slice())
}

impl Settled {
    fn write(&mut self, case: WriteCase<'_>) {
        let name = &case.write.name.text;
        let mut plan = write_certificate::plan(case);
        let mut analysis = write::prove_write(case, &plan);
        // Changes are written together where the target has a transaction for them; one by one where
        // only that is right.
        let together = all_together(case, &plan);
        let proven = together.as_ref().map(|plan| write::prove_write(case, plan));
        if let (Some(whole), Some(proven)) = (together, proven)
            && (decisive(&proven).is_none()
                || case.write.effects.len() > 1 && decisive(&analysis).is_some())
        {
            (plan, analysis) = (whole, proven);
        }
        if decisive(&analysis).is_none() {
            plan = without_idle_reads(case, plan);
        }
        if plan.steps.is_empty() {
            self.lost.insert(case.index);
            self.notes.push(format!("{name} has no plan: no row here holds what it changes"));
        } else if let Some(failure) = decisive(&analysis) {
            self.lost.insert(case.index);
            self.sound &= failure.lint == "M2";
            self.notes.push(format!("{name} has no plan: {}", failure.reason));
        } else if let Some(line) = line(case, &plan) {
            let asks = case.write.effects.iter().any(|effect| !effect.conditions.is_empty());
            let changes = plan.steps.iter().filter(|step| !step.kind.is_read());
            let apart = changes.filter(|step| step.transaction.is_none()).count() > 1;
            self.trailing += usize::from(asks && apart);
            self.writes.push(line);
        } else {
            self.notes.push(format!(
                "{name} has a plan that cannot be written here, because of a constant in it; the \
                 prover finds it"
            ));
        }
    }
}

/// Returns the plan of a write that replaces without the reads that it needs not: a row that is put
/// whatever is there was looked at for nothing.
fn without_idle_reads(case: WriteCase<'_>, mut plan: WritePlan) -> WritePlan {
    let replaces = case.write.effects.iter().any(|effect| effect.existing == Existing::Replace);
    let mut at = 0;
    while replaces && let Some(step) = plan.steps.get(at) {
        if step.kind.is_read() && plan.steps.len() > 1 {
            let mut lean = plan.clone();
            lean.steps.remove(at);
            if decisive(&write::prove_write(case, &lean)).is_none() {
                plan = lean;
                continue;
            }
        }
        at += 1;
    }
    plan
}

/// Returns the plan with its changes in one transaction, if the target has one that does not read and
/// there are several.
fn all_together(case: WriteCase<'_>, plan: &WritePlan) -> Option<WritePlan> {
    let changes = plan.steps.iter().filter(|step| !step.kind.is_read()).count();
    let target = case.target;
    let several = changes > 1 || changes == 1 && case.write.effects.len() > 1;
    if !target.transactions || target.reading_transactions || !several {
        return None;
    }
    let mut plan = plan.clone();
    for step in &mut plan.steps {
        step.transaction = (!step.kind.is_read()).then_some(1);
    }
    Some(plan)
}

fn line(case: WriteCase<'_>, plan: &WritePlan) -> Option<String> {
    let WriteCase { model, schema, target, write, .. } = case;
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
    let grouped = plan.steps.iter().any(|one| one.transaction.is_some());
    // One step changes several tuples, perhaps.
    let several = reads.len() + changes.len() > 1 || write.effects.len() > 1 && grouped;
    let steps = if !several || !target.transactions {
        [reads, changes].concat()
    } else if target.reading_transactions {
        vec![together(&[reads, changes].concat())]
    } else if grouped && (changes.len() > 1 || write.effects.len() > 1) {
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
        // In an index that row types share, the entry has its row's name too.
        Some(_) if schema.of_table(family.table).count() > 1 => &family.name.text,
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
                let value = match (value, write.effects.as_slice()) {
                    (Term::Prior(path), [effect]) => {
                        format!("row.{}", model.path_text(effect.relation, path))
                    }
                    (value, _) => condition(write, value)?,
                };
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

/// Writes a value in a condition, where a text is a text, without holes.
fn condition(write: &Write, value: &Term) -> Option<String> {
    match value {
        Term::Const(Value::Text(text)) => Some(quote(text)),
        other => term(&write.params, other),
    }
}

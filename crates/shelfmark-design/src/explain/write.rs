//! Explains which rows a write touches, and where each of their keys comes from.

use shelfmark_design_language::model::schema::WriteStepKind;
use shelfmark_design_prove::concurrency::concurrency;
use shelfmark_design_prove::paths::all_key_paths;
use shelfmark_design_prove::unique::available;
use shelfmark_design_prove::write_case::WriteCase;
use shelfmark_design_prove::{decisive, write::prove_write, write_certificate};

pub(super) fn text(case: WriteCase<'_>) -> String {
    let WriteCase { model, schema, .. } = case;
    let plan = write_certificate::plan(case);
    let analysis = prove_write(case, &plan);
    let mut out = String::new();
    if plan.steps.is_empty() {
        out.push_str("No row family of this schema holds what it changes.\n");
    }
    for step in &plan.steps {
        let Some(family) = step.families.first().and_then(|id| schema.families.get(*id)) else {
            continue;
        };
        let names = |paths: &std::collections::BTreeSet<Vec<usize>>| {
            let names: Vec<String> =
                paths.iter().map(|path| model.path_text(family.source, path)).collect();
            names.join(", ")
        };
        let keys = all_key_paths(model, family);
        let (verb, why) = match &step.kind {
            WriteStepKind::Read { .. } => {
                ("read", format!("to learn {}", names(available(model, family))))
            }
            WriteStepKind::Put { each } => ("put", loop_text(each, &names(&keys))),
            WriteStepKind::Delete { each } => ("delete", loop_text(each, &names(&keys))),
            WriteStepKind::Patch { each } => ("patch", loop_text(each, &names(&keys))),
        };
        let inside = if step.transaction.is_some() { "  in one transaction: " } else { "  " };
        out.push_str(&format!("{inside}{verb} {}, {why}\n", family.name.text));
    }
    let indexes: Vec<&str> = schema
        .families
        .iter()
        .filter(|family| family.base.is_some_and(|base| analysis.families.contains(&base)))
        .filter_map(|family| schema.tables.get(family.table))
        .map(|table| table.name.text.as_str())
        .collect();
    if !indexes.is_empty() {
        out.push_str(&format!("  the store keeps {} up to date\n", indexes.join(", ")));
    }
    out.push_str(&match decisive(&analysis) {
        None => {
            let alone = "It is certified: executed alone, it leaves exactly the rows of the \
                         changed state.\n";
            let beside = concurrency(case, &plan);
            let beside = beside.map(|one| format!("Beside others: {}.\n", one.text()));
            format!("{alone}{}", beside.unwrap_or_default())
        }
        Some(failure) => format!(
            "It is refused by O{}: {}. `shelfmark design explain {}` says more.\n",
            failure.obligation, failure.reason, failure.lint
        ),
    });
    out
}

fn loop_text(each: &Option<String>, keys: &str) -> String {
    match each {
        None => format!("whose key is made of {keys}"),
        Some(alias) => format!("once for each {alias}; its key is made of {keys}"),
    }
}

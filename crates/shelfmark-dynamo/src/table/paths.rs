//! Document paths, and the check that none leads into a key attribute.

use shelfmark_model::{Condition, Operand, Patch, PatchValue, Path, Projection, TableSchema};

use crate::errors::{Error, Result, texts};

/// Refuses paths that lead into an attribute of the table's key or of an index's.
///
/// Source: the service's answer as open-source emulators record it, read 2026-11.
pub(crate) fn check_key_paths<'p>(
    schema: &TableSchema,
    paths: impl IntoIterator<Item = &'p Path>,
) -> Result<()> {
    let nested: Vec<&Path> = paths.into_iter().filter(|path| !path.steps.is_empty()).collect();
    let refused = |kind: &str, name: &str| Err(Error::validation(texts::path_into_key(kind, name)));
    let leads_into = |name: &str| nested.iter().any(|path| path.attribute == name);
    if nested.is_empty() {
        return Ok(());
    }
    if let Some(name) = schema.key_names().find(|name| leads_into(name)) {
        return refused("Key", name);
    }
    for index in &schema.indexes {
        let partition = index.partition.iter().map(|column| &column.name);
        let sort = index.sort.iter().map(|column| &column.name);
        if let Some(name) = partition.chain(sort).find(|name| leads_into(name)) {
            return refused("IndexKey", name);
        }
    }
    Ok(())
}

/// Returns the paths of a projection.
pub(crate) fn projected(projection: &Projection) -> &[Path] {
    match projection {
        Projection::All => &[],
        Projection::Paths(paths) => paths,
    }
}

/// Returns the paths that an update names, written or read.
pub(crate) fn of_patch(patch: &Patch) -> Vec<&Path> {
    let mut paths: Vec<&Path> = Vec::with_capacity(patch.operations.len());
    for operation in &patch.operations {
        paths.push(operation.path());
        if let shelfmark_model::PatchOperation::Set(_, value) = operation {
            of_value(value, &mut paths);
        }
    }
    paths
}

fn of_value<'p>(value: &'p PatchValue, paths: &mut Vec<&'p Path>) {
    match value {
        PatchValue::Operand(operand) => of_operand(operand, paths),
        PatchValue::IfNotExists(path, other) => {
            paths.push(path);
            of_value(other, paths);
        }
        PatchValue::Plus(one, two)
        | PatchValue::Minus(one, two)
        | PatchValue::ListAppend(one, two) => {
            of_value(one, paths);
            of_value(two, paths);
        }
    }
}

fn of_operand<'p>(operand: &'p Operand, paths: &mut Vec<&'p Path>) {
    match operand {
        Operand::Path(path) | Operand::Size(path) => paths.push(path),
        Operand::Value(_) => {}
    }
}

/// Collects the paths that a condition names.
pub(crate) fn of_condition<'c>(condition: &'c Condition, paths: &mut Vec<&'c Path>) {
    match condition {
        Condition::And(all) | Condition::Or(all) => {
            all.iter().for_each(|condition| of_condition(condition, paths));
        }
        Condition::Not(condition) => of_condition(condition, paths),
        Condition::Compare(_, one, two)
        | Condition::BeginsWith(one, two)
        | Condition::Contains(one, two) => {
            [one, two].into_iter().for_each(|operand| of_operand(operand, paths));
        }
        Condition::Between(value, lower, upper) => {
            [value, lower, upper].into_iter().for_each(|operand| of_operand(operand, paths));
        }
        Condition::In(value, among) => {
            of_operand(value, paths);
            among.iter().for_each(|operand| of_operand(operand, paths));
        }
        Condition::Exists(path)
        | Condition::NotExists(path)
        | Condition::KindIn(path, _)
        | Condition::SetOf(path, _) => paths.push(path),
    }
}

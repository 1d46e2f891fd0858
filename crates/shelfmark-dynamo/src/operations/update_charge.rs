//! Charges an update expression for what it says, as UpdateItem of the service does.
//!
//! UpdateItem refuses an item above the limit like every other write, and a statement whose charge is above
//! it, whatever becomes of the item and of its condition. Updates of transactions, of PartiQL and of
//! `AttributeUpdates` are not charged.
//!
//! Source: captures of the service in a public conformance suite, read 2026-11; some regions of the service
//! do not charge either.

use shelfmark_model::{Operand, Patch, PatchOperation, PatchValue, Path, Step, value_size_bytes};

/// Of an update, whatever it says.
const UPDATE: usize = 3;
/// Of a change that writes a value: SET and ADD.
const WRITES: usize = 19;
/// Of a change that takes away: REMOVE and DELETE.
const TAKES_AWAY: usize = 1;
/// Of each step of a path that is written, beside its name or its digits.
const TARGET_STEP: usize = 4;
/// Of a path that is read, and of each of its steps beside its name or its digits.
const READS: usize = 1;
const READ_STEP: usize = 14;
const PLUS: usize = 34;
const MINUS: usize = 37;
const LIST_APPEND: usize = 37;
const IF_NOT_EXISTS: usize = 39;

/// Returns the charge of an update in bytes.
pub(super) fn update_charge_bytes(patch: &Patch) -> usize {
    UPDATE + patch.operations.iter().map(change).sum::<usize>()
}

fn change(operation: &PatchOperation) -> usize {
    match operation {
        PatchOperation::Set(path, value) => WRITES + target(path) + operand(value),
        PatchOperation::Add(path, value) => WRITES + target(path) + value_size_bytes(value),
        PatchOperation::Remove(path) | PatchOperation::Subtract(path, _) => {
            TAKES_AWAY + target(path)
        }
    }
}

fn operand(value: &PatchValue) -> usize {
    match value {
        PatchValue::Operand(Operand::Value(value)) => value_size_bytes(value),
        PatchValue::Operand(Operand::Path(path) | Operand::Size(path)) => read(path),
        PatchValue::Plus(left, right) => PLUS + operand(left) + operand(right),
        PatchValue::Minus(left, right) => MINUS + operand(left) + operand(right),
        PatchValue::ListAppend(left, right) => LIST_APPEND + operand(left) + operand(right),
        PatchValue::IfNotExists(path, other) => IF_NOT_EXISTS + read(path) + operand(other),
    }
}

fn target(path: &Path) -> usize {
    path.attribute.len() + path.steps.iter().map(|step| TARGET_STEP + element(step)).sum::<usize>()
}

fn read(path: &Path) -> usize {
    let steps = path.steps.iter().map(|step| READ_STEP + element(step));
    READS + READ_STEP + path.attribute.len() + steps.sum::<usize>()
}

fn element(step: &Step) -> usize {
    match step {
        Step::Name(name) => name.len(),
        Step::Index(index) => index.to_string().len(),
    }
}

#[cfg(test)]
mod tests {
    use shelfmark_model::Value;

    use super::*;

    fn path(attribute: &str, steps: Vec<Step>) -> Path {
        Path { attribute: attribute.to_owned(), steps }
    }

    fn name(name: &str) -> Step {
        Step::Name(name.to_owned())
    }

    fn charged(operation: PatchOperation) -> usize {
        update_charge_bytes(&Patch { operations: vec![operation] }) - UPDATE
    }

    #[test]
    fn what_is_written_is_charged_with_the_path_to_it() {
        let set = |path| PatchOperation::Set(path, PatchValue::value("12345"));
        assert_eq!(charged(set(path("b", vec![]))), 19 + 1 + 5);
        assert_eq!(charged(set(path("d", vec![name("leaf")]))), 19 + 1 + 4 + 4 + 5);
        assert_eq!(charged(set(path("d", vec![Step::Index(10)]))), 19 + 1 + 4 + 2 + 5);
        let list = Value::List(vec![Value::text("12345")]);
        assert_eq!(charged(PatchOperation::Add(path("s", vec![]), list)), 19 + 1 + 3 + 1 + 5);
    }

    #[test]
    fn what_is_taken_away_is_charged_by_its_path_alone() {
        assert_eq!(charged(PatchOperation::Remove(path("rr", vec![]))), 3);
        let members = Value::Set([Value::text("12345")].into_iter().collect());
        let taken = PatchOperation::Subtract(path("m", vec![name("s")]), members);
        assert_eq!(charged(taken), 1 + 1 + 4 + 1);
    }

    #[test]
    fn what_is_read_is_charged_by_its_path_and_calls_by_their_kind() {
        let set = |value| charged(PatchOperation::Set(path("c", vec![]), value)) - 20;
        let read = || PatchValue::Operand(Operand::Path(path("m", vec![name("z")])));
        let one = || Box::new(PatchValue::value("1"));
        assert_eq!(set(read()), 1 + 15 + 15);
        assert_eq!(set(PatchValue::Plus(Box::new(read()), one())), 34 + 31 + 1);
        assert_eq!(set(PatchValue::Minus(Box::new(read()), one())), 37 + 31 + 1);
        assert_eq!(set(PatchValue::ListAppend(Box::new(read()), one())), 37 + 31 + 1);
        assert_eq!(set(PatchValue::IfNotExists(path("c", vec![]), one())), 39 + 16 + 1);
    }
}

//! Applies a patch to an item.

use std::borrow::Cow;

use super::{Patch, PatchOperation, PatchProblem, PatchValue};
use crate::condition::Operand;
use crate::item::Item;
use crate::limits::CONDITION_DEPTH_MAX;
use crate::path::{Path, Step};
use crate::value::{Arithmetic as _, Value};

type Result<T> = std::result::Result<T, PatchProblem>;

impl Patch {
    /// Returns `before` with the operations applied.
    ///
    /// Every right-hand side reads `before`, so operations do not see each other. List elements
    /// are removed last, from the end, so that indexes mean positions of `before`.
    ///
    /// # Errors
    ///
    /// * A [`PatchProblem`] that names the path; nothing is changed then.
    pub fn apply(&self, before: &Item) -> Result<Item> {
        let mut after = before.clone();
        let mut removals: Vec<&Path> = Vec::new();
        let mut settings: Vec<(&Path, Value)> = Vec::new();
        for operation in &self.operations {
            match operation {
                PatchOperation::Set(path, value) => {
                    let value = evaluate(value, before, path, CONDITION_DEPTH_MAX)?;
                    settings.push((path, value.into_owned()));
                }
                PatchOperation::Remove(path) => removals.push(path),
                PatchOperation::Add(path, value) => {
                    settings.push((path, add(path, path.find(before), value)?));
                }
                PatchOperation::Subtract(path, value) => {
                    match subtract(path, path.find(before), value)? {
                        // The place must be there also when there is nothing to take away.
                        Remaining::Nothing | Remaining::Empty => removals.push(path),
                        Remaining::Set(set) => settings.push((path, set)),
                    }
                }
            }
        }
        // Elements appended past the end of one list keep the order of their indexes.
        settings.sort_by_key(|(path, _)| *path);
        for (path, value) in settings {
            set(&mut after, path, value)?;
        }
        removals.sort_by(|a, b| b.cmp(a));
        for path in removals {
            remove(&mut after, path)?;
        }
        Ok(after)
    }
}

fn evaluate<'a>(
    value: &'a PatchValue,
    before: &'a Item,
    target: &Path,
    depth: usize,
) -> Result<Cow<'a, Value>> {
    let below = depth.checked_sub(1).ok_or_else(|| PatchProblem::TooDeep(target.clone()))?;
    match value {
        PatchValue::Operand(Operand::Value(value)) => Ok(Cow::Borrowed(value)),
        PatchValue::Operand(Operand::Path(path)) => path
            .find(before)
            .map(Cow::Borrowed)
            .ok_or_else(|| PatchProblem::MissingOperand(path.clone())),
        PatchValue::Operand(Operand::Size(path)) => Err(PatchProblem::WrongKind(path.clone())),
        PatchValue::IfNotExists(path, other) => match path.find(before) {
            Some(value) => Ok(Cow::Borrowed(value)),
            None => evaluate(other, before, target, below),
        },
        PatchValue::Plus(a, b) | PatchValue::Minus(a, b) => {
            let minus = matches!(value, PatchValue::Minus(..));
            let a = evaluate(a, before, target, below)?;
            let b = evaluate(b, before, target, below)?;
            sum(target, &a, &b, minus).map(Cow::Owned)
        }
        PatchValue::ListAppend(a, b) => {
            let a = evaluate(a, before, target, below)?.into_owned();
            let b = evaluate(b, before, target, below)?.into_owned();
            match (a, b) {
                (Value::List(mut list), Value::List(more)) => {
                    list.extend(more);
                    Ok(Cow::Owned(Value::List(list)))
                }
                _ => Err(PatchProblem::WrongKind(target.clone())),
            }
        }
    }
}

fn sum(target: &Path, a: &Value, b: &Value, minus: bool) -> Result<Value> {
    let out_of_range = || PatchProblem::NumberOutOfRange(target.clone());
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let sum = if minus { a.minus(b) } else { a.plus(b) };
            sum.map(Value::Number).ok_or_else(out_of_range)
        }
        (Value::Int(a), Value::Int(b)) => {
            let sum = if minus { a.checked_sub(*b) } else { a.checked_add(*b) };
            sum.map(Value::Int).ok_or_else(out_of_range)
        }
        _ => Err(PatchProblem::WrongKind(target.clone())),
    }
}

fn add(path: &Path, before: Option<&Value>, value: &Value) -> Result<Value> {
    match (before, value) {
        (None, Value::Number(_) | Value::Int(_) | Value::Set(_)) => Ok(value.clone()),
        (Some(before @ (Value::Number(_) | Value::Int(_))), _) => sum(path, before, value, false),
        (Some(Value::Set(members)), Value::Set(more)) if same_kind(members, more) => {
            Ok(Value::set(members.iter().chain(more).cloned().collect()))
        }
        _ => Err(PatchProblem::WrongKind(path.clone())),
    }
}

enum Remaining {
    /// The set does not exist.
    Nothing,
    /// The set has no members left.
    Empty,
    Set(Value),
}

fn subtract(path: &Path, before: Option<&Value>, value: &Value) -> Result<Remaining> {
    match (before, value) {
        (None, Value::Set(_)) => Ok(Remaining::Nothing),
        (Some(Value::Set(members)), Value::Set(less)) if same_kind(members, less) => {
            let mut gone: Vec<&Value> = less.iter().collect();
            gone.sort_by(|a, b| a.total_cmp(b));
            let stays =
                |member: &&Value| gone.binary_search_by(|own| own.total_cmp(member)).is_err();
            let rest: Vec<Value> = members.iter().filter(stays).cloned().collect();
            Ok(if rest.is_empty() { Remaining::Empty } else { Remaining::Set(Value::Set(rest)) })
        }
        _ => Err(PatchProblem::WrongKind(path.clone())),
    }
}

fn same_kind(a: &[Value], b: &[Value]) -> bool {
    match (a.first(), b.first()) {
        (Some(a), Some(b)) => a.kind() == b.kind(),
        _ => true,
    }
}

fn set(item: &mut Item, path: &Path, value: Value) -> Result<()> {
    let invalid = || PatchProblem::PathInvalid(path.clone());
    let Some((last, inner)) = path.steps.split_last() else {
        item.set(path.attribute.clone(), value);
        return Ok(());
    };
    let place = walk(item, &path.attribute, inner).ok_or_else(invalid)?;
    match (place, last) {
        (Value::Map(map), Step::Name(name)) => {
            map.insert(name.clone(), value);
        }
        (Value::List(list), Step::Index(index)) => match list.get_mut(*index) {
            Some(element) => *element = value,
            None => list.push(value),
        },
        _ => return Err(invalid()),
    }
    Ok(())
}

fn remove(item: &mut Item, path: &Path) -> Result<()> {
    let invalid = || PatchProblem::PathInvalid(path.clone());
    let Some((last, inner)) = path.steps.split_last() else {
        item.remove(&path.attribute);
        return Ok(());
    };
    match (walk(item, &path.attribute, inner).ok_or_else(invalid)?, last) {
        (Value::Map(map), Step::Name(name)) => {
            map.remove(name);
        }
        (Value::List(list), Step::Index(index)) => {
            if *index < list.len() {
                list.remove(*index);
            }
        }
        _ => return Err(invalid()),
    }
    Ok(())
}

fn walk<'a>(item: &'a mut Item, attribute: &str, steps: &[Step]) -> Option<&'a mut Value> {
    steps.iter().try_fold(item.get_mut(attribute)?, |value, step| match (value, step) {
        (Value::Map(map), Step::Name(name)) => map.get_mut(name),
        (Value::List(list), Step::Index(index)) => list.get_mut(*index),
        _ => None,
    })
}

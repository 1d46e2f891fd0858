//! Conditions and patches as text: `n > 1 and not exists(a.b)`, `n = n + 1, list = append(list, [1])`.

use shelfmark_model::{
    Comparison, Condition, Operand, Patch, PatchOperation, PatchValue, Path, Step, Value,
};

use super::literal::{expect, take, word};
use super::runner::Answer;

pub(super) fn condition(text: &str) -> Answer<Condition> {
    let mut rest = text;
    let condition = any(&mut rest)?;
    if rest.trim().is_empty() { Ok(condition) } else { Err(format!("what is {rest:?}?").into()) }
}

fn keyword(rest: &mut &str, keyword: &str) -> bool {
    let trimmed = rest.trim_start();
    let after = trimmed
        .strip_prefix(keyword)
        .filter(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    if let Some(after) = after {
        *rest = after;
    }
    after.is_some()
}

fn any(rest: &mut &str) -> Answer<Condition> {
    let mut all = vec![every(rest)?];
    while keyword(rest, "or") {
        all.push(every(rest)?);
    }
    Ok(if all.len() == 1 { all.remove(0) } else { Condition::Or(all) })
}

fn every(rest: &mut &str) -> Answer<Condition> {
    let mut all = vec![one(rest)?];
    while keyword(rest, "and") {
        all.push(one(rest)?);
    }
    Ok(if all.len() == 1 { all.remove(0) } else { Condition::And(all) })
}

fn one(rest: &mut &str) -> Answer<Condition> {
    if keyword(rest, "not") {
        return Ok(Condition::Not(Box::new(one(rest)?)));
    }
    for (name, build) in
        [("exists", Condition::Exists as fn(Path) -> Condition), ("absent", Condition::NotExists)]
    {
        if keyword(rest, name) {
            expect(rest, '(')?;
            let path = path(word(rest))?;
            expect(rest, ')')?;
            return Ok(build(path));
        }
    }
    for (name, build) in [
        ("begins", Condition::BeginsWith as fn(Operand, Operand) -> Condition),
        ("contains", Condition::Contains),
    ] {
        if keyword(rest, name) {
            expect(rest, '(')?;
            let first = operand(rest)?;
            expect(rest, ',')?;
            let second = operand(rest)?;
            expect(rest, ')')?;
            return Ok(build(first, second));
        }
    }
    let left = operand(rest)?;
    for (sign, comparison) in [
        ("<>", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("=", Comparison::Equal),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ] {
        if let Some(after) = rest.trim_start().strip_prefix(sign) {
            *rest = after;
            return Ok(Condition::Compare(comparison, left, operand(rest)?));
        }
    }
    Err(format!("a comparison is missing before {rest:?}").into())
}

/// A path, `size(path)`, or a value: what begins with a letter is a path, text needs quotes.
fn operand(rest: &mut &str) -> Answer<Operand> {
    let trimmed = rest.trim_start();
    if keyword(rest, "size") {
        expect(rest, '(')?;
        let path = path(word(rest))?;
        expect(rest, ')')?;
        return Ok(Operand::Size(path));
    }
    let named = trimmed.starts_with(|c: char| c.is_ascii_alphabetic());
    if named && !["true", "false", "null"].iter().any(|word| trimmed.starts_with(word)) {
        return Ok(Operand::Path(path(word(rest))?));
    }
    Ok(Operand::Value(take(rest)?))
}

/// `a.b.2`: names and positions.
pub(super) fn path(text: &str) -> Answer<Path> {
    let mut parts = text.split('.');
    let attribute = parts.next().filter(|name| !name.is_empty()).ok_or("an empty path")?;
    let steps = parts.map(|part| match part.parse() {
        Ok(index) => Step::Index(index),
        Err(_) => Step::Name(part.to_owned()),
    });
    Ok(Path { attribute: attribute.to_owned(), steps: steps.collect() })
}

/// The operations of a patch: `set` as `path = value` with `+`, `-`, `append(,)` and `default(,)`.
pub(super) fn set(text: &str, patch: &mut Patch) -> Answer<()> {
    let mut rest = text;
    loop {
        let target = path(word(&mut rest))?;
        expect(&mut rest, '=')?;
        patch.operations.push(PatchOperation::Set(target, sum(&mut rest)?));
        if rest.trim().is_empty() {
            return Ok(());
        }
        expect(&mut rest, ',')?;
    }
}

fn sum(rest: &mut &str) -> Answer<PatchValue> {
    let left = term(rest)?;
    if expect(rest, '+').is_ok() {
        return Ok(PatchValue::Plus(Box::new(left), Box::new(term(rest)?)));
    }
    if expect(rest, '-').is_ok() {
        return Ok(PatchValue::Minus(Box::new(left), Box::new(term(rest)?)));
    }
    Ok(left)
}

fn term(rest: &mut &str) -> Answer<PatchValue> {
    if keyword(rest, "append") {
        expect(rest, '(')?;
        let first = term(rest)?;
        expect(rest, ',')?;
        let second = term(rest)?;
        expect(rest, ')')?;
        return Ok(PatchValue::ListAppend(Box::new(first), Box::new(second)));
    }
    if keyword(rest, "default") {
        expect(rest, '(')?;
        let path = path(word(rest))?;
        expect(rest, ',')?;
        let other = term(rest)?;
        expect(rest, ')')?;
        return Ok(PatchValue::IfNotExists(path, Box::new(other)));
    }
    Ok(PatchValue::Operand(operand(rest)?))
}

/// `path value`, for `add` and `subtract`.
pub(super) fn with_value(text: &str) -> Answer<(Path, Value)> {
    let mut rest = text;
    let path = path(word(&mut rest))?;
    Ok((path, take(&mut rest)?))
}

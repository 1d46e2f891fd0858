//! Reads the conditions of a statement: comparisons that are joined by AND.
//!
//! What it is not: a guess. What has no form in the model is returned as a reason, and the statement
//! becomes no pattern.

use super::shape::Condition;
use super::statement::Tables;
use crate::tokens::{Kind, Token};

/// Splits conditions at AND; one between the ends of BETWEEN does not part.
pub(super) fn split_and(tokens: &[Token]) -> Vec<&[Token]> {
    let mut between = false;
    tokens
        .split(|token| {
            if token.is_word("between") {
                between = true;
            }
            let and = token.is_word("and");
            let parts = and && !between;
            if and {
                between = false;
            }
            parts
        })
        .filter(|part| !part.is_empty())
        .collect()
}

pub(super) fn condition(tokens: &[Token], tables: &Tables<'_>) -> Result<Condition, String> {
    if tokens.iter().any(|token| token.is_word("or") || token.is_word("select")) {
        return Err("conditions joined by OR, or on a query".to_owned());
    }
    let words = ["in", "between", "like", "ilike", "is", "not"];
    let marks = ["=", "<", "<=", ">", ">="];
    let at = tokens
        .iter()
        .position(|token| {
            marks.iter().any(|mark| token.is(mark)) || words.iter().any(|word| token.is_word(word))
        })
        .ok_or("a condition without a comparison")?;
    let (table, column) = tables.column(tokens.get(..at).unwrap_or_default())?;
    let word = tokens.get(at).map(|token| token.text.to_ascii_lowercase()).unwrap_or_default();
    let behind = tokens.get(at + 1..).unwrap_or_default();
    if tables.is_of_row(behind) && !behind.iter().any(|token| token.is(".")) {
        return Err("a comparison with what other columns hold".to_owned());
    }
    let operator = operator(&word, behind)?;
    let words = tables.all.get(table).and_then(|one| one.table.column(&column));
    let words = words.filter(|one| operator == "=" && one.ty.starts_with("enum"));
    let word = match behind {
        [Token { kind: Kind::Text('\''), text, .. }, ..] if words.is_some() => Some(text.clone()),
        _ => None,
    };
    Ok(Condition { table, column, operator, word })
}

/// Returns the operator of the model for a comparison of SQL and what stands behind it.
fn operator(word: &str, behind: &[Token]) -> Result<&'static str, String> {
    let marks = ["=", "<", "<=", ">", ">="];
    if let Some(mark) = marks.into_iter().find(|mark| *mark == word) {
        if behind.iter().any(|token| token.is(".")) {
            return Err("a join in WHERE; write it as JOIN … ON".to_owned());
        }
        let of_several =
            |token: &&Token| ["any", "some", "all"].iter().any(|one| token.is_word(one));
        return match (mark, behind.first().filter(of_several)) {
            (mark, None) => Ok(mark),
            ("=", Some(token)) if !token.is_word("all") => Ok("in"),
            (mark, Some(token)) => {
                Err(format!("conditions with {mark} {}", token.text.to_ascii_uppercase()))
            }
        };
    }
    match word {
        "in" => Ok("in"),
        "between" => Ok("between"),
        "like" => like(behind),
        "is" => is(behind),
        other => Err(format!("conditions with {other}")),
    }
}

/// Returns the operator for what stands behind IS.
fn is(behind: &[Token]) -> Result<&'static str, String> {
    let words = behind.iter().take_while(|token| token.kind == Kind::Word);
    let words: Vec<String> = words.map(|token| token.text.to_ascii_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["null"] => Ok("is absent"),
        ["not", "null"] => Ok("is present"),
        ["not", "distinct", "from", ..] | ["true" | "false"] => Ok("="),
        words => {
            let told: Vec<&str> = words.iter().take(3).copied().collect();
            Err(format!("conditions with is {}", told.join(" ")))
        }
    }
}

/// Returns the operator for a pattern of LIKE. A marker stands for the beginning of a text: what it will
/// hold is not known.
fn like(behind: &[Token]) -> Result<&'static str, String> {
    let Some(Token { kind: Kind::Text(_), text, .. }) =
        behind.first().filter(|_| behind.len() == 1)
    else {
        return Ok("begins");
    };
    let (mut inner, is_open) = text.strip_suffix('%').map_or((&**text, false), |own| (own, true));
    let contains = is_open && inner.starts_with('%');
    if contains {
        inner = inner.get(1..).unwrap_or_default();
    }
    // Escapes are gone by now, so what one makes plain is told, too.
    let any = inner.contains(['%', '_']);
    match (any, contains, is_open) {
        (true, ..) => Err("a LIKE with _, or with % elsewhere than around the text".to_owned()),
        (false, true, _) => Ok("contains"),
        (false, false, true) => Ok("begins"),
        (false, false, false) => Ok("="),
    }
}

//! Draws a key and the range that a pattern reads of it, in letters.

use super::{Piece, Role};
use shelfmark_design_language::certificate::text;
use shelfmark_design_language::model::Read;
use shelfmark_design_language::model::schema::ReadStep;
use shelfmark_design_language::syntax::tree::Verb;

/// Returns the key, cell by cell, what each is for below it, and the stretch below that.
pub(super) fn key(table: &str, pieces: &[Piece], read: &Read, step: &ReadStep) -> String {
    let mut names = Vec::new();
    let mut roles = Vec::new();
    for piece in pieces {
        names.push(format!("{}{}", piece.text, if piece.desc { " desc" } else { "" }));
        roles.push(match &piece.role {
            Role::Constant => "constant".to_owned(),
            Role::Equal(value) => format!("= {value}"),
            Role::Range(ends) => ends.clone(),
            Role::Order(_) => "order".to_owned(),
            Role::Unique => "unique".to_owned(),
            Role::Base => "row's key".to_owned(),
            Role::Other => "-".to_owned(),
        });
    }
    let widths: Vec<usize> = names
        .iter()
        .zip(&roles)
        .map(|(name, role)| name.chars().count().max(role.chars().count()))
        .collect();
    let margin = " ".repeat(table.chars().count());
    let mut out = format!("  {table} {}\n", cells(&names, &widths, pieces));
    out.push_str(&format!("  {margin} {}\n", cells(&roles, &widths, pieces)));
    // Everything up to the first cell that is not fixed to one value.
    let fixed = pieces
        .iter()
        .take_while(|piece| matches!(piece.role, Role::Equal(_) | Role::Constant))
        .count();
    let covered: usize = widths.iter().take(fixed).map(|width| width + 3).sum();
    let rest: usize = widths.iter().skip(fixed).map(|width| width + 3).sum();
    let what = if step.verb == Verb::Get {
        "one row".to_owned()
    } else {
        let limit = step.limit.as_ref().map(|limit| format!(", first {}", text::term(read, limit)));
        format!("one stretch{}", limit.unwrap_or_default())
    };
    let arrow = match (rest, step.desc) {
        (0, _) => String::new(),
        (_, false) => format!("{}>", "-".repeat(rest.saturating_sub(1))),
        (_, true) => format!("<{}", "-".repeat(rest.saturating_sub(1))),
    };
    out.push_str(&format!(
        "  {margin} |{}{arrow}| {what}\n",
        "=".repeat(covered.saturating_sub(1))
    ));
    out
}

/// Formats cells with `;` behind the partition key.
fn cells(texts: &[String], widths: &[usize], pieces: &[Piece]) -> String {
    let mut out = String::from("|");
    for (at, (text, width)) in texts.iter().zip(widths).enumerate() {
        let pad = " ".repeat(width.saturating_sub(text.chars().count()));
        let here = pieces.get(at).is_some_and(|piece| piece.partition);
        let next = pieces.get(at + 1).is_none_or(|piece| piece.partition);
        let bar = if here && !next { ';' } else { '|' };
        out.push_str(&format!(" {text}{pad} {bar}"));
    }
    out
}

//! Assigns names of tables, indexes and row families.

use std::collections::BTreeSet;

use super::draft::Draft;
use shelfmark_design_language::model::Model;

/// Longest name before a number is appended; databases cut at 48 and more.
const NAME_BYTES_MAX: usize = 44;

/// The names that are taken.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: BTreeSet<String>,
    /// Shortest name that the target accepts.
    least: usize,
}

impl Names {
    /// Creates an empty set of names; DynamoDB accepts none of less than three characters.
    pub(crate) fn of(target: &str) -> Self {
        Self { taken: BTreeSet::new(), least: if target == "dynamodb" { 3 } else { 1 } }
    }

    /// Returns the name, or the name with a number behind it when it is taken.
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let longer = format!("{wanted}_table");
        let wanted = if wanted.len() < self.least { longer.as_str() } else { wanted };
        let mut name: String = wanted.chars().take(NAME_BYTES_MAX).collect();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            let head: String = wanted.chars().take(NAME_BYTES_MAX).collect();
            name = format!("{head}_{number}");
            number += 1;
        }
        name
    }
}

/// Converts `TimelineEntry` to `timeline_entry`.
pub(crate) fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut low = false;
    for c in name.chars() {
        if c.is_uppercase() && low {
            out.push('_');
        }
        low = c.is_lowercase() || c.is_ascii_digit();
        out.extend(c.to_lowercase());
    }
    out
}

/// Returns the wanted name of a draft: `user`, `post_by_author_at`.
pub(crate) fn wanted_name(model: &Model, draft: &Draft) -> String {
    let relation = snake(&model.relation(draft.relation).name.text);
    if draft.counter {
        return format!("{relation}_counts");
    }
    let primary: BTreeSet<Vec<usize>> =
        model.relation(draft.relation).key().iter().map(|n| vec![*n]).collect();
    if draft.when.is_empty() && draft.paths() == primary {
        return relation;
    }
    let parts: Vec<String> = draft
        .components()
        .map(|component| model.path_text(draft.relation, &component.path).replace('.', "_"))
        .collect();
    if draft.guard && !draft.asked {
        return format!("unique_{relation}_{}", parts.join("_"));
    }
    if parts.is_empty() {
        format!("{relation}_all")
    } else {
        format!("{relation}_by_{}", parts.join("_"))
    }
}

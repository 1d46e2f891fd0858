//! Resolves limits of single row types: `limit 25 of Issue, n of Pull`.
//!
//! Invariant: a row type has at most one limit of its own, and a read that has some is a list of several
//! row types without a limit of all rows.

use super::super::pattern::Source;
use super::super::types::Type;
use super::Resolver;
use super::patterns::{Params, Scope};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::tree;

impl Resolver {
    /// Gives row types the limits that a read names for them.
    pub(super) fn own_limits(
        &mut self,
        read: &tree::Read,
        sources: &mut [Source],
        params: &mut Params,
    ) {
        let Some(first) = read.limits.first() else { return };
        if let Some((message, help)) = unfit(read) {
            self.error(Diagnostic::error(first.of.span, message.to_owned()).help(help));
            return;
        }
        for own in &read.limits {
            let place = read.sources.iter().position(|name| name.text == own.of.text);
            let Some(source) = place.and_then(|at| sources.get_mut(at)) else {
                let known: Vec<String> =
                    read.sources.iter().map(|name| name.text.clone()).collect();
                self.unknown("row type of this read", &own.of.text, own.of.span, &known);
                continue;
            };
            if source.limit.is_some() {
                self.twice("limit of", &own.of);
            }
            let limit = self.value(&own.count, Some(&Type::Int(None)), params, Scope::NONE);
            self.check_limit(limit.as_ref(), own.count.span);
            source.limit = limit;
        }
    }
}

/// Returns why a read cannot have limits of single row types, and what to write.
fn unfit(read: &tree::Read) -> Option<(&'static str, &'static str)> {
    let mut names = read.sources.iter().map(|name| &name.text);
    let twice = names.any(|name| read.sources.iter().filter(|one| one.text == *name).count() > 1);
    if read.sources.len() == 1 {
        return Some(("a read of one row type has one limit", "write `limit 25`"));
    }
    if read.page {
        let help = "write `page 25` for the whole list, or a read of each row type";
        return Some(("a page is one of the whole list, not of a row type", help));
    }
    if read.limit.is_some() {
        let help = "write either `limit 26`, or `limit 25 of Issue`";
        return Some(("a limit of all rows stands beside one of a row type", help));
    }
    if read.aggregate.is_some() {
        return Some(("what is counted or added up has no limit", "leave the limit out"));
    }
    twice.then_some(("a row type is named twice", "name each once: its limit is of all its rows"))
}

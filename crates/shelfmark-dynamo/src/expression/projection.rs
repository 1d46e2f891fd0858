//! Parses projections: document paths separated by commas, none of which contains another.

use shelfmark_model::Path;

use super::check::reserved_in_path;
use super::lower::shown;
use super::parser::Parser;
use super::placeholders::Placeholders;
use super::{Problem, Refused};
use crate::errors::texts;

/// Parses a projection.
pub(super) fn read(placeholders: &Placeholders, source: &str) -> Refused<Vec<Path>> {
    let mut parser = Parser::new(source);
    let raw = parser.list(Parser::path)?;
    parser.end()?;
    raw.iter().try_for_each(reserved_in_path)?;
    let paths = raw.iter().map(|path| placeholders.path(path)).collect::<Refused<Vec<_>>>()?;
    apart(&paths)?;
    Ok(paths)
}

/// Refuses paths of which one contains another, or that use one place both as a map and as a list.
pub(super) fn apart(paths: &[Path]) -> Refused<()> {
    let mut sorted: Vec<&Path> = paths.iter().collect();
    // Paths that share a beginning are neighbours once sorted, so neighbours are enough.
    sorted.sort();
    let neighbours = sorted.iter().zip(sorted.iter().skip(1));
    let overlap = neighbours.clone().find(|(one, two)| one.overlaps(two));
    if overlap.is_none() {
        let conflict = conflict(&sorted);
        return conflict.map_or(Ok(()), |(one, two)| {
            let (one, two) = as_written(paths, one, two);
            Err(Problem::Other(texts::paths_conflict(&shown(one), &shown(two))))
        });
    }
    overlap.map_or(Ok(()), |(one, two)| {
        let (one, two) = as_written(paths, one, two);
        Err(Problem::Other(texts::paths_overlap(&shown(one), &shown(two))))
    })
}

/// Finds two paths that use one place as a map and as a list.
fn conflict<'p>(sorted: &[&'p Path]) -> Option<(&'p Path, &'p Path)> {
    // Names sort before indexes below one place, so one neighbouring pair crosses from the one to
    // the other.
    sorted
        .iter()
        .zip(sorted.iter().skip(1))
        .find(|(one, two)| one.conflicts(two))
        .map(|(one, two)| (*one, *two))
}

/// Returns two paths in the order of the expression.
fn as_written<'p>(paths: &'p [Path], one: &'p Path, two: &'p Path) -> (&'p Path, &'p Path) {
    match paths.iter().find(|path| *path == one || *path == two) {
        Some(first) if first == two => (two, one),
        Some(_) | None => (one, two),
    }
}

//! Pages of lists of which a client may be shown a part.
//!
//! What it is not: pages of items, which end at a number of bytes and not at a number of entries.

use crate::errors::Result;

/// Returns at most `limit` entries that are shown, and whether there are more of them.
///
/// `next` returns at most so many entries behind a place, or from the first on; `place` is that of an
/// entry.
///
/// # Errors
///
/// * Those of `next`.
pub(super) fn page<T, P>(
    limit: usize,
    mut after: Option<P>,
    mut next: impl FnMut(Option<&P>, usize) -> shelfmark_engine::Result<Vec<T>>,
    place: impl Fn(&T) -> P,
    is_shown: impl Fn(&T) -> bool,
) -> Result<(Vec<T>, bool)> {
    let mut found: Vec<T> = Vec::new();
    // One more than asked for says whether there is another page.
    while found.len() <= limit {
        let entries = next(after.as_ref(), limit + 1)?;
        let is_last = entries.len() <= limit;
        after = entries.last().map(&place);
        found.extend(entries.into_iter().filter(&is_shown));
        if is_last {
            break;
        }
    }
    let has_more = found.len() > limit;
    found.truncate(limit);
    Ok((found, has_more))
}

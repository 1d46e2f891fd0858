//! Lists blobs by key prefix, page by page, flat or one level at a time.

use shelfmark_engine::{Cursor, Query};
use shelfmark_model::{SortBound, SortCondition, Value};

use super::rows::stored_of;
use super::{BlobMetadata, Blobs};
use crate::error::Result;
use crate::running::check_outside;

/// Most blobs of a page.
///
/// Source: Unison Cloud, blob listings, read 2026-11.
const PAGE_MAX: usize = 1000;

/// The delimiter between the levels of keys.
const DELIMITER: char = '/';
/// The character behind the delimiter.
const BEHIND: char = '0';

/// Blobs in the order of their keys.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::Blobs;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let blobs = Blobs::of(&database)?;
/// for key in ["a", "b", "c"] {
///     blobs.write(key, b"bytes")?;
/// }
/// let first = blobs.list("", 2, None)?;
/// let rest = blobs.list("", 2, first.token)?;
/// assert_eq!((first.blobs.len(), rest.blobs.len(), rest.token), (2, 1, None));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobPage {
    /// The blobs.
    pub blobs: Vec<BlobMetadata>,
    /// The cursor to go on from; `None` when nothing is left. It stays good when blobs are deleted
    /// and when the program is restarted.
    pub token: Option<Cursor>,
}

/// The blobs and common prefixes one level below a prefix.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::Blobs;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let blobs = Blobs::of(&database)?;
/// for key in ["maps/europe/oslo", "maps/europe/rome", "maps/index"] {
///     blobs.write(key, b"bytes")?;
/// }
/// let level = blobs.list_level("maps/")?;
/// assert_eq!(level.prefixes, ["maps/europe/"]);
/// assert_eq!(level.blobs[0].key, "maps/index");
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlobLevel {
    /// Blobs whose keys have no further `/`.
    pub blobs: Vec<BlobMetadata>,
    /// Common prefixes up to and with the next `/`, each once.
    pub prefixes: Vec<String>,
}

impl Blobs {
    /// Returns the blobs whose keys begin with `prefix`, at most `limit` and at most 1,000, from
    /// `token` on.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the token belongs to something else, or `limit` is 0.
    pub fn list(&self, prefix: &str, limit: usize, token: Option<Cursor>) -> Result<BlobPage> {
        let condition = SortCondition::begins_with(prefix);
        self.page(condition, limit.min(PAGE_MAX), token)
    }

    /// Returns the blobs and common prefixes one level below `prefix`, as a folder shows them.
    ///
    /// Cost: a page of up to 1,000 blobs, and one more for each 1,000 blobs of the level and for each
    /// beginning that has more than a page below it; what lies deeper is not read through.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn list_level(&self, prefix: &str) -> Result<BlobLevel> {
        let mut level = BlobLevel::default();
        let mut from = SortBound::Included(Value::text(prefix));
        loop {
            let (equal, upper) = (Vec::new(), SortBound::Unbounded);
            let range = SortCondition::Range { equal, lower: from, upper };
            let page = self.page(range, PAGE_MAX, None)?;
            from = SortBound::Unbounded;
            for blob in page.blobs {
                let Some(rest) = blob.key.strip_prefix(prefix) else { return Ok(level) };
                match rest.split_once(DELIMITER) {
                    None => {
                        from = SortBound::Excluded(Value::text(blob.key.as_str()));
                        level.blobs.push(blob);
                    }
                    Some((name, _)) => {
                        // Everything below this beginning lies before the one that ends with the
                        // character behind the delimiter.
                        from = SortBound::Included(Value::text(format!("{prefix}{name}{BEHIND}")));
                        let below = format!("{prefix}{name}{DELIMITER}");
                        if level.prefixes.last() != Some(&below) {
                            level.prefixes.push(below);
                        }
                    }
                }
            }
            if page.token.is_none() {
                return Ok(level);
            }
        }
    }

    fn page(
        &self,
        condition: SortCondition,
        limit: usize,
        token: Option<Cursor>,
    ) -> Result<BlobPage> {
        let rows = self.metadata.table()?;
        let mut query = Query::partition(vec![Value::Int(0)]).sort(condition).limit(limit);
        query.start = token;
        query.peek = true;
        check_outside(&self.engine)?;
        let page = self.engine.query(&rows, &query)?;
        let blobs = page
            .items
            .into_iter()
            .map(|item| Ok(stored_of(item)?.metadata))
            .collect::<Result<_>>()?;
        Ok(BlobPage { blobs, token: page.cursor })
    }
}

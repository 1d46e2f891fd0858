//! Records what a salvage lost, in its folder, until the layers above have handled it.
//!
//! They hold records that follow from others, and must be told again which are concerned if the
//! process ends in between. Lines of text, for people may look at it, too:
//!
//! ```text
//! losses 1
//! commits N | commits ?
//! anywhere                          if keys outside the parts may be concerned
//! groups FIRST LAST                 each
//! part OFFSET BYTES AFTER BEFORE FILE   each; keys in hexadecimal behind `x`, `-` for what is not known
//! sum H                             XXH3-64 of all before, in hexadecimal
//! ```
//!
//! Invariant: what cannot be read counts as "anything may be lost", never as nothing.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::Path;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::report::{LostPart, Salvage};

const HEAD: &str = "losses 1";
const NOTHING: &str = "-";

/// The part of a [`Salvage`] that outlives the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Losses {
    pub(super) commits: Option<u64>,
    pub(super) anywhere: bool,
    pub(super) groups: Vec<RangeInclusive<u64>>,
    pub(super) parts: Vec<LostPart>,
}

impl Losses {
    pub(super) fn of(salvage: &Salvage) -> Self {
        Self {
            commits: salvage.commits_lost,
            anywhere: salvage.lost_anywhere,
            groups: salvage.groups_lost.clone(),
            parts: salvage.table_parts_lost.clone(),
        }
    }

    /// Returns the losses of an unreadable record: anything may be lost.
    fn unknown() -> Self {
        Self { commits: None, anywhere: true, groups: Vec::new(), parts: Vec::new() }
    }

    pub(super) fn is_nothing(&self) -> bool {
        !self.anywhere && self.groups.is_empty() && self.parts.is_empty()
    }

    pub(super) fn add_to(self, salvage: &mut Salvage) {
        salvage.commits_lost = match (salvage.commits_lost, self.commits) {
            (Some(own), Some(more)) => Some(own + more),
            _ => None,
        };
        salvage.lost_anywhere |= self.anywhere;
        salvage.groups_lost.extend(self.groups);
        salvage.table_parts_lost.extend(self.parts);
    }

    /// Encodes the losses; files are named relative to the store's `folder`.
    pub(super) fn encode(&self, folder: &Path) -> Vec<u8> {
        let mut text = format!("{HEAD}\ncommits {}\n", shown(self.commits, "?"));
        if self.anywhere {
            text.push_str("anywhere\n");
        }
        for groups in &self.groups {
            // Writing to a string does not fail.
            let _ = writeln!(text, "groups {} {}", groups.start(), groups.end());
        }
        for part in &self.parts {
            let file = part.file.strip_prefix(folder).unwrap_or(&part.file);
            let (offset, bytes) = (shown(part.offset, NOTHING), shown(part.bytes, NOTHING));
            let (after, before) = (hex(part.after.as_ref()), hex(part.before.as_ref()));
            let _ = writeln!(text, "part {offset} {bytes} {after} {before} {}", file.display());
        }
        let _ = writeln!(text, "sum {:016x}", xxh3_64(text.as_bytes()));
        text.into_bytes()
    }

    /// Decodes the losses.
    pub(super) fn decode(bytes: &[u8], folder: &Path) -> Self {
        decode(bytes, folder).unwrap_or_else(Self::unknown)
    }
}

fn decode(bytes: &[u8], folder: &Path) -> Option<Losses> {
    let text = std::str::from_utf8(bytes).ok()?;
    let summed = text.rfind("sum ").and_then(|at| text.split_at_checked(at))?;
    if format!("sum {:016x}\n", xxh3_64(summed.0.as_bytes())) != summed.1 {
        return None;
    }
    let mut lines = summed.0.lines();
    if lines.next()? != HEAD {
        return None;
    }
    let commits = lines.next()?.strip_prefix("commits ")?;
    let commits = if commits == "?" { None } else { Some(commits.parse().ok()?) };
    let mut losses = Losses { commits, anywhere: false, groups: Vec::new(), parts: Vec::new() };
    for line in lines {
        match line.split_once(' ') {
            None if line == "anywhere" => losses.anywhere = true,
            Some(("groups", rest)) => {
                let (first, last) = rest.split_once(' ')?;
                losses.groups.push(first.parse().ok()?..=last.parse().ok()?);
            }
            Some(("part", rest)) => losses.parts.push(part(rest, folder)?),
            _ => return None,
        }
    }
    Some(losses)
}

fn part(line: &str, folder: &Path) -> Option<LostPart> {
    let mut words = line.splitn(5, ' ');
    let number = |word: &str| match word {
        NOTHING => Some(None),
        word => word.parse().ok().map(Some),
    };
    let offset = number(words.next()?)?;
    let bytes = number(words.next()?)?;
    let after = unhex(words.next()?)?;
    let before = unhex(words.next()?)?;
    Some(LostPart { file: folder.join(words.next()?), offset, bytes, after, before })
}

fn shown(number: Option<u64>, none: &str) -> String {
    number.map_or_else(|| none.to_owned(), |number| number.to_string())
}

fn hex(key: Option<&Bytes>) -> String {
    let Some(key) = key else { return NOTHING.to_owned() };
    format!("x{}", hex::encode(key))
}

#[expect(clippy::option_option, reason = "a key that is not known is not a line that is damaged")]
fn unhex(word: &str) -> Option<Option<Bytes>> {
    if word == NOTHING {
        return Some(None);
    }
    Some(Some(hex::decode(word.strip_prefix('x')?).ok()?.into()))
}

//! The words for an attribute value that is wrong in itself, by the layer of the service that looks at it.
//!
//! The service has two: a current one for single items and queries, and an older one for batches that
//! write, transactions and scans. What is wrong is the same in both; prefixes are the operation's.
//!
//! Source: a public suite that records the service's answers, captures of October 2026.

use std::borrow::Cow;
use std::collections::BTreeSet;

use shelfmark_keycode::Decimal;

use super::{blob, number};
use crate::errors::{Error, Result, texts};

/// The layer that looks at the values of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Wording {
    #[default]
    Current,
    Older,
    /// The parameters of statements, whose numbers are read as PartiQL's.
    Parameters,
}

impl Wording {
    /// Parses a number.
    pub(super) fn number(self, text: &str) -> Result<Decimal> {
        match self {
            Self::Current => number::read(text),
            Self::Older => number::older(text).map_err(Error::from),
            Self::Parameters => number::parameter(text).map_err(Error::from),
        }
    }

    /// Words the members of a set, as they were sent, of which two are the same.
    pub(super) fn duplicates(self, kind: SetKind, members: &[Cow<'_, str>]) -> String {
        match (self, kind) {
            (Self::Current, SetKind::Number) => texts::NUMBER_SET_HAS_DUPLICATES.to_owned(),
            (Self::Older | Self::Parameters, SetKind::Number) => {
                texts::OLDER_NUMBER_SET_HAS_DUPLICATES.to_owned()
            }
            (Self::Current, SetKind::Text) => {
                texts::string_set_has_duplicates(&quoted(&up_to_repeat(kind, members), ", "))
            }
            (Self::Current, SetKind::Binary) => {
                texts::binary_set_has_duplicates(&quoted(&up_to_repeat(kind, members), ","))
            }
            (Self::Older | Self::Parameters, SetKind::Text) => {
                texts::string_set_has_duplicates(&members.join(", "))
            }
            (Self::Older | Self::Parameters, SetKind::Binary) => {
                texts::binary_set_has_duplicates(&members.join(", "))
            }
        }
    }
}

/// The kind of the members of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetKind {
    Text,
    Number,
    Binary,
}

impl SetKind {
    /// Returns the words for an empty set.
    pub(super) const fn is_empty(self) -> &'static str {
        match self {
            Self::Text => texts::STRING_SET_IS_EMPTY,
            Self::Number => texts::NUMBER_SET_IS_EMPTY,
            Self::Binary => texts::BINARY_SET_IS_EMPTY,
        }
    }
}

fn quoted(members: &[&str], between: &str) -> String {
    let quoted: Vec<String> = members.iter().map(|member| format!("\"{member}\"")).collect();
    quoted.join(between)
}

/// Returns the members before the first repeat in the order of their bytes, then it and the rest.
fn up_to_repeat<'m>(kind: SetKind, members: &'m [Cow<'_, str>]) -> Vec<&'m str> {
    let bytes = |member: &str| match kind {
        // What is no base64 was refused before.
        SetKind::Binary => blob::read(member).unwrap_or_default().to_vec(),
        SetKind::Text | SetKind::Number => member.as_bytes().to_vec(),
    };
    let mut seen = BTreeSet::new();
    let mut rest = members.iter();
    let mut shown = Vec::with_capacity(members.len());
    for member in rest.by_ref() {
        if !seen.insert((bytes(member), member.as_ref())) {
            shown.extend(seen.iter().map(|(_, member)| *member));
            shown.push(member.as_ref());
            break;
        }
    }
    shown.extend(rest.map(AsRef::as_ref));
    shown
}

//! Request tokens: a call repeated after a lost answer has no second effect.
//!
//! Invariant: a token is put in the commit of the call that it stands for.

use bytes::Bytes;
use shelfmark_records::keys::{Tree, tree_key};

use super::writer::Writer;
use crate::error::Result;
use crate::items::Written;

/// A caller's token and a hash of what the call asks, by which a repeated call is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The token, with whatever parts callers from each other before it.
    pub token: Vec<u8>,
    /// A hash of the request, of a form that later builds write in the same way: the same token with
    /// another hash is a mistake.
    pub request_hash: u64,
    /// Second since the Unix epoch at which the token is forgotten.
    pub expires_at: u64,
}

/// The outcome of a call with a [`Token`].
#[derive(Debug, Clone, PartialEq)]
pub enum Once {
    /// It was done now.
    Written(Vec<Written>),
    /// It had been done before; nothing was written.
    Repeated,
    /// The token belongs to another request; nothing was written.
    Mismatch,
}

/// Behind hash and expiry of a token: the hash is of a form that stays as it is. Tokens of earlier
/// builds end before it.
const TOKEN_VERSION: u8 = 1;

/// Puts the token into the commit, unless it is there.
///
/// The hash of an earlier build's token was of a text that other builds write otherwise, so it says
/// nothing: a repetition is taken for one, for the ten minutes or so that such tokens still live.
pub(super) fn take_token(writer: &Writer, token: &Token) -> Result<Option<Once>> {
    let mut key = tree_key(Tree::Tokens, 0);
    key.extend_from_slice(&token.token);
    let found = writer.buffer.borrow_mut().get(&key)?;
    if let Some(found) = found
        && let Some((hash, rest)) = found.split_first_chunk::<8>()
        && let Some((expires_at, version)) = rest.split_first_chunk::<8>()
        && u64::from_be_bytes(*expires_at) > writer.now
    {
        let same = version.is_empty() || u64::from_be_bytes(*hash) == token.request_hash;
        return Ok(Some(if same { Once::Repeated } else { Once::Mismatch }));
    }
    let mut value = token.request_hash.to_be_bytes().to_vec();
    value.extend_from_slice(&token.expires_at.to_be_bytes());
    value.push(TOKEN_VERSION);
    writer.buffer.borrow_mut().put(key, Bytes::from(value));
    Ok(None)
}

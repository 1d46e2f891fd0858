//! Places for the objects of exports and imports, as S3's buckets are for the service.

use std::io::{self, Read};

/// An object in a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketObject {
    /// Its key: parts between slashes.
    pub key: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// A mark that is another one once the object was written anew.
    pub version: String,
}

/// Buckets with objects. A server has them in folders; nothing outside of these is read or written.
pub trait Buckets: Send + Sync {
    /// Tells whether there is a bucket of this name.
    fn has(&self, bucket: &str) -> bool;

    /// Puts an object as a whole, in the place of one of its key.
    ///
    /// Durability: it is there after a crash once this returns.
    ///
    /// # Errors
    ///
    /// * Those of the operating system; `InvalidInput` for a key that is none.
    fn put(&self, bucket: &str, key: &str, bytes: &[u8]) -> io::Result<()>;

    /// Returns the objects whose key begins with `prefix`, by key: up to `limit`.
    ///
    /// # Errors
    ///
    /// * Those of the operating system.
    fn list(&self, bucket: &str, prefix: &str, limit: usize) -> io::Result<Vec<BucketObject>>;

    /// Opens an object for reading.
    ///
    /// # Errors
    ///
    /// * Those of the operating system; `InvalidInput` for a key that is none.
    fn open(&self, bucket: &str, key: &str) -> io::Result<Box<dyn Read + Send>>;
}

/// Returns true if a text can be the name of a bucket: letters, digits, dots, dashes and underscores, with
/// a letter or digit at each end. Source: service model.
#[must_use]
pub fn is_bucket_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    (2..=255).contains(&bytes.len())
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(|byte| is_inner(*byte))
}

/// Returns the parts of a key, of which none leads anywhere else; `None` if it is no key of an object.
#[must_use]
pub fn key_parts(key: &str) -> Option<Vec<&str>> {
    let is_part = |part: &&str| {
        let is_plain = !part.contains(['\0', '\\', ':']) && part.len() <= 255;
        !part.is_empty() && *part != "." && *part != ".." && is_plain
    };
    let parts: Vec<&str> = key.split('/').collect();
    (key.len() <= 1_024 && parts.iter().all(is_part)).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_and_no_key_leads_out_of_a_bucket() {
        for name in ["bucket", "my.bucket-1", "a_b", "00"] {
            assert!(is_bucket_name(name), "{name}");
        }
        for name in ["", "a", "..", ".a", "a/b", "a..", "a\\b", "/etc", "a b", "a\0b"] {
            assert!(!is_bucket_name(name), "{name}");
        }
        assert_eq!(key_parts("a/b.json").unwrap(), ["a", "b.json"]);
        for key in ["", "/", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\\b", "c:x", "a\0"] {
            assert_eq!(key_parts(key), None, "{key}");
        }
    }
}

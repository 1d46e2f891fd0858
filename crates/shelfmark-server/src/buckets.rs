//! Buckets as folders: each sub folder of one folder is a bucket, its files are objects.
//!
//! What it is not: a service that clients speak to. Only exports and imports of the DynamoDB face come
//! here.
//!
//! Invariant: no file outside of the folder is read or written. Keys have no parts that lead anywhere else,
//! and what is a symbolic link is not followed.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use shelfmark_dynamo::{BucketObject, Buckets, is_bucket_name, key_parts};
use shelfmark_store::vfs;

/// Most folders within each other below a bucket.
const DEPTH_MAX: usize = 64;

/// The end of a file's name until it is whole.
const UNFINISHED: &str = ".new";

/// A folder whose sub folders are buckets.
#[derive(Debug, Clone)]
pub struct BucketFolder {
    folder: PathBuf,
}

impl BucketFolder {
    /// Uses a folder.
    ///
    /// # Errors
    ///
    /// * Those of the operating system: it is not there, or is no folder.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let folder = folder.canonicalize()?;
        match folder.is_dir() {
            true => Ok(Self { folder }),
            false => Err(io::Error::new(io::ErrorKind::NotADirectory, "it is no folder")),
        }
    }

    fn bucket(&self, bucket: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(bucket);
        let is_there = is_bucket_name(bucket) && is_plain_folder(&path);
        is_there.then_some(path).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("there is no bucket {bucket}"))
        })
    }

    /// Returns the path of an object, whose folders are none of another place. With `creates` they are
    /// made.
    fn object(&self, bucket: &str, key: &str, creates: bool) -> io::Result<PathBuf> {
        let mut path = self.bucket(bucket)?;
        let no_key = || io::Error::new(io::ErrorKind::InvalidInput, "the key leads to no object");
        let parts = key_parts(key).ok_or_else(no_key)?;
        let (name, folders) = parts.split_last().ok_or_else(no_key)?;
        if folders.len() > DEPTH_MAX {
            return Err(no_key());
        }
        for part in folders {
            path.push(part);
            if creates && path.symlink_metadata().is_err() {
                vfs::create_folder(&path)?;
            }
            if !is_plain_folder(&path) {
                return Err(no_key());
            }
        }
        path.push(name);
        match path.symlink_metadata() {
            Ok(found) if !found.is_file() => Err(no_key()),
            Ok(_) => Ok(path),
            Err(_) if creates => Ok(path),
            Err(error) => Err(error),
        }
    }

    /// Collects the objects of a folder and of those in it. `at` is the key of the folder.
    fn collect(
        folder: &Path,
        at: &str,
        (prefix, limit): (&str, usize),
        depth: usize,
        found: &mut Vec<BucketObject>,
    ) -> io::Result<()> {
        for path in vfs::list(folder)? {
            if found.len() >= limit {
                return Ok(());
            }
            // A name that is no text is the key of no object.
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let key = format!("{at}{name}");
            let metadata = path.symlink_metadata()?;
            if metadata.is_dir() && depth < DEPTH_MAX {
                let inner = format!("{key}/");
                if inner.starts_with(prefix) || prefix.starts_with(&inner) {
                    Self::collect(&path, &inner, (prefix, limit), depth + 1, found)?;
                }
            } else if metadata.is_file() && key.starts_with(prefix) && !key.ends_with(UNFINISHED) {
                let version = version_of(&metadata);
                found.push(BucketObject { key, bytes: metadata.len(), version });
            }
        }
        Ok(())
    }
}

/// Returns what tells a file from one that was written in its place: its length and its time.
fn version_of(metadata: &Metadata) -> String {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{}-{}", metadata.len(), modified.unwrap_or_default().as_nanos())
}

fn is_plain_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

impl Buckets for BucketFolder {
    fn has(&self, bucket: &str) -> bool {
        self.bucket(bucket).is_ok()
    }

    fn put(&self, bucket: &str, key: &str, bytes: &[u8]) -> io::Result<()> {
        vfs::replace(&self.object(bucket, key, true)?, bytes)
    }

    fn list(&self, bucket: &str, prefix: &str, limit: usize) -> io::Result<Vec<BucketObject>> {
        let mut found = Vec::new();
        Self::collect(&self.bucket(bucket)?, "", (prefix, limit), 0, &mut found)?;
        found.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Ok(found)
    }

    fn open(&self, bucket: &str, key: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(vfs::open(&self.object(bucket, key, false)?)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn beds() -> (tempfile::TempDir, BucketFolder) {
        let folder = tempfile::tempdir().unwrap();
        vfs::create_folder(&folder.path().join("buckets/mine")).unwrap();
        vfs::create_folder(&folder.path().join("outside")).unwrap();
        vfs::write_unsynced(&folder.path().join("outside/secret"), b"secret").unwrap();
        let buckets = BucketFolder::open(&folder.path().join("buckets")).unwrap();
        (folder, buckets)
    }

    #[test]
    fn objects_are_put_listed_and_read() {
        let (_folder, buckets) = beds();
        assert!(buckets.has("mine") && !buckets.has("other"));
        for key in ["a/b/one", "a/two", "a.b", "a/b/three.new"] {
            buckets.put("mine", key, key.as_bytes()).unwrap();
        }
        let keys = |prefix: &str, limit| -> Vec<String> {
            buckets.list("mine", prefix, limit).unwrap().into_iter().map(|own| own.key).collect()
        };
        assert_eq!(keys("", 10), ["a.b", "a/b/one", "a/two"]);
        assert_eq!(keys("a/b", 10), ["a/b/one"]);
        assert_eq!(keys("a/t", 10), ["a/two"]);
        assert_eq!(keys("", 1).len(), 1);
        let mut text = String::new();
        buckets.open("mine", "a/two").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "a/two");
    }

    #[test]
    fn an_object_that_is_written_anew_has_another_version() {
        let (_folder, buckets) = beds();
        let version = || buckets.list("mine", "a", 1).unwrap().remove(0).version;
        buckets.put("mine", "a", b"one").unwrap();
        let first = version();
        assert_eq!(version(), first);
        buckets.put("mine", "a", b"another").unwrap();
        assert_ne!(version(), first);
    }

    /// Half a file would keep a full disk full.
    #[cfg(unix)]
    #[test]
    fn what_cannot_be_put_leaves_nothing() {
        let (folder, buckets) = beds();
        // A folder of this name is in the way when the file gets its own.
        vfs::create_folder(&folder.path().join("buckets/mine/taken")).unwrap();
        vfs::write_unsynced(&folder.path().join("buckets/mine/taken/x"), b"x").unwrap();
        let target = folder.path().join("buckets/mine/taken");
        assert!(vfs::replace(&target, b"bytes").is_err());
        assert!(!folder.path().join("buckets/mine/taken.new").exists());
        assert_eq!(buckets.list("mine", "", 10).unwrap().len(), 1);
    }

    #[test]
    fn nothing_outside_is_reached() {
        let (_folder, buckets) = beds();
        for (bucket, key) in [
            ("..", "outside/secret"),
            ("mine", "../../outside/secret"),
            ("mine", "/etc/passwd"),
            ("mine/..", "outside/secret"),
            ("mine", ""),
            ("mine", "a/../b"),
        ] {
            assert!(buckets.open(bucket, key).is_err(), "{bucket} {key}");
            assert!(buckets.put(bucket, key, b"x").is_err(), "{bucket} {key}");
        }
        assert!(buckets.list("..", "", 10).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let (folder, buckets) = beds();
        let outside = folder.path().join("outside");
        let own = folder.path().join("buckets");
        std::os::unix::fs::symlink(&outside, own.join("link")).unwrap();
        std::os::unix::fs::symlink(&outside, own.join("mine/link")).unwrap();
        std::os::unix::fs::symlink(outside.join("secret"), own.join("mine/file")).unwrap();
        assert!(!buckets.has("link"));
        for key in ["link/secret", "file"] {
            assert!(buckets.open("mine", key).is_err(), "{key}");
            assert!(buckets.put("mine", key, b"x").is_err(), "{key}");
        }
        assert!(buckets.list("mine", "", 10).unwrap().is_empty());
        assert_eq!(vfs::read(&outside.join("secret")).unwrap(), b"secret");
    }
}

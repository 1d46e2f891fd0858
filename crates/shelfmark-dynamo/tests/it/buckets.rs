//! Buckets in memory.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Cursor, Read};
use std::sync::Mutex;

use shelfmark_dynamo::{BucketObject, Buckets, key_parts};

/// One bucket, named `bucket`.
#[derive(Default)]
pub(crate) struct MemoryBuckets {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl MemoryBuckets {
    pub(crate) fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.objects.lock().unwrap().clone()
    }

    pub(crate) fn remove(&self, key: &str) {
        self.objects.lock().unwrap().remove(key).unwrap();
    }
}

impl Buckets for MemoryBuckets {
    fn has(&self, bucket: &str) -> bool {
        bucket == "bucket"
    }

    fn put(&self, _bucket: &str, key: &str, bytes: &[u8]) -> io::Result<()> {
        assert!(key_parts(key).is_some(), "{key}");
        self.objects.lock().unwrap().insert(key.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn list(&self, _bucket: &str, prefix: &str, limit: usize) -> io::Result<Vec<BucketObject>> {
        let objects = self.objects.lock().unwrap();
        let own = objects.iter().filter(|(key, _)| key.starts_with(prefix)).take(limit);
        let object = |(key, bytes): (&String, &Vec<u8>)| BucketObject {
            key: key.clone(),
            bytes: bytes.len() as u64,
            version: {
                let mut hasher = DefaultHasher::new();
                bytes.hash(&mut hasher);
                hasher.finish().to_string()
            },
        };
        Ok(own.map(object).collect())
    }

    fn open(&self, _bucket: &str, key: &str) -> io::Result<Box<dyn Read + Send>> {
        let found = self.objects.lock().unwrap().get(key).cloned();
        let found = found.ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Cursor::new(found)))
    }
}

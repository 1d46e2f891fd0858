//! Reads one key as it was committed last, without a timestamp.
//!
//! The service answers a read at the greatest of all timestamps with what was committed last, and does
//! not take it for the time of anything. The client library cannot say that timestamp, so this driver
//! sends the request itself. What it is not: patient. Whatever stands in the way (a lock, a region that
//! has moved, a store that is gone) is left to a read at a timestamp by the library.
//!
//! Invariant: what is answered was committed, and nothing later was committed before the request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::lazy::Source;
use shelfmark_store::{Result, Snapshot};

use crate::counters::stored::Stored;
use crate::leaders::{Asked, ask};
use crate::options::KEY_BYTES_MAX;
use crate::shared::Shared;
use crate::snapshot::TikvSnapshot;
use crate::wire::{GetRequest, GetResponse};

/// The timestamp behind every other one.
const NEWEST: u64 = u64::MAX;

/// The cluster, as views that draw their timestamps late read it.
pub(crate) struct Newest(pub(crate) Arc<Shared>);

impl Source for Newest {
    fn newest(&self, key: &Bytes) -> Result<Option<Option<Bytes>>> {
        self.0.check_open()?;
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            // What cannot have been written is absent.
            return Ok(Some(None));
        }
        let (shared, outer) = (Arc::clone(&self.0), self.0.keys.outer(key));
        self.0.call(async move { Ok(newest(&shared, &outer).await) })
    }

    fn now(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(TikvSnapshot::begin(&self.0)?)
    }

    fn lifetime(&self) -> Duration {
        self.0.options.snapshot_age_max
    }
}

/// Returns the value of a key of the cluster, or of none if it is absent; `None` if a read at a
/// timestamp has to be asked.
async fn newest(shared: &Shared, key: &[u8]) -> Option<Option<Bytes>> {
    let (route, _) = shared.regions.route(&shared.placement, key).await?;
    let request =
        |context| GetRequest { context: Some(context), key: key.to_vec(), version: NEWEST };
    let asked = ask::<_, GetResponse>(shared, route, key, "/tikvpb.Tikv/KvGet", request).await;
    match asked {
        // No value is empty.
        Asked::Answer(GetResponse { error: None, value, .. }) if value.is_empty() => Some(None),
        // A counter that is a sum needs a timestamp; a value that cannot be read is told with one.
        Asked::Answer(GetResponse { error: None, value, .. }) => match Stored::decode(value) {
            Ok(Stored::Plain(value)) => Some(Some(value)),
            Ok(Stored::Spread(..)) | Err(_) => None,
        },
        _ => None,
    }
}

//! The driver under test: a space of the cluster for each test.

use std::sync::Arc;

use shelfmark_conformance::{Lane, SNAPSHOT_AGE_MAX};
use shelfmark_store::Store;
use shelfmark_store::clock::{Clock as _, ManualClock, SystemClock};
use shelfmark_tikv::{Options, TikvStore};
use tikv_client::{CheckLevel, TransactionClient, TransactionOptions};

/// A space of the cluster.
pub(crate) struct Space {
    options: Options,
    clock: Arc<ManualClock>,
}

impl Space {
    /// A space that no other run has used.
    pub(crate) fn new(case: &str) -> Self {
        let placement = std::env::var("SHELFMARK_TIKV").expect("SHELFMARK_TIKV names a cluster");
        let mut options = Options::new(placement.split(',').map(str::to_owned).collect());
        let short: String = case.chars().filter(|c| c.is_ascii_lowercase()).take(12).collect();
        options.space = format!("{short}-{:x}", SystemClock::new().now_micros());
        options.snapshot_age_max = SNAPSHOT_AGE_MAX;
        Self { options, clock: Arc::new(ManualClock::at_micros(1_700_000_000_000_000)) }
    }

    /// The options with which the space is opened.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Opens the space with a clock of its own.
    pub(crate) fn open_by(&self, clock: Arc<ManualClock>) -> Arc<dyn Store> {
        Arc::new(TikvStore::open(self.options.clone(), clock).unwrap())
    }

    /// What every key of the space begins with on the cluster (`docs/format.md`).
    pub(crate) fn outer_prefix(&self) -> Vec<u8> {
        self.outer(1)
    }

    /// Returns the rows of the cluster in a part of the space: 0 the driver's, 1 the contract's, 2 the slots.
    pub(crate) fn raw_rows(&self, kind: u8) -> Vec<(Vec<u8>, Vec<u8>)> {
        let start = self.outer(kind);
        let end = self.outer(kind + 1);
        self.with_client(async |client: TransactionClient| {
            let now = client.current_timestamp().await?;
            let options = TransactionOptions::new_optimistic().drop_check(CheckLevel::None);
            let rows = client.snapshot(now, options).scan(start..end, 10_000).await?;
            Ok(rows.map(|row| (row.0.into(), row.1)).collect())
        })
    }

    /// Puts a row of the contract as the cluster has it, past the driver.
    pub(crate) fn put_raw(&self, key: &[u8], value: &[u8]) {
        let key = [&self.outer(1)[..], key].concat();
        self.with_client(async |client: TransactionClient| {
            let mut transaction = client.begin_optimistic().await?;
            transaction.put(key, value.to_vec()).await?;
            transaction.commit().await.map(drop)
        });
    }

    fn with_client<T>(
        &self,
        call: impl AsyncFnOnce(TransactionClient) -> tikv_client::Result<T>,
    ) -> T {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let placement = self.options.placement.clone();
        runtime.block_on(async move {
            let client = TransactionClient::new(placement).await.unwrap();
            call(client).await.unwrap()
        })
    }

    fn outer(&self, kind: u8) -> Vec<u8> {
        [b"x", self.options.space.as_bytes(), &[0, kind]].concat()
    }
}

impl Lane for Space {
    fn open(&self) -> Arc<dyn Store> {
        self.open_by(self.clock.clone())
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn keeps(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        true
    }
}

//! The driver under test: a space of the cluster for each test.

/// Makes a test of each case, which needs a cluster.
macro_rules! every_lane {
    ($($module:ident { $($case:ident,)* })*) => {
        mod tikv {
            $($(
                #[test]
                #[ignore = "needs a cluster: cargo xtask tikv"]
                fn $case() {
                    super::$module::$case(&crate::lanes::Lane::new(stringify!($case)));
                }
            )*)*
        }
    };
}

use std::sync::Arc;
use std::time::Duration;

use shelfmark_store::Store;
use shelfmark_store::clock::{Clock as _, ManualClock, SystemClock};
use shelfmark_tikv::{Options, TikvStore};
use tikv_client::{CheckLevel, TransactionClient, TransactionOptions};

/// How long a snapshot lives.
pub(crate) const SNAPSHOT_AGE_MAX: Duration = Duration::from_secs(60);
/// How many bytes the cases write under a snapshot.
pub(crate) const SNAPSHOT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A space of the cluster.
pub(crate) struct Lane {
    options: Options,
    pub(crate) clock: Arc<ManualClock>,
}

impl Lane {
    /// A space that no other run has used.
    pub(crate) fn new(case: &str) -> Self {
        let placement = std::env::var("SHELFMARK_TIKV").expect("SHELFMARK_TIKV names a cluster");
        let mut options = Options::new(placement.split(',').map(str::to_owned).collect());
        let short: String = case.chars().filter(|c| c.is_ascii_lowercase()).take(12).collect();
        options.space = format!("{short}-{:x}", SystemClock::new().now_micros());
        options.snapshot_age_max = SNAPSHOT_AGE_MAX;
        Self { options, clock: Arc::new(ManualClock::at_micros(1_700_000_000_000_000)) }
    }

    /// Opens the space as it was left.
    pub(crate) fn open(&self) -> Arc<dyn Store> {
        self.open_by(self.clock.clone())
    }

    /// Opens the space with a clock of its own.
    pub(crate) fn open_by(&self, clock: Arc<ManualClock>) -> Arc<dyn Store> {
        Arc::new(TikvStore::open(self.options.clone(), clock).unwrap())
    }

    /// Closes `store` and opens the space again, as another server would.
    pub(crate) fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        store.close().unwrap();
        drop(store);
        self.open()
    }

    /// Drops `store` without closing it and opens the space again.
    pub(crate) fn crash(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        drop(store);
        self.open()
    }

    /// What every key of the space begins with on the cluster (`docs/format.md`).
    pub(crate) fn outer_prefix(&self) -> Vec<u8> {
        self.outer(1)
    }

    /// Returns the rows of the cluster in a part of the space: 1 the contract's, 2 the slots.
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

    pub(crate) fn keeps(&self) -> bool {
        true
    }

    pub(crate) fn is_behind(&self) -> bool {
        false
    }
}

//! The calls of a store that go to the store behind it as they are.
//!
//! What it is not: reads, commits and capabilities, which are what stores over others change.

/// Writes, in an `impl Store`, the calls that are made of the field `inner`. The names of the contract are
/// in scope there.
#[macro_export]
macro_rules! forward_to_inner {
    () => {
        fn boundaries(&self, range: &KeyRange) -> Result<Vec<Bytes>> {
            self.inner.boundaries(range)
        }

        fn destroy_range(&self, range: &KeyRange) -> Result<()> {
            self.inner.destroy_range(range)
        }

        fn ingest(&self, rows: &mut dyn Iterator<Item = Result<(Bytes, Bytes)>>) -> Result<()> {
            self.inner.ingest(rows)
        }

        fn maintain(&self) -> Result<Maintained> {
            self.inner.maintain()
        }

        fn stats(&self) -> StoreStats {
            self.inner.stats()
        }

        fn refusal(&self) -> Option<shelfmark_store::Error> {
            self.inner.refusal()
        }

        fn peers(&self) -> Option<&dyn Peers> {
            self.inner.peers()
        }

        fn close(&self) -> Result<()> {
            self.inner.close()
        }
    };
}

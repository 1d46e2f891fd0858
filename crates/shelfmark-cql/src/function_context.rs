//! The engine's clock and randomness as CQL's functions ask for them.

use shelfmark_cql_types::function::FunctionContext;
use shelfmark_engine::Environment;

/// Lends an [`Environment`] to functions such as `now()`.
#[derive(Clone, Copy)]
pub(crate) struct EngineContext<'e>(pub(crate) &'e Environment);

impl FunctionContext for EngineContext<'_> {
    fn now_micros(&self) -> u64 {
        self.0.clock.now_micros()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.0.random.fill(bytes);
    }
}

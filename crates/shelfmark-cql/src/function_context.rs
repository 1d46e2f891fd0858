//! The engine's clock and randomness as CQL's functions ask for them, and what users' functions take
//! of one request.
//!
//! What it is not: the limits of one call, which are the interpreter's.
//!
//! Invariant: whatever calls functions of users for a request does so with one context, so that its
//! steps are counted together; their results are counted until [`EngineContext::keeps`] says which of
//! them are still there.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

use shelfmark_cql_protocol::{CqlError, ErrorCode};
use shelfmark_cql_types::function::FunctionContext;
use shelfmark_engine::Environment;
use shelfmark_engine::budget::{Client, Share};
use shelfmark_engine::weight::Pool;

use crate::limits::{FUNCTION_STEPS_MAX, FUNCTION_STEPS_PER_TURN};
use crate::outcome::RequestOptions;

/// The refusal of a server where users' functions are switched off: Cassandra's sentence, which clients
/// may know, and how that is changed here.
pub(crate) const DISABLED: &str = "User-defined functions are disabled in cassandra.yaml - set user_defined_functions_enabled=true to enable; here, start the server with --cql-functions on";

/// Lends an [`Environment`] to functions such as `now()`, and counts what users' functions take.
pub(crate) struct EngineContext<'e> {
    environment: &'e Environment,
    is_enabled: bool,
    steps_left: Cell<u64>,
    /// Steps since others last had their turn.
    in_turn: Cell<u64>,
    /// The memory of results that are still there, and of the call that runs.
    kept_bytes: Cell<usize>,
    call_bytes: Cell<usize>,
    share: RefCell<Option<Share>>,
    /// The pool that the request runs on, if it does.
    pool: Option<&'e dyn Pool>,
    has_gone: Option<&'e AtomicBool>,
}

impl<'e> EngineContext<'e> {
    /// Creates the context of what no client waits for.
    pub(crate) fn new(environment: &'e Environment) -> Self {
        Self {
            environment,
            is_enabled: true,
            steps_left: Cell::new(FUNCTION_STEPS_MAX),
            in_turn: Cell::new(0),
            kept_bytes: Cell::new(0),
            call_bytes: Cell::new(0),
            share: RefCell::new(None),
            pool: None,
            has_gone: None,
        }
    }

    /// Creates the context of a request: users' functions draw from its client's part of the memory
    /// budget, and let others have their turn at the pool.
    pub(crate) fn of_request(
        environment: &'e Environment,
        options: &'e RequestOptions,
        pool: &'e dyn Pool,
        is_enabled: bool,
    ) -> Self {
        Self {
            is_enabled,
            share: RefCell::new(options.client.as_ref().map(Client::share)),
            pool: (!options.is_inline).then_some(pool),
            has_gone: Some(&options.has_gone),
            ..Self::new(environment)
        }
    }

    /// Says how many bytes of results are still there.
    ///
    /// # Errors
    ///
    /// * `Overloaded`: the memory budget has no room for them.
    pub(crate) fn keeps(&self, bytes: usize) -> Result<(), CqlError> {
        if bytes == self.kept_bytes.get() {
            return Ok(());
        }
        self.kept_bytes.set(bytes);
        self.cover()
    }

    fn cover(&self) -> Result<(), CqlError> {
        let bytes = self.kept_bytes.get().saturating_add(self.call_bytes.get());
        if self.share.borrow_mut().as_mut().is_none_or(|share| share.cover(bytes)) {
            return Ok(());
        }
        Err(CqlError::overloaded(
            "The memory budget has no room for what functions of this statement make; come again later",
        ))
    }

    /// Lets others have their turn now and then.
    fn rest(&self, steps: u64) -> Result<(), CqlError> {
        let in_turn = self.in_turn.get().saturating_add(steps);
        if in_turn < FUNCTION_STEPS_PER_TURN {
            self.in_turn.set(in_turn);
            return Ok(());
        }
        self.in_turn.set(0);
        if let Some(pool) = self.pool {
            pool.pause();
        }
        if self.has_gone.is_some_and(|own| own.load(Ordering::Relaxed)) {
            return Err(CqlError::new(ErrorCode::Server, "the client has gone"));
        }
        Ok(())
    }
}

impl FunctionContext for EngineContext<'_> {
    fn now_micros(&self) -> u64 {
        self.environment.clock.now_micros()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.environment.random.fill(bytes);
    }

    fn steps_left(&self) -> Result<u64, CqlError> {
        match self.is_enabled {
            true => Ok(self.steps_left.get()),
            false => Err(CqlError::invalid(DISABLED)),
        }
    }

    fn took(&self, steps: u64, result_bytes: usize) -> Result<(), CqlError> {
        self.steps_left.set(self.steps_left.get().saturating_sub(steps));
        self.call_bytes.set(0);
        self.keeps(self.kept_bytes.get().saturating_add(result_bytes))?;
        self.rest(steps)
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.call_bytes.set(bytes);
        self.cover().is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;

    use shelfmark_engine::SeededRandom;
    use shelfmark_engine::budget::Budget;
    use shelfmark_engine::weight::Inline;
    use shelfmark_store::clock::ManualClock;

    use super::*;

    const MIB: usize = 1024 * 1024;

    fn environment() -> Environment {
        let clock = Arc::new(ManualClock::at_micros(0));
        Environment { clock, random: Arc::new(SeededRandom::new(1)) }
    }

    #[test]
    fn calls_of_one_request_are_counted_together() {
        let environment = environment();
        let context = EngineContext::new(&environment);
        context.took(FUNCTION_STEPS_MAX - 1, 0).unwrap();
        assert_eq!(context.steps_left().unwrap(), 1);
        context.took(5, 0).unwrap();
        assert_eq!(context.steps_left().unwrap(), 0);
    }

    #[test]
    fn results_and_the_call_that_runs_draw_from_the_client() {
        let budget = Arc::new(Budget::new(64 * MIB));
        let client = budget.client(IpAddr::V4(Ipv4Addr::LOCALHOST), true);
        let options = RequestOptions { client: Some(client), ..RequestOptions::default() };
        let environment = environment();
        let context = EngineContext::of_request(&environment, &options, &Inline, true);
        assert!(context.has_room(20 * MIB));
        context.took(1, 20 * MIB).unwrap();
        assert!(!context.has_room(20 * MIB), "the result of the first is still there");
        context.keeps(0).unwrap();
        assert!(context.has_room(20 * MIB));
        let more = context.took(1, 40 * MIB).unwrap_err();
        assert_eq!(more.code, ErrorCode::Overloaded);
        drop(context);
        assert_eq!(budget.taken(), 0);
    }

    #[test]
    fn long_calls_end_once_the_client_has_gone() {
        let options = RequestOptions::default();
        let environment = environment();
        let context = EngineContext::of_request(&environment, &options, &Inline, true);
        context.took(FUNCTION_STEPS_PER_TURN, 0).unwrap();
        options.has_gone.store(true, Ordering::Relaxed);
        context.took(1, 0).unwrap();
        assert!(context.took(FUNCTION_STEPS_PER_TURN, 0).is_err());
    }

    #[test]
    fn functions_that_are_switched_off_are_not_called() {
        let options = RequestOptions::default();
        let environment = environment();
        let context = EngineContext::of_request(&environment, &options, &Inline, false);
        assert_eq!(context.steps_left().unwrap_err().message, DISABLED);
    }
}

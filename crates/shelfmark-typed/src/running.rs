//! Tracks the stores on which this thread runs a transaction.
//!
//! A handle that was opened outside of a transaction must not be used inside of one: what it writes
//! would not be part of it, would happen once per run of the body and stay when the transaction
//! aborts. So each call of such a handle asks here first. What it is not: a lock. Other threads may
//! use the handle meanwhile.
//!
//! Invariant: a store is listed exactly while a body of a transaction on it runs on this thread.

use std::cell::RefCell;
use std::sync::Arc;

use shelfmark_engine::Engine;

use crate::error::{Error, ErrorKind, Result};

thread_local! {
    static RUNNING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A guard of a running body; dropping it ends the run.
pub(crate) struct Running(());

impl Running {
    /// Registers the store of `engine` until the guard is dropped.
    pub(crate) fn begin(engine: &Engine) -> Self {
        RUNNING.with_borrow_mut(|running| running.push(identity(engine)));
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.with_borrow_mut(|running| running.pop());
    }
}

/// Refuses a call that would act outside the transaction whose body makes it.
pub(crate) fn check_outside(engine: &Engine) -> Result<()> {
    let is_inside = RUNNING.with_borrow(|running| running.contains(&identity(engine)));
    if !is_inside {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Restricted,
        "this handle is used inside of a transaction and would act outside of it: use the handle \
         that the transaction gives, as in `tx.table(&table)?`",
    ))
}

/// Returns the address of the store, which all clones of an engine share.
fn identity(engine: &Engine) -> usize {
    Arc::as_ptr(engine.store()).cast::<()>().addr()
}

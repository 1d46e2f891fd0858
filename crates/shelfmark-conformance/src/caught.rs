//! The panics of a case: told with their place, and not printed.
//!
//! What it is not: a change for other panics of the process, which end as they did before.
//!
//! Invariant: a panic belongs to the case whose thread it is in, however many cases run at once.

use std::cell::RefCell;
use std::panic::{PanicHookInfo, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The longest text of a panic that is told, in characters: one may have whole values in it.
const TEXT_MAX: usize = 600;

thread_local! {
    /// The list for the panics of this thread, if it runs a part of a case.
    static OWN: RefCell<Option<Panics>> = const { RefCell::new(None) };
}

/// The panics of one case, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panics(Arc<Mutex<Vec<String>>>);

impl Panics {
    /// Runs `body` as a part of the case of this list.
    pub(crate) fn of<T>(self, body: impl FnOnce() -> T) -> T {
        OWN.set(Some(self));
        body()
    }

    /// Returns the first panic, from which others follow.
    pub(crate) fn first(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()
    }

    fn add(&self, panic: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(panic);
    }
}

/// Has panics of cases go to their outcome and not to standard error, from now on.
///
/// The process has one way to tell of panics, so this is for a command, not for a library: without
/// it an outcome has the panic's text, but not its place.
pub fn catch_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| match OWN.try_with(|own| own.borrow().clone()) {
        Ok(Some(own)) => own.add(told(panic)),
        _ => before(panic),
    }));
}

fn told(panic: &PanicHookInfo<'_>) -> String {
    let mut text = text_of(panic.payload());
    if let Some((end, _)) = text.char_indices().nth(TEXT_MAX) {
        text.truncate(end);
        text.push_str(" …");
    }
    match panic.location() {
        Some(place) => format!("{text} ({}:{})", place.file(), place.line()),
        None => text,
    }
}

/// Returns the text of a panic.
pub(crate) fn text_of(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}

/// Runs `bodies` in a thread each and waits for all; the first panic among them is one here.
pub fn together<'a>(bodies: Vec<Box<dyn FnOnce() + Send + 'a>>) {
    let own = OWN.with_borrow(Clone::clone);
    let panicked = std::thread::scope(|scope| {
        let spawn = |body: Box<dyn FnOnce() + Send + 'a>| {
            let own = own.clone();
            scope.spawn(move || match own {
                Some(own) => own.of(body),
                None => body(),
            })
        };
        let threads: Vec<_> = bodies.into_iter().map(spawn).collect();
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.join().err()).collect();
        ended.into_iter().flatten().next()
    });
    if let Some(panic) = panicked {
        resume_unwind(panic);
    }
}

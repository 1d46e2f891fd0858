//! The thresholds of free space, to the byte.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::ManualClock;
use crate::embedded::free_space::FreeSpace;

#[test]
fn puts_end_below_the_first_threshold_and_everything_below_the_second() {
    let free = Arc::new(AtomicU64::new(0));
    let clock = Arc::new(ManualClock::at_micros(0));
    let probe = Arc::clone(&free);
    let probe = Box::new(move || Some(probe.load(Ordering::Relaxed)));
    let space = FreeSpace::new(probe, (1_000, 100), clock.clone());
    for (bytes, puts, deletions) in [
        (1_000, true, true),
        (999, false, true),
        (100, false, true),
        (99, false, false),
        (0, false, false),
        (1_001, true, true),
    ] {
        free.store(bytes, Ordering::Relaxed);
        space.ask();
        assert_eq!(space.check(false).is_ok(), puts, "{bytes}");
        assert_eq!(space.check(true).is_ok(), deletions, "{bytes}");
        assert_eq!(space.is_nearly_gone(), !deletions, "{bytes}");
    }
    // It is asked again by itself, after a while.
    free.store(0, Ordering::Relaxed);
    space.ask();
    free.store(2_000, Ordering::Relaxed);
    assert!(space.check(false).is_err());
    clock.advance(Duration::from_millis(100));
    assert!(space.check(false).is_ok());
}

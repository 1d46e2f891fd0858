//! Placement drivers and the store of a bed of its own, killed and started again.
//!
//! What it cannot show: what a restart of the bed's store does to commits in flight, which it forgets
//! the locks of (`docs/scale-out.md`); commits here wait for each other.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use shelfmark_conformance::terse::{get, put};
use shelfmark_store::clock::{Clock as _, SystemClock};
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Commit, Error, ErrorKind, Result, Store};
use shelfmark_tikv::{Options, TikvStore};

use crate::bed::Bed;

/// After an outage everything goes again within this time.
const RECOVERED_WITHIN: Duration = Duration::from_secs(60);

/// A wait that ends, so that a test does.
struct Waiting {
    clock: SystemClock,
    since: Duration,
}

impl Waiting {
    fn new() -> Self {
        let clock = SystemClock::new();
        Self { since: clock.monotonic(), clock }
    }

    fn check(&self, trouble: &str) {
        assert!(self.clock.monotonic() - self.since < RECOVERED_WITHIN, "{trouble}");
    }
}

fn open(bed: &Bed) -> Arc<dyn Store> {
    let options = Options::new(bed.placement.clone());
    Arc::new(TikvStore::open(options, Arc::new(SystemClock::new())).unwrap())
}

/// Returns the name of the leading placement driver, asked from whichever answers.
fn leader(bed: &Bed) -> String {
    let waiting = Waiting::new();
    loop {
        for place in &bed.placement {
            let found = leader_by(place);
            if let Some(name) = found {
                return name;
            }
        }
        waiting.check("no placement driver leads");
        ThreadSleeper.sleep(Duration::from_millis(100));
    }
}

fn leader_by(place: &str) -> Option<String> {
    let mut stream = TcpStream::connect(place).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    write!(stream, "GET /pd/api/v1/leader HTTP/1.0\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, rest) = answer.split_once("\"name\": \"").or(answer.split_once("\"name\":\""))?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// Writes the next number.
fn write_next(store: &dyn Store, acknowledged: &mut Vec<u32>, next: &mut u32) -> Result<()> {
    let number = *next;
    *next += 1;
    store.commit(Commit::of(vec![
        put(format!("a{number}"), number.to_string()),
        put(format!("b{number}"), number.to_string()),
    ]))?;
    acknowledged.push(number);
    Ok(())
}

/// Writes until it goes again.
fn recover(store: &dyn Store, acknowledged: &mut Vec<u32>, next: &mut u32) {
    let waiting = Waiting::new();
    while let Err(error) = write_next(store, acknowledged, next) {
        assert!(
            matches!(
                error.kind(),
                ErrorKind::Unavailable | ErrorKind::Undetermined | ErrorKind::Busy
            ),
            "{error}"
        );
        waiting.check(&format!("it does not go again: {error}"));
    }
}

/// Writes until that is refused: a driver that leads goes on until its lease is over.
fn refusal(store: &dyn Store, acknowledged: &mut Vec<u32>, next: &mut u32) -> Error {
    let waiting = Waiting::new();
    loop {
        if let Err(error) = write_next(store, acknowledged, next) {
            return error;
        }
        waiting.check("it goes on without a majority");
    }
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn outages_are_told_and_over_when_they_are_over() {
    let bed = Bed::start(3);
    let store = open(&bed);
    let (mut acknowledged, mut next) = (Vec::new(), 0);
    for _ in 0..20 {
        write_next(&*store, &mut acknowledged, &mut next).unwrap();
    }
    // The leader of three is killed: another one leads.
    let first = leader(&bed);
    bed.kill(&first);
    recover(&*store, &mut acknowledged, &mut next);
    // Without a majority nothing goes, and that is said.
    let second = leader(&bed);
    assert_ne!(first, second);
    bed.kill(&second);
    // The last of them may have got so far that nobody knows its end.
    let refused = refusal(&*store, &mut acknowledged, &mut next).kind();
    assert!(matches!(refused, ErrorKind::Unavailable | ErrorKind::Undetermined), "{refused:?}");
    let refused = store.snapshot().map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
    bed.again(&first);
    bed.again(&second);
    recover(&*store, &mut acknowledged, &mut next);
    // The store is killed between two commits, when the placement drivers that came back may not have
    // heard of its regions: the client library takes a commit then that it sends to nobody. It comes back with what it acknowledged.
    bed.kill("store");
    // The last of them may have got so far that nobody knows its end.
    let refused = refusal(&*store, &mut acknowledged, &mut next).kind();
    assert!(matches!(refused, ErrorKind::Unavailable | ErrorKind::Undetermined), "{refused:?}");
    bed.again("store");
    recover(&*store, &mut acknowledged, &mut next);
    for store in [Arc::clone(&store), open(&bed)] {
        for number in 0..next {
            let found = ["a", "b"].map(|side| get(&*store, format!("{side}{number}")));
            let is_whole = found.iter().all(Option::is_some) || found.iter().all(Option::is_none);
            assert!(is_whole, "half of {number} is there: {found:?}");
            assert!(found[0].is_some() || !acknowledged.contains(&number), "{number} is lost");
        }
        store.close().unwrap();
    }
}

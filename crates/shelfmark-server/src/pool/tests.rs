use std::collections::HashSet;
use std::sync::mpsc::{Receiver, Sender, channel};

use shelfmark_engine::weight::Pool as _;
use tokio::runtime::Runtime;

use super::*;

const SIZE: PoolSize = PoolSize { computing: 1, begun: 2, waiting: 2, logins: 1, queued: 4 };

/// Longer than anything takes that is to happen.
const LONG: Duration = Duration::from_secs(60);

fn pool(size: PoolSize) -> (Pool, Runtime) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    (Pool::new(size, runtime.handle().clone()), runtime)
}

/// Work that says its name, waits until it may go on, and says its name again.
struct Held {
    said: Receiver<String>,
    saying: Sender<String>,
}

impl Held {
    fn new() -> Self {
        let (saying, said) = channel();
        Self { said, saying }
    }

    /// Hands over work that runs until the sender that is returned is used or gone.
    fn run(&self, pool: &Pool, weight: Weight, name: &'static str) -> Sender<()> {
        self.run_for(None, pool, weight, name)
    }

    /// As [`Held::run`], of a client's.
    fn run_for(&self, asker: Asker, pool: &Pool, weight: Weight, name: &'static str) -> Sender<()> {
        let (go, gone) = channel::<()>();
        let saying = self.saying.clone();
        let work = move |admitted: Result<(), Refused>| {
            if admitted.is_err() {
                return saying.send(format!("{name} is refused")).unwrap();
            }
            saying.send(format!("{name} begins")).unwrap();
            let _ = gone.recv();
            saying.send(format!("{name} ends")).unwrap();
        };
        pool.run(asker, weight, Box::new(work));
        go
    }

    #[track_caller]
    fn check(&self, expected: &str) {
        assert_eq!(self.said.recv_timeout(LONG).as_deref(), Ok(expected));
    }

    fn says_nothing(&self) {
        assert!(self.said.try_recv().is_err());
    }
}

#[test]
fn heavy_work_runs_in_its_order_and_what_waits_beside_it() {
    let (pool, _runtime) = pool(SIZE);
    let held = Held::new();
    let first = held.run(&pool, Weight::Heavy, "first");
    held.check("first begins");
    let second = held.run(&pool, Weight::Heavy, "second");
    let third = held.run(&pool, Weight::Waiting, "third");
    held.check("third begins");
    let fourth = held.run(&pool, Weight::Waiting, "fourth");
    held.check("fourth begins");
    let fifth = held.run(&pool, Weight::Waiting, "fifth");
    held.says_nothing();
    drop(third);
    held.check("third ends");
    held.check("fifth begins");
    drop(first);
    held.check("first ends");
    held.check("second begins");
    for (go, end) in [(fourth, "fourth ends"), (fifth, "fifth ends"), (second, "second ends")] {
        drop(go);
        held.check(end);
    }
}

#[test]
fn what_finds_the_queue_full_is_refused() {
    let (pool, _runtime) = pool(SIZE);
    let held = Held::new();
    let running = held.run(&pool, Weight::Heavy, "running");
    held.check("running begins");
    let queue = |host| held.run_for(asker(host, 1), &pool, Weight::Heavy, "queued");
    let queued: Vec<_> = (0..4).map(queue).collect();
    held.says_nothing();
    drop(held.run(&pool, Weight::Heavy, "late"));
    held.check("late is refused");
    drop(held.run(&pool, Weight::Waiting, "other"));
    held.check("other begins");
    held.check("other ends");
    drop((running, queued));
    held.check("running ends");
    for _ in 0..4 {
        held.check("queued begins");
        held.check("queued ends");
    }
    drop(held.run(&pool, Weight::Heavy, "later"));
    held.check("later begins");
}

fn asker(host: u8, port: u16) -> Asker {
    Some(([127, 0, 0, host], port).into())
}

#[test]
fn an_address_fills_half_of_the_queue() {
    let (pool, _runtime) = pool(SIZE);
    let held = Held::new();
    let running = held.run(&pool, Weight::Heavy, "running");
    held.check("running begins");
    let run = |host, port, name| held.run_for(asker(host, port), &pool, Weight::Heavy, name);
    let queued = [run(1, 1, "queued"), run(1, 2, "queued")];
    held.says_nothing();
    drop(run(1, 3, "third"));
    held.check("third is refused");
    let others = [run(2, 1, "other"), run(3, 1, "other")];
    held.says_nothing();
    drop(run(4, 1, "last"));
    held.check("last is refused");
    drop((running, queued, others));
    held.check("running ends");
}

#[test]
fn one_request_waits_for_one_of_each_other_client() {
    let (pool, _runtime) = pool(PoolSize { queued: 4000, ..SIZE });
    for weight in [Weight::Heavy, Weight::Waiting] {
        let held = Held::new();
        let run = |host, port, name| held.run_for(asker(host, port), &pool, weight, name);
        let running = [run(9, 1, "running"), run(9, 2, "running")];
        held.check("running begins");
        let greedy: Vec<_> = (0..1000).map(|_| run(1, 1, "greedy")).collect();
        let other = run(2, 1, "other");
        drop((running, greedy, other));
        let said = (0..2 * 1003 - 1).map(|_| held.said.recv_timeout(LONG).unwrap());
        let said: Vec<String> = said.filter(|text| text.ends_with("begins")).collect();
        let before = said.iter().position(|text| text == "other begins");
        assert!(before.is_some_and(|before| before <= 4), "{weight:?}: {before:?}");
    }
}

#[test]
fn what_a_client_that_has_gone_asked_for_does_not_begin() {
    let (pool, _runtime) = pool(PoolSize { queued: 8, ..SIZE });
    let held = Held::new();
    let run = |port, name| held.run_for(asker(1, port), &pool, Weight::Heavy, name);
    let running = run(1, "running");
    held.check("running begins");
    let queued = [run(1, "queued"), run(2, "other"), run(1, "queued")];
    pool.forget(asker(1, 1));
    held.check("queued is refused");
    held.check("queued is refused");
    drop((running, queued));
    held.check("running ends");
    held.check("other begins");
    held.check("other ends");
}

#[test]
fn an_address_leaves_a_place_to_others() {
    let (pool, _runtime) =
        pool(PoolSize { computing: 1, begun: 4, waiting: 4, queued: 100, ..SIZE });
    let held = Held::new();
    let run = |host, name| held.run_for(asker(host, 1), &pool, Weight::Waiting, name);
    let greedy: Vec<_> = (0..4).map(|_| run(1, "greedy")).collect();
    for _ in 0..3 {
        held.check("greedy begins");
    }
    held.says_nothing();
    drop(run(2, "other"));
    held.check("other begins");
    held.check("other ends");
    held.says_nothing();
    drop(greedy);
    held.check("greedy ends");
}

#[test]
fn long_work_lets_others_have_their_turn() {
    let (pool, _runtime) = pool(SIZE);
    let held = Held::new();
    let (own, saying) = (pool.clone(), held.saying.clone());
    let (go, gone) = channel::<()>();
    let long = move |_: Result<(), Refused>| {
        saying.send("long begins".to_owned()).unwrap();
        let _ = gone.recv();
        // Two others came meanwhile: one has its turn at each pause.
        own.pause();
        saying.send("long goes on".to_owned()).unwrap();
        own.pause();
        saying.send("long ends".to_owned()).unwrap();
    };
    pool.run(None, Weight::Heavy, Box::new(long));
    held.check("long begins");
    drop(held.run(&pool, Weight::Heavy, "one"));
    drop(held.run(&pool, Weight::Heavy, "two"));
    held.says_nothing();
    drop(go);
    held.check("one begins");
    held.check("one ends");
    held.check("long goes on");
    held.check("two begins");
    held.check("two ends");
    held.check("long ends");
}

#[test]
fn what_writes_to_a_disk_gives_its_turn_away_meanwhile() {
    let (pool, _runtime) = pool(SIZE);
    let held = Held::new();
    let (own, saying) = (pool.clone(), held.saying.clone());
    let (go, gone) = channel::<()>();
    let long = move |_: Result<(), Refused>| {
        own.beside(&mut || {
            saying.send("long writes".to_owned()).unwrap();
            let _ = gone.recv();
        });
        saying.send("long goes on".to_owned()).unwrap();
        // It has a turn of its own again.
        own.pause();
        saying.send("long ends".to_owned()).unwrap();
    };
    pool.run(None, Weight::Heavy, Box::new(long));
    held.check("long writes");
    let other = held.run(&pool, Weight::Heavy, "other");
    held.check("other begins");
    drop(go);
    while pool.inner.state().paused.len() == 0 {
        std::thread::yield_now();
    }
    held.says_nothing();
    drop(held.run(&pool, Weight::Heavy, "last"));
    drop(other);
    held.check("other ends");
    held.check("long goes on");
    held.check("last begins");
    held.check("last ends");
    held.check("long ends");
    assert_eq!(pool.inner.state().computing, 0);
}

#[test]
fn short_requests_do_not_wait_for_a_turn_of_each_long_one() {
    let (pool, _runtime) = pool(PoolSize { begun: 20, queued: 100, ..SIZE });
    // Whoever has its turn waits until it was heard.
    let (saying, said) = std::sync::mpsc::sync_channel(0);
    let run = |name: &'static str, turns: usize| {
        let (own, saying) = (pool.clone(), saying.clone());
        let work = move |_: Result<(), Refused>| {
            for _ in 0..turns {
                let _ = saying.send(name);
                own.pause();
            }
        };
        pool.run(asker(1, 1), Weight::Heavy, Box::new(work));
    };
    (0..8).for_each(|_| run("long", 4 * POOL_SHORT_TURNS_MAX));
    let hear = || said.recv_timeout(LONG).unwrap();
    let turns = 8 * 2 * POOL_SHORT_TURNS_MAX;
    assert!((0..turns).all(|_| hear() == "long"));
    run("short", 4);
    let heard: Vec<&str> = (0..16).map(|_| hear()).collect();
    let at: Vec<usize> =
        (0..).zip(&heard).filter(|(_, name)| **name == "short").map(|(at, _)| at).collect();
    assert_eq!(at.len(), 4, "{heard:?}");
    assert!(at.windows(2).all(|pair| pair[1] - pair[0] <= 3), "{heard:?}");
    drop(said);
}

#[test]
fn a_panic_while_a_turn_is_given_away_takes_none_with_it() {
    let (pool, _runtime) = pool(SIZE);
    let own = pool.clone();
    let panics = move |_: Result<(), Refused>| own.beside(&mut || panic!("as the test wants it"));
    pool.run(None, Weight::Heavy, Box::new(panics));
    let held = Held::new();
    for name in ["one", "two"] {
        drop(held.run(&pool, Weight::Heavy, name));
        held.check(&format!("{name} begins"));
        held.check(&format!("{name} ends"));
    }
}

#[test]
fn logins_wait_for_nothing_but_logins() {
    let (pool, _runtime) = pool(SIZE);
    let held = Held::new();
    let run = |weight, name| held.run_for(asker(1, 1), &pool, weight, name);
    let all = [run(Weight::Heavy, "heavy"), run(Weight::Waiting, "waiting")];
    let began: HashSet<String> = held.said.iter().take(2).collect();
    assert_eq!(began.len(), 2, "{began:?}");
    let behind = [run(Weight::Heavy, "late"), run(Weight::Heavy, "later")];
    let login = run(Weight::Login, "login");
    held.check("login begins");
    let second = run(Weight::Login, "second");
    held.says_nothing();
    drop(login);
    held.check("login ends");
    held.check("second begins");
    drop((second, all, behind));
}

#[test]
fn no_more_begins_than_may_while_others_pause() {
    let (pool, _runtime) = pool(SIZE);
    let held = Held::new();
    let (go, gone) = channel::<()>();
    let gone = Arc::new(Mutex::new(gone));
    for name in ["one", "two", "three"] {
        let (own, saying, gone) = (pool.clone(), held.saying.clone(), Arc::clone(&gone));
        let work = move |_: Result<(), Refused>| {
            saying.send(format!("{name} begins")).unwrap();
            if name == "one" {
                let _ = gone.lock().unwrap().recv();
            }
            own.pause();
            saying.send(format!("{name} ends")).unwrap();
        };
        pool.run(None, Weight::Heavy, Box::new(work));
    }
    drop(go);
    for expected in
        ["one begins", "two begins", "one ends", "three begins", "two ends", "three ends"]
    {
        held.check(expected);
    }
}

#[test]
fn a_panic_takes_no_thread_and_no_turn_with_it() {
    let (pool, _runtime) = pool(PoolSize { queued: 8, ..SIZE });
    let held = Held::new();
    for weight in [Weight::Heavy, Weight::Waiting, Weight::Heavy, Weight::Heavy] {
        pool.run(None, weight, Box::new(|_| panic!("as the test wants it")));
    }
    for weight in [Weight::Heavy, Weight::Waiting] {
        drop(held.run(&pool, weight, "it"));
        held.check("it begins");
        held.check("it ends");
    }
}

#[test]
fn an_end_refuses_what_has_not_begun_and_waits_for_the_rest_only_so_long() {
    let (pool, _runtime) = pool(SIZE);
    let held = Held::new();
    let hangs = held.run(&pool, Weight::Heavy, "hanging");
    held.check("hanging begins");
    drop(held.run(&pool, Weight::Heavy, "queued"));
    held.says_nothing();
    assert!(!pool.stop(Duration::from_millis(1)));
    held.check("queued is refused");
    drop(held.run(&pool, Weight::Waiting, "late"));
    held.check("late is refused");
    drop(hangs);
    held.check("hanging ends");
    assert!(pool.stop(LONG));
}

#[test]
fn threads_are_as_many_as_work_needs_and_no_more() {
    let (pool, _runtime) = pool(PoolSize { queued: 100, ..SIZE });
    let held = Held::new();
    for _ in 0..50 {
        drop(held.run(&pool, Weight::Waiting, "it"));
        drop(held.run(&pool, Weight::Heavy, "it"));
    }
    for _ in 0..200 {
        assert!(held.said.recv_timeout(LONG).is_ok());
    }
    let state = pool.inner.state();
    assert!(state.heavy.threads <= 2, "{}", state.heavy.threads);
    assert!(state.waiting.threads <= 2, "{}", state.waiting.threads);
}

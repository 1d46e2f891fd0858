//! `shelfmark verify --suites`: a cluster is tried, and is as it was before.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use shelfmark_tikv::{Options, Spaces};

use crate::bed::Bed;
use crate::migrate::cql;
use crate::process::{Server, command, shelfmark, stderr, stdout};

/// Longer than the lease of a run that was killed, and than a cluster takes to be there again.
const SETTLED_WITHIN: Duration = Duration::from_secs(40);

/// Returns the key spaces that runs have on a cluster.
fn spaces(placement: &str) -> Vec<String> {
    let options = Options::new(placement.split(',').map(str::to_owned).collect());
    Spaces::connect(options).unwrap().names("shelfmark-verify-").unwrap()
}

/// Starts a run and waits until two of its cases have ended.
fn begun(engine: &str, further: &[&str]) -> (Child, impl FnOnce() -> String) {
    let mut run = command()
        .args(["verify", "--suites", "--engine", engine])
        .args(further)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut told = String::new();
    while told.matches("  ok ").count() < 2 {
        told += &(lines.next().unwrap() + "\n");
    }
    (run, move || told + &lines.collect::<Vec<_>>().join("\n"))
}

fn signal(run: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap().success());
}

/// Runs one case until that ends as `is_it` wants.
fn until(engine: &str, is_it: impl Fn(&Output) -> bool) {
    let since = Instant::now();
    loop {
        let one = "a_prefix_is_a_range";
        let ended = shelfmark(&["verify", "--suites", "--only", one, "--engine", engine]);
        if is_it(&ended) {
            return;
        }
        assert!(since.elapsed() < SETTLED_WITHIN, "{}{}", stdout(&ended), stderr(&ended));
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn suites_hold_beside_a_server_that_notices_nothing_on_a_cluster() {
    let placement = std::env::var("SHELFMARK_TIKV").unwrap();
    let space = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros();
    let engine = format!("tikv://{placement}/beside-{space:x}");
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &["--engine", &engine]);
    let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    cql(&server, &format!("CREATE KEYSPACE k WITH replication = {replication}"));
    cql(&server, "CREATE TABLE k.t (a int, b int, n text, PRIMARY KEY (a, b))");
    for row in 0..50 {
        cql(&server, &format!("INSERT INTO k.t (a, b, n) VALUES (1, {row}, 'row {row}')"));
    }
    let shown = || cql(&server, "SELECT * FROM k.t WHERE a = 1");
    let before = shown();
    let run = shelfmark(&["verify", "--engine", &engine, "--suites", "--seed", "4711"]);
    let told = stdout(&run);
    assert!(run.status.success(), "{told}{}", stderr(&run));
    assert!(told.contains("seed 4711") && !told.contains("FAILED"), "{told}");
    let cases = told.matches("  ok ").count();
    assert!(cases > 60 && told.contains(&format!("{cases} of {cases} cases held")), "{told}");
    for name in ["a written key is a conflict", "transactions of several servers are in one order"]
    {
        assert!(told.contains(name), "{name}: {told}");
    }
    assert_eq!(shown(), before);
    cql(&server, "INSERT INTO k.t (a, b, n) VALUES (1, 50, 'later')");
    drop(server.stop("-TERM"));
    let records = shelfmark(&["verify", "--engine", &engine]);
    assert!(records.status.success(), "{}{}", stdout(&records), stderr(&records));
    assert!(stderr(&records).contains("--suites"), "{}", stderr(&records));

    // A run leaves another one alone, and Ctrl-C removes what was written.
    let (run, told) = begun(&engine, &["--seed", "1"]);
    until(&engine, |ended| {
        let told = stdout(ended);
        assert!(ended.status.success() && !told.contains("removed what"), "{told}");
        true
    });
    assert!(!spaces(&placement).is_empty());
    signal(&run, "-INT");
    let ended = run.wait_with_output().unwrap();
    let told = told();
    assert_eq!(ended.status.code(), Some(1), "{told}");
    assert!(stderr(&ended).contains("interrupted"), "{}", stderr(&ended));
    assert!(!told.contains("FAILED"), "{told}");
    assert_eq!(spaces(&placement), Vec::<String>::new());

    // After a kill the next run does, once the lease is over; until then it may be alive.
    let (run, told) = begun(&engine, &[]);
    signal(&run, "-KILL");
    drop(run.wait_with_output().unwrap());
    drop(told());
    assert!(!spaces(&placement).is_empty());
    until(&engine, |ended| stdout(ended).contains("removed what an earlier run had left"));
    assert_eq!(spaces(&placement), Vec::<String>::new());
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_cluster_that_goes_away_is_told_and_left_clean_later_on_a_bed() {
    let bed = Bed::start(1);
    let engine = format!("tikv://{}", bed.placement.join(","));
    let (run, told) = begun(&engine, &[]);
    bed.kill("store");
    let ended = run.wait_with_output().unwrap();
    let (told, errors) = (told(), stderr(&ended));
    assert_eq!(ended.status.code(), Some(1), "{told}{errors}");
    // The case that met it fails, with the reason, unless the removal behind a case did; the others
    // are not tried.
    assert!(told.matches("FAILED").count() <= 1, "{told}");
    assert!(errors.contains("stopped behind"), "{errors}");
    assert!(errors.contains("the next run removes them"), "{errors}");
    bed.again("store");
    until(&engine, |ended| ended.status.success() && stdout(ended).contains("removed what"));
    assert_eq!(spaces(&bed.placement.join(",")), Vec::<String>::new());
    bed.kill("pd1");
    let ended = shelfmark(&["verify", "--suites", "--engine", &engine]);
    assert!(!ended.status.success());
    assert!(stderr(&ended).contains("no placement driver answers"), "{}", stderr(&ended));
}

#[test]
fn what_cannot_be_tried_is_refused_with_what_to_do() {
    for (flags, text) in [
        (&["--suites"][..], "--engine"),
        (&["--suites", "--data", "x"], "cannot be used with '--data <DIR>'"),
        (&["--suites", "--server", "h:1"], "cannot be used with '--server <ADDR>'"),
        (&["--seed", "1", "--engine", "tikv://h:1"], "--suites"),
        (&["--suites", "--engine", "tikv://h"], "each placement driver is HOST:PORT"),
        (&["--suites", "--engine", "tikv://h:1", "--only", "no such"], "no case has \"no such\""),
    ] {
        let output = shelfmark(&[&["verify"], flags].concat());
        assert!(!output.status.success());
        assert!(stderr(&output).contains(text), "{flags:?}: {}", stderr(&output));
    }
}

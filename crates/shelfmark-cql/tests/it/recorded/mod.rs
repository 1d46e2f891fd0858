//! What Apache Cassandra answered, asked of the face: the scripts of `clients/cassandra`, byte for byte
//! over a connection of version 4 in this process.
//!
//! The access path of each read is compared, too ([`paths`]): a plan that turns into a scan answers
//! the same.
//!
//! What it is not: a check of sockets and logins; `cargo xtask clients` replays the same scripts against
//! a server.

mod paths;
mod script;
mod text;
mod wire;

use std::collections::VecDeque;
use std::sync::Mutex;

use script::{Line, Step};
use wire::{Client, server};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/cassandra/scripts");

/// As many servers at once: each takes the next script.
const SERVERS: usize = 4;

/// What differs in one script, and how many answers it has.
fn differences(server: &wire::Server, name: &str, text: &str) -> (usize, Vec<String>) {
    let mut client = Client::connect(server, "cassandra", "cassandra");
    for statement in [
        format!("DROP KEYSPACE IF EXISTS {name}"),
        format!(
            "CREATE KEYSPACE {name} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
        ),
        format!("USE {name}"),
    ] {
        let answer = client.run(&statement, None, None);
        assert!(!answer[0].starts_with("error"), "{statement}: {answer:?}");
    }
    let (mut count, mut found, mut paths) = (0, Vec::new(), Vec::new());
    for line in script::read(text) {
        match line {
            Line::Step(step) => {
                count += 1;
                server.observer.take();
                let given = answer(&mut client, &step);
                paths.extend(paths::line(&step.statement, &server.observer.take()));
                if given != step.wanted {
                    let (wanted, given) = (step.wanted.join("\n"), given.join("\n"));
                    found.push(format!("{name}: {}\n- {wanted}\n+ {given}", step.head));
                }
            }
            Line::User(user, password) => {
                client = Client::connect(server, &user, &password);
                client.run(&format!("USE {name}"), None, None);
            }
            Line::Wait => {}
        }
    }
    found.extend(paths::differences(name, &paths));
    let mut client = Client::connect(server, "cassandra", "cassandra");
    client.run(&format!("DROP KEYSPACE {name}"), None, None);
    (count, found)
}

/// A step's answer; of one that is different each time, its columns and how many rows it has.
fn answer(client: &mut Client, step: &Step) -> Vec<String> {
    let words = step.words.as_deref();
    let lines = client.run(&step.statement, words, step.page);
    // A line of the answer is one line of the script, which ends without blanks.
    let lines: Vec<String> = lines.iter().map(|line| line.replace('\r', "\\r")).collect();
    if !step.is_hidden {
        return lines;
    }
    let begins = |line: &&String| {
        ["columns", "error", "warning"].iter().any(|beginning| line.starts_with(beginning))
    };
    let mut shown: Vec<String> = lines.iter().filter(begins).cloned().collect();
    shown.push(format!("{} rows", lines.len() - shown.len()));
    shown
}

#[expect(clippy::disallowed_methods, reason = "the scripts are no data of a store")]
#[test]
fn every_recorded_answer_is_given() {
    let mut scripts: Vec<(String, String)> = std::fs::read_dir(SCRIPTS)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    // The longest first, so that no thread has much left when the others have nothing.
    scripts.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    let waiting = Mutex::new(VecDeque::from(scripts));
    let done = Mutex::new((0, Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..SERVERS {
            scope.spawn(|| {
                let own = server();
                while let Some((name, text)) = { waiting.lock().unwrap().pop_front() } {
                    let (count, found) = differences(&own, &name, &text);
                    let mut done = done.lock().unwrap();
                    done.0 += count;
                    done.1.extend(found);
                }
            });
        }
    });
    let (count, found) = done.into_inner().unwrap();
    assert!(count > 11_000, "only {count} answers were found in {SCRIPTS}");
    assert!(
        found.is_empty(),
        "{} of {count} answers and their paths differ:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// Only superusers write the table of roles; what stands there for the
/// role of the start stays, and deletions, conditions and JSON are not taken.
#[test]
fn superusers_alone_write_the_table_of_roles() {
    let server = server();
    let mut admin = Client::connect(&server, "cassandra", "cassandra");
    let mut said = |text: &str| admin.run(text, None, None).join(" ");
    let not_modifiable = "error 2100: system_auth keyspace is not user-modifiable.";
    let raise = "UPDATE system_auth.roles SET is_superuser = true WHERE role = 'ann'";
    said("CREATE ROLE ann WITH PASSWORD = 'a' AND LOGIN = true");
    let mut ann = Client::connect(&server, "ann", "a");
    assert!(ann.run(raise, None, None).join(" ").starts_with("error 2100"));
    for text in [
        "DELETE FROM system_auth.roles WHERE role = 'ann'",
        "UPDATE system_auth.roles SET member_of = {'cassandra'} WHERE role = 'ann'",
        "UPDATE system_auth.roles SET can_login = true WHERE role = 'ann' IF EXISTS",
        "INSERT INTO system_auth.roles JSON '{\"role\": \"ann\", \"can_login\": true}'",
        "INSERT INTO system_auth.role_members (role, member) VALUES ('cassandra', 'ann')",
    ] {
        assert_eq!(said(text), not_modifiable, "{text}");
    }
    for text in [
        "UPDATE system_auth.roles SET is_superuser = false WHERE role = 'cassandra'",
        "UPDATE system_auth.roles SET salted_hash = 'x' WHERE role = 'ann'",
    ] {
        assert!(said(text).starts_with("error 2200"), "{text}");
    }
    assert!(said(&format!("BEGIN BATCH {raise}; APPLY BATCH")).starts_with("error"));
    assert_eq!(said(raise), "ok");
    assert_eq!(ann.run("CREATE ROLE eve", None, None).join(" "), "ok");
    said("UPDATE system_auth.roles SET is_superuser = null WHERE role = 'ann'");
    let refused = ann.run("CREATE ROLE bob WITH SUPERUSER = true", None, None).join(" ");
    assert!(refused.starts_with("error 2100"), "{refused}");
}

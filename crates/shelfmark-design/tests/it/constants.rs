//! Constants of a pattern, written into the texts of its plan.

use shelfmark_design::{Document, Status};

/// The statuses of the reads of a model of logs, whose sort key is a state and a time.
fn statuses(plans: &str) -> Vec<Status> {
    let text = format!(
        "entity Log {{ key id: ulid device: text(max 20) state: enum(\"WARN\", \"WARNING\", \"OK\") at: timestamp note: text(max 5) }}\n\
         read warned(d) = Log where device = d and state = \"WARN\" order by at\n\
         read late(d, a) = Log where device = d and state = \"WARN\" and at >= a order by at\n\
         read noted(d) = Log where device = d and note = \"x\" order by at\n\
         schema s target dynamodb {{\n\
           table logs {{ pk text sk text row L from Log pk \"<device>\" sk \"<state>#<at:iso>#<id>\" store all }}\n\
           table notes {{ pk text sk text row N from Log pk \"<device>\" sk \"<note>#<at:iso>#<id>\" store all }}\n\
           {plans}\n}}\n"
    );
    let document = Document::parse("t", &text).unwrap_or_else(|report| panic!("{report}"));
    document.prove().iter().map(|one| one.status).collect()
}

#[test]
fn a_constant_that_tells_its_end_fixes_the_attribute() {
    let found = statuses(
        "serve warned(d) by query logs pk \"<d>\" sk begins \"WARN#\"\n\
         serve late(d, a) by query logs pk \"<d>\" sk from \"WARN#<a:iso>\" through \"WARN#\"\n\
         serve noted(d) by query notes pk \"<d>\" sk begins \"x#\"",
    );
    // A note may hold the delimiter, so `x#y` begins with `x#` too.
    assert_eq!(found, [Status::Certified, Status::Certified, Status::Refused]);
}

#[test]
fn a_constant_that_does_not_is_refused_as_before() {
    let found = statuses(
        "serve warned(d) by query logs pk \"<d>\" sk begins \"WARN\"\n\
         serve late(d, a) by query logs pk \"<d>\" sk from \"WARNING#<a:iso>\" through \"WARNING#\"\n\
         serve noted(d) by query notes pk \"<d>\" sk begins \"y#\"",
    );
    assert_eq!(found, [Status::Refused; 3]);
}

//! Constants of a pattern, written into the texts of its plan.

use shelfmark_design::{Document, Status};

/// The statuses of the reads of a model of logs, whose sort key is a state and a time.
fn statuses(plans: &str) -> Vec<Status> {
    let text = format!(
        "entity Log {{ key id: ulid device: text(min 1, max 20) state: enum(\"WARN\", \"WARNING\", \"OK\") at: timestamp note: text(max 5) }}\n\
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

/// Numbers, days, times and truth values stand in a plan's text as their codec writes them.
#[test]
fn constants_of_any_type_are_read_in_texts() {
    let text = r##"
entity U { key id: uuid  year: int(1900..2100)  n: int  day: date  at: timestamp  on: bool  name: text(without "#") }
read of_year() = U where year = 2021 order by id
read of_day() = U where day = "2021-01-02" order by id
read of_time() = U where at = "2021-01-02" order by id
read that_are_on() = U where on = true order by id
read sevens(x) = U where name = x and n = 7 order by id
read since(x) = U where name = x and day >= "2021-01-02" order by day, id
read between_days(x) = U where name = x and day >= "2021-01-02" and day < "2022-01-01" order by day, id
read of_another_year() = U where year = 2022 order by id
read from_day(x, d) = U where name = x and day >= d order by day, id
read until(x, d) = U where name = x and day < d order by day, id
read with_zeros() = U where year = 2021 order by id
read of_no_day() = U where day = "2021-02-28" order by id
schema s target candb {
  table t { pk text sk text
    row Years from U pk "y#<year>" sk "<id>" store all
    row Days from U pk "d#<day>" sk "<id>" store all
    row Times from U pk "t#<at:iso>#x" sk "<id>" store all
    row States from U pk "o#<on>" sk "<id>" store all
    row Numbers from U pk "n#<name>" sk "n#<n>#<id>" store all
    row Dated from U pk "n#<name>" sk "d#<day>#<id>" store all
  }
  serve of_year() by query t pk "y#2021"
  serve of_day() by query t pk "d#2021-01-02"
  serve of_time() by query t pk "t#2021-01-02T00:00:00.000Z#x"
  serve that_are_on() by query t pk "o#true"
  serve sevens(x) by query t pk "n#<x>" sk begins "n#7#"
  serve since(x) by query t pk "n#<x>" sk from "d#2021-01-02" to "d#~"
  serve between_days(x) by query t pk "n#<x>" sk from "d#2021-01-02" before "d#2022-01-01"
  serve of_another_year() by query t pk "y#2021"
  serve from_day(x, d) by query t pk "n#<x>" sk from "d#<d>" before "d$"
  serve until(x, d) by query t pk "n#<x>" sk from "d" before "d#<d>"
  serve with_zeros() by query t pk "y#02021"
  serve of_no_day() by query t pk "d#2021-02-30"
}"##;
    let found = super::together::statuses(text);
    let refused: Vec<&str> = found
        .iter()
        .filter(|line| !line.ends_with("certified"))
        .map(|line| line.as_str())
        .collect();
    let right = ["s.of_another_year refused", "s.with_zeros refused", "s.of_no_day refused"];
    assert_eq!(refused, right, "{found:?}");
}

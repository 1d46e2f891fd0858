//! Rows that follow what they stem from: no write keeps them, and who reads them may be told something
//! old. Each model stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

const HEAD: &str = "
entity User { key id: uuid  name: text(min 1, max 9) }
entity Post { key id: ulid  author: User immutable  at: timestamp immutable  body: text(max 9) }
read feed(u, n) = Post with author.name where author = u order by id limit n
read fresh(u, n) = Post with author.name where author = u order by id limit n staleness 1min
read strong_feed(u, n) = Post with author.name where author = u order by id limit n strong
read posts_of(u) = count of Post where author = u
write say(p, a, at, b) = insert Post(id p, author a, at at, body b)
write rename(u, n) = update User(id u) set name = n
";

const FEEDS: &str = "table feeds from Post key (author; id) store { at, body, author.name }";

fn schema(tables: &str) -> Vec<String> {
    let text = format!(
        "{HEAD}schema s target dynamodb {{
  table posts from Post key (id;) store all  table users from User key (id;) store all
  {tables}
}}
"
    );
    statuses(&text)
}

/// What follows in time is read as it is, and written by none; what follows too late is refused.
#[test]
fn copies_may_follow_later() {
    let counts = "table counts from User key (id;) store { count Post as posts }";
    let late = schema(&format!("{FEEDS} follows 30s {counts} follows 1h"));
    assert_eq!(
        late,
        [
            "s.feed certified",
            "s.fresh certified",
            "s.strong_feed refused",
            "s.posts_of certified",
            "s.say certified",
            "s.rename certified"
        ]
    );
    let later = schema(&format!("{FEEDS} follows 1h {counts}"));
    assert_eq!(later.get(1).map(String::as_str), Some("s.fresh refused"), "{later:?}");
    let kept = schema(&format!("{FEEDS} {counts}"));
    assert!(kept.iter().take(4).all(|one| one.ends_with("certified")), "{kept:?}");
}

/// Rows that follow are no place for what nothing else keeps.
#[test]
fn what_only_follows_has_no_home() {
    let text = |follows: &str| {
        format!(
            "entity E {{ key id: uuid  n: int }}
read e(i) = E where id = i
write add(i) = insert E(id i, n 1)
write set(i) = update E(id i) set n = 2
schema s target dynamodb {{ table rows from E key (id;) store all {follows} }}
"
        )
    };
    assert_eq!(statuses(&text("")), ["s.e certified", "s.add certified", "s.set certified"]);
    assert_eq!(statuses(&text("follows 1s")), ["s.e certified", "s.add refused", "s.set refused"]);
}

/// A step on such rows is told, and the word is printed as it is read.
#[test]
fn no_step_is_on_rows_that_follow() {
    let text = |plan: &str| {
        format!(
            "entity E {{\n  key id: uuid\n  n: int\n}}\n\nwrite add(i) = insert E(id i, n 1)\n\n\
             schema s target dynamodb {{\n  table rows from E key (id;) store all\n  \
             table late from E key (n; id) store all follows 5min\n  write add {{ {plan} }}\n}}\n"
        )
    };
    let fine = text("put rows");
    assert!(Document::parse("fine", &fine).is_ok());
    let printed = Document::format("fine", &fine).expect("it parses");
    assert!(printed.contains("follows 5min"), "{printed}");
    let report = Document::parse("late", &text("put rows ; put late")).expect_err("it follows");
    assert!(report.text.contains("`late` follows what it stems from"), "{report}");
    let report = Document::parse("count", &fine.replace("5min", "5k")).expect_err("no time");
    assert!(report.text.contains("does not fit `follows`"), "{report}");
}

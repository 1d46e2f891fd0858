//! Counts, sums and extremes that rows keep: of some tuples only, and of what they hold. Each stands
//! beside its nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

const REPO: &str = r##"
entity Repo { key id: uuid  name: text(max 20) }
entity Issue {
  key id: uuid
  repo: Repo immutable
  state: enum("open", "closed")
  votes: int(0..1000)
  title: text(max 20)
}
read opened(r) = count of Issue where repo = r and state = "open"
read all(r) = count of Issue where repo = r
read liked(r) = sum votes of Issue where repo = r
read liked_open(r) = sum votes of Issue where repo = r and state = "open"
write open(i, r, t) = insert Issue(id i, repo r, state "open", votes 0, title t)
write import(i, r, s, n, t) = insert Issue(id i, repo r, state s, votes n, title t)
write close(i) = update Issue(id i, state "open") set state = "closed"
write vote(i) = increment Issue(id i) set votes by 1
write retitle(i, t) = update Issue(id i) set title = t
write remove(i) = delete Issue(id i)
"##;

const KEPT: &str = r##"
  table repos from Repo key (id;) store {
    name, count Issue as issues, count Issue where state = "open" as opened,
    sum votes of Issue as votes, sum votes of Issue where state = "open" as open_votes }
  table issues from Issue key (id;) store all
"##;

#[test]
fn numbers_of_some_are_kept() {
    let found = statuses(&format!("{REPO}schema s target shelfmark {{ {KEPT} }}"));
    let right: Vec<String> = [
        "opened",
        "all",
        "liked",
        "liked_open",
        "open",
        "import",
        "close",
        "vote",
        "retitle",
        "remove",
    ]
    .map(|name| format!("s.{name} certified"))
    .to_vec();
    assert_eq!(found, right);
}

#[test]
fn a_number_of_others_is_not_the_one_that_is_kept() {
    let model = |kept: &str, read: &str| {
        let schema = format!(
            "schema s target shelfmark {{ table repos from Repo key (id;) store {{ {kept} }}\n \
             table issues from Issue key (id;) store all }}"
        );
        let head = REPO.split("read ").next().unwrap_or_default();
        statuses(&format!("{head}read n(r) = {read}\n{schema}"))
    };
    let of = |kept: &str, read: &str| model(kept, read).remove(0);
    let open = "count of Issue where repo = r and state = \"open\"";
    let closed = "count of Issue where repo = r and state = \"closed\"";
    let kept = "count Issue where state = \"open\"";
    assert_eq!(of(kept, open), "s.n certified");
    for (kept, read) in [
        (kept, closed),
        (kept, "count of Issue where repo = r"),
        ("count Issue", open),
        ("sum votes of Issue", "count of Issue where repo = r"),
        ("sum votes of Issue where state = \"open\"", "sum votes of Issue where repo = r"),
    ] {
        let text = of(kept, read);
        assert!(text == "s.n refused" || text == "s.n unservable", "{kept} {read}: {text}");
    }
}

#[test]
fn what_is_counted_must_be_told_before_and_after() {
    let head = REPO.split("read ").next().unwrap_or_default();
    let found = statuses(&format!(
        "{head}
write close(i) = update Issue(id i, state \"open\") set state = \"closed\"
write shut(i) = update Issue(id i) set state = \"closed\"
write close_if(i) = update Issue(id i) set state = \"closed\" if state = \"open\"
write set(i, s) = update Issue(id i, state \"open\") set state = s
write worth(i, n) = update Issue(id i) set votes = n
write closed_worth(i, n) = update Issue(id i, state \"closed\") set votes = n
write twice(i) = update Issue(id i, state \"open\") set state = \"closed\" and delete Issue(id i)
schema s target shelfmark {{
  table repos from Repo key (id;) store {{
    count Issue where state = \"open\" as opened, sum votes of Issue where state = \"open\" as votes }}
  table issues from Issue key (id;) store all
}}
schema missed target shelfmark {{
  table repos from Repo key (id;) store {{ count Issue where state = \"open\" as opened }}
  table issues from Issue key (id;) store all
  write close {{ transaction {{ patch issues }} }}
  write close_if {{ read issues ; transaction {{ patch issues ; patch repos }} }}
}}
"
    ));
    let of = |name: &str| found.iter().find(|one| one.starts_with(&format!("{name} "))).cloned();
    for (name, status) in [
        ("s.close", "certified"),
        ("s.shut", "refused"),
        ("s.close_if", "certified"),
        ("s.set", "refused"),
        ("s.worth", "refused"),
        ("s.closed_worth", "certified"),
        ("s.twice", "refused"),
        ("missed.close", "refused"),
        ("missed.close_if", "certified"),
    ] {
        assert_eq!(of(name), Some(format!("{name} {status}")), "{found:?}");
    }
}

#[test]
fn a_target_adds_where_it_counts() {
    let schema = format!("{REPO}schema s target dynamodb {{ {KEPT} }}");
    let document = Document::parse("m", &schema).unwrap_or_else(|report| panic!("{report}"));
    let calls = format!("{:?}", document.calls("s", Some("remove")));
    assert!(calls.contains("minus"), "{calls}");
}

#[test]
fn what_no_row_keeps_is_told() {
    for (text, told) in [
        (
            "max state of Issue",
            "a largest or smallest value is of an attribute that each of them has",
        ),
        ("max title of Issue as n, min votes of Issue as n", "a row holds two things called `n`"),
        ("first 3 of Issue", "a row keeps no `first`"),
        ("sum title of Issue", "a sum is of a number that each of them has"),
        ("count Issue where repo.name = \"x\"", "told by its own attributes and by constants"),
        ("count Issue as n, sum votes of Issue as n", "a row holds two things called `n`"),
        ("name, count Issue as name", "a row holds two things called `name`"),
    ] {
        let schema = format!(
            "{REPO}schema s target cql {{ table t from Repo key (id;) store {{ {text} }} }}"
        );
        let report = Document::parse("wrong", &schema);
        let report = report.err().unwrap_or_else(|| panic!("{text} is taken"));
        assert!(report.text.contains(told), "{told} in\n{}", report.text);
    }
}

/// What refers to another row from now on is counted there, and no longer where it was: the row that
/// it referred to must be known.
#[test]
fn a_count_follows_what_moves() {
    let model = |schema: &str| {
        statuses(&format!(
            r##"
entity Folder {{ key id: uuid  name: text(max 20) }}
entity Mail {{ key id: uuid  folder: Folder  state: enum("read", "unread")  size: int(0..1000) }}
read unread(f) = count of Mail where folder = f and state = "unread"
write move(m, f) = update Mail(id m) set folder = f
write move_from(m, f, g) = update Mail(id m, folder f) set folder = g
write move_read(m, f) = update Mail(id m) set folder = f, state = "read"
write move_all(f, g) = update Mail(id m.id) set folder = g for each Mail as m where folder = f
{schema}
"##
        ))
    };
    let kept = "table folders from Folder key (id;) store { name, count Mail as mails, \
                count Mail where state = \"unread\" as unread, sum size of Mail as size }";
    let own = "table mails from Mail key (id;) store all";
    for target in ["shelfmark", "dynamodb", "ordered"] {
        let key = if target == "ordered" { "(id)" } else { "(id;)" };
        let tables = format!("{kept} {own}").replace("(id;)", key);
        let found = model(&format!("schema s target {target} {{ {tables} }}"));
        let of = |name: &str| found.iter().find(|one| one.starts_with(&format!("s.{name} ")));
        for (name, status) in [
            ("unread", "certified"),
            ("move", "certified"),
            ("move_from", "certified"),
            ("move_read", "refused"),
            ("move_all", "refused"),
        ] {
            let right = format!("s.{name} {status}");
            assert_eq!(of(name), Some(&right), "{target}: {found:?}");
        }
    }
    // Without looking at the mail nobody knows which folder loses it, and without a change of the
    // folders neither does.
    let named = |plan: &str| {
        let found =
            model(&format!("schema s target shelfmark {{ {kept} {own} write move {{ {plan} }} }}"));
        found.into_iter().find(|one| one.starts_with("s.move ")).unwrap_or_default()
    };
    let read = "read mails where id = m";
    assert_eq!(
        named(&format!("{read} ; transaction {{ patch mails ; patch folders }}")),
        "s.move certified"
    );
    assert_eq!(named("transaction { patch mails ; patch folders }"), "s.move refused");
    assert_eq!(named(&format!("{read} ; patch mails")), "s.move refused");
}

const AUCTION: &str = r##"
entity Auction { key id: uuid  title: text(max 20) }
entity Bid {
  key id: uuid
  auction: Auction immutable
  price: int(0..1000)
  state: enum("open", "taken")
  by: text(max 20)
}
read highest(a) = max price of Bid where auction = a
read lowest(a) = min price of Bid where auction = a
read highest_open(a) = max price of Bid where auction = a and state = "open"
read two(a) = Bid select price where auction = a order by price desc limit 2
write open(a, t) = insert Auction(id a, title t)
write place(b, a, p, u) = insert Bid(id b, auction a, price p, state "open", by u)
write once(b, a, p, u) = insert Bid(id b, auction a, price p, state "open", by u) unless exists
write again(b, a, p, u) =
    insert Bid(id b, auction a, price p, state "open", by u) or replace
write rename(b, u) = update Bid(id b) set by = u
write reopen(b) = update Bid(id b, state "taken") set state = "open"
write take(b) = update Bid(id b, state "open") set state = "taken"
write more(b, n) = increment Bid(id b) set price by n
write set(b, n) = update Bid(id b) set price = n
write gone(b) = delete Bid(id b)
write close(a) = delete Auction(id a)
"##;

/// A row keeps the largest and smallest value of what only comes; what may take it away is refused, with a
/// state that shows why.
#[test]
fn the_largest_is_kept_of_what_comes() {
    let kept = "table auctions from Auction key (id;) store { title, max price of Bid as top, \
                min price of Bid as least }";
    let some = "table auctions from Auction key (id;) store { \
                max price of Bid where state = \"open\" as top }";
    let own = "table bids from Bid key (id;) store all";
    for target in ["shelfmark", "dynamodb", "ordered"] {
        let key = if target == "ordered" { "(id)" } else { "(id;)" };
        let schema = |name: &str, kept: &str| {
            format!("schema {name} target {target} {{ {kept} {own} }}\n").replace("(id;)", key)
        };
        let found = statuses(&format!("{AUCTION}{}{}", schema("all", kept), schema("some", some)));
        let of = |name: &str| found.iter().find(|one| one.starts_with(&format!("{name} ")));
        for (name, status) in [
            ("all.highest", "multi"),
            ("all.lowest", "multi"),
            ("all.highest_open", "refused"),
            ("all.two", "refused"),
            ("all.open", "certified"),
            ("all.place", "certified"),
            ("all.once", "certified"),
            ("all.again", "refused"),
            ("all.rename", "certified"),
            ("all.reopen", "certified"),
            ("all.take", "certified"),
            ("all.more", "refused"),
            ("all.set", "refused"),
            ("all.gone", "refused"),
            ("all.close", "certified"),
            ("some.highest", "refused"),
            ("some.highest_open", "multi"),
            ("some.place", "certified"),
            ("some.rename", "certified"),
            ("some.reopen", "certified"),
            ("some.take", "refused"),
        ] {
            assert_eq!(of(name), Some(&format!("{name} {status}")), "{target}: {found:?}");
        }
    }
}

/// DynamoDB compares with the old value in the update itself, which must not cancel anything else; CQL
/// has no such condition.
#[test]
fn the_largest_is_compared_where_it_lies() {
    let tables = "table auctions from Auction key (id;) store { max price of Bid as top } \
                  table bids from Bid key (id;) store all";
    let together = "write place { transaction { put bids ; patch auctions } }";
    let of = |target: &str, plan: &str| {
        let text = format!("{AUCTION}schema s target {target} {{ {tables} {plan} }}");
        let found = statuses(&text).into_iter().find(|one| one.starts_with("s.place "));
        (text, found.unwrap_or_default())
    };
    let (text, alone) = of("dynamodb", "");
    assert_eq!(alone, "s.place certified");
    let document = Document::parse("m", &text).unwrap_or_else(|report| panic!("{report}"));
    let calls = format!("{:?}", document.calls("s", Some("place")));
    assert!(calls.contains("(attribute_not_exists(#s0) OR #s0 < :s0)"), "{calls}");
    assert_eq!(of("dynamodb", together).1, "s.place refused");
    assert_eq!(of("shelfmark", together).1, "s.place certified");
    assert_eq!(of("cql", "").1, "s.place refused");
}

/// An input is always something: who sets an attribute to one takes its tuple out of what is counted while
/// the attribute is absent, and brings it into what is counted while it is there.
#[test]
fn what_is_absent_is_counted() {
    let of = |counted: &str, take: &str| {
        statuses(&format!(
            r#"
entity Repo {{ key id: uuid  title: text(max 40) }}
entity Issue {{ key id: uuid  repo: Repo immutable  assignee: uuid optional }}
read number(r) = count of Issue where repo = r and assignee is {counted}
write file(i, r) = insert Issue(id i, repo r)
write give(i, r, a) = insert Issue(id i, repo r, assignee a)
write take(i, a) = update Issue(id i) set assignee = a if assignee is {take}
write leave(i, a) = update Issue(id i, assignee a) set assignee = absent
schema s target shelfmark {{
  table repos from Repo key (id;) store {{ title, count Issue where assignee is {counted} as number }}
  table issues from Issue key (id;) store all
}}
"#
        ))
    };
    let all = ["number", "file", "give", "take", "leave"].map(|name| format!("s.{name} certified"));
    for counted in ["absent", "present"] {
        assert_eq!(of(counted, "absent"), all, "{counted}");
        // Whoever takes what another has changes no number.
        assert_eq!(of(counted, "present"), all, "{counted}");
    }
}

/// A loop may find what it deletes among sparse rows, where all of it is there: the verifier doubted it.
#[test]
fn a_loop_over_sparse_rows_takes_away_what_is_counted() {
    let of = |target: &str, issues: &str, asked: &str, plan: &str| {
        statuses(&format!(
            r#"
entity Repo {{ key id: uuid }}
entity Issue {{ key id: uuid  repo: Repo  state: enum("open", "closed")  votes: int(0..9) }}
write clear(r) = delete Issue(id x.id) for each Issue as x where repo = r{asked}
schema s target {target} {{
  table repos from Repo key (id;) store {{ count Issue where state = "open" as opened }}
  {issues}
  {plan}
}}
"#
        ))
        .remove(0)
    };
    let index = "table issues from Issue key (id;) store all
    index opened when state = \"open\" key (repo; votes)";
    let text = index
        .replace("when state = \"open\" key (repo; votes)", "pk \"<repo>#<state>\" sk \"<votes>\"");
    let sparse = "table issues from Issue when state = \"open\" key (repo; id) store all";
    let open = " and state = \"open\"";
    for target in ["shelfmark", "dynamodb"] {
        for issues in [index, text.as_str(), sparse] {
            assert_eq!(of(target, issues, open, ""), "s.clear certified", "{target} {issues}");
        }
    }
    let named = |asked: &str, steps: &str| {
        let read = format!("read opened where repo = r{asked} as x");
        of("shelfmark", index, asked, &format!("write clear {{ {read} ; {steps} }}"))
    };
    let both = "transaction { patch repos for each x ; delete issues for each x }";
    assert_eq!(named(open, both), "s.clear certified");
    // The number stays, or closed issues do.
    assert_eq!(named(open, "delete issues for each x"), "s.clear refused");
    assert_eq!(named("", both), "s.clear refused");
    assert_eq!(named(" and state = \"closed\"", both), "s.clear refused");
}

/// A number by one of several references to an entity: the row keeps one for each, also where both lead to it.
#[test]
fn a_number_is_kept_by_one_of_several_references() {
    let model = |target: &str, kept: &str| {
        format!(
            "
entity User {{ key id: uuid }}
entity Message {{ key id: uuid  sender: User immutable  receiver: User immutable  size: int(0..99) }}
read sent(u) = count of Message where sender = u
read received(u) = count of Message where receiver = u
write send(m, s, r) = insert Message(id m, sender s, receiver r, size 1)
write unsend(m) = delete Message(id m)
schema s target {target} {{
  table users from User key (id;) store {{ {kept} }}
  table messages from Message key (id;) store all
}}
"
        )
    };
    let both = "count Message by sender as sent, count Message by receiver as received";
    for target in ["shelfmark", "dynamodb", "cql"] {
        let found = statuses(&model(target, both));
        let served = ["s.sent certified", "s.received certified"];
        assert!(served.iter().all(|one| found.contains(&(*one).to_owned())), "{target}: {found:?}");
        if target != "dynamodb" {
            assert_eq!(
                found.iter().filter(|one| one.ends_with("certified")).count(),
                4,
                "{found:?}"
            );
        }
    }
    // One by the sender says nothing of what is received.
    let found = statuses(&model("shelfmark", "count Message by sender as sent"));
    assert!(found.contains(&"s.sent certified".to_owned()), "{found:?}");
    assert!(found.contains(&"s.received unservable".to_owned()), "{found:?}");
    let told = |kept: &str| {
        let report = Document::parse("m", &model("shelfmark", kept)).err();
        report.map(|one| one.to_string()).unwrap_or_default()
    };
    let report = told("count Message as sent");
    assert!(report.contains("`Message` refers to `User` 2 times"), "{report}");
    assert!(report.contains("say by which reference: `by sender`"), "{report}");
    let report = told("count Message by size as sent");
    assert!(report.contains("`size` is no reference of `Message` to `User`"), "{report}");
    let text = model("shelfmark", both);
    let printed = Document::format("m", &text).expect("it parses");
    assert!(printed.contains("count Message by receiver as received"), "{printed}");
    let bare = text.split("schema s").next().expect("a model");
    for target in ["shelfmark", "cql", "ordered", "candb"] {
        let document = Document::parse("m", bare).expect("a model");
        let schema = document.plan(target, "planned").expect("a plan").schema;
        assert!(schema.contains("count Message by sender as sent"), "{schema}");
        assert!(!schema.contains("unservable") && !schema.contains("has no plan"), "{schema}");
    }
}

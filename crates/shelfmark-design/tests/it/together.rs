//! What was once certified and wrong: parts of a write that meet in one tuple, names of loops that
//! gather two reads, sums of what was not read, ends of ranges and of lists.

use shelfmark_design::{Certificate, Document, Status};

const ACCOUNTS: &str = r#"
entity Account {
  key id: uuid
  balance: int
  name: text(max 20, without "\#")
  grp: text(max 10, without "\#")
}
entity Post { key id: uuid  author: Account immutable  body: text(max 20) }
link Follow from Account as user to Account as follower { at: timestamp }

write transfer(a, b, n: int) =
    increment Account(id a) set balance by n and increment Account(id b) set balance by n
write set_both(a, b, x, y) =
    update Account(id a) set balance = x and update Account(id b) set balance = y
write regroup(a, g, b, n) = update Account(id a) set grp = g and update Account(id b) set name = n
write post_and_rename(p, a, body, n) =
    insert Post(id p, author a, body body) and update Account(id a) set name = n
write move(u, f, g, t) =
    unlink Follow(user u, follower f) and link Follow(user u, follower g) set at = t
write move_back(u, f, g, t) =
    link Follow(user u, follower g) set at = t and unlink Follow(user u, follower f)
write drop_and_name(a, b, n) = delete Account(id a) and update Account(id b) set name = n

schema one target shelfmark {
  table accounts from Account key (id;) store all
  table groups from Account key (grp; id) store { balance, name }
  table posts from Post key (id;) store { author, body, author.name }
  table posts_by from Post key (author; id) store { body, author.name }
  table follows from Follow key (user; follower) store { at }
}
schema named target shelfmark {
  table follows from Follow key (user; follower) store { at }
  write move { transaction { put follows ; delete follows } }
  write move_back { transaction { delete follows ; put follows } }
}
"#;

pub(super) fn proven(text: &str) -> (Document, Vec<Certificate>) {
    let text = text.replace("\\#", "#");
    let document = Document::parse("model", &text).unwrap_or_else(|report| panic!("{report}"));
    let certificates = document.prove();
    (document, certificates)
}

/// Statuses as `schema.pattern status`, each certificate taken by the verifier as it is.
pub(super) fn statuses(text: &str) -> Vec<String> {
    let (document, certificates) = proven(text);
    let line = |one: &Certificate| {
        let checked = document.verify(one);
        assert!(checked.is_ok(), "{}.{}: {checked:?}", one.schema, one.pattern);
        if one.status == Status::Refused {
            let shown = one.witness.as_ref().is_some_and(|one| one.get("found").is_none());
            assert!(shown, "{}: nothing shows it\n{text}", one.pattern);
        }
        format!("{}.{} {}", one.schema, one.pattern, one.status.word())
    };
    certificates.iter().map(line).collect()
}

#[test]
fn parts_of_a_write_may_meet_in_one_tuple() {
    let found = statuses(ACCOUNTS);
    let wanted = [
        "one.transfer certified",
        "one.set_both certified",
        "one.regroup refused",
        "one.post_and_rename refused",
        "one.move certified",
        "one.move_back certified",
        "one.drop_and_name certified",
        "named.move refused",
        "named.move_back refused",
    ];
    for line in wanted {
        assert!(found.iter().any(|one| one == line), "{line} is not among {found:#?}");
    }
}

#[test]
fn the_verifier_sees_an_order_that_is_wrong() {
    let (document, certificates) = proven(ACCOUNTS);
    let right = certificates.iter().find(|one| one.schema == "one" && one.pattern == "move");
    let wrong = certificates.iter().find(|one| one.schema == "named" && one.pattern == "move");
    let (right, wrong) = (right.expect("a certificate"), wrong.expect("a certificate"));
    assert!(document.verify(right).is_ok());
    let forged = Certificate {
        status: Status::Certified,
        obligation: None,
        obligations: right.obligations.clone(),
        reason: String::new(),
        witness: None,
        ..wrong.clone()
    };
    assert!(document.verify(&forged).is_err(), "a seal alone does not make it true");
}

#[test]
fn a_name_of_a_loop_gathers_one_read() {
    let found = statuses(
        r#"
entity User { key id: uuid }
entity Chat { key id: uuid }
link Member from Chat to User as user { fanout chat -> user max 100 }
entity Message { key id: ulid  body: text(max 10) }
entity Delivery { user: User message: Message chat: Chat key (user, message) }
write send(m, c, d: Chat, b) =
    insert Delivery(user member.user, chat c, message m) for each Member where chat = c
    and insert Message(id m, body b)
schema two target shelfmark {
  table members from Member key (chat; user)
  table messages from Message key (id;) store all
  table inbox from Delivery key (user; message) store { chat }
  write send { transaction {
    read members where chat = c as member ; read members where chat = d as member
    put messages ; put inbox for each member
  } }
}
schema one target shelfmark {
  table members from Member key (chat; user)
  table messages from Message key (id;) store all
  table inbox from Delivery key (user; message) store { chat }
  write send { transaction {
    read members where chat = c as member ; put messages ; put inbox for each member
  } }
}
"#,
    );
    assert_eq!(found, ["two.send refused", "one.send certified"]);
}

#[test]
fn a_sum_needs_what_was_there() {
    let found = statuses(
        r#"
entity Item { key id: uuid  name: text(max 9)  hits: int(0..100) }
write hit(i) = increment Item(id i) set hits by 1
schema one target shelfmark {
  table items from Item key (id;) store { name }
  table hots from Item when hits = 3 key ("hot"; id) store { hits }
  write hit { transaction { read items ; delete hots ; put hots } }
}
schema read target shelfmark {
  table items from Item key (id;) store { name, hits }
  table hots from Item when hits = 3 key ("hot"; id) store { hits }
  write hit { transaction { read items ; patch items ; delete hots ; put hots } }
}
"#,
    );
    assert_eq!(found, ["one.hit refused", "read.hit certified"]);
}

#[test]
fn leaving_a_sparse_family_puts_nothing() {
    let found = statuses(
        r#"
entity Post { key id: uuid  state: enum("open", "shut")  title: text(max 9)  at: timestamp }
read open() = Post select id, title, state where state = "open" order by at desc
write shut(p) = update Post(id p) set state = "shut"
schema one target shelfmark {
  table posts from Post key (id;) store all
  table opens from Post when state = "open" key ("open"; at desc, id) store { title }
  serve open() by query opens ("open")
}
"#,
    );
    assert_eq!(found, ["one.open certified", "one.shut certified"]);
}

#[test]
fn ends_of_ranges_and_of_lists() {
    let items = r#"
entity Box { key id: uuid }
entity Item {
  key id: uuid
  box: Box
  code: uuid
  tag: text
  at: timestamp
  unique (box, code, tag)
}
read below(b, c) = Item select code, tag where box = b and code < c
read newest(b, k) = Item select code, tag, at where box = b order by at desc limit k
schema one target dynamodb {
  table t { pk text sk text
    row It from Item pk "<box>" sk "<code><tag>" store { at } }
  serve below(b, c) by query t pk "<b>" sk to "<c>"
  serve newest(b, k) by query t pk "<b>" then sort by at desc then take 3 then take k
}
"#;
    let (_, certificates) = proven(items);
    assert!(certificates.iter().all(|one| one.status == Status::Refused), "{certificates:#?}");
    let twice = r#"
entity Box { key id: uuid }
entity Item { key id: uuid  box: Box  name: text(max 9) }
read two(b, x, y) = Item where box = b and name >= x and name <= y
schema one target shelfmark {
  table t from Item key (box; name, id)
  serve two(b, x, y) by query t (b) from y from x to y
}
"#;
    let report = Document::parse("twice", twice).expect_err("two lower ends");
    assert!(report.text.contains("two lower ends"), "{report}");
}

#[test]
fn what_is_computed_in_a_key_tells_rows_apart() {
    let found = statuses(
        r#"
entity User { key id: uuid }
entity Use { key id: uuid  user: User  tag: text(max 9)  at: timestamp }
read tags_used(u) = Use select distinct tag where user = u
schema weeks target shelfmark { table uses from Use key (user; week(at), tag) }
schema plain target shelfmark { table uses from Use key (user; tag) }
"#,
    );
    assert_eq!(found, ["weeks.tags_used refused", "plain.tags_used certified"]);
}

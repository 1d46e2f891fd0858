//! Writes of two tuples of one entity whose inputs are said to differ (`if s != t`): each model stands
//! beside its nearest neighbour, which does not say so.

use serde_json::json;
use shelfmark_design::{Document, Status};

use super::together::statuses;

fn document(text: &str) -> Document {
    let text = text.replace("\\#", "#");
    Document::parse("apart", &text).unwrap_or_else(|report| panic!("{report}"))
}

const LEDGER: &str = r#"
type code = text(min 1, max 20, only "a-z")
entity Account { key id: code  balance: int(0..1000000000000) }
entity Transfer { key ref: code  source: Account immutable  target: Account immutable  amount: int(1..1000) immutable }
read account(a) = Account where id = a unique
read transfer(r) = Transfer where ref = r unique
write open(a) = insert Account(id a, balance 0)
write move_money(r, s, t, n) = insert Transfer(ref r, source s, target t, amount n)
  and increment Account(id s) set balance by -n if balance >= n
  and increment Account(id t) set balance by n
"#;

const BANK: &str = r#"
schema bank target dynamodb { table bank { pk text sk text
  row A from Account pk "ACC\#<id>" sk "\#META" store all
  row T from Transfer pk "TR\#<ref>" sk "\#META" store all } }
schema two target dynamodb {
  table accounts from Account key (id;) store all
  table transfers from Transfer key (ref;) store all }
"#;

/// Returns a model whose write says that its two accounts differ.
fn said(text: &str) -> String {
    text.replace("set balance by n\n", "set balance by n if s != t\n")
}

#[test]
fn a_transfer_is_between_two_accounts() {
    let moves = |text: &str| {
        let all = statuses(&format!("{text}{BANK}"));
        all.into_iter().filter(|one| one.contains("move_money")).collect::<Vec<_>>()
    };
    assert_eq!(moves(LEDGER), ["bank.move_money refused", "two.move_money refused"]);
    assert_eq!(moves(&said(LEDGER)), ["bank.move_money certified", "two.move_money certified"]);
}

/// Nothing is sent where the two are one: the request says so itself.
#[test]
fn a_transfer_is_guarded_by_its_inputs() {
    let document = document(&format!("{}{BANK}", said(LEDGER)));
    let said = document.calls("bank", Some("move_money")).unwrap_or_else(|why| panic!("{why}"));
    let guards = json!([[{ "$input": "s" }, "other than", { "$input": "t" }]]);
    let writes: Vec<_> = said.calls.iter().filter(|call| !call.reads).collect();
    assert_eq!(writes.len(), 1);
    for call in writes {
        assert_eq!(call.operation, "TransactWriteItems");
        assert_eq!(call.json().get("only_if"), Some(&guards));
    }
}

#[test]
fn a_transfer_is_planned() {
    let text = said(LEDGER);
    for target in ["dynamodb", "shelfmark", "ordered"] {
        let plan = document(&text).plan(target, "planned").unwrap_or_else(|why| panic!("{why}"));
        assert!(!plan.schema.contains("has no plan"), "{target}: {}", plan.schema);
        let whole = document(&text).with_only(&plan.schema);
        let proofs = document(&whole).prove();
        let held = proofs.iter().all(|one| matches!(one.status, Status::Certified | Status::Multi));
        assert!(held, "{target}: {}", plan.schema);
    }
}

/// Without a row of the transfer itself one step changes both accounts, and is a transaction all the same.
#[test]
fn two_accounts_of_one_step_change_together() {
    let text = r#"
entity Account { key id: uuid  balance: int(0..1000000000000) }
read account(a) = Account where id = a unique
write open(a) = insert Account(id a, balance 0)
write move_money(s, t, n) = increment Account(id s) set balance by -n if balance >= n, s != t
  and increment Account(id t) set balance by n
"#;
    for target in ["dynamodb", "shelfmark", "ordered"] {
        let plan = document(text).plan(target, "planned").unwrap_or_else(|why| panic!("{why}"));
        assert!(!plan.schema.contains("has no plan"), "{target}: {}", plan.schema);
        let found = statuses(&format!("{text}{}", plan.schema));
        assert!(found.iter().all(|one| one.ends_with("certified")), "{target}: {found:?}");
    }
    let named = "schema d target dynamodb { table accounts from Account key (id;) store all }";
    let found = statuses(&format!("{text}{named}"));
    assert_eq!(found.last().map(String::as_str), Some("d.move_money certified"));
}

/// Of keys of several attributes one part differs; what names the key as a whole stands for all parts.
#[test]
fn keys_of_several_attributes_differ_in_one() {
    let text = |with: &str| {
        format!(
            r#"
entity Bin {{ shelf: text(min 1, max 9, only "a-z")  number: int(0..99)  stock: int(0..1000)  key (shelf, number) }}
entity Move {{ key id: uuid  source: Bin immutable  target: Bin immutable }}
read bin(s, n) = Bin where shelf = s and number = n unique
write shift(a, b, c, d, n) = increment Bin(shelf a, number b) set stock by -n if stock >= n
  and increment Bin(shelf c, number d) set stock by n if {with}
write log(i, s, t) = insert Move(id i, source s, target t) if s != t
schema d target dynamodb {{ table bins from Bin key (shelf; number) store all
  table moves from Move key (id;) store all }}
schema t target dynamodb {{ table bins {{ pk text  row B from Bin pk "<shelf>\#<number>" store all }}
  table moves from Move key (id;) store all }}
"#
        )
    };
    let of = |with: &str| {
        let all = statuses(&text(with));
        all.into_iter().filter(|one| one.contains(".shift ")).collect::<Vec<_>>()
    };
    assert_eq!(of("(a, b) != (c, d)"), ["d.shift certified", "t.shift certified"]);
    assert_eq!(of("a != c"), ["d.shift certified", "t.shift certified"]);
    assert_eq!(of("(a, n) != (c, b)"), ["d.shift refused", "t.shift refused"]);
}

/// Both counters of who follows are of one entity.
#[test]
fn who_follows_counts_on_both_sides() {
    let text = |with: &str| {
        format!(
            r#"
entity User {{ key id: text(min 1, max 20)  followers: int(0..1000000000)  following: int(0..1000000000) }}
link Follow from User as a to User as b {{ at: timestamp immutable }}
read user(u) = User where id = u unique
read followed(u) = Follow where a = u limit 50
write join(u) = insert User(id u, followers 0, following 0)
write follow(a, b, at) = link Follow(a a, b b) set at = at{with}
  and increment User(id a) set following by 1 and increment User(id b) set followers by 1
write unfollow(a, b) = unlink Follow(a a, b b){with}
  and increment User(id a) set following by -1 and increment User(id b) set followers by -1
"#
        )
    };
    let planned = |with: &str| {
        let plan = document(&text(with)).plan("dynamodb", "planned");
        plan.unwrap_or_else(|why| panic!("{why}")).schema
    };
    let schema = planned(" if a != b");
    assert!(!schema.contains("has no plan"), "{schema}");
    let found = statuses(&format!("{}{schema}", text(" if a != b")));
    assert!(found.iter().all(|one| one.ends_with("certified")), "{found:?}");
    let schema = planned("");
    assert!(schema.contains("# follow has no plan"), "{schema}");
    assert!(schema.contains("if a != b"), "{schema}");
}

#[test]
fn inputs_that_differ_are_printed_and_read_again() {
    let text = said(LEDGER);
    let format = |text: &str| Document::format("apart", text).unwrap_or_else(|why| panic!("{why}"));
    let printed = format(&text);
    assert!(printed.contains("set balance by n if s != t"), "{printed}");
    assert_eq!(format(&printed), printed);
}

#[test]
fn only_inputs_differ() {
    let wrong = [
        ("s != balance", "is no input of this write"),
        ("s != s", "is never another than itself"),
        ("s != n", "different types"),
        ("(s, t) != s", "different numbers"),
    ];
    for (with, message) in wrong {
        let text = LEDGER.replace("set balance by n\n", &format!("set balance by n if {with}\n"));
        let report = match Document::parse("wrong", &text) {
            Ok(_) => panic!("{with}: taken"),
            Err(report) => report.to_string(),
        };
        assert!(report.contains(message), "{with}: {report}");
    }
}

/// Numbers that rows of one entity keep by two references are two items, where the two differ.
#[test]
fn numbers_by_two_references_are_kept_of_two() {
    let text = |with: &str| {
        format!(
            r#"
entity User {{ key id: text(min 1, max 20) }}
link Follow from User as a to User as b {{ at: timestamp immutable }}
write join(u) = insert User(id u)
write follow(a, b, at) = link Follow(a a, b b) set at = at{with}
write unfollow(a, b) = unlink Follow(a a, b b){with}
schema d target dynamodb {{
  table users from User key (id;) store {{ count Follow by a as following, count Follow by b as followers }}
  table follows from Follow key (a; b) store all }}
"#
        )
    };
    let found = statuses(&text(" if a != b"));
    assert_eq!(found, ["d.join certified", "d.follow certified", "d.unfollow certified"]);
    let found = statuses(&text(""));
    assert_eq!(found.get(1).map(String::as_str), Some("d.follow refused"));
}

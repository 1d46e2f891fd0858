//! What targets refuse or answer otherwise: inputs that no request takes, orders of a target's own, rows
//! that nothing keeps. Each model stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

/// Ranges by uuid are another range in CQL, which compares versions and times first.
#[test]
fn no_range_is_by_uuid() {
    let model = |ty: &str, target: &str| {
        statuses(&format!(
            "entity E {{ key id: {ty}  u: uuid }}
read above(u, i) = E where u = u and id > i
read one(u, i) = E where u = u and id = i
schema s target {target} {{ table rows from E key (u; id) store all
  serve above(u, i) by query rows (u) after i  serve one(u, i) by query rows (u, i) }}
"
        ))
    };
    assert_eq!(model("uuid", "cql"), ["s.above refused", "s.one certified"]);
    assert_eq!(model("ulid", "cql"), ["s.above certified", "s.one certified"]);
    assert_eq!(model("uuid", "dynamodb"), ["s.above certified", "s.one certified"]);
}

/// Crossed ends and a limit of 0 are answered by nothing, without a request; what cannot be so has no
/// such guard. What changes a row asks that it is there.
#[test]
fn inputs_that_no_request_takes_are_not_sent() {
    let text = "entity E { key id: uuid  u: uuid  at: timestamp  n: int }
read whole(u, a, b, n) = E where u = u and at >= a and at <= b order by at limit n
read some(u, a, n: int(1..9)) = E where u = u and at >= a order by at limit n
write set_n(i) = update E(id i) set n = 1
schema d target dynamodb { table rows from E key (id;) store all  index by_at key (u; at) }
schema c target cql { table rows from E key (id;) store all
  table by_at from E key (u; at, id) }
";
    let document = Document::parse("guards", text).expect("a model");
    let of = |schema: &str, pattern: &str| {
        document.calls(schema, Some(pattern)).expect("requests").text()
    };
    let (low, crossed) = (r#"[{"$input":"n"},">=",1]"#, r#"[{"$input":"a"},"<=",{"$input":"b"}]"#);
    let whole = of("d", "whole");
    assert!(whole.contains(low) && whole.contains(crossed), "{whole}");
    assert!(!of("d", "some").contains("only_if"), "{}", of("d", "some"));
    assert!(of("d", "set_n").contains("attribute_exists(#key)"), "{}", of("d", "set_n"));
    assert!(of("c", "set_n").contains("IF EXISTS"), "{}", of("c", "set_n"));
}

/// A change of what no row keeps is lost; one that rows keep, as their own or as a number, is not.
#[test]
fn what_no_row_keeps_is_lost() {
    let head = "entity E { key id: uuid  n: int }
entity F { key id: uuid  e: E  n: int }
write add_e(i) = insert E(id i, n 1)
write add_f(i, e) = insert F(id i, e e, n 1)
write set_f(i) = update F(id i) set n = 2
write both(i, j) = insert E(id i, n 1) and insert F(id j, e i, n 1)
";
    let of = |rows: &str| {
        statuses(&format!(
            "{head}schema s target dynamodb {{ table e_rows from E key (id;) store {rows} }}\n"
        ))
    };
    assert_eq!(
        of("all"),
        ["s.add_e certified", "s.add_f refused", "s.set_f refused", "s.both refused"]
    );
    let counted = of("{ n, count F as fs }");
    assert_eq!(counted.get(1).map(String::as_str), Some("s.add_f certified"), "{counted:?}");
    let own = of("all  table f_rows from F key (id;) store all");
    assert!(own.iter().all(|one| one.ends_with("certified")), "{own:?}");
}

/// A loop may bind by an input what its tuples say too; another input is another tuple.
#[test]
fn a_loop_binds_by_input_what_the_tuple_says_too() {
    let text = |user: &str| {
        format!(
            "entity User {{ key id: uuid }}
link Follow from User as user to User as follower {{ at: timestamp fanout user -> follower max 9 }}
write leave(u, v) = unlink Follow(user {user}, follower l.follower) for each Follow as l where user = u
    and delete User(id v)
schema s target shelfmark {{ table users from User key (id;) store all
  table follows from Follow key (user; follower) store all
  table back from Follow key (follower; user) store all }}
"
        )
    };
    assert_eq!(statuses(&text("u")), statuses(&text("l.user")));
}

/// Wrong answers that only longer states show are shown.
#[test]
fn states_show_what_a_longer_limit_hides() {
    for limit in 4..=9 {
        let model = |order: &str| {
            statuses(&format!(
                "entity E {{ key id: uuid  u: uuid  at: timestamp  n: int }}
read newest(u) = E where u = u order by at desc limit {limit}
schema s target shelfmark {{ table rows from E key (u; {order}, id) store all
  serve newest(u) by query rows (u) limit {limit} }}
"
            ))
        };
        assert_eq!(model("at desc"), ["s.newest certified"], "{limit}");
        assert_eq!(model("n desc"), ["s.newest refused"], "{limit}");
    }
}

/// What stands beside a changed attribute in one text of an index is read before; alone it is not.
#[test]
fn texts_of_indexes_are_written_anew_from_what_was_read() {
    let text = |target: &str, key: &str| {
        format!(
            "entity Order {{ key id: ulid  shop: uuid immutable  status: text(min 1, max 12, only \"A-Z\") }}
read queue(r, s) = Order where shop = r and status = s order by id limit 100
write set_status(o, s) = update Order(id o) set status = s
schema s target {target} {{ table orders {{ pk text sk text
  row OrderRow from Order pk \"ORDER#<id>\" sk \"ORDER\" store all
    index by_status {key} }} }}
"
        )
    };
    let one = text("dynamodb", "pk \"SHOP#<shop>#<status>\" sk \"<id>\"");
    assert_eq!(statuses(&one), ["s.queue certified", "s.set_status certified"]);
    let steps = |text: &str| {
        let document = Document::parse("orders", text).expect("a model");
        document.calls("s", Some("set_status")).expect("requests").text().matches(", step ").count()
    };
    assert_eq!(steps(&one), 2, "the shop is read, then both are written");
    assert_eq!(steps(&text("dynamodb", "pk \"SHOP#<shop>\" sk \"<status>#<id>\"")), 1);
}

/// A range that goes through a whole text of the key ends at that text.
#[test]
fn through_a_whole_text_is_to_it() {
    let text = |ty: &str, rest: &str| {
        format!(
            "entity Film {{ key id: uuid  genre: uuid  year: {ty} }}
read of_genre(g, a, b) = Film where genre = g and year between a and b order by year
schema s target dynamodb {{ table films {{ pk text sk text
  row FilmRow from Film pk \"F#<id>\" sk \"0\" store all
    index by_genre pk \"G#<genre>\" sk \"<year:pad(4)>{rest}\" }}
  serve of_genre(g, a, b) by query by_genre pk \"G#<g>\" sk from \"<a:pad(4)>\" through \"<b:pad(4)>\" }}
"
        )
    };
    assert_eq!(statuses(&text("int(1890..2100)", "")), ["s.of_genre certified"]);
    assert_eq!(statuses(&text("int(1890..2100)", "#<id>")), ["s.of_genre certified"]);
    assert_eq!(statuses(&text("int(1890..12100)", "")), ["s.of_genre refused"]);
}

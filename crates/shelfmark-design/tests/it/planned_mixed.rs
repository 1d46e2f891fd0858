//! Reads of several row types for targets where rules decide: one collection, or several requests, and no
//! row type twice where once is cheaper.

use shelfmark_design::{Document, Status};

const TARGETS: [&str; 4] = ["cql", "candb", "shelfmark", "ordered"];

fn document(text: &str) -> Document {
    Document::parse("mixed", text).unwrap_or_else(|report| panic!("{report}"))
}

/// Returns the schema planned for a target, of which all patterns are certified.
fn planned(text: &str, target: &str) -> String {
    let schema =
        document(text).plan(target, "planned").unwrap_or_else(|why| panic!("{why}")).schema;
    for proof in document(&document(text).with_only(&schema)).prove() {
        let good = matches!(proof.status, Status::Certified | Status::Multi);
        assert!(good, "{} for {target}: {schema}", proof.pattern);
    }
    schema
}

/// Returns a model of users with what is theirs, of which a page shows all.
fn users(page: &str, written: &str) -> String {
    format!(
        "type nm = text(min 1, max 20, only \"a-z0-9\")
entity User {{ key id: nm  name: text(max 40)  count 100k }}
entity Order {{
  user: User  at: timestamp immutable  id: nm  total: int(0..100000)  state: nm
  key (user, id)  count 1M  fanout user avg 10 max 1k
}}
entity Address {{
  user: User  label: nm  line: text(max 100)
  key (user, label)  count 200k  fanout user avg 2 max 10
}}
read home(u) = User + Address + Order where user = u order by kind rate {page}
read user(u) = User where id = u unique rate 100/s
read orders(u) = Order where user = u rate 20/s
read order(u, o) = Order where user = u and id = o unique rate 20/s
read addresses(u) = Address where user = u order by label rate 20/s
write join(i, n) = insert User(id i, name n) rate 1/s
write rename(i, n) = update User(id i) set name = n rate 1/s
write place(u, o, at, t) = insert Order(user u, id o, at at, total t, state \"new\") rate {written}
write pay(u, o) = update Order(user u, id o) set state = \"paid\" rate {written}
write move_(u, l, x) = insert Address(user u, label l, line x) or replace rate 10/s
write forget(u, l) = delete Address(user u, label l) rate 1/s
"
    )
}

/// Where the page is read most, its collection is the only place of all rows; where it is read seldom, it
/// is several requests. Nothing is written twice.
#[test]
fn no_row_type_lies_in_a_collection_and_beside_it() {
    for target in TARGETS {
        let schema = planned(&users("2k/s", "10/s"), target);
        assert_eq!(schema.matches("  table ").count(), 1, "{schema}");
        assert!(schema.contains("serve user by get home"), "{schema}");
        assert!(schema.contains("serve addresses by query home"), "{schema}");
        assert!(schema.contains("write pay { patch home_order }"), "{schema}");
        let by_time = "read newest(u) = Order where user = u order by at desc limit 10 rate 20/s\n";
        let text = format!("{}{by_time}", users("1/s", "1k/s"));
        let schema = planned(&text, target);
        assert!(schema.contains("serve home by get user"), "{schema}");
        assert!(!schema.contains("row home_"), "{schema}");
    }
}

/// What is looked up by its own key is found in the collection that has this key: no third row is written
/// for it.
#[test]
fn what_is_met_is_found_in_its_collection() {
    let text = "type nm = text(min 1, max 20, only \"a-z0-9\")
entity Order { key id: nm  ship: text(max 60)  count 1M }
entity Product { key id: nm  name: text(max 60)  count 10k }
entity Detail {
  order: Order  product: Product  date: date immutable  amount: int(1..1000)
  key (order, product)  count 5M  fanout order avg 5 max 50  fanout product avg 500 max 10k
}
read order(o) = Order + Detail where order = o order by kind rate 50/s
read sales(p, a, b) = Detail select order, date, amount where product = p and date between a and b order by date rate 1/s
read product(p) = Product where id = p unique
write stock(p, n) = insert Product(id p, name n)
write place(o, s) = insert Order(id o, ship s) rate 5/s
write add(o, p, d, n) = insert Detail(order o, product p, date d, amount n) rate 15/s
";
    for target in TARGETS {
        let schema = planned(text, target);
        assert_eq!(schema.matches("from Detail ").count(), 2, "{schema}");
    }
}

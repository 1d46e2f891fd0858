//! What plans cost beside schemas that were written by hand: each model stands beside its nearest
//! neighbour, for which something else is cheaper.

use shelfmark_design::Document;

fn document(text: &str) -> Document {
    Document::parse("costs", text).unwrap_or_else(|report| panic!("{report}"))
}

fn planned(text: &str, target: &str) -> String {
    let plan = document(text).plan(target, "planned").unwrap_or_else(|why| panic!("{why}"));
    plan.schema
}

/// Returns what the plan costs of a schema, which is put behind the model.
fn ratio(text: &str, schema: &str, name: &str) -> f64 {
    let whole = document(&format!("{text}{schema}"));
    whole.plan_beside(name, "planned").unwrap_or_else(|why| panic!("{why}")).ratio()
}

/// Returns a model of posts that show their authors' names; each pattern is called at a rate.
fn feeds(counts: [&str; 2], rates: [&str; 2]) -> String {
    let ([authors, posts], [read, write]) = (counts, rates);
    format!(
        "type name = text(min 1, max 20)
entity Author {{ key id: name  name: name  city: name  {authors} }}
entity Post {{
  key id: name  author: Author immutable  at: timestamp immutable
  title: text(max 50)  tag: name  {posts}
}}
read feed(a) = Post with author.name where author = a order by at desc strong {read}
read heads(a) = Post select id, at where author = a order by at desc {read}
write join(i, n, c) = insert Author(id i, name n, city c) {write}
write rename(i, n) = update Author(id i) set name = n {write}
write post(i, a, t, h, g) = insert Post(id i, author a, at t, title h, tag g) {write}
write drop(i) = delete Post(id i) {write}
"
    )
}

fn by_hand(copied: bool) -> String {
    let (store, then) = match copied {
        true => ("author.name, title, tag", ""),
        false => ("title, tag", " then get items (row.author, \"a\")"),
    };
    format!(
        "schema hand target dynamodb {{
  table items {{
    row author from Author key (id; \"a\") store all
    row post from Post key (id; \"p\") store all
    row second from Post key (author; \"s#<at:iso>#<id:esc>\") store {{ {store} }}
  }}
  serve feed by query items (a) begins \"s#\" desc{then}
  serve heads by query items (a) begins \"s#\" desc
}}
"
    )
}

/// Copies lie where they are read and nowhere else: in the second rows of a strong read, or in none.
#[test]
fn what_is_written_is_what_was_priced() {
    let followed = feeds(["", "fanout author max 500"], ["", ""]);
    let schema = planned(&followed, "dynamodb");
    assert!(!schema.contains("author.name"), "{schema}");
    let found = ratio(&followed, &by_hand(false), "hand");
    assert!(found <= 1.01, "{found}\n{schema}");

    let counts = ["count 100k", "count 1M fanout author avg 10 max 500"];
    let copied = feeds(counts, ["rate 50/s", "rate 1/s"]);
    let schema = planned(&copied, "dynamodb");
    assert_eq!(schema.matches("author.name").count(), 1, "{schema}");
    let found = ratio(&copied, &by_hand(true), "hand");
    assert!(found <= 1.01, "{found}\n{schema}");
}

/// Returns a model of products that are listed with a name which changes.
fn products(read: &str, write: &str) -> String {
    format!(
        "type name = text(min 1, max 30)
entity P {{
  key id: name  cat: name distinct 100  price: int(0..100000)  name: name  stock: int(0..10000)
  count 1M  fanout cat avg 10k max 100k
}}
read p(i) = P where id = i unique rate {read}
read bycat(c) = P select id, price where cat = c order by price limit 20 rate {read}
read cheap(c, m) = P select id, name where cat = c and price <= m order by price limit 50 rate {read}
write mk(i, c, p, n) = insert P(id i, cat c, price p, name n, stock 0) rate {write}
write rename(i, n) = update P(id i) set name = n rate {write}
"
    )
}

/// Returns the schema in which a read of the listed rows follows to each product.
fn keyed(target: &str) -> &'static str {
    match target {
        "cql" => {
            "schema hand target cql {
  table list from P key (cat; price, id)
  table p from P key (id;) store { cat, price, name, stock }
  serve cheap by query list (c) through m limit 50 then get p (row.id)
}
"
        }
        "shelfmark" => {
            "schema hand target shelfmark {
  table p from P key (id;) store all index list key (cat; price) store { }
  serve cheap by query list (c) through m limit 50 then get p (row.id)
}
"
        }
        "candb" => {
            "schema hand target candb {
  table list from P pk \"p#<cat:esc>\" sk \"<price:pad(6)>#<id:esc>\"
  table p from P pk \"p#<id:esc>\" store { cat, price, name, stock }
  serve cheap by query list pk \"p#<c:esc>\" sk through \"<m:pad(6)>\" limit 50 then get p pk \"p#<row.id:esc>\"
}
"
        }
        _ => {
            "schema hand target ordered {
  table list from P key (cat, price, id)
  table p from P key (id) store { cat, price, name, stock }
  serve cheap by range list (c) through m limit 50 then get p (row.id)
}
"
        }
    }
}

/// Where a product is renamed far more often than listed, its name is read where it is; where it is the
/// other way round, each list has it.
#[test]
fn rates_tell_what_lists_show() {
    for target in ["cql", "shelfmark", "candb", "ordered"] {
        let (read, written) = (products("1000/s", "0.1/s"), products("0.1/s", "1000/s"));
        let (lists, follows) = (planned(&read, target), planned(&written, target));
        assert!(!lists.contains("then get"), "{lists}");
        assert!(follows.contains("then get p"), "{follows}");
        let found = ratio(&written, keyed(target), "hand");
        assert!(found <= 1.01, "{target}: {found}\n{follows}");
        let found = ratio(&read, keyed(target), "hand");
        assert!(found < 0.5, "{target}: {found}\n{lists}");
    }
}

/// One table of DynamoDB takes twenty indexes: further reads have second rows, and all keep their plan.
#[test]
fn indexes_are_no_more_than_a_table_takes() {
    let attributes: Vec<String> = (0..26).map(|n| format!("  a{n}: name distinct 1k\n")).collect();
    let reads = (0..26).map(|n| {
        format!("read r{n}(x) = E where a{n} = x order by at limit 20 rate {}/s\n", 1 + n)
    });
    let inputs: Vec<String> = (0..26).map(|n| format!("a{n} i{n}")).collect();
    let names: Vec<String> = (0..26).map(|n| format!("i{n}")).collect();
    let text = format!(
        "type name = text(min 1, max 20)
entity E {{
  key id: name  at: timestamp immutable
{}  count 1M
}}
{}write mk(i, t, {}) = insert E(id i, at t, {})
",
        attributes.concat(),
        reads.collect::<String>(),
        names.join(", "),
        inputs.join(", ")
    );
    let schema = planned(&text, "dynamodb");
    assert_eq!(schema.matches(" index ").count(), 20, "{schema}");
    assert!(!schema.contains(" has no plan"), "{schema}");
    let whole = document(&document(&text).with_only(&schema));
    let findings = whole.check();
    assert!(findings.iter().all(|one| one.id != "X4"), "{findings:?}");
}

/// Returns a model of clicks of campaigns, of which the largest has half.
fn clicks(rate: &str) -> String {
    format!(
        "type name = text(min 1, max 30)
entity Camp {{ key id: name  name: name  count 1k }}
entity Click {{
  key id: ulid  camp: Camp immutable  count 10G  fanout camp avg 10M max 5G
}}
read camp(c) = Camp where id = c unique rate 10/s
read total(c) = count of Click where camp = c rate 10/s
write mk(c, n) = insert Camp(id c, name n) rate 0.01/s
write click(i, c) = insert Click(id i, camp c) rate {rate}
"
    )
}

/// A number that changes more often than one partition takes is kept by no row, and the plan says so; one
/// that changes seldom is kept.
#[test]
fn no_row_counts_what_is_too_hot() {
    for target in ["dynamodb", "cql", "candb", "shelfmark", "ordered"] {
        let cool = planned(&clicks("100/s"), target);
        assert!(cool.contains("count Click") && !cool.contains("unservable"), "{cool}");
        let hot = planned(&clicks("200k/s"), target);
        assert!(!hot.contains("count Click"), "{hot}");
        let told =
            "# total is unservable: one row of Camp would keep it, which changed 100000 times";
        assert!(hot.contains(told), "{hot}");
    }
}

/// A schema that keeps such a number is warned of by the largest fan-out, not by an even part.
#[test]
fn a_hot_count_is_found_by_its_largest_fan_out() {
    let found = |rate: &str| {
        let kept = "schema s target dynamodb {
  table camp from Camp key (id;) store { name, count Click }
  table click from Click key (id;) store all
}
";
        let findings = document(&format!("{}{kept}", clicks(rate))).check();
        findings.iter().filter(|one| one.id == "W6").count()
    };
    assert_eq!((found("20k/s"), found("100/s")), (1, 0));
}

/// What is added to in one row, or put into one place that no key spreads, is said where that is too much.
#[test]
fn plans_say_where_they_are_too_hot() {
    let text = |rate: &str| {
        format!(
            "type name = text(min 1, max 30)
entity Page {{ key id: name  views: int(0..100000000)  count 10 }}
read page(p) = Page where id = p unique rate 100/s
write mk(p) = insert Page(id p, views 0) rate 0.001/s
write view(p) = increment Page(id p) set views by 1 rate {rate}
"
        )
    };
    for target in ["dynamodb", "candb", "shelfmark", "ordered"] {
        let hot = planned(&text("200k/s"), target);
        let told = "# view may land 20000 times a second in one row of page: a partition of ";
        assert!(hot.contains(told), "{hot}");
        let cool = planned(&text("10/s"), target);
        assert!(!cool.contains("may land"), "{cool}");
    }
}

/// An explanation and a comparison count one schema alike, and say what they assume.
#[test]
fn totals_of_one_schema_are_the_same() {
    let text = feeds(["", "fanout author max 500"], ["", ""]);
    let explained = document(&text).plan_explained("dynamodb").expect("an explanation");
    let whole = document(&document(&text).with_only(&planned(&text, "dynamodb")));
    let beside = whole.plan_beside("planned", "again").expect("a comparison");
    let total = beside.written.month();
    let first = explained.lines().next().unwrap_or("");
    assert!(first.ends_with(&format!("about {total:.2} a month")), "{total} {explained}");
    for told in [
        "no count is declared: about 1.0M Author, 1.0M Post",
        "no fan-out tells how many rows a call finds: about 10 feed, 10 heads",
        "? no rate is declared: 1 calls a second",
    ] {
        assert!(explained.contains(told) && beside.to_string().contains(told), "{explained}");
    }
}

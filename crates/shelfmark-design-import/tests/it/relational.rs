//! SQL with its query log, and Prisma schemas.

use shelfmark_design::{Document, Status};
use shelfmark_design_import::{Log, Source, import, import_with_log};

use crate::file;

fn store() -> String {
    let (tables, log) = (file("relational/store.sql"), file("relational/store.log"));
    let log = Log { text: &log, span_seconds: Some(10.0) };
    import_with_log("store.sql", &tables, log).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns how many patterns of a schema derived for DynamoDB are proven, of how many.
fn planned(model: &str) -> (usize, usize) {
    let document = Document::parse("model", model).unwrap_or_else(|report| panic!("{report}"));
    let plan = document.plan("dynamodb", "planned");
    let plan = plan.unwrap_or_else(|error| panic!("{error:?}"));
    let whole = format!("{model}\n{}", plan.schema);
    let document = Document::parse("model", &whole).unwrap_or_else(|report| panic!("{report}"));
    let proofs = document.prove();
    let good = |status: &Status| matches!(status, Status::Certified | Status::Multi);
    (proofs.iter().filter(|one| good(&one.status)).count(), proofs.len())
}

#[test]
fn tables_and_statements_become_entities_and_patterns() {
    let model = store();
    for line in [
        "customer_id: Customer\n",
        "product_id: Product\n",
        "state: enum(\"open\", \"paid\", \"sent\")\n",
        "unique (email)\n",
        "visible: bool\n",
        "key (order_id, product_id)\n",
        "read read_customers_by_email(email) = Customer where email = email unique rate 0.10/s\n",
        // Two statements with other values are one pattern with twice the rate.
        "    order by placed desc\n    limit 20\n    rate 0.20/s\n",
        "    with Customer.name\n",
        "where title begins title\n",
        "where title contains title",
        "= count of Order\n",
        "product_id between product_id_from and product_id_to\n",
        "increment Product(id id) set stock by -1",
        "update Order(id id) set state = state",
        "delete OrderItem(order_id order_id, product_id product_id)",
        "# ? Not imported (came 1 time): groups and unions.\n",
        "# ? There is an index on customer_id, placed: for which read?\n",
    ] {
        assert!(model.contains(line), "{line}\n{model}");
    }
    assert!(!model.contains("begin") || !model.contains("commit"), "{model}");
    let (good, all) = planned(&model);
    // A contains, a count without a kept row and one more that nothing serves.
    assert!(good + 3 >= all && good > 8, "{good} of {all}\n{model}");
}

#[test]
fn logs_of_several_forms_say_the_same() {
    let tables = "CREATE TABLE t (a int PRIMARY KEY, b text);";
    let csv = "userid,query,calls\n1,\"SELECT * FROM t WHERE a = $1\",600\n";
    let slow = "# Time: 2026-11-24T05:00:00Z\n# User@Host: x\n# Query_time: 1.0\n\
                SET timestamp=1000;\nSELECT * FROM t\n WHERE a = 1;\nSET timestamp=1002;\n\
                SELECT * FROM t WHERE a = 2;\n";
    let general = "2026-11-24 05:00:00.1 UTC [7] LOG:  statement: SELECT * FROM t WHERE a = 5\n";
    let cases = [
        (csv, Some(60.0), "rate 10/s"),
        (slow, None, "rate 1.00/s"),
        (general, Some(1.0), "rate 1.00/s"),
    ];
    for (text, span_seconds, rate) in cases {
        let model = import_with_log("t.sql", tables, Log { text, span_seconds });
        let model = model.unwrap_or_else(|error| panic!("{error}"));
        let line = format!("read read_t_by_a(a) = T where a = a unique {rate}\n");
        assert!(model.contains(&line), "{line}{model}");
    }
    let bad = Log { text: "query,calls\nSELECT 1,many\n", span_seconds: None };
    let error = import_with_log("t.sql", tables, bad).expect_err("no number");
    assert!(error.to_string().contains("log:2:1"), "{error}");
}

#[test]
fn prisma_models_become_entities() {
    let text = file("relational/blog.prisma");
    assert_eq!(Source::of("blog.prisma", &text), Source::Prisma);
    let model =
        import("blog.prisma", &text, Source::Prisma).unwrap_or_else(|error| panic!("{error}"));
    for line in [
        "role: enum(\"READER\", \"WRITER\")\n",
        "userId: User\n",
        "authorId: User\n",
        "unique (authorId, title)\n",
        "bio: text optional\n",
        "links: list of text(max 200)(max 100)",
        "created: timestamp\n",
        "# ? There is an index on created: for which read?\n",
    ] {
        assert!(model.contains(line), "{line}\n{model}");
    }
    assert!(!model.contains("posts"), "the other side of a relation is no attribute: {model}");
    Document::parse("blog", &model).unwrap_or_else(|report| panic!("{report}"));
}

#[test]
fn damaged_texts_are_refused_with_their_place() {
    for (name, text, place, message) in [
        ("a.sql", "SELECT 1;", "1:1", "no CREATE TABLE"),
        ("a.sql", "\nCREATE TABLE t;", "2:1", "no columns"),
        ("a.sql", "CREATE TABLE t (a int, a int);", "1:1", "twice"),
        ("a.sql", "CREATE TABLE t (a int, PRIMARY KEY (b));", "1:1", "no column of t"),
        ("a.sql", "CREATE TABLE t (a text DEFAULT 'x);", "1:32", "quote"),
        ("a.prisma", "model A {", "1:9", "no end"),
        ("a.prisma", "enum A { B }", "1:1", "no `model`"),
        ("a.prisma", "model", "1:1", "a block"),
    ] {
        let error = import(name, text, Source::of(name, text)).expect_err(text);
        assert!(error.place.starts_with(place), "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
}

/// A file of one format, read as every other one, is a model or an error.
#[test]
fn a_wrong_format_is_no_panic() {
    for name in [
        "relational/store.sql",
        "relational/blog.prisma",
        "libraries/tasks.ts",
        "libraries/accounts.js",
        "workbench/films.json",
        "hotel.cql",
    ] {
        for (_, from) in Source::ALL {
            if let Ok(model) = import(name, &file(name), from) {
                Document::parse(name, &model).unwrap_or_else(|report| panic!("{report}"));
            }
        }
    }
}

#[test]
fn no_damage_makes_it_panic() {
    let (tables, log) = (file("relational/store.sql"), file("relational/store.log"));
    for (at, _) in tables.char_indices().step_by(5) {
        let _ = import("a.sql", &tables[..at], Source::Sql);
        let _ = import("a.sql", &format!("{}({}", &tables[..at], &tables[at..]), Source::Sql);
    }
    for (at, _) in log.char_indices().step_by(5) {
        let changed = format!("{}({}", &log[..at], &log[at..]);
        for text in [&log[..at], &changed] {
            let _ = import_with_log("a.sql", &tables, Log { text, span_seconds: Some(1.0) });
        }
    }
    let blog = file("relational/blog.prisma");
    for (at, _) in blog.char_indices().step_by(2) {
        let _ = import("a.prisma", &blog[..at], Source::Prisma);
        let _ = import("a.prisma", &format!("{}[{}", &blog[..at], &blog[at..]), Source::Prisma);
    }
}

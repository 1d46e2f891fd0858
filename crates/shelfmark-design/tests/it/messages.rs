//! What is taken as it is written elsewhere, and what is said where it is not.

use shelfmark_design::{Document, Status};

/// Two entities, and a line behind them.
fn parse(line: &str) -> Result<Document, String> {
    let text = format!(
        "entity U {{ key id: uuid name: text(min 1, max 20) at: timestamp day: date score: int }}\n\
         entity O {{ key id: ulid u: U immutable total: int at: timestamp immutable state: enum(\"x\", \"y\") }}\n\
         {line}\n"
    );
    Document::parse("small", &text).map_err(|report| report.to_string())
}

/// The first sketch of the language, whose target is called `native` there.
#[test]
fn the_first_sketch_of_the_language_is_a_model() {
    let text = r"
entity User      { key id: uuid          count 2M growth 3%/mo }
link Follow from User as followee to User as follower {
    at: ulid immutable
    fanout followee->follower avg 120 p99 5k max 40M zipf 1.1
}
read  followers_newest(u: User)  = Follow where followee = u order by at desc limit page 50  rate 800/s peak 5k/s eventual
read  is_following(a: User, b: User) = Follow where followee = b and follower = a unique      rate 3k/s strong
write follow(a, b)   = link Follow(followee b, follower a) set at = now() unless exists       rate 300/s atomic
write unfollow(a, b) = unlink Follow(followee b, follower a)                                  rate 40/s atomic
target native { partition.max 64MiB partition.writes 2000/s }
schema s target native { table f from Follow key (followee; follower) store all index n key (followee; at desc) }
";
    let document = Document::parse("sketch", text).unwrap_or_else(|report| panic!("{report}"));
    let proofs = document.prove();
    assert_eq!(proofs.len(), 4);
    assert!(proofs.iter().all(|one| one.status == Status::Certified), "{proofs:#?}");
    assert!(document.plan("native", "planned").is_ok());
}

#[test]
fn quantities_have_the_unit_of_what_they_say() {
    let good = [
        "count 2M",
        "count 1_000",
        "count 1G growth 3%/mo",
        "growth 0.03/mo",
        "retention 90d",
        "fanout u min 0 avg 1.5k p99 5k max 40M zipf 1.1",
    ];
    for facts in good {
        let text = format!("entity U {{ key id: uuid }} entity L {{ key id: uuid u: U {facts} }}");
        Document::parse("good", &text).unwrap_or_else(|report| panic!("{facts}: {report}"));
    }
    let bad = [
        ("fanout u max 1B", "`1B` does not fit `max`", "1G"),
        ("count 3%", "`3%` does not fit `count`", "a count"),
        ("growth 3%", "`3%` does not fit `growth`", "3%/mo"),
        ("growth 10/mo count 5/s", "`5/s` does not fit `count`", "a count"),
        ("retention 40", "`40` does not fit `retention`", "30d"),
        ("fanout u avg 2KiB", "`2KiB` does not fit `avg`", "a count"),
        ("fanout u zipf 3k", "`3k` does not fit `zipf`", "1.1"),
        ("t: text sparse 200%", "`200%` does not fit `sparse`", "2%"),
        ("t: text avg 3d", "`3d` does not fit `avg`", "64KiB"),
    ];
    for (facts, message, example) in bad {
        let text = format!("entity U {{ key id: uuid }} entity L {{ key id: uuid u: U {facts} }}");
        let report = Document::parse("bad", &text).expect_err(facts).to_string();
        assert!(report.contains(message) && report.contains(example), "{facts}: {report}");
    }
    // A count in billions is none in bytes, and a rate without a time is a second's.
    let text = "entity U { key id: uuid count 2B }\n\
        read r(x) = U where id = x rate 30\n\
        schema s target cql { table u from U key (id;) }";
    let report =
        Document::parse("billions", text).unwrap_or_else(|report| panic!("{report}")).size();
    assert_eq!(report.schemas[0].families[0].total_rows, Some(2e9));
    assert!(parse("read r(x) = O where u = x rate 30%").is_err());
    assert!(parse("read r(x) = O where u = x rate 30/s latency 10ms staleness 5s").is_ok());
}

#[test]
fn times_and_dates_are_written_as_texts() {
    let good = [
        r#"at >= "2021-01-01""#,
        r#"at >= "2021-01-01T00:00""#,
        r#"at < "2021-12-31T23:59:59.999Z""#,
        r#"day = "2020-02-29""#,
        r#"day >= "0001-01-01""#,
    ];
    for condition in good {
        let line = format!("read r(n) = U where name = n and {condition}");
        let found = parse(&line).unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(found.schemas().len(), 0);
    }
    let bad = [
        r#"at >= "2021-13-01""#,
        r#"at >= "2021-01-01T""#,
        r#"at >= "2021-01-01T24:00""#,
        r#"at >= "2021-01-01T00:00:00.5Z""#,
        r#"day = "2021-02-29""#,
        r#"day = "2021-02-01T00:00""#,
        r#"day = "1.2.2021""#,
    ];
    for condition in bad {
        let line = format!("read r(n) = U where name = n and {condition}");
        let report = parse(&line).expect_err(condition);
        assert!(report.contains("such as \"2021-09-15\""), "{condition}: {report}");
    }
    let served = parse(
        "read r(n) = U where name = n and at >= \"2021-01-01\"\n\
         schema s target cql { table us from U key (name; at, id) store all }",
    );
    let proofs = served.unwrap_or_else(|report| panic!("{report}")).prove();
    assert!(proofs.iter().all(|one| one.status == Status::Certified), "{proofs:#?}");
}

/// What is written in the manner of another language is answered with how it is said here.
#[test]
fn habits_of_other_languages_are_answered() {
    let habits = [
        ("read r(x) = O where u = x and state != \"x\"", "there is no `!=`"),
        ("read r(x) = O where u = x or state = \"x\"", "write two reads"),
        ("read r(x) = O where u == x", "one `=` compares"),
        ("read r(x) = O where u is x", "a value is compared by `=`"),
        ("read r(x) = U where name like x", "it is `begins`, `ends` or `contains`"),
        ("read r(x) = O where u = x and state in (\"x\", \"y\")", "take it as an input"),
        ("read r(x) = O where u = x sort by at", "it is `order by`"),
        ("read r(x) = O where u = x ORDER BY at", "did you mean `order`?"),
        ("READ r(x) = O where u = x", "did you mean `read`?"),
        ("read r(x) = sum of O where u = x", "`sum total of Order`"),
        ("write w(x) = upsert U(id x)", "`insert … or replace`"),
        ("write w(x) = remove U(id x)", "it is `delete`"),
        ("read r(x, y) = O where u = x", "the input `y` is not used"),
        ("entity A { key id: timeuuid }", "here it is `ulid`"),
        ("entity A { key id: varchar }", "here it is `text`"),
        ("entity A { key id: UUID }", "did you mean `uuid`?"),
    ];
    for (line, wanted) in habits {
        let report = parse(line).expect_err(line);
        assert!(report.contains(wanted), "{line}: {report}");
    }
    // An offset is an input like any other; what it asks for no key can do.
    let text = "read r(x, n) = O where u = x order by at offset n limit 10\n\
         schema s target cql { table o from O key (u; at, id) store all }";
    let proofs = parse(text).unwrap_or_else(|report| panic!("{report}")).prove();
    assert!(proofs.iter().all(|one| one.status == Status::Unservable), "{proofs:#?}");
}

/// Where an entity has two kinds of rows in a table, the one that is meant says what is wrong.
#[test]
fn the_row_family_that_is_meant_says_what_is_wrong() {
    let of = |read: &str| {
        let text = format!(
            r##"entity E {{ key id: ulid  u: uuid  q: text(max 5) }}
read one(x, w) = E where u = x and q = w
schema s target candb {{
  table t {{ pk text  sk text
    row Plain from E pk "p#<u>" sk "<id>" store all
    row Named from E pk "n#<u>" sk "<q>#<id>" store all }}
  serve one(x, w) by query t {read}
}}"##
        );
        let document = Document::parse("two", &text).unwrap_or_else(|report| panic!("{report}"));
        document.prove().into_iter().map(|one| one.reason).collect::<String>()
    };
    let meant = of(r##"pk "n#<x>" sk begins "<w>#""##);
    assert!(meant.contains("what follows the value may be part of it"), "{meant}");
    let none = of(r##"pk "m#<x>" sk begins "<w>#""##);
    assert!(none.contains("no row of this family has such a key"), "{none}");
}

/// What people write in the place of a text, a comma or a value has a help that says what to write.
#[test]
fn slips_of_other_notations_are_told_what_to_write() {
    let said = |line: &str| parse(line).err().unwrap_or_default();
    let words = said("entity E { key id: uuid  s: enum(Open, Shut) }");
    assert!(words.contains("write a value of an enum as a text, `\"Open\"`"), "{words}");
    let table = "table o from O key (u; at, id) store all";
    let serve = |plan: &str| {
        let read = "read r(u, a) = O where u = u and at >= a order by at";
        said(&format!(
            "{read}\nschema s target cql {{ {table}\n serve r(u, a) by query o {plan} }}"
        ))
    };
    let parted = serve("(u; a)");
    assert!(parted.contains("parted by commas"), "{parted}");
    let end = serve("(u) from (a)");
    assert!(end.contains("an end is one value without parentheses"), "{end}");
    assert_eq!(serve("(u) from a"), "");
}

/// Numbers and moments are added to; an addition to anything else is none that a target makes.
#[test]
fn what_is_no_number_is_not_added_to() {
    let said = |ty: &str| {
        let text = format!(
            "entity A {{ key id: uuid  s: {ty} }}\nwrite w(i, k) = increment A(id i) set s by k"
        );
        Document::parse("m", &text).err().map(|report| report.text).unwrap_or_default()
    };
    for ty in ["text(max 5)", "bool", "date", "uuid", "enum(\"a\", \"b\")", "list of int"] {
        let said = said(ty);
        assert!(said.contains("`s` is no number, and is added to here"), "{ty}: {said}");
        assert!(said.contains("update A(…) set s = …"), "{ty}: {said}");
    }
    for ty in ["int", "int(0..9)", "decimal", "timestamp optional"] {
        assert_eq!(said(ty), "", "{ty}");
    }
}

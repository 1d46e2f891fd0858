//! Attacks by functions of users: bodies that loop, hoard and nest, and many of them.
//!
//! What it is not: the limits of one call, which the interpreter's own tests have.

use std::time::{Duration, Instant};

use super::list::{Attack, long, short};
use super::wire::Cql;
use super::{PATIENCE, Target};

/// On a server that asks nobody who they are.
pub(super) const FUNCTIONS: &[Attack] = &[
    short("a function that loops for each row", loops),
    short("many calls of a function in one row", calls),
    long("a function that loops, in conditions of one partition", loops_in_conditions),
    short("a function that keeps what it makes", hoards),
    short("functions that return long texts, many of them", long_texts),
    short("aggregates with large states, many of them", large_states),
    short("an aggregate over itself", nested_aggregates),
    short("work on long texts that is one step", long_steps),
    short("deep bodies of functions", deep_bodies),
    short("many functions", many_functions),
];

/// Makes a function `k.NAME(i int)`.
fn function(client: &mut Cql, name: &str, returns: &str, body: &str) {
    let text = format!(
        "CREATE OR REPLACE FUNCTION k.{name} (i int) CALLED ON NULL INPUT RETURNS {returns} LANGUAGE java AS $${body}$$"
    );
    let made = client.ask(&text).unwrap();
    assert_ne!(made.opcode, 0, "{body}: {:?}", made.error());
}

/// Asks for something that a function fails at; returns the code of the error and its text.
fn failure(client: &mut Cql, text: &str) -> (i32, String) {
    let answer = client.ask(text).unwrap();
    answer.error().unwrap_or_else(|| panic!("{text}: {answer:?}"))
}

const FUNCTION_FAILURE: i32 = 0x1400;
const OVERLOADED: i32 = 0x1001;
const INVALID: i32 = 0x2200;

/// A body of nearly as many steps as a call may take. Those of the short selection are of a long product,
/// which takes less time.
fn costly(target: &Target) -> &'static str {
    match target.is_long {
        true => "int n = 0; for (int k = 0; k < 600000; k++) n++; return n;",
        false => "return java.math.BigInteger.TEN.pow(120000).signum();",
    }
}

/// A loop that nearly takes what one call may, for each row: it is their sum that ends it.
fn loops(target: &Target) {
    let mut client = target.cql();
    function(&mut client, "loops", "int", costly(target));
    for row in 0..100 {
        client.ask(&format!("INSERT INTO k.cas (a, b, v) VALUES (77, {row}, 1)")).unwrap();
    }
    let statements = [
        "SELECT k.loops(v) FROM k.cas WHERE a = 77",
        "SELECT max(k.loops(v)) FROM k.cas WHERE a = 77",
        "SELECT b FROM k.cas WHERE a = 77 GROUP BY a, k.loops(b)",
    ];
    for text in statements.iter().take(target.count(1, 2)) {
        let (code, text) = failure(&mut client, text);
        assert!(code == FUNCTION_FAILURE && text.contains("together"), "{code:x} {text}");
    }
    function(&mut client, "forever", "int", "while (true) { }");
    let (code, text) = failure(&mut client, "SELECT k.forever(v) FROM k.cas WHERE a = 77");
    assert!(code == FUNCTION_FAILURE && text.contains("ran longer than 1500ms"), "{code:x} {text}");
}

fn calls(target: &Target) {
    let mut client = target.cql();
    function(&mut client, "loops", "int", costly(target));
    client.ask("INSERT INTO k.cas (a, b, v) VALUES (77, 1, 1)").unwrap();
    let all = vec!["k.loops(v)"; 1_000].join(", ");
    let (code, text) =
        failure(&mut client, &format!("SELECT {all} FROM k.cas WHERE a = 77 AND b = 1"));
    assert!(code == FUNCTION_FAILURE && text.contains("together"), "{code:x} {text}");
}

/// Each is called before the partition is locked, so that others can write there.
fn loops_in_conditions(target: &Target) {
    let mut client = target.cql();
    let body = "int n = 0; for (int k = 0; k < 600000; k++) n++; return i;";
    function(&mut client, "slow", "int", body);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..4 {
                let text = "UPDATE k.cas SET v = k.slow(2) WHERE a = 78 AND b = 1 IF v = k.slow(1)";
                target.cql().ask(text).unwrap();
            }
        });
        let mut other = target.cql();
        for number in 0..200 {
            let text = format!("INSERT INTO k.cas (a, b, v) VALUES (78, 2, {number})");
            assert_ne!(other.ask(&text).unwrap().opcode, 0);
        }
    });
}

/// Everything that a body can make is counted.
fn hoards(target: &Target) {
    let mut client = target.cql();
    client.ask("INSERT INTO k.cas (a, b, v) VALUES (77, 1, 1)").unwrap();
    let long = "String s = \"x\"; for (int k = 0; k < 20; k++) s += s;";
    let constant = "y".repeat(30_000);
    let bodies = [
        "List<Object> l = new ArrayList<>(); while (true) l.add(new ArrayList<Object>());"
            .to_owned(),
        "String s = \"x\"; while (true) s += s;".to_owned(),
        format!(
            "List<String> l = new ArrayList<>(); while (true) l.add(\"{constant}\" + l.size());"
        ),
        "int[] a; List<Object> l = new ArrayList<>(); while (true) l.add(new int[1000]);"
            .to_owned(),
        "Map<Integer, Integer> m = new HashMap<>(); for (int k = 0; ; k++) m.put(k, k);".to_owned(),
        format!(
            "{long} List<Object> l = new ArrayList<>(); while (true) l.add(new RuntimeException(s));"
        ),
        format!(
            "{long} List<Object> l = new ArrayList<>(); for (int k = 0; k < 50000; k++) l.add(s); return l.hashCode();"
        ),
        format!(
            "{long} List<Object> l = new ArrayList<>(); for (int k = 0; k < 50000; k++) l.add(s); return l.toString().length();"
        ),
        format!("{long} return s.split(\"x\").length + s.toCharArray().length;"),
        "StringBuilder b = new StringBuilder(); while (true) b.append(b);".to_owned(),
        "ByteBuffer.allocate(2000000000); return 1;".to_owned(),
        "return new int[2000000000].length;".to_owned(),
        "return \"abc\".repeat(2000000000).length();".to_owned(),
    ];
    for body in bodies {
        function(&mut client, "hoards", "int", &body);
        let (code, text) =
            failure(&mut client, "SELECT k.hoards(v) FROM k.cas WHERE a = 77 AND b = 1");
        let is_limit =
            ["OutOfMemoryError", "TimeoutException"].iter().any(|own| text.contains(own));
        assert!(code == OVERLOADED || code == FUNCTION_FAILURE && is_limit, "{body}: {text}");
    }
}

/// Ten megabytes from a call, in one row, in one batch, and as one text many times in a list.
fn long_texts(target: &Target) {
    let mut client = target.cql();
    client.ask("INSERT INTO k.cas (a, b, v) VALUES (77, 1, 1)").unwrap();
    let long = "String s = \"x\"; for (int k = 0; k < 22; k++) s += s;";
    function(&mut client, "long_text", "text", &format!("{long} return s;"));
    let all = vec!["k.long_text(v)"; 100].join(", ");
    for begin in ["SELECT", "SELECT JSON"] {
        let text = format!("{begin} {all} FROM k.cas WHERE a = 77 AND b = 1");
        let answer = client.ask(&text).unwrap();
        assert!(answer.opcode == 8 || answer.error().is_some(), "{answer:?}");
    }
    let body = format!(
        "{long} List<String> l = new ArrayList<>(); for (int k = 0; k < 1000; k++) l.add(s); return l;"
    );
    function(&mut client, "long_list", "list<text>", &body);
    let (code, text) =
        failure(&mut client, "SELECT k.long_list(v) FROM k.cas WHERE a = 77 AND b = 1");
    assert!(code == OVERLOADED || text.contains("OutOfMemoryError"), "{code:x} {text}");
    client.ask("CREATE TABLE IF NOT EXISTS k.long_texts (a int PRIMARY KEY, t text)").unwrap();
    let insert = "INSERT INTO k.long_texts (a, t) VALUES (1, k.long_text(1));";
    let batch = format!("BEGIN UNLOGGED BATCH {} APPLY BATCH", insert.repeat(50));
    let (code, text) = failure(&mut client, &batch);
    assert!(
        code == OVERLOADED || code == FUNCTION_FAILURE || text.contains("mutation"),
        "{code:x} {text}"
    );
}

fn large_states(target: &Target) {
    let mut client = target.cql();
    for row in 0..20 {
        client.ask(&format!("INSERT INTO k.cas (a, b, v) VALUES (77, {row}, 1)")).unwrap();
    }
    let text = "CREATE OR REPLACE FUNCTION k.grow (s text, i int) CALLED ON NULL INPUT RETURNS text LANGUAGE java AS $$return s.length() > 2000000 ? s : s + s;$$";
    let made = client.ask(text).unwrap();
    assert_ne!(made.opcode, 0, "{:?}", made.error());
    let text =
        "CREATE AGGREGATE IF NOT EXISTS k.grown (int) SFUNC grow STYPE text INITCOND 'abcdefgh'";
    let made = client.ask(text).unwrap();
    assert_ne!(made.opcode, 0, "{:?}", made.error());
    let all = vec!["k.grown(v)"; 400].join(", ");
    let (code, text) = failure(&mut client, &format!("SELECT {all} FROM k.cas WHERE a = 77"));
    assert!(matches!(code, OVERLOADED | FUNCTION_FAILURE | INVALID), "{code:x} {text}");
}

fn nested_aggregates(target: &Target) {
    let mut client = target.cql();
    let text = "CREATE OR REPLACE FUNCTION k.plus (s int, i int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $$return 1;$$";
    client.ask(text).unwrap();
    client
        .ask("CREATE AGGREGATE IF NOT EXISTS k.once (int) SFUNC plus STYPE int INITCOND 0")
        .unwrap();
    for text in [
        "CREATE AGGREGATE k.twice (int) SFUNC once STYPE int",
        "CREATE AGGREGATE k.twice (int) SFUNC plus STYPE int FINALFUNC once INITCOND 0",
        "SELECT k.once(k.once(v)) FROM k.cas WHERE a = 77",
    ] {
        failure(&mut client, text);
    }
}

/// Comparing, searching and reading long texts takes as many steps as it takes time.
fn long_steps(target: &Target) {
    let mut client = target.cql();
    client.ask("INSERT INTO k.cas (a, b, v) VALUES (77, 1, 1)").unwrap();
    let long = "String s = \"a\"; for (int k = 0; k < 20; k++) s += s; String t = s + \"b\";";
    let digits = "String d = \"7\"; for (int k = 0; k < 16; k++) d += d;";
    for body in [
        format!("{long} String u = s + \"b\"; int n = 0; while (true) if (t.equals(u)) n++;"),
        format!("{long} int n = 0; while (true) n += s.indexOf(t.substring(500000));"),
        format!("{long} int n = 0; while (true) n += s.compareTo(t);"),
        format!("{long} int n = 0; while (true) n += t.replace(s, \"\").length();"),
        format!("{long} int n = 0; while (true) n += s.hashCode();"),
        format!("{digits} int n = 0; while (true) n += new java.math.BigInteger(d.substring(0, 60000)).signum();"),
        format!("{digits} java.math.BigInteger b = new java.math.BigInteger(d.substring(0, 60000)); int n = 0; while (true) n += (\"\" + b).length();"),
        format!("{long} StringBuilder b = new StringBuilder(s); int n = 0; while (true) if (\"a\".contains(b)) n++;"),
        format!("{long} int n = 0; while (true) try {{ Integer.parseInt(s); }} catch (RuntimeException e) {{ n++; }}"),
        "List<Integer> l = new ArrayList<>(); for (int k = 0; k < 300000; k++) l.add(k); while (true) { l.remove((Object) 0); l.add(0, 0); }".to_owned(),
        "TreeSet<Integer> l = new TreeSet<>(); for (int k = 0; k < 100000; k++) l.add(k); int n = 0; while (true) n += l.first();".to_owned(),
    ] {
        function(&mut client, "steps", "int", &body);
        let start = Instant::now();
        let (code, text) =
            failure(&mut client, "SELECT k.steps(v) FROM k.cas WHERE a = 77 AND b = 1");
        let is_limit = ["TimeoutException", "OutOfMemoryError"].iter().any(|own| text.contains(own));
        assert!(code == OVERLOADED || code == FUNCTION_FAILURE && is_limit, "{body}: {text}");
        assert!(start.elapsed() < PATIENCE, "{body}");
    }
}

fn deep_bodies(target: &Target) {
    let mut client = target.cql();
    let nested = |open: &str, inner: &str, close: &str, count: usize| {
        format!("{}{inner}{}", open.repeat(count), close.repeat(count))
    };
    for body in [
        format!("return {};", nested("(", "1", ")", 20_000)),
        format!("return 1{};", "+1".repeat(25_000)),
        format!("return \"\"{}.length();", ".trim()".repeat(8_000)),
        format!("return {}1;", "-".repeat(50_000)),
        nested("{", "return 1;", "}", 20_000),
        nested("if (i > 0) {", "", "}", 4_000) + " return 1;",
        nested("for (;;) {", "", "}", 6_000),
        nested("try {", "", "} finally { }", 3_000) + " return 1;",
        format!("int[] a = {}{}; return 1;", "{".repeat(30_000), "}".repeat(30_000)),
        format!("List{} l = null; return 1;", nested("<List", "", ">", 8_000)),
        format!("return {}1;", "(int) ".repeat(10_000)),
        format!("return i > 0 ? {}1;", "1 : i > 0 ? ".repeat(4_000)),
    ] {
        let text = format!(
            "CREATE OR REPLACE FUNCTION k.deep (i int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $${body}$$"
        );
        let refused = failure(&mut client, &text);
        assert_eq!(refused.0, 0x2200, "{}: {refused:?}", body.get(..60).unwrap_or(&body));
    }
}

/// All functions of a keyspace are one record; it has an end.
fn many_functions(target: &Target) {
    let mut client = target.cql();
    let body = format!("/* {} */ return 1;", "x".repeat(60_000));
    let refused = (0..200).find_map(|number| {
        let text = format!(
            "CREATE OR REPLACE FUNCTION k.many{number} (i int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $${body}$$"
        );
        let start = Instant::now();
        loop {
            match client.ask(&text).unwrap().error() {
                // Each writes the record anew: who is refused because the disk is behind comes again.
                Some((OVERLOADED, _)) if start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(200));
                }
                other => break other,
            }
        }
    });
    assert!(refused.as_ref().is_some_and(|own| own.1.contains("bodies")), "{refused:?}");
    let answer = client.ask("SELECT function_name FROM system_schema.functions").unwrap();
    assert_eq!(answer.opcode, 8);
    for number in 0..200 {
        client.ask(&format!("DROP FUNCTION IF EXISTS k.many{number}")).unwrap();
    }
}

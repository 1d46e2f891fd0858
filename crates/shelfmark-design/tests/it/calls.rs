//! Requests of every certified plan of the seeds and the reference models, as golden output: read
//! what changed before it is committed. Beside it, what a target cannot be asked and its neighbour.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "the models and the golden file are there, or the test fails"
)]

use shelfmark_design::Document;

use crate::root;

/// One line for what makes the tables and for each request.
fn lines(name: &str, out: &mut String) {
    let path = root().join("../../models").join(format!("{name}.shelf"));
    let text = std::fs::read_to_string(path).expect("the model is there");
    let document = Document::parse(name, &text).unwrap_or_else(|report| panic!("{report}"));
    for schema in document.schemas() {
        out.push_str(&format!("## {name} {schema}\n"));
        let said = match document.calls(&schema, None) {
            Ok(said) => said,
            Err(why) => {
                out.push_str(&format!("no tables: {why}\n"));
                continue;
            }
        };
        for one in &said.create {
            out.push_str(&format!(
                "{}\n",
                one.as_str().map_or_else(|| one.to_string(), str::to_owned)
            ));
        }
        for call in &said.calls {
            let json = call.json();
            let body = json.pointer("/request/statement").and_then(|one| one.as_str());
            let body = body.map_or_else(|| call.request.to_string(), str::to_owned);
            let inputs = call.inputs.join(", ");
            let (pattern, step, operation) = (&call.pattern, call.step, &call.operation);
            out.push_str(&format!("{pattern}.{step} ({inputs}) {operation} {body}"));
            for (name, value) in &call.beside {
                out.push_str(&format!(" | {name} {value}"));
            }
            if let Some(values) = call.request.get("values") {
                out.push_str(&format!(" | values {values}"));
            }
            out.push('\n');
        }
        for (pattern, why) in &said.left_out {
            out.push_str(&format!("{pattern} is left out: {why}\n"));
        }
    }
}

#[test]
fn requests_of_the_models() {
    let mut out = String::new();
    for folder in ["seeds", "reference"] {
        let files = std::fs::read_dir(root().join("../../models").join(folder)).expect("models");
        let mut names: Vec<String> = files
            .flatten()
            .filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned()))
            .collect();
        names.sort();
        names.iter().for_each(|name| lines(&format!("{folder}/{name}"), &mut out));
    }
    let path = root().join("tests/golden/calls.txt");
    if std::env::var_os("SHELFMARK_BLESS").is_some() {
        std::fs::write(&path, &out).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(golden, out, "the golden requests differ");
}

/// The status of each pattern, and whether it is O10 that fails.
fn outcomes(text: &str) -> Vec<String> {
    let document = Document::parse("small", text).unwrap_or_else(|report| panic!("{report}"));
    let proofs = document.prove();
    for proof in &proofs {
        let said = document.verify(proof);
        assert!(said.is_ok(), "{} is not believed: {said:?}", proof.pattern);
    }
    proofs
        .iter()
        .map(|one| {
            let obligation = one.obligation.as_deref().unwrap_or("");
            format!("{} {} {obligation}", one.pattern, one.status.word()).trim_end().to_owned()
        })
        .collect()
}

/// What a target cannot be asked, each beside its neighbour that it can.
const CASES: [(&str, &[&str]); 16] = [
        (
            "entity E { key id: uuid  u: uuid  at: decimal }
             read half(u, a, b) = E where u = u and at >= a and at < b order by at
             read whole(u, a, b) = E where u = u and at >= a and at <= b order by at
             schema s target dynamodb { table base from E key (id;) store all index by_at key (u; at)
               serve half(u, a, b) by query by_at (u) from a before b
               serve whole(u, a, b) by query by_at (u) from a to b }",
            &["half refused O10", "whole certified"],
        ),
        (
            "entity E { key id: text(max 9)  n: int }
             entity F { key id: text(min 1, max 9)  n: int }
             read e(i) = E where id = i
             read f(i) = F where id = i
             write add_e(i) = insert E(id i, n 1)
             write add_f(i) = insert F(id i, n 1)
             schema s target cql { table e from E key (id;) store all  table f from F key (id;) store all }",
            &["e refused O10", "f certified", "add_e refused O10", "add_f certified"],
        ),
        (
            "entity E { key id: uuid  u: uuid }
             entity F { key id: ulid  u: uuid }
             read e(u, n) = E where u = u order by id limit n
             read f(u, n) = F where u = u order by id limit n
             schema s target cql { table e from E key (u; id) store all  table f from F key (u; id) store all }",
            &["e refused O10", "f certified"],
        ),
        (
            "entity E { key id: uuid  a: uuid  b: int }
             read two(a) = E where a = a order by b
             read one(a) = E where a = a
             schema s target cql { table e from E key (id;) store all index two_more key (a; b) index one_more key (a;)
               serve two(a) by query two_more (a)
               serve one(a) by query one_more (a) }",
            &["two refused O10", "one refused O10"],
        ),
        (
            "entity E { key id: uuid  n: int }
             entity P { key id: uuid }
             entity C { key id: uuid  post: P }
             write more(i) = update E(id i) set n = 1
             write add(i, k) = increment E(id i) set n by k
             write say(i, p) = insert C(id i, post p)
             schema s target cql { table es from E key (id;) store all  table cs from C key (id;) store all
               table counts from P key (id;) store { count C as comments } }",
            &["more certified", "add refused O10", "say certified"],
        ),
        (
            "entity E { key id: uuid  n: int  m: int }
             write twice(a, b) = increment E(id a) set n by 1 and increment E(id b) set m by 1
             write both(a) = increment E(id a) set n by 1 and increment E(id a) set m by 1
             schema s target dynamodb { table base from E key (id;) store all
               write twice { transaction { patch base } }
               write both { transaction { patch base } } }",
            &["twice refused O10", "both certified"],
        ),
        (
            "entity E { key id: uuid }
             read e(i) = E where id = i
             schema s target dynamodb { table e from E key (id;) store all }",
            &["e refused O10"],
        ),
        (
            "entity E { key id: uuid  g: uuid  name: text(max 9, without \"|\") }
             read any(g, p: text(max 9, without \"|\")) = E where g = g and name begins p
             read some(g, p: text(min 1, max 9, without \"|\")) = E where g = g and name begins p
             schema s target dynamodb { table base { pk text sk text row R from E pk \"<g>\" sk \"<name>|<id>\" store all } }",
            &["any refused O10", "some certified"],
        ),
        // An update adds to a number, and puts no text together from the sum.
        (
            "entity E { key id: uuid  n: int(0..99)  m: int }
             read by_n(n) = E where n = n
             read by_m(m) = E where m = m
             write add_n(i) = increment E(id i) set n by 1
             write add_m(i) = increment E(id i) set m by 1
             write set_n(i, n) = update E(id i) set n = n
             schema s target dynamodb { table base from E key (id;) store all
               index by_n pk \"n#<n:pad(2)>\"  index by_m key (m;) }",
            &["by_n certified", "by_m certified", "add_n refused O10", "add_m certified", "set_n certified"],
        ),
        // CQL does not tell an empty list from an absent one.
        (
            "entity E { key id: uuid  tags: list of text optional }
             entity F { key id: uuid  tags: list of text }
             read e(i) = E where id = i
             read f(i) = F where id = i
             schema s target cql { table e from E key (id;) store all  table f from F key (id;) store all }",
            &["e refused O10", "f certified"],
        ),
        // CanDB: a scan includes both of its bounds, and has them.
        (
            "entity E { key id: text(min 1, max 9, without \"#\")  u: text(min 1, max 9, without \"#\")  day: date }
             read before(u, d) = E where u = u and day < d order by day
             read until(u, d) = E where u = u and day <= d order by day
             read all(u) = E where u = u order by day
             schema s target candb { table e { pk text sk text row R from E pk \"u#<u>\" sk \"d#<day:iso>#<id>\" store all }
               serve before(u, d) by query e pk \"u#<u>\" sk from \"d#\" before \"d#<d:iso>\"
               serve until(u, d) by query e pk \"u#<u>\" sk from \"d#\" through \"d#<d:iso>#\" }",
            &["before certified", "until certified", "all certified"],
        ),
        (
            "entity E { key id: text(min 1, max 9)  u: text(min 1, max 9) }
             entity F { key id: text(min 1)  u: text(min 1, max 9) }
             read before(u, i) = E where u = u and id < i order by id
             read until(u, i) = E where u = u and id <= i order by id
             read all(u) = E where u = u order by id
             read endless(u) = F where u = u order by id
             schema s target candb { table e { pk text sk text row R from E pk \"u#<u>\" sk \"<id>\" store all }
               table f { pk text sk text row S from F pk \"u#<u>\" sk \"<id>\" store all }
               serve before(u, i) by query e pk \"u#<u>\" sk before \"<i>\"
               serve until(u, i) by query e pk \"u#<u>\" sk to \"<i>\" }",
            &["before refused O10", "until certified", "all certified", "endless certified"],
        ),
        // One message goes to one partition.
        (
            "entity U { key id: uuid  name: text(max 9) }
             entity P { key id: uuid  u: U }
             write both(u, p) = insert U(id u, name \"x\") and insert P(id p, u u)
             write one(u, n) = update U(id u) set name = n
             schema apart target candb { table t { pk text sk text
               row A from U pk \"u#<id>\" sk \"0\" store all
               row B from P pk \"p#<id>\" sk \"0\" store all }
               write both { transaction { put A ; put B } } }
             schema beside target candb { table t { pk text sk text
               row A from U pk \"u#<id>\" sk \"0\" store all
               row B from P pk \"u#<u>\" sk \"p#<id>\" store all }
               write both { transaction { put A ; put B } } }",
            &["both refused O10", "one certified", "both certified", "one certified"],
        ),
        // OrderedTable: streams go up.
        (
            "entity E { key id: uuid  u: uuid  at: timestamp }
             read up(u) = E where u = u order by at
             read down(u) = E where u = u order by at desc
             schema rising target ordered { table e from E key (u, at, id) store all }
             schema falling target ordered { table e from E key (u, at desc, id) store all }
             schema backwards target ordered { table e from E key (u, at, id) store all
               serve down(u) by range e (u) desc }",
            &["up certified", "down refused O5", "up refused O5", "down certified", "up certified", "down refused O10"],
        ),
        (
            "entity E { key id: uuid  u: uuid  n: int }
             read last(u) = E where u = u order by n desc limit 1
             read largest() = E order by id desc limit 1
             read second() = E order by id desc limit 2
             schema s target ordered { table e from E key (id) store all  table by_u from E key (u, n desc, id) store all }",
            &["last certified", "largest certified", "second refused O5"],
        ),
        // Typed tables have both directions, and their indexes.
        (
            "entity E { key id: uuid  u: uuid  at: timestamp }
             read up(u) = E where u = u order by at
             read down(u) = E where u = u order by at desc
             schema s target shelfmark { table e from E key (id;) store all index by_u key (u; at) }",
            &["up certified", "down certified"],
        ),
];

#[test]
fn what_a_target_cannot_be_asked() {
    for (text, wanted) in CASES {
        assert_eq!(outcomes(text), wanted, "{text}");
    }
}

/// Names are told where columns do not have those of their attributes.
#[test]
fn columns_of_answers_are_told() {
    let text = r##"
entity Topic { key id: text(min 1, max 20, without "#") title: text(max 40) }
entity Reply {
  key (topic, at)
  topic: Topic
  at: timestamp
  title: text(max 9)
}
read replies(t) = Reply with topic.title where topic = t order by at
schema s target dynamodb {
  table data {
    pk text  sk text
    row TopicRow from Topic pk "t#<id>" sk "0" store all
    row ReplyRow from Reply pk "t#<topic>" sk "r#<at:iso>" store { title, topic.title }
  }
}
"##;
    let document = Document::parse("topics", text).unwrap_or_else(|report| panic!("{report}"));
    let said = document.calls("s", None).expect("requests").json();
    let rows = said.get("rows").and_then(|rows| rows.as_array()).expect("rows");
    let of = |row: &str, member: &str| {
        let found = rows.iter().find(|one| one["row"] == row).expect(row);
        found[member].to_string()
    };
    assert_eq!(of("TopicRow", "columns"), r#"{"id":"id","title":"title"}"#);
    assert_eq!(of("ReplyRow", "table"), r#""data""#);
    let columns = of("ReplyRow", "columns");
    for attribute in ["at", "title", "topic", "topic.title"] {
        assert!(columns.contains(&format!(":\"{attribute}\"")), "{columns}");
    }
    assert_eq!(of("ReplyRow", "told_by"), r#"{"kind":"ReplyRow"}"#);
    // Each column stands for one attribute of a row.
    let request = said["calls"][0]["request"].to_string();
    assert!(request.contains("ExpressionAttributeValues"), "{request}");
}

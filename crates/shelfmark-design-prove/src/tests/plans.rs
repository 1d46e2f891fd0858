//! Schemas derived from random patterns: they parse, they are proven, and running what is proven
//! agrees with brute force. `SHELFMARK_SEED=n` runs one seed, `SHELFMARK_LONG=1` five thousand.

use super::random_models::{agree_in, writes_agree};
use crate::eval::random::Random;
use crate::prove;
use crate::write_case::WriteCase;
use shelfmark_design::Document;
use shelfmark_design_language::certificate::Status;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::parser::parse;

const TARGETS: [&str; 5] = ["shelfmark", "dynamodb", "cql", "candb", "ordered"];

#[derive(Default)]
struct Tally {
    certified: usize,
    multi: usize,
    unservable: usize,
    others: Vec<String>,
}

#[test]
fn derived_schemas_are_proven_and_agree_with_brute_force() {
    let seeds = match std::env::var("SHELFMARK_SEED") {
        Ok(seed) => {
            let seed: u64 = seed.parse().expect("SHELFMARK_SEED is a number");
            seed..seed + 1
        }
        Err(_) if std::env::var_os("SHELFMARK_LONG").is_some() => 0..5_000,
        Err(_) => 0..40,
    };
    let mut tally = Tally::default();
    for seed in seeds {
        for target in TARGETS {
            one(seed, target, &mut tally);
        }
    }
    println!(
        "{} certified, {} multi, {} unservable, {} others\n{}",
        tally.certified,
        tally.multi,
        tally.unservable,
        tally.others.len(),
        tally.others.iter().take(60).cloned().collect::<Vec<_>>().join("\n")
    );
    let refused: Vec<&String> =
        tally.others.iter().filter(|line| line.starts_with("refused")).collect();
    assert!(refused.is_empty(), "planned and refused: {refused:#?}");
    let served = tally.certified + tally.multi;
    let all = served + tally.others.len();
    // A name in four may be empty, which CQL and DynamoDB take in no key.
    assert!(served * 100 >= all * 93, "{served} of {all} are served");
}

fn one(seed: u64, target: &str, tally: &mut Tally) {
    let text = text(&mut Random::new(seed));
    let document = Document::parse("random", &text).unwrap_or_else(|report| panic!("{report}"));
    let plan = document
        .plan(target, "planned")
        .unwrap_or_else(|error| panic!("SHELFMARK_SEED={seed} {target}: {error}\n{text}"));
    let whole = document.with_only(&plan.schema);
    let planned = Document::parse("planned", &whole)
        .unwrap_or_else(|report| panic!("SHELFMARK_SEED={seed} {target}: {report}\n{whole}"));
    let again = Document::format("planned", &whole).expect("it parses");
    assert_eq!(again, whole, "what is planned is formatted");
    let (model, diagnostics) = resolve(&parse(&whole).file);
    assert!(diagnostics.is_empty() && planned.source() == whole, "{diagnostics:?}");
    for proof in prove(&model, "") {
        let one = &proof.certificate;
        match one.status {
            Status::Certified => tally.certified += 1,
            Status::Multi => tally.multi += 1,
            Status::Unservable => tally.unservable += 1,
            Status::Refused => {
                let noted = plan
                    .notes
                    .iter()
                    .any(|note| note.starts_with(&format!("{} has no plan", one.pattern)));
                let how = if noted { "noted" } else { "refused" };
                tally.others.push(format!(
                    "{how} seed {seed} {target} {}: {} {}",
                    one.pattern,
                    one.obligation.as_deref().unwrap_or(""),
                    one.reason
                ));
                continue;
            }
        }
        if let Some(plan) = &proof.plan {
            let case = WriteCase::of(&model, &proof).expect("a case");
            writes_agree(seed, case, plan, &whole);
        } else if let Some(serve) = &proof.serve
            && one.status != Status::Unservable
        {
            let multi = proof.analysis.multi;
            agree_in(seed, &model, proof.schema, proof.pattern, serve, multi, &whole);
        }
    }
}

const NAMES: [&str; 4] = [
    "text(min 1)",
    "text(max 20)",
    "text(min 1, max 20, without \"#\")",
    "enum(\"a\", \"b\", \"ab\")",
];
const NUMBERS: [&str; 4] = ["int(0..99)", "timestamp", "date", "int(0..7)"];

/// Patterns over an entity that refers to another one, a link between them, and a third that
/// refers to the second.
fn text(random: &mut Random) -> String {
    let mut pick = |items: &[&str]| (*random.pick(items).expect("items")).to_owned();
    let (name, number) = (pick(&NAMES), pick(&NUMBERS));
    let unique = pick(&["", "", " unique"]);
    let mut out = format!(
        "entity Owner {{\n  key id: uuid\n  name: {name}\n  code: text(min 1, max 20){unique}\n}}\n\
         entity Item {{\n  key id: ulid\n  owner: Owner\n  name: {name}\n  number: {number}\n  state: enum(\"on\", \"off\")\n  extra: text(max 20) optional\n}}\n\
         link Likes from Owner as who to Item as what {{\n  at: {number}\n}}\n"
    );
    for at in 0..4 {
        out.push_str(&read(at, &mut pick));
    }
    let writes = [
        "write add(i, o, n, m, s) = insert Item(id i, owner o, name n, number m, state s)\n",
        "write drop(i) = delete Item(id i)\n",
        "write rename(o, n) = update Owner(id o) set name = n\n",
        "write state(i, s) = update Item(id i) set state = s\n",
        "write number(i, m, n) = update Item(id i) set number = m, name = n\n",
        "write move(i, o) = update Item(id i) set owner = o\n",
        "write like(o, i, t) = link Likes(who o, what i) set at = t unless exists\n",
        "write like(o, i, t) = link Likes(who o, what i) set at = t or replace\n",
        "write like(o, i, t) = link Likes(who o, what i) set at = t\n",
        "write unlike(o, i) = unlink Likes(who o, what i)\n",
        "write forget(i) = unlink Likes(who likes.who, what likes.what) for each Likes where what = i\n",
        "write join(o, n, c) = insert Owner(id o, name n, code c)\n",
        "write start(o, n, c, i, m, s, t) = insert Owner(id o, name n, code c) and insert Item(id i, owner o, name n, number m, state s) and link Likes(who o, what i) set at = t\n",
    ];
    let mut seen: Vec<String> = Vec::new();
    for _ in 0..5 {
        let write = pick(&writes);
        let head: String = write.chars().take_while(|c| *c != '(').collect();
        if !seen.contains(&head) {
            seen.push(head);
            out.push_str(&write);
        }
    }
    out
}

#[expect(clippy::too_many_lines, reason = "mostly the clauses that are picked from")]
fn read(at: usize, pick: &mut impl FnMut(&[&str]) -> String) -> String {
    let (source, with) = match pick(&["Item", "Item", "Likes", "Owner", "both"]).as_str() {
        "Item" => ("Item", pick(&["", "", "with owner.name"])),
        "Likes" => (
            "Likes",
            pick(&["", "with what.name", "with what.owner.name", "with who.name, what.number"]),
        ),
        "Owner" => ("Owner", String::new()),
        _ => {
            let order = pick(&[
                "",
                "order by kind",
                "order by kind desc, name",
                "order by kind, name desc",
            ]);
            return format!("read r{at}(n) = Owner + Item where name = n {order}\n");
        }
    };
    let aggregate = pick(&["", "", "", "", "", "count of "]);
    let (wheres, orders): (&[&str], &[&str]) = match source {
        "Item" => (
            &[
                "",
                "owner = o",
                "owner = o and state = s",
                "name = n",
                "owner.name = n",
                "owner = o and number >= low",
                "number between low and high",
                "state = \"on\" and number < high",
                "owner = o and name begins n",
                "owner in os max 3",
                "extra = n",
                "extra is absent and owner = o",
                "owner = o and number > low and name = n",
                "name contains n",
                "id = i",
            ],
            &[
                "",
                "",
                "number",
                "number desc",
                "name, number desc",
                "number desc, id desc",
                "owner.name",
                "name desc, id",
            ],
        ),
        "Likes" => (
            &[
                "",
                "who = o",
                "what = i",
                "who = o and what = i",
                "what.owner = o",
                "who = o and at > low",
                "what.name = n",
                "what in is max 2",
            ],
            &["", "at", "at desc", "what.name", "who", "at, what.number desc"],
        ),
        _ => (
            &["", "name = n", "id = i", "code = c", "name begins n", "name in ns max 2"],
            &["", "name", "name desc, code", "code"],
        ),
    };
    let condition = pick(wheres);
    let order = if aggregate.is_empty() { pick(orders) } else { String::new() };
    let limit = if aggregate.is_empty() { pick(&["", "", "limit 2"]) } else { String::new() };
    let with = if aggregate.is_empty() { with } else { String::new() };
    let mut params: Vec<&str> = Vec::new();
    for word in condition.split([' ', '=', '<', '>']).filter(|word| !word.is_empty()) {
        if ["o", "os", "s", "n", "ns", "low", "high", "i", "is", "c"].contains(&word)
            && !params.contains(&word)
            && !(word == "is" && condition.contains("is absent"))
        {
            params.push(word);
        }
    }
    let clause = |word: &str, text: &str| {
        if text.is_empty() { String::new() } else { format!(" {word} {text}") }
    };
    format!(
        "read r{at}({}) = {aggregate}{source}{}{}{}{}\n",
        params.join(", "),
        if with.is_empty() { String::new() } else { format!(" {with}") },
        clause("where", &condition),
        clause("order by", &order),
        clause("", &limit)
    )
}

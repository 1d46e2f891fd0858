//! Models of many patterns: answered within seconds, or refused with what to do.

use shelfmark_design::{Document, Status};

/// An entity of `columns` identifiers, `reads` reads by one of them each.
fn entity(columns: usize, reads: usize) -> String {
    let mut text = "entity A {\n  key id: uuid\n".to_owned();
    for at in 0..columns {
        text.push_str(&format!("  c{at}: uuid\n"));
    }
    text.push_str("}\n");
    for at in 0..reads {
        text.push_str(&format!("read r{at}(x) = A where c{} = x order by id\n", at % columns));
    }
    text
}

fn tables(target: &str, tables: usize, columns: usize) -> String {
    let lines: String = (0..tables)
        .map(|at| format!("  table t{at} from A key (c{}; id)\n", at % columns))
        .collect();
    format!("schema s_{target}_{tables} target {target} {{\n{lines}}}\n")
}

fn refusal(text: &str) -> String {
    Document::parse("large.shelf", text).err().map(|report| report.text).unwrap_or_default()
}

#[test]
fn ten_thousand_reads_without_a_plan_go_by_what_they_know() {
    let text = entity(100, 10_000) + &tables("cql", 100, 100);
    let document =
        Document::parse("large.shelf", &text).unwrap_or_else(|report| panic!("{report}"));
    let proofs = document.prove();
    assert_eq!(proofs.len(), 10_000);
    // Each finds the one family whose key begins with what it knows.
    for (at, proof) in proofs.iter().enumerate() {
        assert_eq!(
            proof.ranges.first().map(|range| range.table.as_str()),
            Some(&*format!("t{}", at % 100))
        );
    }
}

#[test]
fn too_many_proofs_are_refused() {
    let text = entity(2, 10_000)
        + &tables("cql", 2, 2)
        + &tables("dynamodb", 2, 2)
        + &tables("ordered", 2, 2).replace("; ", ", ");
    let said = refusal(&text);
    assert!(said.contains("10000 patterns in 3 schemas are 30000 proofs; at most 20000"), "{said}");
    assert!(said.contains("a file of their own"), "{said}");
}

#[test]
fn too_many_plans_to_try_are_refused() {
    let text = entity(2, 1_000) + &tables("cql", 2_002, 2);
    let said = refusal(&text);
    assert!(said.contains("1001000 row families") && said.contains("name plans"), "{said}");
    // A named plan is the only one that is tried.
    let named: String =
        (0..1_000).map(|at| format!("  serve r{at}(x) by query t{} (x)\n", at % 2)).collect();
    let text =
        entity(2, 1_000) + &tables("cql", 2_002, 2).replacen('{', &format!("{{\n{named}"), 1);
    assert_eq!(refusal(&text), "");
}

#[test]
fn too_many_written_families_are_refused() {
    let writes: String =
        (0..101).map(|at| format!("write w{at}(i, x) = update A(id i) set c0 = x\n")).collect();
    let text = entity(2, 1) + &writes + &tables("cql", 2_000, 2);
    let said = refusal(&text);
    assert!(said.contains("keep 202000 row families"), "{said}");
}

#[test]
fn large_models_say_where_no_witness_was_looked_for() {
    let text = entity(2, 400)
        + "schema s target cql {\n  table t from A key (c0; c1)\n"
        + &(0..400).map(|at| format!("  serve r{at}(x) by query t (x)\n")).collect::<String>()
        + "}\n";
    let document =
        Document::parse("large.shelf", &text).unwrap_or_else(|report| panic!("{report}"));
    let proofs = document.prove();
    let refused = proofs.iter().filter(|one| one.status == Status::Refused);
    let tries = |one: &serde_json::Value| one["found"] == false && one["tries"] == 0;
    let (shown, unseen): (Vec<_>, Vec<_>) =
        refused.partition(|one| one.witness.as_ref().is_some_and(|witness| !tries(witness)));
    assert!(shown.len() > 100 && !unseen.is_empty(), "{} and {}", shown.len(), unseen.len());
}

#[test]
fn plans_of_what_no_key_can_do_are_searched_no_longer_than_others() {
    let reads: String = (0..400)
        .map(|at| format!("read s{at}(x, y) = A where c0 = x and c1 >= y order by id\n"))
        .collect();
    let plans: String = (0..400)
        .map(|at| format!("  serve s{at}(x, y) by query t (x) filter c1 >= y then sort id\n"))
        .collect();
    let text = entity(2, 1)
        + &reads
        + "schema s target cql {\n  table t from A key (c0; id) store all\n"
        + &plans
        + "}\n";
    let document =
        Document::parse("large.shelf", &text).unwrap_or_else(|report| panic!("{report}"));
    let found = document.check();
    let shown = found.iter().filter(|one| one.id == "K7" || one.id == "F1");
    let (shown, unseen): (Vec<_>, Vec<_>) = shown.partition(|one| one.reproducer.is_some());
    assert!(unseen.len() > 100, "{} and {}", shown.len(), unseen.len());
}

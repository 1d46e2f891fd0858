//! What a write of cells tells whoever observes.

use std::sync::{Arc, Mutex};

use shelfmark_engine::{AccessReport, CellChange, ConditionalRead, Decision, Span};

use super::{A, bytes, insert, key, mutation, schema, set, update};
use crate::drivers::{on_every_driver, patiently};

#[test]
fn a_write_counts_the_rows_that_it_met() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let other = bed.create_table(schema("u")).unwrap();
        let told: Arc<Mutex<Vec<AccessReport>>> = Arc::default();
        let into = Arc::clone(&told);
        let engine = bed.engine.observed(move |report| into.lock().unwrap().push(report.clone()));
        let write = |mutations: Vec<_>| {
            told.lock().unwrap().clear();
            patiently(|| engine.write_cells(mutations.clone())).unwrap();
            let reports = std::mem::take(&mut *told.lock().unwrap());
            let [report] = reports.as_slice() else { panic!("{reports:?}") };
            let steps = report.steps.iter();
            steps
                .map(|step| (step.table.clone(), step.rows_read, step.rows_returned))
                .collect::<Vec<_>>()
        };
        let step = |table: &str, rows: u64| (table.to_owned(), rows, rows);
        let row = |c| insert(&table, "p", key(c, "x"), 10, vec![set(A, "v")]);
        assert_eq!(write(vec![row(1), row(2), row(3)]), [step("t", 0)]);
        let elsewhere = insert(&other, "p", key(1, "x"), 10, vec![]);
        assert_eq!(write(vec![row(1), elsewhere]), [step("t", 1), step("u", 0)]);
        assert_eq!(write(vec![row(4), row(4)]), [step("t", 0)], "one row, and it was not there");
        let gone = mutation(&table, "p", 20, CellChange::DeleteRow(key(1, "x")));
        assert_eq!(write(vec![gone.clone()]), [step("t", 1)]);
        assert_eq!(write(vec![gone]), [step("t", 0)], "nothing is left of it");
        let rest = mutation(&table, "p", 20, CellChange::DeleteSpan(Span::all()));
        assert_eq!(write(vec![rest]), [step("t", 3)]);
    });
}

#[test]
fn a_condition_and_its_write_read_the_row_once() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        bed.cells(vec![insert(&table, "p", key(1, "x"), 10, vec![set(A, "v")])]);
        let told: Arc<Mutex<Vec<u64>>> = Arc::default();
        let into = Arc::clone(&told);
        let engine =
            bed.engine.observed(move |report| into.lock().unwrap().push(report.rows_read()));
        for writes in [true, false] {
            let read = || ConditionalRead {
                table: Arc::clone(&table),
                partition: bytes("p"),
                rows: vec![key(1, "x"), key(2, "x")],
                statics: true,
                now: None,
            };
            let change = || update(&table, "p", key(1, "x"), 20, vec![set(A, "w")]);
            let decide = || {
                engine.write_cells_if(read(), |view| {
                    assert!(view.rows[0].is_some());
                    let mutations = if writes { vec![change()] } else { Vec::new() };
                    Ok(Decision { mutations, answer: () })
                })
            };
            told.lock().unwrap().clear();
            patiently(decide).unwrap();
            assert_eq!(*told.lock().unwrap(), [1]);
        }
    });
}

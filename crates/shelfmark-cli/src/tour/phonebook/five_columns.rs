//! The document's key of five columns: a partition key of two, and three that sort.

use crate::tour::asker::{Asker, Question};
use crate::tour::cql::Cql;
use crate::tour::outcome::Plan;

const KEYSPACE: &str = "five_columns";
const COLORS: [&str; 4] = ["blue", "green", "red", "white"];
const LETTERS: [&str; 4] = ["a", "b", "c", "d"];
const NUMBERS: usize = 10;

/// A row: the five key columns and the data.
pub(super) struct Row {
    part_one: &'static str,
    part_two: usize,
    clust_one: &'static str,
    clust_two: usize,
    clust_three: String,
    data: String,
}

/// Creates and fills the table and its views, and returns the rows in the order of their keys.
pub(super) fn create(cql: &mut Cql) -> anyhow::Result<Vec<Row>> {
    cql.keyspace(KEYSPACE)?;
    cql.must(&format!(
        "CREATE TABLE {KEYSPACE}.stackoverflow (k_part_one text, k_part_two int, \
         k_clust_one text, k_clust_two int, k_clust_three uuid, data text, \
         PRIMARY KEY ((k_part_one, k_part_two), k_clust_one, k_clust_two, k_clust_three))"
    ))?;
    for (view, key) in [
        ("by_part_one", "(k_part_one), k_part_two, k_clust_one, k_clust_two, k_clust_three"),
        ("by_clust_two", "(k_part_one, k_part_two), k_clust_two, k_clust_one, k_clust_three"),
    ] {
        cql.must(&format!(
            "CREATE MATERIALIZED VIEW {KEYSPACE}.{view} AS SELECT * \
             FROM {KEYSPACE}.stackoverflow WHERE k_part_one IS NOT NULL \
             AND k_part_two IS NOT NULL AND k_clust_one IS NOT NULL \
             AND k_clust_two IS NOT NULL AND k_clust_three IS NOT NULL PRIMARY KEY ({key})"
        ))?;
    }
    let rows = generate();
    let insert = |row: &Row| {
        let Row { part_one, part_two, clust_one, clust_two, clust_three, data } = row;
        format!(
            "INSERT INTO {KEYSPACE}.stackoverflow (k_part_one, k_part_two, k_clust_one, \
             k_clust_two, k_clust_three, data) VALUES ('{part_one}', {part_two}, \
             '{clust_one}', {clust_two}, {clust_three}, '{data}')"
        )
    };
    cql.load(&rows.iter().map(insert).collect::<Vec<_>>())?;
    Ok(rows)
}

fn generate() -> Vec<Row> {
    let mut rows = Vec::new();
    for part_one in COLORS {
        for part_two in 0..NUMBERS {
            for clust_one in LETTERS {
                // Two rows for each, told apart by the last column.
                for twice in 0..2 * NUMBERS {
                    let number = rows.len();
                    rows.push(Row {
                        part_one,
                        part_two,
                        clust_one,
                        clust_two: twice / 2,
                        clust_three: format!("00000000-0000-4000-8000-{number:012x}"),
                        data: format!("row {number}"),
                    });
                }
            }
        }
    }
    rows
}

/// A question by some of the columns.
struct By {
    pattern: &'static str,
    plan: Plan,
    question: &'static str,
    table: &'static str,
    restrictions: &'static str,
    note: &'static str,
}

pub(super) fn ask(asker: &mut Asker, cql: &mut Cql, rows: &[Row]) -> anyhow::Result<()> {
    prefixes(asker, cql, rows)?;
    not_prefixes(asker, cql, rows)
}

fn ask_by(asker: &mut Asker, cql: &mut Cql, by: &By, expected: &[&Row]) -> anyhow::Result<()> {
    let expected: Vec<String> = expected.iter().map(|row| row.data.clone()).collect();
    let question = Question {
        pattern: by.pattern,
        plan: by.plan,
        question: by.question.to_owned(),
        range: by.restrictions.replace(" AND ", ", ").replace('\'', ""),
        note: by.note,
    };
    asker.ask(question, &expected, || {
        cql.read(&format!("SELECT data FROM {KEYSPACE}.{} WHERE {}", by.table, by.restrictions))
    })
}

fn in_partition(row: &&Row) -> bool {
    row.part_one == "green" && row.part_two == 7
}

fn prefixes(asker: &mut Asker, cql: &mut Cql, rows: &[Row]) -> anyhow::Result<()> {
    let by = |pattern, question, restrictions, note| By {
        pattern,
        plan: Plan::Published,
        question,
        table: "stackoverflow",
        restrictions,
        note,
    };
    let own = || rows.iter().filter(in_partition);
    let one = by(
        "by one part of the key",
        "Five key columns, the first part of the key given: both partition columns",
        "k_part_one = 'green' AND k_part_two = 7",
        "the partition, whole",
    );
    ask_by(asker, cql, &one, &own().collect::<Vec<_>>())?;
    let two = by(
        "by two parts of the key",
        "Two parts given: the partition and the first clustering column",
        "k_part_one = 'green' AND k_part_two = 7 AND k_clust_one = 'c'",
        "a stretch of the partition",
    );
    let found: Vec<&Row> = own().filter(|row| row.clust_one == "c").collect();
    ask_by(asker, cql, &two, &found)?;
    let three = by(
        "by three parts of the key",
        "Three parts given: the partition and the first two clustering columns",
        "k_part_one = 'green' AND k_part_two = 7 AND k_clust_one = 'c' AND k_clust_two = 4",
        "a shorter stretch",
    );
    let found: Vec<&Row> = own().filter(|row| row.clust_one == "c" && row.clust_two == 4).collect();
    ask_by(asker, cql, &three, &found)
}

/// Asks questions that are refused, each beside a view whose key begins with the given columns.
fn not_prefixes(asker: &mut Asker, cql: &mut Cql, rows: &[Row]) -> anyhow::Result<()> {
    let green = || rows.iter().filter(|row| row.part_one == "green");
    let fours = || rows.iter().filter(in_partition).filter(|row| row.clust_two == 4);
    let late = || fours().filter(|row| row.clust_one > "b");
    let half = "k_part_one = 'green'";
    let second = "k_part_one = 'green' AND k_part_two = 7 AND k_clust_two = 4";
    let behind =
        "k_part_one = 'green' AND k_part_two = 7 AND k_clust_one > 'b' AND k_clust_two = 4";
    for (pattern, question, restrictions, view, note, found) in [
        (
            "by half of the partition key",
            "Only the first of the two partition columns given",
            half,
            "by_part_one",
            "half a partition key names no partition",
            green().collect::<Vec<_>>(),
        ),
        (
            "by the second without the first",
            "The second clustering column given, the first one not",
            second,
            "by_clust_two",
            "the rows lie apart, some behind each first column",
            fours().collect(),
        ),
        (
            "behind a range",
            "A range of the first clustering column, and the second one given",
            behind,
            "by_clust_two",
            "after a range nothing further is sorted",
            late().collect(),
        ),
    ] {
        let published = Plan::Published;
        let by =
            By { pattern, plan: published, question, table: "stackoverflow", restrictions, note };
        ask_by(asker, cql, &by, &found)?;
        let note = "a view whose key begins with what is given: one contiguous range";
        let by = By { pattern, plan: Plan::Right, question, table: view, restrictions, note };
        ask_by(asker, cql, &by, &found)?;
    }
    Ok(())
}

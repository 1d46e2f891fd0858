//! The directory by unit, by name in a building, and by name alone.

use super::data::{BUILDING, Directory, Entry, UNIT};
use crate::tour::asker::{Answer, Asker, Question};
use crate::tour::cql::Cql;
use crate::tour::outcome::Plan;

/// The document's three tables, with the keys that it names.
const PUBLISHED: &str = "phonebook_published";
/// The same, with keys that hold everybody.
const RIGHT: &str = "phonebook";

/// The tables, their keys as published, and the keys that keep people apart.
const TABLES: [(&str, &str, &str); 3] = [
    ("by_unit", "(building), unit", "(building), unit, name, person"),
    ("by_name", "(building), name", "(building), name, person"),
    ("by_person", "(name)", "(name), building, person"),
];

/// Creates and fills the tables of both designs.
pub(super) fn create(cql: &mut Cql, directory: &Directory) -> anyhow::Result<()> {
    for keyspace in [PUBLISHED, RIGHT] {
        cql.keyspace(keyspace)?;
        for (table, published, right) in TABLES {
            let key = if keyspace == PUBLISHED { published } else { right };
            cql.must(&format!(
                "CREATE TABLE {keyspace}.{table} (building text, unit text, name text, \
                 person int, phone text, PRIMARY KEY ({key}))"
            ))?;
        }
    }
    let mut statements = Vec::new();
    for entry in &directory.entries {
        for keyspace in [PUBLISHED, RIGHT] {
            statements.extend(TABLES.iter().map(|(table, ..)| insert(keyspace, table, entry)));
        }
    }
    cql.load(&statements)
}

fn insert(keyspace: &str, table: &str, entry: &Entry) -> String {
    let Entry { person, name, building, unit, phone } = entry;
    format!(
        "INSERT INTO {keyspace}.{table} (building, unit, name, person, phone) \
         VALUES ('{building}', '{unit}', '{name}', {person}, '{phone}')"
    )
}

fn row(entry: &&Entry) -> String {
    format!("{} | {} | {}", entry.building, entry.name, entry.phone)
}

fn select(keyspace: &str, table: &str, restrictions: &str) -> String {
    format!("SELECT building, name, phone FROM {keyspace}.{table} WHERE {restrictions}")
}

pub(super) fn ask(asker: &mut Asker, cql: &mut Cql, directory: &Directory) -> anyhow::Result<()> {
    by_unit(asker, cql, directory)?;
    by_name(asker, cql, directory)?;
    by_name_alone(asker, cql, directory)
}

fn by_unit(asker: &mut Asker, cql: &mut Cql, directory: &Directory) -> anyhow::Result<()> {
    let here = |entry: &Entry| entry.building == BUILDING && entry.unit == UNIT;
    let expected: Vec<String> =
        directory.sorted(here, |entry| (&entry.name, entry.person)).iter().map(row).collect();
    for (plan, keyspace, note) in [
        (
            Plan::Published,
            PUBLISHED,
            "the key ends at the unit: a unit has one row, and everybody's number but the last \
             is gone",
        ),
        (Plan::Right, RIGHT, "name and person in the key: one row for each, sorted by name"),
    ] {
        let question = Question {
            pattern: "phones of a unit",
            plan,
            question: format!("The phones of the unit {UNIT} in {BUILDING}"),
            range: format!("building = {BUILDING}, unit = {UNIT}"),
            note,
        };
        asker.ask(question, &expected, || {
            let place = format!("building = '{BUILDING}' AND unit = '{UNIT}'");
            cql.read(&select(keyspace, "by_unit", &place))
        })?;
    }
    Ok(())
}

fn by_name(asker: &mut Asker, cql: &mut Cql, directory: &Directory) -> anyhow::Result<()> {
    let here = |entry: &Entry| entry.building == BUILDING;
    let expected: Vec<String> =
        directory.sorted(here, |entry| (&entry.name, entry.person)).iter().map(row).collect();
    for (plan, keyspace, note) in [
        (Plan::Published, PUBLISHED, "the key ends at the name: of namesakes one is left"),
        (Plan::Right, RIGHT, "the person behind the name keeps namesakes apart"),
    ] {
        let question = Question {
            pattern: "phones of a building by name",
            plan,
            question: format!("The phones in {BUILDING}, by name"),
            range: format!("building = {BUILDING}"),
            note,
        };
        asker.ask(question, &expected, || {
            cql.read(&select(keyspace, "by_name", &format!("building = '{BUILDING}'")))
        })?;
    }
    Ok(())
}

fn by_name_alone(asker: &mut Asker, cql: &mut Cql, directory: &Directory) -> anyhow::Result<()> {
    let name = directory.namesake();
    let expected: Vec<String> = directory
        .sorted(|entry| entry.name == name, |entry| (&entry.building, entry.person))
        .iter()
        .map(row)
        .collect();
    for (plan, keyspace, table, more, note) in [
        (Plan::Published, PUBLISHED, "by_name", "", "the partition key is the building"),
        (
            Plan::Published,
            RIGHT,
            "by_name",
            " ALLOW FILTERING",
            "allowed to filter: right, and reads the whole directory",
        ),
        (
            Plan::Published,
            PUBLISHED,
            "by_person",
            "",
            "the document's third table, whose key is the name alone: of namesakes one is left",
        ),
        (Plan::Right, RIGHT, "by_person", "", "the name is the partition, its bearers are rows"),
    ] {
        let question = Question {
            pattern: "phone of a name",
            plan,
            question: format!("The phones of everybody called {name}, in whatever building"),
            range: format!("name = {name}{}", if more.is_empty() { "" } else { ", all rows" }),
            note,
        };
        asker.ask(question, &expected, || {
            let place = format!("name = '{name}'{more}");
            let Answer { mut values, rows, touched, refusal } =
                cql.read(&select(keyspace, table, &place))?;
            // A scan answers building by building in the order of their tokens, which nobody asked
            // for; within a building the order is the table's.
            values.sort_by(|a, b| a.split(" | ").next().cmp(&b.split(" | ").next()));
            Ok(Answer { values, rows, touched, refusal })
        })?;
    }
    Ok(())
}

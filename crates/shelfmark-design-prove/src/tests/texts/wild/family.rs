//! Row families: keys of columns or of texts, sparse or not, with what they store and an index.
//!
//! Invariant: what is counted or collected refers to the row's source once.

use super::condition::{of_index, when};
use super::key::{self, Column, Piece};
use super::path;
use super::read::Read;
use super::relation::Relation;
use super::{Random, chance, word};

/// A family or an index, as plans name it.
pub(super) struct Family {
    pub(super) table: String,
    pub(super) of: usize,
    /// Partition columns, then sort columns; of an index its own, then those of its rows.
    pub(super) columns: Vec<Column>,
    pub(super) partition: usize,
    /// True if keys are two texts.
    pub(super) is_text: bool,
}

impl Family {
    /// Returns true if rows are found by the first key of what they stem from.
    pub(super) fn is_base(&self, relations: &[Relation]) -> bool {
        let relation = &relations[self.of];
        let names = self.columns.iter().flat_map(|column| &column.pieces);
        let mut holes = names.filter_map(|piece| match piece {
            Piece::Hole(hole) => Some(hole.path.name.as_str()),
            Piece::Literal(_) => None,
        });
        holes.all(|name| relation.key().iter().any(|at| relation.attributes[*at].name == name))
    }
}

/// Returns a table with the relation's own key that stores all.
pub(super) fn base(relations: &[Relation], of: usize, number: usize) -> (String, Family) {
    let relation = &relations[of];
    let parts = relation
        .key()
        .iter()
        .map(|at| key::Part { path: path::Path::of(relation, *at), desc: false });
    let columns = key::plain(parts);
    let table = format!("t{number}");
    let text =
        format!("  table {table} from {} key {} store all\n", relation.name, tuple(&columns, 1));
    (text, Family { table, of, columns, partition: 1, is_text: false })
}

/// Returns a table of one row type, whose key has columns, and sometimes an index of it.
pub(super) fn typed(
    relations: &[Relation],
    (of, aim): (usize, Option<&Read>),
    target: &str,
    (number, sparse): (usize, bool),
    random: &mut Random,
) -> (String, Vec<Family>) {
    let complete = !chance(random, 1, 12);
    let parts = key::parts(relations, of, aim, complete, random);
    let count = parts.len();
    let partition = match target {
        "ordered" => 0,
        "dynamodb" => 1,
        _ if chance(random, 3, 4) => 1 + random.below(2).min(count - 1),
        _ => count,
    };
    let may_descend = target != "dynamodb";
    let columns = key::typed(parts, may_descend, random);
    let table = format!("t{number}");
    let mut text = format!(
        "  table {table} from {}{} key {} {}",
        relations[of].name,
        when(relations, of, random),
        tuple(&columns, partition),
        store(relations, of, random)
    );
    let mut families = Vec::new();
    if chance(random, if sparse { 3 } else { 1 }, 4) {
        let parts = key::parts(relations, of, aim, false, random);
        let own = key::typed(parts, may_descend, random);
        let partition = usize::from(target != "ordered");
        let when = if sparse { of_index(relations, (of, aim), random) } else { String::new() };
        text.push_str(&format!("\n    index i{number}{when} key {}", tuple(&own, partition)));
        if chance(random, 1, 4) {
            text.push_str(&format!(" {}", store(relations, of, random)));
        }
        let table = format!("i{number}");
        families.push(Family { table, of, columns: own, partition, is_text: false });
    }
    families.push(Family { table, of, columns, partition, is_text: false });
    (text + "\n", families)
}

/// Returns a table of one to three row types, whose keys are two texts.
pub(super) fn textual(
    relations: &[Relation],
    wanted: &[(usize, Option<&Read>)],
    (number, local, sparse): (usize, bool, bool),
    random: &mut Random,
) -> (String, Vec<Family>) {
    let table = format!("t{number}");
    let mut out = format!("  table {table} {{\n    pk text  sk text\n");
    let mut families = Vec::new();
    let tag = tag(random);
    for (row, (of, aim)) in wanted.iter().enumerate() {
        let columns = texts(relations, (*of, *aim), tag, true, random);
        out.push_str(&format!(
            "    row R{number}{row} from {}{} {} {}\n",
            relations[*of].name,
            when(relations, *of, random),
            both(&columns),
            store(relations, *of, random)
        ));
        let partition = key::template(&columns[0]);
        let family =
            |table, columns| Family { table, of: *of, columns, partition: 1, is_text: true };
        families.push(family(table.clone(), columns));
        let when = |random: &mut Random| match sparse {
            true => of_index(relations, (*of, *aim), random),
            false => String::new(),
        };
        if chance(random, if sparse { 3 } else { 1 }, 5) {
            let columns = texts(relations, (*of, *aim), tag, false, random);
            let when = when(random);
            out.push_str(&format!("      index i{number}{row}{when} {}\n", both(&columns)));
            families.push(family(format!("i{number}{row}"), columns));
        }
        if local && chance(random, 1, 3) {
            let columns = texts(relations, (*of, *aim), tag, false, random);
            let sort = key::template(&columns[1]);
            let when = when(random);
            out.push_str(&format!(
                "      index l{number}{row} local{when} pk \"{partition}\" sk \"{sort}\"\n"
            ));
        }
    }
    (out + "  }\n", families)
}

/// Returns the two texts of a key. Row types of one table often share how the first one begins.
fn texts(
    relations: &[Relation],
    (of, aim): (usize, Option<&Read>),
    shared: &'static str,
    complete: bool,
    random: &mut Random,
) -> Vec<Column> {
    let complete = complete && !chance(random, 1, 12);
    let mut parts = key::parts(relations, of, aim, complete, random);
    let at = if chance(random, 3, 4) { 1 } else { random.below(parts.len() + 1) };
    let sort = parts.split_off(at.min(parts.len()));
    let first = if chance(random, 2, 3) { shared } else { tag(random) };
    let second = tag(random);
    vec![key::glued(first, parts, random), key::glued(second, sort, random)]
}

/// Returns rows some of which follow what they stem from.
pub(super) fn late(text: &str, random: &mut Random) -> String {
    let line = |line: &str| {
        let rows = line.starts_with("    row ") || line.starts_with("  table ") && line.len() > 12;
        let late = if rows && !line.ends_with('{') && chance(random, 1, 6) {
            word(random, &[" follows 1s", " follows 30s"])
        } else {
            ""
        };
        format!("{line}{late}\n")
    };
    text.lines().map(line).collect()
}

/// Returns an index that lies beside the rows of a table, whose partition has one column.
pub(super) fn local(
    relations: &[Relation],
    table: Option<&Family>,
    number: usize,
    random: &mut Random,
) -> (String, Option<Family>) {
    let beside = |one: &&Family| one.partition == 1 && one.columns.len() > 1 && !one.is_text;
    let part = key::Part {
        path: path::path(relations, table.map_or(0, |one| one.of), false, random),
        desc: false,
    };
    let Some(base) = table.filter(beside).filter(|_| chance(random, 1, 2)) else {
        return (String::new(), None);
    };
    let [Piece::Hole(hole)] = base.columns[0].pieces.as_slice() else {
        return (String::new(), None);
    };
    if hole.path.name == part.path.name {
        return (String::new(), None);
    }
    let mut columns = vec![Column { pieces: vec![Piece::Hole(hole.clone())], desc: false }];
    columns.extend(key::plain(std::iter::once(part)));
    let table = format!("l{number}");
    let text = format!("    index {table} local key {}\n", tuple(&columns, 1));
    (text, Some(Family { table, of: base.of, columns, partition: 1, is_text: false }))
}

fn tag(random: &mut Random) -> &'static str {
    word(random, &["", "a#", "b#", "ab#", "c#", "a", "#", "~", "é", "a|", "$", " "])
}

fn both(columns: &[Column]) -> String {
    let texts: Vec<String> = columns.iter().map(key::template).collect();
    format!("pk \"{}\" sk \"{}\"", texts[0], texts[1])
}

/// `(a; b desc)`; without a partition `(a, b)`, as tables that are ordered as a whole have it.
fn tuple(columns: &[Column], partition: usize) -> String {
    let names: Vec<String> = columns
        .iter()
        .map(|column| {
            let name: String = column
                .pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Literal(text) => (*text).to_owned(),
                    Piece::Hole(hole) => hole.of(&hole.path.name),
                })
                .collect();
            if column.desc { format!("{name} desc") } else { name }
        })
        .collect();
    if partition == 0 {
        return format!("({})", names.join(", "));
    }
    let (first, rest) = names.split_at(partition.min(names.len()));
    format!("({}; {})", first.join(", "), rest.join(", "))
}

fn store(relations: &[Relation], of: usize, random: &mut Random) -> String {
    match random.below(6) {
        0..=2 => "store all".to_owned(),
        3 => String::new(),
        _ => {
            let mut items: Vec<String> = Vec::new();
            for _ in 0..=random.below(3) {
                let name = path::path(relations, of, true, random).name;
                if !items.contains(&name) {
                    items.push(name);
                }
            }
            items.extend(relations[of].tallies.iter().filter(|_| chance(random, 4, 5)).cloned());
            items.extend(kept(relations, of, random));
            format!("store {{ {} }}", items.join(", "))
        }
    }
}

/// Returns a count of what refers to the row's source, or a list of its values.
fn kept(relations: &[Relation], of: usize, random: &mut Random) -> Option<String> {
    let once = |one: &&Relation| {
        one.attributes.iter().filter(|attribute| attribute.refers == Some(of)).count() == 1
    };
    let referring: Vec<&Relation> = relations.iter().filter(once).collect();
    let relation = random.pick(&referring).filter(|_| chance(random, 1, 2))?;
    if chance(random, 1, 2) {
        return Some(format!("count {} as cnt", relation.name));
    }
    let attribute = &relation.attributes[random.below(relation.attributes.len())];
    Some(format!("collect {}.{} as lst", relation.name, attribute.name))
}

//! Tables with keys and references, and their entities.
//!
//! A table is an entity; a foreign key of one column is a reference to another one; a secondary
//! index is a read that is asked about. How rows lie is not said: `design plan` derives it.
//!
//! What it is not: a parser. SQL and Prisma schemas are given as the same tables.

use crate::draft::{Attribute, Draft, Entity};
use crate::names::{Names, camel, comment};
use shelfmark_design_language::syntax::print::quote;

/// A table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) key: Vec<String>,
    pub(crate) uniques: Vec<Vec<String>>,
    pub(crate) indexes: Vec<Vec<String>>,
    pub(crate) references: Vec<Reference>,
    pub(crate) asks: Vec<String>,
}

/// A column and its type in the model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) optional: bool,
    pub(crate) remarks: Vec<String>,
}

/// A foreign key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reference {
    pub(crate) columns: Vec<String>,
    pub(crate) table: String,
}

/// A table with its names in the model.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) table: Table,
    pub(crate) entity: String,
    pub(crate) names: Names,
}

impl Table {
    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Returns the table that a column alone refers to.
    pub(crate) fn refers(&self, column: &str) -> Option<&str> {
        let own = |one: &&Reference| matches!(one.columns.as_slice(), [only] if only == column);
        self.references.iter().find(own).map(|one| one.table.as_str())
    }
}

/// Adds the entities of tables to a draft; returns the tables with their names.
pub(crate) fn write(draft: &mut Draft, tables: Vec<Table>) -> Vec<Named> {
    let mut entities = Names::default();
    let mut named: Vec<Named> = tables
        .into_iter()
        .map(|table| {
            let entity = entities.fresh(&camel(&singular(&table.name)));
            let mut names = Names::default();
            for column in &table.columns {
                names.of(&column.name);
            }
            Named { table, entity, names }
        })
        .collect();
    for one in &mut named {
        keyed(&mut one.table);
    }
    for one in &named {
        let entity = entity(one, &named);
        draft.entities.push(entity);
    }
    named
}

/// Gives a table without a key one: a unique set, or all columns that are always there.
fn keyed(table: &mut Table) {
    let always = |name: &String| table.column(name).is_some_and(|column| !column.optional);
    if !table.key.is_empty() {
        return;
    }
    let unique = table.uniques.iter().find(|names| names.iter().all(always)).cloned();
    let all = || table.columns.iter().filter(|one| !one.optional && one.ty != "bytes");
    let key: Vec<String> = unique.unwrap_or_else(|| all().map(|one| one.name.clone()).collect());
    let key = if key.is_empty() {
        table.columns.iter().take(1).map(|one| one.name.clone()).collect()
    } else {
        key
    };
    table.asks.push(format!("? It has no primary key; {} is taken: is it one?", key.join(", ")));
    table.key = key;
}

/// Returns the table's word in the singular: `categories` as `category`, `OrderItems` as `OrderItem`.
fn singular(name: &str) -> String {
    // Capitals part words, unless all are.
    let mixed = name.chars().any(char::is_lowercase);
    let name = if mixed { name.to_owned() } else { name.to_lowercase() };
    match (name.strip_suffix("ies"), name.strip_suffix("ses"), name.strip_suffix('s')) {
        (Some(head), _, _) if head.len() > 1 => format!("{head}y"),
        (_, Some(head), _) if head.len() > 1 => format!("{head}s"),
        (_, _, Some(head)) if head.len() > 2 && !head.ends_with(['s', 'u']) => head.to_owned(),
        _ => name,
    }
}

fn entity(one: &Named, all: &[Named]) -> Entity {
    let table = &one.table;
    let mut found = Entity { name: one.entity.clone(), ..Entity::default() };
    for column in &table.columns {
        let name = one.names.known(&column.name);
        let in_key = table.key.contains(&column.name);
        let mut remarks = column.remarks.clone();
        if name != column.name {
            remarks.push(format!("called {:?} there", comment(&column.name)));
        }
        let referred = table.refers(&column.name).and_then(|to| {
            let to = all.iter().find(|other| other.table.name.eq_ignore_ascii_case(to))?;
            let alone = to.table.key.len() == 1;
            let circle = in_key && leads_to(to, &one.table.name, all, 0);
            (alone && !circle).then_some(to)
        });
        let mut ty = referred.map_or_else(|| column.ty.clone(), |to| to.entity.clone());
        if in_key && ty == "text" {
            ty = "text(min 1)".to_owned();
        }
        if in_key && ty == "bytes" {
            ty = "bytes(min 1)".to_owned();
        }
        let optional = column.optional && !in_key;
        found.attributes.push(Attribute { name, ty, optional, facts: Vec::new(), remarks });
    }
    let name_all = |names: &[String]| -> Vec<String> {
        names
            .iter()
            .filter(|name| table.column(name).is_some())
            .map(|name| one.names.known(name))
            .collect()
    };
    found.key = name_all(&table.key);
    for unique in &table.uniques {
        let names = name_all(unique);
        if names.len() == unique.len() && *unique != table.key {
            found.members.push(format!("unique ({})", names.join(", ")));
        }
    }
    for reference in table.references.iter().filter(|one| one.columns.len() > 1) {
        let names = name_all(&reference.columns).join(", ");
        found.asks.push(format!(
            "? ({names}) refers to {} there, whose key they are: is it one attribute of that type?",
            comment(&reference.table)
        ));
    }
    let referring = table.references.iter().filter(|one| one.columns.len() == 1);
    let fans: Vec<String> = referring.flat_map(|one| name_all(&one.columns)).collect();
    for name in fans.iter().filter(|name| found.key.len() != 1 || !found.key.contains(name)) {
        found
            .asks
            .push(format!("? How many have one {name}?  fanout {name} avg 10 p99 100 max 1k"));
    }
    for index in &table.indexes {
        let names = name_all(index).join(", ");
        found.asks.push(format!("? There is an index on {names}: for which read?"));
    }
    found.asks.extend(table.asks.iter().cloned());
    found
        .asks
        .push("? How many are there, and how do they grow?  count 1M growth 2%/mo".to_owned());
    found
}

/// Returns true if the key of a table leads, by references in keys, to another table.
fn leads_to(from: &Named, name: &str, all: &[Named], depth: usize) -> bool {
    if from.table.name.eq_ignore_ascii_case(name) || depth > 8 {
        return true;
    }
    from.table.key.iter().filter_map(|column| from.table.refers(column)).any(|to| {
        let to = all.iter().find(|other| other.table.name.eq_ignore_ascii_case(to));
        to.is_some_and(|to| leads_to(to, name, all, depth + 1))
    })
}

/// Returns an enum of words.
pub(crate) fn words(found: &[String]) -> String {
    let found: Vec<String> = found.iter().map(|word| quote(word)).collect();
    format!("enum({})", found.join(", "))
}

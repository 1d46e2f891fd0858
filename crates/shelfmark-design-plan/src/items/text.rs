//! Writes chosen rows as the text of a schema.
//!
//! What it is not: no plans; `serve` writes those of reads, and the prover derives those of writes.
//!
//! Invariant: the texts of two row types in one table begin differently, or in their tags.

use super::pack::{Form, Layout, Placed};
use super::ways::Place;
use crate::families::text::{EVERYTHING, guard};
use crate::families::text_keys::{DELIMITER, hole};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Type};
use shelfmark_design_language::syntax::print::quote;

/// The sort key of a row that is alone under its partition key.
pub(crate) const ALONE: &str = "0";

/// Returns the attribute whose hash spreads a key's rows over its shards.
pub(crate) fn spreading(model: &Model, placed: &Placed) -> ColumnPath {
    let key = &placed.rows.key;
    let primary = model.relation(placed.rows.relation).key().iter().map(|column| vec![*column]);
    let free = |path: &ColumnPath| !key.partition.contains(path);
    let mut all = primary.filter(free);
    all.next_back().or_else(|| key.sort.last().cloned()).unwrap_or_default()
}

/// Returns the beginning of a sort key's text: its tag, or what keeps it from being empty.
pub(crate) fn lead(model: &Model, placed: &Placed) -> String {
    let key = &placed.rows.key;
    let end = if key.sort.is_empty() { "" } else { "#" };
    let tagged = key.tag.as_ref().map(|tag| format!("{}{end}", tag.text));
    if placed.form == Form::Direct {
        return match tagged {
            Some(tagged) => format!("{}{DELIMITER}{tagged}", placed.head),
            None => format!("{}{end}", placed.head),
        };
    }
    if let Some(tagged) = tagged {
        return tagged;
    }
    let may_be_empty = |ty: &Type| match ty {
        Type::Text(domain) => domain.min == 0,
        Type::Enum(words) => words.iter().any(String::is_empty),
        _ => false,
    };
    match key.sort.as_slice() {
        [] if placed.sorted => ALONE.to_owned(),
        [only] if may_be_empty(&model.path_type(placed.rows.relation, only)) => {
            DELIMITER.to_string()
        }
        _ => String::new(),
    }
}

/// Returns the key of rows as a schema writes it.
fn key(model: &Model, placed: &Placed) -> String {
    let relation = placed.rows.relation;
    let parts = &placed.rows.key;
    let name = |path: &ColumnPath| model.path_text(relation, path);
    let bucket = (parts.shards > 1)
        .then(|| format!("bucket(hash({}), {})", name(&spreading(model, placed)), parts.shards));
    if placed.form == Form::Typed {
        let mut partition: Vec<String> = parts.partition.iter().map(name).collect();
        partition.extend(bucket);
        if partition.is_empty() {
            partition.push(format!("{EVERYTHING:?}"));
        }
        let sort: Vec<String> = parts.sort.iter().map(name).collect();
        return format!("key ({}; {})", partition.join(", "), sort.join(", "));
    }
    let text = |path: &ColumnPath| hole(model, relation, path, &name(path));
    let mut pk = vec![placed.head.clone()];
    pk.extend(parts.partition.iter().map(text));
    pk.extend(bucket.map(|bucket| format!("<{bucket}>")));
    let pk = pk.join(&DELIMITER.to_string());
    if placed.form == Form::Sorted {
        let sort: Vec<String> = parts.sort.iter().map(name).collect();
        return format!("key ({}; {})", quote(&pk), sort.join(", "));
    }
    let sort: Vec<String> = parts.sort.iter().map(text).collect();
    let sk = format!("{}{}", lead(model, placed), sort.join(&DELIMITER.to_string()));
    if placed.form == Form::Direct {
        let partition: Vec<String> = parts.partition.iter().map(name).collect();
        return format!("key ({}; {})", partition.join(", "), quote(&sk));
    }
    if sk.is_empty() {
        return format!("pk {}", quote(&pk));
    }
    format!("pk {} sk {}", quote(&pk), quote(&sk))
}

/// Returns the tables of a layout; a row that keeps a count says so.
pub(crate) fn tables(model: &Model, layout: &Layout, counts: &[(RelationId, String)]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for one in layout.placed.iter().filter(|one| !one.rows.place.is_entry()) {
        if !names.contains(&one.table.as_str()) {
            names.push(&one.table);
        }
    }
    let mut out = String::new();
    for name in names {
        let rows: Vec<&Placed> = layout
            .placed
            .iter()
            .filter(|one| !one.rows.place.is_entry() && one.table == name)
            .collect();
        let alone = rows.len() == 1 && rows.first().is_some_and(|one| one.name == name);
        if let (true, Some(one)) = (alone, rows.first()) {
            out.push_str(&format!("  table {name} {}\n", row(model, layout, one, counts)));
            continue;
        }
        let texts = rows.iter().all(|one| one.form == Form::Text);
        let columns = if texts { "    pk text  sk text\n" } else { "" };
        out.push_str(&format!("  table {name} {{\n{columns}"));
        for one in rows {
            let text = row(model, layout, one, counts);
            out.push_str(&format!("    row {} {text}\n", one.name));
        }
        out.push_str("  }\n");
    }
    out
}

/// Returns the rows of one type, with their indexes.
fn row(model: &Model, layout: &Layout, one: &Placed, counts: &[(RelationId, String)]) -> String {
    let relation = one.rows.relation;
    let mut out = format!("from {}{}", model.relation(relation).name.text, when(model, one));
    out.push_str(&format!(" {}{}", key(model, one), store(model, layout, one, counts)));
    if one.rows.place == Place::Base {
        let entries = layout
            .placed
            .iter()
            .filter(|entry| entry.rows.place.is_entry() && entry.rows.relation == relation);
        for entry in entries {
            let shown: Vec<String> =
                entry.rows.shown.iter().map(|path| model.path_text(relation, path)).collect();
            let local = if entry.rows.place == Place::Local { " local" } else { "" };
            // Without a list it shows all that the row holds.
            let store = match entry.whole {
                true => String::new(),
                false => format!(" store {{ {} }}", shown.join(", ")),
            };
            out.push_str(&format!(
                " index {}{local}{} {}{store}",
                entry.name,
                when(model, entry),
                key(model, entry),
            ));
        }
    }
    out
}

/// Returns the conditions that rows or entries are only there under.
fn when(model: &Model, one: &Placed) -> String {
    guard(model, one.rows.relation, &one.rows.when)
}

/// Returns the attributes that rows hold beside their key.
fn store(model: &Model, layout: &Layout, one: &Placed, counts: &[(RelationId, String)]) -> String {
    let relation = one.rows.relation;
    let mut items: Vec<String> = Vec::new();
    if one.rows.place == Place::Base {
        let copied: Vec<&ColumnPath> =
            layout.copied.iter().filter(|(of, _)| *of == relation).map(|(_, path)| path).collect();
        let mut kept: Vec<&String> = Vec::new();
        for (_, one) in counts.iter().filter(|(parent, _)| *parent == relation) {
            if !kept.contains(&one) {
                kept.push(one);
            }
        }
        if copied.is_empty() && kept.is_empty() {
            return " store all".to_owned();
        }
        let held = one.rows.key.paths();
        let columns = model.relation(relation).columns.len();
        let own = (0..columns).map(|column| vec![column]).filter(|path| !held.contains(path));
        items.extend(own.map(|path| model.path_text(relation, &path)));
        items.extend(copied.iter().map(|path| model.path_text(relation, path)));
        items.extend(kept.into_iter().cloned());
    } else {
        let held = one.rows.key.paths();
        let beside = one.rows.shown.iter().filter(|path| !held.contains(*path));
        items.extend(beside.map(|path| model.path_text(relation, path)));
    }
    if items.is_empty() { String::new() } else { format!(" store {{ {} }}", items.join(", ")) }
}

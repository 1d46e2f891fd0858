//! Writes the shape of a statement as a read or a write of the model.

use super::shape::{Change, Condition, Shape};
use crate::names::Names;
use crate::relational::Named;
use shelfmark_design_language::syntax::print::quote;

/// The remark on an insert that changes a row that is there.
const KEEPS: &str = "? A row that is there keeps what this does not set (ON CONFLICT, ON DUPLICATE KEY); \
                     here it is replaced: is an update meant?";

/// Returns the text of a pattern, and remarks above it.
pub(super) fn pattern(shape: &Shape, tables: &[Named], names: &mut Names) -> (String, Vec<String>) {
    match shape {
        Shape::Read { .. } => read(shape, tables, names),
        Shape::Insert { table, columns, existing, keeps } => {
            let Some(one) = tables.get(*table) else { return Default::default() };
            let (text, mut remarks) = insert(one, columns, existing, names);
            if *keeps {
                remarks.push(KEEPS.to_owned());
            }
            (text, remarks)
        }
        Shape::Update { table, set, known, asked } => {
            let Some(one) = tables.get(*table) else { return Default::default() };
            (update(one, set, known, asked, names), Vec::new())
        }
        Shape::Delete { table, known, asked } => {
            let Some(one) = tables.get(*table) else { return Default::default() };
            let name = names.fresh(&format!("delete_{}", one.table.name.to_lowercase()));
            let (mut params, key) = keys(one, known);
            let condition = asking(one, asked, Vec::new(), &mut params);
            let params = params.join(", ");
            (
                format!("write {name}({params}) = delete {}({key}){condition}", one.entity),
                Vec::new(),
            )
        }
    }
}

/// Returns the inputs for a key, and the key of an effect.
fn keys(one: &Named, known: &[String]) -> (Vec<String>, String) {
    let own: Vec<String> = known.iter().map(|name| one.names.known(name)).collect();
    let pairs: Vec<String> = own.iter().map(|name| format!("{name} {name}")).collect();
    (own, pairs.join(", "))
}

/// Returns the condition of a change, of parts that are written already and others, and adds its inputs.
fn asking(
    one: &Named,
    asked: &[Condition],
    mut parts: Vec<String>,
    params: &mut Vec<String>,
) -> String {
    for ask in asked {
        let column = one.names.known(&ask.column);
        parts.push(match ask.operator {
            "is present" | "is absent" => format!("{column} {}", ask.operator),
            operator => {
                let wanted = if params.contains(&column) {
                    format!("{column}_asked")
                } else {
                    column.clone()
                };
                format!("{column} {operator} {}", input(wanted, params))
            }
        });
    }
    if parts.is_empty() { String::new() } else { format!(" if {}", parts.join(", ")) }
}

/// Adds an input; returns its name, which no other input has.
fn input(wanted: String, params: &mut Vec<String>) -> String {
    let mut name = wanted.clone();
    let mut number = 2;
    while params.contains(&name) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    params.push(name.clone());
    name
}

fn read(shape: &Shape, tables: &[Named], names: &mut Names) -> (String, Vec<String>) {
    let Shape::Read { table, with, shown, distinct, aggregate, conditions, order, limit, offset } =
        shape
    else {
        return Default::default();
    };
    let Some(one) = tables.get(*table) else { return Default::default() };
    let path = |at: usize, column: &str| -> String {
        let own = tables.get(at).map_or_else(|| column.to_owned(), |one| one.names.known(column));
        match with.iter().find(|(_, to)| *to == at).filter(|_| at != *table) {
            // The key of the other table stands in this one.
            Some((by, to)) if tables.get(*to).is_some_and(|to| to.table.key == [column]) => {
                one.names.known(by)
            }
            Some((by, _)) => format!("{}.{own}", one.names.known(by)),
            None => own,
        }
    };
    let mut params: Vec<String> = Vec::new();
    let mut parts: Vec<String> = Vec::new();
    for one in conditions {
        let path = path(one.table, &one.column);
        parts.push(condition(one, &path, &mut params));
    }
    let fixed = |column: &String| {
        conditions
            .iter()
            .any(|one| one.table == *table && one.column == *column && one.operator == "=")
    };
    let unique = one.table.key.iter().all(fixed)
        || one.table.uniques.iter().any(|names| !names.is_empty() && names.iter().all(fixed));
    let mut title = one.table.name.to_lowercase();
    for condition in conditions.iter().take(3) {
        title.push_str(&format!("_by_{}", condition.column.to_lowercase()));
    }
    let tail = match (aggregate, unique) {
        (Some(_), _) => String::new(),
        (None, true) => " unique".to_owned(),
        (None, false) => ordered(one, order, limit.as_deref(), *offset, &mut params),
    };
    let select = selected(shown, *table, tables, with, &path);
    let select = match *distinct && !unique {
        true => select.replacen(" select ", " select distinct ", 1),
        false => select,
    };
    let aggregate = match aggregate.as_deref().and_then(|one| one.split_once(' ')) {
        Some((word, column)) => format!("{word} {} of ", one.names.known(column)),
        None if aggregate.is_some() => "count of ".to_owned(),
        None => String::new(),
    };
    let clauses =
        if parts.is_empty() { String::new() } else { format!(" where {}", parts.join(" and ")) };
    let inputs = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    let name = names.fresh(&format!("read_{title}"));
    let text = format!("read {name}{inputs} = {aggregate}{}{select}{clauses}{tail}", one.entity);
    (text, Vec::new())
}

/// Returns the order and the limit of a list, and adds their inputs.
fn ordered(
    one: &Named,
    order: &[(String, bool)],
    limit: Option<&str>,
    offset: bool,
    params: &mut Vec<String>,
) -> String {
    let mut tail = String::new();
    let orders: Vec<String> = order
        .iter()
        .map(|(column, desc)| {
            format!("{}{}", one.names.known(column), if *desc { " desc" } else { "" })
        })
        .collect();
    if !orders.is_empty() {
        tail.push_str(&format!(" order by {}", orders.join(", ")));
    }
    if let Some(limit) = limit {
        tail.push_str(&format!(" limit {limit}"));
        if limit == "n" {
            params.push("n".to_owned());
        }
    }
    if offset {
        tail.push_str(" offset skipped");
        params.push("skipped".to_owned());
    }
    tail
}

/// Returns what of the other tables is read with the rows, and the columns shown.
fn selected(
    shown: &[(usize, String)],
    table: usize,
    tables: &[Named],
    with: &[(String, usize)],
    path: &dyn Fn(usize, &str) -> String,
) -> String {
    let is_key =
        |at: usize, column: &str| tables.get(at).is_some_and(|one| one.table.key == [column]);
    let mut own: Vec<String> = Vec::new();
    if shown.iter().any(|(at, _)| *at == table) {
        // The key of another table stands in this one.
        for (at, column) in shown.iter().filter(|(at, column)| *at == table || is_key(*at, column))
        {
            let name = path(*at, column);
            if !own.contains(&name) {
                own.push(name);
            }
        }
    }
    let others: Vec<String> = shown
        .iter()
        .filter(|(at, _)| *at != table && with.iter().any(|(_, to)| to == at))
        .filter_map(|(at, column)| {
            let one = tables.get(*at)?;
            (one.table.key != [column.as_str()])
                .then(|| format!("{}.{}", one.entity, one.names.known(column)))
        })
        .collect();
    let with =
        if others.is_empty() { String::new() } else { format!(" with {}", others.join(", ")) };
    let select = if own.is_empty() { String::new() } else { format!(" select {}", own.join(", ")) };
    format!("{with}{select}")
}

fn condition(one: &Condition, path: &str, params: &mut Vec<String>) -> String {
    let plain = path.replace('.', "_");
    let mut input = |wanted: String| input(wanted, params);
    match one.operator {
        "is present" | "is absent" => format!("{path} {}", one.operator),
        "in" => format!("{path} in {} max 100", input(format!("{plain}_list"))),
        "between" => {
            let low = input(format!("{plain}_from"));
            let high = input(format!("{plain}_to"));
            format!("{path} between {low} and {high}")
        }
        operator => match &one.word {
            Some(word) => format!("{path} {operator} {}", quote(word)),
            None => format!("{path} {operator} {}", input(plain)),
        },
    }
}

fn insert(
    one: &Named,
    columns: &[String],
    existing: &str,
    names: &mut Names,
) -> (String, Vec<String>) {
    let mut all: Vec<&str> = columns.iter().map(String::as_str).collect();
    // What the database fills in is an input here: the caller has to know it.
    let wanted = one
        .table
        .columns
        .iter()
        .filter(|column| !column.optional || one.table.key.contains(&column.name));
    let filled: Vec<&str> =
        wanted.map(|column| column.name.as_str()).filter(|name| !all.contains(name)).collect();
    let remarks = match filled.as_slice() {
        [] => Vec::new(),
        filled => {
            vec![format!("? {} is filled in by the database: by whom here?", filled.join(", "))]
        }
    };
    all.extend(filled);
    let own: Vec<String> = all.iter().map(|name| one.names.known(name)).collect();
    let pairs: Vec<String> = own.iter().map(|name| format!("{name} {name}")).collect();
    let name = names.fresh(&format!("insert_{}", one.table.name.to_lowercase()));
    let text = format!(
        "write {name}({}) = insert {}({}){existing}",
        own.join(", "),
        one.entity,
        pairs.join(", ")
    );
    (text, remarks)
}

fn update(
    one: &Named,
    set: &[(String, Change)],
    known: &[String],
    asked: &[Condition],
    names: &mut Names,
) -> String {
    let name = names.fresh(&format!("update_{}", one.table.name.to_lowercase()));
    let (mut params, key) = keys(one, known);
    let mut plain = Vec::new();
    let (mut effects, mut enoughs) = (Vec::new(), Vec::new());
    for (foreign, change) in set.iter().filter(|(foreign, _)| !known.contains(foreign)) {
        let column = one.names.known(foreign);
        let optional = one.table.column(foreign).is_some_and(|column| column.optional);
        let by = match change {
            Change::By { amount, minus, enough } => {
                let amount = match amount {
                    Some(amount) => amount.clone(),
                    None => input(format!("{column}_by"), &mut params),
                };
                if *enough {
                    enoughs.push(format!("{column} >= {amount}"));
                }
                format!("{}{amount}", if *minus { "-" } else { "" })
            }
            Change::Absent if optional => {
                plain.push(format!("{column} = absent"));
                continue;
            }
            Change::Absent | Change::Set => {
                plain.push(format!("{column} = {}", input(column.clone(), &mut params)));
                continue;
            }
        };
        effects.push(format!("increment {}({key}) set {column} by {by}", one.entity));
    }
    if !plain.is_empty() {
        effects.insert(0, format!("update {}({key}) set {}", one.entity, plain.join(", ")));
    }
    // One condition decides on the whole write.
    let condition = asking(one, asked, enoughs, &mut params);
    if let Some(first) = effects.first_mut() {
        first.push_str(&condition);
    }
    format!("write {name}({}) = {}", params.join(", "), effects.join(" and "))
}

//! Reads one statement of a log as a shape.
//!
//! What it is not: all of SQL. Joins follow foreign keys, conditions are joined by AND, and a change
//! names its row by the whole key; for all else the reason is returned.

use super::condition::{condition, split_and};
use super::shape::{Change, Condition, Shape};
use super::tables::{brackets, name};
use crate::relational::Named;
use crate::tokens::{Kind, SQL, Token, tokens};

/// Words that end the list of tables of a query.
const CLAUSES: [&str; 15] = [
    "where", "order", "limit", "offset", "fetch", "group", "having", "join", "inner", "left",
    "right", "on", "for", "union", "cross",
];

/// The tables that a statement names.
pub(super) struct Tables<'n> {
    pub(super) all: &'n [Named],
    /// Aliases and the numbers of their tables, the first of FROM first.
    named: Vec<(String, usize)>,
}

pub(super) fn shape(text: &str, all: &[Named]) -> Result<Shape, String> {
    let tokens = tokens(text, SQL).map_err(|error| error.message)?;
    let Some(first) = tokens.first() else { return Err("it is empty".to_owned()) };
    match first.text.to_ascii_lowercase().as_str() {
        "select" => select(&tokens, all),
        "insert" | "replace" => insert(&tokens, all),
        "update" => update(&tokens, all),
        "delete" => delete(&tokens, all),
        other => Err(format!("statements with {other}")),
    }
}

fn number(all: &[Named], own: &str) -> Result<usize, String> {
    let found = all.iter().position(|one| one.table.name.eq_ignore_ascii_case(own));
    found.ok_or_else(|| format!("there is no table {own}"))
}

/// Returns the place of a word outside of brackets.
fn find(tokens: &[Token], word: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        open += usize::from(token.is("("));
        open = open.saturating_sub(usize::from(token.is(")")));
        if open == 0 && token.is_word(word) {
            return Some(at);
        }
    }
    None
}

impl Tables<'_> {
    /// Returns the table and the column of a name, perhaps with an alias before it.
    pub(super) fn column(&self, tokens: &[Token]) -> Result<(usize, String), String> {
        let words: Vec<&str> = tokens
            .iter()
            .filter(|token| token.kind != Kind::Mark)
            .map(|token| token.text.as_str())
            .collect();
        let brackets = |token: &Token| token.kind != Kind::Mark || token.is("(") || token.is(")");
        let (alias, own) = match words.as_slice() {
            [own] if tokens.iter().all(brackets) => (None, *own),
            [.., alias, own]
                if tokens.iter().all(|token| token.kind != Kind::Mark || token.is(".")) =>
            {
                (Some(*alias), *own)
            }
            _ => return Err("a value that is computed".to_owned()),
        };
        let fits = |(called, at): &&(String, usize)| {
            let known = self.all.get(*at).is_some_and(|one| one.table.column(own).is_some());
            alias.map_or(known, |alias| called.eq_ignore_ascii_case(alias))
        };
        let (_, at) =
            self.named.iter().find(fits).ok_or_else(|| format!("there is no column {own}"))?;
        let column = self.all.get(*at).and_then(|one| one.table.column(own));
        column
            .map(|column| (*at, column.name.clone()))
            .ok_or_else(|| format!("there is no column {own}"))
    }
}

impl Tables<'_> {
    /// Returns true if a value is worked out from columns. A word behind a mark such as `:` or `@` is an
    /// input.
    pub(super) fn is_of_row(&self, value: &[Token]) -> bool {
        let own = |name: &str| {
            let mut tables = self.named.iter().filter_map(|(_, at)| self.all.get(*at));
            tables.any(|one| one.table.column(name).is_some())
        };
        value.iter().enumerate().any(|(at, token)| {
            let before = at.checked_sub(1).and_then(|at| value.get(at));
            let input = before
                .is_some_and(|mark| [":", "@", "$", "%"].iter().any(|one| mark.is(one)))
                || before.is_some_and(|mark| mark.is("("))
                    && at
                        .checked_sub(2)
                        .and_then(|at| value.get(at))
                        .is_some_and(|one| one.is("%"));
            token.kind == Kind::Word && !input && own(&token.text)
        })
    }
}

/// Tables by their aliases, and the conditions behind ON.
type From<'t> = (Vec<(String, usize)>, Vec<&'t [Token]>);

/// Returns the tables of FROM and JOIN, and the conditions behind ON.
fn from<'t>(tokens: &'t [Token], all: &[Named]) -> Result<From<'t>, String> {
    let mut named = Vec::new();
    let mut joins = Vec::new();
    let mut rest = tokens;
    loop {
        if rest.first().is_some_and(|token| token.is("(")) {
            return Err("a query within a query".to_owned());
        }
        let (own, length) = name(rest);
        let at = number(all, &own)?;
        rest = rest.get(length..).unwrap_or_default();
        rest = rest
            .get(usize::from(rest.first().is_some_and(|token| token.is_word("as")))..)
            .unwrap_or_default();
        let alias = rest.first().filter(|token| {
            token.kind != Kind::Mark && !CLAUSES.iter().any(|word| token.is_word(word))
        });
        named.push((alias.map_or(own, |token| token.text.clone()), at));
        rest = rest.get(usize::from(alias.is_some())..).unwrap_or_default();
        if rest.first().is_some_and(|token| token.is_word("on")) {
            let end = rest
                .iter()
                .skip(1)
                .position(|token| CLAUSES.iter().any(|word| token.is_word(word)));
            let end = end.map_or(rest.len(), |end| end + 1);
            joins.extend(rest.get(1..end));
            rest = rest.get(end..).unwrap_or_default();
        }
        let next = rest.iter().position(|token| token.is_word("join"));
        match (rest.first(), next) {
            (Some(first), _) if first.is(",") => rest = rest.get(1..).unwrap_or_default(),
            (Some(_), Some(next)) if next <= 2 => rest = rest.get(next + 1..).unwrap_or_default(),
            _ => return Ok((named, joins)),
        }
    }
}

fn select(tokens: &[Token], all: &[Named]) -> Result<Shape, String> {
    if ["union", "group", "having"].iter().any(|word| find(tokens, word).is_some()) {
        return Err("groups and unions".to_owned());
    }
    let start = find(tokens, "from").ok_or("a SELECT without a table")?;
    let rest = tokens.get(start + 1..).unwrap_or_default();
    let ends = ["where", "order", "limit", "offset", "fetch", "for"];
    let end = |from: usize| {
        let more = rest.get(from..).unwrap_or_default();
        ends.iter().filter_map(|word| find(more, word)).min().map_or(rest.len(), |at| from + at)
    };
    let (named, joins) = from(rest.get(..end(0)).unwrap_or_default(), all)?;
    let mut tables = Tables { all, named };
    let (base, with) = joined(&mut tables, &joins)?;
    let part = |word: &str| {
        let at = find(rest, word)?;
        rest.get(at + 1..end(at + 1))
    };
    let mut conditions = Vec::new();
    for one in part("where").map(split_and).unwrap_or_default() {
        conditions.push(condition(one, &tables)?);
    }
    let known = |at: usize| at == base || with.iter().any(|(_, other)| *other == at);
    if conditions.iter().any(|one| !known(one.table)) {
        return Err("a join that follows no foreign key".to_owned());
    }
    let order = part("order").map(|part| ordered(part, &tables, base)).transpose()?;
    let order = order.unwrap_or_default();
    let items = tokens.get(1..start).unwrap_or_default();
    let Items { shown, distinct, aggregate, counted } = items_of(items, &tables, base)?;
    // A count of a column counts the rows that have it.
    conditions.extend(counted.map(|column| Condition {
        table: base,
        column,
        operator: "is present",
        word: None,
    }));
    let (limit, offset) = limited(part("limit"), part("offset"), part("fetch"));
    // Rows that are listed are asked for by an input; a number of rows is kept with its words.
    if aggregate.is_none() {
        conditions.iter_mut().for_each(|one| one.word = None);
    }
    let table = base;
    Ok(Shape::Read { table, with, shown, distinct, aggregate, conditions, order, limit, offset })
}

/// Returns the columns of an order, each with whether it is descending.
fn ordered(
    part: &[Token],
    tables: &Tables<'_>,
    base: usize,
) -> Result<Vec<(String, bool)>, String> {
    let mut order = Vec::new();
    for one in commas(part.get(1..).unwrap_or_default()) {
        let words = ["asc", "desc", "nulls", "using", "collate"];
        let length = one.iter().position(|token| words.iter().any(|word| token.is_word(word)));
        let (column, behind) = one.split_at(length.unwrap_or(one.len()));
        if let Some(word) = behind.iter().find(|one| one.is_word("using") || one.is_word("collate"))
        {
            return Err(format!("an order with {}", word.text.to_ascii_uppercase()));
        }
        if let [Token { kind: Kind::Number, .. }] = column {
            return Err("an order by a place in the list; name the column".to_owned());
        }
        // What comes first or last of NULLs is no row of the order here.
        let desc = behind.iter().any(|token| token.is_word("desc"));
        let (at, column) = tables.column(column)?;
        if at != base {
            return Err("an order by another table's column".to_owned());
        }
        order.push((column, desc));
    }
    Ok(order)
}

/// Returns the most rows that are wanted, and whether some are skipped: of LIMIT, which MySQL writes with
/// the rows to skip before a comma, of OFFSET, and of FETCH FIRST.
fn limited(
    limit: Option<&[Token]>,
    offset: Option<&[Token]>,
    fetch: Option<&[Token]>,
) -> (Option<String>, bool) {
    let count = |token: &Token| match token.kind {
        Kind::Number => Some(token.text.clone()),
        Kind::Word if token.is_word("all") || token.is_word("null") => None,
        _ => Some("n".to_owned()),
    };
    let skips = |part: &[Token]| part.first().is_some_and(|token| token.text != "0");
    let parts: Vec<&[Token]> = limit.map(commas).unwrap_or_default();
    let most = match (parts.as_slice(), fetch) {
        ([_, most, ..] | [most], _) => most.first().and_then(count),
        // `FETCH FIRST ROW ONLY` wants one.
        ([], Some([_, most, ..])) if most.is_word("row") => Some("1".to_owned()),
        ([], Some([_, most, ..])) => count(most),
        _ => None,
    };
    let skipped = if let [skipped, _, ..] = parts.as_slice() { Some(*skipped) } else { offset };
    (most, skipped.is_some_and(skips))
}

/// Returns the table that refers to all others, and its columns that do.
fn joined(
    tables: &mut Tables<'_>,
    joins: &[&[Token]],
) -> Result<(usize, Vec<(String, usize)>), String> {
    let mut links: Vec<(usize, String, usize)> = Vec::new();
    for join in joins {
        let middle =
            join.iter().position(|token| token.is("=")).ok_or("a join without equal columns")?;
        let left = tables.column(join.get(..middle).unwrap_or_default())?;
        let right = tables.column(join.get(middle + 1..).unwrap_or_default())?;
        let refers = |from: &(usize, String), to: &(usize, String)| {
            let one = tables.all.get(from.0)?;
            let other = tables.all.get(to.0)?;
            let key = matches!(other.table.key.as_slice(), [only] if *only == to.1);
            let named = one.table.refers(&from.1)?.eq_ignore_ascii_case(&other.table.name);
            (key && named).then(|| (from.0, from.1.clone(), to.0))
        };
        let link = refers(&left, &right).or_else(|| refers(&right, &left));
        links.push(link.ok_or("a join that follows no foreign key")?);
    }
    let first = tables.named.first().map(|(_, at)| *at).ok_or("a SELECT without a table")?;
    let base = links.first().map_or(first, |(from, _, _)| *from);
    if tables.named.len() != links.len() + 1 || links.iter().any(|(from, _, _)| *from != base) {
        return Err("a join of more than one step".to_owned());
    }
    let twice = |at: usize| {
        links.iter().skip(at + 1).any(|link| Some(link.2) == links.get(at).map(|one| one.2))
    };
    if links.iter().any(|(_, _, to)| *to == base) || (0..links.len()).any(twice) {
        return Err("a join of one table with itself, or twice".to_owned());
    }
    // A name without a table is looked for where the rows come from first.
    tables.named.sort_by_key(|(_, at)| *at != base);
    Ok((base, links.into_iter().map(|(_, column, to)| (column, to)).collect()))
}

/// The columns that a query shows.
#[derive(Default)]
struct Items {
    shown: Vec<(usize, String)>,
    distinct: bool,
    aggregate: Option<String>,
    /// The column whose rows are counted, where it may be missing.
    counted: Option<String>,
}

fn items_of(items: &[Token], tables: &Tables<'_>, base: usize) -> Result<Items, String> {
    let distinct = items.first().is_some_and(|token| token.is_word("distinct"));
    let items = items.get(usize::from(distinct)..).unwrap_or_default();
    if distinct && items.first().is_some_and(|token| token.is_word("on")) {
        return Err("DISTINCT ON".to_owned());
    }
    let parts = commas(items);
    let mut found = Items { distinct, ..Items::default() };
    let mut whole = false;
    for item in &parts {
        if item.get(1).is_some_and(|token| token.is("(")) {
            if distinct || parts.len() > 1 {
                return Err("an aggregate or a function beside something else".to_owned());
            }
            found.aggregate = Some(aggregate(item, tables)?);
            found.counted = counted(item, tables, base)?;
            return Ok(found);
        }
        if item.last().is_some_and(|token| token.is("*")) {
            for at in starred(item, tables)? {
                whole |= at == base;
                let own = tables.all.get(at).map(|one| one.table.columns.as_slice());
                let names = own.unwrap_or_default().iter().map(|own| (at, own.name.clone()));
                found.shown.extend(names);
            }
            continue;
        }
        let length = item.iter().position(|token| token.is_word("as")).unwrap_or(item.len());
        found.shown.push(tables.column(item.get(..length).unwrap_or_default())?);
    }
    let mut seen: Vec<(usize, String)> = Vec::new();
    for one in found.shown {
        if !(whole && one.0 == base || seen.contains(&one)) {
            seen.push(one);
        }
    }
    found.shown = seen;
    if distinct && found.shown.iter().any(|(at, _)| *at != base) {
        return Err("DISTINCT of several tables".to_owned());
    }
    // Whole rows are different anyway.
    found.distinct &= !found.shown.is_empty();
    Ok(found)
}

/// Returns the tables of `*` or of `alias.*`.
fn starred(item: &[Token], tables: &Tables<'_>) -> Result<Vec<usize>, String> {
    let alias = item.len().checked_sub(3).and_then(|at| item.get(at));
    let Some(alias) = alias.filter(|_| item.iter().rev().nth(1).is_some_and(|token| token.is(".")))
    else {
        return Ok(tables.named.iter().map(|(_, at)| *at).collect());
    };
    let own = |(called, _): &&(String, usize)| called.eq_ignore_ascii_case(&alias.text);
    let found = tables.named.iter().find(own);
    found.map(|(_, at)| vec![*at]).ok_or_else(|| format!("there is no table {}", alias.text))
}

/// Returns `count`, or `sum`, `min` or `max` and the column.
fn aggregate(item: &[Token], tables: &Tables<'_>) -> Result<String, String> {
    let word = item.first().map(|token| token.text.to_ascii_lowercase()).unwrap_or_default();
    let (parts, behind) = brackets(item).unwrap_or_default();
    if parts.iter().any(|part| part.iter().any(|token| token.is_word("distinct"))) {
        return Err(format!("{word}(DISTINCT …)"));
    }
    if behind.first().is_some_and(|token| token.is_word("over") || token.is_word("filter")) {
        return Err(format!("{word}(…) of windows or with a filter"));
    }
    match word.as_str() {
        "count" => Ok(word),
        "sum" | "min" | "max" => {
            let (_, column) = tables.column(parts.first().copied().unwrap_or_default())?;
            Ok(format!("{word} {column}"))
        }
        _ => Err(format!("{word}(…) of rows")),
    }
}

/// Returns the column of `count(column)`, if rows may be without it.
fn counted(item: &[Token], tables: &Tables<'_>, base: usize) -> Result<Option<String>, String> {
    let (parts, _) = brackets(item).unwrap_or_default();
    let own = parts.first().copied().unwrap_or_default();
    let is_column = own.iter().any(|token| token.kind == Kind::Word);
    if !item.first().is_some_and(|token| token.is_word("count")) || !is_column {
        return Ok(None);
    }
    let (at, column) = tables.column(own)?;
    if at != base {
        return Err("a count of another table's column".to_owned());
    }
    let found = tables.all.get(at).and_then(|one| one.table.column(&column));
    Ok(found.is_some_and(|own| own.optional).then_some(column))
}

fn commas(tokens: &[Token]) -> Vec<&[Token]> {
    let mut open = 0_usize;
    tokens
        .split(|token| {
            open += usize::from(token.is("("));
            open = open.saturating_sub(usize::from(token.is(")")));
            open == 0 && token.is(",")
        })
        .filter(|part| !part.is_empty())
        .collect()
}

fn insert(tokens: &[Token], all: &[Named]) -> Result<Shape, String> {
    let into = find(tokens, "into").ok_or("an INSERT without INTO")?;
    let rest = tokens.get(into + 1..).unwrap_or_default();
    let (own, length) = name(rest);
    let table = number(all, &own)?;
    let rest = rest.get(length..).unwrap_or_default();
    if find(rest, "select").is_some() {
        return Err("an INSERT of what a query finds".to_owned());
    }
    let listed = rest.first().is_some_and(|token| token.is("("));
    let tables = Tables { all, named: vec![(own, table)] };
    let columns = if listed {
        let parts = brackets(rest).map(|(parts, _)| parts).unwrap_or_default();
        parts
            .iter()
            .map(|part| tables.column(part).map(|(_, column)| column))
            .collect::<Result<_, _>>()?
    } else {
        all.get(table)
            .map(|one| one.table.columns.iter().map(|one| one.name.clone()).collect())
            .unwrap_or_default()
    };
    let has = |word: &str| tokens.iter().any(|token| token.is_word(word));
    let existing = match () {
        () if has("ignore") || has("nothing") => " unless exists",
        () if tokens.first().is_some_and(|token| token.is_word("replace"))
            || has("duplicate")
            || has("conflict") =>
        {
            " or replace"
        }
        () => "",
    };
    let replaces = tokens.first().is_some_and(|token| token.is_word("replace"));
    let keeps = existing == " or replace" && !replaces;
    Ok(Shape::Insert { table, columns, existing, keeps })
}

/// Returns the key that conditions fix, if they fix all of it, and what else they ask of the row.
fn whole_key(
    tokens: &[Token],
    tables: &Tables<'_>,
    table: usize,
) -> Result<(Vec<String>, Vec<Condition>), String> {
    let key = tables.all.get(table).map(|one| one.table.key.clone()).unwrap_or_default();
    let (mut known, mut asked) = (Vec::new(), Vec::new());
    for one in split_and(tokens) {
        let found = condition(one, tables)?;
        let of_key = key.contains(&found.column);
        if of_key && found.operator == "=" && !known.contains(&found.column) {
            known.push(found.column);
        } else if of_key || ["in", "between", "begins", "contains"].contains(&found.operator) {
            return Err("a change of rows that are found by more than their key".to_owned());
        } else {
            asked.push(Condition { word: None, ..found });
        }
    }
    if key.len() == known.len() {
        return Ok((key, asked));
    }
    Err("a change of rows that are found by less than their key".to_owned())
}

fn update(tokens: &[Token], all: &[Named]) -> Result<Shape, String> {
    let (own, length) = name(tokens.get(1..).unwrap_or_default());
    let table = number(all, &own)?;
    let set = find(tokens, "set").ok_or("an UPDATE without SET")?;
    let alias =
        tokens.get(1 + length..set).and_then(|rest| rest.last()).map(|token| token.text.clone());
    let mut named = vec![(own, table)];
    named.extend(alias.map(|alias| (alias, table)));
    let tables = Tables { all, named };
    let at = find(tokens, "where").ok_or("a change of all rows")?;
    let end = find(tokens, "returning").unwrap_or(tokens.len());
    let conditions = tokens.get(at + 1..end).unwrap_or_default();
    let mut changes = Vec::new();
    for one in commas(tokens.get(set + 1..at).unwrap_or_default()) {
        changes.push(change(one, conditions, &tables)?);
    }
    let (known, mut asked) = whole_key(conditions, &tables, table)?;
    // That there is enough is said with the amount.
    asked.retain(|one| {
        one.operator != ">="
            || !changes
                .iter()
                .any(|(column, change)| *column == one.column && change.is_of_enough())
    });
    if changes.iter().all(|(column, _)| known.contains(column)) {
        return Err("a change of nothing but the key".to_owned());
    }
    Ok(Shape::Update { table, set: changes, known, asked })
}

/// Returns a column and how SET changes it.
fn change(
    one: &[Token],
    conditions: &[Token],
    tables: &Tables<'_>,
) -> Result<(String, Change), String> {
    let middle = one.iter().position(|token| token.is("=")).ok_or("SET without a value")?;
    let (_, column) = tables.column(one.get(..middle).unwrap_or_default())?;
    let value = one.get(middle + 1..).unwrap_or_default();
    // `n = n + 1` adds; what the caller works out is an input.
    let own = value.first().is_some_and(|token| token.is_word(&column));
    let sign = value.get(1).filter(|token| own && (token.is("+") || token.is("-")));
    let by = value.get(if sign.is_some() { 2 } else { 0 }..).unwrap_or_default();
    if tables.is_of_row(by) {
        return Err(format!("a change of {column} to what is worked out from columns"));
    }
    let change = match (sign, by) {
        (Some(sign), by) => {
            let minus = sign.is("-");
            let whole = |token: &&Token| token.text.parse::<u64>().is_ok();
            let amount = by.first().filter(|_| by.len() == 1).filter(whole);
            let enough = minus && asks_for(&column, by, conditions, tables);
            Change::By { amount: amount.map(|one| one.text.clone()), minus, enough }
        }
        (None, [only]) if only.is_word("null") => Change::Absent,
        (None, _) => Change::Set,
    };
    Ok((column, change))
}

/// Returns true if a condition asks that a column has as much as is taken away. Markers without a name
/// may stand for two amounts.
fn asks_for(column: &str, amount: &[Token], conditions: &[Token], tables: &Tables<'_>) -> bool {
    let texts = |tokens: &[Token]| -> Vec<String> {
        tokens.iter().map(|token| token.text.clone()).collect()
    };
    let nameless = amount.iter().any(|token| token.is("?")) || texts(amount) == ["%", "s"];
    !nameless
        && split_and(conditions).iter().any(|one| {
            let Some(at) = one.iter().position(|token| token.is(">=")) else { return false };
            let own = tables.column(one.get(..at).unwrap_or_default());
            own.is_ok_and(|(_, own)| own == column)
                && texts(one.get(at + 1..).unwrap_or_default()) == texts(amount)
        })
}

fn delete(tokens: &[Token], all: &[Named]) -> Result<Shape, String> {
    let from = find(tokens, "from").ok_or("a DELETE without FROM")?;
    let (own, _) = name(tokens.get(from + 1..).unwrap_or_default());
    let table = number(all, &own)?;
    let tables = Tables { all, named: vec![(own, table)] };
    let at = find(tokens, "where").ok_or("a deletion of all rows")?;
    let end = find(tokens, "returning").unwrap_or(tokens.len());
    let (known, asked) = whole_key(tokens.get(at + 1..end).unwrap_or_default(), &tables, table)?;
    Ok(Shape::Delete { table, known, asked })
}

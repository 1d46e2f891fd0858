//! Reads: those that a file names, and those that the keys answer.
//!
//! A named query is a text for the partition key and a condition on the sort key. The row types
//! whose keys fit are its sources, and what stands in place of their values becomes inputs. Where a
//! file names none, each row type gets its point read, and a list for each partition that it shares.
//!
//! What it is not: a promise that somebody asks so. Reads that only follow from keys say so.

use super::keys::{KeyPiece, aligned};
use super::write::{Written, holes_of, shown, text_of};
use super::{Table, words};
use shelfmark_design_language::syntax::print::quote;

use crate::draft::{Draft, Pattern};
use crate::names::{Names, comment};

/// Most queries of a file that become reads.
pub(crate) const IMPORT_QUERIES_MAX: usize = 2_000;

/// The restriction of a query to a part of the sort keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SortCondition {
    Equal,
    Begins,
    Less,
    AtMost,
    More,
    AtLeast,
    Between,
}

/// A query that a file names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The index; `None` for the table.
    pub(crate) index: Option<String>,
    /// The text of the partition key, with values or holes.
    pub(crate) partition: Option<String>,
    pub(crate) sort: Option<(SortCondition, String)>,
    /// Attributes that a filter compares by equality, and what other filters there are.
    pub(crate) filters: Vec<String>,
    pub(crate) backwards: bool,
    pub(crate) limit: Option<u64>,
    /// Something that is no query here: a scan or a write.
    pub(crate) other: Option<String>,
}

/// The pattern with its inputs, and the range of a plan.
type Serve = (String, String);

/// The part of a query that one row type answers.
struct Fit {
    at: usize,
    conditions: Vec<String>,
    params: Vec<String>,
    order: Vec<String>,
}

/// Adds the reads of a table to a draft.
pub(super) fn patterns(
    table: &Table,
    written: &mut [Written],
    names: &mut Names,
    draft: &mut Draft,
    serves: &mut Vec<String>,
    called: &dyn Fn(Option<&str>) -> String,
) {
    let mut told = Vec::new();
    for query in table.queries.iter().take(IMPORT_QUERIES_MAX) {
        match read(table, written, query, names) {
            Ok((pattern, serve)) => {
                let range = serve.map(|(head, range)| {
                    format!("serve {head} by query {} {range}", called(query.index.as_deref()))
                });
                serves.extend(range);
                draft.patterns.push(pattern);
            }
            Err(why) => {
                let description = match query.description.as_str() {
                    "" => String::new(),
                    text => format!(" ({})", comment(text)),
                };
                told.push(format!("? Not imported: {}{description}: {why}.", comment(&query.name)));
            }
        }
    }
    if !told.is_empty() {
        draft.patterns.push(Pattern { remarks: told, text: String::new() });
    }
    if table.queries.is_empty() {
        let first = draft.patterns.len();
        derived(table, written, names, draft);
        if let Some(pattern) = draft.patterns.get_mut(first) {
            pattern.remarks.insert(0, format!(
                "? Reads that the keys of {} answer. Which of them are there, and how often (rate 10/s)?",
                comment(&table.name)
            ));
        }
    }
}

fn derived(table: &Table, written: &mut [Written], names: &mut Names, draft: &mut Draft) {
    let crowded = crowded(written);
    for one in written.iter_mut() {
        let key = holes_of(&one.family.cells);
        let partition = holes_of(one.family.cells.first());
        let (params, conditions) = equals(one, &key);
        let name = names.fresh(&format!("get_{}", one.row));
        draft.patterns.push(plain(format!(
            "read {name}({params}) = {} where {conditions} unique",
            one.entity
        )));
        let order = order(one, one.family.cells.get(1), &partition);
        if key.len() > partition.len() && !partition.is_empty() && !crowded.contains(&one.row) {
            let (params, conditions) = equals(one, &partition);
            let name = names.fresh(&format!("list_{}", one.row));
            draft.patterns.push(plain(format!(
                "read {name}({params}) = {} where {conditions}{order}",
                one.entity
            )));
        }
        for entries in one.family.entries.clone() {
            let Some(index) = table.indexes.get(entries.index) else { continue };
            let partition = holes_of(entries.cells.iter().take(index.partition));
            let (params, mut conditions) = equals(one, &partition);
            let behind = holes_of(entries.cells.iter().skip(index.partition));
            for at in behind.iter().filter(|at| !key.contains(at) && !partition.contains(at)) {
                if let Some((name, _)) = one.holes.get(*at) {
                    let and = if conditions.is_empty() { "" } else { " and " };
                    conditions.push_str(&format!("{and}{name} is present"));
                }
            }
            let order = match entries.cells.get(index.partition..) {
                Some([only]) => self::order(one, Some(only), &partition),
                _ => String::new(),
            };
            let select = match shown(table, one, &entries) {
                None => String::new(),
                Some(mut shown) => {
                    let holes = key.iter().chain(&partition).chain(&behind);
                    for (name, _) in holes.filter_map(|at| one.holes.get(*at)) {
                        if !shown.contains(name) {
                            shown.push(name.clone());
                        }
                    }
                    format!(" select {}", shown.join(", "))
                }
            };
            let name = names.fresh(&format!("{}_by_{}", one.row, index.name));
            let params = if params.is_empty() { String::new() } else { format!("({params})") };
            let conditions = match conditions.as_str() {
                "" => String::new(),
                some => format!(" where {some}"),
            };
            let text = format!("read {name}{params} = {}{select}{conditions}{order}", one.entity);
            // Which rows lie there is asked: no read can be told.
            let asked = entries.partial || (conditions.is_empty());
            draft.patterns.push(if asked { plain(format!("# {text}")) } else { plain(text) });
        }
    }
}

/// Returns the families whose sort keys begin with a value, in partitions that others share: their
/// rows are no range.
fn crowded(written: &[Written]) -> Vec<String> {
    let partition = |one: &Written| -> Vec<Option<String>> {
        let pieces = one.family.cells.first().into_iter().flatten();
        let text = |piece: &KeyPiece| match piece {
            KeyPiece::Text(text) => Some(text.clone()),
            KeyPiece::Hole(_) => None,
        };
        pieces.map(text).collect()
    };
    let open = |one: &&Written| {
        matches!(one.family.cells.get(1).and_then(|cell| cell.first()), Some(KeyPiece::Hole(_)))
    };
    let shared = |one: &&Written| {
        written.iter().any(|other| other.row != one.row && partition(other) == partition(one))
    };
    written.iter().filter(open).filter(shared).map(|one| one.row.clone()).collect()
}

fn plain(text: String) -> Pattern {
    Pattern { remarks: Vec::new(), text }
}

/// Returns the parameters and the conditions by which holes are known.
fn equals(one: &Written, holes: &[usize]) -> (String, String) {
    let names: Vec<&str> =
        holes.iter().filter_map(|at| one.holes.get(*at)).map(|(name, _)| name.as_str()).collect();
    let conditions: Vec<String> = names.iter().map(|name| format!("{name} = {name}")).collect();
    (names.join(", "), conditions.join(" and "))
}

/// Returns the order that a sort key has, where its text sorts as its values do.
fn order(one: &Written, cell: Option<&Vec<KeyPiece>>, known: &[usize]) -> String {
    let holes = holes_of(cell);
    let open: Vec<usize> = holes.iter().copied().filter(|at| !known.contains(at)).collect();
    let [before @ .., last] = open.as_slice() else { return String::new() };
    let sorts = |at: &usize| one.holes.get(*at).is_some_and(|(_, domain)| domain.sorts);
    let number = |at: &usize| {
        let letter = one.family.holes.get(*at).map(|hole| hole.letter.as_str());
        let alone = cell.is_some_and(|cell| cell.len() == 1);
        letter == Some("N") && !alone
    };
    let ends = cell.and_then(|cell| cell.last()) == Some(&KeyPiece::Hole(*last));
    if !before.iter().all(sorts) || number(last) || !(ends || sorts(last)) {
        return String::new();
    }
    let names: Vec<&str> =
        open.iter().filter_map(|at| one.holes.get(*at)).map(|(name, _)| name.as_str()).collect();
    format!(" order by {}", names.join(", "))
}

/// Returns the read that a named query is.
fn read(
    table: &Table,
    written: &[Written],
    query: &Query,
    names: &mut Names,
) -> Result<(Pattern, Option<Serve>), String> {
    if let Some(other) = &query.other {
        return Err(other.clone());
    }
    let partition = query.partition.as_deref().filter(|text| !text.is_empty());
    let partition = partition.ok_or("it names no partition")?;
    let index = match query.index.as_deref() {
        None => None,
        Some(name) => {
            let found =
                table.indexes.iter().position(|index| index.name.eq_ignore_ascii_case(name));
            Some(found.ok_or_else(|| format!("there is no index {}", comment(name)))?)
        }
    };
    let mut fits: Vec<Fit> = written
        .iter()
        .enumerate()
        .filter_map(|(at, one)| fit(table, one, at, index, partition, query.sort.as_ref()))
        .collect();
    let only_filters = query.filters.iter().filter(|filter| !filter.starts_with('?'));
    let mut remarks = vec![comment(&query.name)];
    if !query.description.is_empty() {
        remarks.push(comment(&query.description));
    }
    remarks.extend(query.filters.iter().filter(|filter| filter.starts_with('?')).cloned());
    let Some(first) = fits.first_mut() else {
        return Err(format!("no row type has a key such as {:?}", comment(partition)));
    };
    let Some(one) = written.get(first.at) else { return Err("it has no source".to_owned()) };
    if fits.len() > 1 {
        return mixed(written, &fits, index, query, remarks, names);
    }
    let Some(mut first) = fits.pop() else { return Err("it has no source".to_owned()) };
    for filter in only_filters {
        let plain = one.columns_of(filter);
        first.conditions.push(format!("{plain} = {plain}"));
        first.params.push(plain);
    }
    let name = names.fresh(&query.name.to_lowercase());
    let key: Vec<String> = holes_of(&one.family.cells)
        .iter()
        .filter_map(|at| one.holes.get(*at))
        .map(|(name, _)| format!("{name} = {name}"))
        .collect();
    let unique = index.is_none() && key.iter().all(|cond| first.conditions.contains(cond));
    let tail = if unique { " unique".to_owned() } else { tail(&first, query) };
    let text = format!(
        "read {name}({}) = {} where {}{tail}",
        first.params.join(", "),
        one.entity,
        first.conditions.join(" and ")
    );
    Ok((Pattern { remarks, text }, None))
}

fn tail(fit: &Fit, query: &Query) -> String {
    let desc = if query.backwards { " desc" } else { "" };
    let order: Vec<String> = fit.order.iter().map(|name| format!("{name}{desc}")).collect();
    let order =
        if order.is_empty() { String::new() } else { format!(" order by {}", order.join(", ")) };
    let limit = query.limit.map_or_else(String::new, |limit| format!(" limit {limit}"));
    format!("{order}{limit}")
}

/// Returns a read of several row types, where one attribute of one name leads to all of them.
fn mixed(
    written: &[Written],
    fits: &[Fit],
    index: Option<usize>,
    query: &Query,
    remarks: Vec<String>,
    names: &mut Names,
) -> Result<(Pattern, Option<Serve>), String> {
    let entities: Vec<&str> =
        fits.iter().filter_map(|fit| written.get(fit.at)).map(|one| one.entity.as_str()).collect();
    let first = fits.first().ok_or("it has no source")?;
    let alike = fits.iter().all(|fit| fit.conditions == first.conditions);
    if !alike || first.conditions.is_empty() || !query.filters.is_empty() {
        return Err(format!(
            "its rows are of {}: write a read of several row types",
            entities.join(" and ")
        ));
    }
    let head = format!("{}({})", names.fresh(&query.name.to_lowercase()), first.params.join(", "));
    let text =
        format!("read {head} = {} where {}", entities.join(" + "), first.conditions.join(" and "));
    let one = written.get(first.at);
    let cell = one.and_then(|one| match index {
        None => one.family.cells.first(),
        Some(index) => {
            let own = one.family.entries.iter().find(|own| own.index == index);
            own.and_then(|own| own.cells.first())
        }
    });
    let partition = one.zip(cell).map(|(one, cell)| text_of(one, cell, false));
    // Which rows a longer condition finds is left to the search.
    let begins = match &query.sort {
        None => Some(String::new()),
        Some((SortCondition::Begins, text)) if !text.contains(['<', '{']) => {
            Some(format!(" begins {}", quote(text)))
        }
        Some(_) => None,
    };
    let serve =
        partition.zip(begins).map(|(partition, begins)| (head, format!("({partition}){begins}")));
    Ok((Pattern { remarks, text }, serve))
}

impl Written {
    fn columns_of(&self, foreign: &str) -> String {
        self.columns.known(foreign)
    }
}

/// Returns what a row type gives to a query, if its keys fit.
fn fit(
    table: &Table,
    one: &Written,
    at: usize,
    index: Option<usize>,
    partition: &str,
    sort: Option<&(SortCondition, String)>,
) -> Option<Fit> {
    let (cells, count) = match index {
        None => (&one.family.cells, 1),
        Some(index) => {
            let entries = one.family.entries.iter().find(|own| own.index == index)?;
            (&entries.cells, table.indexes.get(index)?.partition)
        }
    };
    if count != 1 {
        return None;
    }
    let mut found = Fit { at, conditions: Vec::new(), params: Vec::new(), order: Vec::new() };
    let first = cells.first()?;
    let known = filled(one, first, partition)?;
    for hole in &known {
        found.equal(one, *hole);
    }
    let behind = cells.get(1);
    let mut bound: Vec<usize> = known;
    if let (Some(cell), Some((condition, text))) = (behind, sort) {
        let more = sorted(one, cell, *condition, text, &mut found, &bound)?;
        bound.extend(more);
    }
    let order = order(one, behind, &bound);
    found.order = order
        .strip_prefix(" order by ")
        .map(|names| names.split(", ").map(str::to_owned).collect())
        .unwrap_or_default();
    Some(found)
}

impl Fit {
    fn equal(&mut self, one: &Written, hole: usize) {
        let Some((name, _)) = one.holes.get(hole) else { return };
        if !self.params.contains(name) {
            self.params.push(name.clone());
            self.conditions.push(format!("{name} = {name}"));
        }
    }

    fn compare(&mut self, one: &Written, hole: usize, operator: &str) {
        let Some((name, _)) = one.holes.get(hole) else { return };
        self.params.push(name.clone());
        self.conditions.push(format!("{name} {operator} {name}"));
    }
}

/// Adds the condition on a sort key; returns the holes that it makes known.
fn sorted(
    one: &Written,
    cell: &[KeyPiece],
    condition: SortCondition,
    text: &str,
    found: &mut Fit,
    known: &[usize],
) -> Option<Vec<usize>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let operator = match condition {
        SortCondition::Equal => {
            let holes = filled(one, cell, text)?;
            holes.iter().for_each(|hole| found.equal(one, *hole));
            return Some(holes);
        }
        SortCondition::Begins => return begins(one, cell, text, found),
        SortCondition::Less => "<",
        SortCondition::AtMost => "<=",
        SortCondition::More => ">",
        SortCondition::AtLeast => ">=",
        SortCondition::Between => {
            let hole = holes_of([&cell.to_vec()]).into_iter().find(|at| !known.contains(at))?;
            let (name, _) = one.holes.get(hole)?;
            let (low, high) = (format!("{name}_from"), format!("{name}_to"));
            found.conditions.push(format!("{name} between {low} and {high}"));
            found.params.extend([low, high]);
            return Some(Vec::new());
        }
    };
    let (head, rest) = match cell {
        [KeyPiece::Text(head), rest @ ..] => (head.as_str(), rest),
        rest => ("", rest),
    };
    let (hole, ends) = match rest {
        [KeyPiece::Hole(hole)] => (*hole, true),
        [KeyPiece::Hole(hole), ..] => (*hole, false),
        _ => return None,
    };
    if !text.starts_with(head) {
        return None;
    }
    // What follows the value makes its key greater than the value alone.
    let operator = match (operator, ends) {
        (">", false) => ">=",
        ("<=", false) => "<",
        (operator, _) => operator,
    };
    found.compare(one, hole, operator);
    Some(Vec::new())
}

/// Adds the condition that a sort key begins with a text.
fn begins(one: &Written, cell: &[KeyPiece], text: &str, found: &mut Fit) -> Option<Vec<usize>> {
    // The text ends within the first constant part: it only names the row type.
    if let Some(KeyPiece::Text(head)) = cell.first()
        && head.starts_with(text)
    {
        return Some(Vec::new());
    }
    let mut rest = text;
    let mut known = Vec::new();
    for (at, piece) in cell.iter().enumerate() {
        match piece {
            KeyPiece::Text(literal) => match rest.strip_prefix(literal.as_str()) {
                Some(more) => rest = more,
                None if literal.starts_with(rest) => rest = "",
                None => return None,
            },
            KeyPiece::Hole(hole) => {
                let next = cell.get(at + 1).and_then(|next| match next {
                    KeyPiece::Text(literal) => rest.find(literal.as_str()),
                    KeyPiece::Hole(_) => None,
                });
                let Some(end) = next else {
                    if fits(one, *hole, rest, false) {
                        found.compare(one, *hole, "begins");
                        return Some(known);
                    }
                    return None;
                };
                let (value, more) = rest.split_at(end);
                if !fits(one, *hole, value, true) {
                    return None;
                }
                found.equal(one, *hole);
                known.push(*hole);
                rest = more;
            }
        }
        if rest.is_empty() {
            return Some(known);
        }
    }
    None
}

/// Returns the holes that a text fills, if its values may stand there.
fn filled(one: &Written, cell: &[KeyPiece], text: &str) -> Option<Vec<usize>> {
    let found = aligned(cell, text)?;
    let mut holes = Vec::new();
    for (hole, value) in found {
        if !fits(one, hole, value, true) {
            return None;
        }
        if !holes.contains(&hole) {
            holes.push(hole);
        }
    }
    Some(holes)
}

/// Returns true if a value may stand where rows have others: digits for digits, times for times.
fn fits(one: &Written, hole: usize, value: &str, whole: bool) -> bool {
    if value.contains(['<', '{']) {
        return true;
    }
    let Some(hole) = one.family.holes.get(hole) else { return false };
    let mut values = hole.values.iter().flatten().peekable();
    if values.peek().is_none() {
        return true;
    }
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let all_digits = hole.values.iter().flatten().all(|one| digits(one));
    let all_times = hole.values.iter().flatten().all(|one| words::is_time(one));
    if all_digits {
        return digits(value);
    }
    if all_times {
        return words::is_time(value)
            || (!whole && value.starts_with(|c: char| c.is_ascii_digit()));
    }
    !words::is_time(value)
}

//! Named plans of reads: ranges with all kinds of ends, loops, follow-up reads, filters, sorts and
//! limits, each of which may be what the read needs or not.
//!
//! What it is not: no planner. It binds what it can, and forgets or adds something at times.
//!
//! Invariant: a plan names inputs of its read only.

use super::condition::{Condition, Test};
use super::family::Family;
use super::key::{Column, Hole, Piece};
use super::read::Read;
use super::relation::Relation;
use super::{Random, chance, word};

/// The first step of a plan, as far as it is known.
struct Draft<'a> {
    read: &'a Read,
    /// The input that a loop runs over, or the buckets.
    each: Option<String>,
    /// The conditions that the range says.
    used: Vec<&'a str>,
    /// True if the family is of the read's second row type.
    second: bool,
}

/// Returns a plan of a read by one of the families, if its call can be formed.
pub(super) fn serve(
    relations: &[Relation],
    read: &Read,
    families: &[Family],
    random: &mut Random,
) -> Option<String> {
    let counts = read.aggregate.starts_with("count");
    let own: Vec<&Family> = families
        .iter()
        .filter(|family| read.sources.contains(&family.of) || counts && family.is_base(relations))
        .collect();
    let family = *random.pick(&own)?;
    let second = read.is_second(family.of);
    let mut draft = Draft { read, each: None, used: Vec::new(), second };
    let (verb, bind) = if family.is_text {
        draft.texts(family, random)?
    } else {
        draft.columns(relations, family, random)?
    };
    let mut out = format!("  serve {} by ", read.name);
    if let Some(each) = &draft.each {
        out.push_str(&format!("each u in {each} "));
    }
    out.push_str(&format!("{verb} {}{bind}", family.table));
    if verb != "get" && descends(read, family, random) {
        out.push_str(" desc");
    }
    if let Some(limit) = read.limit.as_ref().filter(|_| chance(random, 3, 4)) {
        out.push_str(&format!(" limit {limit}"));
    }
    out.push_str(&draft.rest(random));
    if chance(random, 1, 4)
        && let Some(follow) = follow_up(relations, family, families, random)
    {
        out.push_str(&follow);
    }
    Some(out + "\n")
}

/// Returns true if the range is read from its end: as the order wants it, if it is of the next column.
fn descends(read: &Read, family: &Family, random: &mut Random) -> bool {
    let named = |name: &str| {
        family.columns.iter().find(|column| {
            matches!(column.pieces.as_slice(), [Piece::Hole(hole)] if hole.path.name == name)
        })
    };
    let wanted = read.order.first().is_some_and(|(path, desc)| {
        let name = path.named(read.is_second(family.of));
        named(name).map_or(*desc, |column| column.desc != *desc)
    });
    wanted != chance(random, 1, 8)
}

impl<'a> Draft<'a> {
    /// Returns the value that the read compares an attribute with by `=`, or a loop over its
    /// values.
    fn bound(&mut self, hole: &Hole, counted: Option<&str>) -> Option<String> {
        if hole.is_bucket() && self.each.is_none() {
            self.each = Some("0..1".to_owned());
            return Some("u".to_owned());
        }
        let read = self.read;
        for one in &read.conditions {
            let same =
                one.path.named(self.second) == hole.path.name || counted == Some(one.path.ty);
            let value = match &one.test {
                Test::Equal(value) if same && hole.takes(value) => hole.of(value),
                Test::Among(values) if same && self.each.is_none() => {
                    self.each = Some(values.clone());
                    hole.of("u")
                }
                _ => continue,
            };
            self.used.push(&one.path.name);
            return Some(value);
        }
        None
    }

    /// Returns the ends that the read sets to an attribute: words of a range and their values.
    fn ends(&mut self, hole: &Hole, random: &mut Random) -> Vec<(&'static str, String)> {
        let read = self.read;
        let mut ends = Vec::new();
        let second = self.second;
        let same = |one: &&Condition| one.path.named(second) == hole.path.name;
        for one in read.conditions.iter().filter(same) {
            match &one.test {
                Test::End("<", value) => {
                    ends.push((word(random, &["before", "to"]), hole.of(value)))
                }
                Test::End("<=", value) => ends.push(("through", hole.of(value))),
                Test::End(">", value) => ends.push(("after", hole.of(value))),
                Test::End(_, value) => ends.push(("from", hole.of(value))),
                Test::Between(low, high) => {
                    ends.push(("from", hole.of(low)));
                    ends.push((word(random, &["through", "through", "to"]), hole.of(high)));
                }
                Test::Begins(value) => ends.push(("begins", hole.of(value))),
                _ => continue,
            }
            self.used.push(&one.path.name);
        }
        if chance(random, 1, 12) {
            ends.pop();
        }
        ends
    }

    /// `query` and `(x1) from x2`, in a table whose keys have columns.
    fn columns(
        &mut self,
        relations: &[Relation],
        family: &Family,
        random: &mut Random,
    ) -> Option<(&'static str, String)> {
        let foreign = !self.read.sources.contains(&family.of);
        let counted = foreign.then_some(relations[family.of].name);
        let mut values: Vec<String> = Vec::new();
        let mut ends = String::new();
        for column in &family.columns {
            let [Piece::Hole(hole)] = column.pieces.as_slice() else { return None };
            if let Some(value) = self.bound(hole, counted) {
                values.push(value);
                continue;
            }
            for (kind, value) in self.ends(hole, random) {
                ends.push_str(&format!(" {kind} {value}"));
            }
            break;
        }
        if values.len() < family.partition {
            return None;
        }
        if values.len() > family.partition.max(1) && chance(random, 1, 12) {
            values.pop();
        }
        let whole = values.len() == family.columns.len();
        let verb = match (whole, family.partition) {
            (true, _) => word(random, &["get", "get", "query"]),
            (false, 0) => word(random, &["scan", "range"]),
            (false, _) => "query",
        };
        let bind =
            if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
        Some((verb, bind + &ends))
    }

    /// `query` and `pk "…" sk begins "…"`, in a table whose keys are texts.
    fn texts(&mut self, family: &Family, random: &mut Random) -> Option<(&'static str, String)> {
        let [first, second] = family.columns.as_slice() else { return None };
        let (partition, None) = self.prefix(first) else { return None };
        let mut out = format!(" pk \"{partition}\"");
        let (begin, next) = self.prefix(second);
        let ends = next.map(|hole| self.ends(hole, random)).unwrap_or_default();
        if next.is_none() && chance(random, 3, 4) {
            out.push_str(&format!(" sk \"{begin}\""));
            return Some((word(random, &["get", "query"]), out));
        }
        let lower = ends.iter().any(|(kind, _)| matches!(*kind, "from" | "after" | "begins"));
        if let Some(hole) = next.filter(|_| !ends.is_empty()) {
            out.push_str(" sk");
            if !lower && chance(random, 1, 2) {
                out.push_str(&format!(" from \"{begin}\""));
            }
            for (kind, value) in &ends {
                out.push_str(&format!(" {kind} \"{begin}{}\"", hole.cut(value)));
            }
            if lower && ends.len() == 1 && ends.iter().all(|(kind, _)| *kind != "begins") {
                out.push_str(&format!(" to \"{begin}~\""));
            }
        } else if !begin.is_empty() && chance(random, 1, 6) {
            out.push_str(&format!(" sk from \"{begin}\" to \"{begin}~\""));
        } else if !begin.is_empty() {
            out.push_str(&format!(" sk begins \"{begin}\""));
        }
        Some(("query", out))
    }

    /// Returns the beginning of a column's texts, and the first unknown value.
    fn prefix<'c>(&mut self, column: &'c Column) -> (String, Option<&'c Hole>) {
        let mut begin = String::new();
        for piece in &column.pieces {
            match piece {
                Piece::Literal(text) => begin.push_str(text),
                Piece::Hole(hole) => {
                    let Some(value) = self.bound(hole, None) else { return (begin, Some(hole)) };
                    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                    match quoted {
                        Some(text) => begin.push_str(text),
                        None if matches!(value.as_str(), "true" | "false") => {
                            begin.push_str(&value)
                        }
                        None => begin.push_str(&hole.cut(&value)),
                    }
                }
            }
        }
        (begin, None)
    }

    /// Returns the work outside the store: filters for what the range does not say, a sort, a
    /// limit.
    fn rest(&self, random: &mut Random) -> String {
        let mut out = String::new();
        // Steps outside the store name attributes of one row type.
        let open = |one: &&Condition| {
            !self.used.contains(&one.path.name.as_str()) && one.path.pair.is_none()
        };
        let mut filters = Vec::new();
        for one in self.read.conditions.iter().filter(open) {
            if chance(random, 4, 5) && !matches!(one.test, Test::Among(_)) {
                filters.push(one.text());
            }
        }
        if !filters.is_empty() {
            out.push_str(&format!(" then filter {}", filters.join(" and ")));
        }
        let often = self.each.is_some() || !filters.is_empty();
        let sorts = self.read.order.iter().all(|(path, _)| path.pair.is_none());
        if sorts && !self.read.order.is_empty() && chance(random, if often { 3 } else { 1 }, 4) {
            out.push_str(&format!(" then sort by {}", self.read.order_text()));
        }
        if let Some(limit) = &self.read.limit
            && chance(random, if often { 3 } else { 1 }, 4)
        {
            out.push_str(&format!(" then take {limit}"));
        }
        out
    }
}

/// Returns a read of the rest of a row, or of what it refers to, by what the row before it shows.
fn follow_up(
    relations: &[Relation],
    family: &Family,
    families: &[Family],
    random: &mut Random,
) -> Option<String> {
    let mut ways: Vec<String> = Vec::new();
    let references = relations[family.of].attributes.iter();
    let references = references.filter_map(|one| Some((one.refers?, format!("row.{}", one.name))));
    for other in families.iter().filter(|other| other.is_base(relations)) {
        if other.of == family.of {
            ways.push(keyed(other, |name| format!("row.{name}")));
        }
        for (_, name) in references.clone().filter(|(to, _)| *to == other.of) {
            ways.push(keyed(other, |_| name.clone()));
        }
    }
    random.pick(&ways).cloned()
}

/// ` then get t (row.id)`.
fn keyed(family: &Family, value: impl Fn(&str) -> String) -> String {
    let fill = |column: &Column, cut: bool| -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(text) => (*text).to_owned(),
            Piece::Hole(hole) if cut => hole.cut(&value(&hole.path.name)),
            Piece::Hole(hole) => hole.of(&value(&hole.path.name)),
        };
        column.pieces.iter().map(piece).collect()
    };
    let columns: Vec<String> =
        family.columns.iter().map(|column| fill(column, family.is_text)).collect();
    match columns.as_slice() {
        [first, second] if family.is_text => {
            format!(" then get {} pk \"{first}\" sk \"{second}\"", family.table)
        }
        columns => format!(" then get {} ({})", family.table, columns.join(", ")),
    }
}

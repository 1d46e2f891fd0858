//! Writes plans of reads as text.
//!
//! What cannot be written down (a constant identifier in a key) is left out; the prover then
//! looks for the plan itself.

use super::counts::asked_of;
use super::draft::{Component, Draft};
use super::mixed::Mixed;
use super::names::snake;
use super::shards::SHARD;
use super::text::EVERYTHING;
use super::text_keys::{DELIMITER, input_hole};
use super::{Follow, Planner, Served};
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::pattern::{Param, Source};
use shelfmark_design_language::model::{
    ColumnPath, Model, OrderKey, Predicate, Read, RelationId, Term, Value,
};
use shelfmark_design_language::syntax::print::quote;
use shelfmark_design_language::syntax::tree::CondOp;
use shelfmark_design_prove::closure::determines_tuple;
use shelfmark_design_prove::own_limits::of_range;

/// The name of one value of a list.
const EACH: &str = "each_one";

impl Planner<'_> {
    pub(crate) fn serve(&self, served: &Served, draft: &Draft, named: &[String]) -> Option<String> {
        let table = named.get(served.draft)?;
        let read = self.model.reads.get(served.read)?;
        let source = read.sources.first()?;
        let components = self.key(draft);
        let (known, rest) = components.split_at(served.equal.len().min(components.len()));
        let list = source.predicates.iter().find(|one| one.op == CondOp::In);
        let mut out = format!("serve {} by ", read.name.text);
        if let Some(list) = list {
            let name = term(&read.params, list.values.first()?)?;
            out.push_str(&format!("each {EACH} in {name} "));
        }
        let shards = self.shards(draft);
        let spread = shards.as_ref().filter(|(_, path)| !served.equal.contains(path));
        if let Some((parts, _)) = spread {
            if list.is_some() {
                return None;
            }
            out.push_str(&format!("each {SHARD} in 0..{} ", parts - 1));
        }
        let whole = rest.is_empty() && !self.is_index(draft);
        let one = whole && !known.is_empty();
        let verb = match (one, self.target.ordered) {
            (true, _) => "get",
            (false, true) => "range",
            (false, false) => "query",
        };
        out.push_str(&format!("{verb} {table}"));
        let ranges = self.ranges(source, rest.first());
        out.push_str(&if self.target.plans_texts() {
            self.bind_text(read, source, draft, (known, rest), &ranges)?
        } else {
            self.bind_typed(read, source, draft, (known, rest.first()), &ranges)?
        });
        if served.flip && !one {
            out.push_str(" desc");
        }
        let fixed = served.equal.iter().cloned().collect();
        let single = determines_tuple(self.model, source.relation, &fixed);
        let limit = match &read.limit {
            Some(limit) => Some(term(&read.params, limit)?),
            None => None,
        };
        if let Some(limit) = &limit
            && !one
            && (!single || list.is_some() || spread.is_some())
        {
            out.push_str(&format!(" limit {limit}"));
        }
        if list.is_some() || spread.is_some() || served.sorted {
            out.push_str(&gather(self.model, read, source, limit.as_deref()));
        }
        for follow in &served.follows {
            out.push_str(&self.follow(source.relation, follow, named)?);
        }
        Some(out)
    }

    /// Returns a point read of what the rows refer to.
    fn follow(&self, relation: RelationId, follow: &Follow, named: &[String]) -> Option<String> {
        let draft = self.drafts.get(follow.draft)?;
        let table = named.get(follow.draft)?;
        let own = self.model.relation(draft.relation).key();
        let values: Option<Vec<(Component, String)>> = self
            .key(draft)
            .into_iter()
            .map(|component| {
                let [column] = component.path.as_slice() else { return None };
                let path: ColumnPath = follow.base.iter().copied().chain([*column]).collect();
                let path = canonical(self.model, relation, &path);
                let name = format!("row.{}", self.model.path_text(relation, &path));
                own.contains(column).then_some((component, name))
            })
            .collect();
        let values = values?;
        if !self.target.plans_texts() {
            let column = |(one, name): &(Component, String)| self.column(draft.relation, one, name);
            let names: Vec<String> = values.iter().map(column).collect();
            return Some(format!(" then get {table} ({})", names.join(", ")));
        }
        let hole = |(one, name): &(Component, String)| self.hole(draft.relation, &one.path, name);
        let (partition, sort) = values.split_at(draft.least.min(values.len()));
        let join = |list: &[(Component, String)]| {
            list.iter().map(hole).collect::<Vec<String>>().join(&DELIMITER.to_string())
        };
        let mut pk = snake(&self.model.relation(draft.relation).name.text);
        if !partition.is_empty() {
            pk.push(DELIMITER);
            pk.push_str(&join(partition));
        }
        let sk = match sort {
            [] => String::new(),
            _ => format!(" sk {}", quote(&format!("{}{}", self.lead(draft), join(sort)))),
        };
        Some(format!(" then get {table} pk {}{sk}", quote(&pk)))
    }

    /// Returns the range predicates on the component behind the known ones.
    fn ranges<'a>(&self, source: &'a Source, next: Option<&Component>) -> Vec<&'a Predicate> {
        let Some(next) = next else { return Vec::new() };
        let ranged = |one: &&Predicate| {
            !matches!(one.op, CondOp::Eq | CondOp::In | CondOp::Present | CondOp::Absent)
                && canonical(self.model, source.relation, &one.path) == next.path
        };
        source.predicates.iter().filter(ranged).collect()
    }

    fn bind_typed(
        &self,
        read: &Read,
        source: &Source,
        draft: &Draft,
        (known, next): (&[Component], Option<&Component>),
        ranges: &[&Predicate],
    ) -> Option<String> {
        let mut values: Vec<String> = Vec::new();
        let shards = self.shards(draft);
        // Shards of everything are the whole partition key.
        if draft.least == 0 && !self.target.ordered && shards.is_none() {
            values.push(format!("{EVERYTHING:?}"));
        }
        for component in known {
            let value = self.known(read, source, &component.path)?;
            values.push(self.column(draft.relation, component, &value));
        }
        if let Some((parts, path)) = shards {
            let shard = match self.known(read, source, &path) {
                Some(value) => format!("bucket(hash({value}), {parts})"),
                None => SHARD.to_owned(),
            };
            values.insert(draft.least.min(values.len()), shard);
        }
        let mut out = if values.is_empty() && ranges.is_empty() {
            String::new()
        } else {
            format!(" ({})", values.join(", "))
        };
        for (word, value) in bounds(ranges) {
            // A text here would say how keys begin, not where they end.
            if matches!(value, Term::Const(Value::Text(_))) {
                return None;
            }
            let value = term(&read.params, value)?;
            let value = next.map(|one| self.column(draft.relation, one, &value)).unwrap_or(value);
            out.push_str(&format!(" {word} {value}"));
        }
        Some(out)
    }

    /// Writes the binding of a text key: what is known of the sort key is its beginning.
    fn bind_text(
        &self,
        read: &Read,
        source: &Source,
        draft: &Draft,
        (known, rest): (&[Component], &[Component]),
        ranges: &[&Predicate],
    ) -> Option<String> {
        let relation = source.relation;
        let (partition, head) = known.split_at(draft.least.min(known.len()));
        let mut pk = snake(&self.model.relation(relation).name.text);
        for component in partition {
            pk.push(DELIMITER);
            pk.push_str(&self.known_text(read, source, relation, &component.path)?);
        }
        if let Some((parts, path)) = self.shards(draft) {
            let shard = match self.known(read, source, &path) {
                Some(value) => format!("bucket(hash({value}), {parts})"),
                None => SHARD.to_owned(),
            };
            pk.push_str(&format!("{DELIMITER}<{shard}>"));
        }
        let mut texts: Vec<String> = Vec::new();
        for component in head {
            texts.push(self.known_text(read, source, relation, &component.path)?);
        }
        let mut begin = format!("{}{}", self.lead(draft), texts.join(&DELIMITER.to_string()));
        if rest.is_empty() {
            let sk = if head.is_empty() { String::new() } else { format!(" sk {}", quote(&begin)) };
            return Some(format!(" pk {}{sk}", quote(&pk)));
        }
        if !head.is_empty() {
            begin.push(DELIMITER);
        }
        if ranges.is_empty() {
            let sk = if head.is_empty() {
                String::new()
            } else {
                format!(" sk begins {}", quote(&begin))
            };
            return Some(format!(" pk {}{sk}", quote(&pk)));
        }
        let next = rest.first()?;
        let ends =
            text_ends(self.model, (read, relation), &begin, (&next.path, rest.len() == 1), ranges)?;
        Some(format!(" pk {} sk{ends}", quote(&pk)))
    }

    fn known(&self, read: &Read, source: &Source, path: &ColumnPath) -> Option<String> {
        let (value, list) = known_term(self.model, source, path)?;
        if list { Some(EACH.to_owned()) } else { term(&read.params, value) }
    }

    fn known_text(
        &self,
        read: &Read,
        source: &Source,
        relation: RelationId,
        path: &ColumnPath,
    ) -> Option<String> {
        let (value, list) = known_term(self.model, source, path)?;
        match value {
            _ if list => Some(self.hole(relation, path, EACH)),
            Term::Param(_) => input_hole(self.model, read, relation, path, value),
            // A template has no holes for constants: the prover finds such a plan by itself.
            _ => None,
        }
    }

    pub(crate) fn serve_mixed(&self, mixed: &Mixed, table: &str) -> Option<String> {
        let read = self.model.reads.get(mixed.read)?;
        let source = read.sources.first()?;
        if source.predicates.iter().any(|one| one.op == CondOp::In) {
            return None;
        }
        let row = mixed.rows.first()?;
        let known = row.keys.get(..row.known)?;
        let mut values = Vec::new();
        for path in known {
            values.push(if self.target.plans_texts() {
                self.known_text(read, source, row.relation, path)?
            } else {
                self.known(read, source, path)?
            });
        }
        let mut out = format!("serve {} by ", read.name.text);
        if self.target.plans_texts() {
            values.insert(0, table.to_owned());
            let pk = values.join(&DELIMITER.to_string());
            out.push_str(&format!("query {table} pk {}", quote(&pk)));
        } else {
            if values.is_empty() && !self.target.ordered {
                values.push(format!("{EVERYTHING:?}"));
            }
            out.push_str(&format!("query {table} ({})", values.join(", ")));
        }
        if self.target.plans_texts() && mixed.descends.first() == Some(&true) {
            out.push_str(" desc");
        }
        if let Some(limit) = &of_range(read) {
            out.push_str(&format!(" limit {}", term(&read.params, limit)?));
        }
        Some(out)
    }

    pub(crate) fn serve_count(&self, read: usize, table: &str) -> Option<String> {
        let read = self.model.reads.get(read)?;
        let one = asked_of(self.model, read)?;
        let value = one.values.first()?;
        let value = if self.target.plans_texts() {
            let relation = read.sources.first()?.relation;
            let parent = self.model.relation(relation).columns.get(*one.path.first()?)?.refers?;
            let head = snake(&self.model.relation(parent).name.text);
            let hole = input_hole(self.model, read, relation, &one.path, value)?;
            format!(" pk {}", quote(&format!("{head}{DELIMITER}{hole}")))
        } else {
            format!(" ({})", term(&read.params, value)?)
        };
        Some(format!("serve {} by get {table}{value}", read.name.text))
    }
}

/// Writes the steps that merge several ranges to one list: sorted, then cut.
pub(crate) fn gather(model: &Model, read: &Read, source: &Source, limit: Option<&str>) -> String {
    let mut out = String::new();
    let orders: Vec<String> = read
        .order
        .iter()
        .filter_map(|(key, desc)| {
            let OrderKey::Columns(paths) = key else { return None };
            let name = model.path_text(source.relation, paths.first()?.as_ref()?);
            Some(format!("{name}{}", if *desc { " desc" } else { "" }))
        })
        .collect();
    if !orders.is_empty() {
        out.push_str(&format!(" then sort by {}", orders.join(", ")));
    }
    if let Some(limit) = limit {
        out.push_str(&format!(" then take {limit}"));
    }
    out
}

/// Returns the known value of an attribute, and true if it is one of a list.
pub(crate) fn known_term<'a>(
    model: &Model,
    source: &'a Source,
    path: &ColumnPath,
) -> Option<(&'a Term, bool)> {
    source.predicates.iter().find_map(|one| {
        let same = canonical(model, source.relation, &one.path) == *path;
        match one.op {
            CondOp::Eq if same => Some((one.values.first()?, false)),
            CondOp::In if same => Some((one.values.first()?, true)),
            _ => None,
        }
    })
}

/// Returns the ends of a range over texts that begin with `begin`, then with the attribute's value;
/// `last` is true if nothing follows it.
pub(crate) fn text_ends(
    model: &Model,
    (read, relation): (&Read, RelationId),
    begin: &str,
    (next, last): (&[usize], bool),
    ranges: &[&Predicate],
) -> Option<String> {
    let fixed = !model.path_type(relation, next).is_text();
    let mut out = String::new();
    let (mut low, mut high) = (false, false);
    for (word, value) in bounds(ranges) {
        let hole = input_hole(model, read, relation, next, value)?;
        // Up to the end of what begins with the value, and not of longer values.
        let end = if fixed || last { "" } else { "#" };
        let (word, end) = match word {
            "through" if last && !fixed => ("to", ""),
            "through" | "after" => (word, end),
            other => (other, ""),
        };
        low |= matches!(word, "from" | "after" | "begins");
        high |= matches!(word, "to" | "through" | "before" | "begins");
        out.push_str(&format!(" {word} {}", quote(&format!("{begin}{hole}{end}"))));
    }
    if !begin.is_empty() && !low {
        out.push_str(&format!(" from {}", quote(begin)));
    }
    if !begin.is_empty() && !high {
        out.push_str(&format!(" through {}", quote(begin)));
    }
    Some(out)
}

/// Converts range predicates to ends of a range.
pub(crate) fn bounds<'a>(ranges: &[&'a Predicate]) -> Vec<(&'static str, &'a Term)> {
    let mut found = Vec::new();
    for one in ranges {
        let mut push =
            |word, at: usize| found.extend(one.values.get(at).map(|value| (word, value)));
        match one.op {
            CondOp::Begins => push("begins", 0),
            CondOp::Ge => push("from", 0),
            CondOp::Gt => push("after", 0),
            CondOp::Le => push("through", 0),
            CondOp::Lt => push("before", 0),
            CondOp::Between => {
                push("from", 0);
                push("through", 1);
            }
            _ => {}
        }
    }
    found
}

/// Returns a constant as a condition of rows writes it.
pub(crate) fn constant(value: &Term) -> Option<String> {
    match value {
        Term::Const(Value::Text(text)) => Some(quote(text)),
        Term::Const(_) => term(&[], value),
        _ => None,
    }
}

/// Returns a value as a schema writes it; `None` when there is no way to write it.
pub(crate) fn term(params: &[Param], term: &Term) -> Option<String> {
    match term {
        Term::Param(index) => {
            let name = &params.get(*index)?.name;
            (name != "now()").then(|| name.clone())
        }
        Term::Const(Value::Int(n)) => Some(n.to_string()),
        Term::Const(Value::Bool(bit)) => Some(bit.to_string()),
        Term::Const(Value::Text(text)) => Some(quote(&text.replace('<', "<<"))),
        _ => None,
    }
}

//! Writes the plans of reads: one range or point read, and what follows it.
//!
//! What cannot be written down is left out; the prover then looks for the plan itself.
//!
//! Invariant: a plan that is written binds every attribute of its partition.

use super::needs::{Need, Origin};
use super::pack::{Form, Layout, Placed};
use super::text::{lead, spreading};
use super::ways::Access;
use crate::families::counts::asked_of;
use crate::families::mixed::Mixed;
use crate::families::serve::{bounds, gather, known_term, term, text_ends};
use crate::families::text::EVERYTHING;
use crate::families::text_keys::{DELIMITER, codec, hole, input_hole};
use shelfmark_design_language::codec::text as coded;
use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::{
    ColumnPath, Model, Predicate, Read, RelationId, Term, canonical,
};
use shelfmark_design_language::syntax::print::quote;
use shelfmark_design_language::syntax::tree::CondOp;
use shelfmark_design_prove::closure::determines_tuple;
use shelfmark_design_prove::own_limits::of_range;

/// The name of one value of a list.
const EACH: &str = "each_one";

/// The name of one shard.
const SHARD: &str = "each_shard";

/// The binding of a sort key's text.
enum Sort {
    /// All of it.
    Whole(String),
    /// Its ends; none is all there is.
    Ends(String),
}

/// A read that is written, with the rows that it is served by.
pub(crate) struct Writer<'a> {
    pub(crate) model: &'a Model,
    pub(crate) layout: &'a Layout,
}

impl Writer<'_> {
    /// Returns the plan of a need.
    pub(crate) fn serve(&self, need: &Need, access: &Access) -> Option<(usize, String)> {
        let Origin::Read(index) = need.origin else { return None };
        let read = self.model.reads.get(index)?;
        let source = read.sources.first()?;
        let placed = self.layout.of(*access.rows.first()?)?;
        let key = &placed.rows.key;
        let whole = key.is_known(&need.ask.equal) && !placed.rows.place.is_entry();
        let mut out = format!("serve {} by ", read.name.text);
        let list = source.predicates.iter().find(|one| one.op == CondOp::In);
        if let Some(list) = list {
            out.push_str(&format!("each {EACH} in {} ", term(&read.params, list.values.first()?)?));
        }
        let sharded = key.shards > 1 && !need.ask.equal.contains(&spreading(self.model, placed));
        if sharded {
            out.push_str(&format!("each {SHARD} in 0..{} ", key.shards - 1));
        }
        let verb = if whole { "get" } else { "query" };
        out.push_str(&format!("{verb} {}", placed.table));
        let value = |path: &ColumnPath, text: bool| self.known(read, source, path, text);
        out.push_str(&self.bind(placed, (read, source), &value)?);
        let first = need.ask.tail.iter().find_map(|(_, desc)| *desc);
        if first == Some(true) && !whole {
            out.push_str(" desc");
        }
        let fixed = need.ask.equal.iter().cloned().collect();
        let single = determines_tuple(self.model, source.relation, &fixed);
        let limit = match &read.limit {
            Some(limit) => Some(term(&read.params, limit)?),
            None => None,
        };
        let several = list.is_some() || sharded;
        if let Some(limit) = &limit
            && !whole
            && (!single || several)
        {
            out.push_str(&format!(" limit {limit}"));
        }
        if several || need.ask.sorted {
            out.push_str(&gather(self.model, read, source, limit.as_deref()));
        }
        if access.own {
            out.push_str(&self.point(placed.rows.relation, placed.rows.relation, &Vec::new())?);
        }
        for place in &access.follows {
            let behind = need.behind.get(*place)?;
            out.push_str(&self.point(placed.rows.relation, behind.owner, &behind.base)?);
        }
        Some((index, out))
    }

    /// Returns the plan of a read of several row types.
    pub(crate) fn serve_mixed(&self, mixed: &Mixed, access: &Access) -> Option<(usize, String)> {
        let read = self.model.reads.get(mixed.read)?;
        let source = read.sources.first()?;
        if source.predicates.iter().any(|one| one.op == CondOp::In) {
            return None;
        }
        let placed = self.layout.of(*access.rows.first()?)?;
        let mut out = format!("serve {} by query {}", read.name.text, placed.table);
        if placed.form == Form::Direct {
            let value = self.known(read, source, placed.rows.key.partition.first()?, false)?;
            let begin = quote(&format!("{}{DELIMITER}", placed.head));
            out.push_str(&format!(" ({value}) begins {begin}"));
        } else {
            let mut pk = vec![placed.head.clone()];
            for path in &placed.rows.key.partition {
                pk.push(self.known(read, source, path, true)?);
            }
            out.push_str(&format!(" pk {}", quote(&pk.join(&DELIMITER.to_string()))));
        }
        if mixed.descends.first() == Some(&true) {
            out.push_str(" desc");
        }
        if let Some(limit) = &of_range(read) {
            out.push_str(&format!(" limit {}", term(&read.params, limit)?));
        }
        Some((mixed.read, out))
    }

    /// Returns the plan of a count that a row keeps.
    pub(crate) fn serve_count(&self, index: usize, parent: RelationId) -> Option<(usize, String)> {
        let read = self.model.reads.get(index)?;
        let value = asked_of(self.model, read)?.values.first()?;
        let placed = self.layout.base(parent)?;
        // The input is the parent's key: a row whose key says more is not found by it.
        let parents_key = self.model.relation(parent).key();
        let own = |path: &ColumnPath, text: bool| {
            if path.as_slice() != parents_key {
                return None;
            }
            if text {
                return input_hole(self.model, read, parent, path, value);
            }
            term(&read.params, value)
        };
        let bound = self.whole(placed, &own)?;
        Some((index, format!("serve {} by get {}{bound}", read.name.text, placed.table)))
    }

    /// Returns a point read of the row itself, or of what a reference leads to.
    fn point(&self, from: RelationId, to: RelationId, base: &ColumnPath) -> Option<String> {
        let placed = self.layout.base(to)?;
        let value = |path: &ColumnPath, text: bool| {
            let whole: ColumnPath = base.iter().chain(path).copied().collect();
            let whole = canonical(self.model, from, &whole);
            let name = format!("row.{}", self.model.path_text(from, &whole));
            Some(if text { hole(self.model, to, path, &name) } else { name })
        };
        Some(format!(" then get {}{}", placed.table, self.whole(placed, &value)?))
    }

    /// Returns the binding of a whole key.
    fn whole(
        &self,
        placed: &Placed,
        value: &dyn Fn(&ColumnPath, bool) -> Option<String>,
    ) -> Option<String> {
        let key = &placed.rows.key;
        if key.shards > 1 {
            return None;
        }
        if placed.form == Form::Typed {
            let mut values: Vec<String> = Vec::new();
            if key.partition.is_empty() {
                values.push(format!("{EVERYTHING:?}"));
            }
            for path in key.partition.iter().chain(&key.sort) {
                values.push(value(path, false)?);
            }
            return Some(format!(" ({})", values.join(", ")));
        }
        let join = |head: String, paths: &[ColumnPath]| {
            let parts: Option<Vec<String>> = paths.iter().map(|path| value(path, true)).collect();
            Some(format!("{head}{}", parts?.join(&DELIMITER.to_string())))
        };
        if placed.form == Form::Direct {
            let sk = quote(&join(lead(self.model, placed), &key.sort)?);
            return Some(format!(" ({}, {sk})", value(key.partition.first()?, false)?));
        }
        let head = if key.partition.is_empty() { "" } else { "#" };
        let pk = join(format!("{}{head}", placed.head), &key.partition)?;
        let sk = join(lead(self.model, placed), &key.sort)?;
        let sk = if sk.is_empty() { String::new() } else { format!(" sk {}", quote(&sk)) };
        Some(format!(" pk {}{sk}", quote(&pk)))
    }

    /// Returns the binding of what a read knows, with its range.
    fn bind(
        &self,
        placed: &Placed,
        (read, source): (&Read, &Source),
        value: &dyn Fn(&ColumnPath, bool) -> Option<String>,
    ) -> Option<String> {
        let key = &placed.rows.key;
        let known = |path: &&ColumnPath| known_term(self.model, source, path).is_some();
        let head = key.sort.iter().take_while(known).count();
        let (head, rest) = key.sort.split_at(head);
        let ranges = self.ranges(source, rest.first());
        let when = &placed.rows.when;
        let asked = source.predicates.iter().filter(|one| is_range(one.op) && !when.contains(one));
        let asked = asked.count();
        if ranges.len() != asked {
            return None;
        }
        let spread = (key.shards > 1).then(|| spreading(self.model, placed));
        let shard = match &spread {
            Some(path) => match value(path, false) {
                Some(known) => Some(format!("bucket(hash({known}), {})", key.shards)),
                None => Some(SHARD.to_owned()),
            },
            None => None,
        };
        if placed.form == Form::Typed {
            let mut values: Vec<String> = Vec::new();
            for path in &key.partition {
                values.push(value(path, false)?);
            }
            values.extend(shard);
            if values.is_empty() {
                values.push(format!("{EVERYTHING:?}"));
            }
            for path in head {
                values.push(value(path, false)?);
            }
            return Some(format!(" ({}){}", values.join(", "), typed_ends(read, &ranges)?));
        }
        if placed.form == Form::Sorted {
            let mut values = vec![quote(&partition_text(placed, shard, value)?)];
            for path in head {
                values.push(value(path, false)?);
            }
            return Some(format!(" ({}){}", values.join(", "), typed_ends(read, &ranges)?));
        }
        let texts: Option<Vec<String>> = head.iter().map(|path| value(path, true)).collect();
        let begin = format!("{}{}", lead(self.model, placed), texts?.join(&DELIMITER.to_string()));
        let sort = self.sort_text((read, placed.rows.relation), begin, (head, rest), &ranges)?;
        if placed.form == Form::Direct {
            let partition = value(key.partition.first()?, false)?;
            return Some(match sort {
                Sort::Whole(sk) => format!(" ({partition}, {})", quote(&sk)),
                Sort::Ends(ends) => format!(" ({partition}){ends}"),
            });
        }
        let pk = quote(&partition_text(placed, shard, value)?);
        let sk = match sort {
            Sort::Whole(sk) if !sk.is_empty() => format!(" sk {}", quote(&sk)),
            Sort::Ends(ends) if !ends.is_empty() => format!(" sk{ends}"),
            _ => String::new(),
        };
        Some(format!(" pk {pk}{sk}"))
    }

    /// Returns the binding of a sort key's text.
    fn sort_text(
        &self,
        (read, relation): (&Read, RelationId),
        mut begin: String,
        (head, rest): (&[ColumnPath], &[ColumnPath]),
        ranges: &[&Predicate],
    ) -> Option<Sort> {
        let Some(next) = rest.first() else { return Some(Sort::Whole(begin)) };
        if !head.is_empty() {
            begin.push(DELIMITER);
        }
        if ranges.is_empty() {
            let begins = format!(" begins {}", quote(&begin));
            return Some(Sort::Ends(if begin.is_empty() { String::new() } else { begins }));
        }
        let next = (next.as_slice(), rest.len() == 1);
        text_ends(self.model, (read, relation), &begin, next, ranges).map(Sort::Ends)
    }

    /// Returns the range predicates on the attribute behind the known ones.
    fn ranges<'s>(&self, source: &'s Source, next: Option<&ColumnPath>) -> Vec<&'s Predicate> {
        let Some(next) = next else { return Vec::new() };
        let on_next = |one: &&Predicate| {
            is_range(one.op) && canonical(self.model, source.relation, &one.path) == *next
        };
        source.predicates.iter().filter(on_next).collect()
    }

    /// Returns a known value as a plan writes it: as a hole or piece of a text, or by itself.
    fn known(&self, read: &Read, source: &Source, path: &ColumnPath, text: bool) -> Option<String> {
        let relation = source.relation;
        let (value, list) = known_term(self.model, source, path)?;
        let of_hole = |name: &str| hole(self.model, relation, path, name);
        match value {
            _ if list => Some(if text { of_hole(EACH) } else { EACH.to_owned() }),
            Term::Const(constant) if text => {
                let ty = self.model.path_type(relation, path);
                Some(coded(constant, &ty, codec(&ty))?.replace('<', "<<"))
            }
            Term::Param(_) if text => input_hole(self.model, read, relation, path, value),
            _ if text => None,
            _ => term(&read.params, value),
        }
    }
}

/// Returns the text of a partition key.
fn partition_text(
    placed: &Placed,
    shard: Option<String>,
    value: &dyn Fn(&ColumnPath, bool) -> Option<String>,
) -> Option<String> {
    let mut pk = vec![placed.head.clone()];
    for path in &placed.rows.key.partition {
        pk.push(value(path, true)?);
    }
    pk.extend(shard.map(|shard| format!("<{shard}>")));
    Some(pk.join(&DELIMITER.to_string()))
}

/// Returns the ends of a range over a typed column.
fn typed_ends(read: &Read, ranges: &[&Predicate]) -> Option<String> {
    let mut out = String::new();
    for (word, value) in bounds(ranges) {
        // A text here would say how keys begin, not where they end.
        if matches!(value, Term::Const(_)) {
            return None;
        }
        out.push_str(&format!(" {word} {}", term(&read.params, value)?));
    }
    Some(out)
}

fn is_range(op: CondOp) -> bool {
    matches!(
        op,
        CondOp::Lt | CondOp::Le | CondOp::Gt | CondOp::Ge | CondOp::Between | CondOp::Begins
    )
}

//! Serves reads of one row type from a collection of several, where that is tried: the row type then needs
//! no table of its own beside the collection.
//!
//! What it is not: no judgement. Whether it pays is found by deriving the schema and counting its cost.
//!
//! Invariant: a read is taken from a collection only by its key or by one range, with a plan that is written.

use std::collections::BTreeSet;

use super::draft::Ask;
use super::mixed::{Gathered, Mixed, MixedRow};
use super::serve::{known_term, term};
use super::text::EVERYTHING;
use super::text_keys::{DELIMITER, input_hole};
use super::{Moves, Planner};
use crate::items::sorts_as_text;
use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::{ColumnPath, Read, RelationId};
use shelfmark_design_language::syntax::print::quote;
use shelfmark_design_prove::paths::is_optional;

impl Planner<'_> {
    /// Returns the row of a collection that is there for every tuple of a relation and has the relation's own
    /// key: who knows that key finds it.
    pub(super) fn row_by_own_key(&self, relation: RelationId) -> Option<(usize, usize)> {
        let own: BTreeSet<ColumnPath> = self.own_key(relation).into_iter().collect();
        self.rows_of_all(relation).find(|(mixed, row)| {
            let row = self.mixed.get(*mixed).and_then(|mixed| mixed.rows.get(*row));
            row.is_some_and(|row| row.keys.iter().cloned().collect::<BTreeSet<_>>() == own)
        })
    }

    /// Returns the rows of collections that are there for every tuple of a relation.
    pub(super) fn rows_of_all(
        &self,
        relation: RelationId,
    ) -> impl Iterator<Item = (usize, usize)> + '_ {
        let rows = move |(at, mixed): (usize, &Mixed)| {
            let whole = move |(_, row): &(usize, &MixedRow)| {
                row.relation == relation && row.when.is_empty()
            };
            let found: Vec<usize> =
                mixed.rows.iter().enumerate().filter(whole).map(|(row, _)| row).collect();
            found.into_iter().map(move |row| (at, row))
        };
        self.mixed.iter().enumerate().flat_map(rows)
    }

    /// Makes a collection's row show these attributes.
    pub(super) fn show_mixed(
        &mut self,
        (mixed, row): (usize, usize),
        shown: &BTreeSet<ColumnPath>,
    ) {
        if let Some(row) = self.mixed.get_mut(mixed).and_then(|mixed| mixed.rows.get_mut(row)) {
            row.shown.extend(shown.iter().cloned());
        }
    }

    /// Takes a read from a collection, if that is tried and its rows serve it.
    pub(super) fn gather(&mut self, read: usize, ask: &Ask) -> bool {
        let tried = |at: &usize| {
            self.mixed.get(*at).is_some_and(|mixed| self.moves.gathered.contains(&mixed.read))
        };
        let found = self.rows_of_all(ask.relation).filter(|(at, _)| tried(at)).find_map(|place| {
            let found = self.gathered_at(read, ask, place)?;
            self.serve_gathered(&found, "t").map(|_| found)
        });
        let Some(found) = found else { return false };
        self.show_mixed((found.mixed, found.row), &ask.shown);
        self.gathered.push(found);
        true
    }

    /// Returns how a collection's row serves a read, if it does by its key or by one range.
    fn gathered_at(
        &self,
        read: usize,
        ask: &Ask,
        (mixed, row): (usize, usize),
    ) -> Option<Gathered> {
        let place = self.mixed.get(mixed)?;
        let one = place.rows.get(row)?;
        let near = ask.shown.iter().all(|path| path.len() == 1 || one.shown.contains(path));
        if !ask.when.is_empty() || ask.sorted || !near {
            return None;
        }
        let found = |flip, point| Some(Gathered { read, mixed, row, flip, point });
        let equal = |path: &ColumnPath| ask.equal.contains(path);
        if one.keys.iter().all(equal) && one.keys.len() == ask.equal.len() {
            return found(false, true);
        }
        let known = one.keys.get(..one.known)?;
        let ranged = ask.tail.iter().any(|(_, desc)| desc.is_none());
        if place.interleaved || ranged || known.len() != ask.equal.len() || !known.iter().all(equal)
        {
            return None;
        }
        // The order of the row type's own attributes, with the directions that they lie in.
        let texts = self.target.plans_texts();
        let lies = (0..place.descends.len()).filter_map(|at| {
            let down = place.descends.get(at).is_some_and(|down| *down) && !texts;
            one.order(at).map(|path| (path, down))
        });
        // What is behind is one text.
        let ends = one.keys.get(one.known + one.ordering..).unwrap_or(&[]).iter();
        let sorted = ends.take_while(|path| {
            sorts_as_text(&self.model.path_type(one.relation, path))
                && !is_optional(self.model, one.relation, path)
        });
        let lies: Vec<(&ColumnPath, bool)> = lies.chain(sorted.map(|path| (path, false))).collect();
        let mut flip = None;
        for (at, (path, desc)) in ask.tail.iter().enumerate() {
            let (other, down) = lies.get(at)?;
            let turned = desc.is_some_and(|desc| desc != *down);
            if *other != path || flip.is_some_and(|flip| flip != turned) {
                return None;
            }
            flip = Some(turned);
        }
        found(flip.unwrap_or(false), false)
    }

    /// Writes the plan of a read that a collection serves.
    pub(super) fn serve_gathered(&self, one: &Gathered, table: &str) -> Option<String> {
        let read = self.model.reads.get(one.read)?;
        let source = read.sources.first()?;
        let mixed = self.mixed.get(one.mixed)?;
        let row = mixed.rows.get(one.row)?;
        let verb = if one.point { "get" } else { "query" };
        let bound = match self.target.plans_texts() {
            true => self.texts_of_gathered(read, source, (one, row), table)?,
            false => self.values_of_gathered(read, source, one)?,
        };
        let mut out = format!("serve {} by {verb} {table}{bound}", read.name.text);
        if one.point {
            return Some(out);
        }
        if one.flip {
            out.push_str(" desc");
        }
        if let Some(limit) = &read.limit {
            out.push_str(&format!(" limit {}", term(&read.params, limit)?));
        }
        Some(out)
    }

    fn texts_of_gathered(
        &self,
        read: &Read,
        source: &Source,
        (one, row): (&Gathered, &MixedRow),
        head: &str,
    ) -> Option<String> {
        let value = |path: &ColumnPath| {
            let (value, _) = known_term(self.model, source, path)?;
            input_hole(self.model, read, row.relation, path, value)
        };
        let (known, rest) = row.keys.split_at(row.known.min(row.keys.len()));
        let join = |first: &str, paths: &[ColumnPath]| {
            let mut texts = vec![first.to_owned()];
            for path in paths {
                texts.push(value(path)?);
            }
            Some(texts.join(&DELIMITER.to_string()))
        };
        let pk = quote(&join(head, known)?);
        Some(if one.point {
            format!(" pk {pk} sk {}", quote(&join(&row.tag, rest)?))
        } else if rest.is_empty() {
            format!(" pk {pk} sk {}", quote(&row.tag))
        } else {
            format!(" pk {pk} sk begins {}", quote(&format!("{}{DELIMITER}", row.tag)))
        })
    }

    fn values_of_gathered(&self, read: &Read, source: &Source, one: &Gathered) -> Option<String> {
        let mixed = self.mixed.get(one.mixed)?;
        let row = mixed.rows.get(one.row)?;
        let value = |path: &ColumnPath| {
            let (value, _) = known_term(self.model, source, path)?;
            term(&read.params, value)
        };
        let hole = |path: &ColumnPath| {
            let (value, _) = known_term(self.model, source, path)?;
            input_hole(self.model, read, row.relation, path, value)
        };
        let mut values = Vec::new();
        for path in row.keys.get(..row.known)? {
            values.push(value(path)?);
        }
        if values.is_empty() && !self.target.ordered {
            values.push(format!("{EVERYTHING:?}"));
        }
        let tag = format!("{:?}", row.tag);
        if !mixed.interleaved {
            values.push(tag.clone());
        }
        if one.point {
            for at in 0..mixed.descends.len() {
                values.push(match row.order(at) {
                    Some(path) if self.one_type(mixed, at) => value(path)?,
                    Some(path) => format!("{:?}", hole(path)?),
                    None => "\"\"".to_owned(),
                });
            }
            if mixed.interleaved {
                values.push(tag);
            }
            let ends = |row: &MixedRow| row.keys.len() > row.known + row.ordering;
            if mixed.rows.iter().any(ends) {
                let mut texts = Vec::new();
                for path in row.keys.get(row.known + row.ordering..)? {
                    texts.push(hole(path)?);
                }
                values.push(format!("{:?}", texts.join(&DELIMITER.to_string())));
            }
        }
        Some(format!(" ({})", values.join(", ")))
    }

    /// Returns the departures by which collections serve what has tables beside them.
    pub(super) fn gatherings(&self) -> Vec<Moves> {
        let beside = |mixed: &&Mixed| {
            mixed.rows.iter().any(|row| self.of_relation.contains_key(&row.relation))
        };
        let one = |mixed: &Mixed| Moves { gathered: [mixed.read].into(), ..Moves::default() };
        self.mixed.iter().filter(beside).map(one).collect()
    }
}

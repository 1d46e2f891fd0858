//! Estimates what candidates and ways cost a month, in dollars.
//!
//! What it is not: exact to the byte. A chosen schema is counted again from its own rows and
//! requests, by [`crate::cost`].
//!
//! Invariant: no estimate is negative, and more that is shown never costs less to write.

use std::collections::BTreeSet;

use super::keys::Key;
use super::needs::{Need, Origin};
use super::ways::{Beside, Place, Rows, Thing};
use crate::bytes::{plain_bytes, value_bytes};
use crate::load::{self, Change, Load, count, hottest, present, rows_of, rows_read};
use crate::price::Prices;
use crate::sparse;
use crate::volume::{Figure, rows};
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::{ColumnPath, Model, Predicate, Read, RelationId, Value};
use shelfmark_design_language::target::Target;

/// The price of keeping one more index or second row, whatever it holds, in dollars a month: of two
/// schemas that cost the same, the one with fewer of them is chosen.
const STANDING: f64 = 0.01;

/// The name of a column that a sparse index has beside the attributes.
///
/// Ours: `order_open_pk`, and a few letters more.
const MARK_NAME_BYTES: f64 = 16.0;

/// Most parts of one partition.
const SHARDS_MAX: u32 = 256;

/// Costs of candidates.
pub(crate) struct Estimate<'a> {
    model: &'a Model,
    load: &'a Load<'a>,
    prices: &'static Prices,
    target: &'a Target,
}

impl<'a> Estimate<'a> {
    pub(crate) fn new(model: &'a Model, load: &'a Load<'a>) -> Self {
        Self { model, load, prices: load.prices, target: load.target }
    }

    /// Returns the bytes of attributes with their names.
    fn attributes(&self, relation: RelationId, paths: &BTreeSet<ColumnPath>) -> f64 {
        let of = |path: &ColumnPath| {
            let ty = self.model.path_type(relation, path);
            let name = self.model.path_text(relation, path).len() as f64;
            let own = plain_bytes(&ty, self.target);
            let share = present(self.model, relation, path);
            (name + own.unwrap_or_else(|| value_bytes(self.model, relation, path))) * share
        };
        paths.iter().map(of).sum()
    }

    /// Returns the bytes of a row itself.
    fn item(&self, relation: RelationId) -> f64 {
        let columns = self.model.relation(relation).columns.len();
        let all = (0..columns).map(|column| vec![column]).collect();
        let key: BTreeSet<ColumnPath> =
            self.model.relation(relation).key().iter().map(|column| vec![*column]).collect();
        // The key is a text of its own beside its attributes, begun with the row's type.
        self.attributes(relation, &all) + self.attributes(relation, &key) + 12.0
    }

    /// Returns the bytes of a candidate's row or entry.
    pub(crate) fn bytes(&self, rows: &Rows) -> f64 {
        let relation = rows.relation;
        if rows.place == Place::Base {
            return self.item(relation);
        }
        let mut paths = rows.key.paths();
        paths.extend(self.model.relation(relation).key().iter().map(|column| vec![*column]));
        paths.extend(rows.shown.iter().cloned());
        let key: BTreeSet<ColumnPath> =
            self.model.relation(relation).key().iter().map(|column| vec![*column]).collect();
        self.attributes(relation, &paths) + self.attributes(relation, &key) + 12.0 + self.mark(rows)
    }

    /// Returns the bytes of the column that an item has where a sparse index has the item: the partition
    /// key once more, under the name of the index.
    fn mark(&self, rows: &Rows) -> f64 {
        if rows.place != Place::Index || rows.when.is_empty() {
            return 0.0;
        }
        let partition = rows.key.partition.iter().cloned().collect();
        self.attributes(rows.relation, &partition) + MARK_NAME_BYTES
    }

    /// Returns the share of tuples that have a row or entry.
    fn share(&self, rows: &Rows) -> f64 {
        let keys = rows.key.paths();
        let there = keys.iter().map(|path| present(self.model, rows.relation, path));
        // What the conditions ask for is counted with them.
        let when: Vec<Predicate> =
            rows.when.iter().filter(|one| !keys.contains(&one.path)).cloned().collect();
        there.product::<f64>() * sparse::share(self.model, rows.relation, &when)
    }

    /// Returns how many shards the hottest partition of a key needs.
    pub(crate) fn shards(
        &self,
        relation: RelationId,
        key: &Key,
        shown: Option<&BTreeSet<ColumnPath>>,
    ) -> u32 {
        let whole = shown.is_none();
        let held = shown.map(|shown| shown.iter().cloned().chain(key.paths()).collect());
        let bytes = match &held {
            Some(held) => self.attributes(relation, held) + 60.0,
            None => self.item(relation),
        };
        let units = self.prices.write_units(bytes);
        let there: f64 = match &held {
            Some(_) => key.paths().iter().map(|path| present(self.model, relation, path)).product(),
            None => 1.0,
        };
        // Entries that come and go count with all of their rows.
        let there = if there < 1.0 { there.max(0.1) } else { 1.0 };
        let heat =
            hottest(self.model, self.load, relation, &key.partition, held.as_ref(), units) * there;
        let parts = (heat / self.prices.partition_writes).ceil();
        let alone = key.sort.is_empty() && whole;
        if parts <= 1.0 || alone || key.tag.is_some() {
            return 1;
        }
        // The hash does not fill all parts alike.
        let wanted = (parts * 1.5).ceil().min(f64::from(SHARDS_MAX));
        (2..=SHARDS_MAX).find(|n| f64::from(*n) >= wanted).unwrap_or(SHARDS_MAX)
    }

    /// Returns true if a partition stays within what one with local indexes may hold.
    pub(crate) fn fits_beside(&self, entry: &Rows) -> bool {
        let relation = entry.relation;
        let known: BTreeSet<ColumnPath> = entry.key.partition.iter().cloned().collect();
        let usual = rows_of(self.model, relation, &known);
        let most = rows(self.model, relation, &known, Figure::Worst).unwrap_or(usual);
        let bytes = self.item(relation) + self.bytes(entry);
        most.max(usual) * bytes <= self.target.collection_bytes_max.unwrap_or(f64::INFINITY)
    }

    /// Returns what a thing costs once.
    pub(crate) fn thing(&self, thing: &Thing) -> f64 {
        match thing {
            Thing::Rows(rows) => self.rows(rows),
            Thing::Copied(relation, path, beside) => self.copied(*relation, path, *beside),
        }
    }

    fn rows(&self, rows: &Rows) -> f64 {
        let bytes = self.bytes(rows);
        let units = self.prices.write_units(bytes);
        let share = self.share(rows);
        let mut units_per_second = 0.0;
        let mut looks = 0.0;
        let sparse = rows.place == Place::Index && !rows.when.is_empty();
        for change in self.load.about(rows.relation) {
            if sparse {
                let (times, looked) = coming_and_going(rows, change, share);
                units_per_second += change.rate * times * units;
                let item = self.item(rows.relation);
                looks += change.rate * looked * self.prices.read_units(item, true);
                continue;
            }
            let keys = rows.key.paths();
            let hits = |paths: &BTreeSet<ColumnPath>| {
                paths
                    .iter()
                    .any(|path| matches!(path.as_slice(), [one] if change.set.contains(one)))
            };
            let own = units * if change.together { self.prices.transaction } else { 1.0 };
            let made = matches!(change.kind, EffectKind::Insert | EffectKind::Delete);
            let times = match rows.place {
                Place::Base => own,
                place if place.is_entry() && made => units * share,
                // The entry under the old key goes, and one under the new key comes.
                place if place.is_entry() && hits(&keys) => 2.0 * units * share.max(0.5),
                place if place.is_entry() && hits(&rows.shown) => units * share,
                Place::Index | Place::Local => 0.0,
                // Written together with the row, which then costs twice as well.
                Place::Copy | Place::Guard => {
                    let both = units * self.prices.transaction + units;
                    if made {
                        both * share
                    } else if hits(&keys) {
                        2.0 * both * share
                    } else if hits(&rows.shown) {
                        both * share
                    } else {
                        0.0
                    }
                }
            };
            units_per_second += change.rate * times;
        }
        let items = count(self.model, rows.relation) * share;
        let parts = f64::from(rows.key.shards - 1) * STANDING;
        let standing = match rows.place {
            Place::Base => 0.0,
            // Where nobody asks for what is there now, one that can be added and dropped is better.
            Place::Local => 1.5 * STANDING,
            // One that has all rows serves more.
            Place::Index if sparse => 1.5 * STANDING,
            _ => STANDING,
        } + parts;
        let looks = self.prices.reads(looks);
        looks
            + self.prices.writes(units_per_second)
            + self.prices.storage(items, bytes + self.mark(rows))
            + standing
    }

    /// Returns the cost of keeping copies of an attribute behind a reference.
    fn copied(&self, relation: RelationId, path: &ColumnPath, beside: Beside) -> f64 {
        let owner = self.model.path_owner(relation, path);
        let via: BTreeSet<ColumnPath> =
            BTreeSet::from([path.first().copied().into_iter().collect()]);
        let rows = rows_of(self.model, relation, &via);
        let units = self.prices.write_units(self.item(relation));
        let mut written = 0.0;
        let mut read = 0.0;
        for change in self.load.about(owner) {
            if path.last().is_some_and(|last| change.set.contains(last)) {
                // The row in one transaction with what changes, and what indexes show of it.
                let shown = if beside == Beside::Rows { units } else { 0.0 };
                written += change.rate * rows * (units * self.prices.transaction + shown);
                read += change.rate * rows * self.prices.weak_read;
            }
        }
        for change in self.load.about(relation) {
            if change.kind == EffectKind::Insert {
                read += change.rate * self.prices.read_units(self.item(owner), true);
            }
        }
        // What second rows hold is priced with them.
        let held = BTreeSet::from([path.clone()]);
        let bytes = if beside == Beside::Rows { self.attributes(relation, &held) } else { 0.0 };
        let items = count(self.model, relation);
        let stored = self.prices.storage(items, bytes) - self.prices.storage(items, 0.0);
        self.prices.writes(written) + self.prices.reads(read) + stored
    }

    /// Returns the cost of a need by one candidate.
    pub(crate) fn read(&self, need: &Need, rows: &Rows, own: bool, follows: usize) -> f64 {
        let prices = self.prices;
        let loops = matches!(need.origin, Origin::Loop(_));
        let parts = f64::from(rows.key.shards);
        let found = need.rows;
        let bytes = self.bytes(rows) * found;
        let mut units = prices.read_units(bytes / parts, need.strong || loops) * parts;
        if own {
            units += found * prices.read_units(self.item(need.ask.relation), need.strong);
        }
        for behind in need.behind.iter().take(follows) {
            units += found * prices.read_units(self.item(behind.owner), need.strong);
        }
        prices.reads(need.rate * units)
    }

    /// Returns the cost of a read of several row types in one range.
    pub(crate) fn collected<'r>(
        &self,
        read: Option<&Read>,
        rows: impl Iterator<Item = &'r Rows>,
    ) -> f64 {
        let Some(read) = read else { return 0.0 };
        let bytes: f64 = rows
            .enumerate()
            .map(|(source, rows)| self.bytes(rows) * rows_read(self.model, read, source))
            .sum();
        self.prices.reads(load::rate(&read.facts) * self.prices.read_units(bytes, false))
    }
}

/// Returns how many entries of a sparse index one change writes on average, and how often its row is
/// read before, because nobody knows otherwise whether the index has it.
fn coming_and_going(rows: &Rows, change: &Change, share: f64) -> (f64, f64) {
    let inserts = change.kind == EffectKind::Insert;
    let told = sparse::told(&rows.when, &|column| {
        let given = change.constants.iter().find(|(at, _)| *at == column);
        match given {
            Some((_, value)) => Some(value.clone()),
            None if inserts && !change.key.contains(&column) => Some(Value::Null),
            None => None,
        }
    });
    let (fails, holds) = (told == Some(false), told == Some(true));
    let sets = |path: &ColumnPath| matches!(path.as_slice(), [one] if change.set.contains(one));
    let knows = |path: &ColumnPath| matches!(path.as_slice(), [one] if change.key.contains(one));
    let asked = || rows.when.iter().map(|one| &one.path);
    let mark = || asked().chain(&rows.key.partition);
    match change.kind {
        EffectKind::Insert if fails => (0.0, 0.0),
        EffectKind::Insert if holds => (1.0, 0.0),
        EffectKind::Insert | EffectKind::Delete => (share, 0.0),
        EffectKind::Update | EffectKind::Increment => {
            let written = if asked().any(sets) {
                1.0
            } else if rows.key.paths().iter().any(sets) {
                2.0 * share
            } else if rows.shown.iter().any(sets) {
                share
            } else {
                0.0
            };
            let open = !fails && mark().any(sets) && mark().any(|one| !sets(one) && !knows(one));
            (written, if open { 1.0 } else { 0.0 })
        }
    }
}

//! Derives counts and sums that a row keeps, where every write that changes them can tell which row that is.

use std::collections::BTreeSet;

use super::Planner;
use super::draft::{Ask, Draft};
use crate::heat::tallied;
use shelfmark_design_language::certificate::text::condition;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Fold, Stored};
use shelfmark_design_language::model::{Model, Predicate, Read, RelationId, Term, Type};
use shelfmark_design_language::syntax::tree::{Aggregate, CondOp, Existing};
use shelfmark_design_prove::tally::{changed_by, extreme, is_followed};
use shelfmark_design_prove::unservable;

/// A number of what refers to an entity, which the entity's row keeps.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) parent: RelationId,
    pub(crate) counted: RelationId,
    via: usize,
    stored: Stored,
    /// As schemas write it.
    pub(crate) text: String,
}

impl Kept {
    /// Returns true for a largest or smallest value.
    fn is_extreme(&self) -> bool {
        matches!(self.stored, Stored::Tally { fold, .. } if fold.is_extreme())
    }

    /// Returns the number that a read asks for, if rows can keep such a one.
    fn of(model: &Model, read: &Read) -> Option<Self> {
        let [source] = read.sources.as_slice() else { return None };
        let wanted = extreme(read);
        if read.offset || read.limit.is_some() && wanted.is_none() {
            return None;
        }
        let counted = source.relation;
        let relation = model.relation(counted);
        let fold = match &read.aggregate {
            Some((Aggregate::Count, None)) => Fold::Count,
            Some((Aggregate::Sum, Some(path))) => match path.as_slice() {
                [at] => Fold::Sum(*at),
                _ => return None,
            },
            Some(_) => return None,
            None => wanted?,
        };
        let column = fold.column().map(|at| relation.columns.get(at)).unwrap_or_default();
        if column.is_some_and(|one| one.optional || fold.is_extreme() && !is_compared(&one.ty)) {
            return None;
        }
        let one = asked_of(model, read)?;
        let (via, parent) = (*one.path.first()?, parent_of(model, counted, one)?);
        let mut when = Vec::new();
        for other in source.predicates.iter().filter(|other| *other != one) {
            let constant = other.values.iter().all(|value| matches!(value, Term::Const(_)));
            if other.path.len() != 1 || !constant || !KEPT.contains(&other.op) {
                return None;
            }
            when.push(other.clone());
        }
        let name = model.relation(counted).name.text.clone();
        let mut text = match fold {
            Fold::Count => format!("count {name}"),
            Fold::Sum(at) => format!("sum {} of {name}", relation.column_name(at)),
            Fold::Max(at) => format!("max {} of {name}", relation.column_name(at)),
            Fold::Min(at) => format!("min {} of {name}", relation.column_name(at)),
        };
        let referring = relation.columns.iter().filter(|column| column.refers == Some(parent));
        let several = referring.count() > 1;
        if several {
            text.push_str(&format!(" by {}", relation.column_name(via)));
        }
        if !when.is_empty() {
            let texts: Vec<String> =
                when.iter().map(|one| condition(model, counted, one)).collect::<Option<_>>()?;
            text.push_str(&format!(" where {}", texts.join(" and ")));
        }
        if fold != Fold::Count || !when.is_empty() || several {
            let taken = model.relation(parent).column(&read.name.text).is_some();
            let end = if taken { "_kept" } else { "" };
            text.push_str(&format!(" as {}{end}", read.name.text));
        }
        let stored = Stored::Tally { relation: counted, via, when, fold, name };
        Some(Self { parent, counted, via, stored, text })
    }
}

/// Returns true if rows keep the largest and the smallest of such values.
fn is_compared(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Int(_) | Type::Decimal(_) | Type::Timestamp | Type::Date | Type::Ulid | Type::Text(_)
    )
}

/// The comparisons of what rows count.
const KEPT: [CondOp; 7] =
    [CondOp::Eq, CondOp::Lt, CondOp::Le, CondOp::Gt, CondOp::Ge, CondOp::Present, CondOp::Absent];

/// Returns the condition of a read that says whose number it is.
pub(crate) fn asked_of<'r>(model: &Model, read: &'r Read) -> Option<&'r Predicate> {
    let source = read.sources.first()?;
    source.predicates.iter().find(|one| parent_of(model, source.relation, one).is_some())
}

/// Returns the entity that a condition fixes by a reference.
fn parent_of(model: &Model, counted: RelationId, one: &Predicate) -> Option<RelationId> {
    let [via] = one.path.as_slice() else { return None };
    let refers = model.relation(counted).columns.get(*via)?.refers?;
    (one.op == CondOp::Eq).then_some(refers)
}

impl Planner<'_> {
    pub(super) fn counts(&mut self) {
        for (index, read) in self.model.reads.iter().enumerate() {
            match self.kept(index, read) {
                Some(kept) => self.count(index, kept),
                None if read.aggregate.is_none() => {}
                None => {
                    if let Some(why) = self.uncounted(read) {
                        self.note(format!("{} is unservable: {why}", read.name.text));
                    }
                }
            }
        }
    }

    /// Returns the number that answers a read, where rows keep it.
    pub(crate) fn kept(&self, index: usize, read: &Read) -> Option<Kept> {
        if self.modes.counts.contains(&index) { self.countable(read) } else { None }
    }

    /// Returns the number that answers a read, where a row could keep it.
    pub(crate) fn countable(&self, read: &Read) -> Option<Kept> {
        let kept = Kept::of(self.model, read)?;
        // A target that cannot compare with what is absent raises no largest value.
        let raised = !kept.is_extreme() || !self.target.rules.contains_key("either");
        let fits = raised && self.too_hot(&kept).is_none();
        fits.then_some(kept)
    }

    /// Returns why no row keeps the number or the value that a read asks for.
    pub(crate) fn uncounted(&self, read: &Read) -> Option<String> {
        let hot = Kept::of(self.model, read).and_then(|kept| self.too_hot(&kept));
        hot.or_else(|| unservable(self.model, read).map(|why| why.to_string()))
    }

    /// Returns why a number changes too often for one row to keep it, by declared rates.
    fn too_hot(&self, kept: &Kept) -> Option<String> {
        let per_second = tallied(self.model, kept.counted, kept.via);
        let most = self.target.partition_writes_max;
        (per_second > most).then(|| {
            format!(
                "one row of {} would keep it, which changed {per_second:.0} times a second, and a \
                 partition of {} takes about {most:.0}",
                self.model.relation(kept.parent).name.text,
                self.target.name
            )
        })
    }

    /// Returns true if every write that changes a number can tell for sure which row keeps it.
    pub(crate) fn is_kept_up(&self, kept: &Kept) -> bool {
        // One item cannot be put and have its count changed by one transaction of such a target.
        let together = self.target.one_operation_per_item
            && self.model.writes.iter().any(|write| {
                let about = |id| write.effects.iter().any(|effect| effect.relation == id);
                about(kept.parent) && about(kept.counted)
            });
        let followed = |effect: &Effect| {
            if effect.relation == kept.parent {
                return effect.kind != EffectKind::Insert || effect.existing == Existing::Fresh;
            }
            effect.relation != kept.counted
                || match effect.kind {
                    EffectKind::Insert => effect.existing == Existing::Fresh,
                    // What goes through the very tuples that go knows which they are.
                    EffectKind::Delete => {
                        effect.each.as_ref().is_none_or(|each| each.relation == effect.relation)
                    }
                    _ => is_followed(self.model, &kept.stored, effect),
                }
        };
        // What refers to nothing is counted nowhere: only a proof tells whether each write knows that.
        let relation = self.model.relation(kept.counted);
        let optional = relation.columns.get(kept.via).is_some_and(|column| column.optional);
        !together
            && !optional
            && self.model.writes.iter().flat_map(|write| &write.effects).all(followed)
    }

    fn count(&mut self, read: usize, kept: Kept) {
        let at = self.keeper(kept.parent);
        if let Some(draft) = self.drafts.get_mut(at)
            && !draft.counts.contains(&kept.text)
        {
            draft.counts.push(kept.text.clone());
        }
        self.counted.push((read, at));
        // Taking one away first looks whether there is one, and what it was.
        let effects = self.model.writes.iter().flat_map(|write| &write.effects);
        let mut shown: BTreeSet<Vec<usize>> = BTreeSet::new();
        for effect in effects.filter(|effect| effect.relation == kept.counted) {
            if effect.kind != EffectKind::Insert {
                shown.extend(changed_by(self.model, &kept.stored, effect));
            }
        }
        if !shown.is_empty() {
            let key = self.model.relation(kept.counted).key().iter().map(|n| vec![*n]).collect();
            let mut ask = Ask::new(self.model, kept.counted, key, Vec::new());
            ask.shown = shown;
            self.ask(&ask);
        }
    }

    /// Returns the table of an entity's numbers, which no other pattern shares.
    fn counter(&mut self, parent: RelationId) -> usize {
        let own = |draft: &Draft| draft.counter && draft.relation == parent;
        if let Some(at) = self.drafts.iter().position(own) {
            return at;
        }
        let key = self.model.relation(parent).key().iter().map(|n| vec![*n]).collect();
        let ask = Ask::new(self.model, parent, key, Vec::new());
        let counter = Draft { locked: true, counter: true, ..Draft::new(&ask, self.fits()) };
        self.drafts.push(counter);
        self.drafts.len() - 1
    }

    /// Returns the draft with exactly the entity's key, or with its numbers alone.
    fn keeper(&mut self, parent: RelationId) -> usize {
        if self.target.rules.contains_key("counter") {
            return self.counter(parent);
        }
        if self.is_indexed(parent) {
            let at = self.base(parent);
            if let Some(draft) = self.drafts.get_mut(at) {
                draft.asked = true;
            }
            return at;
        }
        let key: Vec<Vec<usize>> =
            self.model.relation(parent).key().iter().map(|n| vec![*n]).collect();
        let wanted: BTreeSet<Vec<usize>> = key.iter().cloned().collect();
        let found = self.of_relation.get(&parent).and_then(|list| {
            list.iter().copied().find(|at| {
                self.drafts.get(*at).is_some_and(|one| one.paths() == wanted && one.when.is_empty())
            })
        });
        let at = found.unwrap_or_else(|| {
            let ask = Ask::new(self.model, parent, key, Vec::new());
            let draft = Draft::new(&ask, self.fits());
            self.add(draft)
        });
        if let Some(draft) = self.drafts.get_mut(at) {
            draft.locked = true;
        }
        at
    }
}

//! Derives counts that a row keeps, where every write that changes them can tell which row that is.

use std::collections::BTreeSet;

use super::Planner;
use super::draft::{Ask, Draft};
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::{Read, RelationId};
use shelfmark_design_language::syntax::tree::{Aggregate, CondOp, Existing};
use shelfmark_design_prove::unservable;

impl Planner<'_> {
    pub(super) fn counts(&mut self) {
        for (index, read) in self.model.reads.iter().enumerate() {
            if read.aggregate.is_none() {
                continue;
            }
            match self.countable(read) {
                Some((parent, counted, via)) => self.count(index, parent, counted, via),
                None => {
                    if let Some(why) = unservable(self.model, read) {
                        self.note(format!("{} is unservable: {why}", read.name.text));
                    }
                }
            }
        }
    }

    /// Returns the entity that keeps the count, the counted relation, and the attribute between
    /// them.
    pub(crate) fn countable(&self, read: &Read) -> Option<(RelationId, RelationId, usize)> {
        let [source] = read.sources.as_slice() else { return None };
        let [one] = source.predicates.as_slice() else { return None };
        let (CondOp::Eq, [via]) = (one.op, one.path.as_slice()) else { return None };
        let plain = matches!(read.aggregate, Some((Aggregate::Count, None)))
            && !read.offset
            && read.limit.is_none();
        let relation = self.model.relation(source.relation);
        let parent = relation.columns.get(*via)?.refers?;
        let once =
            relation.columns.iter().filter(|column| column.refers == Some(parent)).count() == 1;
        // One item cannot be put and have its count changed by one transaction of such a target.
        let together = self.target.one_operation_per_item
            && self.model.writes.iter().any(|write| {
                let about = |id| write.effects.iter().any(|effect| effect.relation == id);
                about(parent) && about(source.relation)
            });
        let followed = self.bold
            || !together
                && self.model.writes.iter().flat_map(|write| &write.effects).all(|effect| {
                    if effect.relation == parent {
                        return effect.kind != EffectKind::Insert
                            || effect.existing == Existing::Fresh;
                    }
                    effect.relation != source.relation
                        || match effect.kind {
                            EffectKind::Insert => effect.existing == Existing::Fresh,
                            // What goes through the very tuples that go knows which they are.
                            EffectKind::Delete => effect
                                .each
                                .as_ref()
                                .is_none_or(|each| each.relation == effect.relation),
                            _ => !effect.set.iter().any(|(column, _)| column == via),
                        }
                });
        let optional = relation.columns.get(*via).is_some_and(|column| column.optional);
        (plain && once && followed && !optional).then_some((parent, source.relation, *via))
    }

    fn count(&mut self, read: usize, parent: RelationId, counted: RelationId, via: usize) {
        let at = self.keeper(parent);
        if let Some(draft) = self.drafts.get_mut(at)
            && !draft.counts.contains(&counted)
        {
            draft.counts.push(counted);
        }
        self.counted.push((read, at));
        // Taking one away first looks whether there is one.
        let deletes = self
            .model
            .writes
            .iter()
            .flat_map(|write| &write.effects)
            .any(|effect| effect.relation == counted && effect.kind == EffectKind::Delete);
        if deletes {
            let key = self.model.relation(counted).key().iter().map(|n| vec![*n]).collect();
            let mut ask = Ask::new(self.model, counted, key, Vec::new());
            ask.shown = BTreeSet::from([vec![via]]);
            self.ask(&ask);
        }
    }

    /// Returns the draft with exactly the entity's key.
    fn keeper(&mut self, parent: RelationId) -> usize {
        if self.indexed {
            return self.base(parent);
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

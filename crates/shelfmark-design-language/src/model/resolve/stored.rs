//! Resolves what rows hold beside their keys: attributes, lists, counts, sums, and largest and smallest
//! values.
//!
//! Invariant: what a row keeps of other tuples is told by one reference that leads to its source.

use super::super::relation::RelationId;
use super::super::schema::{Fold, Stored};
use super::super::term::Term;
use super::super::types::Type;
use super::Resolver;
use super::patterns::{Params, Scope};
use super::writes::CONDITIONS;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::tree::{self, Store, StoreItem};

/// The kinds of values that rows keep of several tuples.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Count,
    Sum,
    Max,
    Min,
}

impl Resolver {
    pub(super) fn stored(&mut self, source: RelationId, store: &Store) -> Vec<Stored> {
        let items = match store {
            Store::All => {
                let count = self.model.relation(source).columns.len();
                return (0..count).map(|column| Stored::Path(vec![column])).collect();
            }
            Store::Items(items) => items,
        };
        let mut found = Vec::new();
        for item in items {
            match item {
                StoreItem::Path(path) => {
                    found.extend(self.column_path(source, path).map(Stored::Path));
                }
                StoreItem::Collect { path, by, alias } => {
                    let Some((first, rest)) = path.parts.split_first() else { continue };
                    let Some(relation) = self.relation_id(first) else { continue };
                    let rest = tree::Path { parts: rest.to_vec() };
                    let Some(via) = self.via(relation, source, (first, by.as_ref())) else {
                        continue;
                    };
                    let column = if rest.parts.is_empty() {
                        self.model.relation(relation).key().to_vec()
                    } else {
                        let Some(path) = self.column_path(relation, &rest) else { continue };
                        path
                    };
                    let name = alias.as_ref().map_or_else(|| path.text(), |name| name.text.clone());
                    found.push(Stored::Collect { relation, via, path: column, name });
                }
                StoreItem::Count { source: counted, by, conds, alias } => {
                    let name = alias.as_ref().unwrap_or(counted).clone();
                    let of = (counted, by.as_ref());
                    found.extend(self.tally(source, of, (Kind::Count, None, conds), &name));
                }
                StoreItem::Sum { path, source: counted, by, conds, alias } => {
                    let text = format!("sum_{}", path.text().replace('.', "_"));
                    let own = tree::Name { text, span: path.span() };
                    let name = alias.as_ref().unwrap_or(&own).clone();
                    let of = (counted, by.as_ref());
                    found.extend(self.tally(source, of, (Kind::Sum, Some(path), conds), &name));
                }
                StoreItem::Extreme { largest, path, source: counted, by, conds, alias } => {
                    let (kind, word) =
                        if *largest { (Kind::Max, "max") } else { (Kind::Min, "min") };
                    let text = format!("{word}_{}", path.text().replace('.', "_"));
                    let own = tree::Name { text, span: path.span() };
                    let name = alias.as_ref().unwrap_or(&own).clone();
                    let of = (counted, by.as_ref());
                    found.extend(self.tally(source, of, (kind, Some(path), conds), &name));
                }
            }
        }
        self.kept_once(&found, source, items);
        found
    }

    /// Resolves a value that rows of `source` keep of several tuples.
    fn tally(
        &mut self,
        source: RelationId,
        (counted, by): (&tree::Name, Option<&tree::Name>),
        (kind, path, conds): (Kind, Option<&tree::Path>, &[tree::Cond]),
        name: &tree::Name,
    ) -> Option<Stored> {
        let relation = self.relation_id(counted)?;
        let via = self.via(relation, source, (counted, by))?;
        let fold = match path {
            None => Fold::Count,
            Some(path) => self.folded(relation, kind, path)?,
        };
        let mut when = Vec::new();
        for cond in conds {
            let mut none = Params::known(&[]);
            let one = self.predicate(relation, cond, &mut none, Scope::NONE)?;
            let constant = one.values.iter().all(|value| matches!(value, Term::Const(_)));
            if one.path.len() != 1 || !constant || !CONDITIONS.contains(&cond.op) {
                let message =
                    "what is counted is told by its own attributes and by constants".to_owned();
                let help = "`=`, `<`, `<=`, `>`, `>=`, `is present` and `is absent` are known here";
                self.error(Diagnostic::error(cond.span, message).help(help));
                return None;
            }
            when.push(one);
        }
        Some(Stored::Tally { relation, via, when, fold, name: name.text.clone() })
    }

    /// Resolves the attribute that is added up or compared: one of each tuple's own.
    fn folded(&mut self, relation: RelationId, kind: Kind, path: &tree::Path) -> Option<Fold> {
        let found = self.column_path(relation, path)?;
        let column = found.first().and_then(|at| self.model.relation(relation).columns.get(*at));
        let own = column.filter(|one| found.len() == 1 && !one.optional);
        let fits = own.is_some_and(|one| match kind {
            Kind::Max | Kind::Min => matches!(
                one.ty,
                Type::Int(_)
                    | Type::Decimal(_)
                    | Type::Timestamp
                    | Type::Date
                    | Type::Ulid
                    | Type::Text(_)
            ),
            Kind::Count | Kind::Sum => matches!(one.ty, Type::Int(_) | Type::Decimal(_)),
        });
        let Some(at) = found.first().copied().filter(|_| fits) else {
            let (message, help) = match kind {
                Kind::Max | Kind::Min => (
                    "a largest or smallest value is of an attribute that each of them has",
                    "name one of its own that is a number, a moment, a day, a ULID or a text, not optional",
                ),
                Kind::Count | Kind::Sum => (
                    "a sum is of a number that each of them has",
                    "name an attribute of its own that is an int or decimal, not optional",
                ),
            };
            self.error(Diagnostic::error(path.span(), message.to_owned()).help(help));
            return None;
        };
        Some(match kind {
            Kind::Count => Fold::Count,
            Kind::Sum => Fold::Sum(at),
            Kind::Max => Fold::Max(at),
            Kind::Min => Fold::Min(at),
        })
    }

    /// Reports two lists or values of one name.
    fn kept_once(&mut self, found: &[Stored], source: RelationId, items: &[StoreItem]) {
        let names: Vec<&str> = found
            .iter()
            .filter_map(|stored| match stored {
                Stored::Path(_) => None,
                Stored::Collect { name, .. } | Stored::Tally { name, .. } => Some(name.as_str()),
            })
            .collect();
        let twice = names.iter().enumerate().find(|(at, name)| {
            names.iter().take(*at).any(|other| other == *name)
                || self.model.relation(source).column(name).is_some()
        });
        let Some((_, name)) = twice else { return };
        let span = items.iter().find_map(|item| match item {
            StoreItem::Count { source, .. }
            | StoreItem::Sum { source, .. }
            | StoreItem::Extreme { source, .. } => Some(source.span),
            StoreItem::Collect { path, .. } => Some(path.span()),
            StoreItem::Path(_) => None,
        });
        let message = format!("a row holds two things called `{name}`");
        let diagnostic = Diagnostic::error(span.unwrap_or_default(), message);
        self.error(diagnostic.help("name one of them otherwise: `count Vote as votes`"));
    }

    /// Returns the attribute of `relation` that refers to `source`: the one that is named, or the only one.
    fn via(
        &mut self,
        relation: RelationId,
        source: RelationId,
        (name, by): (&tree::Name, Option<&tree::Name>),
    ) -> Option<usize> {
        let columns = &self.model.relation(relation).columns;
        let mut referring: Vec<usize> = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.refers == Some(source))
            .map(|(index, _)| index)
            .collect();
        let (count, all) = (referring.len(), referring.clone());
        if let Some(by) = by {
            let named = self.model.relation(relation).column(&by.text);
            referring.retain(|at| Some(*at) == named);
        }
        if let [only] = referring[..] {
            return Some(only);
        }
        let (own, to) = (&name.text, &self.model.relation(source).name.text);
        let message = match by {
            Some(by) => format!("`{}` is no reference of `{own}` to `{to}`", by.text),
            None => format!("`{own}` refers to `{to}` {count} times"),
        };
        let help = match all.first() {
            Some(first) => {
                let first = self.model.relation(relation).column_name(*first);
                format!("say by which reference: `by {first}`")
            }
            None => "what is kept of others refers to the row's source".to_owned(),
        };
        self.error(Diagnostic::error(by.unwrap_or(name).span, message).help(help));
        None
    }
}

//! Resolves names of attributes in reads of several row types: in orders, and behind row types.
//!
//! Invariant: an order names an attribute of each row type, or stands behind `kind`.

use super::super::pattern::OrderKey;
use super::super::relation::RelationId;
use super::super::term::ColumnPath;
use super::Resolver;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::span::Span;
use crate::syntax::tree::{self, Path};

impl Resolver {
    /// Resolves the order of a read's rows.
    pub(super) fn order(
        &mut self,
        orders: &[tree::Order],
        relations: &[RelationId],
    ) -> Vec<(OrderKey, bool)> {
        let mut found = Vec::new();
        for order in orders {
            if order.path.text() == "kind" && relations.len() > 1 {
                self.check_kind(order.path.span(), relations);
                found.push((OrderKey::Kind, order.desc));
                continue;
            }
            // Behind the row type an attribute orders the types that have it; one that no type has is
            // reported.
            let by_type = found.iter().any(|(key, _)| matches!(key, OrderKey::Kind));
            if !order.others.is_empty() {
                let mut paths = Vec::new();
                for id in relations {
                    let named = (&order.path, order.others.as_slice());
                    let path = match by_type && !self.is_named(*id, named) {
                        true => None,
                        false => match self.own_path(*id, named, relations) {
                            Some(path) => self.column_path(*id, &path),
                            None => return found,
                        },
                    };
                    paths.push(path);
                }
                found.push((OrderKey::Columns(paths), order.desc));
                continue;
            }
            let Some(paths) = self.ordered_by(&order.path, relations, by_type) else {
                return found;
            };
            found.push((OrderKey::Columns(paths), order.desc));
        }
        found
    }

    /// Returns the attribute that orders each row type; behind the row type some may have none.
    fn ordered_by(
        &mut self,
        path: &Path,
        relations: &[RelationId],
        by_type: bool,
    ) -> Option<Vec<Option<ColumnPath>>> {
        let names = self.names_of(relations);
        let own: Vec<Option<Path>> =
            relations.iter().map(|id| self.of_one_type(*id, path, &names)).collect();
        let found: Vec<Option<ColumnPath>> = relations
            .iter()
            .zip(&own)
            .map(|(id, own)| own.as_ref().and_then(|own| self.try_path(*id, own)))
            .collect();
        if by_type && found.iter().any(Option::is_some) {
            return Some(found);
        }
        if !by_type && own.iter().any(Option::is_none) {
            let message = format!("`{}` orders one row type of several", path.text());
            let help = "order by `kind` before it, or name one attribute of each row type: \
                        `(Post.author, Comment.by)`";
            self.error(Diagnostic::error(path.span(), message).help(help));
            return None;
        }
        let all = relations.iter().zip(&own).filter_map(|(id, own)| Some((id, own.as_ref()?)));
        for (id, own) in all {
            self.column_path(*id, own)?;
        }
        Some(found)
    }

    /// Returns the names of some relations.
    fn names_of(&self, relations: &[RelationId]) -> Vec<String> {
        relations.iter().map(|id| self.model.relation(*id).name.text.clone()).collect()
    }

    /// Reports attributes of several row types where there is one.
    pub(super) fn only_one(&mut self, path: &Path) {
        let message = "attributes of several row types are named only in a read of them".to_owned();
        let help = "name one attribute, without parentheses";
        self.error(Diagnostic::error(path.span(), message).help(help));
    }

    /// Returns true if one of several paths is behind the name of a row type.
    fn is_named(&self, relation: RelationId, (path, others): (&Path, &[Path])) -> bool {
        let name = &self.model.relation(relation).name.text;
        let own = |path: &Path| {
            path.parts.len() > 1 && path.parts.first().is_some_and(|first| first.text == *name)
        };
        own(path) || others.iter().any(own)
    }

    /// Returns the attribute that a row type has among those of several: the one behind its name.
    pub(super) fn own_path(
        &mut self,
        relation: RelationId,
        (path, others): (&Path, &[Path]),
        relations: &[RelationId],
    ) -> Option<Path> {
        let names = self.names_of(relations);
        if others.is_empty() {
            return self.of_one_type(relation, path, &names);
        }
        let of =
            |path: &Path| path.parts.first().map_or("", |first| first.text.as_str()).to_owned();
        let all = || std::iter::once(path).chain(others);
        let first = relations.first() == Some(&relation);
        if let Some(stray) = all().find(|path| path.parts.len() < 2 || !names.contains(&of(path))) {
            if !first {
                return None;
            }
            let message = format!("`{}` names no row type of this read", stray.text());
            let help = format!("write each behind its row type: {}", names.join(", "));
            self.error(Diagnostic::error(stray.span(), message).help(help));
            return None;
        }
        let name = self.model.relation(relation).name.text.clone();
        let mut own = all().filter(|path| of(path) == name);
        match (own.next(), own.next()) {
            (Some(own), None) => Some(Path { parts: own.parts.iter().skip(1).cloned().collect() }),
            (found, _) => {
                let message = match found {
                    Some(_) => format!("`{name}` is named twice"),
                    None => format!("no attribute of `{name}` is named here"),
                };
                let help = "name one attribute of each row type: `(Post.author, Comment.by)`";
                self.error(Diagnostic::error(path.span(), message).help(help));
                None
            }
        }
    }

    /// Returns the attribute that a condition names alone: that of each row type, or behind the name of a
    /// row type that of this one, and none of the others.
    fn of_one_type(&self, relation: RelationId, path: &Path, names: &[String]) -> Option<Path> {
        let typed = path.parts.first().filter(|_| path.parts.len() > 1 && names.len() > 1);
        let typed = typed.filter(|first| names.contains(&first.text));
        let Some(first) = typed.filter(|_| self.try_path(relation, path).is_none()) else {
            return Some(path.clone());
        };
        let own = self.model.relation(relation).name.text == first.text;
        own.then(|| Path { parts: path.parts.iter().skip(1).cloned().collect() })
    }

    /// Reports that `kind` may mean an attribute too.
    pub(super) fn check_kind(&mut self, span: Span, relations: &[RelationId]) {
        let own = relations.iter().find(|id| self.model.relation(**id).column("kind").is_some());
        if let Some(id) = own {
            let name = &self.model.relation(*id).name.text;
            let message = format!("`kind` is the row type here, and an attribute of `{name}` too");
            self.error(Diagnostic::error(span, message).help("give the attribute another name"));
        }
    }
}

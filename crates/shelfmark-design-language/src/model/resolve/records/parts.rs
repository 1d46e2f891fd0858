//! The parts of attributes that stand for several: of keys, of records, of references to one of
//! several entities.
//!
//! What it is not: no expansion of what names them.
//!
//! Invariant: parts are found in the order in which key or record lists them, and nesting ends.

use super::super::relations::lower;
use super::super::shapes::Shape;
use super::Records;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::tree::{Attribute, Fact, Member, Name, Relation, Type, TypeOption};

/// Deepest nesting of keys and records.
///
/// Ours: keys of real models nest two or three deep.
const NESTED_MAX: usize = 8;

/// Most attributes that one reference stands for.
///
/// Ours: twice what the widest target takes in a key.
pub(super) const PARTS_MAX: usize = 64;

/// One attribute of a key or a record, by its path from there.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) names: Vec<Name>,
    pub(super) ty: Type,
    /// The facts of a record's field.
    pub(super) facts: Vec<Fact>,
    /// True if the rest may be there without it.
    pub(super) optional: bool,
    /// True for the kind and the key of a reference to one of several entities.
    pub(super) choice: bool,
}

impl Part {
    fn plain(names: Vec<Name>, ty: Type) -> Self {
        Self { names, ty, facts: Vec::new(), optional: false, choice: false }
    }

    /// Returns the part as seen from where the attribute of a name holds it.
    fn under(mut self, name: &Name) -> Self {
        self.names.insert(0, name.clone());
        self
    }

    /// Returns the part as seen from a record within, if that is what the names lead to.
    pub(super) fn within(&self, rest: &[Name]) -> Option<Self> {
        let texts = |names: &[Name]| names.iter().map(|name| name.text.clone()).collect::<Vec<_>>();
        let (head, tail) = self.names.split_at_checked(rest.len())?;
        let inner = !tail.is_empty() && texts(head) == texts(rest);
        inner.then(|| Self { names: tail.to_vec(), ..self.clone() })
    }
}

/// Returns the attributes of an entity or a link as written, ends first.
pub(super) fn attributes(relation: &Relation) -> Vec<(Name, Type)> {
    let ends = relation.ends.iter().map(|end| {
        let name = end
            .role
            .clone()
            .unwrap_or_else(|| Name { text: lower(&end.entity.text), span: end.entity.span });
        (name, named(end.entity.clone()))
    });
    let own = relation.members.iter().filter_map(|member| match member {
        Member::Attribute(own) => Some((own.name.clone(), own.ty.clone())),
        _ => None,
    });
    ends.chain(own).collect()
}

/// Returns the type of a name.
pub(super) fn named(name: Name) -> Type {
    let span = name.span;
    let (options, element) = (Vec::new(), None);
    Type { name, options, element, fields: Vec::new(), among: Vec::new(), span }
}

/// Returns true if two types as written are the same.
fn is_same(a: &Type, b: &Type) -> bool {
    a.name.text == b.name.text && a.options == b.options
}

/// Returns the names of a key as written; of a link without one its ends.
pub(super) fn key_names(relation: &Relation) -> Vec<Name> {
    let declared = relation.members.iter().find_map(|member| match member {
        Member::Key(names) => Some(names.names.clone()),
        _ => None,
    });
    let marked = || -> Vec<Name> {
        let attributes = relation.members.iter().filter_map(|member| match member {
            Member::Attribute(own) if own.key => Some(own.name.clone()),
            _ => None,
        });
        attributes.collect()
    };
    let names = declared.unwrap_or_else(marked);
    if !names.is_empty() {
        return names;
    }
    attributes(relation).into_iter().take(relation.ends.len()).map(|(name, _)| name).collect()
}

impl Records<'_> {
    /// Returns the parts of an entity's key, with the keys in it expanded.
    pub(super) fn parts(&self, entity: &str, depth: usize) -> Option<Vec<Part>> {
        let relation = self.relations.get(entity).filter(|_| depth < NESTED_MAX)?;
        let attributes = attributes(relation);
        let mut found = Vec::new();
        for name in key_names(relation) {
            let (_, ty) = attributes.iter().find(|(own, _)| own.text == name.text)?;
            let inner = match self.relations.contains_key(ty.name.text.as_str()) {
                true => self.parts(&ty.name.text, depth + 1)?,
                false => Vec::new(),
            };
            let shape = self.shape(&ty.name.text, depth + 1);
            if inner.len() < 2 && shape.is_none() {
                found.push(Part::plain(vec![name], ty.clone()));
                continue;
            }
            found.extend(shape.unwrap_or(inner).into_iter().map(|part| part.under(&name)));
        }
        (found.len() <= PARTS_MAX).then_some(found)
    }

    /// Registers the parts of every shape.
    pub(super) fn shaped(&mut self) {
        for (name, shape) in self.shapes.clone() {
            let parts = self.shape(&name, 0).filter(|parts| parts.len() <= PARTS_MAX);
            let told = match &shape {
                Shape::Record(fields) => fields.first().map(|field| field.name.span),
                Shape::OneOf(among) => among.first().map(|entity| entity.span),
            };
            let message = match (&parts, &shape) {
                (Some(_), _) => None,
                (None, Shape::Record(_)) => Some((
                    format!(
                        "a record nests deeper than {NESTED_MAX}, holds itself, or has more \
                             than {PARTS_MAX} fields"
                    ),
                    "declare a part of it as an entity",
                )),
                (None, Shape::OneOf(_)) => Some((
                    "these are not entities whose keys are one attribute each, all of one type"
                        .to_owned(),
                    "give them keys of one type, or refer to each by an optional attribute",
                )),
            };
            if let Some((message, help)) = message {
                let span = told.unwrap_or_default();
                self.diagnostics.push(Diagnostic::error(span, message).help(help));
            }
            self.keys.insert(name, parts.unwrap_or_default());
        }
    }

    /// Returns the parts of a shape; `None` for what is no shape or cannot be one.
    fn shape(&self, name: &str, depth: usize) -> Option<Vec<Part>> {
        if depth > NESTED_MAX {
            return None;
        }
        match self.shapes.get(name)? {
            Shape::OneOf(among) => self.choice(among),
            Shape::Record(fields) => {
                let mut found = Vec::new();
                for field in fields {
                    found.extend(self.field(field, depth)?);
                }
                Some(found)
            }
        }
    }

    /// Returns the parts of a field of a record.
    fn field(&self, field: &Attribute, depth: usize) -> Option<Vec<Part>> {
        let name = field.ty.name.text.as_str();
        let is = |word: &str| field.facts.iter().any(|fact| fact.name.text == word);
        let inner = match (self.shapes.contains_key(name), self.relations.contains_key(name)) {
            (true, _) => Some(self.shape(name, depth + 1)?),
            (false, true) => self.parts(name, depth + 1).filter(|parts| parts.len() > 1),
            (false, false) => None,
        };
        let facts: Vec<Fact> =
            field.facts.iter().filter(|fact| fact.name.text != "optional").cloned().collect();
        let leaf = || Part::plain(vec![], field.ty.clone());
        let parts = inner.unwrap_or_else(|| vec![leaf()]).into_iter();
        let own = parts.map(|mut part| {
            part.optional |= is("optional");
            part.facts.extend(facts.iter().cloned());
            part.under(&field.name)
        });
        Some(own.collect())
    }

    /// Returns the kind and the key of a reference to one of several entities.
    fn choice(&self, among: &[Name]) -> Option<Vec<Part>> {
        let mut keys = among.iter().map(|entity| self.only_key(&entity.text));
        let first = keys.next()??;
        if !keys.all(|key| key.is_some_and(|key| is_same(&key, &first))) {
            return None;
        }
        let variants = among.iter().map(|entity| TypeOption::Variant(entity.text.clone()));
        let kinds = Type { options: variants.collect(), ..named(Name::plain("enum".to_owned())) };
        let part = |name: &str, ty: Type| Part {
            choice: true,
            ..Part::plain(vec![Name::plain(name.to_owned())], ty)
        };
        Some(vec![part("kind", kinds), part("key", first)])
    }

    /// Returns the type of the only attribute of an entity's key, behind all references.
    fn only_key(&self, entity: &str) -> Option<Type> {
        let mut at = self.relations.get(entity)?;
        for _ in 0..=self.relations.len() {
            let names = key_names(at);
            let [only] = names.as_slice() else { return None };
            let (_, ty) = attributes(at).into_iter().find(|(name, _)| name.text == only.text)?;
            match self.relations.get(ty.name.text.as_str()) {
                Some(next) => at = next,
                None => return Some(ty),
            }
        }
        None
    }
}

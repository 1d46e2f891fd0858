//! Takes types of several parts out of a file: records, and references to one of several entities.
//!
//! `address: record { street: text, city: text }` and `subject: one of (Post, Comment)` stand for
//! several attributes, as a reference to a key of several does. Of the file a copy is made in which
//! each such type is a name, and the shapes behind the names are returned beside it.
//!
//! What it is not: no expansion; `records` puts the parts where the names stand.
//!
//! Invariant: a file without such a type is left as it is, and an inline type gets a name that no
//! model can write.

use std::collections::BTreeMap;

use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::tree::{Attribute, File, Item, Member, Name, Param, Type};

/// A type of several parts.
#[derive(Clone)]
pub(super) enum Shape {
    /// The fields of a record.
    Record(Vec<Attribute>),
    /// The entities that a reference may be to.
    OneOf(Vec<Name>),
}

/// The shapes of a file by their names.
pub(super) type Shapes = BTreeMap<String, Shape>;

/// A file whose types of several parts are names.
pub(super) struct Shaped {
    pub(super) file: File,
    pub(super) shapes: Shapes,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Takes such types out; returns `None` where there are none.
pub(super) fn take_out(file: &File) -> Option<Shaped> {
    if !file.items.iter().any(has_shape) {
        return None;
    }
    let mut shaper = Shaper { shapes: Shapes::new(), diagnostics: Vec::new() };
    let mut items = Vec::new();
    for item in &file.items {
        let mut item = item.clone();
        match &mut item {
            Item::Type(def) if is_shape(&def.ty) => {
                let name = def.name.text.clone();
                if shaper.shapes.contains_key(&name) {
                    let message = format!("the type `{name}` is defined twice");
                    let found = Diagnostic::error(def.name.span, message);
                    shaper.diagnostics.push(found.help("rename one of them"));
                }
                shaper.name(&mut def.ty, name);
                continue;
            }
            Item::Type(def) => shaper.inner(&mut def.ty),
            Item::Entity(relation) | Item::Link(relation) => {
                let own = relation.name.text.clone();
                for member in &mut relation.members {
                    if let Member::Attribute(attribute) = member {
                        shaper.attribute(&own, attribute);
                    }
                }
            }
            Item::Read(read) => shaper.params(&read.name.text.clone(), &mut read.params),
            Item::Write(write) => shaper.params(&write.name.text.clone(), &mut write.params),
            Item::Schema(_) | Item::Target(_) | Item::Allow(_) => {}
        }
        items.push(item);
    }
    Some(Shaped { file: File { items }, shapes: shaper.shapes, diagnostics: shaper.diagnostics })
}

/// Returns true if a type as written has several parts.
fn is_shape(ty: &Type) -> bool {
    !ty.fields.is_empty()
        || !ty.among.is_empty()
        || matches!(ty.name.text.as_str(), "record" | "map")
}

fn has_shape(item: &Item) -> bool {
    let deep = |ty: &Type| is_shape(ty) || ty.element.as_deref().is_some_and(is_shape);
    let any = |params: &[Param]| params.iter().any(|param| param.ty.as_ref().is_some_and(deep));
    match item {
        Item::Type(def) => deep(&def.ty),
        Item::Entity(relation) | Item::Link(relation) => relation
            .members
            .iter()
            .any(|member| matches!(member, Member::Attribute(own) if deep(&own.ty))),
        Item::Read(read) => any(&read.params),
        Item::Write(write) => any(&write.params),
        Item::Schema(_) | Item::Target(_) | Item::Allow(_) => false,
    }
}

struct Shaper {
    shapes: Shapes,
    diagnostics: Vec<Diagnostic>,
}

impl Shaper {
    fn error(&mut self, ty: &Type, message: &str, help: &str) {
        self.diagnostics.push(Diagnostic::error(ty.span, message.to_owned()).help(help));
    }

    fn params(&mut self, pattern: &str, params: &mut [Param]) {
        for param in params {
            let name = format!("{pattern}.{}", param.name.text);
            if let Some(ty) = &mut param.ty {
                self.ty(ty, name);
            }
        }
    }

    fn attribute(&mut self, owner: &str, attribute: &mut Attribute) {
        let name = format!("{owner}.{}", attribute.name.text);
        self.ty(&mut attribute.ty, name);
    }

    /// Names a type if it has several parts, and looks into lists.
    fn ty(&mut self, ty: &mut Type, name: String) {
        if is_shape(ty) { self.name(ty, name) } else { self.inner(ty) }
    }

    /// Reports what cannot be an element of a list.
    fn inner(&mut self, ty: &mut Type) {
        let Some(element) = ty.element.as_deref_mut() else { return };
        if is_shape(element) {
            let message = "the elements of a list are single values";
            let help = "declare what the list holds as an entity that refers to its owner; its rows \
                        can lie beside the owner's";
            self.error(&element.clone(), message, help);
            *element = text();
        } else {
            self.inner(element);
        }
    }

    /// Registers the shape of a type and leaves its name there.
    fn name(&mut self, ty: &mut Type, name: String) {
        let written = std::mem::replace(ty, text());
        ty.span = written.span;
        let shape = match written.name.text.as_str() {
            "map" => {
                let help = "known keys are a record: `record { a: int, b: int }`; keys that are data \
                            are an entity of their own, keyed by its owner and the key";
                self.error(&written, "a map's keys are not part of the model", help);
                return;
            }
            "one" if written.among.len() < 2 => {
                let help = "write `one of (Post, Comment)`; a single one is a plain reference";
                self.error(&written, "a reference to one of several names them", help);
                return;
            }
            "one" => Shape::OneOf(written.among),
            "record" if written.fields.is_empty() => {
                self.error(&written, "a record has fields", "write `record { street: text }`");
                return;
            }
            "record" => {
                let mut fields = written.fields;
                for field in &mut fields {
                    self.attribute(&name, field);
                }
                self.twice(&fields);
                Shape::Record(fields)
            }
            _ => {
                let help = "`record { … }` has fields, `one of (…)` names entities";
                self.error(&written, "this type has no parts", help);
                return;
            }
        };
        ty.name = Name { text: name.clone(), span: written.name.span };
        self.shapes.insert(name, shape);
    }

    /// Reports names that two fields have.
    fn twice(&mut self, fields: &[Attribute]) {
        for (at, field) in fields.iter().enumerate() {
            if fields.iter().take(at).any(|other| other.name.text == field.name.text) {
                let message = format!("the field `{}` is defined twice", field.name.text);
                let found = Diagnostic::error(field.name.span, message);
                self.diagnostics.push(found.help("rename one of them"));
            }
        }
    }
}

/// Returns plain text, in the place of a type that was reported.
fn text() -> Type {
    Type {
        name: Name::plain("text".to_owned()),
        options: Vec::new(),
        element: None,
        fields: Vec::new(),
        among: Vec::new(),
        span: crate::syntax::span::Span::default(),
    }
}

//! Resolves the names of a syntax tree to a model.
//!
//! Invariant: reports every error it finds, and returns a model only when there was none.

mod limits;
mod patterns;
mod plans;
mod records;
mod relations;
mod row_types;
mod schemas;
mod shapes;
mod stored;
mod weight;
mod writes;

use std::collections::{BTreeMap, BTreeSet};

use super::types::Sizes;
use super::{Model, Named, Type, Value};
use crate::limits::{DIAGNOSTICS_MAX, PATTERNS_MAX};
use crate::model::value::id_value;
use crate::syntax::diagnostic::{Diagnostic, nearest};
use crate::syntax::parser::Broken;
use crate::syntax::span::Span;
use crate::syntax::tree::{Fact, File, Item, Name};

/// Resolves a file; the messages are empty exactly when the model is whole.
pub fn resolve(file: &File) -> (Model, Vec<Diagnostic>) {
    let Some((flat, mut diagnostics)) = records::expand(file) else {
        return resolve_with(file, Resolver::default());
    };
    let (model, more) = resolve_with(&flat, Resolver::default());
    diagnostics.extend(more);
    (model, diagnostics)
}

/// Resolves a file of which some parts could not be parsed, and reports errors in names only: other
/// errors may follow from the missing parts.
pub fn resolve_rest(file: &File, broken: Broken) -> Vec<Diagnostic> {
    if broken.open {
        return Vec::new();
    }
    let flat = records::expand(file).map(|(flat, _)| flat);
    resolve_with(
        flat.as_ref().unwrap_or(file),
        Resolver { names_only: true, lost: broken.words, ..Resolver::default() },
    )
    .1
}

fn resolve_with(file: &File, mut resolver: Resolver) -> (Model, Vec<Diagnostic>) {
    let patterns =
        file.items.iter().filter(|item| matches!(item, Item::Read(_) | Item::Write(_))).count();
    if patterns > PATTERNS_MAX {
        let message =
            format!("this model has {patterns} patterns; at most {PATTERNS_MAX} are answered");
        resolver.error(Diagnostic::error(Span::default(), message).help("split it into models"));
        return (resolver.model, resolver.diagnostics);
    }
    resolver.relations(file);
    for item in &file.items {
        match item {
            Item::Read(read) => resolver.read(read),
            Item::Write(write) => resolver.write(write),
            Item::Target(settings) => resolver.settings(settings),
            Item::Allow(allow) => resolver.model.allows.push(allow.clone()),
            _ => {}
        }
    }
    for item in &file.items {
        if let Item::Schema(schema) = item {
            resolver.schema(schema);
        }
    }
    resolver.check_allows();
    resolver.model.unused_types = file
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Type(def) if !resolver.types_used.contains(&def.name.text) => {
                Some(named(&def.name))
            }
            _ => None,
        })
        .collect();
    if resolver.diagnostics.is_empty() {
        resolver.weigh();
    }
    (resolver.model, resolver.diagnostics)
}

#[derive(Default)]
pub(super) struct Resolver {
    pub(super) model: Model,
    pub(super) types: BTreeMap<String, Type>,
    /// The types that something names.
    pub(super) types_used: BTreeSet<String>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// True if only errors in names are reported.
    names_only: bool,
    /// Names of what exists but could not be parsed or resolved: they are not reported as unknown.
    pub(super) lost: BTreeSet<String>,
    /// Names of the model, each with its place in its list.
    relations: BTreeMap<String, usize>,
    reads: BTreeMap<String, usize>,
    writes: BTreeMap<String, usize>,
    /// Names of the schema at hand: tables and indexes, and row families, also by their index.
    tables: BTreeMap<String, usize>,
    families: BTreeMap<String, Vec<usize>>,
}

impl Resolver {
    pub(super) fn error(&mut self, diagnostic: Diagnostic) {
        if !self.names_only {
            self.report(diagnostic);
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < DIAGNOSTICS_MAX {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports an unknown name, with the nearest known one.
    pub(super) fn unknown(&mut self, what: &str, name: &str, span: Span, known: &[String]) {
        if self.lost.contains(name) {
            return;
        }
        let mut diagnostic = Diagnostic::error(span, format!("there is no {what} `{name}`"));
        if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        } else if !known.is_empty() && known.len() <= 12 {
            diagnostic = diagnostic.help(format!("known: {}", known.join(", ")));
        }
        self.report(diagnostic);
    }

    pub(super) fn twice(&mut self, what: &str, name: &Name) {
        let message = format!("the {what} `{}` is defined twice", name.text);
        self.report(Diagnostic::error(name.span, message).help("rename one of them"));
    }

    fn settings(&mut self, settings: &crate::syntax::tree::Settings) {
        let target = crate::target::usual(&settings.target.text).to_owned();
        if !crate::target::names().contains(&target.as_str()) {
            let known: Vec<String> =
                crate::target::names().iter().map(|&name| name.to_owned()).collect();
            self.unknown("target", &target, settings.target.span, &known);
            return;
        }
        let known = crate::target::Target::SETTINGS.map(str::to_owned);
        for (path, value) in &settings.values {
            let name = path.text();
            if !known.contains(&name) {
                self.unknown("setting", &name, path.span(), &known);
                continue;
            }
            if let Some(quantity) = super::quantity::parse(value) {
                self.model.settings.entry(target.clone()).or_default().insert(name, quantity.value);
            }
        }
    }

    fn check_allows(&mut self) {
        let schemas: Vec<String> =
            self.model.schemas.iter().map(|schema| schema.name.text.clone()).collect();
        for allow in self.model.allows.clone() {
            for lint in &allow.lints {
                if crate::catalogue::find(&lint.text).is_none() {
                    let known: Vec<String> =
                        crate::catalogue::ALL.iter().map(|lint| lint.id.to_owned()).collect();
                    self.unknown("lint", &lint.text, lint.span, &known);
                }
            }
            if let Some(schema) = &allow.schema
                && !schemas.contains(&schema.text)
            {
                self.unknown("schema", &schema.text, schema.span, &schemas);
            }
        }
    }
}

pub(super) fn named(name: &Name) -> Named {
    Named { text: name.text.clone(), span: name.span }
}

/// Converts facts to numbers; flags are 1.
pub(super) fn facts_of(facts: &[Fact]) -> BTreeMap<String, f64> {
    facts
        .iter()
        .map(|fact| {
            let raw = fact.value.as_deref().unwrap_or_default();
            let value = super::quantity::parse(raw).map_or(1.0, |quantity| quantity.value);
            let scale = if super::quantity::billions(&fact.name.text, raw) { 1e9 } else { 1.0 };
            (fact.name.text.clone(), value * scale)
        })
        .collect()
}

/// Parses a text constant as a value of a type: UUIDs, ULIDs and dates are written as texts.
pub(super) fn constant(text: &str, ty: &Type) -> Option<Value> {
    match ty {
        Type::Uuid | Type::Ulid => id_value(text, ty),
        Type::Text(_) | Type::Enum(_) => Some(Value::Text(text.to_owned())),
        Type::Bytes(_) => {
            let hex = text.to_ascii_lowercase();
            Sizes::default().holds(&hex).then_some(Value::Text(hex))
        }
        _ => None,
    }
}

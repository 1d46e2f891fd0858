//! Resolves types, entities and links.

use std::collections::BTreeSet;

use super::super::relation::{Column, Fanout, Relation, RelationId};
use super::super::types::{Sizes, TextDomain, Type};
use super::{Resolver, facts_of, named};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::tree::{self, File, Item, Member, Name, TypeOption};

const TYPES: [&str; 13] = [
    "uuid",
    "ulid",
    "text",
    "int",
    "number",
    "timestamp",
    "date",
    "bool",
    "bytes",
    "enum",
    "list",
    "set",
    "decimal",
];

/// Returns the equivalent of another language's type.
fn elsewhere(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "timeuuid" => "ulid",
        "guid" => "uuid",
        "string" | "varchar" | "ascii" | "str" => "text",
        "integer" | "bigint" | "smallint" | "tinyint" | "counter" | "long" | "i64" | "u64" => "int",
        "float" | "double" | "numeric" => "decimal",
        "boolean" => "bool",
        "datetime" | "time" => "timestamp",
        "blob" | "binary" => "bytes",
        _ => return None,
    })
}

impl Resolver {
    pub(super) fn relations(&mut self, file: &File) {
        let mut written: Vec<(&tree::Relation, bool)> = Vec::new();
        for item in &file.items {
            match item {
                Item::Type(def) => {
                    if TYPES.contains(&def.name.text.as_str())
                        || self.types.contains_key(&def.name.text)
                    {
                        self.twice("type", &def.name);
                    }
                    if let Some(ty) = self.ty(&def.ty) {
                        self.types.insert(def.name.text.clone(), ty);
                    }
                }
                Item::Entity(relation) => written.push((relation, false)),
                Item::Link(relation) => written.push((relation, true)),
                _ => {}
            }
        }
        // Names first, so that references may point forward.
        let mut seen = BTreeSet::new();
        for (relation, is_link) in &written {
            if !seen.insert(relation.name.text.clone())
                || self.types.contains_key(&relation.name.text)
            {
                self.twice("entity or link", &relation.name);
            }
            let id = self.model.relations.len();
            self.relations.entry(relation.name.text.clone()).or_insert(id);
            self.model.relations.push(Relation {
                name: named(&relation.name),
                is_link: *is_link,
                ..Relation::default()
            });
        }
        for (id, (relation, _)) in written.iter().enumerate() {
            self.columns(id, relation, &written);
        }
        for (id, (relation, _)) in written.iter().enumerate() {
            self.rules(id, relation);
        }
        self.reference_types(&written);
        self.circles();
    }

    pub(in crate::model) fn relation_id(&mut self, name: &Name) -> Option<RelationId> {
        let found = self.relations.get(&name.text).copied();
        if found.is_none() {
            let known: Vec<String> =
                self.model.relations.iter().map(|relation| relation.name.text.clone()).collect();
            self.unknown("entity or link", &name.text, name.span, &known);
        }
        found
    }

    /// Resolves a type that is no reference.
    pub(in crate::model) fn ty(&mut self, ty: &tree::Type) -> Option<Type> {
        let limits = |wanted: fn(&TypeOption) -> Option<u64>| ty.options.iter().find_map(wanted);
        let max = limits(|option| if let TypeOption::Max(n) = option { Some(*n) } else { None });
        let min = limits(|option| if let TypeOption::Min(n) = option { Some(*n) } else { None });
        let found = match ty.name.text.as_str() {
            "uuid" => Type::Uuid,
            "ulid" => Type::Ulid,
            "bool" => Type::Bool,
            "timestamp" => Type::Timestamp,
            "date" => Type::Date,
            "bytes" => Type::Bytes(Sizes { min: min.unwrap_or(0), max }),
            "int" | "number" | "decimal" => {
                let range = ty.options.iter().find_map(|option| match option {
                    TypeOption::Range(low, high) => Some((*low, *high)),
                    _ => None,
                });
                if range.is_some_and(|(low, high)| low > high) {
                    let message = "this range is empty".to_owned();
                    self.error(Diagnostic::error(ty.span, message));
                }
                if ty.name.text == "int" { Type::Int(range) } else { Type::Decimal(range) }
            }
            "enum" => {
                let variants: Vec<String> = ty
                    .options
                    .iter()
                    .filter_map(|option| match option {
                        TypeOption::Variant(text) => Some(text.clone()),
                        _ => None,
                    })
                    .collect();
                if variants.is_empty() {
                    let message = "an enum names its variants".to_owned();
                    self.error(
                        Diagnostic::error(ty.span, message).help("enum(\"open\", \"closed\")"),
                    );
                }
                Type::Enum(variants)
            }
            "text" => Type::Text(text_domain(ty, min.unwrap_or(0), max)),
            "list" | "set" => {
                let Some(element) = &ty.element else {
                    let message = format!("a {} says of what", ty.name.text);
                    self.error(Diagnostic::error(ty.span, message).help("list of uuid (max 100)"));
                    return None;
                };
                // `list of uuid (max 5)`: only texts have a longest of their own.
                let of_element = element.options.iter().find_map(|option| match option {
                    TypeOption::Max(n) if element.name.text != "text" => Some(*n),
                    _ => None,
                });
                Type::List(Box::new(self.column_type(element)?.0), max.or(of_element))
            }
            name => {
                if let Some(found) = self.types.get(name).cloned() {
                    self.types_used.insert(name.to_owned());
                    return Some(found);
                }
                let mut known: Vec<String> = TYPES.iter().map(|&name| name.to_owned()).collect();
                known.extend(self.types.keys().cloned());
                known.extend(self.relations.keys().cloned());
                if let Some(meant) = elsewhere(name) {
                    let message = format!("there is no type `{name}`");
                    let diagnostic = Diagnostic::error(ty.name.span, message);
                    self.error(diagnostic.help(format!("here it is `{meant}`")));
                } else {
                    self.unknown("type", name, ty.name.span, &known);
                }
                return None;
            }
        };
        Some(found)
    }

    /// Resolves a type, or a reference to an entity, whose key's type is filled in later.
    pub(in crate::model) fn column_type(
        &mut self,
        ty: &tree::Type,
    ) -> Option<(Type, Option<RelationId>)> {
        let refers = self.relations.get(&ty.name.text).copied();
        if let Some(refers) = refers {
            let key = self.model.relation(refers).key().first().copied();
            let ty = key.and_then(|key| self.model.relation(refers).columns.get(key));
            return Some((ty.map_or(Type::Uuid, |column| column.ty.clone()), Some(refers)));
        }
        self.ty(ty).map(|ty| (ty, None))
    }

    fn columns(
        &mut self,
        id: RelationId,
        relation: &tree::Relation,
        _all: &[(&tree::Relation, bool)],
    ) {
        let mut columns: Vec<Column> = Vec::new();
        for end in &relation.ends {
            let Some(refers) = self.relation_id(&end.entity) else { continue };
            let name = end.role.as_ref().unwrap_or(&end.entity);
            let text = if end.role.is_some() { name.text.clone() } else { lower(&name.text) };
            columns.push(Column {
                name: text,
                span: name.span,
                ty: Type::Uuid,
                refers: Some(refers),
                optional: false,
                immutable: true,
                facts: std::collections::BTreeMap::new(),
            });
        }
        for member in &relation.members {
            let Member::Attribute(attribute) = member else { continue };
            // Of an unknown type, so that the attribute is not missed as well.
            let unknown = (Type::Text(TextDomain::default()), None);
            let (ty, refers) = self.column_type(&attribute.ty).unwrap_or(unknown);
            let facts = facts_of(&attribute.facts);
            columns.push(Column {
                name: attribute.name.text.clone(),
                span: attribute.name.span,
                ty,
                refers,
                optional: facts.contains_key("optional"),
                immutable: facts.contains_key("immutable"),
                facts,
            });
        }
        let mut seen = BTreeSet::new();
        for column in &columns {
            if !seen.insert(column.name.clone()) {
                let name = Name { text: column.name.clone(), span: column.span };
                self.twice("attribute", &name);
            }
        }
        if let Some(found) = self.model.relations.get_mut(id) {
            found.columns = columns;
        }
    }

    fn rules(&mut self, id: RelationId, relation: &tree::Relation) {
        let mut keys: Vec<Vec<usize>> = Vec::new();
        let marked: Vec<usize> = relation
            .members
            .iter()
            .filter_map(|member| match member {
                Member::Attribute(attribute) if attribute.key => {
                    self.model.relation(id).column(&attribute.name.text)
                }
                _ => None,
            })
            .collect();
        let mut primary = (!marked.is_empty()).then_some(marked);
        for member in &relation.members {
            match member {
                Member::Key(names) => {
                    if primary.is_some() {
                        let message = "this key is declared twice".to_owned();
                        self.error(Diagnostic::error(names.span, message));
                    }
                    primary = Some(self.column_list(id, &names.names));
                }
                Member::Unique(names) => keys.push(self.column_list(id, &names.names)),
                Member::Attribute(attribute)
                    if attribute.facts.iter().any(|fact| fact.name.text == "unique") =>
                {
                    keys.extend(
                        self.model.relation(id).column(&attribute.name.text).map(|n| vec![n]),
                    );
                }
                _ => {}
            }
        }
        let ends: Vec<usize> = (0..relation.ends.len()).collect();
        let primary = primary.or((!ends.is_empty()).then_some(ends));
        let Some(primary) = primary else {
            let message = format!("`{}` has no key", relation.name.text);
            self.error(
                Diagnostic::error(relation.name.span, message)
                    .help("mark an attribute: `key id: uuid`"),
            );
            return;
        };
        for column in &primary {
            let found = self.model.relation(id).columns.get(*column).cloned();
            if let Some(column) = found
                && (column.optional || matches!(column.ty, Type::List(..)))
            {
                let message =
                    format!("`{}` is optional or a list and cannot be in a key", column.name);
                self.error(Diagnostic::error(column.span, message));
            }
        }
        keys.insert(0, primary);
        let (dependencies, fanouts) = self.dependencies(id, relation);
        let together = self.together(id, relation);
        if let Some(found) = self.model.relations.get_mut(id) {
            found.keys = keys;
            found.dependencies = dependencies;
            found.together = together;
            found.fanouts = fanouts;
            found.facts = relation
                .members
                .iter()
                .filter_map(|member| match member {
                    Member::Fact(fact) => Some(facts_of(std::slice::from_ref(fact))),
                    _ => None,
                })
                .flatten()
                .collect();
        }
    }

    /// Resolves groups of attributes of which a tuple has all or none.
    fn together(&mut self, id: RelationId, relation: &tree::Relation) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for member in &relation.members {
            let Member::Together(names) = member else { continue };
            let group = self.column_list(id, &names.names);
            let columns = &self.model.relation(id).columns;
            let always = group.iter().filter_map(|at| columns.get(*at)).find(|one| !one.optional);
            let wrong = match always {
                Some(column) => Some((
                    format!("`{}` is always there", column.name),
                    "what comes together is `optional`, each of it",
                )),
                None if group.len() < 2 && names.names.len() < 2 => Some((
                    "one attribute is together with nothing".to_owned(),
                    "name at least two: `together (shipped_at, carrier)`",
                )),
                None => None,
            };
            if let Some((message, help)) = wrong {
                self.error(Diagnostic::error(names.span, message).help(help));
            }
            // Groups that share an attribute are one.
            let meets = |other: &Vec<usize>| other.iter().any(|at| group.contains(at));
            let (same, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
            let mut whole: Vec<usize> = same.into_iter().flatten().chain(group).collect();
            whole.sort_unstable();
            whole.dedup();
            groups = apart;
            groups.push(whole);
        }
        groups
    }

    #[expect(clippy::type_complexity, reason = "both lists are filled in one walk")]
    fn dependencies(
        &mut self,
        id: RelationId,
        relation: &tree::Relation,
    ) -> (Vec<(Vec<usize>, Vec<usize>)>, Vec<Fanout>) {
        let mut dependencies = Vec::new();
        let mut fanouts = Vec::new();
        for member in &relation.members {
            match member {
                Member::Fd(fd) => {
                    let from = self.column_list(id, &fd.from);
                    dependencies.push((from, self.column_list(id, &fd.to)));
                }
                Member::Fanout(fanout) => {
                    let from = self.column_list(id, &fanout.from);
                    if let Some(to) = &fanout.to {
                        self.column_list(id, std::slice::from_ref(to));
                    }
                    fanouts.push(Fanout { from, facts: facts_of(&fanout.facts) });
                }
                _ => {}
            }
        }
        (dependencies, fanouts)
    }

    fn column_list(&mut self, id: RelationId, names: &[Name]) -> Vec<usize> {
        names.iter().filter_map(|name| self.column_id(id, name)).collect()
    }

    pub(in crate::model) fn column_id(&mut self, id: RelationId, name: &Name) -> Option<usize> {
        let relation = self.model.relation(id);
        let found = relation.column(&name.text);
        if found.is_none() {
            let known: Vec<String> =
                relation.columns.iter().map(|column| column.name.clone()).collect();
            let what = format!("attribute of `{}` called", relation.name.text);
            self.unknown(&what, &name.text, name.span, &known);
        }
        found
    }

    /// Sets the type of every reference to that of the key it holds.
    fn reference_types(&mut self, written: &[(&tree::Relation, bool)]) {
        // A key may itself be a reference; as many rounds as there are relations settle it.
        for _ in 0..written.len().min(32) {
            for id in 0..self.model.relations.len() {
                for column in 0..self.model.relation(id).columns.len() {
                    self.reference_type(id, column);
                }
            }
        }
        for id in 0..self.model.relations.len() {
            let columns = self.model.relation(id).columns.clone();
            for column in columns {
                let Some(refers) = column.refers else { continue };
                let target = self.model.relation(refers);
                if target.key().len() > 1 {
                    let message = format!(
                        "`{}` refers to `{}`, whose key has several attributes",
                        column.name, target.name.text
                    );
                    let help = format!(
                        "give `{}` a key of one attribute, and make the others `unique (…)`",
                        target.name.text
                    );
                    self.error(Diagnostic::error(column.span, message).help(help));
                }
            }
        }
    }

    /// Refuses keys that refer to one another in a circle: no such entity can ever be created.
    fn circles(&mut self) {
        for id in 0..self.model.relations.len() {
            let next = |at: RelationId| {
                let relation = self.model.relation(at);
                let [only] = relation.key() else { return None };
                relation.columns.get(*only)?.refers
            };
            let mut at = next(id);
            let mut steps = 0;
            while let Some(found) = at
                && found != id
                && steps <= self.model.relations.len()
            {
                at = next(found);
                steps += 1;
            }
            if at != Some(id) {
                continue;
            }
            let relation = self.model.relation(id);
            let name = relation.name.text.clone();
            let key = relation.key().first().and_then(|key| relation.columns.get(*key)).cloned();
            let Some(key) = key else { continue };
            let message = format!(
                "the key of `{name}` leads back to `{name}`, so there is never one to begin with"
            );
            let help = "give one of them a key of its own: `key id: uuid`";
            self.error(Diagnostic::error(key.span, message).help(help));
        }
    }

    fn reference_type(&mut self, id: RelationId, column: usize) {
        let Some(refers) = self.model.relation(id).columns.get(column).and_then(|c| c.refers)
        else {
            return;
        };
        let target = self.model.relation(refers);
        let key = target.key().first().and_then(|key| target.columns.get(*key));
        let Some(ty) = key.map(|column| column.ty.clone()) else { return };
        let found =
            self.model.relations.get_mut(id).and_then(|found| found.columns.get_mut(column));
        if let Some(found) = found {
            found.ty = match &found.ty {
                Type::List(_, max) => Type::List(Box::new(ty), *max),
                _ => ty,
            };
        }
    }
}

/// Returns the text with its first letter in lower case: the role of an end that names none.
pub(super) fn lower(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

fn text_domain(ty: &tree::Type, min: u64, max: Option<u64>) -> TextDomain {
    let mut domain = TextDomain { min, max, without: String::new(), only: None };
    for option in &ty.options {
        match option {
            TypeOption::Without(chars) => domain.without.push_str(chars),
            TypeOption::Only(classes) => domain.only = Some(ranges(classes)),
            _ => {}
        }
    }
    domain
}

/// Parses `a-z0-9-`: ranges and single characters, as in a regular expression's brackets.
fn ranges(classes: &str) -> Vec<(char, char)> {
    let chars: Vec<char> = classes.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(last)) => {
                found.push((*first, *last));
                at += 3;
            }
            _ => {
                found.push((*first, *first));
                at += 1;
            }
        }
    }
    found
}

//! Expands references to entities whose key has several attributes: keys within keys.
//!
//! `author: Author`, where an author's key is (id, name), is two attributes, `author.id` and
//! `author.name`. Wherever the reference is named (in keys, conditions, orders, selections, writes
//! and inputs) both stand in its place, so what is nested in the model is flat in the bytes. Of the
//! file a copy is made in which that is written out; everything behind sees plain attributes.
//!
//! What it is not: no promise that the entity is there. Such a reference is a value, and of the
//! entity only what stands in its key is known through it.
//!
//! Invariant: a file without such a reference is left as it is.

use std::collections::BTreeMap;

use super::relations::lower;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::span::Span;
use crate::syntax::tree::{
    Attribute, Bind, Component, Cond, CondOp, Effect, Expr, ExprKind, Fact, File, Item, Key,
    Member, Name, Names, Order, Param, Path, Read, Relation, Row, Schema, Serve, StepKind, Store,
    StoreItem, Type, Write, WritePlan, WriteStep,
};

/// Deepest nesting of keys.
///
/// Ours: keys of real models nest two or three deep.
const DEPTH_MAX: usize = 8;

/// Most attributes that one reference stands for.
///
/// Ours: twice what the widest target takes in a key.
const PARTS_MAX: usize = 64;

/// One attribute of a key, by its path from the entity.
#[derive(Clone)]
struct Part {
    names: Vec<Name>,
    ty: Type,
}

/// The inputs of a pattern as written, with the parts of those that are keys of several attributes.
type Inputs = Vec<(String, Option<Vec<Part>>)>;

/// The inputs of a plan that are such keys.
type Known = BTreeMap<String, Vec<Part>>;

struct Records<'f> {
    relations: BTreeMap<&'f str, &'f Relation>,
    /// The parts of each key that has several.
    keys: BTreeMap<&'f str, Vec<Part>>,
    inputs: BTreeMap<String, Inputs>,
    diagnostics: Vec<Diagnostic>,
}

/// Expands such references; returns `None` where there are none.
pub(super) fn expand(file: &File) -> Option<(File, Vec<Diagnostic>)> {
    let mut records = Records {
        relations: BTreeMap::new(),
        keys: BTreeMap::new(),
        inputs: BTreeMap::new(),
        diagnostics: Vec::new(),
    };
    for item in &file.items {
        if let Item::Entity(relation) | Item::Link(relation) = item {
            records.relations.insert(&relation.name.text, relation);
        }
    }
    for name in records.relations.keys().copied().collect::<Vec<_>>() {
        if let Some(parts) = records.parts(name, 0)
            && (2..=PARTS_MAX).contains(&parts.len())
        {
            records.keys.insert(name, parts);
        }
    }
    let refers = |relation: &&&Relation| {
        attributes(relation).iter().any(|(_, ty)| records.keys.contains_key(ty.name.text.as_str()))
    };
    records.relations.values().find(refers)?;
    // Plans name the inputs of patterns, wherever those stand.
    let patterns: Vec<Item> = file.items.iter().map(|item| records.pattern(item)).collect();
    let items = patterns.iter().map(|item| match item {
        Item::Schema(schema) => Item::Schema(Box::new(records.schema(file, schema))),
        other => other.clone(),
    });
    let items = items.collect();
    Some((File { items }, records.diagnostics))
}

/// Returns the attributes of an entity or a link as written, ends first.
fn attributes(relation: &Relation) -> Vec<(Name, Type)> {
    let ends = relation.ends.iter().map(|end| {
        let name = end
            .role
            .clone()
            .unwrap_or_else(|| Name { text: lower(&end.entity.text), span: end.entity.span });
        let span = end.entity.span;
        (name, Type { name: end.entity.clone(), options: Vec::new(), element: None, span })
    });
    let own = relation.members.iter().filter_map(|member| match member {
        Member::Attribute(own) => Some((own.name.clone(), own.ty.clone())),
        _ => None,
    });
    ends.chain(own).collect()
}

/// Returns the names of a key as written; of a link without one its ends.
fn key_names(relation: &Relation) -> Vec<Name> {
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

/// Joins `author` and the part `id` to one name.
fn flat(name: &Name, part: &Part) -> Name {
    let mut text = name.text.clone();
    for inner in &part.names {
        text.push('.');
        text.push_str(&inner.text);
    }
    Name { text, span: name.span }
}

/// Returns a path as written, with the part's path appended.
fn behind(names: &[Name], part: &Part) -> Path {
    let span = names.last().map_or(Span::default(), |name| name.span);
    let inner = part.names.iter().map(|name| Name { text: name.text.clone(), span });
    Path { parts: names.iter().cloned().chain(inner).collect() }
}

impl Records<'_> {
    /// Returns the parts of an entity's key, with the keys in it expanded.
    fn parts(&self, entity: &str, depth: usize) -> Option<Vec<Part>> {
        let relation = self.relations.get(entity).filter(|_| depth < DEPTH_MAX)?;
        let attributes = attributes(relation);
        let mut found = Vec::new();
        for name in key_names(relation) {
            let (_, ty) = attributes.iter().find(|(own, _)| own.text == name.text)?;
            let inner = match self.relations.contains_key(ty.name.text.as_str()) {
                true => self.parts(&ty.name.text, depth + 1)?,
                false => Vec::new(),
            };
            if inner.len() < 2 {
                found.push(Part { names: vec![name], ty: ty.clone() });
                continue;
            }
            found.extend(inner.into_iter().map(|part| Part {
                names: std::iter::once(name.clone()).chain(part.names).collect(),
                ty: part.ty,
            }));
        }
        (found.len() <= PARTS_MAX).then_some(found)
    }

    /// Follows a path, and returns it with entities' names replaced by their attributes, and the
    /// parts of its end, if that is such a reference.
    fn walk(&self, relation: &str, path: &[Name]) -> (Vec<Name>, Option<Vec<Part>>) {
        let mut at = relation.to_owned();
        let mut names = Vec::new();
        for (index, name) in path.iter().enumerate() {
            let attributes = self.relations.get(at.as_str()).map(|own| attributes(own));
            let attributes = attributes.unwrap_or_default();
            let by_name = attributes.iter().find(|(own, _)| own.text == name.text);
            let mut by_entity = attributes.iter().filter(|(_, ty)| ty.name.text == name.text);
            let only = by_entity.next().filter(|_| by_entity.next().is_none());
            let Some((own, ty)) = by_name.or(only) else {
                names.extend(path.iter().skip(index).cloned());
                return (names, None);
            };
            let record = self.keys.get(ty.name.text.as_str());
            names.push(match record {
                Some(_) => Name { text: own.text.clone(), span: name.span },
                None => name.clone(),
            });
            if index + 1 == path.len() {
                return (names, record.cloned());
            }
            at.clone_from(&ty.name.text);
        }
        (names, None)
    }

    fn paths(&self, relation: &str, path: &Path) -> Vec<Path> {
        match self.walk(relation, &path.parts) {
            (names, Some(parts)) => parts.iter().map(|part| behind(&names, part)).collect(),
            (parts, None) => vec![Path { parts }],
        }
    }

    /// Returns the part of a value that is such a key as well: of an input or an attribute.
    fn part_of(&mut self, value: &Expr, part: &Part) -> Expr {
        let kind = match &value.kind {
            ExprKind::Path(path) => ExprKind::Path(behind(&path.parts, part)),
            other => {
                let message = "this stands for a key of several attributes".to_owned();
                let help = "give an input, or name the parts of the key one by one";
                self.diagnostics.push(Diagnostic::error(value.span, message).help(help));
                other.clone()
            }
        };
        Expr { kind, span: value.span }
    }

    fn cond(&mut self, relation: &str, cond: &Cond) -> Vec<Cond> {
        let (names, parts) = self.walk(relation, &cond.path.parts);
        let Some(parts) = parts else {
            return vec![Cond { path: Path { parts: names }, ..cond.clone() }];
        };
        if cond.op != CondOp::Eq {
            let message = format!("`{}` is a key of several attributes", cond.path.text());
            let help = "compare it as a whole with `=`, or its parts one by one";
            self.diagnostics.push(Diagnostic::error(cond.span, message).help(help));
        }
        let mut found = Vec::new();
        for part in &parts {
            let values = cond.values.iter().map(|value| self.part_of(value, part)).collect();
            found.push(Cond { path: behind(&names, part), values, ..cond.clone() });
        }
        found
    }

    fn conds(&mut self, relation: &str, conds: &[Cond]) -> Vec<Cond> {
        conds.iter().flat_map(|cond| self.cond(relation, cond)).collect()
    }

    /// Returns the names of a list, with each such reference expanded to its parts.
    fn names(&self, relation: &str, names: &[Name]) -> Vec<Name> {
        let mut found = Vec::new();
        for name in names {
            match self.walk(relation, std::slice::from_ref(name)).1 {
                Some(parts) => found.extend(parts.iter().map(|part| flat(name, part))),
                None => found.push(name.clone()),
            }
        }
        found
    }

    fn relation(&mut self, relation: &Relation) -> Relation {
        let own = relation.name.text.as_str();
        let mut members = Vec::new();
        let mut ends = Vec::new();
        let written = attributes(relation);
        for (end, (name, ty)) in relation.ends.iter().zip(&written) {
            let Some(parts) = self.keys.get(ty.name.text.as_str()) else {
                ends.push(end.clone());
                continue;
            };
            let immutable = Fact { name: Name::plain("immutable".to_owned()), value: None };
            members.extend(parts.iter().map(|part| {
                Member::Attribute(Attribute {
                    name: flat(name, part),
                    key: false,
                    ty: part.ty.clone(),
                    facts: vec![immutable.clone()],
                    span: name.span,
                })
            }));
        }
        let explicit = relation.members.iter().any(|member| match member {
            Member::Key(_) => true,
            Member::Attribute(own) => own.key,
            _ => false,
        });
        if ends.len() < relation.ends.len() && !explicit {
            let names = self.names(own, &key_names(relation));
            members.push(Member::Key(Names { names, span: relation.span }));
        }
        for member in &relation.members {
            members.extend(self.member(own, member));
        }
        Relation { name: relation.name.clone(), ends, members, span: relation.span }
    }

    fn member(&mut self, relation: &str, member: &Member) -> Vec<Member> {
        let names =
            |list: &Names| Names { names: self.names(relation, &list.names), span: list.span };
        match member {
            Member::Key(list) => vec![Member::Key(names(list))],
            Member::Unique(list) => vec![Member::Unique(names(list))],
            Member::Fd(fd) => {
                let mut fd = fd.clone();
                (fd.from, fd.to) = (self.names(relation, &fd.from), self.names(relation, &fd.to));
                vec![Member::Fd(fd)]
            }
            Member::Fanout(fanout) => {
                let mut fanout = fanout.clone();
                fanout.from = self.names(relation, &fanout.from);
                fanout.to = fanout.to.and_then(|to| self.names(relation, &[to]).into_iter().next());
                vec![Member::Fanout(fanout)]
            }
            Member::Attribute(own) => self.attribute(own),
            Member::Fact(_) => vec![member.clone()],
        }
    }

    fn attribute(&mut self, own: &Attribute) -> Vec<Member> {
        let Some(parts) = self.keys.get(own.ty.name.text.as_str()) else {
            return vec![Member::Attribute(own.clone())];
        };
        let is = |word: &str| own.facts.iter().any(|fact| fact.name.text == word);
        if is("optional") {
            let message =
                format!("`{}` is optional and a key of several attributes", own.name.text);
            let help = "half of such a key says nothing: declare its parts one by one";
            self.diagnostics.push(Diagnostic::error(own.name.span, message).help(help));
        }
        let facts: Vec<Fact> =
            own.facts.iter().filter(|fact| fact.name.text != "unique").cloned().collect();
        let mut members: Vec<Member> = parts
            .iter()
            .map(|part| {
                Member::Attribute(Attribute {
                    name: flat(&own.name, part),
                    ty: part.ty.clone(),
                    facts: facts.clone(),
                    ..own.clone()
                })
            })
            .collect();
        if is("unique") {
            let names = parts.iter().map(|part| flat(&own.name, part)).collect();
            members.push(Member::Unique(Names { names, span: own.span }));
        }
        members
    }

    fn pattern(&mut self, item: &Item) -> Item {
        match item {
            Item::Entity(relation) => Item::Entity(self.relation(relation)),
            Item::Link(relation) => Item::Link(self.relation(relation)),
            Item::Read(read) => Item::Read(Box::new(self.read(read))),
            Item::Write(write) => Item::Write(Box::new(self.write(write))),
            other => other.clone(),
        }
    }

    /// Records which inputs are such keys: by their types, and by what they are compared with or
    /// set.
    fn learn<'v>(
        &self,
        params: &[Param],
        told: impl Iterator<Item = (&'v str, Vec<Name>, &'v Expr)>,
    ) -> Inputs {
        let declared = |param: &Param| {
            param.ty.as_ref().and_then(|ty| self.keys.get(ty.name.text.as_str())).cloned()
        };
        let mut inputs: Inputs =
            params.iter().map(|param| (param.name.text.clone(), declared(param))).collect();
        for (relation, path, value) in told {
            let ExprKind::Path(value) = &value.kind else { continue };
            let [name] = value.parts.as_slice() else { continue };
            let found = inputs.iter_mut().find(|(input, _)| *input == name.text);
            if let (Some((_, parts @ None)), (_, Some(record))) =
                (found, self.walk(relation, &path))
            {
                *parts = Some(record);
            }
        }
        inputs
    }

    /// Returns the inputs of a pattern, with those that are such keys expanded to their parts.
    fn params(&mut self, pattern: &Name, params: &[Param], inputs: Inputs) -> Vec<Param> {
        let mut found = Vec::new();
        for (param, (_, parts)) in params.iter().zip(&inputs) {
            match parts {
                None => found.push(param.clone()),
                Some(parts) => found.extend(parts.iter().map(|part| Param {
                    name: flat(&param.name, part),
                    ty: param.ty.as_ref().map(|_| part.ty.clone()),
                })),
            }
        }
        self.inputs.insert(pattern.text.clone(), inputs);
        found
    }

    fn read(&mut self, read: &Read) -> Read {
        let Some(source) = read.sources.first().map(|source| source.text.clone()) else {
            return read.clone();
        };
        let told = read.conds.iter().flat_map(|cond| {
            cond.values.iter().map(|value| (source.as_str(), cond.path.parts.clone(), value))
        });
        let inputs = self.learn(&read.params, told);
        let params = self.params(&read.name, &read.params, inputs);
        let flat_paths = |paths: &[Path]| -> Vec<Path> {
            paths.iter().flat_map(|path| self.paths(&source, path)).collect()
        };
        let (with, select) = (flat_paths(&read.with), read.select.as_deref().map(flat_paths));
        let order = self.orders(&source, &read.order);
        let conds = self.conds(&source, &read.conds);
        Read { params, with, select, conds, order, ..read.clone() }
    }

    fn orders(&self, relation: &str, orders: &[Order]) -> Vec<Order> {
        let flat = orders.iter().flat_map(|order| {
            let paths = self.paths(relation, &order.path).into_iter();
            paths.map(|path| Order { path, desc: order.desc })
        });
        flat.collect()
    }

    fn write(&mut self, write: &Write) -> Write {
        let told = write.effects.iter().flat_map(|effect| {
            let relation = effect.relation.text.as_str();
            let set = effect.key.iter().chain(&effect.set);
            let set = set.map(move |(name, value)| (relation, vec![name.clone()], value));
            let each = effect.each.iter().flat_map(|each| {
                each.conds.iter().flat_map(|cond| {
                    let path = &cond.path.parts;
                    let values = cond.values.iter();
                    values.map(|value| (each.source.text.as_str(), path.clone(), value))
                })
            });
            set.chain(each)
        });
        let inputs = self.learn(&write.params, told);
        let params = self.params(&write.name, &write.params, inputs);
        let effects = write.effects.iter().map(|effect| self.effect(effect)).collect();
        Write { params, effects, ..write.clone() }
    }

    fn effect(&mut self, effect: &Effect) -> Effect {
        let relation = effect.relation.text.clone();
        let mut each = effect.each.clone();
        if let Some(each) = &mut each {
            each.conds = self.conds(&each.source.text.clone(), &each.conds);
        }
        let key = self.bindings(&relation, &effect.key);
        let set = self.bindings(&relation, &effect.set);
        Effect { key, set, each, ..effect.clone() }
    }

    fn bindings(&mut self, relation: &str, written: &[(Name, Expr)]) -> Vec<(Name, Expr)> {
        let mut found = Vec::new();
        for (name, value) in written {
            match self.walk(relation, std::slice::from_ref(name)).1 {
                None => found.push((name.clone(), value.clone())),
                Some(parts) => {
                    for part in &parts {
                        found.push((flat(name, part), self.part_of(value, part)));
                    }
                }
            }
        }
        found
    }

    fn schema(&mut self, file: &File, schema: &Schema) -> Schema {
        let mut schema = schema.clone();
        let ordered = crate::target::profile(crate::target::usual(&schema.target.text))
            .is_some_and(|profile| profile.ordered);
        let mut sources: BTreeMap<String, String> = BTreeMap::new();
        for row in schema.tables.iter_mut().flat_map(|table| &mut table.rows) {
            let Some(source) = row.sources.first().map(|source| source.text.clone()) else {
                continue;
            };
            let indexes = row.indexes.iter().map(|index| &index.name.text);
            for name in indexes.chain([&row.name.text]) {
                sources.insert(name.clone(), source.clone());
            }
            self.row(&source, row, ordered);
        }
        for serve in &mut schema.serves {
            self.serve(file, serve);
        }
        for plan in &mut schema.writes {
            self.write_plan(&sources, plan);
        }
        schema
    }

    fn row(&mut self, source: &str, row: &mut Row, ordered: bool) {
        row.when = self.conds(source, &row.when);
        row.key = self.key(source, &row.key, ordered);
        row.store = self.store(source, &row.store);
        for index in &mut row.indexes {
            index.key = self.key(source, &index.key, ordered);
            index.store = index.store.as_ref().map(|store| self.store(source, store));
        }
    }

    fn key(&self, source: &str, key: &Key, ordered: bool) -> Key {
        let Key::Tuple { partition, sort } = key else { return key.clone() };
        match (partition, sort.split_first()) {
            (Some(partition), _) => Key::Tuple {
                partition: Some(self.components(source, partition)),
                sort: self.components(source, sort),
            },
            // The first component as written is the partition key, as in CQL.
            (None, Some((first, rest))) if !ordered => Key::Tuple {
                partition: Some(self.components(source, std::slice::from_ref(first))),
                sort: self.components(source, rest),
            },
            _ => Key::Tuple { partition: None, sort: self.components(source, sort) },
        }
    }

    fn components(&self, source: &str, components: &[Component]) -> Vec<Component> {
        let flat = components.iter().flat_map(|component| {
            let exprs = self.exprs(source, &component.expr).into_iter();
            exprs.map(|expr| Component { expr, desc: component.desc })
        });
        flat.collect()
    }

    fn exprs(&self, source: &str, expr: &Expr) -> Vec<Expr> {
        let ExprKind::Path(path) = &expr.kind else { return vec![expr.clone()] };
        let paths = self.paths(source, path).into_iter();
        paths.map(|path| Expr { kind: ExprKind::Path(path), span: expr.span }).collect()
    }

    fn store(&self, source: &str, store: &Store) -> Store {
        let Store::Items(items) = store else { return store.clone() };
        let flat = items.iter().flat_map(|item| match item {
            StoreItem::Path(path) => {
                self.paths(source, path).into_iter().map(StoreItem::Path).collect()
            }
            other => vec![other.clone()],
        });
        Store::Items(flat.collect())
    }

    /// Returns the names of a plan's inputs, with those that are such keys expanded to their parts,
    /// and which those are.
    fn plan_inputs(&self, pattern: &Name, names: Option<&[Name]>) -> (Option<Vec<Name>>, Known) {
        let empty = Inputs::new();
        let inputs = self.inputs.get(&pattern.text).unwrap_or(&empty);
        let own: Vec<Name> = match names {
            Some(names) => names.to_vec(),
            None => inputs.iter().map(|(name, _)| Name::plain(name.clone())).collect(),
        };
        let mut known = Known::new();
        let mut flat_names = Vec::new();
        for (index, name) in own.iter().enumerate() {
            match inputs.get(index).and_then(|(_, parts)| parts.as_ref()) {
                None => flat_names.push(name.clone()),
                Some(parts) => {
                    flat_names.extend(parts.iter().map(|part| flat(name, part)));
                    known.insert(name.text.clone(), parts.clone());
                }
            }
        }
        (names.map(|_| flat_names), known)
    }

    fn serve(&mut self, file: &File, serve: &mut Serve) {
        let source = file.items.iter().find_map(|item| match item {
            Item::Read(read) if read.name.text == serve.pattern.text => read.sources.first(),
            _ => None,
        });
        let source = source.map_or_else(String::new, |source| source.text.clone());
        let (params, known) = self.plan_inputs(&serve.pattern, serve.params.as_deref());
        serve.params = params;
        for step in &mut serve.steps {
            match &mut step.kind {
                StepKind::Read(read) => {
                    if let Bind::Tuple(values) = &mut read.bind {
                        let flat =
                            values.iter().flat_map(|value| self.bound(&source, &known, value));
                        *values = flat.collect();
                    }
                }
                StepKind::Filter(conds) => *conds = self.conds(&source, conds),
                StepKind::Sort(orders) => *orders = self.orders(&source, orders),
                StepKind::Take(_) => {}
            }
        }
    }

    /// Resolves a value of a plan: an input, or `row.author`.
    fn bound(&self, source: &str, known: &Known, value: &Expr) -> Vec<Expr> {
        let ExprKind::Path(path) = &value.kind else { return vec![value.clone()] };
        let found = match path.parts.as_slice() {
            [only] => known.get(&only.text).map(|parts| (path.parts.clone(), parts.clone())),
            [row, rest @ ..] if row.text == "row" => {
                let (names, parts) = self.walk(source, rest);
                let whole = std::iter::once(row.clone()).chain(names).collect();
                parts.map(|parts| (whole, parts))
            }
            _ => None,
        };
        let Some((names, parts)): Option<(Vec<Name>, Vec<Part>)> = found else {
            return vec![value.clone()];
        };
        let of = |part| Expr { kind: ExprKind::Path(behind(&names, part)), span: value.span };
        parts.iter().map(of).collect()
    }

    fn write_plan(&mut self, sources: &BTreeMap<String, String>, plan: &mut WritePlan) {
        plan.params = self.plan_inputs(&plan.pattern, plan.params.as_deref()).0;
        let mut steps = std::mem::take(&mut plan.steps);
        self.write_steps(sources, &mut steps);
        plan.steps = steps;
    }

    fn write_steps(&mut self, sources: &BTreeMap<String, String>, steps: &mut [WriteStep]) {
        for step in steps {
            match step {
                WriteStep::Transaction(inner) => self.write_steps(sources, inner),
                WriteStep::Read { row, conds, .. } => {
                    if let Some(source) = sources.get(&row.text) {
                        *conds = self.conds(source, conds);
                    }
                }
                WriteStep::Put { .. } | WriteStep::Delete { .. } | WriteStep::Patch { .. } => {}
            }
        }
    }
}

//! Expands attributes of several parts: references to entities whose key has several attributes,
//! records, and references to one of several entities.
//!
//! `author: Author`, where an author's key is (id, name), is two attributes, `author.id` and
//! `author.name`; a record is its fields, a reference to one of several entities is its `kind` and
//! its `key`. Wherever the attribute is named (in keys, conditions, orders, selections, writes
//! and inputs) all stand in its place, so what is nested in the model is flat in the bytes. Of the
//! file a copy is made in which that is written out; everything behind sees plain attributes.
//!
//! What it is not: no promise that the entity is there. Such a reference is a value, and of the
//! entity only what stands in its key is known through it.
//!
//! Invariant: a file without such an attribute is left as it is; the parts of an optional one are
//! there together.

mod parts;

use std::collections::BTreeMap;

use parts::{PARTS_MAX, Part, attributes, key_names};

use super::shapes::{self, Shapes};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::span::Span;
use crate::syntax::tree::{
    Attribute, Bind, Component, Cond, CondOp, Effect, Expr, ExprKind, Fact, Field, File, Item, Key,
    Member, Name, Names, Order, Param, Path, Read, Relation, Row, Schema, Serve, StepKind, Store,
    StoreItem, Write, WritePlan, WriteStep,
};

/// The inputs of a pattern as written, with the parts of those that are keys of several attributes.
type Inputs = Vec<(String, Option<Vec<Part>>)>;

/// The inputs of a plan that are such keys.
type Known = BTreeMap<String, Vec<Part>>;

struct Records<'f> {
    relations: BTreeMap<&'f str, &'f Relation>,
    shapes: Shapes,
    /// The parts of each key that has several, and of each shape.
    keys: BTreeMap<String, Vec<Part>>,
    inputs: BTreeMap<String, Inputs>,
    diagnostics: Vec<Diagnostic>,
}

/// Expands such attributes; returns `None` where there are none.
pub(super) fn expand(file: &File) -> Option<(File, Vec<Diagnostic>)> {
    let shaped = shapes::take_out(file);
    let file = shaped.as_ref().map_or(file, |shaped| &shaped.file);
    let mut records = Records {
        relations: BTreeMap::new(),
        shapes: shaped.as_ref().map(|one| one.shapes.clone()).unwrap_or_default(),
        keys: BTreeMap::new(),
        inputs: BTreeMap::new(),
        diagnostics: shaped.as_ref().map(|one| one.diagnostics.clone()).unwrap_or_default(),
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
            records.keys.insert(name.to_owned(), parts);
        }
    }
    records.shaped();
    let refers = |relation: &&&Relation| {
        attributes(relation).iter().any(|(_, ty)| records.keys.contains_key(ty.name.text.as_str()))
    };
    if shaped.is_none() {
        records.relations.values().find(refers)?;
    }
    // Plans name the inputs of patterns, wherever those stand.
    let patterns: Vec<Item> = file.items.iter().map(|item| records.pattern(item)).collect();
    let items = patterns.iter().map(|item| match item {
        Item::Schema(schema) => Item::Schema(Box::new(records.schema(file, schema))),
        other => other.clone(),
    });
    let items = items.collect();
    Some((File { items }, records.diagnostics))
}

/// Splits the name of a field at its points.
fn pieces(field: &Field) -> Vec<Name> {
    let parts = field.text.split('.');
    parts.map(|part| Name { text: part.to_owned(), span: field.span }).collect()
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
            if let (Some(parts), true) = (record, self.shapes.contains_key(&ty.name.text)) {
                let rest = path.get(index + 1..).unwrap_or_default();
                names.push(Name { text: own.text.clone(), span: name.span });
                names.extend(rest.iter().cloned());
                let inner: Vec<Part> = parts.iter().filter_map(|part| part.within(rest)).collect();
                return (names, (!inner.is_empty()).then_some(inner));
            }
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
        let is_kind = part.names.last().is_some_and(|name| name.text == "kind");
        let kind = match &value.kind {
            // What is taken away has no parts.
            ExprKind::Path(path) if path.text() == "absent" => value.kind.clone(),
            ExprKind::Path(path) => ExprKind::Path(behind(&path.parts, part)),
            // `Post(p)` is a reference to the post of that key.
            ExprKind::Call { name, args } if part.choice && args.len() == 1 => match args.first() {
                Some(key) if !is_kind => key.kind.clone(),
                _ => ExprKind::Text(name.text.clone()),
            },
            other => {
                let message = "this stands for several attributes".to_owned();
                let help = match part.choice {
                    true => "give an input, or say which entity it is: `Post(p)`",
                    false => "give an input, or name the parts one by one",
                };
                self.diagnostics.push(Diagnostic::error(value.span, message).help(help));
                other.clone()
            }
        };
        Expr { kind, span: value.span }
    }

    fn cond(&mut self, relation: &str, cond: &Cond) -> Vec<Cond> {
        if !cond.others.is_empty() {
            return vec![cond.clone()];
        }
        let (names, parts) = self.walk(relation, &cond.path.parts);
        let Some(parts) = parts else {
            return vec![Cond { path: Path { parts: names }, ..cond.clone() }];
        };
        // One part that is there whenever the others are tells whether they are.
        if let (CondOp::Present | CondOp::Absent, Some(part)) =
            (cond.op, parts.iter().find(|part| !part.optional))
        {
            return vec![Cond { path: behind(&names, part), ..cond.clone() }];
        }
        if cond.op != CondOp::Eq || parts.iter().any(|part| part.optional) {
            let message = format!("`{}` stands for several attributes", cond.path.text());
            let help = match cond.op {
                CondOp::Eq => "some of them may be absent: compare its parts one by one",
                _ => "compare it as a whole with `=`, or its parts one by one",
            };
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

    /// Returns the names of a list, of each such attribute the parts that are always there with it.
    fn required(&self, relation: &str, names: &[Name]) -> Vec<Name> {
        let mut found = Vec::new();
        for name in names {
            match self.walk(relation, std::slice::from_ref(name)).1 {
                Some(parts) => {
                    let there = parts.iter().filter(|part| !part.optional);
                    found.extend(there.map(|part| flat(name, part)));
                }
                None => found.push(name.clone()),
            }
        }
        found
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
            Member::Together(list) => vec![Member::Together(Names {
                names: self.required(relation, &list.names),
                span: list.span,
            })],
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
        let required: Vec<Name> =
            parts.iter().filter(|part| !part.optional).map(|part| flat(&own.name, part)).collect();
        if is("optional") && required.is_empty() {
            let message = format!("`{}` is optional, and so is all that is in it", own.name.text);
            let help = "leave out one `optional`: what is always there tells whether it is";
            self.diagnostics.push(Diagnostic::error(own.name.span, message).help(help));
        }
        let facts: Vec<Fact> =
            own.facts.iter().filter(|fact| fact.name.text != "unique").cloned().collect();
        let absent = Fact { name: Name::plain("optional".to_owned()), value: None };
        let mut members: Vec<Member> = parts
            .iter()
            .map(|part| {
                let mut facts = facts.clone();
                facts.extend(part.facts.iter().cloned());
                if part.optional && !is("optional") {
                    facts.push(absent.clone());
                }
                Member::Attribute(Attribute {
                    name: flat(&own.name, part),
                    ty: part.ty.clone(),
                    facts,
                    ..own.clone()
                })
            })
            .collect();
        if is("optional") && required.len() > 1 {
            members.push(Member::Together(Names { names: required, span: own.span }));
        }
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
            let of = self.holder(read, &cond.path);
            cond.values.iter().map(move |value| (of, cond.path.parts.clone(), value))
        });
        let inputs = self.learn(&read.params, told);
        let params = self.params(&read.name, &read.params, inputs);
        let flat_paths = |paths: &[Path]| -> Vec<Path> {
            paths.iter().flat_map(|path| self.paths(&source, path)).collect()
        };
        let (with, select) = (flat_paths(&read.with), read.select.as_deref().map(flat_paths));
        let order = self.orders(&source, &read.order);
        let conds = read.conds.iter().flat_map(|cond| {
            let of = self.holder(read, &cond.path).to_owned();
            self.cond(&of, cond)
        });
        let conds = conds.collect();
        Read { params, with, select, conds, order, ..read.clone() }
    }

    /// Returns the row type of a read whose attribute a path names as a whole key: the first where none
    /// does. What the path means for another type, its own key perhaps, is resolved part by part.
    fn holder<'r>(&self, read: &'r Read, path: &Path) -> &'r str {
        let names = || read.sources.iter().map(|source| source.text.as_str());
        let holds = |name: &&str| self.walk(name, &path.parts).1.is_some();
        names().find(holds).or_else(|| names().next()).unwrap_or_default()
    }

    fn orders(&self, relation: &str, orders: &[Order]) -> Vec<Order> {
        let flat = orders.iter().flat_map(|order| {
            let paths = match order.others.is_empty() {
                true => self.paths(relation, &order.path),
                false => vec![order.path.clone()],
            };
            let paths = paths.into_iter();
            paths.map(|path| Order { path, ..order.clone() })
        });
        flat.collect()
    }

    fn write(&mut self, write: &Write) -> Write {
        let told = write.effects.iter().flat_map(|effect| {
            let relation = effect.relation.text.as_str();
            let set = effect.key.iter().chain(&effect.set);
            let set = set.map(move |(name, value)| (relation, pieces(name), value));
            let asked = effect.conds.iter().flat_map(move |cond| {
                cond.values.iter().map(move |value| (relation, cond.path.parts.clone(), value))
            });
            let each = effect.each.iter().flat_map(|each| {
                each.conds.iter().flat_map(|cond| {
                    let path = &cond.path.parts;
                    let values = cond.values.iter();
                    values.map(|value| (each.source.text.as_str(), path.clone(), value))
                })
            });
            set.chain(asked).chain(each)
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
        let conds = self.conds(&relation, &effect.conds);
        Effect { key, set, each, conds, ..effect.clone() }
    }

    fn bindings(&mut self, relation: &str, written: &[(Field, Expr)]) -> Vec<(Field, Expr)> {
        let mut found = Vec::new();
        for (name, value) in written {
            match self.walk(relation, &pieces(name)).1 {
                None => found.push((name.clone(), value.clone())),
                Some(parts) => {
                    for part in &parts {
                        found.push((Field(flat(name, part)), self.part_of(value, part)));
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
            index.when = self.conds(source, &index.when);
            index.key = self.key(source, &index.key, ordered);
            if let Some(store) = index.store.take() {
                index.store = Some(self.store(source, &store));
            }
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

    fn store(&mut self, source: &str, store: &Store) -> Store {
        let Store::Items(items) = store else { return store.clone() };
        let flat: Vec<StoreItem> = items
            .iter()
            .flat_map(|item| match item {
                StoreItem::Path(path) => {
                    self.paths(source, path).into_iter().map(StoreItem::Path).collect()
                }
                StoreItem::Count { source: of, conds, .. }
                | StoreItem::Sum { source: of, conds, .. }
                | StoreItem::Extreme { source: of, conds, .. } => {
                    let flat = self.conds(&of.text, conds);
                    let mut item = item.clone();
                    if let StoreItem::Count { conds, .. }
                    | StoreItem::Sum { conds, .. }
                    | StoreItem::Extreme { conds, .. } = &mut item
                    {
                        *conds = flat;
                    }
                    vec![item]
                }
                StoreItem::Collect { .. } => vec![item.clone()],
            })
            .collect();
        Store::Items(flat)
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
                StepKind::Read(read) | StepKind::Also(read) => {
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

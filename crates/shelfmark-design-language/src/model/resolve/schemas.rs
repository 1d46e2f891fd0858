//! Resolves tables, row families and their keys.

use std::collections::BTreeMap;

use super::super::pattern::{Effect, EffectKind, Predicate};
use super::super::relation::RelationId;
use super::super::schema::{
    Codec, Column, ColumnKind, Family, Lookup, Part, Sample, Schema, Stored, Table,
};

use super::super::types::{TextDomain, Type};
use super::super::value::Value;
use super::patterns::{Params, Scope};
use super::writes::CONDITIONS;
use super::{Resolver, constant, named};
use crate::limits::{FAMILIES_MAX, ROW_TYPES_MAX};
use crate::model::{ColumnPath, Term};
use crate::notes::Notes;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::tree::{self, ExprKind, Key, Segment, Template};
use crate::target::profile;

/// Returns true if a table is an index of the rows of another.
fn is_index_of(schema: &Schema, index: usize, table: usize) -> bool {
    let mut entries = schema.families.iter().filter(|family| family.table == index);
    entries.all(|entry| {
        let base = entry.base.and_then(|base| schema.families.get(base));
        base.is_some_and(|base| base.table == table)
    })
}

/// The columns of a key, partition first, with their number and directions.
pub(super) struct ResolvedKey {
    columns: Vec<Column>,
    kinds: Vec<ColumnKind>,
    desc: Vec<bool>,
    partition: usize,
}

impl Resolver {
    pub(super) fn schema(&mut self, written: &tree::Schema) {
        if self.model.schemas.iter().any(|other| other.name.text == written.name.text) {
            self.twice("schema", &written.name);
        }
        let known: Vec<String> =
            crate::target::names().iter().map(|&name| name.to_owned()).collect();
        let target = crate::target::usual(&written.target.text).to_owned();
        if !known.contains(&target) {
            self.unknown("target", &target, written.target.span, &known);
            self.lost.insert(written.name.text.clone());
            return;
        }
        let mut schema = Schema {
            name: named(&written.name),
            target,
            tables: Vec::new(),
            families: Vec::new(),
            serves: Vec::new(),
            writes: Vec::new(),
            samples: Vec::new(),
            notes: Notes::default(),
            lookup: Lookup::default(),
        };
        self.tables.clear();
        self.families.clear();
        for table in &written.tables {
            self.table(&mut schema, table);
        }
        if schema.families.len() > FAMILIES_MAX {
            let message = format!("at most {FAMILIES_MAX} row families are answered");
            self.error(Diagnostic::error(written.name.span, message));
            return;
        }
        schema.look_up(&self.model);
        let crowded = (0..schema.tables.len())
            .find(|table| schema.of_table(*table).count() > ROW_TYPES_MAX)
            .and_then(|table| schema.tables.get(table));
        if let Some(table) = crowded {
            let message = format!(
                "`{}` has more than {ROW_TYPES_MAX} row types, which are compared with one another",
                table.name.text
            );
            self.error(Diagnostic::error(table.name.span, message).help("split it into tables"));
            return;
        }
        for sample in &written.samples {
            self.sample(&mut schema, sample);
        }
        for serve in &written.serves {
            self.serve(&mut schema, serve);
        }
        for plan in &written.writes {
            self.write_plan(&mut schema, plan);
        }
        self.model.schemas.push(schema);
    }

    fn table(&mut self, schema: &mut Schema, written: &tree::Table) {
        let table = schema.tables.len();
        if self.tables.contains_key(&written.name.text) {
            self.twice("table", &written.name);
        }
        self.tables.entry(written.name.text.clone()).or_insert(table);
        schema.tables.push(Table {
            name: named(&written.name),
            partition: 0,
            kinds: Vec::new(),
            desc: Vec::new(),
            is_index: false,
            is_local: false,
        });
        for row in &written.rows {
            if self.families.contains_key(&row.name.text) {
                self.twice("row family", &row.name);
            }
            for source in &row.sources {
                match self.relation_id(source) {
                    Some(source) => self.row(schema, table, row, source),
                    None => {
                        let indexes = row.indexes.iter().map(|index| &index.name.text);
                        self.lost.extend(indexes.chain([&row.name.text]).cloned());
                    }
                }
            }
        }
    }

    fn row(&mut self, schema: &mut Schema, table: usize, row: &tree::Row, source: RelationId) {
        let mut none = Params::known(&[]);
        let when: Vec<Predicate> = row
            .when
            .iter()
            .filter_map(|cond| self.predicate(source, cond, &mut none, Scope::NONE))
            .collect();
        let Some(key) = self.key(&schema.target, source, &row.key) else {
            let indexes = row.indexes.iter().map(|index| &index.name.text);
            self.lost.extend(indexes.chain([&row.name.text]).cloned());
            return;
        };
        self.agree(schema, table, &key, row.name.span);
        let stored = self.stored(source, &row.store);
        let base = schema.families.len();
        let adds_only = when.is_empty() && self.adds_only(source, &key.columns, &stored);
        self.families.entry(row.name.text.clone()).or_default().push(base);
        schema.families.push(Family {
            name: named(&row.name),
            table,
            base: None,
            source,
            when: when.clone(),
            key: key.columns.clone(),
            stored: stored.clone(),
            follows: row
                .follows
                .as_ref()
                .and_then(|late| crate::model::quantity::parse(late))
                .map(|late| late.value),
            adds_only,
            span: row.span,
            notes: Notes::default(),
        });
        for index in &row.indexes {
            self.index(schema, base, index, &key, &stored);
        }
    }

    /// Resolves an index: a table of its own, whose rows also carry the key of the row they belong
    /// to.
    fn index(
        &mut self,
        schema: &mut Schema,
        base: usize,
        index: &tree::Index,
        base_key: &ResolvedKey,
        base_stored: &[Stored],
    ) {
        let Some(family) = schema.families.get(base).cloned() else { return };
        let Some(mut key) = self.key(&schema.target, family.source, &index.key) else { return };
        if index.local && !self.is_beside(&schema.target, index, &key, base_key) {
            return;
        }
        let mut when = family.when.clone();
        when.extend(self.index_conditions(family.source, index));
        key.columns.extend(base_key.columns.iter().cloned());
        key.kinds.extend(base_key.kinds.iter().cloned());
        key.desc.extend(base_key.desc.iter().copied());
        let found = self.tables.get(&index.name.text).copied();
        if found.is_some_and(|found| !is_index_of(schema, found, family.table)) {
            let message = format!("`{}` is the name of another table or index", index.name.text);
            self.error(Diagnostic::error(index.name.span, message).help(
                "row types of one table share an index by its name; those of two tables do not, so \
                 write the table's name into it",
            ));
            return;
        }
        let table = found.unwrap_or_else(|| {
            self.tables.insert(index.name.text.clone(), schema.tables.len());
            schema.tables.push(Table {
                name: named(&index.name),
                partition: 0,
                kinds: Vec::new(),
                desc: Vec::new(),
                is_index: true,
                is_local: index.local,
            });
            schema.tables.len() - 1
        });
        self.agree(schema, table, &key, index.span);
        let stored = match &index.store {
            None => base_stored.to_vec(),
            Some(store) => self.stored(family.source, store),
        };
        let name = named(&index.name);
        let id = schema.families.len();
        let full = format!("{}.{}", family.name.text, name.text);
        for text in [&name.text, &full] {
            self.families.entry(text.clone()).or_default().push(id);
        }
        schema.families.push(Family {
            name: super::super::Named { text: full, span: name.span },
            table,
            base: Some(base),
            when,
            key: key.columns,
            stored,
            span: index.span,
            notes: Notes::default(),
            ..family
        });
    }

    /// Returns true if rows hold, beside their key, only numbers that begin to be when they are added to,
    /// and that no write changes otherwise.
    fn adds_only(&self, source: RelationId, key: &[Column], stored: &[Stored]) -> bool {
        let all = self.model.writes.iter().flat_map(|write| &write.effects);
        let own: Vec<&Effect> = all.filter(|effect| effect.relation == source).collect();
        let added = |column: &usize| {
            let mut begins = own.iter().filter(|effect| effect.begins());
            begins.any(|effect| effect.set.iter().any(|(at, _)| at == column))
        };
        let in_key = |path: &ColumnPath| {
            key.iter().flat_map(|column| &column.parts).any(
                |part| matches!(part, Part::Hole { term: Term::Column(other), .. } if other == path),
            )
        };
        let mut beside = stored.iter().filter(|one| match one {
            Stored::Path(path) => !in_key(path),
            _ => true,
        });
        let counts = |one: &Stored| matches!(one, Stored::Path(path) if matches!(path.as_slice(), [only] if added(only)));
        own.iter().any(|effect| effect.begins())
            && own.iter().all(|effect| effect.begins() || effect.kind == EffectKind::Delete)
            && beside.clone().next().is_some()
            && beside.all(counts)
    }

    /// Resolves the conditions of a sparse index: on attributes of the rows' own tuples, with constants.
    fn index_conditions(&mut self, source: RelationId, index: &tree::Index) -> Vec<Predicate> {
        let mut found = Vec::new();
        for cond in &index.when {
            let mut none = Params::known(&[]);
            let Some(one) = self.predicate(source, cond, &mut none, Scope::NONE) else { continue };
            let constant = one.values.iter().all(|value| matches!(value, Term::Const(_)));
            if one.path.len() != 1 || !constant || !CONDITIONS.contains(&cond.op) {
                let message =
                    "an index asks attributes of its rows' own tuples, by constants".to_owned();
                self.error(Diagnostic::error(cond.span, message).help(
                    "`=`, `<`, `<=`, `>`, `>=`, `is present` and `is absent` are known here; what lies \
                     behind a reference changes without the row",
                ));
                continue;
            }
            found.push(one);
        }
        found
    }

    /// Checks that an index is one that lies beside its rows: on a target that has such, with their
    /// partition key and one column more.
    fn is_beside(
        &mut self,
        target: &str,
        index: &tree::Index,
        key: &ResolvedKey,
        base: &ResolvedKey,
    ) -> bool {
        let local = profile(target).is_some_and(|target| target.local_indexes_max > 0.0);
        let alike = key.partition == base.partition
            && key.columns.len() == key.partition + 1
            && base.columns.len() > base.partition
            && key
                .columns
                .iter()
                .zip(&base.columns)
                .take(key.partition)
                .all(|(own, base)| own.parts == base.parts);
        if local && alike {
            return true;
        }
        let (message, help) = match local {
            true => (
                "a local index has the partition key of its table, and one column behind it",
                "write the same partition key, or leave out `local`",
            ),
            false => ("this target has no local indexes", "leave out `local`"),
        };
        self.error(Diagnostic::error(index.name.span, message.to_owned()).help(help));
        false
    }

    /// Checks that all rows of a table have keys of one shape.
    fn agree(
        &mut self,
        schema: &mut Schema,
        table: usize,
        key: &ResolvedKey,
        span: crate::syntax::span::Span,
    ) {
        let Some(found) = schema.tables.get_mut(table) else { return };
        if found.kinds.is_empty() {
            found.partition = key.partition;
            found.kinds.clone_from(&key.kinds);
            found.desc.clone_from(&key.desc);
            return;
        }
        let same = found.partition == key.partition
            && found.desc == key.desc
            && found.kinds.len() == key.kinds.len()
            && found.kinds.iter().zip(&key.kinds).all(|(a, b)| match (a, b) {
                (ColumnKind::Typed(a), ColumnKind::Typed(b)) => a.comparable(b),
                (a, b) => a == b,
            });
        if !same {
            let message =
                format!("the keys of the rows in `{}` have different shapes", found.name.text);
            self.error(
                Diagnostic::error(span, message)
                    .help("same number of columns, same types, same directions; or another table"),
            );
        }
    }

    fn key(&mut self, target: &str, source: RelationId, key: &Key) -> Option<ResolvedKey> {
        match key {
            Key::Text { pk, sk } => {
                let mut columns = vec![self.text_column(source, pk)?];
                if let Some(sk) = sk {
                    columns.push(self.text_column(source, sk)?);
                }
                let count = columns.len();
                Some(ResolvedKey {
                    columns,
                    kinds: vec![ColumnKind::Text; count],
                    desc: vec![false; count],
                    partition: 1,
                })
            }
            Key::Tuple { partition, sort } => {
                self.check_typed(target, partition.iter().flatten().chain(sort));
                let mut resolved = ResolvedKey {
                    columns: Vec::new(),
                    kinds: Vec::new(),
                    desc: Vec::new(),
                    partition: 0,
                };
                let ordered = crate::target::profile(target).is_some_and(|profile| profile.ordered);
                resolved.partition = match partition {
                    Some(partition) => partition.len(),
                    None if ordered => 0,
                    // As in CQL, the first component is the partition key.
                    None => sort.len().min(1),
                };
                for component in partition.iter().flatten().chain(sort) {
                    let (column, kind) = self.component(source, component)?;
                    resolved.columns.push(column);
                    resolved.kinds.push(kind);
                    resolved.desc.push(component.desc);
                }
                Some(resolved)
            }
        }
    }

    /// Checks that a target with text keys only gets texts.
    fn check_typed<'a>(
        &mut self,
        target: &str,
        mut components: impl Iterator<Item = &'a tree::Component>,
    ) {
        let only_text = crate::target::profile(target).is_some_and(|profile| profile.text_keys);
        if let (true, Some(first)) = (only_text, components.next()) {
            let message = format!("keys of {target} are texts");
            self.error(
                Diagnostic::error(first.expr.span, message).help("write `pk \"…\" sk \"…\"`"),
            );
        }
    }

    fn component(
        &mut self,
        source: RelationId,
        component: &tree::Component,
    ) -> Option<(Column, ColumnKind)> {
        let span = component.expr.span;
        if let ExprKind::Template(template) = &component.expr.kind {
            return self.text_column(source, template).map(|column| (column, ColumnKind::Text));
        }
        let mut none = Params::known(&[]);
        let scope = Scope { relation: Some(source), ..Scope::NONE };
        let term = self.value(&component.expr, None, &mut none, scope)?;
        let ty = self.term_type(&term, &none, scope)?;
        if matches!(ty, Type::List(..)) {
            let message = format!("a {} cannot be in a key", ty.name());
            self.error(Diagnostic::error(span, message));
            return None;
        }
        if ty.is_text() {
            let parts = vec![Part::Hole { term, ty, codec: Codec::Plain }, Part::End];
            return Some((Column { parts, span }, ColumnKind::Text));
        }
        let parts = vec![Part::Hole { term, ty: ty.clone(), codec: Codec::Native }];
        Some((Column { parts, span }, ColumnKind::Typed(ty)))
    }

    fn text_column(&mut self, source: RelationId, template: &Template) -> Option<Column> {
        let mut none = Params::known(&[]);
        let scope = Scope { relation: Some(source), ..Scope::NONE };
        let mut parts = self.template_parts(template, &mut none, scope)?;
        parts.push(Part::End);
        Some(Column { parts, span: template.span })
    }

    /// Returns the parts of a template, without the end of the column.
    pub(super) fn template_parts(
        &mut self,
        template: &Template,
        params: &mut Params,
        scope: Scope<'_>,
    ) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        for segment in &template.segments {
            match segment {
                Segment::Literal(text) => parts.push(Part::Literal(text.clone())),
                Segment::Hole { expr, codec } => {
                    let term = self.value(expr, None, params, scope)?;
                    let ty = self.term_type(&term, params, scope)?;
                    let codec = self.codec(codec.as_ref(), &ty, expr.span)?;
                    parts.push(Part::Hole { term, ty, codec });
                }
            }
        }
        Some(parts)
    }

    fn codec(
        &mut self,
        codec: Option<&tree::Codec>,
        ty: &Type,
        span: crate::syntax::span::Span,
    ) -> Option<Codec> {
        let Some(codec) = codec else {
            if matches!(ty, Type::List(..)) {
                let message = format!("a {} cannot be in a text key", ty.name());
                self.error(Diagnostic::error(span, message));
                return None;
            }
            return Some(Codec::Plain);
        };
        let fits = match (codec.name.text.as_str(), ty) {
            ("pad", Type::Int(_)) => Some(Codec::Pad(
                codec.width.and_then(|width| u8::try_from(width).ok()).unwrap_or(1),
            )),
            ("lexint", Type::Int(_) | Type::Timestamp) => Some(Codec::Lexint),
            ("ulid", Type::Ulid) => Some(Codec::Plain),
            ("iso", Type::Timestamp) => Some(Codec::Iso),
            ("iso", Type::Date) => Some(Codec::Plain),
            ("esc", Type::Text(_) | Type::Enum(_)) => Some(Codec::Esc),
            _ => None,
        };
        if fits.is_none() {
            let message = match ty {
                Type::Decimal(_) => format!(
                    "the codec `{}` takes whole numbers only, and this is a decimal",
                    codec.name.text
                ),
                _ => format!("the codec `{}` does not take a {}", codec.name.text, ty.name()),
            };
            self.error(Diagnostic::error(codec.name.span, message).help(
                "pad and lexint take whole numbers, ulid takes ulids, iso takes times and dates, esc takes texts",
            ));
        }
        fits
    }

    fn sample(&mut self, schema: &mut Schema, written: &tree::SampleRow) {
        let family = self.families.get(&written.row.text).and_then(|list| list.first()).copied();
        let Some(family) = family else {
            let known: Vec<String> =
                schema.families.iter().map(|family| family.name.text.clone()).collect();
            self.unknown("row family", &written.row.text, written.row.span, &known);
            return;
        };
        let source = schema.families.get(family).map_or(0, |family| family.source);
        let mut values = BTreeMap::new();
        for (name, expr) in &written.values {
            let ty = self
                .model
                .relation(source)
                .column(&name.text)
                .map_or(Type::Text(TextDomain::default()), |column| {
                    self.model.path_type(source, &[column])
                });
            // What does not fit the type stays as it was printed: that is what D1 looks for.
            let value = match &expr.kind {
                ExprKind::Int(n) => Value::Int(*n),
                ExprKind::Bool(bit) => Value::Bool(*bit),
                ExprKind::Text(text) => {
                    constant(text, &ty).unwrap_or_else(|| Value::Text(text.clone()))
                }
                _ => continue,
            };
            values.insert(name.text.clone(), value);
        }
        schema.samples.push(Sample {
            family,
            script: written.script,
            keys: written.keys.clone(),
            values: values.into_iter().collect(),
            span: written.span,
        });
    }
}

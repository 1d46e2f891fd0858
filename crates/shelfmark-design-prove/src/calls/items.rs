//! Converts rows to items and back, for those who run requests and compare what is stored.
//!
//! Items have the form that DynamoDB gives them; rows of CQL are shown in it too, with their columns as
//! attributes.
//!
//! Invariant: what was written as an item and read back shows the same attributes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::columns::{carried, tally_type};
use super::expr::Expr;
use super::request::{ChangeKind, Refusal, Request};
use super::write::Writer;
use super::{Calls, cql, dynamo};
use shelfmark_design_language::codec::hex_of_base64;
use shelfmark_design_language::model::schema::{FamilyId, Stored, TableId, WritePlan};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{ColumnPath, Named, Value, Write};

/// The content of an item: its row family, its attributes, and its lists and counts.
pub type ShownItem = (FamilyId, BTreeMap<ColumnPath, Value>, BTreeMap<String, Value>);

/// The columns of each table and index with their types, and whether all beside the key count.
pub type TableColumns = BTreeMap<String, (BTreeMap<String, Type>, bool)>;

impl Calls<'_> {
    /// Returns the attributes that rows of a family carry: their own, and what their indexes need.
    #[must_use]
    pub fn carried(&self, id: FamilyId) -> BTreeSet<ColumnPath> {
        let family = self.schema.families.get(id);
        family.map_or_else(BTreeSet::new, |family| carried(self.model, self.schema, id, family))
    }

    /// Returns the table and the item of a row.
    ///
    /// # Errors
    ///
    /// What DynamoDB does not take in an item. Declare what its values cannot be.
    pub fn item(
        &self,
        id: FamilyId,
        values: &BTreeMap<ColumnPath, Value>,
        kept: &BTreeMap<String, Value>,
    ) -> Result<(String, Json), Refusal> {
        let none = || self.refuse("known", "there is no such row");
        let family = self.schema.families.get(id).ok_or_else(none)?;
        let write = Write {
            name: Named::default(),
            params: Vec::new(),
            effects: Vec::new(),
            differ: Vec::new(),
            atomic: false,
            facts: BTreeMap::new(),
            span: family.span,
        };
        let typed = |(path, value): (&ColumnPath, &Value)| {
            let ty = self.model.path_type(family.source, path);
            (path.clone(), Expr::Const(value.clone(), ty))
        };
        let known = values.iter().map(typed).collect();
        let plan = WritePlan { write: 0, steps: Vec::new(), span: family.span, derived: true };
        let writer = Writer::new(self, &write, &plan);
        let row = writer.row_there(id, family, &known, (None, false), Vec::new())?;
        let mut change = row.ok_or_else(none)?;
        if let ChangeKind::Put { values, .. } = &mut change.kind {
            for stored in &family.stored {
                let Stored::Tally { relation, fold, name, .. } = stored else { continue };
                // A put of a new row has none of these: nothing refers to it yet.
                let own = kept.get(name).filter(|own| fold.is_extreme() && **own != Value::Null);
                let ty = tally_type(self.model, *relation, *fold);
                values.extend(own.map(|own| (name.clone(), Expr::Const(own.clone(), ty))));
            }
            for (name, value) in values.iter_mut() {
                if let (Some(own), Expr::Const(old, _)) = (kept.get(name), value) {
                    old.clone_from(own);
                }
            }
        }
        let table = self.table_name(change.table).to_owned();
        let (ChangeKind::Put { values, .. }, "cql") = (&change.kind, self.target.name.as_str())
        else {
            let (_, body) = dynamo::write(self, &change)?;
            return Ok((table, body.get("Item").cloned().unwrap_or(Json::Null)));
        };
        // Whatever cannot be asked is found where the rows are put.
        cql::say(self, &Request::Write { step: 1, changes: vec![change.clone()] }, &[])?;
        let key = self.columns.key(change.table).iter().map(|column| &column.name);
        let key = key.zip(&change.key);
        let all = key.chain(values.iter().map(|(name, value)| (name, value)));
        let fields = all.map(|(name, value)| (name.clone(), dynamo::attribute(value)));
        Ok((table, Json::Object(fields.collect())))
    }

    /// Returns the columns of each table with their types, and whether all beside its key count.
    #[must_use]
    pub fn tables(&self) -> TableColumns {
        let mut found = BTreeMap::new();
        for (id, table) in self.schema.tables.iter().enumerate() {
            let base = self.base_of(id);
            let key = self.columns.key(base).iter();
            let mut types: BTreeMap<String, Type> =
                key.map(|column| (column.name.clone(), column.ty.clone())).collect();
            let beside = self.columns.beside(base);
            types.extend(beside.map(|(name, ty)| (name.to_owned(), ty.clone())));
            let counts = cql::is_counter(self, base);
            found.insert(table.name.text.clone(), (types, counts));
        }
        found
    }

    /// Returns the names of the columns of a table's or index's key, in its order.
    #[must_use]
    pub fn key_names(&self, table: TableId) -> Vec<&str> {
        self.columns.key(table).iter().map(|column| column.name.as_str()).collect()
    }

    /// Returns the attributes that rows of a family carry, with their columns in its base table.
    #[must_use]
    pub fn attributes(&self, id: FamilyId) -> Vec<(&str, ColumnPath)> {
        let Some(family) = self.schema.families.get(id) else { return Vec::new() };
        let base = self.base_of(family.table);
        let named =
            |path: ColumnPath| Some((self.columns.attribute(base, family.source, &path)?, path));
        self.carried(id).into_iter().filter_map(named).collect()
    }

    /// Parses an item of a table or index.
    #[must_use]
    pub fn shown(&self, table: TableId, item: &Json) -> Option<ShownItem> {
        let base = self.base_of(table);
        let mut families = self.schema.of_table(base);
        let (id, family) = match self.columns.row_type(base) {
            None => families.next()?,
            Some(name) => {
                let tag = item.get(name)?.get("S")?.as_str()?;
                families.find(|(_, family)| family.name.text == tag)?
            }
        };
        let mut values = BTreeMap::new();
        for path in self.carried(id) {
            let ty = self.model.path_type(family.source, &path);
            let name = self.columns.attribute(base, family.source, &path)?;
            values.insert(
                path,
                match (item.get(name), self.target.name.as_str(), &ty) {
                    (None, "cql", Type::List(..)) => Value::List(Vec::new()),
                    (found, ..) => found.and_then(|one| value(one, &ty)).unwrap_or(Value::Null),
                },
            );
        }
        let mut kept = BTreeMap::new();
        for stored in &family.stored {
            let (name, ty) = match stored {
                Stored::Path(_) => continue,
                Stored::Tally { relation, fold, name, .. } => {
                    (name, tally_type(self.model, *relation, *fold))
                }
                Stored::Collect { relation, path, name, .. } => {
                    let of = self.model.path_type(*relation, path);
                    (name, Type::List(Box::new(of), None))
                }
            };
            // A list that is empty, and a counter that nobody added to, are none in CQL.
            let extreme = matches!(stored, Stored::Tally { fold, .. } if fold.is_extreme());
            let none = || match (self.target.name.as_str(), &ty) {
                _ if extreme => Some(Value::Null),
                ("cql", Type::List(..)) => Some(Value::List(Vec::new())),
                ("cql", _) => Some(Value::Int(0)),
                _ => None,
            };
            let shown = item.get(name).map_or_else(none, |one| value(one, &ty));
            kept.extend(shown.map(|shown| (name.clone(), shown)));
        }
        Some((id, values, kept))
    }
}

/// Parses a value of a body.
fn value(attribute: &Json, ty: &Type) -> Option<Value> {
    let (letter, inner) = attribute.as_object()?.iter().next()?;
    match (letter.as_str(), ty) {
        ("NULL", _) => Some(Value::Null),
        ("B", _) => hex_of_base64(inner.as_str()?).map(Value::Text),
        ("N", _) => inner.as_str()?.parse().ok().map(Value::Int),
        ("L", Type::List(of, _)) => inner
            .as_array()?
            .iter()
            .map(|one| value(one, of))
            .collect::<Option<_>>()
            .map(Value::List),
        _ => Value::of_json(inner, ty),
    }
}

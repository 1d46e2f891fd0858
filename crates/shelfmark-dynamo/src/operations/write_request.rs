//! The common part of requests that write one item, on their own and in a transaction.
//!
//! A write goes through three steps: its members are read ([`WriteRequest`]), all that needs no
//! table is checked and translated ([`Prepared`]), and then it is bound to its table.

use std::sync::Arc;

use shelfmark_engine::{AccessReport, Change, Table, Write, Written};
use shelfmark_model::{Condition, Item, Patch, PatchOperation, item_size_bytes};

use crate::errors::{Error, Result, texts};
use crate::expression::{Given, Kind, Placeholders};
use crate::json::{Attributes, Reader, Writer, put_item, put_value};
use crate::legacy::{self, Expected, Updates};
use crate::limits::ITEM_SIZE_BYTES_MAX;
use crate::shape::Shape;
use crate::table::{
    check_attribute_names, check_item, check_key_paths, check_updated_values, of_condition,
    of_patch, read_key,
};

/// The kind of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Put,
    Update,
    Delete,
    Check,
}

impl Verb {
    /// Every verb.
    pub(super) const ALL: [Self; 4] = [Self::Put, Self::Update, Self::Delete, Self::Check];

    /// Returns the member of a transaction's element that holds such a write.
    pub(super) const fn member(self) -> &'static str {
        match self {
            Self::Put => "Put",
            Self::Update => "Update",
            Self::Delete => "Delete",
            Self::Check => "ConditionCheck",
        }
    }
}

/// The members of a write.
#[derive(Debug, Default)]
pub(super) struct WriteRequest {
    pub(super) table: Option<String>,
    item: Option<Attributes>,
    key: Option<Attributes>,
    condition: Option<String>,
    update: Option<String>,
    given: Given,
    expected: Expected,
    updates: Option<Updates>,
    on_failure: Option<String>,
    /// True for an action of a transaction.
    is_action: bool,
}

/// A valid write that is not fitted to its table yet.
#[derive(Debug)]
pub(super) struct Prepared {
    action: Action,
    condition: Option<Condition>,
    old_on_refusal: bool,
    /// True if the update uses `AttributeUpdates`.
    pub(super) is_legacy: bool,
}

/// The change that a write asks for.
#[derive(Debug)]
pub(super) enum Action {
    Put(Item),
    Update(Item, Patch),
    Delete(Item),
    Check(Item),
}

impl WriteRequest {
    /// Reads a member, if it is one of these; returns `false` to leave it to the caller.
    pub(super) fn member(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<bool> {
        match name {
            "TableName" => self.table = reader.text()?,
            "Item" => self.item = reader.attributes()?,
            "Key" => self.key = reader.attributes()?,
            "ConditionExpression" => self.condition = reader.text()?,
            "UpdateExpression" => self.update = reader.text()?,
            "ExpressionAttributeNames" => {
                self.given.names = reader.map(|reader, _| reader.text())?
            }
            "ExpressionAttributeValues" => self.given.values = reader.checked_map()?,
            "Expected" => self.expected.conditions = legacy::conditions::read(reader)?,
            "ConditionalOperator" => self.expected.operator = reader.text()?,
            "AttributeUpdates" => self.updates = legacy::updates::read(reader)?,
            "ReturnValuesOnConditionCheckFailure" => self.on_failure = reader.text()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Writes the given members, in one order whatever that of the request was. Part of what
    /// [`super::fingerprint`] keeps as it is.
    pub(super) fn put_members(&self, out: &mut Writer) {
        let text = |out: &mut Writer, name: &str, text: Option<&String>| {
            if let Some(text) = text {
                out.name(name).text(text);
            }
        };
        let item = |out: &mut Writer, name: &str, item: Option<&Attributes>| {
            if let Some(item) = item {
                put_item(out.name(name), item.unchecked());
            }
        };
        text(out, "TableName", self.table.as_ref());
        item(out, "Item", self.item.as_ref());
        item(out, "Key", self.key.as_ref());
        text(out, "ConditionExpression", self.condition.as_ref());
        text(out, "UpdateExpression", self.update.as_ref());
        if let Some(names) = &self.given.names {
            out.name("ExpressionAttributeNames").object(|out| {
                for (name, stands_for) in names {
                    out.name(name).text(stands_for);
                }
            });
        }
        if let Some(values) = &self.given.values {
            out.name("ExpressionAttributeValues").object(|out| {
                for (name, value) in values.unchecked() {
                    put_value(out.name(name), value);
                }
            });
        }
        if let Some(conditions) = &self.expected.conditions {
            out.name("Expected").object(|out| legacy::conditions::put(out, conditions));
        }
        text(out, "ConditionalOperator", self.expected.operator.as_ref());
        if let Some(updates) = &self.updates {
            out.name("AttributeUpdates").object(|out| legacy::updates::put(out, updates));
        }
        text(out, "ReturnValuesOnConditionCheckFailure", self.on_failure.as_ref());
    }

    /// Checks the shape; `path` stands before the members' names.
    pub(super) fn shape(&self, verb: Verb, path: &str, shape: &mut Shape) {
        self.table_shape(path, shape);
        self.key_shape(verb, path, shape);
        self.conditions_shape(verb, path, shape);
    }

    /// Checks the shape of all but the table, what is written last.
    pub(super) fn rest_shape(&self, verb: Verb, path: &str, shape: &mut Shape) {
        self.conditions_shape(verb, path, shape);
        self.key_shape(verb, path, shape);
    }

    pub(super) fn table_shape(&self, path: &str, shape: &mut Shape) {
        shape.table(&format!("{path}TableName"), self.table.as_deref());
    }

    fn key_shape(&self, verb: Verb, path: &str, shape: &mut Shape) {
        if verb == Verb::Put {
            shape.required(&format!("{path}Item"), self.item.is_some());
        } else {
            shape.required(&format!("{path}Key"), self.has_key());
        }
    }

    fn conditions_shape(&self, verb: Verb, path: &str, shape: &mut Shape) {
        let at = |member: &str| format!("{path}{member}");
        if verb == Verb::Check {
            shape.required(&at("ConditionExpression"), self.condition.is_some());
        }
        let on_failure = at("ReturnValuesOnConditionCheckFailure");
        shape.one_of(&on_failure, self.on_failure.as_deref(), &["ALL_OLD", "NONE"]);
        let operator = self.expected.operator.as_deref();
        shape.conditional_operator(&at("ConditionalOperator"), operator);
        legacy::conditions::shape(self.expected.conditions.as_ref(), "Expected", false, shape);
        legacy::updates::shape(self.updates.as_ref(), shape);
    }

    pub(super) const fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Marks the write as an action of a transaction.
    pub(super) fn in_transaction(mut self) -> Self {
        self.is_action = true;
        self.read_as_before();
        self
    }

    /// Has the values worded as the service's older layer does.
    pub(super) fn read_as_before(&mut self) {
        self.given.names_values = true;
    }

    /// Requires the member that a transaction's update must have.
    pub(super) fn update_required(&self, path: &str, shape: &mut Shape) {
        shape.required(&format!("{path}UpdateExpression"), self.update.is_some());
    }

    /// Checks and translates everything that needs no table.
    ///
    /// What is wrong with a write that is alone is reported by the validation framework.
    pub(super) fn prepare(mut self, verb: Verb) -> Result<Prepared> {
        let is_older = self.given.names_values;
        if self.is_action && self.update.is_none() && self.condition.is_none() {
            // Nobody looks at what no expression can use.
            (self.given.names, self.given.values) = (None, None);
        }
        self.prepared(verb).map_err(|error| match is_older {
            true => Error { enveloped: false, ..error },
            false => error.in_envelope(),
        })
    }

    fn prepared(self, verb: Verb) -> Result<Prepared> {
        let update = (Kind::Update, self.update.is_some());
        let condition = (Kind::Condition, self.condition.is_some());
        let expressions =
            if verb == Verb::Update { vec![update, condition] } else { vec![condition] };
        let legacy = [
            ("AttributeUpdates", self.updates.is_some()),
            ("Expected", self.expected.conditions.is_some()),
            ("ConditionalOperator", self.expected.operator.is_some()),
        ];
        legacy::not_mixed(&legacy, &expressions)?;
        let operator = self.expected.operator.as_deref();
        legacy::operator_fits(operator, self.expected.conditions.as_ref())?;
        let item = self.item.unwrap_or_default();
        if self.is_action && item.unchecked().get("").is_some() {
            return Err(Error::validation(texts::EMPTY_ATTRIBUTE_NAME_ALONE));
        }
        let item = item.checked()?;
        let key = self.key.map(Attributes::checked).transpose();
        // Of an action of a transaction the expressions come before the key.
        let (key, later_key) = if self.is_action { (None, key) } else { (key?, Ok(None)) };
        check_attribute_names(&item)?;
        if item_size_bytes(&item) > ITEM_SIZE_BYTES_MAX {
            return Err(Error::validation(texts::ITEM_TOO_LARGE));
        }
        let placeholders = Placeholders::check(self.given, &expressions)?;
        let is_legacy = self.updates.is_some();
        let patch = match self.updates {
            Some(updates) => legacy::updates::patch(updates)?,
            None if verb == Verb::Update => {
                placeholders.update(self.update.as_deref())?.unwrap_or_default()
            }
            None => Patch::default(),
        };
        let condition = placeholders.condition(Kind::Condition, self.condition.as_deref())?;
        placeholders.all_used()?;
        let condition = match condition {
            Some(condition) => Some(condition),
            None => self.expected.condition()?,
        };
        let key = key.or(later_key?).unwrap_or_default();
        let action = match verb {
            Verb::Put => Action::Put(item),
            Verb::Update => Action::Update(key, patch),
            Verb::Delete => Action::Delete(key),
            Verb::Check => Action::Check(key),
        };
        let old_on_refusal = self.on_failure.as_deref() == Some("ALL_OLD");
        Ok(Prepared { action, condition, old_on_refusal, is_legacy })
    }
}

impl Prepared {
    /// Creates the write of a statement, whose parts are checked.
    pub(super) fn of_statement(
        action: Action,
        condition: Option<Condition>,
        old_on_refusal: bool,
    ) -> Self {
        Self { action, condition, old_on_refusal, is_legacy: false }
    }

    /// Returns the size of the request's items, for the limit of a transaction.
    pub(super) fn size_bytes(&self) -> usize {
        match &self.action {
            Action::Put(item) => item_size_bytes(item),
            Action::Update(key, patch) => item_size_bytes(key) + patch_size_bytes(patch),
            Action::Delete(key) | Action::Check(key) => item_size_bytes(key),
        }
    }

    /// Fits the write to its table.
    pub(super) fn bind(self, table: &Arc<Table>) -> Result<Write> {
        let change = match self.action {
            Action::Put(item) => {
                check_item(table, &item)?;
                Change::Put(item)
            }
            Action::Update(key, patch) => {
                let key = read_key(table, key)?;
                for operation in &patch.operations {
                    let name = &operation.path().attribute;
                    if table.schema.is_key(name) {
                        return Err(Error::validation(texts::update_of_key(name)));
                    }
                }
                check_key_paths(&table.schema, of_patch(&patch))?;
                check_updated_values(table, &patch)?;
                let creates = creates(&patch);
                Change::Patch { key, patch, creates }
            }
            Action::Delete(key) => Change::Delete(read_key(table, key)?),
            Action::Check(key) => Change::Check(read_key(table, key)?),
        };
        if let Some(condition) = &self.condition {
            let mut paths = Vec::new();
            of_condition(condition, &mut paths);
            check_key_paths(&table.schema, paths)?;
        }
        let mut write = Write::new(table, change);
        write.condition = self.condition;
        write.old_on_refusal = self.old_on_refusal;
        Ok(write)
    }
}

/// Merges the access reports of several writes.
pub(super) fn reports(written: &[Written]) -> AccessReport {
    AccessReport {
        steps: written.iter().flat_map(|written| &written.report.steps).cloned().collect(),
    }
}

/// Returns true if an update creates an absent item: one that only removes does not, and one
/// without actions creates an item of its key.
fn creates(patch: &Patch) -> bool {
    patch.operations.is_empty()
        || patch
            .operations
            .iter()
            .any(|operation| matches!(operation, PatchOperation::Set(..) | PatchOperation::Add(..)))
}

fn patch_size_bytes(patch: &Patch) -> usize {
    use shelfmark_model::{Operand, PatchValue, value_size_bytes};
    patch
        .operations
        .iter()
        .map(|operation| match operation {
            PatchOperation::Set(_, PatchValue::Operand(Operand::Value(value)))
            | PatchOperation::Add(_, value)
            | PatchOperation::Subtract(_, value) => value_size_bytes(value),
            PatchOperation::Set(..) | PatchOperation::Remove(_) => 0,
        })
        .sum()
}

//! The part of a table that an export shows: `FilterSpecification`.
//!
//! What it is not: a way to read less. The expressions are those of Query and Scan, and are asked of every
//! item that the export reads.

use std::collections::BTreeMap;

use shelfmark_engine::LedgerEntry;
use shelfmark_model::{Condition, Item, Projection, Value};

use crate::errors::{Error, Result, texts};
use crate::expression::{Given, KeyCondition, Kind, Placeholders};
use crate::json::{Checked, Reader, Writer, put_value};

/// The members of a FilterSpecification as they were given.
#[derive(Debug, Default)]
pub(crate) struct FilterSpecification {
    filter: Option<String>,
    key_condition: Option<String>,
    projection: Option<String>,
    names: Option<BTreeMap<String, String>>,
    values: Option<Checked<BTreeMap<String, Value>>>,
}

/// A FilterSpecification that was checked, ready to be asked.
#[derive(Debug, Default)]
pub(crate) struct ExportFilter {
    condition: Option<Condition>,
    pub(crate) keys: Vec<KeyCondition>,
    projection: Projection,
}

impl FilterSpecification {
    /// Reads the structure, if there is one.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Option<Self>> {
        let mut own = Self::default();
        let present = reader.structure(|reader, name| {
            match name {
                "FilterExpression" => own.filter = reader.text()?,
                "KeyConditionExpression" => own.key_condition = reader.text()?,
                "ProjectionExpression" => own.projection = reader.text()?,
                "ExpressionAttributeNames" => own.names = reader.map(|reader, _| reader.text())?,
                "ExpressionAttributeValues" => own.values = reader.checked_map()?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(present.then_some(own))
    }

    /// Writes its members.
    pub(crate) fn put(&self, out: &mut Writer) {
        for (name, text) in [
            ("FilterExpression", &self.filter),
            ("ProjectionExpression", &self.projection),
            ("KeyConditionExpression", &self.key_condition),
        ] {
            if let Some(text) = text {
                out.name(name).text(text);
            }
        }
        if let Some(names) = &self.names {
            out.name("ExpressionAttributeNames").object(|out| {
                for (reference, name) in names {
                    out.name(reference).text(name);
                }
            });
        }
        if let Some(values) = &self.values {
            out.name("ExpressionAttributeValues").object(|out| {
                for (reference, value) in values.unchecked() {
                    out.name(reference);
                    put_value(out, value);
                }
            });
        }
    }

    /// Returns what an entry keeps: its members as JSON.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(Writer::body(|out| self.put(out))).unwrap_or_default()
    }

    /// Checks and translates the expressions.
    pub(crate) fn check(self) -> Result<ExportFilter> {
        let expressions = [
            (Kind::Filter, self.filter.is_some()),
            (Kind::KeyCondition, self.key_condition.is_some()),
            (Kind::Projection, self.projection.is_some()),
        ];
        if expressions.iter().all(|(_, given)| !given) {
            return Err(Error::validation(texts::FILTER_IS_EMPTY));
        }
        let given = Given { names: self.names, values: self.values, ..Given::default() };
        let placeholders = Placeholders::check(given, &expressions)?;
        let keys = placeholders.key_condition(self.key_condition.as_deref())?;
        let filter = ExportFilter {
            condition: placeholders.condition(Kind::Filter, self.filter.as_deref())?,
            keys: keys.unwrap_or_default(),
            projection: placeholders.projection(self.projection.as_deref())?,
        };
        placeholders.all_used()?;
        Ok(filter)
    }
}

impl ExportFilter {
    /// Reads the filter that an entry keeps; one that lets everything through, if there is none.
    pub(super) fn of(entry: &LedgerEntry) -> Self {
        let text = entry.text("filter");
        if text.is_empty() {
            return Self::default();
        }
        let body = format!("{{\"FilterSpecification\":{text}}}");
        let mut found = None;
        let read = Reader::body(body.as_bytes(), |reader, _| {
            found = FilterSpecification::read(reader)?;
            Ok(())
        });
        // It was checked before it was written down.
        let checked = read.ok().and(found).and_then(|own| own.check().ok());
        checked.unwrap_or_default()
    }

    /// Returns the condition on what is not a key.
    pub(crate) fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    /// Returns true if an item is to be shown.
    pub(super) fn holds(&self, item: &Item) -> bool {
        let key_holds = |own: &KeyCondition| {
            item.get(&own.attribute).is_some_and(|value| own.relation.holds(value))
        };
        self.keys.iter().all(key_holds)
            && self.condition.as_ref().is_none_or(|condition| condition.holds(item))
    }

    /// Returns what is shown of an item.
    pub(super) fn shown(&self, item: Item) -> Item {
        self.projection.apply(item)
    }
}

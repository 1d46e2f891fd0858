//! The lines of exported objects: items, or items that changed, in the form that was asked for.
//!
//! Source: Developer Guide, "DynamoDB table export output format", read 2026-11.

use shelfmark_engine::{LedgerEntry, WindowChange};
use shelfmark_model::{Item, Value};

use super::filter::ExportFilter;
use super::ion;
use crate::json::{Writer, put_item};

/// The form of the objects of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    /// True for Ion, false for DynamoDB's JSON.
    pub(crate) is_ion: bool,
    /// The images of changes that are shown; `None` if whole tables are.
    pub(crate) view: Option<View>,
}

/// The images of an item that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    New,
    NewAndOld,
}

impl Form {
    pub(crate) fn put(self, entry: LedgerEntry) -> LedgerEntry {
        let entry = entry.with("is_ion", self.is_ion);
        match self.view {
            Some(view) => entry.with("view", view.name()),
            None => entry,
        }
    }

    pub(crate) fn of(entry: &LedgerEntry) -> Self {
        Self { is_ion: entry.flag("is_ion"), view: View::read(entry.text("view")) }
    }

    /// Returns its name in requests and manifests.
    pub(crate) const fn name(self) -> &'static str {
        if self.is_ion { "ION" } else { "DYNAMODB_JSON" }
    }

    /// Returns the ending of the objects' names.
    pub(super) const fn ending(self) -> &'static str {
        if self.is_ion { "ion.gz" } else { "json.gz" }
    }
}

impl View {
    pub(crate) fn read(name: &str) -> Option<Self> {
        [Self::New, Self::NewAndOld].into_iter().find(|own| own.name() == name)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::New => "NEW_IMAGE",
            Self::NewAndOld => "NEW_AND_OLD_IMAGES",
        }
    }
}

/// Returns the line of an item, if the filter lets it through.
pub(super) fn of_item(item: Item, filter: &ExportFilter, form: Form) -> Option<Vec<u8>> {
    filter.holds(&item).then(|| line_of(&[("Item", &filter.shown(item))], form))
}

/// Returns the line of an item that changed, if the filter lets its latest image through: of one that was
/// deleted that is the old one.
pub(super) fn of_change(
    change: WindowChange,
    view: View,
    filter: &ExportFilter,
    form: Form,
) -> Option<Vec<u8>> {
    let latest = change.new.as_ref().or(change.old.as_ref())?;
    if !filter.holds(latest) {
        return None;
    }
    let micros = i64::try_from(change.at_micros).unwrap_or(i64::MAX);
    let metadata = Item::new().with("WriteTimestampMicros", Value::Int(micros));
    let new = change.new.map(|item| filter.shown(item));
    let old = change.old.filter(|_| view == View::NewAndOld).map(|item| filter.shown(item));
    let mut parts = vec![("Metadata", &metadata), ("Keys", &change.keys)];
    parts.extend(old.as_ref().map(|item| ("OldImage", item)));
    parts.extend(new.as_ref().map(|item| ("NewImage", item)));
    Some(line_of(&parts, form))
}

fn line_of(parts: &[(&str, &Item)], form: Form) -> Vec<u8> {
    if form.is_ion {
        return ion::line_of(parts);
    }
    let mut line = Writer::body(|out| {
        for (name, item) in parts {
            out.name(name);
            put_item(out, item);
        }
    });
    line.push(b'\n');
    line
}

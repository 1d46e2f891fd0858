//! Conditions on a key, as a form: the partition, and how the sort key begins, is, or lies.

use maud::{Markup, html};
use shelfmark_engine::Table;
use shelfmark_model::{SortBound, SortCondition, Value};

use super::typed;
use crate::fault::{Fault, Result};
use crate::fields::Fields;
use crate::tables::{Found, key_type_text};

/// A comparison of the last sort column that is filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Begins,
    From,
    Above,
    UpTo,
    Below,
    Between,
}

impl Comparison {
    const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::Begins, "begins", "begins with"),
        (Self::Equal, "is", "is"),
        (Self::From, "from", "from"),
        (Self::Above, "above", "above"),
        (Self::UpTo, "to", "up to"),
        (Self::Below, "below", "below"),
        (Self::Between, "between", "between"),
    ];
}

/// The conditions as they were typed.
pub(crate) struct KeyForm {
    /// A text for each partition column.
    pub(crate) partition: Vec<String>,
    /// A text for each sort column.
    pub(crate) sort: Vec<String>,
    /// The other end, for `between`.
    pub(crate) upper: String,
    /// The comparison of the last of them that is filled in.
    pub(crate) comparison: Comparison,
}

impl KeyForm {
    /// Returns the form of a table with nothing typed.
    pub(crate) fn empty(found: &Found) -> Self {
        let schema = &found.table.schema;
        Self {
            partition: vec![String::new(); schema.partition.len()],
            sort: vec![String::new(); schema.sort.len()],
            upper: String::new(),
            comparison: default(found),
        }
    }

    /// Reads the form's fields.
    pub(crate) fn read(found: &Found, fields: &Fields) -> Result<Self> {
        let texts = |letter: &str, count: usize| {
            (0..count).map(|at| fields.get(&format!("{letter}{at}")).to_owned()).collect::<Vec<_>>()
        };
        let schema = &found.table.schema;
        let word = fields.get("op");
        let comparison = Comparison::ALL.iter().find(|(_, own, _)| *own == word);
        let comparison = match comparison {
            Some((comparison, ..)) => *comparison,
            None if word.is_empty() => default(found),
            None => return Err(Fault::bad(format!("a key is not compared with {word:?}"))),
        };
        let partition = texts("p", schema.partition.len());
        let sort = texts("s", schema.sort.len());
        Ok(Self { partition, sort, upper: fields.get("upper").to_owned(), comparison })
    }

    /// Returns true if no partition is named, so that all of the table is meant.
    pub(crate) fn is_empty(&self) -> bool {
        self.partition.iter().all(String::is_empty)
    }

    /// Checks that what is typed is one range: a whole partition key, and sort columns from the first.
    pub(crate) fn check(&self, table: &Table) -> Result<()> {
        let schema = &table.schema;
        let open = self.partition.iter().zip(&schema.partition).find(|(text, _)| text.is_empty());
        if let Some((_, column)) = open {
            return Err(Fault::bad(format!(
                "fill in {}, too: a partition is found by all columns of its key",
                column.name
            )));
        }
        let filled = self.filled();
        let gap = self.sort.iter().zip(&schema.sort).take(filled).find(|(text, _)| text.is_empty());
        match gap {
            Some((_, column)) => Err(Fault::bad(format!(
                "fill in {}, too: rows lie in the order of the sort columns from the first on",
                column.name
            ))),
            None => Ok(()),
        }
    }

    /// Returns the number of sort columns up to the last that is filled in.
    pub(crate) fn filled(&self) -> usize {
        self.sort.iter().rposition(|text| !text.is_empty()).map_or(0, |at| at + 1)
    }

    /// Returns the values of the partition key, for items.
    pub(super) fn partition_values(&self, table: &Table) -> Result<Vec<Value>> {
        let columns = table.schema.partition.iter().zip(&self.partition);
        columns.map(|(own, text)| typed::value(&own.name, &own.key_type, text)).collect()
    }

    /// Returns the condition on the sort key, for items.
    pub(super) fn condition(&self, table: &Table) -> Result<SortCondition> {
        let filled = self.filled();
        let columns = table.schema.sort.iter().zip(&self.sort).take(filled);
        let mut equal = columns
            .map(|(own, text)| typed::value(&own.name, &own.key_type, text))
            .collect::<Result<Vec<Value>>>()?;
        let last = match self.comparison {
            Comparison::Equal => return Ok(SortCondition::Equal(equal)),
            _ => equal.pop(),
        };
        let Some(last) = last else { return Ok(SortCondition::all()) };
        let open = SortBound::Unbounded;
        let (lower, upper) = match self.comparison {
            Comparison::Begins => return Ok(SortCondition::BeginsWith { equal, prefix: last }),
            Comparison::From => (SortBound::Included(last), open),
            Comparison::Above => (SortBound::Excluded(last), open),
            Comparison::UpTo | Comparison::Equal => (open, SortBound::Included(last)),
            Comparison::Below => (open, SortBound::Excluded(last)),
            Comparison::Between => {
                let column = table.schema.sort.get(filled - 1);
                let upper = match column.filter(|_| !self.upper.is_empty()) {
                    Some(own) => {
                        SortBound::Included(typed::value(&own.name, &own.key_type, &self.upper)?)
                    }
                    None => open,
                };
                (SortBound::Included(last), upper)
            }
        };
        Ok(SortCondition::Range { equal, lower, upper })
    }

    /// Returns the form as HTML.
    pub(crate) fn markup(&self, found: &Found, action: &str, button: &str) -> Markup {
        let schema = &found.table.schema;
        let kind = |at: usize, sort: bool| match &found.cql {
            Some(table) => {
                let columns =
                    if sort { table.clustering_columns() } else { table.partition_columns() };
                columns.get(at).map(|own| own.kind.to_string()).unwrap_or_default()
            }
            None if sort => {
                schema.sort.get(at).map_or_else(String::new, |own| key_type_text(&own.key_type))
            }
            None => schema
                .partition
                .get(at)
                .map_or_else(String::new, |own| key_type_text(&own.key_type)),
        };
        html! {
            form class="bar key-form" method="get" action=(action) data-keys="" {
                @for (at, (own, text)) in schema.partition.iter().zip(&self.partition).enumerate() {
                    (input(&format!("p{at}"), &own.name, &kind(at, false), text, at == 0))
                }
                @for (at, (own, text)) in schema.sort.iter().zip(&self.sort).enumerate() {
                    @if at + 1 == schema.sort.len() { (self.select()) }
                    (input(&format!("s{at}"), &own.name, &kind(at, true), text, false))
                }
                @if !schema.sort.is_empty() {
                    label class="upper" { "and " input type="text" name="upper" value=(self.upper)
                        maxlength="2048" autocomplete="off" spellcheck="false"; }
                }
                button { (button) }
            }
        }
    }

    fn select(&self) -> Markup {
        html! {
            label { span class="hidden" { "comparison of the last sort column that is filled in" }
                select name="op" {
                    @for (own, word, text) in Comparison::ALL {
                        option value=(word) selected[own == self.comparison] { (text) }
                    }
                }
            }
        }
    }
}

/// Returns the usual comparison: text by its beginning, everything else as a whole.
fn default(found: &Found) -> Comparison {
    match found.table.schema.sort.last() {
        Some(last) if key_type_text(&last.key_type) == "text" => Comparison::Begins,
        _ => Comparison::From,
    }
}

fn input(name: &str, column: &str, kind: &str, text: &str, is_first: bool) -> Markup {
    html! {
        label { span class="name-of" { (column) " " span class="soft" { (kind) } }
            input type="text" name=(name) value=(text) maxlength="2048" autocomplete="off"
                spellcheck="false" data-focus=[is_first.then_some("key")];
        }
    }
}

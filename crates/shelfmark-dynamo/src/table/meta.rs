//! The settings of a table that only clients of DynamoDB see, as stored in `TableOptions::face`.
//!
//! Every field has a form for "never set", so a record written by an older build reads as one
//! without the newer settings.

use std::collections::BTreeMap;

use shelfmark_engine::{Share, Table};
use shelfmark_model::Value;

use super::tools::ToolSettings;
use super::vectors::{self, VectorIndex};
use crate::limits::{WARM_READ_UNITS_MIN, WARM_WRITE_UNITS_MIN};

/// The name of the tag that says what other faces may do with a table: none, read or all.
pub(crate) const SHARE_TAG: &str = "shelfmark:share";

/// The billing mode of a table; kept and shown, not enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Billing {
    #[default]
    Provisioned,
    PayPerRequest,
}

impl Billing {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Provisioned => "PROVISIONED",
            Self::PayPerRequest => "PAY_PER_REQUEST",
        }
    }

    /// Returns the throughput for which a table or an index with these provisioned units is warm at
    /// least.
    pub(crate) const fn least_warm(self, provisioned: Throughput) -> Throughput {
        match self {
            Self::Provisioned => provisioned,
            Self::PayPerRequest => {
                Throughput { read: WARM_READ_UNITS_MIN, write: WARM_WRITE_UNITS_MIN }
            }
        }
    }
}

/// Units per second; 0 when nothing is provisioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Throughput {
    pub(crate) read: i64,
    pub(crate) write: i64,
}

impl Throughput {
    /// Returns the greater units of both, of each kind.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { read: self.read.max(other.read), write: self.write.max(other.write) }
    }
}

/// The class of a table that names none.
const STANDARD_CLASS: &str = "STANDARD";

/// The stored settings of an index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct IndexMeta {
    /// True for a local index, false for a global one.
    pub(crate) local: bool,
    pub(crate) throughput: Throughput,
    /// Most units per second of a global index of a table that is paid per request; 0 is no limit.
    pub(crate) on_demand: Throughput,
    /// The warm throughput that was asked for or was reached, in units per second; 0 was neither.
    pub(crate) warm: Throughput,
}

impl IndexMeta {
    /// Returns the throughput for which an index of a table with this billing mode is warm.
    pub(crate) fn warm_now(&self, billing: Billing) -> Throughput {
        self.warm.max(billing.least_warm(self.throughput))
    }
}

/// The source of a restored table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Restored {
    pub(crate) backup_arn: Option<String>,
    pub(crate) table_arn: String,
    /// The moment, in milliseconds since the Unix epoch.
    pub(crate) at_ms: i64,
}

/// The stored settings of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Meta {
    /// A UUID as text.
    pub(crate) id: String,
    /// Milliseconds since the Unix epoch.
    pub(crate) created_ms: i64,
    pub(crate) billing: Billing,
    /// The time of the last change to paying per request, as `created_ms`; 0 is never.
    pub(crate) per_request_ms: i64,
    pub(crate) throughput: Throughput,
    /// Most units per second of a table that is paid per request; 0 is no limit.
    pub(crate) on_demand: Throughput,
    /// The warm throughput that was asked for or was reached, in units per second; 0 was neither.
    pub(crate) warm: Throughput,
    pub(crate) indexes: BTreeMap<String, IndexMeta>,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) deletion_protection: bool,
    pub(crate) table_class: Option<String>,
    /// The time of the last change of the class, as `created_ms`; 0 is never.
    pub(crate) table_class_ms: i64,
    /// The label of the newest stream, also of one that is off.
    pub(crate) latest_stream: Option<String>,
    /// The word for how settings go to replicas, of which there are none.
    pub(crate) settings_replication: Option<String>,
    /// The ARN of the key that its owner wants it encrypted with; kept and shown.
    pub(crate) encryption_key: Option<String>,
    pub(crate) tools: ToolSettings,
    /// The vector indexes, by name.
    pub(crate) vectors: BTreeMap<String, VectorIndex>,
    /// The source that it was restored from, if it was.
    pub(crate) restored: Option<Restored>,
}

impl Meta {
    /// Reads the settings from a table's record.
    pub(crate) fn of(table: &Table) -> Self {
        Self::read(&table.schema.options.face)
    }

    /// Reads the settings from the map.
    pub(crate) fn read(face: &BTreeMap<String, Value>) -> Self {
        let map = |name: &str| match face.get(name) {
            Some(Value::Map(map)) => Some(map),
            Some(_) | None => None,
        };
        let pay_per_request = text(face, "billing") == Some(Billing::PayPerRequest.name());
        Self {
            id: text(face, "id").unwrap_or_default().to_owned(),
            created_ms: integer(face, "created_ms"),
            billing: if pay_per_request { Billing::PayPerRequest } else { Billing::Provisioned },
            per_request_ms: integer(face, "per_request_ms"),
            throughput: throughput(face, ""),
            on_demand: throughput(face, "on_demand_"),
            warm: throughput(face, "warm_"),
            indexes: map("indexes").into_iter().flatten().map(index).collect(),
            tags: map("tags")
                .into_iter()
                .flatten()
                .filter_map(|(key, value)| Some((key.clone(), value.as_text()?.to_owned())))
                .collect(),
            deletion_protection: face.get("deletion_protection") == Some(&Value::Bool(true)),
            table_class: text(face, "table_class").map(str::to_owned),
            table_class_ms: integer(face, "table_class_ms"),
            latest_stream: text(face, "latest_stream").map(str::to_owned),
            settings_replication: text(face, "settings_replication").map(str::to_owned),
            encryption_key: text(face, "encryption_key").map(str::to_owned),
            tools: ToolSettings::read(face),
            vectors: vectors::read(face),
            restored: text(face, "restored_from").map(|table_arn| Restored {
                backup_arn: text(face, "restored_backup").map(str::to_owned),
                table_arn: table_arn.to_owned(),
                at_ms: integer(face, "restored_ms"),
            }),
        }
    }

    /// Puts the settings into the map that the engine keeps, beside what other faces keep there.
    pub(crate) fn put(&self, face: &mut BTreeMap<String, Value>) {
        face.remove("table_class");
        face.remove("latest_stream");
        face.remove("settings_replication");
        face.remove("encryption_key");
        face.remove("tools");
        vectors::put(&self.vectors, face);
        Share::put_option(None, face);
        face.extend(self.to_face());
    }

    /// Returns the settings as the map that the engine keeps.
    pub(crate) fn to_face(&self) -> BTreeMap<String, Value> {
        let mut face = BTreeMap::from([
            ("id".to_owned(), Value::text(&self.id)),
            ("created_ms".to_owned(), Value::Int(self.created_ms)),
            ("billing".to_owned(), Value::text(self.billing.name())),
            ("per_request_ms".to_owned(), Value::Int(self.per_request_ms)),
            ("table_class_ms".to_owned(), Value::Int(self.table_class_ms)),
            ("deletion_protection".to_owned(), Value::Bool(self.deletion_protection)),
            ("indexes".to_owned(), Value::Map(self.indexes.iter().map(put_index).collect())),
            (
                "tags".to_owned(),
                Value::Map(
                    self.tags.iter().map(|(key, tag)| (key.clone(), Value::text(tag))).collect(),
                ),
            ),
        ]);
        put_throughput(&mut face, "", self.throughput);
        put_throughput(&mut face, "on_demand_", self.on_demand);
        put_throughput(&mut face, "warm_", self.warm);
        for (name, text) in [
            ("table_class", &self.table_class),
            ("latest_stream", &self.latest_stream),
            ("settings_replication", &self.settings_replication),
            ("encryption_key", &self.encryption_key),
        ] {
            if let Some(text) = text {
                face.insert(name.to_owned(), Value::text(text));
            }
        }
        self.tools.put(&mut face);
        vectors::put(&self.vectors, &mut face);
        if let Some(restored) = &self.restored {
            face.insert("restored_from".to_owned(), Value::text(&restored.table_arn));
            face.insert("restored_ms".to_owned(), Value::Int(restored.at_ms));
            if let Some(arn) = &restored.backup_arn {
                face.insert("restored_backup".to_owned(), Value::text(arn));
            }
        }
        let grant = self.tags.get(SHARE_TAG).and_then(|word| Share::of_word(word));
        Share::put_option(grant, &mut face);
        face
    }

    /// Sets the billing mode, at a time in milliseconds since the Unix epoch. Who pays per request
    /// provisions nothing.
    pub(crate) fn set_billing(&mut self, billing: Billing, now_ms: i64) {
        if billing != self.billing {
            // What is warm stays warm.
            self.warm = self.warm_now();
            for index in self.indexes.values_mut().filter(|index| !index.local) {
                index.warm = index.warm_now(self.billing);
            }
        }
        if billing == Billing::PayPerRequest && self.billing != billing {
            self.per_request_ms = now_ms;
            for index in self.indexes.values_mut() {
                index.throughput = Throughput::default();
            }
        }
        if billing == Billing::Provisioned {
            for index in self.indexes.values_mut() {
                index.on_demand = Throughput::default();
            }
        }
        self.billing = billing;
    }

    /// Sets the class of the table, at a time in milliseconds since the Unix epoch.
    pub(crate) fn set_class(&mut self, class: String, now_ms: i64) {
        if class != self.table_class.as_deref().unwrap_or(STANDARD_CLASS) {
            self.table_class_ms = now_ms;
        }
        self.table_class = Some(class);
    }

    /// Returns the throughput for which the table is warm.
    pub(crate) fn warm_now(&self) -> Throughput {
        self.warm.max(self.billing.least_warm(self.throughput))
    }

    /// Returns true if the index is a local one.
    pub(crate) fn is_local(&self, index: &str) -> bool {
        self.indexes.get(index).is_some_and(|index| index.local)
    }

    /// Works as [`Meta::is_local`], without reading the rest of the table's record.
    pub(crate) fn is_local_in(table: &Table, index: &str) -> bool {
        let Some(Value::Map(indexes)) = table.schema.options.face.get("indexes") else {
            return false;
        };
        matches!(indexes.get(index), Some(Value::Map(index)) if index.get("local") == Some(&Value::Bool(true)))
    }
}

fn text<'m>(map: &'m BTreeMap<String, Value>, name: &str) -> Option<&'m str> {
    map.get(name)?.as_text()
}

fn integer(map: &BTreeMap<String, Value>, name: &str) -> i64 {
    match map.get(name) {
        Some(Value::Int(number)) => *number,
        Some(_) | None => 0,
    }
}

fn throughput(map: &BTreeMap<String, Value>, prefix: &str) -> Throughput {
    Throughput {
        read: integer(map, &format!("{prefix}read_units")),
        write: integer(map, &format!("{prefix}write_units")),
    }
}

fn put_throughput(map: &mut BTreeMap<String, Value>, prefix: &str, throughput: Throughput) {
    map.insert(format!("{prefix}read_units"), Value::Int(throughput.read));
    map.insert(format!("{prefix}write_units"), Value::Int(throughput.write));
}

fn index((name, value): (&String, &Value)) -> (String, IndexMeta) {
    let meta = if let Value::Map(map) = value {
        IndexMeta {
            local: map.get("local") == Some(&Value::Bool(true)),
            throughput: throughput(map, ""),
            on_demand: throughput(map, "on_demand_"),
            warm: throughput(map, "warm_"),
        }
    } else {
        IndexMeta::default()
    };
    (name.clone(), meta)
}

fn put_index((name, meta): (&String, &IndexMeta)) -> (String, Value) {
    let mut map = BTreeMap::from([("local".to_owned(), Value::Bool(meta.local))]);
    put_throughput(&mut map, "", meta.throughput);
    put_throughput(&mut map, "on_demand_", meta.on_demand);
    put_throughput(&mut map, "warm_", meta.warm);
    (name.clone(), Value::Map(map))
}

#[cfg(test)]
mod tests {
    use super::super::tools::{Insights, StoredPolicy};
    use super::*;

    #[test]
    fn what_is_remembered_reads_back() {
        let meta = Meta {
            id: "0f".to_owned(),
            created_ms: 1_700_000_000_123,
            billing: Billing::PayPerRequest,
            per_request_ms: 1_700_000_000_124,
            throughput: Throughput { read: 1, write: 2 },
            on_demand: Throughput { read: 0, write: 7 },
            warm: Throughput { read: 12_001, write: 0 },
            indexes: BTreeMap::from([(
                "by_year".to_owned(),
                IndexMeta {
                    local: true,
                    throughput: Throughput { read: 3, write: 4 },
                    on_demand: Throughput { read: 5, write: 0 },
                    warm: Throughput { read: 12_000, write: 4_001 },
                },
            )]),
            tags: BTreeMap::from([("team".to_owned(), "shelf".to_owned())]),
            deletion_protection: true,
            table_class: Some("STANDARD".to_owned()),
            table_class_ms: 3,
            latest_stream: Some("2026-11-23T17:01:53.120".to_owned()),
            settings_replication: Some("ENABLED".to_owned()),
            encryption_key: Some("arn:3".to_owned()),
            vectors: BTreeMap::new(),
            restored: Some(Restored {
                backup_arn: Some("arn:1".to_owned()),
                table_arn: "arn:2".to_owned(),
                at_ms: 3,
            }),
            tools: ToolSettings {
                policies: BTreeMap::from([(
                    String::new(),
                    StoredPolicy { document: "{}".to_owned(), revision: "7".to_owned() },
                )]),
                stream_tags: BTreeMap::from([(
                    "2026".to_owned(),
                    BTreeMap::from([("team".to_owned(), "shelf".to_owned())]),
                )]),
                insights: BTreeMap::from([(
                    "by_year".to_owned(),
                    Insights { enabled: true, throttled_only: true, updated_ms: 2, created_ms: 1 },
                )]),
                destinations: BTreeMap::from([
                    ("one".to_owned(), None),
                    ("two".to_owned(), Some("MICROSECOND".to_owned())),
                ]),
            },
        };
        assert_eq!(Meta::read(&meta.to_face()), meta);
        assert_eq!(Meta::read(&BTreeMap::new()), Meta::default());
    }
}

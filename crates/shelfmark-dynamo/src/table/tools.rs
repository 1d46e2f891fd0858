//! The settings that infrastructure tools put on a table and read back: resource policies, tags of
//! streams, contributor insights, Kinesis destinations.
//!
//! They are kept and shown. What they would do on the service is not done here, and where that would
//! let somebody in or keep somebody out the request is refused instead.

use std::collections::BTreeMap;

use shelfmark_model::Value;

type Map = BTreeMap<String, Value>;

/// A resource policy as it was put.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StoredPolicy {
    /// The document.
    pub(crate) document: String,
    /// The revision, which rises with each change.
    pub(crate) revision: String,
}

/// Contributor insights of a table or an index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Insights {
    pub(crate) enabled: bool,
    /// True if throttled keys alone are asked for.
    pub(crate) throttled_only: bool,
    /// Milliseconds since the Unix epoch of the last change, and of the first switching on.
    pub(crate) updated_ms: i64,
    pub(crate) created_ms: i64,
}

/// The settings that tools put on a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ToolSettings {
    /// Policies of the table (without a name) and of its streams (by label).
    pub(crate) policies: BTreeMap<String, StoredPolicy>,
    /// Tags of the table's streams, by label.
    pub(crate) stream_tags: BTreeMap<String, BTreeMap<String, String>>,
    /// Of the table (without a name) and of its indexes.
    pub(crate) insights: BTreeMap<String, Insights>,
    /// The Kinesis streams that were to be destinations, with the precision that was asked for.
    pub(crate) destinations: BTreeMap<String, Option<String>>,
}

impl ToolSettings {
    /// Reads the settings; what is not there was never set.
    pub(super) fn read(face: &Map) -> Self {
        let Some(Value::Map(map)) = face.get("tools") else { return Self::default() };
        Self {
            policies: each(map, "policies", |own| StoredPolicy {
                document: text(own, "document").unwrap_or_default(),
                revision: text(own, "revision").unwrap_or_default(),
            }),
            stream_tags: each(map, "stream_tags", |own| {
                own.keys().filter_map(|key| Some((key.clone(), text(own, key)?))).collect()
            }),
            insights: each(map, "insights", |own| Insights {
                enabled: own.get("enabled") == Some(&Value::Bool(true)),
                throttled_only: own.get("throttled_only") == Some(&Value::Bool(true)),
                updated_ms: integer(own, "updated_ms"),
                created_ms: integer(own, "created_ms"),
            }),
            destinations: each(map, "destinations", |own| text(own, "precision")),
        }
    }

    /// Writes the settings, or nothing if there are none.
    pub(super) fn put(&self, face: &mut Map) {
        face.remove("tools");
        if *self == Self::default() {
            return;
        }
        let own = |name: &str, value: Value| (name.to_owned(), value);
        let policy = |policy: &StoredPolicy| {
            Map::from([
                own("document", Value::text(&policy.document)),
                own("revision", Value::text(&policy.revision)),
            ])
        };
        let tags = |tags: &BTreeMap<String, String>| {
            tags.iter().map(|(key, tag)| own(key, Value::text(tag))).collect()
        };
        let insights = |insights: &Insights| {
            Map::from([
                own("enabled", Value::Bool(insights.enabled)),
                own("throttled_only", Value::Bool(insights.throttled_only)),
                own("updated_ms", Value::Int(insights.updated_ms)),
                own("created_ms", Value::Int(insights.created_ms)),
            ])
        };
        let destination = |precision: &Option<String>| {
            precision.iter().map(|precision| own("precision", Value::text(precision))).collect()
        };
        let map = Map::from([
            own("policies", all(&self.policies, policy)),
            own("stream_tags", all(&self.stream_tags, tags)),
            own("insights", all(&self.insights, insights)),
            own("destinations", all(&self.destinations, destination)),
        ]);
        face.insert("tools".to_owned(), Value::Map(map));
    }
}

fn all<T>(settings: &BTreeMap<String, T>, write: impl Fn(&T) -> Map) -> Value {
    Value::Map(settings.iter().map(|(key, own)| (key.clone(), Value::Map(write(own)))).collect())
}

fn each<T>(map: &Map, name: &str, read: impl Fn(&Map) -> T) -> BTreeMap<String, T> {
    let Some(Value::Map(all)) = map.get(name) else { return BTreeMap::new() };
    let one = |(key, own): (&String, &Value)| {
        let Value::Map(own) = own else { return None };
        Some((key.clone(), read(own)))
    };
    all.iter().filter_map(one).collect()
}

fn text(map: &Map, name: &str) -> Option<String> {
    map.get(name)?.as_text().map(str::to_owned)
}

fn integer(map: &Map, name: &str) -> i64 {
    if let Some(Value::Int(number)) = map.get(name) { *number } else { 0 }
}

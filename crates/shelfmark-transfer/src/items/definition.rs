//! A table's definition: read from an endpoint, kept as a file, and made at another.
//!
//! It is the request CreateTable with what DescribeTable says of keys, indexes, billing, stream, class and
//! tags, and beside it the attribute of the expiry. What it is not: everything. Resource policies, replicas,
//! scaling, encryption keys and the destinations of streams stay behind.

use serde_json::{Map, Value as Json, json};
use shelfmark_keycode::number::{DYNAMO_NUMBER, parse as parse_number};

use super::client::{Client, Refusal, parse};
use super::put::has;
use crate::error::{Error, ErrorKind, Result};

/// Members of CreateTable that DescribeTable shows by the same name.
const SAME: [&str; 3] = ["AttributeDefinitions", "KeySchema", "DeletionProtectionEnabled"];
/// Members of an index that CreateTable takes.
const OF_INDEX: [&str; 7] = [
    "IndexName",
    "KeySchema",
    "Projection",
    "VectorAttribute",
    "SearchSchema",
    "Dimensions",
    "DistanceFunction",
];
/// Lists of indexes.
const INDEXES: [&str; 3] = ["GlobalSecondaryIndexes", "LocalSecondaryIndexes", "VectorIndexes"];
/// Times that a new table is looked at until it is active.
///
/// Ours: with the waits between them some five minutes; the service takes seconds.
const LOOKS_MAX: u32 = 80;

/// The definition of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The request CreateTable.
    create: Map<String, Json>,
    /// The attribute of the expiry.
    expiry: Option<String>,
    /// The table's ARN and id, where it was read from.
    pub arn: String,
    /// See `arn`.
    pub id: String,
}

/// The outcome of a request to make a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It was made.
    New,
    /// It is there already, with the same keys and indexes.
    There,
}

impl Definition {
    /// Reads the definition of a table.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Refused`]: there is none, or the endpoint does not say.
    pub fn read(client: &Client<'_>, table: &str) -> Result<Self> {
        let request = json!({ "TableName": table }).to_string();
        let body = client.call("DescribeTable", &request)?;
        let answer: Json = parse("DescribeTable", &body)?;
        let shown = answer.get("Table").and_then(Json::as_object);
        let shown = shown.ok_or_else(|| not_understood("DescribeTable"))?;
        let mut create = of_described(shown);
        let text =
            |name: &str| shown.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let arn = text("TableArn");
        let tags = tags(client, &arn)?;
        if !tags.is_empty() {
            create.insert("Tags".to_owned(), Json::Array(tags));
        }
        let expiry = expiry(client, &request)?;
        Ok(Self { create, expiry, arn, id: text("TableId") })
    }

    /// Reads a definition as people write one: a request CreateTable, the file of an export, or only the
    /// key, `pk:S` or `pk:S,sk:N`.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: it is none of these.
    pub fn parse(text: &str, table: &str) -> Result<Self> {
        let mut found = match text.trim_start().starts_with('{') {
            true => Self::of_json(text)?,
            false => Self::of_key(text)?,
        };
        found.create.insert("TableName".to_owned(), json!(table));
        Ok(found)
    }

    fn of_json(text: &str) -> Result<Self> {
        let whole: Map<String, Json> = serde_json::from_str(text).map_err(|error| {
            Error::invalid(format!("the definition of the table is no JSON: {error}"))
        })?;
        let create = match whole.get("CreateTable") {
            Some(create) => create.as_object().cloned(),
            None => Some(whole.clone()),
        };
        let create = create.filter(|create| create.contains_key("KeySchema")).ok_or_else(|| {
            Error::invalid("the definition of a table is a request CreateTable, with its KeySchema")
        })?;
        let expiry = whole.get("TimeToLive").and_then(Json::as_str).map(str::to_owned);
        Ok(Self { create, expiry, arn: String::new(), id: String::new() })
    }

    fn of_key(text: &str) -> Result<Self> {
        let usage = || {
            Error::invalid(format!(
                "{text:?} is no key: write NAME:TYPE or NAME:TYPE,NAME:TYPE with the types S, N and B, \
                 such as pk:S,sk:N"
            ))
        };
        let (mut types, mut keys) = (Vec::new(), Vec::new());
        for (column, role) in text.split(',').zip(["HASH", "RANGE", ""]) {
            let (name, kind) = column.trim().rsplit_once(':').ok_or_else(usage)?;
            if role.is_empty() || name.is_empty() || !matches!(kind, "S" | "N" | "B") {
                return Err(usage());
            }
            types.push(json!({ "AttributeName": name, "AttributeType": kind }));
            keys.push(json!({ "AttributeName": name, "KeyType": role }));
        }
        let create = json!({
            "AttributeDefinitions": types,
            "KeySchema": keys,
            "BillingMode": "PAY_PER_REQUEST",
        });
        let create = create.as_object().cloned().unwrap_or_default();
        Ok(Self { create, expiry: None, arn: String::new(), id: String::new() })
    }

    /// Returns the definition as a file keeps it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut whole = Map::new();
        whole.insert("CreateTable".to_owned(), Json::Object(self.create.clone()));
        if let Some(attribute) = &self.expiry {
            whole.insert("TimeToLive".to_owned(), json!(attribute));
        }
        serde_json::to_string_pretty(&whole).unwrap_or_default()
    }

    /// Returns the name of the table.
    #[must_use]
    pub fn table(&self) -> &str {
        self.create.get("TableName").and_then(Json::as_str).unwrap_or_default()
    }

    /// Returns the request CreateTable.
    pub(crate) fn create_table(&self) -> &Map<String, Json> {
        &self.create
    }

    /// Returns the types of attributes that are in keys, such as `("pk", "S")`.
    pub(crate) fn key_types(&self) -> Vec<(String, String)> {
        let all = self.create.get("AttributeDefinitions").and_then(Json::as_array);
        let text = |own: &Json, name: &str| Some(own.get(name)?.as_str()?.to_owned());
        all.into_iter()
            .flatten()
            .filter_map(|own| Some((text(own, "AttributeName")?, text(own, "AttributeType")?)))
            .collect()
    }

    /// Returns the names of the key's attributes, partition key first.
    pub(crate) fn key_names(&self) -> Vec<String> {
        let keys = self.create.get("KeySchema").and_then(Json::as_array);
        let name = |own: &Json| Some(own.get("AttributeName")?.as_str()?.to_owned());
        keys.into_iter().flatten().filter_map(name).collect()
    }

    /// Makes the table, unless it is there with the same keys and indexes, and waits until it is active.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Refused`]: the endpoint does not make it; its words say why.
    /// * [`ErrorKind::Invalid`]: another table of this name is there.
    pub fn create(&self, client: &Client<'_>) -> Result<Created> {
        let request = Json::Object(self.create.clone()).to_string();
        let created = match client.ask("CreateTable", &request)? {
            Ok(_) => Created::New,
            Err(refusal) if refusal.name == "ResourceInUseException" => {
                let there = Self::read(client, self.table())?;
                if !self.is_like(&there) {
                    return Err(Error::invalid(format!(
                        "a table {} is there already, with other keys or indexes; choose another name",
                        self.table()
                    )));
                }
                Created::There
            }
            Err(refusal) => return Err(refused("CreateTable", &refusal)),
        };
        self.wait_until_active(client)?;
        self.set_expiry(client)?;
        Ok(created)
    }

    /// Sets the expiry, also of a table that an earlier call made before it ended.
    fn set_expiry(&self, client: &Client<'_>) -> Result<()> {
        let Some(attribute) = &self.expiry else { return Ok(()) };
        let request = json!({ "TableName": self.table() }).to_string();
        if expiry(client, &request)?.as_ref() == Some(attribute) {
            return Ok(());
        }
        let request = json!({
            "TableName": self.table(),
            "TimeToLiveSpecification": { "AttributeName": attribute, "Enabled": true },
        });
        client.call("UpdateTimeToLive", &request.to_string()).map(drop)
    }

    fn wait_until_active(&self, client: &Client<'_>) -> Result<()> {
        let request = json!({ "TableName": self.table() }).to_string();
        for look in 1..=LOOKS_MAX {
            let body = client.call("DescribeTable", &request)?;
            let answer: Json = parse("DescribeTable", &body)?;
            let status = answer.pointer("/Table/TableStatus").and_then(Json::as_str);
            if status == Some("ACTIVE") {
                return Ok(());
            }
            client.control().wait(super::client::backoff(look))?;
        }
        let why = format!("the table {} does not become active", self.table());
        Err(Error::new(ErrorKind::Refused, why))
    }

    /// Returns true if keys and indexes are the same.
    fn is_like(&self, other: &Self) -> bool {
        let keys = |of: &Self| {
            let names = ["KeySchema"].into_iter().chain(INDEXES);
            let mut all: Vec<String> = names
                .flat_map(|name| of.create.get(name).and_then(Json::as_array).into_iter().flatten())
                .map(|own| sorted(&without_throughput(own)).to_string())
                .collect();
            all.sort();
            let mut types = of.key_types();
            types.sort();
            (all, types)
        };
        keys(self) == keys(other)
    }
}

fn not_understood(operation: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("the answer to {operation} is not understood"))
}

fn refused(operation: &str, refusal: &Refusal) -> Error {
    let text = format!("{operation}: {}: {}", refusal.name, refusal.message);
    Error::new(ErrorKind::Refused, text)
}

fn without_throughput(index: &Json) -> Json {
    let mut own = index.clone();
    if let Some(members) = own.as_object_mut() {
        members.remove("ProvisionedThroughput");
        members.remove("OnDemandThroughput");
    }
    own
}

/// Returns the same with the members of objects in the order of their names.
fn sorted(json: &Json) -> Json {
    match json {
        Json::Object(members) => {
            let mut all: Vec<(&String, &Json)> = members.iter().collect();
            all.sort_by_key(|(name, _)| *name);
            Json::Object(all.into_iter().map(|(name, own)| (name.clone(), sorted(own))).collect())
        }
        other => other.clone(),
    }
}

/// Returns CreateTable's members out of DescribeTable's.
fn of_described(shown: &Map<String, Json>) -> Map<String, Json> {
    let mut create = Map::new();
    let mut set = |name: &str, value: Json| create.insert(name.to_owned(), value);
    if let Some(name) = shown.get("TableName") {
        set("TableName", name.clone());
    }
    for name in SAME {
        if let Some(value) = shown.get(name).filter(|value| !value.is_null()) {
            set(name, value.clone());
        }
    }
    let billing = shown.get("BillingModeSummary").and_then(|own| own.get("BillingMode"));
    let is_on_demand = billing.and_then(Json::as_str) == Some("PAY_PER_REQUEST");
    set("BillingMode", json!(if is_on_demand { "PAY_PER_REQUEST" } else { "PROVISIONED" }));
    if let Some(throughput) = throughput(shown.get("ProvisionedThroughput"), is_on_demand) {
        set("ProvisionedThroughput", throughput);
    }
    for name in INDEXES {
        let all = shown.get(name).and_then(Json::as_array).filter(|all| !all.is_empty());
        let Some(all) = all else { continue };
        let has_throughput = name == "GlobalSecondaryIndexes" && !is_on_demand;
        set(name, all.iter().map(|own| index(own, has_throughput)).collect());
    }
    let stream = shown.get("StreamSpecification");
    let is_on = stream.and_then(|own| own.get("StreamEnabled")).and_then(Json::as_bool);
    if let (Some(stream), Some(true)) = (stream, is_on) {
        set("StreamSpecification", stream.clone());
    }
    if let Some(class) = shown.get("TableClassSummary").and_then(|own| own.get("TableClass")) {
        set("TableClass", class.clone());
    }
    create
}

fn throughput(shown: Option<&Json>, is_on_demand: bool) -> Option<Json> {
    let shown = shown.filter(|_| !is_on_demand)?;
    let unit = |name: &str| shown.get(name).and_then(Json::as_u64).unwrap_or(1).max(1);
    let (read, write) = (unit("ReadCapacityUnits"), unit("WriteCapacityUnits"));
    Some(json!({ "ReadCapacityUnits": read, "WriteCapacityUnits": write }))
}

fn index(shown: &Json, has_throughput: bool) -> Json {
    let mut own = Map::new();
    for name in OF_INDEX.into_iter().filter(|name| has(shown, name)) {
        if let Some(value) = shown.get(name) {
            own.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(units) = throughput(shown.get("ProvisionedThroughput"), !has_throughput) {
        own.insert("ProvisionedThroughput".to_owned(), units);
    }
    Json::Object(own)
}

/// Reads the tags of a table; none where the endpoint knows no tags.
fn tags(client: &Client<'_>, arn: &str) -> Result<Vec<Json>> {
    let (mut all, mut next) = (Vec::new(), None::<String>);
    loop {
        let mut request = json!({ "ResourceArn": arn });
        if let (Some(token), Some(members)) = (next.take(), request.as_object_mut()) {
            members.insert("NextToken".to_owned(), json!(token));
        }
        let Ok(body) = client.ask("ListTagsOfResource", &request.to_string())? else {
            return Ok(all);
        };
        let answer: Json = parse("ListTagsOfResource", &body)?;
        all.extend(answer.get("Tags").and_then(Json::as_array).into_iter().flatten().cloned());
        next = answer.get("NextToken").and_then(Json::as_str).map(str::to_owned);
        if next.is_none() {
            return Ok(all);
        }
    }
}

/// Reads the attribute of a table's expiry.
fn expiry(client: &Client<'_>, request: &str) -> Result<Option<String>> {
    let Ok(body) = client.ask("DescribeTimeToLive", request)? else { return Ok(None) };
    let answer: Json = parse("DescribeTimeToLive", &body)?;
    let shown = answer.get("TimeToLiveDescription");
    let text = |name: &str| shown.and_then(|own| own.get(name)).and_then(Json::as_str);
    let is_on = matches!(text("TimeToLiveStatus"), Some("ENABLED" | "ENABLING"));
    Ok(text("AttributeName").filter(|_| is_on).map(str::to_owned))
}

/// Returns true if a text is a number that an attribute can hold.
pub(crate) fn is_number(text: &str) -> bool {
    parse_number(text, &DYNAMO_NUMBER).is_ok()
}

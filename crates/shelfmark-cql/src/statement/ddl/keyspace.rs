//! `CREATE`, `ALTER` and `DROP KEYSPACE`.

use std::collections::BTreeMap;

use shelfmark_cql_protocol::{ChangeKind, ChangeTarget, CqlError, ErrorCode, Result, invalid};
use shelfmark_cql_syntax::ast::{AlterKeyspace, CreateKeyspace, Dropped, Property, PropertyValue};
use shelfmark_engine::CatalogueChange;
use shelfmark_model::TableName;

use super::{Change, check_keyspace_name, configuration, is_system, schema_event, writable};
use crate::schema::{Damage, Keyspace, Schema, encode_keyspace, stored_name};

const MISSING_CLASS: &str = "Missing replication strategy class";

const LOCATOR: &str = "org.apache.cassandra.locator.";

/// The option that says how many replicas there are.
const FACTOR: &str = "replication_factor";

/// The data centre that this server says it is in.
pub(super) const DATACENTER: &str = "datacenter1";

pub(super) fn create(own: &CreateKeyspace, schema: &Schema) -> Result<Option<Change>> {
    let name = own.name.as_str();
    if is_system(name) {
        return invalid(format!("System keyspace '{name}' is not user-modifiable"));
    }
    check_keyspace_name(name)?;
    let applied = apply(
        Keyspace {
            name: name.into(),
            durable_writes: true,
            replication: Vec::new(),
            is_virtual: false,
            tables: BTreeMap::new(),
            types: BTreeMap::new(),
            functions: Vec::new(),
            aggregates: Vec::new(),
            damage: Damage::default(),
        },
        &own.properties,
    );
    if !own.properties.iter().any(|property| property.name.as_str() == "replication")
        && !applied.as_ref().is_err_and(|error| error.code == ErrorCode::Syntax)
    {
        return invalid("Missing mandatory option 'replication'");
    }
    // Of a keyspace that is there the strategy is not looked at, if one is named.
    let unread =
        |error: &CqlError| error.code == ErrorCode::Syntax || error.message == MISSING_CLASS;
    if schema.keyspace(name).is_some() && !applied.as_ref().is_err_and(unread) {
        if own.if_not_exists {
            return Ok(None);
        }
        return Err(CqlError::already_exists(name, ""));
    }
    let keyspace = applied?;
    let attachment = encode_keyspace(&keyspace).into();
    Ok(Some(Change {
        changes: vec![CatalogueChange::CreateNamespace { name: name.to_owned(), attachment }],
        event: schema_event(ChangeKind::Created, ChangeTarget::Keyspace, name, ""),
        builds: Vec::new(),
    }))
}

pub(super) fn alter(own: &AlterKeyspace, schema: &Schema) -> Result<Option<Change>> {
    let name = own.name.as_str();
    if schema.keyspace(name).is_none() && own.if_exists {
        return Ok(None);
    }
    let old = match schema.keyspace(name).filter(|_| is_replicated(name)) {
        Some(own) => own,
        None => writable(name, schema, &format!("ALTER <keyspace {name}>"))?,
    };
    let keyspace = apply(Keyspace::clone(old), &own.properties)?;
    if keyspace.replication == old.replication && keyspace.durable_writes == old.durable_writes {
        return Ok(None);
    }
    Ok(Some(Change {
        // What the server computes has one copy, whatever is said of it.
        changes: if is_replicated(name) { Vec::new() } else { vec![attach(&keyspace)] },
        event: schema_event(ChangeKind::Updated, ChangeTarget::Keyspace, name, ""),
        builds: Vec::new(),
    }))
}

/// Returns what clients are warned of in the replication of a keyspace that is made or changed.
///
/// Source: Cassandra 5.0, `CreateKeyspaceStatement` and `AlterKeyspaceStatement`, read 2026-11.
pub(super) fn warnings(name: &str, before: &Schema, after: &Schema) -> Vec<String> {
    /// This server, and no other that has replicas.
    const NODES: u32 = 1;
    // What is said of the server's own is not kept.
    if is_replicated(name) {
        return Vec::new();
    }
    let factors = |schema: &Schema| {
        let found = schema.keyspace(name).map(|own| own.replication.clone()).unwrap_or_default();
        let factors: Vec<(String, u32)> = found
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.parse().ok()?)))
            .collect();
        factors
    };
    let (old, new) = (factors(before), factors(after));
    let mut out: Vec<String> = new
        .iter()
        .filter(|(_, factor)| *factor > NODES)
        .map(|(option, factor)| {
            let place = match option.as_str() {
                FACTOR => String::new(),
                data_center => format!(" for datacenter {data_center}"),
            };
            format!(
                "Your replication factor {factor} for keyspace {name} is higher than the number of nodes {NODES}{place}"
            )
        })
        .collect();
    let sum = |all: &[(String, u32)]| all.iter().map(|(_, factor)| u64::from(*factor)).sum::<u64>();
    if !old.is_empty() && sum(&new) > sum(&old) {
        out.push(
            "When increasing replication factor you need to run a full (-full) repair to distribute the data."
                .to_owned(),
        );
    }
    out
}

/// Returns true of the server's own keyspaces whose replication operators set in Cassandra.
pub(in crate::statement) fn is_replicated(name: &str) -> bool {
    matches!(name, "system_auth" | "system_traces" | "system_distributed")
}

/// Returns the change that stores what is remembered of a keyspace.
pub(super) fn attach(keyspace: &Keyspace) -> CatalogueChange<'static> {
    CatalogueChange::AlterNamespace {
        name: keyspace.name.to_string(),
        attachment: encode_keyspace(keyspace).into(),
    }
}

pub(super) fn drop(own: &Dropped, schema: &Schema) -> Result<Option<Change>> {
    let name = own.name.name.as_str();
    if schema.keyspace(name).is_none() {
        if own.if_exists {
            return Ok(None);
        }
        return invalid(format!("Keyspace '{name}' doesn't exist"));
    }
    if is_replicated(name) {
        let text = format!("Cannot DROP <keyspace {name}>");
        return Err(CqlError::new(ErrorCode::Unauthorized, text));
    }
    if is_system(name) {
        return Err(super::not_modifiable(name, &format!("DROP <keyspace {name}>")));
    }
    let Some(keyspace) = schema.keyspace(name) else {
        return invalid(format!("Keyspace '{name}' doesn't exist"));
    };
    // Views go before their bases.
    let (views, tables): (Vec<_>, Vec<_>) =
        keyspace.tables.values().partition(|table| table.is_view());
    let mut changes: Vec<CatalogueChange<'static>> = views
        .into_iter()
        .chain(tables)
        .map(|table| CatalogueChange::DropTable(stored_name(table)))
        .collect();
    // What cannot be read goes too.
    let unreadable = keyspace.damage.tables.iter();
    changes.extend(
        unreadable.map(|own| CatalogueChange::DropTable(TableName::new(name, own.as_str()))),
    );
    changes.push(CatalogueChange::DropNamespace { name: name.to_owned() });
    Ok(Some(Change {
        changes,
        event: schema_event(ChangeKind::Dropped, ChangeTarget::Keyspace, name, ""),
        builds: Vec::new(),
    }))
}

fn apply(mut keyspace: Keyspace, properties: &[Property]) -> Result<Keyspace> {
    for property in properties {
        match (property.name.as_str(), &property.value) {
            ("replication", PropertyValue::Map(pairs)) => {
                let pairs: Vec<(String, String)> = pairs
                    .iter()
                    .map(|(name, value)| (name.text.to_string(), value.text.to_string()))
                    .collect();
                keyspace.replication = replication(pairs, &keyspace.replication, &keyspace.name)?;
            }
            ("replication", _) => {
                return Err(CqlError::syntax(
                    "Invalid value for property 'replication'. It should be a map.",
                ));
            }
            ("durable_writes", value) => {
                keyspace.durable_writes = super::options::boolean("durable_writes", value)?;
            }
            (other, _) => return Err(CqlError::syntax(format!("Unknown property '{other}'"))),
        }
    }
    Ok(keyspace)
}

/// Checks a replication map and brings it into the form that is shown; `before` is what the keyspace
/// had.
fn replication(
    pairs: Vec<(String, String)>,
    before: &[(String, String)],
    keyspace: &str,
) -> Result<Vec<(String, String)>> {
    let class = pairs.iter().find(|(name, _)| name == "class").map(|(_, value)| value.clone());
    let Some(class) = class else { return configuration(MISSING_CLASS) };
    let short = class.strip_prefix(LOCATOR).unwrap_or(&class).to_owned();
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    let others = pairs.into_iter().filter(|(name, _)| name != "class");
    match short.as_str() {
        "SimpleStrategy" => {
            for (name, value) in others {
                if name != FACTOR {
                    return configuration(format!(
                        "Unrecognized strategy option {{{name}}} passed to SimpleStrategy for keyspace {keyspace}"
                    ));
                }
                check_factor(&value)?;
                out.insert(name, value);
            }
            // What the setting `default_keyspace_rf` says.
            if out.is_empty() {
                out.insert(FACTOR.to_owned(), "1".to_owned());
            }
        }
        "NetworkTopologyStrategy" => out = data_centers(others.collect(), before, keyspace)?,
        "LocalStrategy" => {
            return invalid(
                "Unable to use given strategy class: LocalStrategy is reserved for internal use.",
            );
        }
        _ => {
            return configuration(format!(
                "Unable to find replication strategy class '{LOCATOR}{short}'"
            ));
        }
    }
    let mut all = vec![("class".to_owned(), format!("{LOCATOR}{short}"))];
    all.extend(out);
    Ok(all)
}

/// Returns the replicas of each data centre. `replication_factor` is that of the data centres which are
/// not named, and which the keyspace did not have before.
///
/// Source: Cassandra 5.0, `NetworkTopologyStrategy.prepareOptions`.
fn data_centers(
    mut named: BTreeMap<String, String>,
    before: &[(String, String)],
    keyspace: &str,
) -> Result<BTreeMap<String, String>> {
    let had = |name: &str| before.iter().find(|(own, _)| own == name).map(|(_, own)| own.clone());
    let mut factor = named.remove(FACTOR);
    if factor.is_none() && named.is_empty() {
        factor = Some(had(FACTOR).unwrap_or_else(|| "1".to_owned()));
    }
    if let Some(factor) = factor {
        named.entry(DATACENTER.to_owned()).or_insert_with(|| had(DATACENTER).unwrap_or(factor));
    }
    if let Some(name) = named.keys().find(|name| *name != DATACENTER) {
        return configuration(format!(
            "Unrecognized strategy option {{{name}}} passed to NetworkTopologyStrategy for keyspace {keyspace}"
        ));
    }
    named.values().try_for_each(|value| check_factor(value))?;
    // No replica is as good as not naming the data centre.
    named.retain(|_, value| value != "0");
    if named.is_empty() {
        return configuration("Configuration for at least one datacenter must be present");
    }
    Ok(named)
}

fn check_factor(value: &str) -> Result<()> {
    // `3/1` speaks of transient replicas.
    let (whole, transient) = value.split_once('/').unwrap_or((value, "0"));
    if transient.parse::<u32>().is_ok_and(|count| count > 0) {
        return configuration("Transient replication is not enabled on this node");
    }
    match whole.parse::<i32>() {
        Ok(number) if number >= 0 => Ok(()),
        Ok(number) => {
            configuration(format!("Replication factor must be non-negative, found {number}"))
        }
        Err(_) => configuration(format!("For input string: \"{whole}\"")),
    }
}

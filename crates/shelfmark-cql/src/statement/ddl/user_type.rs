//! `CREATE`, `ALTER` and `DROP TYPE`.

use std::collections::HashSet;
use std::sync::Arc;

use shelfmark_cql_protocol::{ChangeKind, ChangeTarget, Result, invalid};
use shelfmark_cql_syntax::ast::{AlterType, AlterTypeAction, CreateType, Dropped};
use shelfmark_cql_types::{CqlType, UserType, check_limits, refresh, resolve_type};

use super::{Change, altered, dropped, keyspace::attach, schema_event, writable};
use crate::schema::{Keyspace, Schema, Table, decode_keyspace, encode_keyspace, keeps_up};

/// Most fields of a type. Source: Cassandra counts them in a signed 16-bit number.
const FIELDS_MAX: usize = 32_767;

fn change(keyspace: &Keyspace, kind: ChangeKind, name: &str) -> Option<Change> {
    Some(Change {
        changes: vec![attach(keyspace)],
        event: schema_event(kind, ChangeTarget::Type, &keyspace.name, name),
        builds: Vec::new(),
    })
}

pub(super) fn create(
    own: &CreateType,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Option<Change>> {
    let keyspace_name = super::super::keyspace_of(&own.name, keyspace)?;
    let keyspace =
        writable(keyspace_name, schema, &format!("CREATE <all tables in {keyspace_name}>"))?;
    let name = own.name.name.as_str();
    if keyspace.types.contains_key(name) {
        if own.if_not_exists {
            return Ok(None);
        }
        return invalid(format!("A user type with name '{name}' already exists"));
    }
    if own.fields.len() > FIELDS_MAX {
        return invalid(format!("a type has at most {FIELDS_MAX} fields"));
    }
    let mut fields: Vec<(Arc<str>, shelfmark_cql_types::CqlType)> =
        Vec::with_capacity(own.fields.len());
    let mut known = HashSet::with_capacity(own.fields.len());
    for field in &own.fields {
        let field_name = field.name.as_str();
        if !known.insert(field_name) {
            return invalid(format!("Duplicate field name '{field_name}' in type '{name}'"));
        }
        let ty = match resolve_type(&field.field_type, keyspace_name, schema) {
            // That it is not frozen is seen before that it is not there.
            Err(_) if matches!(field.field_type, shelfmark_cql_syntax::ast::Type::User(_)) => {
                return invalid(LIVE_FIELD);
            }
            other => other?,
        };
        check_field(&ty)?;
        fields.push((field_name.into(), ty));
    }
    let definition = UserType { keyspace: keyspace_name.into(), name: name.into(), fields };
    check_limits(&CqlType::User { definition: Arc::new(definition.clone()), frozen: true })?;
    let mut keyspace = Keyspace::clone(keyspace);
    keyspace.types.insert(name.to_owned(), Arc::new(definition));
    Ok(change(&keyspace, ChangeKind::Created, name))
}

/// Returns a type as messages about types show it: user types with their keyspace.
pub(super) fn qualified(ty: &shelfmark_cql_types::CqlType) -> String {
    match ty {
        shelfmark_cql_types::CqlType::User { definition, frozen } => {
            let name = format!("{}.{}", definition.keyspace, definition.name);
            if *frozen { format!("frozen<{name}>") } else { name }
        }
        other => other.to_string(),
    }
}

const LIVE_FIELD: &str = "A user type cannot contain non-frozen UDTs";

fn check_field(ty: &shelfmark_cql_types::CqlType) -> Result<()> {
    if ty.is_counter() {
        return invalid("A user type cannot contain counters");
    }
    if ty.is_udt() && ty.is_multi_cell() {
        return invalid(LIVE_FIELD);
    }
    Ok(())
}

pub(super) fn alter(
    own: &AlterType,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Option<Change>> {
    let keyspace_name = super::super::keyspace_of(&own.name, keyspace)?;
    let name = own.name.name.as_str();
    let found = schema.keyspace(keyspace_name).and_then(|own| own.types.get(name));
    if found.is_none() && own.if_exists {
        return Ok(None);
    }
    let keyspace = writable(keyspace_name, schema, &format!("ALTER <keyspace {keyspace_name}>"))?;
    let Some(found) = found else {
        return invalid(format!("Type {keyspace_name}.{name} doesn't exist"));
    };
    let mut definition = UserType::clone(found);
    match &own.action {
        AlterTypeAction::Alter(_) => {
            return invalid("Altering field types is no longer supported");
        }
        AlterTypeAction::Add { if_not_exists, field } => {
            let field_name = field.name.as_str();
            if definition.field(field_name).is_some() {
                if *if_not_exists {
                    return Ok(None);
                }
                return invalid(format!(
                    "Cannot add field {field_name} to type {keyspace_name}.{name}: a field with name {field_name} already exists"
                ));
            }
            let ty = resolve_type(&field.field_type, keyspace_name, schema)?;
            if ty.references(keyspace_name, name) {
                return invalid(format!(
                    "Cannot add new field {field_name} of type {} to user type {keyspace_name}.{name} as it would create a circular reference",
                    qualified(&ty)
                ));
            }
            check_field(&ty)?;
            check_no_key(keyspace, keyspace_name, name, field_name, &ty)?;
            definition.fields.push((field_name.into(), ty));
        }
        AlterTypeAction::Rename { if_exists, renames } => {
            for rename in renames {
                let (from, to) = (rename.from.as_str(), rename.to.as_str());
                if from != to && definition.field(from).is_some() && definition.field(to).is_some()
                {
                    return invalid(format!("Duplicate field name {to} in type {keyspace_name}"));
                }
                match definition.fields.iter_mut().find(|(field, _)| &**field == from) {
                    Some((field, _)) => *field = to.into(),
                    None if *if_exists => return Ok(None),
                    None => {
                        return invalid(format!(
                            "Unkown field {from} in user type {keyspace_name}.{name}"
                        ));
                    }
                }
            }
        }
    }
    check_limits(&CqlType::User { definition: Arc::new(definition.clone()), frozen: true })?;
    let mut keyspace = Keyspace::clone(keyspace);
    keyspace.types.insert(name.to_owned(), Arc::new(definition));
    let mut change = change(&keyspace, ChangeKind::Updated, name);
    if let Some(change) = &mut change {
        let tables = users(&keyspace, name)?;
        check_keys(&tables, own, keyspace_name)?;
        change.changes.extend(tables.into_iter().map(altered));
    }
    Ok(change)
}

/// Returns the tables and views that use a type, with the present form of all types.
fn users(keyspace: &Keyspace, name: &str) -> Result<Vec<Table>> {
    let types = decode_keyspace(&keyspace.name, &encode_keyspace(keyspace))?.types;
    let uses = |table: &Table| {
        table.columns.iter().any(|column| column.kind.references(&keyspace.name, name))
    };
    let tables = keyspace.tables.values().filter(|table| table.stored.is_some() && uses(table));
    let changed = tables.map(|table| {
        let mut table = Table::clone(table);
        for column in &mut table.columns {
            column.kind = refresh(&column.kind, &types);
        }
        table
    });
    Ok(changed.collect())
}

/// Refuses new fields for a type in keys that an earlier version of the format made: those hold
/// user types as tuples of fixed length, so two rows that differ in the new field would be one.
fn check_keys(tables: &[Table], own: &AlterType, keyspace: &str) -> Result<()> {
    let AlterTypeAction::Add { field, .. } = &own.action else { return Ok(()) };
    let old: Vec<String> =
        tables.iter().filter(|table| !keeps_up(table)).map(Table::full_name).collect();
    if old.is_empty() {
        return Ok(());
    }
    invalid(format!(
        "Cannot add new field {} to user type {keyspace}.{} as the type is being used in clustering columns or indexes that an earlier version of this server made, by the following tables: {}; copy them into new tables, or drop these indexes",
        field.name.as_str(),
        own.name.name.as_str(),
        old.join(", ")
    ))
}

/// Refuses to change types in partition keys: these are hashed as bytes.
fn check_no_key(
    keyspace: &Keyspace,
    keyspace_name: &str,
    name: &str,
    field_name: &str,
    ty: &shelfmark_cql_types::CqlType,
) -> Result<()> {
    let in_key: Vec<String> = keyspace
        .tables
        .values()
        .filter(|table| {
            let mut keys = table.partition_columns().iter();
            keys.any(|column| column.kind.references(keyspace_name, name))
        })
        .map(|table| table.full_name())
        .collect();
    if !in_key.is_empty() {
        return invalid(format!(
            "Cannot add new field {field_name} of type {} to user type {keyspace_name}.{name} as the type is being used in partition key by the following tables: {}",
            qualified(ty),
            in_key.join(", ")
        ));
    }
    Ok(())
}

pub(super) fn drop(
    own: &Dropped,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Option<Change>> {
    let (keyspace, name, found) = dropped(own, keyspace, schema)?;
    let Some(found) = found.filter(|own| own.types.contains_key(name)) else {
        if own.if_exists {
            return Ok(None);
        }
        return invalid(format!("Type '{keyspace}.{name}' doesn't exist"));
    };
    let users: Vec<&str> = found
        .types
        .values()
        .filter(|ty| ty.fields.iter().any(|(_, field)| field.references(keyspace, name)))
        .map(|ty| &*ty.name)
        .collect();
    if !users.is_empty() {
        return invalid(format!(
            "Cannot drop user type '{keyspace}.{name}' as it is still used by user types {}",
            users.join(", ")
        ));
    }
    let functions = super::function::users_of_type(found, name);
    if !functions.is_empty() {
        return invalid(format!(
            "Cannot drop user type '{keyspace}.{name}' as it is still used by functions {}",
            functions.join(", ")
        ));
    }
    let tables: Vec<&str> = found
        .tables
        .values()
        .filter(|table| table.columns.iter().any(|column| column.kind.references(keyspace, name)))
        .map(|table| &*table.name)
        .collect();
    if !tables.is_empty() {
        return invalid(format!(
            "Cannot drop user type '{keyspace}.{name}' as it is still used by tables {}",
            tables.join(", ")
        ));
    }
    let mut keyspace = Keyspace::clone(found);
    keyspace.types.remove(name);
    Ok(change(&keyspace, ChangeKind::Dropped, name))
}

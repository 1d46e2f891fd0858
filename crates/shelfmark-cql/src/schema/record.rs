//! Records that this face attaches to the engine's namespaces and tables: JSON, versioned.
//!
//! Invariant: a record that was written by an older version can be read; unknown versions are
//! refused, not guessed. Whatever a statement writes was decoded by this code before.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use shelfmark_cql_protocol::{CqlError, ErrorCode};
use shelfmark_cql_types::term::{ColumnMask, MaskArgument};
use shelfmark_cql_types::{
    CqlType, UserType, UserTypes, check_limits, class_name, parse_class_name, refresh,
};
use shelfmark_model::TableSchema;

use crate::user_function::{UserAggregate, UserFunction, stored_type};

use super::{
    Column, ColumnKind, Damage, DroppedColumn, Index, IndexTarget, Keyspace, Table, TableFlags,
    TableOptions, View,
};

const VERSION: u8 = 1;
/// The version of tables with masks: builds that know none refuse to show what is masked.
const VERSION_OF_MASKS: u8 = 2;

#[derive(Serialize, Deserialize)]
struct KeyspaceRecord {
    version: u8,
    durable_writes: bool,
    replication: Vec<(String, String)>,
    types: Vec<TypeRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    functions: Vec<FunctionRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aggregates: Vec<AggregateRecord>,
}

/// A function of a user's; types as CQL writes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FunctionRecord {
    name: String,
    arguments: Vec<(String, String)>,
    returns: String,
    called_on_null: bool,
    language: String,
    body: String,
}

/// An aggregate of a user's; types as CQL writes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AggregateRecord {
    name: String,
    arguments: Vec<String>,
    state_function: String,
    state_type: String,
    final_function: Option<String>,
    initial: Option<Vec<u8>>,
    returns: String,
}

#[derive(Serialize, Deserialize)]
struct TypeRecord {
    name: String,
    fields: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
struct TableRecord {
    version: u8,
    id: [u8; 16],
    columns: Vec<ColumnRecord>,
    next_column: u32,
    options: TableOptions,
    flags: (bool, bool, bool, bool, bool),
    indexes: Vec<IndexRecord>,
    dropped: Vec<DroppedRecord>,
    view: Option<ViewRecord>,
}

#[derive(Serialize, Deserialize)]
struct ColumnRecord {
    name: String,
    class: String,
    role: u8,
    descending: bool,
    id: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mask: Option<MaskRecord>,
}

#[derive(Serialize, Deserialize)]
struct MaskRecord {
    /// The keyspace of a function of a user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keyspace: Option<String>,
    function: String,
    /// The class of each argument's type, and its value; none for null.
    arguments: Vec<(String, Option<Vec<u8>>)>,
}

#[derive(Serialize, Deserialize)]
struct IndexRecord {
    name: String,
    column: String,
    target: u8,
    class: Option<String>,
    options: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
struct DroppedRecord {
    name: String,
    class: String,
    role: u8,
    dropped_at: i64,
    /// Not there in records of before, whose columns do not come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct ViewRecord {
    base: String,
    base_id: [u8; 16],
    include_all_columns: bool,
    where_clause: String,
}

/// Returns the columns of a table as its record has them; `None` if it cannot be read.
pub(super) fn recorded_columns(attachment: &[u8]) -> Option<Vec<(String, CqlType)>> {
    let record: TableRecord = serde_json::from_slice(attachment).ok()?;
    let column = |own: ColumnRecord| Some((own.name, parse_class_name(&own.class).ok()?.0));
    record.columns.into_iter().map(column).collect()
}

/// Returns the indexes of a table as its record has them: name, column and target. There are none in a
/// record that cannot be read.
pub(super) fn recorded_indexes(attachment: &[u8]) -> Vec<(String, String, IndexTarget)> {
    let Ok(record) = serde_json::from_slice::<TableRecord>(attachment) else { return Vec::new() };
    let target = |own: &IndexRecord| TARGETS.get(usize::from(own.target)).copied();
    let indexes = record.indexes.into_iter();
    indexes.filter_map(|own| target(&own).map(|at| (own.name, own.column, at))).collect()
}

/// Returns the error for what is stored and cannot be read.
pub(crate) fn damaged(what: &str) -> CqlError {
    CqlError::new(ErrorCode::Server, format!("what is stored about {what} cannot be read"))
}

const ROLES: [ColumnKind; 4] =
    [ColumnKind::PartitionKey, ColumnKind::Clustering, ColumnKind::Static, ColumnKind::Regular];
const TARGETS: [IndexTarget; 5] = [
    IndexTarget::Value,
    IndexTarget::Values,
    IndexTarget::Keys,
    IndexTarget::Entries,
    IndexTarget::Full,
];

fn number_of<T: PartialEq>(all: &[T], wanted: &T) -> u8 {
    all.iter().position(|own| own == wanted).and_then(|at| u8::try_from(at).ok()).unwrap_or(0)
}

fn of_number<T: Copy>(all: &[T], number: u8, what: &str) -> Result<T, CqlError> {
    all.get(usize::from(number)).copied().ok_or_else(|| damaged(what))
}

/// Encodes what is remembered of a keyspace.
pub(crate) fn encode_keyspace(keyspace: &Keyspace) -> Vec<u8> {
    let types = keyspace.types.values().map(|ty| TypeRecord {
        name: ty.name.to_string(),
        fields: ty.fields.iter().map(|(name, ty)| (name.to_string(), class_name(ty))).collect(),
    });
    // What cannot be read is no reason to lose it.
    let unread = keyspace
        .damage
        .types
        .iter()
        .map(|(name, fields)| TypeRecord { name: name.clone(), fields: fields.clone() });
    let types = types.chain(unread);
    let record = KeyspaceRecord {
        version: VERSION,
        durable_writes: keyspace.durable_writes,
        replication: keyspace.replication.clone(),
        types: types.collect(),
        functions: function_records(keyspace),
        aggregates: aggregate_records(keyspace),
    };
    // Strings and numbers always become JSON.
    serde_json::to_vec(&record).unwrap_or_default()
}

/// Decodes a keyspace without its tables. Types that cannot be read are in its `damage`.
///
/// # Errors
///
/// * `Server`: the record as a whole cannot be read.
pub(crate) fn decode_keyspace(name: &str, bytes: &[u8]) -> Result<Keyspace, CqlError> {
    let fail = || damaged(&format!("keyspace {name}"));
    let record: KeyspaceRecord = serde_json::from_slice(bytes).map_err(|_| fail())?;
    if record.version != VERSION {
        return Err(fail());
    }
    let mut types: BTreeMap<String, Arc<UserType>> = BTreeMap::new();
    let mut damage = Damage::default();
    for ty in record.types {
        let fields: Option<Vec<(Arc<str>, CqlType)>> = ty
            .fields
            .iter()
            .map(|(field, class)| Some((field.as_str().into(), parse_class_name(class).ok()?.0)))
            .collect();
        match fields {
            Some(fields) => {
                let own = UserType { keyspace: name.into(), name: ty.name.as_str().into(), fields };
                types.insert(ty.name, Arc::new(own));
            }
            None => {
                damage.types.insert(ty.name, ty.fields);
            }
        }
    }
    settle(&mut types, &mut damage);
    let known = KnownTypes { keyspace: name, types: &types };
    let functions = functions_of(record.functions, &known, &mut damage);
    let aggregates = aggregates_of(record.aggregates, &known, &mut damage);
    Ok(Keyspace {
        name: name.into(),
        durable_writes: record.durable_writes,
        replication: record.replication,
        is_virtual: false,
        tables: BTreeMap::new(),
        types,
        functions,
        aggregates,
        damage,
    })
}

/// The user types of a keyspace that is being read.
struct KnownTypes<'k> {
    keyspace: &'k str,
    types: &'k BTreeMap<String, Arc<UserType>>,
}

impl UserTypes for KnownTypes<'_> {
    fn user_type(&self, keyspace: &str, name: &str) -> Option<&Arc<UserType>> {
        self.types.get(name).filter(|_| keyspace == self.keyspace)
    }
}

impl KnownTypes<'_> {
    fn find(&self, text: &str) -> Option<CqlType> {
        stored_type(text, self.keyspace, self)
    }
}

fn function_records(keyspace: &Keyspace) -> Vec<FunctionRecord> {
    let record = |own: &Arc<UserFunction>| FunctionRecord {
        name: own.name.to_string(),
        arguments: own
            .arguments
            .iter()
            .map(|(name, ty)| (name.to_string(), ty.to_string()))
            .collect(),
        returns: own.returns.to_string(),
        called_on_null: own.called_on_null,
        language: own.language.to_string(),
        body: own.body.to_string(),
    };
    let unread = keyspace.damage.functions.0.iter().cloned();
    keyspace.functions.iter().map(record).chain(unread).collect()
}

fn aggregate_records(keyspace: &Keyspace) -> Vec<AggregateRecord> {
    let record = |own: &Arc<UserAggregate>| AggregateRecord {
        name: own.name.to_string(),
        arguments: own.arguments.iter().map(ToString::to_string).collect(),
        state_function: own.state_function.to_string(),
        state_type: own.state_type.to_string(),
        final_function: own.final_function.as_ref().map(ToString::to_string),
        initial: own.initial.clone(),
        returns: own.returns.to_string(),
    };
    let unread = keyspace.damage.functions.1.iter().cloned();
    keyspace.aggregates.iter().map(record).chain(unread).collect()
}

fn functions_of(
    records: Vec<FunctionRecord>,
    known: &KnownTypes<'_>,
    damage: &mut Damage,
) -> Vec<Arc<UserFunction>> {
    let mut all = Vec::with_capacity(records.len());
    for own in records {
        let argument =
            |(name, ty): &(String, String)| Some((Arc::from(name.as_str()), known.find(ty)?));
        let arguments: Option<Vec<_>> = own.arguments.iter().map(argument).collect();
        let (Some(arguments), Some(returns)) = (arguments, known.find(&own.returns)) else {
            damage.functions.0.push(own);
            continue;
        };
        all.push(Arc::new(UserFunction::new(
            (known.keyspace, &own.name),
            arguments,
            returns,
            own.called_on_null,
            &own.language,
            &own.body,
        )));
    }
    all
}

fn aggregates_of(
    records: Vec<AggregateRecord>,
    known: &KnownTypes<'_>,
    damage: &mut Damage,
) -> Vec<Arc<UserAggregate>> {
    let mut all = Vec::with_capacity(records.len());
    for own in records {
        let arguments: Option<Vec<CqlType>> =
            own.arguments.iter().map(|ty| known.find(ty)).collect();
        let types = (arguments, known.find(&own.state_type), known.find(&own.returns));
        let (Some(arguments), Some(state_type), Some(returns)) = types else {
            damage.functions.1.push(own);
            continue;
        };
        all.push(Arc::new(UserAggregate {
            keyspace: known.keyspace.into(),
            name: own.name.into(),
            arguments,
            state_function: own.state_function.into(),
            state_type,
            final_function: own.final_function.map(Arc::from),
            initial: own.initial,
            returns,
        }));
    }
    all
}

/// Gives types that hold types the present form of those; deep ones need as many rounds. What is
/// over the limits then cannot be used.
fn settle(types: &mut BTreeMap<String, Arc<UserType>>, damage: &mut Damage) {
    for _ in 0..shelfmark_cql_types::TYPE_DEPTH_MAX {
        let mut fresh: BTreeMap<String, Arc<UserType>> = BTreeMap::new();
        for (name, own) in types.iter() {
            let fields =
                own.fields.iter().map(|(field, ty)| (Arc::clone(field), refresh(ty, types)));
            let definition =
                Arc::new(UserType { fields: fields.collect(), ..UserType::clone(own) });
            let ty = CqlType::User { definition: Arc::clone(&definition), frozen: true };
            if check_limits(&ty).is_ok() {
                fresh.insert(name.clone(), definition);
            } else {
                let fields =
                    own.fields.iter().map(|(field, ty)| (field.to_string(), class_name(ty)));
                damage.types.insert(name.clone(), fields.collect());
            }
        }
        let settled = fresh == *types;
        *types = fresh;
        if settled {
            break;
        }
    }
}

/// Encodes what is remembered of a table.
pub(crate) fn encode_table(table: &Table) -> Vec<u8> {
    let flags = table.flags;
    let record = TableRecord {
        version: if table.has_masks() { VERSION_OF_MASKS } else { VERSION },
        id: table.id,
        columns: table
            .columns
            .iter()
            .map(|column| ColumnRecord {
                name: column.name.to_string(),
                class: class_name(&column.kind),
                role: number_of(&ROLES, &column.role),
                descending: column.descending,
                id: column.id,
                mask: column.mask.as_deref().map(mask_record),
            })
            .collect(),
        next_column: table.next_column,
        options: table.options.clone(),
        flags: (flags.counter, flags.compact, flags.dense, flags.compound, flags.super_columns),
        indexes: table
            .indexes
            .iter()
            .map(|index| IndexRecord {
                name: index.name.clone(),
                column: index.column.to_string(),
                target: number_of(&TARGETS, &index.target),
                class: index.class.clone(),
                options: index.options.clone(),
            })
            .collect(),
        dropped: table
            .dropped
            .iter()
            .map(|column| DroppedRecord {
                name: column.name.to_string(),
                class: class_name(&column.kind),
                role: number_of(&ROLES, &column.role),
                dropped_at: column.dropped_at,
                id: column.id,
            })
            .collect(),
        view: table.view.as_ref().map(|view| ViewRecord {
            base: view.base.to_string(),
            base_id: view.base_id,
            include_all_columns: view.include_all_columns,
            where_clause: view.where_clause.clone(),
        }),
    };
    serde_json::to_vec(&record).unwrap_or_default()
}

/// Builds a table from the engine's schema and what is attached to it.
///
/// # Errors
///
/// * `Server`: the record cannot be read.
pub(crate) fn decode_table(
    keyspace: &Keyspace,
    schema: &TableSchema,
    stored: Option<Arc<shelfmark_engine::Table>>,
) -> Result<Table, CqlError> {
    let name = schema.name.clone();
    let what = format!("table {name}");
    let fail = || damaged(&what);
    let cells = schema.cells.as_ref().ok_or_else(fail)?;
    let record: TableRecord = serde_json::from_slice(&cells.attachment).map_err(|_| fail())?;
    if !matches!(record.version, VERSION | VERSION_OF_MASKS) {
        return Err(fail());
    }
    let kind = |class: &str| -> Result<CqlType, CqlError> {
        let kind = refresh(&parse_class_name(class).map_err(|_| fail())?.0, &keyspace.types);
        check_limits(&kind).map_err(|_| fail())?;
        Ok(kind)
    };
    let mut columns = Vec::with_capacity(record.columns.len());
    for column in &record.columns {
        let mask = column.mask.as_ref().map(|own| mask_of(own, &kind)).transpose()?;
        columns.push(Column {
            name: column.name.as_str().into(),
            kind: kind(&column.class)?,
            role: of_number(&ROLES, column.role, &what)?,
            descending: column.descending,
            id: column.id,
            mask: mask.map(Arc::new),
        });
    }
    let indexes = indexes_of(record.indexes, &cells.indexes, &what)?;
    let mut dropped = Vec::with_capacity(record.dropped.len());
    for column in record.dropped {
        dropped.push(DroppedColumn {
            name: column.name.into(),
            kind: kind(&column.class)?,
            role: of_number(&ROLES, column.role, &what)?,
            dropped_at: column.dropped_at,
            id: column.id,
        });
    }
    let revived = cells.revived.clone();
    let (counter, compact, dense, compound, super_columns) = record.flags;
    let mut table = Table {
        keyspace: Arc::clone(&keyspace.name),
        name: name.name.as_str().into(),
        id: record.id,
        columns,
        partition_count: 0,
        clustering_count: 0,
        next_column: record.next_column,
        options: record.options,
        flags: TableFlags { counter, compact, dense, compound, super_columns },
        indexes,
        dropped,
        revived,
        view: record.view.map(|view| View {
            base: view.base.into(),
            base_id: view.base_id,
            include_all_columns: view.include_all_columns,
            where_clause: view.where_clause,
        }),
        stored,
    };
    table.arrange();
    Ok(table)
}

fn mask_record(mask: &ColumnMask) -> MaskRecord {
    let argument =
        |own: &MaskArgument| (class_name(&own.ty), own.value.as_ref().map(|own| own.to_vec()));
    MaskRecord {
        keyspace: mask.keyspace.as_deref().map(str::to_owned),
        function: mask.function.to_string(),
        arguments: mask.arguments.iter().map(argument).collect(),
    }
}

fn mask_of(
    record: &MaskRecord,
    kind: &dyn Fn(&str) -> Result<CqlType, CqlError>,
) -> Result<ColumnMask, CqlError> {
    let argument = |(class, value): &(String, Option<Vec<u8>>)| {
        let value = value.as_ref().map(|own| Bytes::copy_from_slice(own));
        Ok(MaskArgument { ty: kind(class)?, value })
    };
    Ok(ColumnMask {
        keyspace: record.keyspace.as_deref().map(Arc::from),
        function: record.function.as_str().into(),
        arguments: record.arguments.iter().map(argument).collect::<Result<_, CqlError>>()?,
    })
}

fn indexes_of(
    records: Vec<IndexRecord>,
    stored: &[shelfmark_model::CellIndex],
    what: &str,
) -> Result<Vec<Index>, CqlError> {
    let index = |index: IndexRecord| {
        let state = stored.iter().find(|own| own.name == index.name).map(|own| own.state);
        Ok(Index {
            is_public: state == Some(shelfmark_model::IndexState::Public),
            name: index.name,
            column: index.column.into(),
            target: of_number(&TARGETS, index.target, what)?,
            class: index.class,
            options: index.options,
            shared: None,
        })
    };
    records.into_iter().map(index).collect()
}

//! `CREATE INDEX` and `DROP INDEX`.

use std::sync::Arc;

use shelfmark_cql_protocol::{ChangeKind, ChangeTarget, CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{self, CreateIndex, Dropped, IndexTargetKind, PropertyValue};
use shelfmark_cql_types::function::{SIMILARITIES, Similarity};
use shelfmark_cql_types::{CqlType, Native, class_name};
use shelfmark_engine::CatalogueChange;

use super::{Change, configuration, dropped, schema_event, writable};
use crate::schema::{
    Column, ColumnKind, Index, IndexTarget, Schema, Table, stored_index, stored_name, update_stored,
};
use crate::statement::relation::undefined_column;

pub(super) fn create(
    own: &CreateIndex,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Option<Change>> {
    let keyspace = super::super::keyspace_of(&own.table, keyspace)?;
    let table_name = own.table.name.as_str();
    let options = options(own)?;
    if own.using.as_deref() == Some(SASI) {
        return invalid("SASI indexes are disabled. Enable in cassandra.yaml to use.");
    }
    let found = writable(keyspace, schema, &format!("ALTER <table {keyspace}.{table_name}>"))?;
    let Some(table) = found.tables.get(table_name).cloned() else {
        return invalid(format!("Table '{table_name}' doesn't exist"));
    };
    if table.flags.counter {
        return invalid("Secondary indexes on counter tables aren't supported");
    }
    if table.is_view() {
        return invalid("Secondary indexes on materialized views aren't supported");
    }
    let target = single_target(own)?;
    let taken = |wanted: &str| {
        found.tables.values().any(|own| own.indexes.iter().any(|index| index.name == wanted))
    };
    if let Some(name) = own.name.as_ref().filter(|name| taken(name.as_str())) {
        return match own.if_not_exists {
            true => Ok(None),
            false => invalid(format!("Index '{}' already exists", name.as_str())),
        };
    }
    let class = class(own)?;
    let name = target.column.as_str();
    let Some(column) = table.column(name) else {
        return Err(undefined_column(name, &table));
    };
    let kind = target_of(target.kind, column, &table)?;
    check(column, kind, &table)?;
    let index_name = match &own.name {
        Some(name) => name.as_str().to_owned(),
        None => default_name(&table, column, &taken),
    };
    let index = Index {
        name: index_name,
        column: Arc::clone(&column.name),
        target: kind,
        class,
        options,
        is_public: false,
        shared: None,
    };
    if let Some(other) = table.indexes.iter().find(|other| serves_as(&index, other)) {
        if own.if_not_exists {
            return Ok(None);
        }
        return Err(duplicate(&index, other, name));
    }
    if !super::is_plain(&index.name) {
        return configuration(format!("Illegal index name {}", index.name));
    }
    if index.is_sai() {
        check_sai(&index, column)?;
    }
    added(&table, index).map(Some)
}

/// Returns the one column that an index is created on.
fn single_target(own: &CreateIndex) -> Result<&ast::IndexTarget> {
    match own.targets.as_slice() {
        [only] => Ok(only),
        [] if class(own)?.is_some() => invalid("Failed to retrieve target column for: "),
        [] => invalid("Only CUSTOM indexes can be created without specifying a target column"),
        all if class(own)?.is_some() => {
            let names: Vec<&str> = all.iter().map(|own| own.column.as_str()).collect();
            invalid(format!(
                "A storage-attached index cannot be created over multiple columns: {}",
                names.join(", ")
            ))
        }
        _ => invalid("Only CUSTOM indexes support multiple columns"),
    }
}

/// Returns true if one of two indexes of a table makes the other superfluous.
fn serves_as(index: &Index, other: &Index) -> bool {
    other.column == index.column
        && other.target == index.target
        && (other.class == index.class || (other.is_sai() && index.is_sai()))
}

/// Returns the error for an index that serves as another one does.
fn duplicate(index: &Index, other: &Index, column: &str) -> CqlError {
    if index.is_sai() && (index.options != other.options || index.class != other.class) {
        return CqlError::invalid(format!(
            "Cannot create more than one storage-attached index on the same column: {column}"
        ));
    }
    CqlError::invalid(format!(
        "Index {} is a duplicate of existing index {}",
        index.name, other.name
    ))
}

/// Returns the change of the catalogue that adds an index and begins its build.
fn added(table: &Table, index: Index) -> Result<Change> {
    let stored = stored_index(table, &index)?;
    let mut changed = Table::clone(table);
    changed.indexes.push(index);
    changed.indexes.sort_by(|a, b| a.name.cmp(&b.name));
    let name = stored_name(table);
    let change = CatalogueChange::AlterTable(
        name.clone(),
        Box::new(move |schema| {
            update_stored(&changed, schema);
            if let Some(cells) = &mut schema.cells {
                cells.indexes.push(stored.clone());
            }
            Ok(())
        }),
    );
    Ok(Change {
        changes: vec![change],
        event: schema_event(ChangeKind::Updated, ChangeTarget::Table, &table.keyspace, &table.name),
        builds: vec![name],
    })
}

/// The class of storage attached indexes.
const STORAGE_ATTACHED: &str = "org.apache.cassandra.index.sai.StorageAttachedIndex";

/// The class of SASI indexes, which are off as they are by default.
const SASI: &str = "org.apache.cassandra.index.sasi.SASIIndex";

/// Returns the class of a custom index, or of `USING`.
fn class(own: &CreateIndex) -> Result<Option<String>> {
    let Some(class) = own.using.as_deref() else {
        if own.custom {
            return configuration("Unable to find custom indexer class 'legacy_local_table'");
        }
        return Ok(None);
    };
    // Short names in any case; classes by their whole names.
    if class == STORAGE_ATTACHED {
        return Ok(Some(class.to_owned()));
    }
    match class.to_ascii_lowercase().as_str() {
        "sai" | "storageattachedindex" => Ok(Some(class.to_owned())),
        "legacy_local_table" if !own.custom => Ok(None),
        _ => configuration(format!("Unable to find custom indexer class '{class}'")),
    }
}

/// Returns the options of a statement, in order; they are judged before the table is looked for.
fn options(own: &CreateIndex) -> Result<Vec<(String, String)>> {
    let mut out = Vec::new();
    for property in &own.properties {
        match (property.name.as_str(), &property.value) {
            ("options", PropertyValue::Map(pairs)) => {
                out.extend(
                    pairs
                        .iter()
                        .map(|(name, value)| (name.text.to_string(), value.text.to_string())),
                );
            }
            ("options", _) => {
                return Err(CqlError::syntax(
                    "Invalid value for property 'options'. It should be a map.",
                ));
            }
            (other, _) => return Err(CqlError::syntax(format!("Unknown property '{other}'"))),
        }
    }
    out.sort();
    let is_plain = match own.using.as_deref() {
        None => true,
        Some(class) => !own.custom && class.eq_ignore_ascii_case("legacy_local_table"),
    };
    if !out.is_empty() && is_plain {
        return invalid("Cannot specify options for a non-CUSTOM index");
    }
    for name in OWN_OPTIONS {
        if out.iter().any(|(given, _)| given == name) {
            return invalid(format!("Cannot specify {name} as a CUSTOM option"));
        }
    }
    Ok(out)
}

/// Options that a server writes into its record of an index. Source: Cassandra 5.0, `IndexTarget`.
const OWN_OPTIONS: [&str; 2] = ["class_name", "target"];

/// Options of a storage attached index. Source: Cassandra 5.0, `StorageAttachedIndex`.
const SAI_OPTIONS: [&str; 8] = [
    "ascii",
    "case_sensitive",
    "construction_beam_width",
    "maximum_node_connections",
    "normalize",
    "optimize_for",
    "similarity_function",
    "target",
];

/// Refuses what a storage attached index does not take.
fn check_sai(index: &Index, column: &Column) -> Result<()> {
    let unknown: Vec<&str> = index
        .options
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| !SAI_OPTIONS.contains(name))
        .collect();
    if !unknown.is_empty() {
        return configuration(format!(
            "Properties specified [{}] are not understood by StorageAttachedIndex",
            unknown.join(", ")
        ));
    }
    let indexed = match (&column.kind, index.target) {
        (CqlType::List { element, frozen: false } | CqlType::Set { element, frozen: false }, _) => {
            &**element
        }
        (CqlType::Map { key, .. }, IndexTarget::Keys) => &**key,
        (CqlType::Map { value, .. }, IndexTarget::Values) => &**value,
        (ty, _) => ty,
    };
    let of_entries = match (&column.kind, index.target) {
        (CqlType::Map { key, value, .. }, IndexTarget::Entries) => vec![&**key, &**value],
        _ => vec![indexed],
    };
    if let Some(ty) = of_entries.into_iter().find(|ty| !is_indexed(ty)) {
        return invalid(format!("Unsupported type: {ty}"));
    }
    check_analysis(index, column, indexed)?;
    check_vector(index, indexed)
}

/// Returns true if a storage attached index takes values of a type.
fn is_indexed(ty: &CqlType) -> bool {
    match ty {
        CqlType::Native(native) => !matches!(native, Native::Blob | Native::Empty),
        // Composites are taken whole.
        CqlType::Custom(class) => class.contains("CompositeType("),
        _ => true,
    }
}

/// Refuses options of vectors where there are none, and vectors that cannot be compared.
fn check_vector(index: &Index, indexed: &CqlType) -> Result<()> {
    let option = |wanted: &str| {
        let found = index.options.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.to_ascii_uppercase())
    };
    const OWN: [&str; 4] = [
        "construction_beam_width",
        "maximum_node_connections",
        "optimize_for",
        "similarity_function",
    ];
    let CqlType::Vector { element, dimension } = indexed else {
        if OWN.iter().any(|name| option(name).is_some()) {
            return invalid(format!("CQL type {indexed} cannot have vector options"));
        }
        return Ok(());
    };
    if **element != CqlType::Float {
        return invalid("SAI ANN indexes are only allowed on vector columns with float elements");
    }
    if option("maximum_node_connections").is_some() {
        return invalid(
            "Maximum node connections cannot be set without enabling SAI_VECTOR_ALLOW_CUSTOM_PARAMETERS",
        );
    }
    if option("construction_beam_width").is_some() {
        return invalid(
            "Construction beam width cannot be set without enabling SAI_VECTOR_ALLOW_CUSTOM_PARAMETERS",
        );
    }
    if let Some(said) = option("similarity_function")
        && !SIMILARITIES.iter().any(|(name, _)| *name == said)
    {
        return invalid(format!(
            "Similarity function {said} was not recognized for index null. Valid values are: EUCLIDEAN, DOT_PRODUCT, COSINE"
        ));
    }
    if let Some(said) = option("optimize_for")
        && !matches!(said.as_str(), "LATENCY" | "RECALL")
    {
        return invalid(format!(
            "optimize_for '{said}' was not recognized for index null. Valid values are: LATENCY, RECALL"
        ));
    }
    if *dimension == 1 && Similarity::of_options(&index.options) == Similarity::Cosine {
        return invalid("Cosine similarity is not supported for single-dimension vectors");
    }
    Ok(())
}

/// Returns the warnings for a table after its schema was changed, once for each index on vectors.
pub(super) fn vector_warnings(table: &Table) -> impl Iterator<Item = String> + '_ {
    const WARNING: &str = "SAI ANN indexes on vector columns are experimental and are not recommended for production use.\nThey don't yet support SELECT queries with:\n * Consistency level higher than ONE/LOCAL_ONE.\n * Paging.\n * No LIMIT clauses.\n * PER PARTITION LIMIT clauses.\n * GROUP BY clauses.\n * Aggregation functions.\n * Filters on columns without a SAI index.";
    let on_vectors = |index: &&Index| {
        index.is_sai()
            && table
                .column(&index.column)
                .is_some_and(|column| matches!(column.kind, CqlType::Vector { .. }))
    };
    table.indexes.iter().filter(on_vectors).map(|_| WARNING.to_owned())
}

/// Refuses options of texts where there are none, and what is no option.
fn check_analysis(index: &Index, column: &Column, indexed: &CqlType) -> Result<()> {
    let own: Vec<&(String, String)> = index
        .options
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "ascii" | "case_sensitive" | "normalize"))
        .collect();
    if own.is_empty() {
        return Ok(());
    }
    if column.role.is_key() {
        let own: Vec<String> =
            own.iter().map(|(name, value)| format!("'{name}': '{value}'")).collect();
        return invalid(format!(
            "Analysis options are not supported on primary key columns, but found {{{}}}",
            own.join(", ")
        ));
    }
    if let (IndexTarget::Entries, CqlType::Map { key, value, .. }) = (index.target, &column.kind) {
        return invalid(format!(
            "CQL type 'org.apache.cassandra.db.marshal.CompositeType({},{})' cannot be analyzed.",
            class_name(key),
            class_name(value)
        ));
    }
    if !indexed.is_string() {
        return invalid(format!("CQL type {indexed} cannot be analyzed."));
    }
    for (name, value) in own {
        if value.is_empty() {
            return invalid(format!("Empty value for boolean option '{name}'"));
        }
        if !value.eq_ignore_ascii_case("true") && !value.eq_ignore_ascii_case("false") {
            return invalid(format!("Illegal value for boolean option '{name}': {value}"));
        }
    }
    Ok(())
}

fn target_of(kind: IndexTargetKind, column: &Column, _table: &Table) -> Result<IndexTarget> {
    Ok(match kind {
        IndexTargetKind::Simple if column.kind.is_multi_cell() && column.kind.is_collection() => {
            IndexTarget::Values
        }
        IndexTargetKind::Simple => IndexTarget::Value,
        IndexTargetKind::Values => IndexTarget::Values,
        IndexTargetKind::Keys => IndexTarget::Keys,
        IndexTargetKind::Entries => IndexTarget::Entries,
        IndexTargetKind::Full => IndexTarget::Full,
    })
}

fn check(column: &Column, kind: IndexTarget, table: &Table) -> Result<()> {
    let (name, ty) = (&column.name, &column.kind);
    if ty.references_duration() {
        let what = match ty {
            CqlType::Native(_) => "duration columns".to_owned(),
            CqlType::Tuple(_) => "tuples containing durations".to_owned(),
            CqlType::User { .. } => "UDTs containing durations".to_owned(),
            _ => "collections containing durations".to_owned(),
        };
        return invalid(format!("Secondary indexes are not supported on {what}"));
    }
    if table.flags.compact && column.role.is_key() {
        return invalid(
            "Secondary indexes are not supported on PRIMARY KEY columns in COMPACT STORAGE tables",
        );
    }
    if table.flags.compact && column.role == ColumnKind::Regular && table.flags.dense {
        return invalid(
            "Secondary indexes are not supported on compact value column of COMPACT STORAGE tables",
        );
    }
    if column.role == ColumnKind::PartitionKey && table.partition_count == 1 {
        return invalid(format!(
            "Cannot create secondary index on the only partition key column {name}"
        ));
    }
    if kind == IndexTarget::Value && ty.is_udt() && ty.is_multi_cell() {
        return invalid(format!("Cannot create index on non-frozen UDT column {name}"));
    }
    match kind {
        IndexTarget::Full if !ty.is_frozen_collection() => {
            invalid("full() indexes can only be created on frozen collections")
        }
        IndexTarget::Full => Ok(()),
        _ if ty.is_frozen_collection() => invalid(format!(
            "Cannot create {}() index on frozen column {name}. Frozen collections are immutable and must be fully indexed by using the 'full({name})' modifier",
            target_name(kind)
        )),
        IndexTarget::Value => Ok(()),
        _ if !ty.is_collection() => invalid(format!(
            "Cannot create {}() index on {name}. Non-collection columns only support simple indexes",
            target_name(kind)
        )),
        IndexTarget::Keys | IndexTarget::Entries if !matches!(ty, CqlType::Map { .. }) => {
            invalid(format!(
                "Cannot create index on {} of column {name} with non-map type",
                target_name(kind)
            ))
        }
        _ => Ok(()),
    }
}

const fn target_name(kind: IndexTarget) -> &'static str {
    match kind {
        IndexTarget::Value | IndexTarget::Values => "values",
        IndexTarget::Keys => "keys",
        IndexTarget::Entries => "entries",
        IndexTarget::Full => "full",
    }
}

fn default_name(table: &Table, column: &Column, taken: &dyn Fn(&str) -> bool) -> String {
    let plain: String =
        column.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let base = format!("{}_{plain}_idx", table.name);
    let mut name = base.clone();
    let mut number = 0_u32;
    while taken(&name) {
        number += 1;
        name = format!("{base}_{number}");
    }
    name
}

pub(super) fn drop(
    own: &Dropped,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Option<Change>> {
    let (keyspace, name, found) = dropped(own, keyspace, schema)?;
    let table = found
        .into_iter()
        .flat_map(|own| own.tables.values())
        .find(|table| table.indexes.iter().any(|index| index.name == name));
    let Some(table) = table else {
        if own.if_exists {
            return Ok(None);
        }
        return invalid(format!("Index '{keyspace}.{name}' doesn't exist'"));
    };
    let mut changed = Table::clone(table);
    changed.indexes.retain(|index| index.name != name);
    let gone = name.to_owned();
    let change = CatalogueChange::AlterTable(
        stored_name(table),
        Box::new(move |schema| {
            update_stored(&changed, schema);
            if let Some(cells) = &mut schema.cells {
                cells.indexes.retain(|index| index.name != gone);
            }
            Ok(())
        }),
    );
    Ok(Some(Change {
        changes: vec![change],
        event: schema_event(ChangeKind::Updated, ChangeTarget::Table, keyspace, &table.name),
        builds: Vec::new(),
    }))
}

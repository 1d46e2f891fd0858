//! Keyspaces and column families made, changed and dropped.

use std::fmt::Write as _;

use shelfmark_cql_syntax::{quoted_name, quoted_string};
use shelfmark_cql_types::CqlType;

use super::backend::{Backend, Reply};
use super::client::Client;
use super::family::{Family, find_keyspace, load};
use super::tree::{Attribute, AttributeValue, Definition, HashValue, Value};
use super::{Mode, values};

/// Attributes that say how the original stores a family. They are taken and change nothing.
const STORAGE_ATTRIBUTES: [&str; 20] = [
    "read_repair_chance",
    "dclocal_read_repair_chance",
    "min_compaction_threshold",
    "max_compaction_threshold",
    "replicate_on_write",
    "keys_cached",
    "rows_cached",
    "row_cache_save_period",
    "row_cache_keys_to_save",
    "row_cache_provider",
    "key_cache_save_period",
    "memtable_flush_after",
    "memtable_throughput",
    "memtable_operations",
    "merge_shards_chance",
    "caching",
    "compaction_strategy",
    "compaction_strategy_options",
    "compression_options",
    "bloom_filter_fp_chance",
];

/// A declared column of `column_metadata`.
struct Declared {
    name: String,
    cql_type: CqlType,
    /// The index on it, with its name if one is given.
    index: Option<Option<String>>,
}

/// The attributes of a column family, read.
#[derive(Default)]
struct Attributes {
    is_super: bool,
    comparator: Option<Vec<(CqlType, bool)>>,
    sub_comparator: Option<(CqlType, bool)>,
    key: Option<CqlType>,
    value: Option<CqlType>,
    declared: Vec<Declared>,
    /// True if the declared columns are said, in place of those that there were.
    has_metadata: bool,
    options: Vec<String>,
}

impl<B: Backend> Client<B> {
    pub(super) fn create_keyspace(&mut self, definition: &Definition) -> Result<Reply, String> {
        let with = keyspace_options(definition, None)?;
        let name = quoted_name(&definition.name).into_owned();
        self.backend.run(&format!("CREATE KEYSPACE {name} WITH {with}"))?;
        let mut reply = self.agreed()?;
        if self.mode == Mode::Forgiving {
            self.keyspace = Some(definition.name.clone());
            let name = &definition.name;
            reply.hints.push(format!("the new keyspace {name} is used from here on"));
        }
        Ok(reply)
    }

    pub(super) fn update_keyspace(&mut self, definition: &Definition) -> Result<Reply, String> {
        let name = self.known_keyspace(&definition.name)?;
        let current = self.strategy_of(&name)?;
        let with = keyspace_options(definition, Some(current))?;
        if !with.is_empty() {
            let name = quoted_name(&name).into_owned();
            self.backend.run(&format!("ALTER KEYSPACE {name} WITH {with}"))?;
        }
        self.agreed()
    }

    /// Returns the class of a keyspace's replication.
    fn strategy_of(&mut self, keyspace: &str) -> Result<String, String> {
        let table = self.backend.run(&format!(
            "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = {}",
            quoted_string(keyspace)
        ))?;
        let shown = table.types.first().zip(table.rows.first()).map(|(kind, row)| {
            shelfmark_cql_types::to_literal(kind, row.first().and_then(Option::as_deref))
        });
        let class = shown.as_deref().and_then(|shown| shown.split_once("'class': '"));
        let class = class.and_then(|(_, behind)| behind.split_once('\''));
        Ok(class.map_or("SimpleStrategy", |(class, _)| class).to_owned())
    }

    pub(super) fn drop_keyspace(&mut self, name: &str) -> Result<Reply, String> {
        let name = self.known_keyspace(name)?;
        self.backend.run(&format!("DROP KEYSPACE {}", quoted_name(&name)))?;
        if self.keyspace.as_ref() == Some(&name) {
            self.keyspace = None;
        }
        self.agreed()
    }

    pub(super) fn known_keyspace(&mut self, name: &str) -> Result<String, String> {
        find_keyspace(&mut self.backend, name)?
            .ok_or_else(|| format!("Keyspace '{name}' not found."))
    }

    pub(super) fn create_family(&mut self, definition: &Definition) -> Result<Reply, String> {
        let keyspace = self.working_keyspace()?;
        let attributes = attributes(definition)?;
        let table = format!("{}.{}", quoted_name(&keyspace), quoted_name(&definition.name));
        self.backend.run(&create_table(&table, &attributes)?)?;
        for declared in &attributes.declared {
            self.create_index(&table, declared)?;
        }
        self.agreed()
    }

    pub(super) fn update_family(&mut self, definition: &Definition) -> Result<Reply, String> {
        let keyspace = self.working_keyspace()?;
        let family = load(&mut self.backend, &keyspace, &definition.name)?;
        let attributes = attributes(definition)?;
        let table = family.table(&keyspace);
        let fixed = attributes.comparator.as_ref().is_some_and(|comparator| {
            comparator.first().map(|(found, _)| found)
                != family.names.first().map(|(_, found, _)| found)
        });
        if fixed || attributes.key.as_ref().is_some_and(|key| *key != family.key) {
            return Err("comparators and key validators of a column family cannot change.".into());
        }
        if family.is_super() {
            check_sub_columns(&attributes.declared, &family.value)?;
        }
        if attributes.has_metadata {
            self.declare(&table, &keyspace, &family, &attributes.declared)?;
        }
        if !attributes.options.is_empty() {
            let with = attributes.options.join(" AND ");
            self.backend.run(&format!("ALTER TABLE {table} WITH {with}"))?;
        }
        let mut reply = self.agreed()?;
        reply.hints.extend(kept(&family, &attributes));
        Ok(reply)
    }

    /// Adds the declared columns that are new, and makes and drops indexes until those are there that
    /// are said.
    fn declare(
        &mut self,
        table: &str,
        keyspace: &str,
        family: &Family,
        declared: &[Declared],
    ) -> Result<(), String> {
        for own in declared {
            if family.declared(&own.name).is_none() {
                let column = quoted_name(&own.name).into_owned();
                let add = format!("ALTER TABLE {table} ADD {column} {} STATIC", own.cql_type);
                self.backend.run(&add).map_err(|error| no_place(&family.name, error))?;
                self.create_index(table, own)?;
            }
        }
        for (name, _) in family.static_columns() {
            let own = declared.iter().find(|own| own.name == *name);
            let wanted = own.filter(|own| own.index.is_some());
            match (wanted, self.index_on(keyspace, family, name)?) {
                (Some(own), None) => self.create_index(table, own)?,
                (None, Some(index)) => {
                    let keyspace = quoted_name(keyspace);
                    self.backend.run(&format!("DROP INDEX {keyspace}.{}", quoted_name(&index)))?;
                }
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
        Ok(())
    }

    fn create_index(&mut self, table: &str, declared: &Declared) -> Result<(), String> {
        let Some(name) = &declared.index else { return Ok(()) };
        let column = quoted_name(&declared.name);
        let name = name.as_ref().map(|name| format!("{} ", quoted_name(name))).unwrap_or_default();
        self.backend.run(&format!("CREATE INDEX {name}ON {table} ({column})"))?;
        Ok(())
    }

    pub(super) fn drop_family(&mut self, name: &str) -> Result<Reply, String> {
        let keyspace = self.working_keyspace()?;
        let family = load(&mut self.backend, &keyspace, name)?;
        self.backend.run(&format!("DROP TABLE {}", family.table(&keyspace)))?;
        self.agreed()
    }

    pub(super) fn drop_index(&mut self, family: &str, column: &str) -> Result<Reply, String> {
        let keyspace = self.working_keyspace()?;
        let family = load(&mut self.backend, &keyspace, family)?;
        let name = self.index_on(&keyspace, &family, column)?.ok_or_else(|| {
            format!("Column '{column}' definition was not found in ColumnFamily '{}'.", family.name)
        })?;
        let keyspace = quoted_name(&keyspace).into_owned();
        self.backend.run(&format!("DROP INDEX {keyspace}.{}", quoted_name(&name)))?;
        self.agreed()
    }

    /// Returns the name of the index on a declared column.
    fn index_on(
        &mut self,
        keyspace: &str,
        family: &Family,
        column: &str,
    ) -> Result<Option<String>, String> {
        let table = self.backend.run(&format!(
            "SELECT index_name, options FROM system_schema.indexes \
             WHERE keyspace_name = {} AND table_name = {}",
            quoted_string(keyspace),
            quoted_string(&family.name),
        ))?;
        let target = quoted_name(column).into_owned();
        let is_on = |row: &&Vec<Option<Vec<u8>>>| {
            let options = row.get(1).and_then(Option::as_deref);
            let kind = table.types.get(1);
            kind.is_some_and(|kind| {
                let shown = shelfmark_cql_types::to_literal(kind, options);
                shown.contains(&format!("'target': {}", quoted_string(&target)))
            })
        };
        let row = table.rows.iter().find(is_on);
        Ok(row.and_then(|row| table.text(row, 0)))
    }
}

/// Words why a family that was made without declared columns takes none.
fn no_place(family: &str, error: String) -> String {
    if !error.contains("COMPACT STORAGE") {
        return error;
    }
    format!(
        "column family '{family}' was created without column_metadata, and its rows have no place for \
         declared columns; create another one with column_metadata."
    )
}

/// Returns what an update says that stays as it is: values are stored in the form of their class.
fn kept(family: &Family, attributes: &Attributes) -> Vec<String> {
    let mut hints = Vec::new();
    if attributes.value.as_ref().is_some_and(|value| *value != family.value) {
        hints.push(format!("the default_validation_class stays {}", family.value));
    }
    for (name, cql_type) in &family.declared {
        let own = attributes.declared.iter().find(|own| own.name == *name);
        match own {
            Some(own) if own.cql_type != *cql_type => {
                hints.push(format!("the validation_class of {name} stays {cql_type}"));
            }
            None if attributes.has_metadata => {
                hints.push(format!("{name} stays a declared column of {cql_type}"));
            }
            _ => {}
        }
    }
    hints
}

/// Writes what stands behind `WITH`; a new keyspace gets what it does not say, and one that is there
/// keeps its strategy.
fn keyspace_options(
    definition: &Definition,
    current_strategy: Option<String>,
) -> Result<String, String> {
    let mut strategy = None;
    let mut options: Vec<(String, String)> = Vec::new();
    let mut durable = None;
    for Attribute { name, value, .. } in &definition.attributes {
        match (name.to_ascii_lowercase().as_str(), value) {
            ("placement_strategy", AttributeValue::Text(text)) => strategy = Some(text.clone()),
            ("replication_factor", AttributeValue::Text(text)) => {
                options.push(("replication_factor".to_owned(), text.clone()));
            }
            ("strategy_options", AttributeValue::Hash(hash)) => options.extend(pairs(hash)?),
            ("strategy_options", AttributeValue::Array(hashes)) => {
                for hash in hashes {
                    options.extend(pairs(hash)?);
                }
            }
            ("durable_writes", AttributeValue::Text(text)) => {
                durable = Some(text.eq_ignore_ascii_case("true"));
            }
            _ => {
                return Err(format!(
                    "'{name}' is no attribute of a keyspace, or has no such value."
                ));
            }
        }
    }
    let mut with = Vec::new();
    if current_strategy.is_none() || strategy.is_some() || !options.is_empty() {
        let default = || current_strategy.unwrap_or_else(|| "SimpleStrategy".to_owned());
        let strategy = strategy.unwrap_or_else(default);
        let strategy = strategy.rsplit('.').next().unwrap_or_default().to_owned();
        if strategy == "SimpleStrategy" && options.is_empty() {
            options.push(("replication_factor".to_owned(), "1".to_owned()));
        }
        let mut map = format!("{{'class': {}", quoted_string(&strategy));
        for (key, value) in &options {
            // Writing to a string cannot fail.
            let _ = write!(map, ", {}: {}", quoted_string(key), quoted_string(value));
        }
        with.push(format!("replication = {map}}}"));
    }
    if let Some(durable) = durable {
        with.push(format!("durable_writes = {durable}"));
    }
    Ok(with.join(" AND "))
}

fn pairs(hash: &[(Value, HashValue)]) -> Result<Vec<(String, String)>, String> {
    hash.iter()
        .map(|(key, value)| match value {
            HashValue::Value(value) => Ok((key.text().to_owned(), value.text().to_owned())),
            HashValue::Hash(_) => Err(format!("'{}' must be a plain value.", key.text())),
        })
        .collect()
}

fn attributes(definition: &Definition) -> Result<Attributes, String> {
    let mut read = Attributes::default();
    for Attribute { name, value, .. } in &definition.attributes {
        let lower = name.to_ascii_lowercase();
        match (lower.as_str(), value) {
            ("column_type", AttributeValue::Text(text)) => {
                read.is_super = text.eq_ignore_ascii_case("super");
            }
            ("comparator", AttributeValue::Text(text)) => {
                read.comparator = Some(comparator(text)?);
            }
            ("subcomparator" | "sub_comparator", AttributeValue::Text(text)) => {
                read.sub_comparator = Some(values::class(text)?);
            }
            ("key_validation_class", AttributeValue::Text(text)) => {
                read.key = Some(values::class(text)?.0);
            }
            ("default_validation_class", AttributeValue::Text(text)) => {
                read.value = Some(values::class(text)?.0);
            }
            ("comment", AttributeValue::Text(text)) => {
                read.options.push(format!("comment = {}", quoted_string(text)));
            }
            ("gc_grace", AttributeValue::Text(text)) => {
                let seconds: u32 = text.parse().map_err(|_| format!("'{text}' is no number."))?;
                read.options.push(format!("gc_grace_seconds = {seconds}"));
            }
            ("column_metadata", AttributeValue::Array(hashes)) => {
                read.has_metadata = true;
                read.declared =
                    hashes.iter().map(|hash| declared(hash)).collect::<Result<_, _>>()?;
            }
            (other, _) if STORAGE_ATTRIBUTES.contains(&other) => {}
            _ => {
                return Err(format!(
                    "'{name}' is no attribute of a column family, or has no such value."
                ));
            }
        }
    }
    Ok(read)
}

/// Reads a comparator; `CompositeType(A, B)` has several parts.
fn comparator(text: &str) -> Result<Vec<(CqlType, bool)>, String> {
    let short = text.rsplit_once("marshal.CompositeType(").map_or(text, |(_, inner)| inner);
    let inner = text
        .strip_prefix("CompositeType(")
        .or_else(|| (short != text).then_some(short))
        .and_then(|inner| inner.strip_suffix(')'));
    match inner {
        Some(parts) => parts.split(',').map(values::class).collect(),
        None => Ok(vec![values::class(text)?]),
    }
}

fn declared(hash: &[(Value, HashValue)]) -> Result<Declared, String> {
    let mut name = None;
    let mut cql_type = CqlType::Native(shelfmark_cql_types::Native::Blob);
    let mut index = None;
    let mut index_name = None;
    for (key, value) in hash {
        let text = match value {
            HashValue::Value(value) => value.text(),
            // Options of a custom index say nothing to ours.
            HashValue::Hash(_) => continue,
        };
        match key.text().to_ascii_lowercase().as_str() {
            "column_name" => name = Some(text.to_owned()),
            "validation_class" => cql_type = values::class(text)?.0,
            "index_type" => index = Some(text.to_owned()),
            "index_name" => index_name = Some(text.to_owned()),
            other => return Err(format!("'{other}' says nothing of a column.")),
        }
    }
    let name = name.ok_or("column_metadata needs a column_name.")?;
    Ok(Declared { name, cql_type, index: index.map(|_| index_name) })
}

/// Refuses what the declared columns within super columns cannot be: their values lie beside those of all
/// others, as bytes.
fn check_sub_columns(declared: &[Declared], value: &CqlType) -> Result<(), String> {
    if declared.iter().any(|declared| declared.index.is_some()) {
        return Err("columns within super columns have no index.".into());
    }
    let is_blob = *value == CqlType::Native(shelfmark_cql_types::Native::Blob);
    if !declared.is_empty() && !is_blob {
        return Err("a super column family with column_metadata has BytesType as its \
                    default_validation_class."
            .into());
    }
    Ok(())
}

fn create_table(table: &str, attributes: &Attributes) -> Result<String, String> {
    let blob = || CqlType::Native(shelfmark_cql_types::Native::Blob);
    let key = attributes.key.clone().unwrap_or_else(blob);
    let value = attributes.value.clone().unwrap_or_else(blob);
    let comparator = attributes.comparator.clone().unwrap_or_else(|| vec![(blob(), false)]);
    let mut names: Vec<(String, CqlType, bool)> = match comparator.as_slice() {
        [(one, reversed)] => vec![("column1".to_owned(), one.clone(), *reversed)],
        several => (1..)
            .zip(several)
            .map(|(number, (part, reversed))| {
                (format!("component{number}"), part.clone(), *reversed)
            })
            .collect(),
    };
    if attributes.is_super || attributes.sub_comparator.is_some() {
        if names.len() > 1 {
            return Err("super column families have one comparator.".into());
        }
        check_sub_columns(&attributes.declared, &value)?;
        let (sub, reversed) = attributes.sub_comparator.clone().unwrap_or_else(|| (blob(), false));
        names.push(("column2".to_owned(), sub, reversed));
    }
    let mut columns = vec![format!("key {key}")];
    columns.extend(names.iter().map(|(name, part, _)| format!("{name} {part}")));
    columns.push(format!("value {value}"));
    for declared in &attributes.declared {
        columns.push(format!("{} {} STATIC", quoted_name(&declared.name), declared.cql_type));
    }
    let key_columns: Vec<&str> = names.iter().map(|(name, ..)| name.as_str()).collect();
    let mut with = attributes.options.clone();
    // The original's CQL takes no static columns with it.
    if attributes.declared.is_empty() {
        with.insert(0, "COMPACT STORAGE".to_owned());
    }
    if names.iter().any(|(.., reversed)| *reversed) {
        let order: Vec<String> = names
            .iter()
            .map(|(name, _, reversed)| format!("{name} {}", if *reversed { "DESC" } else { "ASC" }))
            .collect();
        with.push(format!("CLUSTERING ORDER BY ({})", order.join(", ")));
    }
    let with =
        if with.is_empty() { String::new() } else { format!(" WITH {}", with.join(" AND ")) };
    Ok(format!(
        "CREATE TABLE {table} ({}, PRIMARY KEY (key, {})){with}",
        columns.join(", "),
        key_columns.join(", "),
    ))
}

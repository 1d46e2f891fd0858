//! Parts of the schema as the statements that make them.

use shelfmark_cql_types::{CqlType, UserType, maybe_quote};

use crate::schema::{
    Column, ColumnKind, Index, Keyspace, Table, TableOptions, UserAggregate, UserFunction,
};
use crate::user_function::{listed, shown};

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn map(pairs: &[(String, String)]) -> String {
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}: {}", quoted(name), quoted(value))).collect();
    format!("{{{}}}", pairs.join(", "))
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(maybe_quote).collect::<Vec<_>>().join(", ")
}

/// Names the kind of a keyspace of another face's tables.
fn shared_keyspace(name: &str) -> &'static str {
    match name {
        name if crate::schema::is_of_dynamodb(name) => "DynamoDB keyspace",
        _ => "typed database",
    }
}

pub(super) fn keyspace(own: &Keyspace) -> String {
    if own.is_virtual {
        let structure = format!("VIRTUAL KEYSPACE {};", own.name);
        return not_recreated("Keyspace", &own.name, "virtual keyspace", &structure);
    }
    if own.is_shared() {
        let structure = format!("KEYSPACE {};", own.name);
        return not_recreated("Keyspace", &own.name, shared_keyspace(&own.name), &structure);
    }
    // The strategy is shown without its package.
    let shown = own.replication.iter().map(|(name, value)| {
        let short = value.strip_prefix("org.apache.cassandra.locator.");
        (name.clone(), short.filter(|_| name == "class").unwrap_or(value).to_owned())
    });
    format!(
        "CREATE KEYSPACE {} WITH replication = {}  AND durable_writes = {};",
        maybe_quote(&own.name),
        map(&shown.collect::<Vec<_>>()),
        own.durable_writes
    )
}

pub(super) fn user_type(own: &UserType) -> String {
    let fields: Vec<String> =
        own.fields.iter().map(|(name, ty)| format!("    {} {ty}", maybe_quote(name))).collect();
    format!(
        "CREATE TYPE {}.{} (\n{}\n);",
        maybe_quote(&own.keyspace),
        maybe_quote(&own.name),
        fields.join(",\n")
    )
}

/// Returns a function's name with the types of its arguments.
pub(super) fn signature(name: &str, types: &[CqlType]) -> String {
    // Names that are functions with rules of their own get quotes.
    let name = if name == "token" { "\"token\"".to_owned() } else { maybe_quote(name) };
    format!("{name}({})", listed(types))
}

pub(super) fn function(own: &UserFunction) -> String {
    let arguments: Vec<String> = own
        .arguments
        .iter()
        .map(|(name, ty)| format!("{} {}", maybe_quote(name), shown(ty)))
        .collect();
    let how = if own.called_on_null { "CALLED" } else { "RETURNS NULL" };
    let name = signature(&own.name, &[]);
    let name = name.strip_suffix("()").unwrap_or(&name);
    format!(
        "CREATE FUNCTION {}.{name}({})\n    {how} ON NULL INPUT\n    RETURNS {}\n    LANGUAGE {}\n    AS $${}$$;",
        maybe_quote(&own.keyspace),
        arguments.join(", "),
        shown(&own.returns),
        own.language,
        own.body
    )
}

pub(super) fn aggregate(own: &UserAggregate) -> String {
    let mut out = format!(
        "CREATE AGGREGATE {}.{}\n    SFUNC {}\n    STYPE {}",
        maybe_quote(&own.keyspace),
        signature(&own.name, &own.arguments),
        maybe_quote(&own.state_function),
        shown(&own.state_type)
    );
    if let Some(last) = &own.final_function {
        out.push_str(&format!("\n    FINALFUNC {}", maybe_quote(last)));
    }
    if let Some(initial) = own.initial_text() {
        out.push_str(&format!("\n    INITCOND {initial}"));
    }
    out.push(';');
    out
}

pub(super) fn index(table: &Table, own: &Index) -> String {
    let custom = if own.class.is_some() { "CUSTOM " } else { "" };
    let mut out = format!(
        "CREATE {custom}INDEX {} ON {} ({})",
        maybe_quote(&own.name),
        table.full_name(),
        own.target_text()
    );
    if let Some(class) = &own.class {
        out.push_str(&format!(" USING {}", quoted(class)));
    }
    if !own.options.is_empty() {
        out.push_str(&format!(" WITH OPTIONS = {}", map(&own.options)));
    }
    out.push(';');
    if own.shared.is_some() {
        return not_recreated("Index", &own.name, "DynamoDB index", &out);
    }
    out
}

/// Returns the definition of what no statement makes, as a remark.
fn not_recreated(what: &str, name: &str, kind: &str, structure: &str) -> String {
    format!(
        "/*\nWarning: {what} {name} is a {kind} and cannot be recreated with CQL.\nStructure, for reference:\n{structure}\n*/"
    )
}

/// Returns a table or view.
pub(super) fn table(own: &Table, internals: bool) -> String {
    let mut out = match &own.view {
        Some(view) => {
            let selected = match view.include_all_columns {
                true => "*".to_owned(),
                false => list(own.columns.iter().map(|column| &*column.name)),
            };
            format!(
                "CREATE MATERIALIZED VIEW {} AS\n    SELECT {selected}\n    FROM {}.{}\n    WHERE {}\n    {}\n ",
                own.full_name(),
                maybe_quote(&own.keyspace),
                maybe_quote(&view.base),
                view.where_clause,
                primary_key(own)
            )
        }
        None => columns(own, internals),
    };
    out.push_str("WITH ");
    if own.flags.compact {
        out.push_str("COMPACT STORAGE\n    AND ");
    }
    if internals {
        out.push_str(&format!("ID = {}\n    AND ", shelfmark_cql_types::format_uuid(&own.id)));
    }
    let order: Vec<String> = own
        .clustering_columns()
        .iter()
        .map(|column| {
            format!(
                "{} {}",
                maybe_quote(&column.name),
                if column.descending { "DESC" } else { "ASC" }
            )
        })
        .collect();
    if !order.is_empty() {
        out.push_str(&format!("CLUSTERING ORDER BY ({})\n    AND ", order.join(", ")));
    }
    if crate::schema::is_virtual(&own.keyspace) {
        out.push_str(&format!("comment = {};", quoted(&own.options.comment)));
        let structure = out.replacen("CREATE TABLE", "VIRTUAL TABLE", 1);
        return not_recreated("Table", &own.full_name(), "virtual table", &structure);
    }
    if own.is_shared() {
        out.push_str(&format!("comment = {};", quoted(&own.options.comment)));
        let kind = if own.is_typed() { "typed table" } else { "DynamoDB table" };
        return not_recreated("Table", &own.full_name(), kind, &out);
    }
    out.push_str(&options(&own.options, own.is_view()).join("\n    AND "));
    out.push(';');
    if internals {
        out.push_str(&dropped(own));
    }
    if own.flags.compact {
        return format!(
            "/*\nWarning: Table {} omitted because it has constructs not compatible with CQL (was created via legacy API).\nApproximate structure, for reference:\n(this should not be used to reproduce this schema)\n\n{out}\n*/",
            own.full_name()
        );
    }
    out
}

/// Returns the statements behind a table's that drop columns which it once had, and add those that
/// came back: what was written before stays unseen in a restored table, too.
fn dropped(own: &Table) -> String {
    let mut out = String::new();
    for gone in &own.dropped {
        out.push_str(&format!(
            "\nALTER TABLE {} DROP {} USING TIMESTAMP {};",
            own.full_name(),
            maybe_quote(&gone.name),
            gone.dropped_at
        ));
        if let Some(column) = own.column(&gone.name) {
            let mut line = column_line(&column.name, &column.kind, column.role);
            line.push_str(&mask_of(column));
            out.push_str(&format!("\nALTER TABLE {} ADD {line};", own.full_name()));
        }
    }
    out
}

fn mask_of(column: &Column) -> String {
    column.mask.as_ref().map_or_else(String::new, |mask| format!(" MASKED WITH {mask}"))
}

fn column_line(name: &str, kind: &CqlType, role: ColumnKind) -> String {
    let is_static = if role == ColumnKind::Static { " static" } else { "" };
    format!("{} {kind}{is_static}", maybe_quote(name))
}

/// Returns the columns; `internals` shows those that were dropped in place of those that came back.
fn columns(own: &Table, internals: bool) -> String {
    let single = own.partition_count == 1 && own.clustering_count == 0;
    let mut lines: Vec<String> = Vec::new();
    let was_dropped = |name: &str| internals && own.dropped.iter().any(|gone| &*gone.name == name);
    let is_shown = |column: &&Column| !own.hides(column) && !was_dropped(&column.name);
    let mut shown: Vec<&Column> = own.columns.iter().filter(is_shown).collect();
    // Behind the keys, columns of many cells come after those of one.
    shown.sort_by_key(|column| {
        let place = match column.role {
            ColumnKind::PartitionKey => 0,
            ColumnKind::Clustering => 1,
            ColumnKind::Static => 2,
            ColumnKind::Regular => 3,
        };
        (place, !column.role.is_key() && column.is_multi_cell())
    });
    for column in shown {
        let is_key = single && column.role == ColumnKind::PartitionKey;
        let key = if is_key { " PRIMARY KEY" } else { "" };
        let line = column_line(&column.name, &column.kind, column.role);
        lines.push(format!("    {line}{}{key}", mask_of(column)));
    }
    if internals {
        let gone = own.dropped.iter();
        lines.extend(
            gone.map(|gone| format!("    {}", column_line(&gone.name, &gone.kind, gone.role))),
        );
    }
    if !single {
        lines.push(format!("    {}", primary_key(own)));
    }
    format!("CREATE TABLE {} (\n{}\n) ", own.full_name(), lines.join(",\n"))
}

fn primary_key(own: &Table) -> String {
    let partition = list(own.partition_columns().iter().map(|column| &*column.name));
    let partition = if own.partition_count > 1 { format!("({partition})") } else { partition };
    let clustering: String = own
        .clustering_columns()
        .iter()
        .map(|column| format!(", {}", maybe_quote(&column.name)))
        .collect();
    format!("PRIMARY KEY ({partition}{clustering})")
}

fn double(value: f64) -> String {
    shelfmark_cql_types::to_text(&CqlType::Double, &value.to_be_bytes())
}

fn options(own: &TableOptions, is_view: bool) -> Vec<String> {
    let extensions: Vec<String> = own
        .extensions
        .iter()
        .map(|(name, value)| format!("{}: 0x{}", quoted(name), hex::encode(value)))
        .collect();
    let mut out = vec![
        format!("additional_write_policy = {}", quoted(&own.additional_write_policy)),
        format!("allow_auto_snapshot = {}", own.allow_auto_snapshot),
        format!("bloom_filter_fp_chance = {}", double(own.bloom_filter_fp_chance)),
        format!("caching = {}", map(&own.caching)),
        format!("cdc = {}", own.cdc.unwrap_or(false)),
        format!("comment = {}", quoted(&own.comment)),
        format!("compaction = {}", map(&own.compaction)),
        format!("compression = {}", map(&own.compression)),
        format!("memtable = {}", quoted(&own.memtable)),
        format!("crc_check_chance = {}", double(own.crc_check_chance)),
    ];
    if !is_view {
        out.push(format!("default_time_to_live = {}", own.default_time_to_live));
    }
    out.extend([
        format!("extensions = {{{}}}", extensions.join(", ")),
        format!("gc_grace_seconds = {}", own.gc_grace_seconds),
        format!("incremental_backups = {}", own.incremental_backups),
        format!("max_index_interval = {}", own.max_index_interval),
        format!("memtable_flush_period_in_ms = {}", own.memtable_flush_period_in_ms),
        format!("min_index_interval = {}", own.min_index_interval),
        format!("read_repair = {}", quoted(&own.read_repair)),
        format!("speculative_retry = {}", quoted(&own.speculative_retry)),
    ]);
    if !own.share.is_empty() {
        out.push(format!("share = {}", quoted(&own.share)));
    }
    out
}

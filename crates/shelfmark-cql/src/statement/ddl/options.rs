//! The options of `WITH` for tables and views, checked as Cassandra checks them.

use shelfmark_cql_protocol::{CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{Literal, LiteralKind, Property, PropertyValue};
use shelfmark_cql_types::function::new_timeuuid;
use shelfmark_cql_types::{CqlType, to_text};
use shelfmark_engine::{Environment, Share};

use super::configuration;
use super::unified::no_number;
use crate::function_context::EngineContext;
use crate::schema::{Schema, TableId, TableOptions};

const COMPACTION: &str = "org.apache.cassandra.db.compaction.";

/// Longest default time to live, in seconds: 20 years.
const TTL_SECONDS_MAX: i32 = super::super::modify::TTL_SECONDS_MAX;

/// Reads a boolean option.
pub(super) fn boolean(name: &str, value: &PropertyValue) -> Result<bool> {
    match text(name, value)?.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        other => Err(CqlError::syntax(format!(
            "Invalid boolean value {other} for '{name}'. Positive values can be '1', 'true' or 'yes'. Negative values can be '0', 'false' or 'no'."
        ))),
    }
}

fn text(name: &str, value: &PropertyValue) -> Result<String> {
    match value {
        PropertyValue::Literal(literal) => Ok(literal.text.to_string()),
        PropertyValue::Word(word) => Ok(word.to_string()),
        PropertyValue::Map(_) => Err(CqlError::syntax(format!(
            "Invalid value for property '{name}'. It should be a string"
        ))),
    }
}

fn map(name: &str, value: &PropertyValue) -> Result<Vec<(String, String)>> {
    match value {
        PropertyValue::Map(pairs) => Ok(pairs
            .iter()
            .map(|(name, value)| (name.text.to_string(), value.text.to_string()))
            .collect()),
        _ => Err(CqlError::syntax(format!(
            "Invalid value for property '{name}'. It should be a map."
        ))),
    }
}

fn integer(name: &str, value: &PropertyValue) -> Result<i32> {
    let text = text(name, value)?;
    text.parse().map_err(|_| CqlError::syntax(format!("Invalid integer value {text} for '{name}'")))
}

fn double(name: &str, value: &PropertyValue) -> Result<f64> {
    let text = text(name, value)?;
    text.parse().map_err(|_| CqlError::syntax(format!("Invalid double value {text} for '{name}'")))
}

/// Applies the properties of a `WITH`. `is_view` refuses what views cannot have.
pub(super) fn apply(
    options: &mut TableOptions,
    properties: &[Property],
    is_view: bool,
) -> Result<()> {
    for property in properties {
        let (name, value) = (property.name.as_str(), &property.value);
        match name {
            "additional_write_policy" => options.additional_write_policy = policy(name, value)?,
            "allow_auto_snapshot" => options.allow_auto_snapshot = boolean(name, value)?,
            "bloom_filter_fp_chance" => options.bloom_filter_fp_chance = bloom_chance(name, value)?,
            "caching" => options.caching = caching(map(name, value)?)?,
            "cdc" => options.cdc = Some(boolean(name, value)?),
            "comment" => options.comment = text(name, value)?,
            "compaction" => options.compaction = compaction(map(name, value)?)?,
            "compression" => options.compression = super::compression::read(map(name, value)?)?,
            "memtable" => options.memtable = memtable(value)?,
            "crc_check_chance" => options.crc_check_chance = crc_chance(name, value)?,
            "default_time_to_live" => {
                options.default_time_to_live = time_to_live(name, value, is_view)?;
            }
            // Cassandra looks at the form and keeps nothing of them either.
            "extensions" => {
                map(name, value)?;
            }
            "gc_grace_seconds" => options.gc_grace_seconds = natural(name, value)?,
            "incremental_backups" => options.incremental_backups = boolean(name, value)?,
            "max_index_interval" => options.max_index_interval = positive(name, value)?,
            "memtable_flush_period_in_ms" => {
                options.memtable_flush_period_in_ms = natural(name, value)?
            }
            "min_index_interval" => options.min_index_interval = positive(name, value)?,
            "read_repair" => options.read_repair = read_repair(value)?,
            "share" => options.share = share(value)?,
            "speculative_retry" => options.speculative_retry = policy(name, value)?,
            // The id of a table is given here when a schema is restored; `table` reads it.
            "id" => {}
            other => return Err(CqlError::syntax(format!("Unknown property '{other}'"))),
        }
    }
    if options.max_index_interval < options.min_index_interval {
        return configuration(format!(
            "max_index_interval must be greater than or equal to min_index_interval ({}) (got {})",
            options.min_index_interval, options.max_index_interval
        ));
    }
    Ok(())
}

/// Refuses properties that cannot be read, which is looked at before whether the table is there
/// already; what their values may be is looked at behind.
pub(super) fn check_forms(properties: &[Property]) -> Result<()> {
    for property in properties {
        let (name, value) = (property.name.as_str(), &property.value);
        match name {
            "additional_write_policy" | "speculative_retry" => drop(policy(name, value)?),
            "allow_auto_snapshot" | "cdc" | "incremental_backups" => drop(boolean(name, value)?),
            "bloom_filter_fp_chance" | "crc_check_chance" => drop(double(name, value)?),
            "caching" => drop(caching(map(name, value)?)?),
            "comment" => drop(text(name, value)?),
            "compaction" => drop(compaction(map(name, value)?)?),
            "compression" | "extensions" => drop(map(name, value)?),
            "memtable" => drop(memtable(value)?),
            "read_repair" => drop(read_repair(value)?),
            "default_time_to_live"
            | "gc_grace_seconds"
            | "max_index_interval"
            | "memtable_flush_period_in_ms"
            | "min_index_interval" => drop(integer(name, value)?),
            _ => {}
        }
    }
    Ok(())
}

/// The `bloom_filter_fp_chance` of tables that are compacted by levels, where none is given.
/// Source: Cassandra 5.0, `CompactionParams`.
const LEVELED_BLOOM_CHANCE: f64 = 0.1;

/// Returns the options of a new table.
pub(super) fn of_new(properties: &[Property]) -> Result<TableOptions> {
    let mut options = TableOptions::default();
    apply(&mut options, properties, false)?;
    let is_given =
        properties.iter().any(|property| property.name.as_str() == "bloom_filter_fp_chance");
    let class = options.compaction.iter().find(|(name, _)| name == "class");
    if !is_given && class.is_some_and(|(_, class)| class.ends_with(".LeveledCompactionStrategy")) {
        options.bloom_filter_fp_chance = LEVELED_BLOOM_CHANCE;
    }
    Ok(options)
}

/// Reads `share`, an option of ours: what other faces may do with the table.
fn share(value: &PropertyValue) -> Result<String> {
    let word = text("share", value)?.to_ascii_lowercase();
    if word.is_empty() || Share::of_word(&word).is_some() {
        return Ok(word);
    }
    configuration(format!(
        "share is 'none', 'read' or 'all', or '' to leave it to the server (got {word})"
    ))
}

/// Reads `bloom_filter_fp_chance`. Source of its bounds: Cassandra 5.0, `BloomCalculations`.
fn bloom_chance(name: &str, value: &PropertyValue) -> Result<f64> {
    let chance = double(name, value)?;
    if chance > 6.71e-5 && chance <= 1.0 {
        return Ok(chance);
    }
    configuration(format!(
        "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got {})",
        to_text(&CqlType::Double, &chance.to_be_bytes())
    ))
}

fn crc_chance(name: &str, value: &PropertyValue) -> Result<f64> {
    let chance = double(name, value)?;
    if (0.0..=1.0).contains(&chance) {
        return Ok(chance);
    }
    configuration(format!(
        "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got {chance:?})"
    ))
}

fn memtable(value: &PropertyValue) -> Result<String> {
    let name = text("memtable", value)?;
    if name == "default" {
        return Ok(name);
    }
    configuration(format!("Memtable configuration \"{name}\" not found."))
}

fn time_to_live(name: &str, value: &PropertyValue, is_view: bool) -> Result<i32> {
    let seconds = natural(name, value)?;
    if seconds > TTL_SECONDS_MAX {
        return configuration(format!(
            "default_time_to_live must be less than or equal to {TTL_SECONDS_MAX} (got {seconds})"
        ));
    }
    if is_view && seconds > 0 {
        return invalid(
            "Forbidden default_time_to_live detected for a materialized view. Data in a materialized view always expire at the same time than the corresponding data in the parent table. default_time_to_live must be set to zero, see CASSANDRA-12868 for more information",
        );
    }
    Ok(seconds)
}

fn read_repair(value: &PropertyValue) -> Result<String> {
    let shown = text("read_repair", value)?;
    let kind = shown.to_ascii_uppercase();
    if matches!(kind.as_str(), "BLOCKING" | "NONE") {
        return Ok(kind);
    }
    configuration(format!("Invalid value {shown} for option 'read_repair'"))
}

fn natural(name: &str, value: &PropertyValue) -> Result<i32> {
    let number = integer(name, value)?;
    if number < 0 {
        return configuration(format!("{name} must be greater than or equal to 0 (got {number})"));
    }
    Ok(number)
}

fn positive(name: &str, value: &PropertyValue) -> Result<i32> {
    let number = integer(name, value)?;
    if number < 1 {
        return configuration(format!("{name} must be greater than or equal to 1 (got {number})"));
    }
    Ok(number)
}

/// Reads a speculative retry policy: `99p`, `50ms`, `ALWAYS`, `NEVER`, `MIN(…)`, `MAX(…)`.
fn policy(name: &str, value: &PropertyValue) -> Result<String> {
    let text = text(name, value)?;
    let upper = text.to_ascii_uppercase();
    let percentile = upper.strip_suffix("PERCENTILE").or_else(|| upper.strip_suffix('P'));
    if let Some(Ok(part)) = percentile.map(str::parse::<f64>)
        && !(part > 0.0 && part < 100.0)
    {
        return configuration(format!(
            "Invalid value {text} for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)"
        ));
    }
    // As they are shown: `99p`, `50ms`.
    let percentile = |own: &str| {
        let part = own.strip_suffix("PERCENTILE").or_else(|| own.strip_suffix('P'))?;
        let part: f64 = part.parse().ok().filter(|part| *part > 0.0 && *part < 100.0)?;
        Some(format!("{}p", (part * 10_000.0).round() / 10_000.0))
    };
    let fixed = |own: &str| {
        let digits = own.strip_suffix("MS")?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let millis: f64 = digits.parse().ok().filter(|_| plain)?;
        Some(format!("{}ms", millis.trunc()))
    };
    if let Some(shown) = percentile(&upper).or_else(|| fixed(&upper)) {
        return Ok(shown);
    }
    if let Some((which @ ("MIN" | "MAX"), rest)) = upper.split_once('(')
        && let Some((one, other)) = rest.strip_suffix(')').and_then(|rest| rest.split_once(','))
    {
        let (one, other) = (one.trim(), other.trim());
        let both = percentile(one).zip(fixed(other)).or_else(|| percentile(other).zip(fixed(one)));
        if let Some((percentile, fixed)) = both {
            return Ok(format!("{which}({percentile},{fixed})"));
        }
    }
    match upper.as_str() {
        "ALWAYS" | "NEVER" => return Ok(upper),
        "NONE" => return Ok("NEVER".to_owned()),
        _ => {}
    }
    let _ = name;
    configuration(format!("Invalid value {text} for option 'speculative_retry'"))
}

fn caching(pairs: Vec<(String, String)>) -> Result<Vec<(String, String)>> {
    let mut out = vec![
        ("keys".to_owned(), "ALL".to_owned()),
        ("rows_per_partition".to_owned(), "NONE".to_owned()),
    ];
    for (name, value) in pairs {
        let upper = value.to_ascii_uppercase();
        let fits = match name.as_str() {
            "keys" => matches!(upper.as_str(), "ALL" | "NONE"),
            "rows_per_partition" => {
                matches!(upper.as_str(), "ALL" | "NONE") || value.parse::<u32>().is_ok()
            }
            _ => {
                return configuration(format!(
                    "Invalid caching sub-options [{name}]: only 'keys' and 'rows_per_partition' are allowed"
                ));
            }
        };
        if !fits {
            return configuration(format!(
                "Invalid value '{value}' for caching sub-option '{name}': only {}",
                if name == "keys" {
                    "'ALL' and 'NONE' are allowed"
                } else {
                    "'ALL', 'NONE', and integer values are allowed"
                }
            ));
        }
        if let Some((_, own)) = out.iter_mut().find(|(own, _)| *own == name) {
            *own = upper;
        }
    }
    Ok(out)
}

fn compaction(mut pairs: Vec<(String, String)>) -> Result<Vec<(String, String)>> {
    let Some((_, class)) = pairs.iter_mut().find(|(name, _)| name == "class") else {
        return configuration("Missing sub-option 'class' for the 'compaction' option");
    };
    let short = class.strip_prefix(COMPACTION).unwrap_or(class).to_owned();
    let known = [
        "SizeTieredCompactionStrategy",
        "LeveledCompactionStrategy",
        "TimeWindowCompactionStrategy",
        "UnifiedCompactionStrategy",
    ];
    if !known.contains(&short.as_str()) {
        return configuration(format!(
            "Unable to find compaction strategy class '{COMPACTION}{short}'"
        ));
    }
    *class = format!("{COMPACTION}{short}");
    check_compaction(&short, &pairs)?;
    if matches!(
        short.as_str(),
        "SizeTieredCompactionStrategy"
            | "LeveledCompactionStrategy"
            | "TimeWindowCompactionStrategy"
    ) {
        for (name, value) in [("max_threshold", "32"), ("min_threshold", "4")] {
            if !pairs.iter().any(|(own, _)| own == name) {
                pairs.push((name.to_owned(), value.to_owned()));
            }
        }
    }
    pairs.sort();
    pairs.dedup_by(|a, b| a.0 == b.0);
    Ok(pairs)
}

/// Sub-options that every strategy takes. Source: Cassandra 5.0, `AbstractCompactionStrategy` and
/// `CompactionParams`.
const COMPACTION_OPTIONS: [&str; 10] = [
    "class",
    "enabled",
    "max_threshold",
    "min_threshold",
    "only_purge_repaired_tombstones",
    "provide_overlapping_tombstones",
    "log_all",
    "tombstone_compaction_interval",
    "tombstone_threshold",
    "unchecked_tombstone_compaction",
];

/// Refuses sub-options that a strategy does not know.
fn check_compaction(class: &str, pairs: &[(String, String)]) -> Result<()> {
    let own: &[&str] = match class {
        "SizeTieredCompactionStrategy" => &["bucket_high", "bucket_low", "min_sstable_size"],
        "LeveledCompactionStrategy" => {
            &["fanout_size", "single_sstable_uplevel", "sstable_size_in_mb"]
        }
        "TimeWindowCompactionStrategy" => &[
            "bucket_high",
            "bucket_low",
            "compaction_window_size",
            "compaction_window_unit",
            "expired_sstable_check_frequency_seconds",
            "min_sstable_size",
            "timestamp_resolution",
            "unsafe_aggressive_sstable_expiration",
        ],
        _ => &super::unified::OPTIONS,
    };
    let is_unified = class == "UnifiedCompactionStrategy";
    for (name, value) in pairs {
        let is_common = COMPACTION_OPTIONS.contains(&name.as_str())
            && !(is_unified && name.ends_with("_threshold") && name != "tombstone_threshold");
        if !is_common && !own.contains(&name.as_str()) {
            return configuration(format!(
                "Properties specified [{name}] are not understood by {class}"
            ));
        }
        if matches!(name.as_str(), "min_threshold" | "max_threshold")
            && value.parse::<i32>().is_err()
        {
            return configuration(format!(
                "Invalid value {value} for '{name}' compaction sub-option - must be an integer"
            ));
        }
        check_compaction_value(name, value)?;
        if !is_unified {
            check_tiered_value(name, value)?;
            super::sizes::check_plain(name, value)?;
        }
    }
    if is_unified {
        return super::unified::check(pairs);
    }
    if class == "LeveledCompactionStrategy" {
        super::sizes::check_leveled(pairs)?;
    }
    check_thresholds(pairs)
}

/// Refuses thresholds and buckets that leave nothing between them.
fn check_thresholds(pairs: &[(String, String)]) -> Result<()> {
    let of = |name: &str| pairs.iter().find(|(own, _)| own == name).map(|(_, value)| &**value);
    let threshold = |name: &str, default: i32| {
        of(name).and_then(|value| value.parse::<i32>().ok()).unwrap_or(default)
    };
    let (least, most) = (threshold("min_threshold", 4), threshold("max_threshold", 32));
    if least <= 0 || most <= 0 {
        return configuration(
            "Disabling compaction by setting compaction thresholds to 0 has been removed, set the compaction option 'enabled' to false instead.",
        );
    }
    if least < 2 {
        return configuration(format!(
            "Min compaction threshold cannot be less than 2 (got {least})"
        ));
    }
    if least > most {
        return configuration(format!(
            "Min compaction threshold (got {least}) cannot be greater than max compaction threshold (got {most})"
        ));
    }
    let bucket = |name: &str, default: f64| {
        of(name).and_then(|value| value.parse::<f64>().ok()).unwrap_or(default)
    };
    let (low, high) = (bucket("bucket_low", 0.5), bucket("bucket_high", 1.5));
    if high <= low {
        return configuration(format!(
            "bucket_high value ({high:?}) is less than or equal to the bucket_low value ({low:?})"
        ));
    }
    Ok(())
}

/// Refuses values of single sub-options that every strategy takes.
fn check_compaction_value(name: &str, value: &str) -> Result<()> {
    match name {
        "enabled"
            if !value.eq_ignore_ascii_case("true") && !value.eq_ignore_ascii_case("false") =>
        {
            configuration(format!("enabled should either be 'true' or 'false', not {value}"))
        }
        // Cassandra says of this part that it is no whole number.
        "tombstone_threshold" => match value.parse::<f64>() {
            Err(_) => no_number(name, value, "int"),
            Ok(part) if part < 0.0 => configuration(format!(
                "tombstone_threshold must be greater than 0, but was {part:.6}"
            )),
            _ => Ok(()),
        },
        "unchecked_tombstone_compaction" if !is_boolean(value) => {
            configuration(format!("'{name}' should be either 'true' or 'false', not '{value}'"))
        }
        "log_all" if !is_boolean(value) => {
            configuration(format!("'{name}' should either be 'true' or 'false', not {value}"))
        }
        "provide_overlapping_tombstones" => match value.to_ascii_uppercase().as_str() {
            "NONE" | "ROW" | "CELL" => Ok(()),
            other => configuration(format!(
                "Invalid value {other} for '{name}' compaction sub-option - must be one of the following [NONE, ROW, CELL]."
            )),
        },
        "tombstone_compaction_interval" => match value.parse::<i64>() {
            Ok(..0) => configuration(format!("{name} must be greater than 0, but was {value}")),
            Ok(_) => Ok(()),
            Err(_) => no_number(name, value, "int"),
        },
        _ => Ok(()),
    }
}

/// Returns true of the words of a sub-option that is on or off.
fn is_boolean(value: &str) -> bool {
    value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false")
}

/// Refuses values of single sub-options of the size-tiered and time-window strategies.
///
/// Source: Cassandra 5.0, `SizeTieredCompactionStrategyOptions` and
/// `TimeWindowCompactionStrategyOptions`.
fn check_tiered_value(name: &str, value: &str) -> Result<()> {
    match name {
        "bucket_high" | "bucket_low" if value.parse::<f64>().is_err() => {
            configuration(format!("{value} is not a parsable float for {name}"))
        }
        "timestamp_resolution"
            if !matches!(
                value,
                "NANOSECONDS"
                    | "MICROSECONDS"
                    | "MILLISECONDS"
                    | "SECONDS"
                    | "MINUTES"
                    | "HOURS"
                    | "DAYS"
            ) =>
        {
            configuration(format!("{value} is not valid for {name}"))
        }
        "compaction_window_unit" if !matches!(value, "MINUTES" | "HOURS" | "DAYS") => {
            configuration(format!("{value} is not valid for {name}"))
        }
        "compaction_window_size" => match value.parse::<i32>() {
            Ok(..1) => configuration(format!("{value} must be greater than 1 for {name}")),
            Ok(_) => Ok(()),
            Err(_) => no_number(name, value, "int"),
        },
        "expired_sstable_check_frequency_seconds" => match value.parse::<i64>() {
            Ok(..0) => configuration(format!("{name} must not be negative, but was {value}")),
            Ok(_) => Ok(()),
            Err(_) => no_number(name, value, "int"),
        },
        "unsafe_aggressive_sstable_expiration" if !is_boolean(value) => {
            configuration(format!("{name} is not 'true' or 'false' ({value})"))
        }
        "unsafe_aggressive_sstable_expiration" if value.eq_ignore_ascii_case("true") => {
            configuration(format!(
                "{name} is requested but not allowed, restart cassandra with -Dcassandra.allow_{name}=true to allow it"
            ))
        }
        _ => Ok(()),
    }
}

/// Returns the id of a new table or view: the one that a restored schema gives, or a new one.
pub(super) fn id_of(
    properties: &[Property],
    schema: &Schema,
    environment: &Environment,
) -> Result<TableId> {
    let Some(id) = id(properties)? else {
        return Ok(new_timeuuid(&EngineContext::new(environment)));
    };
    let tables = schema.keyspaces.values().flat_map(|keyspace| keyspace.tables.values());
    if tables.into_iter().any(|table| table.id == id) {
        return invalid("There is a table with this id already");
    }
    Ok(id)
}

/// Returns the id that a restored schema gives.
pub(super) fn id(properties: &[Property]) -> Result<Option<[u8; 16]>> {
    let Some(property) = properties.iter().find(|own| own.name.as_str() == "id") else {
        return Ok(None);
    };
    let parsed = match &property.value {
        PropertyValue::Literal(Literal {
            kind: LiteralKind::Uuid | LiteralKind::String,
            text,
            ..
        }) => shelfmark_cql_types::parse_uuid(text),
        PropertyValue::Map(_) => {
            return Err(CqlError::syntax("Invalid value for property 'id'. It should be a string"));
        }
        _ => None,
    };
    match parsed {
        Some(id) => Ok(Some(id)),
        None => configuration("Invalid table id"),
    }
}

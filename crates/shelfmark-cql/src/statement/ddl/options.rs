//! What `WITH` says of tables and views, checked as Cassandra checks it.

use shelfmark_cql_syntax::ast::{Literal, LiteralKind, Property, PropertyValue};

use super::{Result, configuration, invalid};
use crate::error::CqlError;
use crate::schema::TableOptions;

const COMPACTION: &str = "org.apache.cassandra.db.compaction.";
const COMPRESSION: &str = "org.apache.cassandra.io.compress.";

/// Longest default time to live, in seconds: 20 years.
const TTL_SECONDS_MAX: i32 = super::super::modify::TTL_SECONDS_MAX;

/// Reads a boolean option.
pub(super) fn boolean(name: &str, value: &PropertyValue) -> Result<bool> {
    match text(value)?.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        other => Err(CqlError::syntax(format!(
            "Invalid boolean value {other} for '{name}'. Positive values can be '1', 'true' or 'yes'. Negative values can be '0', 'false' or 'no'."
        ))),
    }
}

fn text(value: &PropertyValue) -> Result<String> {
    match value {
        PropertyValue::Literal(literal) => Ok(literal.text.to_string()),
        PropertyValue::Word(word) => Ok(word.to_string()),
        PropertyValue::Map(_) => {
            Err(CqlError::syntax("Invalid value for a property. It should be a string"))
        }
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
    let text = text(value)?;
    text.parse().map_err(|_| CqlError::syntax(format!("Invalid integer value {text} for '{name}'")))
}

fn double(name: &str, value: &PropertyValue) -> Result<f64> {
    let text = text(value)?;
    text.parse().map_err(|_| CqlError::syntax(format!("Invalid double value {text} for '{name}'")))
}

/// Applies the properties of a `WITH`. `is_view` refuses what views cannot have.
#[expect(clippy::too_many_lines, reason = "one arm for each option")]
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
            "bloom_filter_fp_chance" => {
                let chance = double(name, value)?;
                if !(chance > 0.0 && chance <= 1.0) {
                    return configuration(format!(
                        "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got {chance:?})"
                    ));
                }
                options.bloom_filter_fp_chance = chance;
            }
            "caching" => options.caching = caching(map(name, value)?)?,
            "cdc" => options.cdc = Some(boolean(name, value)?),
            "comment" => options.comment = text(value)?,
            "compaction" => options.compaction = compaction(map(name, value)?)?,
            "compression" => options.compression = compression(map(name, value)?)?,
            "memtable" => options.memtable = text(value)?,
            "crc_check_chance" => {
                let chance = double(name, value)?;
                if !(0.0..=1.0).contains(&chance) {
                    return configuration(format!(
                        "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got {chance:?})"
                    ));
                }
                options.crc_check_chance = chance;
            }
            "default_time_to_live" => {
                let seconds = integer(name, value)?;
                if seconds < 0 {
                    return configuration(format!(
                        "default_time_to_live must be greater than or equal to 0 (got {seconds})"
                    ));
                }
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
                options.default_time_to_live = seconds;
            }
            "extensions" => {
                options.extensions = map(name, value)?
                    .into_iter()
                    .map(|(name, value)| (name, value.into_bytes()))
                    .collect();
            }
            "gc_grace_seconds" => options.gc_grace_seconds = natural(name, value)?,
            "incremental_backups" => options.incremental_backups = boolean(name, value)?,
            "max_index_interval" => options.max_index_interval = positive(name, value)?,
            "memtable_flush_period_in_ms" => {
                options.memtable_flush_period_in_ms = natural(name, value)?
            }
            "min_index_interval" => options.min_index_interval = positive(name, value)?,
            "read_repair" => {
                let kind = text(value)?.to_ascii_uppercase();
                if !matches!(kind.as_str(), "BLOCKING" | "NONE") {
                    return configuration(format!(
                        "Invalid value {} for option 'read_repair'",
                        text(value)?
                    ));
                }
                options.read_repair = kind;
            }
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

/// `99p`, `50ms`, `ALWAYS`, `NEVER`, `MIN(…)`, `MAX(…)`.
fn policy(name: &str, value: &PropertyValue) -> Result<String> {
    let text = text(value)?;
    let upper = text.to_ascii_uppercase();
    let number = |text: &str| text.parse::<f64>().is_ok();
    let percentile = upper.strip_suffix("PERCENTILE").or_else(|| upper.strip_suffix('P'));
    if let Some(Ok(part)) = percentile.map(str::parse::<f64>)
        && !(part > 0.0 && part < 100.0)
    {
        return configuration(format!(
            "Invalid value {text} for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)"
        ));
    }
    let single = |own: &str| {
        matches!(own, "ALWAYS" | "NEVER" | "NONE")
            || own.strip_suffix("MS").is_some_and(number)
            || own.strip_suffix("PERCENTILE").or_else(|| own.strip_suffix('P')).is_some_and(number)
    };
    let both = upper
        .strip_prefix("MIN(")
        .or_else(|| upper.strip_prefix("MAX("))
        .and_then(|rest| rest.strip_suffix(')'))
        .is_some_and(|rest| rest.split(',').all(|own| single(own.trim())));
    if single(&upper) || both {
        return Ok(match upper.as_str() {
            "ALWAYS" | "NEVER" => upper,
            "NONE" => "NEVER".to_owned(),
            _ => text,
        });
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
        "DateTieredCompactionStrategy",
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
        // The others' options are many and not looked at.
        _ => return Ok(()),
    };
    for (name, value) in pairs {
        if !COMPACTION_OPTIONS.contains(&name.as_str()) && !own.contains(&name.as_str()) {
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
    }
    Ok(())
}

fn compression(pairs: Vec<(String, String)>) -> Result<Vec<(String, String)>> {
    let off = pairs.is_empty()
        || pairs
            .iter()
            .any(|(name, value)| name == "enabled" && value.eq_ignore_ascii_case("false"))
        || pairs.iter().any(|(name, value)| name == "class" && value.is_empty());
    if off && pairs.len() > 1 {
        return configuration(
            "If the 'enabled' option is set to false no other options must be specified",
        );
    }
    if off {
        return Ok(vec![("enabled".to_owned(), "false".to_owned())]);
    }
    let mut out = Vec::new();
    for (name, value) in pairs {
        match name.as_str() {
            "class" => {
                let short = value.strip_prefix(COMPRESSION).unwrap_or(&value);
                let known = [
                    "LZ4Compressor",
                    "SnappyCompressor",
                    "DeflateCompressor",
                    "ZstdCompressor",
                    "NoopCompressor",
                ];
                if !known.contains(&short) {
                    return configuration(format!(
                        "Could not create Compression for type {COMPRESSION}{short}"
                    ));
                }
                out.push(("class".to_owned(), format!("{COMPRESSION}{short}")));
            }
            "chunk_length_kb" | "chunk_length_in_kb" => match value.parse::<u32>() {
                Ok(length) if length.is_power_of_two() => {
                    out.push(("chunk_length_in_kb".to_owned(), value));
                }
                _ => {
                    return configuration("chunk_length_in_kb must be a power of 2");
                }
            },
            "enabled" => {}
            _ => out.push((name, value)),
        }
    }
    if !out.iter().any(|(name, _)| name == "class") {
        return configuration("Missing sub-option 'class' for the 'compression' option.");
    }
    if !out.iter().any(|(name, _)| name == "chunk_length_in_kb") {
        out.push(("chunk_length_in_kb".to_owned(), "16".to_owned()));
    }
    out.sort();
    Ok(out)
}

/// The id that a restored schema gives.
pub(super) fn id(properties: &[Property]) -> Result<Option<[u8; 16]>> {
    let Some(property) = properties.iter().find(|own| own.name.as_str() == "id") else {
        return Ok(None);
    };
    let parsed = match &property.value {
        PropertyValue::Literal(Literal {
            kind: LiteralKind::Uuid | LiteralKind::String,
            text,
            ..
        }) => crate::types::parse_uuid(text),
        _ => None,
    };
    match parsed {
        Some(id) => Ok(Some(id)),
        None => configuration("Invalid table id"),
    }
}

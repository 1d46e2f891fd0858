//! The sub-options of the unified compaction strategy. They are kept and shown, and change nothing
//! here; what Cassandra refuses is refused. Its sizes are looked at in `sizes`.
//!
//! Source: Cassandra 5.0, the unified strategy's `Controller`, read 2026-11; texts from a running one.

use std::fmt::Display;
use std::str::FromStr;

use shelfmark_cql_protocol::Result;

use super::configuration;

/// The sub-options that only this strategy knows.
pub(super) const OPTIONS: [&str; 10] = [
    "base_shard_count",
    "expired_sstable_check_frequency_seconds",
    "flush_size_override",
    "max_sstables_to_compact",
    "min_sstable_size",
    "overlap_inclusion_method",
    "scaling_parameters",
    "sstable_growth",
    "target_sstable_size",
    "unsafe_aggressive_sstable_expiration",
];

/// The least fan factor of a scaling parameter.
const FAN_FACTOR_MIN: u64 = 2;

/// Refuses the values of single sub-options.
pub(super) fn check(pairs: &[(String, String)]) -> Result<()> {
    for (name, value) in pairs {
        match name.as_str() {
            "scaling_parameters" => check_scaling(value)?,
            "base_shard_count" => check_positive::<i32>(name, value, "int")?,
            "expired_sstable_check_frequency_seconds" => {
                check_positive::<i64>(name, value, "long")?;
            }
            "max_sstables_to_compact" if value.parse::<i32>().is_err() => {
                return no_number(name, value, "int");
            }
            "unsafe_aggressive_sstable_expiration"
                if !value.eq_ignore_ascii_case("true") && !value.eq_ignore_ascii_case("false") =>
            {
                return configuration(format!(
                    "{name} should either be 'true' or 'false', not {value}"
                ));
            }
            "overlap_inclusion_method"
                if !matches!(
                    value.to_ascii_uppercase().as_str(),
                    "NONE" | "SINGLE" | "TRANSITIVE"
                ) =>
            {
                return configuration(format!(
                    "Invalid overlap inclusion method {value}. The valid options are [NONE, SINGLE, TRANSITIVE]."
                ));
            }
            "sstable_growth" => check_growth(name, value)?,
            _ => {}
        }
    }
    super::sizes::check_unified(pairs)
}

/// Refuses text that is no number, as Cassandra does of all strategies.
pub(super) fn no_number<T>(name: &str, value: &str, kind: &str) -> Result<T> {
    configuration(format!("{value} is not a parsable {kind} (base10) for {name}"))
}

fn check_positive<N>(name: &str, value: &str, kind: &str) -> Result<()>
where
    N: FromStr + PartialOrd + Default + Display,
{
    match value.parse::<N>() {
        Ok(number) if number > N::default() => Ok(()),
        Ok(number) => {
            configuration(format!("Invalid configuration, {name} should be positive: {number}"))
        }
        Err(_) => no_number(name, value, kind),
    }
}

fn check_growth(name: &str, value: &str) -> Result<()> {
    match value.parse::<f64>() {
        Ok(part) if (0.0..=1.0).contains(&part) => Ok(()),
        Ok(_) => configuration(format!("{name} {value} must be between 0 and 1")),
        Err(_) => configuration(format!(
            "{name} is not a valid number between 0 and 1: For input string: \"{value}\""
        )),
    }
}

/// Refuses scaling parameters that are none.
fn check_scaling(value: &str) -> Result<()> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|own| own.is_ascii_digit());
    for part in value.split(',').map(str::trim) {
        if let Some(factor) = part.strip_prefix(['L', 'T']).filter(|factor| digits(factor)) {
            if factor.parse::<u64>().is_ok_and(|factor| factor < FAN_FACTOR_MIN) {
                return configuration(format!(
                    "Fan factor cannot be lower than {FAN_FACTOR_MIN} in {part}"
                ));
            }
        } else if part != "N" && !digits(part.strip_prefix(['+', '-']).unwrap_or(part)) {
            return configuration(format!(
                "Scaling parameter {part} must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+"
            ));
        }
    }
    Ok(())
}

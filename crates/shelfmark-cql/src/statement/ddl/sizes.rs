//! The sizes of table files that compaction strategies take. They are kept and shown, and change
//! nothing here; what Cassandra refuses is refused.
//!
//! Source: Cassandra 5.0, `SizeTieredCompactionStrategyOptions`, `LeveledCompactionStrategy` and the
//! unified strategy's `Controller`, read 2026-11; texts from a running one.

use shelfmark_cql_protocol::Result;

use super::configuration;
use super::unified::no_number;

/// The least `target_sstable_size` and `flush_size_override`, in bytes.
const TARGET_SIZE_BYTES_MIN: f64 = 1024.0 * 1024.0;

/// The `target_sstable_size` where none is given, in bytes.
const TARGET_SIZE_BYTES: f64 = 1024.0 * 1024.0 * 1024.0;

/// The part of the target size that `min_sstable_size` stays below: 1/√2.
const MIN_PART_MAX: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// Refuses a size among the sub-options of the size-tiered, time-window and levelled strategies.
pub(super) fn check_plain(name: &str, value: &str) -> Result<()> {
    match name {
        "min_sstable_size" => match value.parse::<i64>() {
            Ok(..0) => configuration(format!("{name} must be non negative: {value}")),
            Ok(_) => Ok(()),
            Err(_) => no_number(name, value, "int"),
        },
        "sstable_size_in_mb" | "fanout_size" => match value.parse::<i32>() {
            Ok(..1) => configuration(format!("{name} must be larger than 0, but was {value}")),
            Ok(_) => Ok(()),
            Err(_) => no_number(name, value, "int"),
        },
        _ => Ok(()),
    }
}

/// The `sstable_size_in_mb` and the `fanout_size` where none is given.
const LEVELED_SIZE_MIB: i64 = 160;
const FANOUT: i64 = 10;

/// The highest level of the levelled strategy.
const LEVEL_MAX: u32 = 8;

/// Refuses sizes of the levelled strategy whose highest level holds more than 64 bits count.
pub(super) fn check_leveled(pairs: &[(String, String)]) -> Result<()> {
    let of = |name: &str, default: i64| {
        let given = pairs.iter().find(|(own, _)| own == name);
        given.and_then(|(_, value)| value.parse().ok()).unwrap_or(default)
    };
    let size = i128::from(of("sstable_size_in_mb", LEVELED_SIZE_MIB)) * (1 << 20);
    let most = i128::from(of("fanout_size", FANOUT)).checked_pow(LEVEL_MAX);
    match most.and_then(|most| most.checked_mul(size)) {
        Some(most) if most <= i128::from(i64::MAX) => Ok(()),
        most => configuration(format!(
            "At most {} bytes may be in a compaction level; your maxSSTableSize must be absurdly high to compute {}",
            i64::MAX,
            most.unwrap_or(i128::MAX)
        )),
    }
}

/// Refuses the sizes of the unified strategy, which come with a unit.
pub(super) fn check_unified(pairs: &[(String, String)]) -> Result<()> {
    let of = |name: &str| pairs.iter().find(|(own, _)| own == name).map(|(_, value)| &**value);
    let mut target = TARGET_SIZE_BYTES;
    for name in ["target_sstable_size", "flush_size_override"] {
        let Some(value) = of(name) else { continue };
        let size = match bytes(value) {
            Ok(size) => size,
            Err(why) => {
                return configuration(format!(
                    "{name} {value} is not a valid size in bytes: {why}"
                ));
            }
        };
        if size < TARGET_SIZE_BYTES_MIN {
            let least = shown(TARGET_SIZE_BYTES_MIN);
            return configuration(format!(
                "{name} {value} is not acceptable, size must be at least {least}"
            ));
        }
        if name == "target_sstable_size" {
            target = size;
        }
    }
    let Some(value) = of("min_sstable_size") else { return Ok(()) };
    let Ok(size) = bytes(value) else {
        return configuration(format!("{value} is not a valid size in bytes for min_sstable_size"));
    };
    if size < 0.0 {
        return configuration(
            "Invalid configuration, min_sstable_size should be greater than or equal to 0 (zero)",
        );
    }
    if size >= (target * MIN_PART_MAX).ceil() {
        return configuration(format!(
            "Invalid configuration, min_sstable_size ({}) should be less than 70% of the targetSSTableSize ({})",
            shown(size),
            shown(target)
        ));
    }
    Ok(())
}

/// The units in front of `B`, and how many bytes each is.
const UNITS: [(&str, f64); 8] = [
    ("Ki", 1024.0),
    ("Mi", 1024.0 * 1024.0),
    ("Gi", 1024.0 * 1024.0 * 1024.0),
    ("Ti", 1024.0 * 1024.0 * 1024.0 * 1024.0),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
];

/// Reads a size such as `100MiB`, in bytes.
fn bytes(text: &str) -> std::result::Result<f64, String> {
    let Some(rest) = text.strip_suffix('B') else {
        return Err(format!("{text} does not end in unit B"));
    };
    let unit = UNITS.iter().find_map(|(name, size)| Some((rest.strip_suffix(name)?, *size)));
    let (number, unit) = unit.unwrap_or((rest, 1.0));
    let number: f64 = number
        .trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| format!("Value {text} does not match expected format"))?;
    Ok(number * unit)
}

/// Shows a size with three digits after the point.
fn shown(size: f64) -> String {
    let unit = UNITS.iter().take(4).rev().find(|(_, unit)| size.abs() >= *unit);
    let (name, unit) = unit.map_or(("", 1.0), |(name, unit)| (*name, *unit));
    format!("{:.3}{name}B", size / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown() {
        for (text, expected) in [
            ("1MiB", Some(1_048_576.0)),
            ("-100MiB", Some(-104_857_600.0)),
            ("1.5 GiB", Some(1_610_612_736.0)),
            ("2kB", Some(2_000.0)),
            ("7B", Some(7.0)),
            ("7", None),
            ("MiB", None),
            ("infB", None),
            ("", None),
        ] {
            assert_eq!(bytes(text).ok(), expected, "{text}");
        }
        assert_eq!(shown(1_048_576.0), "1.000MiB");
        assert_eq!(shown(512.0), "512.000B");
    }
}

//! The option `compression` of tables. It is kept and shown, and compresses nothing here; what Cassandra
//! refuses is refused.
//!
//! Source: Cassandra 5.0, `CompressionParams` and the compressors' own options, read 2026-11; texts from
//! a running one.

use shelfmark_cql_protocol::Result;
use shelfmark_cql_types::{CqlType, to_text};

use super::configuration;

const COMPRESSION: &str = "org.apache.cassandra.io.compress.";

/// The levels of `LZ4Compressor` where it compresses slowly.
const LZ4_LEVELS: std::ops::RangeInclusive<i32> = 1..=17;

/// The levels of `ZstdCompressor`.
const ZSTD_LEVELS: std::ops::RangeInclusive<i32> = -131_072..=22;

/// Reads a `compression` map into the form that is shown.
pub(super) fn read(pairs: Vec<(String, String)>) -> Result<Vec<(String, String)>> {
    let off = pairs.is_empty()
        || pairs
            .iter()
            .any(|(name, value)| name == "enabled" && !value.eq_ignore_ascii_case("true"));
    if pairs.iter().any(|(name, value)| name == "class" && value.is_empty()) {
        return configuration(
            "The 'class' option must not be empty. To disable compression use 'enabled' : false",
        );
    }
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
            "chunk_length_in_kb" => {
                check_chunk_length(&value)?;
                out.push((name, value));
            }
            "enabled" => {}
            "min_compress_ratio" => out.extend(compress_ratio(&value)?.map(|shown| (name, shown))),
            _ => out.push((name, value)),
        }
    }
    if !out.iter().any(|(name, _)| name == "class") {
        return configuration("Missing sub-option 'class' for the 'compression' option.");
    }
    check_compression(&out)?;
    if !out.iter().any(|(name, _)| name == "chunk_length_in_kb") {
        out.push(("chunk_length_in_kb".to_owned(), "16".to_owned()));
    }
    out.sort();
    Ok(out)
}

/// Refuses lengths of chunks that no chunk can have.
fn check_chunk_length(value: &str) -> Result<()> {
    match value.parse::<i32>() {
        Ok(..1) => configuration("Invalid negative or null chunk_length_in_kb"),
        Ok(length) if length.cast_unsigned().is_power_of_two() => Ok(()),
        Ok(_) => configuration("chunk_length_in_kb must be a power of 2"),
        Err(_) => configuration("Invalid value for chunk_length_in_kb"),
    }
}

/// Reads `min_compress_ratio` as it is shown; 0 is what counts where nothing is said, and is not.
fn compress_ratio(value: &str) -> Result<Option<String>> {
    match value.parse::<f64>() {
        Ok(ratio) if ratio < 0.0 => configuration("Invalid negative min_compress_ratio"),
        Ok(ratio) if ratio > 0.0 && ratio < 1.0 => {
            configuration("min_compress_ratio can either be 0 or greater than or equal to 1")
        }
        Ok(ratio) => Ok((ratio != 0.0).then(|| to_text(&CqlType::Double, &ratio.to_be_bytes()))),
        Err(_) => configuration("Invalid value for min_compress_ratio"),
    }
}

/// Refuses sub-options that a compressor does not know.
fn check_compression(pairs: &[(String, String)]) -> Result<()> {
    let class = pairs.iter().find(|(name, _)| name == "class").map_or("", |(_, value)| value);
    let own: &[&str] = match class.strip_prefix(COMPRESSION).unwrap_or(class) {
        "LZ4Compressor" => &["lz4_compressor_type", "lz4_high_compressor_level"],
        "ZstdCompressor" => &["compression_level"],
        _ => &[],
    };
    let common = ["class", "chunk_length_in_kb", "min_compress_ratio"];
    let unknown: Vec<&str> = pairs
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| !common.contains(name) && !own.contains(name))
        .collect();
    if !unknown.is_empty() {
        return configuration(format!("Unknown compression options {}", unknown.join(", ")));
    }
    check_levels(pairs)?;
    let kind = pairs.iter().find(|(name, _)| name == "lz4_compressor_type");
    match kind {
        Some((_, value)) if !matches!(value.as_str(), "fast" | "high") => configuration(format!(
            "Invalid compressor type '{value}' specified for LZ4 parameter 'lz4_compressor_type'. Valid options are [high, fast]."
        )),
        _ => Ok(()),
    }
}

/// Refuses levels that the compressors do not have.
fn check_levels(pairs: &[(String, String)]) -> Result<()> {
    for (name, value) in pairs {
        let is_outside = |levels: &std::ops::RangeInclusive<i32>| {
            value.parse().is_ok_and(|level: i32| !levels.contains(&level))
        };
        match name.as_str() {
            "lz4_high_compressor_level" if is_outside(&LZ4_LEVELS) => {
                return configuration(format!(
                    "Invalid value [{value}] for parameter '{name}'. Value must be between {} and {}.",
                    LZ4_LEVELS.start(),
                    LZ4_LEVELS.end()
                ));
            }
            "compression_level" if is_outside(&ZSTD_LEVELS) => {
                return configuration(format!(
                    "ZstdCompressor.create() threw an error: java.lang.IllegalArgumentException {name}={value} is invalid"
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

//! Writes moments for people and programs.

use shelfmark_model::text::{date_text, time_text};

/// Formats a moment, in milliseconds since the Unix epoch, as RFC 3339 does, in UTC.
#[must_use]
pub fn moment_text(ms: u64) -> String {
    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
    let days = i64::try_from(ms / DAY_MS).unwrap_or_default();
    let nanos = i64::try_from(ms % DAY_MS).unwrap_or_default() * 1_000_000;
    let time = time_text(nanos);
    format!("{}T{}Z", date_text(days), time.get(..12).unwrap_or(&time))
}

#[cfg(test)]
mod tests {
    use super::moment_text;

    #[test]
    fn moments_are_written_as_elsewhere() {
        assert_eq!(moment_text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(moment_text(1_795_478_399_007), "2026-11-23T23:59:59.007Z");
    }
}

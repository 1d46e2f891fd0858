//! Formats and parses values whose text is the same everywhere: UUIDs, dates, times of day.
//!
//! What it is not: a face's literals. Faces that take several spellings have parsers of their own.

use shelfmark_keycode::calendar::{civil_from_days, days_from_civil};

pub use shelfmark_keycode::{parse_uuid, uuid_text};

/// Nanoseconds of a day.
const DAY_NANOS: i64 = 86_400_000_000_000;

/// Formats a day since 1970-01-01 as `2026-11-23`.
#[must_use]
pub fn date_text(days: i64) -> String {
    let (year, month, day) = civil_from_days(days);
    match year {
        0.. => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("-{:04}-{month:02}-{day:02}", -year),
    }
}

/// Parses the output of [`date_text`]; `None` for a day that the calendar does not have.
#[must_use]
pub fn parse_date(text: &str) -> Option<i64> {
    let (sign, rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let mut parts = rest.splitn(3, '-');
    let mut number = |digits: std::ops::RangeInclusive<usize>| {
        let part = parts.next()?;
        let fits = digits.contains(&part.len()) && part.bytes().all(|own| own.is_ascii_digit());
        fits.then(|| part.parse::<i64>().ok())?
    };
    let (year, month, day) = (sign * number(4..=7)?, number(2..=2)?, number(2..=2)?);
    let days = days_from_civil(year, month, day);
    (civil_from_days(days) == (year, month, day)).then_some(days)
}

/// Formats nanoseconds since midnight as `08:12:54.123456789`.
#[must_use]
pub fn time_text(nanos: i64) -> String {
    let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    format!("{:02}:{:02}:{:02}.{nanos:09}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Parses `08:12:54` with up to nine digits behind a point.
#[must_use]
pub fn parse_time(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|own| own.is_ascii_digit());
    let parts: Vec<i64> = whole
        .split(':')
        .map(|part| part.parse().ok().filter(|_| part.len() == 2 && is_number(part)))
        .collect::<Option<_>>()?;
    let [hours, minutes @ 0..60, seconds @ 0..60] = parts[..] else { return None };
    if !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanos: i64 = format!("{fraction:0<9}").parse().ok()?;
    let all = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + nanos;
    (all < DAY_NANOS).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_one_to_one() {
        for days in (-800_000..800_000).step_by(37) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
            assert_eq!(parse_date(&date_text(days)), Some(days));
        }
        assert_eq!(date_text(0), "1970-01-01");
        assert_eq!(date_text(20_780), "2026-11-23");
        for wrong in ["2026-02-29", "2026-13-01", "2026-1-01", "26-01-01", "2026-01-01T", ""] {
            assert_eq!(parse_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_of_day_come_back() {
        for nanos in [0, 1, 999_999_999, 29_574_123_456_789, DAY_NANOS - 1] {
            assert_eq!(parse_time(&time_text(nanos)), Some(nanos));
        }
        assert_eq!(parse_time("08:12:54.5"), parse_time("08:12:54.500000000"));
        for wrong in
            ["24:00:00", "08:60:00", "8:12:54", "08:12", "08:12:54.", "08:12:54.1234567890"]
        {
            assert_eq!(parse_time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn uuids_come_back_in_either_case() {
        let uuid = *b"0123456789abcdef";
        let text = uuid_text(&uuid);
        assert_eq!(text, "30313233-3435-3637-3839-616263646566");
        assert_eq!(parse_uuid(&text.to_uppercase()), Some(uuid));
        for wrong in
            ["30313233343536373839616263646566", "+0313233-3435-3637-3839-616263646566", ""]
        {
            assert_eq!(parse_uuid(wrong), None, "{wrong}");
        }
    }
}

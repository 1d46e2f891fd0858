//! Dates, times, timestamps and durations: text and back.
//!
//! What it is not: no time zones but UTC and fixed offsets. Cassandra reads a timestamp without a
//! zone in the server's; ours is always UTC.

pub use shelfmark_keycode::calendar::{civil_from_days, days_from_civil};

use super::take_vint;
use super::{MarshalError, Result};

/// The `date` of 1970-01-01.
pub const DATE_EPOCH: u32 = 1 << 31;

const MILLIS_PER_DAY: i64 = 86_400_000;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// Returns how many days a month has.
pub const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Reads exactly `count` digits (or up to `count`, at least one, if `loose`).
fn take_digits(text: &mut &str, least: usize, most: usize) -> Option<i64> {
    let digits = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if digits < least {
        return None;
    }
    let (number, rest) = text.split_at_checked(digits)?;
    *text = rest;
    number.parse().ok()
}

fn take_char(text: &mut &str, wanted: char) -> Option<()> {
    *text = text.strip_prefix(wanted)?;
    Some(())
}

/// Reads `yyyy-mm-dd` from the front: a year of more than four digits has a sign, one of four no
/// plus. With `lenient`, a day that the month does not have is its last.
fn take_ymd(text: &mut &str, lenient: bool) -> Option<i64> {
    let negative = take_char(text, '-').is_some();
    let positive = !negative && take_char(text, '+').is_some();
    let (least, most) = match (negative, positive) {
        (false, false) => (4, 4),
        (true, _) => (4, 9),
        (false, true) => (5, 9),
    };
    let year = take_digits(text, least, most)?;
    take_char(text, '-')?;
    let month = take_digits(text, 2, 2)?;
    take_char(text, '-')?;
    let mut day = take_digits(text, 2, 2)?;
    let year = if negative { -year } else { year };
    if lenient && (1..=31).contains(&day) && (1..=12).contains(&month) {
        day = day.min(days_in_month(year, month));
    }
    let fits = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    fits.then(|| days_from_civil(year, month, day))
}

/// Reads the text of a date: `2011-02-03`, or the unsigned number of the wire form.
///
/// # Errors
///
/// It is none.
pub fn parse_date(text: &str) -> Result<u32> {
    let fail =
        || MarshalError::new(format!("Unable to coerce '{text}' to a formatted date (long)"));
    if is_number(text) {
        return text.parse().map_err(|_| {
            MarshalError::new(format!("Unable to make unsigned int (for date) from: '{text}'"))
        });
    }
    let mut rest = text;
    let days = take_ymd(&mut rest, false).filter(|_| rest.is_empty()).ok_or_else(fail)?;
    u32::try_from(days + i64::from(DATE_EPOCH)).map_err(|_| {
        MarshalError::new(if days < 0 {
            format!("Input date {text} is less than min supported date -5877641-06-23T00:00Z")
        } else {
            format!("Input date {text} is greater than max supported date +5881580-07-11T00:00Z")
        })
    })
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Writes a date.
#[must_use]
pub fn format_date(date: u32) -> String {
    let (year, month, day) = civil_from_days(i64::from(date) - i64::from(DATE_EPOCH));
    if (0..=9999).contains(&year) {
        format!("{year:04}-{month:02}-{day:02}")
    } else if year > 0 {
        format!("+{year}-{month:02}-{day:02}")
    } else {
        format!("-{:04}-{month:02}-{day:02}", -year)
    }
}

/// Reads the text of a time: `08:12:54.123456789`, or nanoseconds since midnight.
///
/// # Errors
///
/// It is none, or not within a day.
pub fn parse_time(text: &str) -> Result<i64> {
    let fail = || {
        MarshalError::new(format!(
            "(TimeType) Unable to coerce '{text}' to a formatted time (long)"
        ))
    };
    if is_number(text) {
        return text.parse().ok().filter(|nanos| (0..NANOS_PER_DAY).contains(nanos)).ok_or_else(
            || MarshalError::new(format!("Unable to make long (for time) from: '{text}'")),
        );
    }
    let mut rest = text;
    let seconds = take_clock(&mut rest, true).ok_or_else(fail)?;
    let nanos = take_fraction(&mut rest).ok_or_else(fail)?;
    if rest.trim_end().is_empty() { Ok(seconds * 1_000_000_000 + nanos) } else { Err(fail()) }
}

/// Reads `hh:mm[:ss]` as seconds.
fn take_clock(text: &mut &str, with_seconds: bool) -> Option<i64> {
    let hours = take_digits(text, 1, 2).filter(|hours| *hours < 24)?;
    take_char(text, ':')?;
    let minutes = take_digits(text, 1, 2).filter(|minutes| *minutes < 60)?;
    let seconds = if with_seconds || text.starts_with(':') {
        take_char(text, ':')?;
        take_digits(text, 1, 2).filter(|seconds| *seconds < 60)?
    } else {
        0
    };
    Some(hours * 3_600 + minutes * 60 + seconds)
}

/// Reads `.123` as nanoseconds; nothing is zero.
fn take_fraction(text: &mut &str) -> Option<i64> {
    if take_char(text, '.').is_none() {
        return Some(0);
    }
    let before = text.len();
    let digits = take_digits(text, 1, 9)?;
    let missing = 9 - (before - text.len());
    Some(digits * 10_i64.pow(u32::try_from(missing).ok()?))
}

/// Writes a time.
#[must_use]
pub fn format_time(nanos: i64) -> String {
    let (seconds, fraction) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{fraction:09}")
}

/// Reads the text of a timestamp, in milliseconds since the Unix epoch: a number of them, or a
/// date with or without time and zone.
///
/// # Errors
///
/// It is none.
pub fn parse_timestamp(text: &str) -> Result<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map_err(|_| {
            MarshalError::new(format!("Unable to make long (for date) from: '{text}'"))
        });
    }
    take_timestamp(text)
        .ok_or_else(|| MarshalError::new(format!("Unable to parse a date/time from '{text}'")))
}

fn take_timestamp(text: &str) -> Option<i64> {
    let mut rest = text;
    let days = take_ymd(&mut rest, true)?;
    let mut millis = days.checked_mul(MILLIS_PER_DAY)?;
    if rest.starts_with(['T', ' '])
        && rest.get(1..2).is_some_and(|next| next.bytes().all(|b| b.is_ascii_digit()))
    {
        rest = rest.get(1..)?;
        // The end of a day is the beginning of the next.
        let end = ["24:00:00", "24:00"].into_iter().find_map(|end| rest.strip_prefix(end));
        if let Some(behind) = end {
            rest = behind;
            millis = millis.checked_add(MILLIS_PER_DAY)?;
            if take_fraction(&mut rest)? != 0 {
                return None;
            }
        } else {
            millis += take_clock(&mut rest, false)? * 1_000;
            millis += take_fraction(&mut rest)? / 1_000_000;
        }
    }
    millis -= take_zone(rest)?;
    Some(millis)
}

/// Names of zones whose offsets are the same all the year, in hours ahead of UTC. Regions are not
/// among them.
const ZONES: [(&str, i64); 18] = [
    ("PST", -8),
    ("PDT", -7),
    ("MST", -7),
    ("MDT", -6),
    ("CST", -6),
    ("CDT", -5),
    ("EST", -5),
    ("EDT", -4),
    ("WET", 0),
    ("WEST", 1),
    ("BST", 1),
    ("CET", 1),
    ("CEST", 2),
    ("EET", 2),
    ("EEST", 3),
    ("MSK", 3),
    ("JST", 9),
    ("KST", 9),
];

/// Returns milliseconds that the zone is ahead of UTC; no zone is UTC.
fn take_zone(text: &str) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    let text = text.strip_prefix(' ').unwrap_or(text);
    if let Some((_, hours)) = ZONES.iter().find(|(name, _)| *name == text) {
        return Some(hours * 3_600_000);
    }
    if matches!(text, "Z" | "z" | "UTC" | "GMT" | "UT") {
        return Some(0);
    }
    let text = text.strip_prefix("GMT").or_else(|| text.strip_prefix("UTC")).unwrap_or(text);
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let mut rest = text.get(1..)?;
    let hours = take_digits(&mut rest, 2, 2).filter(|hours| *hours <= 18)?;
    let _ = take_char(&mut rest, ':');
    let minutes =
        if rest.is_empty() { 0 } else { take_digits(&mut rest, 2, 2).filter(|m| *m < 60)? };
    rest.is_empty().then_some(sign * (hours * 60 + minutes) * 60_000)
}

/// Returns date, `separator` and time of day with milliseconds, in UTC, ended with `Z`.
fn format_timestamp(millis: i64, separator: char) -> String {
    let (days, rest) = (millis.div_euclid(MILLIS_PER_DAY), millis.rem_euclid(MILLIS_PER_DAY));
    let (year, month, day) = civil_from_days(days);
    let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60);
    let (seconds, millis) = (rest / 1_000 % 60, rest % 1_000);
    let year = if year < 0 { format!("-{:04}", -year) } else { format!("{year:04}") };
    format!(
        "{year}-{month:02}-{day:02}{separator}{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z"
    )
}

/// Writes a timestamp as casts and literals do: `2015-05-21T11:03:02.000Z`.
#[must_use]
pub fn format_timestamp_utc(millis: i64) -> String {
    format_timestamp(millis, 'T')
}

/// Writes a timestamp as JSON does: `2015-05-21 11:03:02.000Z`.
pub(super) fn format_timestamp_json(millis: i64) -> String {
    format_timestamp(millis, ' ')
}

/// A duration; its parts do not add up to each other and have one sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Duration {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Nanoseconds.
    pub nanos: i64,
}

impl Duration {
    /// Serialises it: three signed vints.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(12);
        for part in [i64::from(self.months), i64::from(self.days), self.nanos] {
            super::unsigned_vint((part << 1 ^ part >> 63).cast_unsigned(), &mut out);
        }
        out
    }

    /// Writes it as Cassandra does: `1y2mo3d4h5m6s7ms8us9ns`.
    #[must_use]
    pub fn to_text(self) -> String {
        let mut out = String::new();
        if self.months < 0 || self.days < 0 || self.nanos < 0 {
            out.push('-');
        }
        let mut put = |amount: u64, unit: &str| {
            if amount > 0 {
                out.push_str(&amount.to_string());
                out.push_str(unit);
            }
        };
        let months = u64::from(self.months.unsigned_abs());
        put(months / 12, "y");
        put(months % 12, "mo");
        put(u64::from(self.days.unsigned_abs()), "d");
        let mut rest = self.nanos.unsigned_abs();
        for (unit, size) in CLOCK_UNITS {
            put(rest / size, unit);
            rest %= size;
        }
        out
    }
}

const CLOCK_UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Reads a serialised duration.
///
/// # Errors
///
/// Its parts do not fit or have different signs. The text says which.
pub fn take_duration(bytes: &[u8]) -> Result<Duration> {
    let mut rest = bytes;
    let mut part = || {
        take_vint(&mut rest).ok_or_else(|| MarshalError::new("Not enough bytes to read a duration"))
    };
    let (months, days, nanos) = (part()?, part()?, part()?);
    let fits = |value: i64, what: &str| {
        i32::try_from(value).map_err(|_| {
            MarshalError::new(format!(
                "The duration {what} must be a 32 bits integer but was: {value}"
            ))
        })
    };
    let duration = Duration { months: fits(months, "months")?, days: fits(days, "days")?, nanos };
    let negative = months < 0 || days < 0 || nanos < 0;
    let positive = months > 0 || days > 0 || nanos > 0;
    if negative && positive {
        return Err(MarshalError::new(format!(
            "The duration months, days and nanoseconds must be all of the same sign ({months}, {days}, {nanos})"
        )));
    }
    Ok(duration)
}

/// Reads the text of a duration: `1y2mo`, `P1Y2M3DT4H`, `P3W` or `P0001-02-03T04:05:06`.
///
/// # Errors
///
/// It is none, units are out of order or repeated, or a part does not fit.
pub fn parse_duration(text: &str) -> Result<Duration> {
    let fail = || MarshalError::new(format!("Unable to convert '{text}' to a duration"));
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text),
    };
    if body.is_empty() {
        return Err(fail());
    }
    let parts = match body.strip_prefix('P') {
        Some(iso) => iso_parts(iso).ok_or_else(fail)?,
        None => unit_parts(body).map_err(|why| why.map_or_else(fail, MarshalError::new))?,
    };
    let mut months = 0_i128;
    let mut days = 0_i128;
    let mut nanos = 0_i128;
    for (amount, unit) in parts {
        let amount = i128::from(amount);
        match unit {
            Unit::Months(size) => months += amount * i128::from(size),
            Unit::Days(size) => days += amount * i128::from(size),
            Unit::Nanos(size) => nanos += amount * i128::from(size),
        }
    }
    let sign = if negative { -1 } else { 1 };
    Ok(Duration {
        months: i32::try_from(sign * months).map_err(|_| too_large("months"))?,
        days: i32::try_from(sign * days).map_err(|_| too_large("days"))?,
        nanos: i64::try_from(sign * nanos).map_err(|_| too_large("nanoseconds"))?,
    })
}

fn too_large(what: &str) -> MarshalError {
    // Cassandra names this bound for nanoseconds too, of which there may be more.
    let most = i32::MAX;
    MarshalError::new(format!(
        "Invalid duration. The total number of {what} must be less or equal to {most}"
    ))
}

#[derive(Clone, Copy)]
enum Unit {
    Months(u64),
    Days(u64),
    Nanos(u64),
}

/// Units with their places: each may come once, larger before smaller.
const UNITS: [(&str, Unit); 10] = [
    ("y", Unit::Months(12)),
    ("mo", Unit::Months(1)),
    ("w", Unit::Days(7)),
    ("d", Unit::Days(1)),
    ("h", Unit::Nanos(3_600_000_000_000)),
    ("m", Unit::Nanos(60_000_000_000)),
    ("s", Unit::Nanos(1_000_000_000)),
    ("ms", Unit::Nanos(1_000_000)),
    ("us", Unit::Nanos(1_000)),
    ("ns", Unit::Nanos(1)),
];

fn take_u64(text: &mut &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    *text = rest;
    number.parse().ok()
}

/// The names of the units of [`UNITS`] in messages.
const UNIT_NAMES: [&str; 10] = [
    "years",
    "months",
    "weeks",
    "days",
    "hours",
    "minutes",
    "seconds",
    "milliseconds",
    "microseconds",
    "nanoseconds",
];

/// Reads numbers with units. An error says what is wrong with their order, if that is it.
fn unit_parts(mut text: &str) -> std::result::Result<Vec<(u64, Unit)>, Option<String>> {
    let mut parts = Vec::new();
    let mut least = 0;
    while !text.is_empty() {
        let amount = take_u64(&mut text).ok_or(None)?;
        let letters = text.bytes().take_while(|byte| !byte.is_ascii_digit()).count();
        let (unit, rest) = text
            .split_at_checked(letters)
            .or_else(|| text.char_indices().nth(1).map(|(at, _)| text.split_at(at)))
            .ok_or(None)?;
        text = rest;
        let unit = unit.to_lowercase().replace('\u{b5}', "u");
        let place = UNITS.iter().position(|(name, _)| *name == unit).ok_or(None)?;
        let name = |place: usize| UNIT_NAMES.get(place).copied().unwrap_or_default();
        if place + 1 == least {
            return Err(Some(format!(
                "Invalid duration. The {} are specified multiple times",
                name(place)
            )));
        }
        if place < least {
            return Err(Some(format!(
                "Invalid duration. The {} should be after {}",
                name(least - 1),
                name(place)
            )));
        }
        least = place + 1;
        parts.push((amount, UNITS.get(place).ok_or(None)?.1));
    }
    Ok(parts)
}

fn iso_parts(text: &str) -> Option<Vec<(u64, Unit)>> {
    if text.contains('-') {
        return alternative_parts(text);
    }
    let (date, clock) = match text.split_once('T') {
        Some((date, clock)) => (date, Some(clock)),
        None => (text, None),
    };
    let mut parts = Vec::new();
    let mut take = |mut text: &str, units: &[(char, Unit)]| -> Option<()> {
        let mut least = 0;
        while !text.is_empty() {
            let amount = take_u64(&mut text)?;
            let letter = text.chars().next()?;
            text = text.get(letter.len_utf8()..)?;
            let place = units.iter().position(|(own, _)| *own == letter)?;
            if place < least {
                return None;
            }
            least = place + 1;
            parts.push((amount, units.get(place)?.1));
        }
        Some(())
    };
    take(
        date,
        &[
            ('Y', Unit::Months(12)),
            ('M', Unit::Months(1)),
            ('W', Unit::Days(7)),
            ('D', Unit::Days(1)),
        ],
    )?;
    if let Some(clock) = clock {
        take(
            clock,
            &[
                ('H', Unit::Nanos(3_600_000_000_000)),
                ('M', Unit::Nanos(60_000_000_000)),
                ('S', Unit::Nanos(1_000_000_000)),
            ],
        )?;
    }
    Some(parts)
}

fn alternative_parts(mut text: &str) -> Option<Vec<(u64, Unit)>> {
    let layout = [
        (4, '-', Unit::Months(12)),
        (2, '-', Unit::Months(1)),
        (2, 'T', Unit::Days(1)),
        (2, ':', Unit::Nanos(3_600_000_000_000)),
        (2, ':', Unit::Nanos(60_000_000_000)),
        (2, '\0', Unit::Nanos(1_000_000_000)),
    ];
    let mut parts = Vec::new();
    for (digits, after, unit) in layout {
        parts.push((u64::try_from(take_digits(&mut text, digits, digits)?).ok()?, unit));
        if after != '\0' {
            take_char(&mut text, after)?;
        }
    }
    text.is_empty().then_some(parts)
}

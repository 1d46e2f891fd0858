//! Moments, days, durations, UUIDs and addresses.
//!
//! What it is not: a calendar of zones; all is in UTC.
//!
//! Invariant: days are those of the proleptic Gregorian calendar.

use super::super::{Machine, Run};
use super::{int, long, string};
use crate::value::{Thrown, Value};

const DAY_MS: i64 = 86_400_000;

/// Returns year, month and day of a day since 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns the day since 1970 of year, month and day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

pub(in crate::run) fn shown_date(own: i32) -> String {
    let (year, month, day) = civil(i64::from(own));
    format!("{year}-{month:02}-{day:02}")
}

pub(in crate::run) fn shown_timestamp(own: i64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let since = own.div_euclid(DAY_MS);
    let (year, month, day) = civil(since);
    let seconds = own.rem_euclid(DAY_MS) / 1_000;
    let name = usize::try_from(since.rem_euclid(7)).ok().and_then(|at| DAYS.get(at));
    let month = usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at));
    format!(
        "{} {} {day:02} {:02}:{:02}:{:02} UTC {year}",
        name.unwrap_or(&""),
        month.unwrap_or(&""),
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

pub(in crate::run) fn shown_uuid(own: u128) -> String {
    let digits = format!("{own:032x}");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

pub(in crate::run) fn shown_duration(months: i32, days: i32, nanoseconds: i64) -> String {
    let mut out = String::new();
    if months < 0 || days < 0 || nanoseconds < 0 {
        out.push('-');
    }
    let mut put = |count: u64, unit: &str| {
        if count > 0 {
            out.push_str(&format!("{count}{unit}"));
        }
    };
    let months = u64::from(months.unsigned_abs());
    put(months / 12, "y");
    put(months % 12, "mo");
    put(u64::from(days.unsigned_abs()), "d");
    let mut left = nanoseconds.unsigned_abs();
    let units: [(u64, &str); 6] = [
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
        (1, "ns"),
    ];
    for (size, unit) in units {
        put(left / size, unit);
        left %= size;
    }
    out
}

/// Returns the two halves of a UUID.
pub(in crate::run) fn halves(own: u128) -> (i64, i64) {
    let half = |own: u128| u64::try_from(own & u128::from(u64::MAX)).unwrap_or(0).cast_signed();
    (half(own >> 64), half(own))
}

fn read_uuid(text: &str) -> Option<u128> {
    let parts: Vec<&str> = text.split('-').collect();
    let widths = [8, 4, 4, 4, 12];
    if parts.len() != 5 {
        return None;
    }
    let mut digits = String::new();
    for (part, width) in parts.iter().zip(widths) {
        if part.is_empty() || part.len() > width {
            return None;
        }
        digits.push_str(&format!("{part:0>width$}"));
    }
    u128::from_str_radix(&digits, 16).ok()
}

impl Machine<'_> {
    /// Calls a method of one of the classes.
    pub(super) fn time_static(
        &mut self,
        class: &str,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let day = |own: i64| {
            i32::try_from(own).map(Value::Date).map_err(|_| Thrown::illegal("Date out of range"))
        };
        Ok(Some(match (class, name) {
            ("UUID", "randomUUID") => {
                let bits = self.host.random();
                let version = bits & !(0xF << 76) | 4 << 76;
                Value::Uuid(version & !(0x3 << 62) | 2 << 62)
            }
            ("UUID", _) => {
                let text = string(arguments, 0)?;
                let found = read_uuid(&text);
                Value::Uuid(
                    found.ok_or_else(|| Thrown::illegal(format!("Invalid UUID string: {text}")))?,
                )
            }
            ("LocalDate", "fromDaysSinceEpoch") => Value::Date(int(arguments, 0)?),
            ("LocalDate", "fromMillisSinceEpoch") => day(long(arguments, 0)?.div_euclid(DAY_MS))?,
            ("LocalDate", _) => {
                let part = |at: usize| int(arguments, at).map(i64::from);
                day(days(part(0)?, part(1)?.clamp(1, 12), part(2)?))?
            }
            ("Duration", _) => {
                Value::Duration(int(arguments, 0)?, int(arguments, 1)?, long(arguments, 2)?)
            }
            _ => return Ok(None),
        }))
    }

    /// Calls a method of a moment, day, duration, UUID or address.
    pub(super) fn time_method(
        &mut self,
        own: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let whole = |own: i64| Value::Int(i32::try_from(own).unwrap_or(0));
        Ok(Some(match (own, name) {
            (Value::Timestamp(own), "getTime") => Value::Long(*own.borrow()),
            (Value::Timestamp(held), "setTime") => {
                *held.borrow_mut() = long(arguments, 0)?;
                Value::Null
            }
            (Value::Timestamp(own), "before" | "after") => {
                let Some(Value::Timestamp(other)) = arguments.first() else {
                    return Err(Thrown::null(""));
                };
                let (one, other) = (*own.borrow(), *other.borrow());
                Value::Boolean(if name == "before" { one < other } else { one > other })
            }
            (Value::Date(own), "getDaysSinceEpoch") => Value::Int(*own),
            (Value::Date(own), "getMillisSinceEpoch") => Value::Long(i64::from(*own) * DAY_MS),
            (Value::Date(own), "getYear") => whole(civil(i64::from(*own)).0),
            (Value::Date(own), "getMonth") => whole(civil(i64::from(*own)).1),
            (Value::Date(own), "getDay") => whole(civil(i64::from(*own)).2),
            (Value::Duration(months, ..), "getMonths") => Value::Int(*months),
            (Value::Duration(_, days, _), "getDays") => Value::Int(*days),
            (Value::Duration(.., nanoseconds), "getNanoseconds") => Value::Long(*nanoseconds),
            (Value::Uuid(own), "getMostSignificantBits") => Value::Long(halves(*own).0),
            (Value::Uuid(own), "getLeastSignificantBits") => Value::Long(halves(*own).1),
            (Value::Uuid(own), "version") => whole(halves(*own).0 >> 12 & 0xF),
            (Value::Uuid(own), "variant") => whole(halves(*own >> 62).1 & 0x3),
            (Value::Uuid(own), "timestamp") => {
                let high = halves(*own).0;
                if high >> 12 & 0xF != 1 {
                    let message = Some("Not a time-based UUID".to_owned());
                    return Err(Thrown::known("java.lang.UnsupportedOperationException", message));
                }
                let bits = high.cast_unsigned();
                let time = (bits & 0xFFF) << 48 | (bits >> 16 & 0xFFFF) << 32 | bits >> 32;
                Value::Long(time.cast_signed())
            }
            (Value::Inet(own), "getHostAddress") => {
                self.text(own.to_string().encode_utf16().collect())?
            }
            (Value::Inet(own), "getAddress") => {
                let bytes = match own {
                    std::net::IpAddr::V4(own) => own.octets().to_vec(),
                    std::net::IpAddr::V6(own) => own.octets().to_vec(),
                };
                self.array(bytes.into_iter().map(|own| Value::Byte(own.cast_signed())).collect())?
            }
            _ => return Ok(None),
        }))
    }
}

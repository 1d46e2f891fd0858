//! Functions of time: now and its relatives, timeuuids, conversions, rounding down.

use std::sync::Arc;

use shelfmark_cql_protocol::CqlError;

use super::context::FunctionContext;
use super::scalar::{Body, Scalar};
use crate::value::{
    CqlType, DATE_EPOCH, Duration, Native, civil_from_days, days_from_civil, days_in_month,
    take_duration,
};

pub(super) const NANOS_PER_DAY: i64 = 86_400_000_000_000;
const MILLIS_PER_DAY: i64 = 86_400_000;

/// 100-nanosecond steps between the start of UUID time (1582-10-15) and the Unix epoch.
/// Source: RFC 9562, section 5.1.
const UUID_EPOCH: i64 = 122_192_928_000_000_000;

/// Returns a new UUID of version 4.
pub(super) fn new_uuid(context: &dyn FunctionContext) -> [u8; 16] {
    let mut bytes = [0; 16];
    context.fill_random(&mut bytes);
    set_version(&mut bytes, 0x40);
    bytes
}

/// Returns a new UUID of version 1. Its node is random, as the standard allows, and so is its
/// sequence.
pub fn new_timeuuid(context: &dyn FunctionContext) -> [u8; 16] {
    let micros = i64::try_from(context.now_micros()).unwrap_or(i64::MAX / 16);
    let mut low = [0; 8];
    context.fill_random(&mut low);
    // Below a microsecond the time is free: it keeps two of one moment apart.
    let step = low.first().map_or(0, |byte| i64::from(byte % 10));
    let mut uuid = timeuuid(micros * 10 + step, low);
    set_version(&mut uuid, 0x10);
    if let Some(byte) = uuid.get_mut(10) {
        // A random node has the multicast bit.
        *byte |= 1;
    }
    uuid
}

fn set_version(bytes: &mut [u8; 16], version: u8) {
    bytes[6] = bytes[6] & 0x0F | version;
    bytes[8] = bytes[8] & 0x3F | 0x80;
}

/// Returns a UUID of version 1 at `ticks` of 100 ns since the Unix epoch.
fn timeuuid(ticks: i64, low: [u8; 8]) -> [u8; 16] {
    let [a, b, c, d, e, f, g, h] = ticks.wrapping_add(UUID_EPOCH).to_be_bytes();
    let [i, j, k, l, m, n, o, p] = low;
    [e, f, g, h, c, d, a & 0x0F | 0x10, b, i, j, k, l, m, n, o, p]
}

/// Returns milliseconds since the Unix epoch of a UUID of version 1.
pub(super) fn millis_of(uuid: &[u8]) -> Option<i64> {
    let &[e, f, g, h, c, d, a, b, ..] = uuid.first_chunk::<16>()?;
    let ticks = i64::from_be_bytes([a & 0x0F, b, c, d, e, f, g, h]);
    Some((ticks - UUID_EPOCH).div_euclid(10_000))
}

/// Returns the `date` of a time in milliseconds, as Cassandra does: before 1970 it is that of the
/// midnight behind, and days that no date has go round.
///
/// Source: Cassandra 5.0, `SimpleDateType.timeInMillisToDay`.
pub(super) fn date_of(millis: i64) -> Vec<u8> {
    let days = (millis / MILLIS_PER_DAY).wrapping_add(i64::from(DATE_EPOCH));
    let [.., a, b, c, d] = days.to_be_bytes();
    vec![a, b, c, d]
}

/// Returns milliseconds since the Unix epoch of a timestamp, date or timeuuid.
pub(super) fn moment(ty: &CqlType, bytes: &[u8]) -> Option<i64> {
    match ty {
        CqlType::Native(Native::Timestamp | Native::Bigint) => {
            Some(i64::from_be_bytes(bytes.try_into().ok()?))
        }
        CqlType::Native(Native::Date) => {
            let days = u32::from_be_bytes(bytes.try_into().ok()?);
            Some((i64::from(days) - i64::from(DATE_EPOCH)) * MILLIS_PER_DAY)
        }
        _ => millis_of(bytes),
    }
}

fn now_millis(context: &dyn FunctionContext) -> i64 {
    i64::try_from(context.now_micros() / 1_000).unwrap_or(i64::MAX)
}

/// Returns the functions of this module by name, in both spellings.
pub(super) fn candidates(name: &str) -> Option<Vec<Scalar>> {
    let temporal = [CqlType::Timeuuid, CqlType::Timestamp, CqlType::Date];
    let from = |types: &[CqlType], returns: CqlType, write: fn(i64) -> Vec<u8>| {
        let make = |ty: &CqlType| {
            let own = ty.clone();
            Scalar::strict(name, vec![ty.clone()], returns.clone(), move |values| {
                Ok(values.first().and_then(|value| moment(&own, value)).map(write))
            })
        };
        Some(types.iter().map(make).collect())
    };
    let [timeuuid, timestamp, date] = &temporal;
    match name {
        "uuid" => Some(vec![Scalar::of_context(name, CqlType::Uuid, |context| {
            new_uuid(context).to_vec()
        })]),
        "now" | "current_timeuuid" | "currenttimeuuid" => {
            Some(vec![Scalar::of_context(name, CqlType::Timeuuid, |context| {
                new_timeuuid(context).to_vec()
            })])
        }
        "current_timestamp" | "currenttimestamp" => {
            Some(vec![Scalar::of_context(name, CqlType::Timestamp, |context| {
                now_millis(context).to_be_bytes().to_vec()
            })])
        }
        "current_date" | "currentdate" => {
            Some(vec![Scalar::of_context(name, CqlType::Date, |context| {
                date_of(now_millis(context))
            })])
        }
        "current_time" | "currenttime" => {
            Some(vec![Scalar::of_context(name, CqlType::Time, |context| {
                let nanos = now_millis(context).rem_euclid(MILLIS_PER_DAY) * 1_000_000;
                nanos.to_be_bytes().to_vec()
            })])
        }
        "min_timeuuid" | "mintimeuuid" => {
            from(std::slice::from_ref(timestamp), CqlType::Timeuuid, |millis| {
                self::timeuuid(millis.wrapping_mul(10_000), [0x80; 8]).to_vec()
            })
        }
        "max_timeuuid" | "maxtimeuuid" => {
            from(std::slice::from_ref(timestamp), CqlType::Timeuuid, |millis| {
                self::timeuuid(millis.wrapping_mul(10_000).wrapping_add(9_999), [0x7F; 8]).to_vec()
            })
        }
        "to_date" | "todate" => {
            from(&[timeuuid.clone(), timestamp.clone()], CqlType::Date, date_of)
        }
        "to_timestamp" | "totimestamp" => {
            from(&[timeuuid.clone(), date.clone()], CqlType::Timestamp, |millis| {
                millis.to_be_bytes().to_vec()
            })
        }
        "to_unix_timestamp" | "tounixtimestamp" => {
            from(&temporal, CqlType::Bigint, |millis| millis.to_be_bytes().to_vec())
        }
        "floor" => Some(floors(name, &temporal)),
        _ => None,
    }
}

fn floors(name: &str, temporal: &[CqlType]) -> Vec<Scalar> {
    let mut found = Vec::new();
    for ty in temporal {
        let returns = if *ty == CqlType::Date { CqlType::Date } else { CqlType::Timestamp };
        for with_start in [false, true] {
            let mut arguments = vec![ty.clone(), CqlType::Duration];
            if with_start {
                arguments.push(returns.clone());
            }
            let (own, result) = (ty.clone(), returns.clone());
            found.push(Scalar::strict(name, arguments, returns.clone(), move |values| {
                let mut values = values.iter();
                let (Some(value), Some(duration)) = (values.next(), values.next()) else { return Ok(None) };
                let start = values.next().and_then(|start| moment(&result, start)).unwrap_or(0);
                let Some(millis) = moment(&own, value) else { return Ok(None) };
                let duration = take_duration(duration).map_err(|error| CqlError::invalid(error.0))?;
                if own == CqlType::Date && duration.nanos % NANOS_PER_DAY != 0 {
                    let text = format!("The floor on date values cannot be computed for the {} duration as precision is below 1 day", duration.to_text());
                    return Err(CqlError::invalid(text));
                }
                let floor = floor(millis, duration, start)?;
                Ok(Some(if result == CqlType::Date { date_of(floor) } else { floor.to_be_bytes().to_vec() }))
            }));
        }
    }
    let body: Body = Arc::new(|_, values| {
        let &[Some(time), Some(duration)] = values else { return Ok(None) };
        let duration = take_duration(duration).map_err(|error| CqlError::invalid(error.0))?;
        let Ok(time) = time.try_into().map(i64::from_be_bytes) else { return Ok(None) };
        if duration.months != 0 || duration.days != 0 || duration.nanos > NANOS_PER_DAY {
            let text =
                "For time values, the floor can only be computed for durations smaller that a day";
            return Err(CqlError::invalid(text));
        }
        if duration.nanos < 0 {
            return Err(CqlError::invalid(
                "Negative durations are not supported by the floor function",
            ));
        }
        if duration.nanos == 0 {
            return Ok(Some(time.to_be_bytes().to_vec()));
        }
        Ok(Some((time - time.rem_euclid(duration.nanos)).to_be_bytes().to_vec()))
    });
    let arguments = vec![CqlType::Time, CqlType::Duration];
    found.push(Scalar {
        keyspace: super::scalar::native(),
        name: name.to_owned(),
        arguments,
        returns: CqlType::Time,
        body,
    });
    found
}

/// Moves a moment by a duration; months end at the last day of shorter months.
pub(super) fn add_duration(millis: i64, duration: Duration, sign: i64) -> Option<i64> {
    let (days, rest) = (millis.div_euclid(MILLIS_PER_DAY), millis.rem_euclid(MILLIS_PER_DAY));
    let (year, month, day) = civil_from_days(days);
    let months = year.checked_mul(12)? + month - 1 + sign * i64::from(duration.months);
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let day = day.min(days_in_month(year, month));
    let days = days_from_civil(year, month, day) + sign * i64::from(duration.days);
    days.checked_mul(MILLIS_PER_DAY)?
        .checked_add(rest)?
        .checked_add(sign * (duration.nanos / 1_000_000))
}

/// Returns the start of the step of `duration` from `start` that a moment lies in.
fn floor(millis: i64, duration: Duration, start: i64) -> Result<i64, CqlError> {
    let refuse = |text: &str| CqlError::invalid(text.to_owned());
    if duration.months < 0 || duration.days < 0 || duration.nanos < 0 {
        return Err(refuse("Negative durations are not supported by the floor function"));
    }
    if duration.nanos % 1_000_000 != 0 {
        return Err(CqlError::invalid(format!(
            "The floor cannot be computed for the {} duration as precision is below 1 millisecond",
            duration.to_text()
        )));
    }
    if millis < start {
        return Err(refuse("The floor function starting time is greater than the provided time"));
    }
    if duration.months == 0 {
        let step = i64::from(duration.days) * MILLIS_PER_DAY + duration.nanos / 1_000_000;
        if step == 0 {
            return Ok(millis);
        }
        return Ok(start + (millis - start).div_euclid(step) * step);
    }
    // Months differ in length: count how many whole steps fit, then look one back.
    let whole_months = |millis: i64| {
        let (year, month, _) = civil_from_days(millis.div_euclid(MILLIS_PER_DAY));
        year * 12 + month
    };
    let per_step = i64::from(duration.months) + i64::from(duration.days) / 28 + 1;
    let mut steps = (whole_months(millis) - whole_months(start)) / per_step;
    let at = |steps: i64| {
        let times = |part: i32| i32::try_from(i64::from(part) * steps).ok();
        let total = Duration {
            months: times(duration.months)?,
            days: times(duration.days)?,
            nanos: duration.nanos.checked_mul(steps)?,
        };
        add_duration(start, total, 1)
    };
    let mut floor = at(steps).unwrap_or(start);
    while let Some(next) = at(steps + 1).filter(|next| *next <= millis) {
        steps += 1;
        floor = next;
    }
    Ok(floor)
}

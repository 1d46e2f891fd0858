//! Timestamps, with a precision that is part of their type.
//!
//! Invariant: the order of timestamps of one type is the order of their numbers, before 1970 too.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shelfmark_model::{KeyType, Value};

use super::KeyPart;
use super::part::wrong;
use crate::error::{Error, Result};
use crate::record::newtype;

/// Decimal digits of the seconds in timestamps that other faces have, too.
const MILLIS: u32 = 3;

/// A time: `10^-DIGITS` seconds since 1970-01-01T00:00:00Z. Nanoseconds unless a type says
/// otherwise, from the year 1677 to 2262.
///
/// [`TimestampMillis`] is stored as the `timestamp` that CQL has; finer and coarser ones as a number
/// of 64 bits. A key must be read with the precision that it was written with: a table whose key
/// has another one does not open.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{OrderedTable, Timestamp};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let logins: OrderedTable<(String, Timestamp), u8> = OrderedTable::named(&database, "logins")?;
/// logins.write(&("alice".into(), Timestamp(1_700_000_000_000_000_001)), &1)?;
/// let since = ("alice".to_owned(), Timestamp(1_700_000_000_000_000_000));
/// assert_eq!(logins.from(since)?.count()?, 1);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp<const DIGITS: u32 = 9>(pub i64);

/// A timestamp in milliseconds, as CQL and most clients have it.
pub type TimestampMillis = Timestamp<3>;

/// A timestamp in microseconds.
pub type TimestampMicros = Timestamp<6>;

impl<const DIGITS: u32> Timestamp<DIGITS> {
    /// Units per second; more than nine digits do not compile.
    pub const PER_SECOND: i64 = {
        assert!(DIGITS <= 9, "a timestamp counts nanoseconds at the finest");
        10_i64.pow(DIGITS)
    };

    const NANOS: i64 = 1_000_000_000 / Self::PER_SECOND;

    /// Converts the time to another precision; finer digits are cut off towards the past.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: it lies beyond what the other precision reaches.
    pub fn to_precision<const OTHER: u32>(self) -> Result<Timestamp<OTHER>> {
        let nanos = i128::from(self.0) * i128::from(Self::NANOS);
        let units = nanos.div_euclid(i128::from(Timestamp::<OTHER>::NANOS));
        i64::try_from(units).map(Timestamp).map_err(|_| out_of_reach(OTHER))
    }

    /// Converts the time to the standard library's type.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the system has no such time.
    pub fn to_system_time(self) -> Result<SystemTime> {
        let seconds = self.0.div_euclid(Self::PER_SECOND);
        let rest = self.0.rem_euclid(Self::PER_SECOND) * Self::NANOS;
        let rest = Duration::from_nanos(rest.unsigned_abs());
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let start = match seconds < 0 {
            true => UNIX_EPOCH.checked_sub(whole),
            false => UNIX_EPOCH.checked_add(whole),
        };
        let time = start.and_then(|start| start.checked_add(rest));
        time.ok_or_else(|| Error::invalid("the system has no such time"))
    }
}

fn out_of_reach(digits: u32) -> Error {
    Error::invalid(format!("a timestamp of {digits} digits behind the second reaches less far"))
}

/// Cuts off finer digits towards the past.
impl<const DIGITS: u32> TryFrom<SystemTime> for Timestamp<DIGITS> {
    type Error = Error;

    fn try_from(time: SystemTime) -> Result<Self> {
        let nanos = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => i128::try_from(since.as_nanos()),
            Err(before) => i128::try_from(before.duration().as_nanos()).map(|nanos| -nanos),
        };
        let units = nanos.ok().map(|nanos| nanos.div_euclid(i128::from(Self::NANOS)));
        units
            .and_then(|units| i64::try_from(units).ok())
            .map(Self)
            .ok_or_else(|| out_of_reach(DIGITS))
    }
}

impl<const DIGITS: u32> KeyPart for Timestamp<DIGITS> {
    fn key_type() -> KeyType {
        if DIGITS == MILLIS { KeyType::Timestamp } else { KeyType::I64 }
    }

    fn to_value(&self) -> Value {
        if DIGITS == MILLIS { Value::Timestamp(self.0) } else { Value::Int(self.0) }
    }

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Timestamp(units) if DIGITS == MILLIS => Ok(Self(units)),
            Value::Int(units) if DIGITS != MILLIS => Ok(Self(units)),
            other => Err(wrong("a timestamp of its precision", &other)),
        }
    }
}

impl<const DIGITS: u32> Serialize for Timestamp<DIGITS> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match DIGITS {
            MILLIS => serializer.serialize_newtype_struct(newtype::TIMESTAMP, &self.0),
            _ => serializer.serialize_i64(self.0),
        }
    }
}

impl<'de, const DIGITS: u32> Deserialize<'de> for Timestamp<DIGITS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        /// Deserializes a number and nothing else.
        struct Units;

        impl<'de> serde::de::Visitor<'de> for Units {
            type Value = i64;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a timestamp")
            }

            fn visit_i64<E>(self, units: i64) -> std::result::Result<i64, E> {
                Ok(units)
            }

            fn visit_u64<E: serde::de::Error>(self, units: u64) -> std::result::Result<i64, E> {
                i64::try_from(units).map_err(|_| E::custom("a timestamp beyond 64 bits"))
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> std::result::Result<i64, D::Error> {
                i64::deserialize(deserializer).map_err(D::Error::custom)
            }
        }

        match DIGITS {
            MILLIS => deserializer.deserialize_newtype_struct(newtype::TIMESTAMP, Units),
            _ => deserializer.deserialize_i64(Units),
        }
        .map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_are_cut_towards_the_past() {
        let check = |nanos: i64, millis: i64| {
            let cut = Timestamp::<9>(nanos).to_precision::<3>();
            assert_eq!(cut.map(|cut| cut.0).ok(), Some(millis), "{nanos}");
        };
        check(1_999_999, 1);
        check(2_000_000, 2);
        check(-1, -1);
        check(-1_000_000, -1);
        check(0, 0);
        let far = Timestamp::<3>(i64::MAX).to_precision::<9>();
        assert_eq!(far.map_err(|error| error.kind()), Err(crate::ErrorKind::Invalid));
    }

    #[test]
    fn system_times_go_there_and_back() {
        for nanos in [0, 1, -1, 1_700_000_000_123_456_789, -1_700_000_000_123_456_789] {
            let time = Timestamp::<9>(nanos).to_system_time();
            let back = time.and_then(Timestamp::<9>::try_from);
            assert_eq!(back.map(|back| back.0).ok(), Some(nanos));
        }
    }
}

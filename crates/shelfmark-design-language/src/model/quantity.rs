//! Parses quantities as people write them: `2M`, `300/s`, `3%/mo`, `64MiB`, `3y`.
//!
//! Invariant: [`parse`] accepts finite, non-negative quantities only.

/// Seconds of a month, as calendars average it.
const MONTH_SECONDS: f64 = 30.5 * 86_400.0;

/// Returns true if a count is written in billions, as `1B`: nothing that is counted has bytes.
pub fn billions(fact: &str, raw: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_');
    matches!(fact, "count" | "distinct" | "p99")
        && raw.strip_suffix('B').is_some_and(|amount| amount.chars().all(digit))
}

/// A number with its unit resolved.
///
/// Amounts are plain, sizes are bytes, times are seconds, rates are per second; a percentage is
/// a fraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The number in the unit of its dimension.
    pub value: f64,
}

/// The dimension of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// A plain number.
    Count,
    /// Elements or bytes.
    Length,
    /// A part of what there is, for each time.
    Growth,
    /// Calls for each time.
    Rate,
    /// Seconds.
    Time,
    /// A part of one.
    Share,
    /// A number without a unit.
    Number,
}

impl Dimension {
    /// Returns the dimension of a fact, by its name.
    pub fn of(fact: &str, attribute: bool) -> Self {
        match fact {
            "growth" => Self::Growth,
            "rate" | "peak" | "changes" => Self::Rate,
            "retention" | "latency" | "staleness" | "follows" => Self::Time,
            "sparse" => Self::Share,
            "zipf" | "normal" => Self::Number,
            "avg" | "max" if attribute => Self::Length,
            _ => Self::Count,
        }
    }

    /// Returns examples of quantities of this dimension.
    pub fn examples(self) -> &'static str {
        match self {
            Self::Count => "a count, such as 250, 1.5k, 2M or 1G",
            Self::Length => "a length, such as 120, 4k or 64KiB",
            Self::Growth => "a share for each time, such as 3%/mo",
            Self::Rate => "calls for each time, such as 300/s or 2k/day",
            Self::Time => "a time, such as 200ms, 30d or 3y",
            Self::Share => "a share, such as 2% or 0.02",
            Self::Number => "a number, such as 1.1",
        }
    }

    /// Returns true if a quantity, as written, has this dimension.
    pub fn fits(self, raw: &str) -> bool {
        let (amount, per) = raw.split_once('/').map_or((raw, false), |(amount, _)| (amount, true));
        let unit = amount.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '_');
        let count = matches!(unit, "" | "k" | "K" | "M" | "G" | "T");
        let size = unit.ends_with('B');
        match self {
            Self::Count => count && !per,
            Self::Length => (count || size) && !per,
            Self::Growth => matches!(unit, "" | "%") && per,
            // Without a time it is a second's.
            Self::Rate => count,
            Self::Time => (unit == "ms" || period(unit).is_some()) && !per,
            Self::Share => {
                let most = parse(raw).is_some_and(|share| share.value <= 1.0);
                matches!(unit, "" | "%") && !per && most
            }
            Self::Number => unit.is_empty() && !per,
        }
    }
}

/// Parses a number with its unit.
pub fn parse(raw: &str) -> Option<Quantity> {
    let (amount, per) = match raw.split_once('/') {
        Some((amount, per)) => (amount, Some(per)),
        None => (raw, None),
    };
    let (amount, percent) = match amount.strip_suffix('%') {
        Some(amount) => (amount, 0.01),
        None => (amount, 1.0),
    };
    let digits = amount
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(amount.len());
    let number: f64 = amount.get(..digits)?.replace('_', "").parse().ok()?;
    let unit = unit(amount.get(digits..)?)?;
    let per = match per {
        None => 1.0,
        Some(per) => period(per)?,
    };
    let value = number * unit * percent / per;
    value.is_finite().then_some(Quantity { value })
}

fn unit(text: &str) -> Option<f64> {
    Some(match text {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "ms" => 1e-3,
        other => return period(other),
    })
}

fn period(text: &str) -> Option<f64> {
    Some(match text {
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3_600.0,
        "d" | "day" => 86_400.0,
        "w" => 604_800.0,
        "mo" => MONTH_SECONDS,
        "y" => 12.0 * MONTH_SECONDS,
        _ => return None,
    })
}

/// Parses a whole number with an optional suffix `k`, `M`, `G` or a size.
pub fn integer(text: &str) -> Option<i64> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '_')).unwrap_or(text.len());
    let number: i64 = text.get(..digits)?.replace('_', "").parse().ok()?;
    let factor = match text.get(digits..)? {
        "" | "B" => 1,
        "k" | "K" | "kB" => 1_000,
        "M" | "MB" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        "KiB" => 1_024,
        "MiB" => 1_048_576,
        "GiB" => 1_073_741_824,
        _ => return None,
    };
    number.checked_mul(factor)
}

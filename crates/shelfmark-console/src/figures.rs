//! Numbers as people read them.

pub(crate) use shelfmark_admin::key_line::figures::{float, length};

/// Writes bytes with a unit: `1.2 MB`.
pub(crate) fn bytes(count: u64) -> String {
    scaled(count, 1_000.0, &["B", "kB", "MB", "GB", "TB", "PB"])
}

/// Writes a count: `12,345`, or `1.2 million` where the digits say nothing.
pub(crate) fn count(count: u64) -> String {
    if count >= 1_000_000 {
        return scaled(count / 1_000, 1_000.0, &["thousand", "million", "billion", "trillion"]);
    }
    let digits = count.to_string();
    match digits.split_at_checked(digits.len().saturating_sub(3)) {
        Some((head, tail)) if !head.is_empty() => format!("{head},{tail}"),
        _ => digits,
    }
}

/// Writes a count with what is counted: `1 call`, `2 calls`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Writes a time in milliseconds: `0.42 ms`.
pub(crate) fn time(time: std::time::Duration) -> String {
    let ms = time.as_secs_f64() * 1_000.0;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}

fn scaled(count: u64, step: f64, units: &[&str]) -> String {
    let mut left = float(count);
    let mut unit = 0;
    while left >= step && unit + 1 < units.len() {
        left /= step;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or("");
    if unit == 0 || left >= 100.0 {
        format!("{left:.0} {name}")
    } else {
        format!("{left:.1} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (123_456, "123,456")];
        cases.iter().for_each(|(number, text)| assert_eq!(count(*number), *text));
        assert_eq!(count(10_000_000), "10.0 million");
        assert_eq!([counted(0, "call"), counted(1, "call")], ["0 calls", "1 call"]);
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_234), "1.2 kB");
        assert_eq!(bytes(250_000_000), "250 MB");
    }
}

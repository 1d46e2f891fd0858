//! Parses sizes as people write them.

/// Parses a size: a number of bytes, or one with MB, MiB, GB or GiB.
///
/// # Errors
///
/// * What may be written instead.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|own: char| own.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..).unwrap_or_default() {
        "" | "B" => Some(1),
        "MB" => Some(1_000_000),
        "MiB" => Some(1 << 20),
        "GB" => Some(1_000_000_000),
        "GiB" => Some(1 << 30),
        _ => None,
    };
    let number = digits.trim_end().parse::<u64>().ok();
    let bytes = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    bytes.ok_or_else(|| "it takes a number of bytes, or one with MB, MiB, GB or GiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_the_units_that_people_use() {
        let all = ["0", "512", "1MB", "1 MiB", "2GB", "2GiB"].map(size);
        let bytes = [0, 512, 1_000_000, 1 << 20, 2_000_000_000, 2 << 30];
        assert_eq!(all, bytes.map(Ok));
        for wrong in ["", "MB", "-1", "1.5GB", "1mb", "99999999999GB"] {
            assert!(size(wrong).unwrap_err().contains("a number of bytes"), "{wrong}");
        }
    }
}

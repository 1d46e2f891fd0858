//! Sequence numbers: positions in change logs as numbers of equal length.
//!
//! `1`, the commit in 20 digits, the position in it in 10: they rise as text and as numbers alike.

use shelfmark_engine::ChangePosition;

/// Digits of a commit and of a position in it.
const COMMIT_DIGITS: usize = 20;
const POSITION_DIGITS: usize = 10;

/// Returns the sequence number of a position.
pub(crate) fn sequence_number(position: ChangePosition) -> String {
    format!("1{:020}{:010}", position.commit, position.position)
}

/// Returns the position that a sequence number means; `None` if it is none of ours.
pub(crate) fn position_of(number: &str) -> Option<ChangePosition> {
    let digits = number.strip_prefix('1')?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    if digits.len() != COMMIT_DIGITS + POSITION_DIGITS || !is_number {
        return None;
    }
    let (commit, position) = digits.split_at_checked(COMMIT_DIGITS)?;
    Some(ChangePosition { commit: commit.parse().ok()?, position: position.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_with_positions_and_read_back() {
        let positions = [(0, 0), (0, 9), (0, 10), (9, 0), (10, 1), (u64::MAX, u32::MAX)];
        let positions = positions.map(|(commit, position)| ChangePosition { commit, position });
        let numbers = positions.map(sequence_number);
        assert!(numbers.is_sorted());
        assert_eq!(numbers.clone().map(|number| position_of(&number)), positions.map(Some));
        assert!(numbers.iter().all(|number| number.len() == 31));
        for wrong in ["", "1", "100000000000000000000", "2000000000000000000010000000002"] {
            assert_eq!(position_of(wrong), None);
        }
        assert_eq!(position_of("1999999999999999999990000000000"), None, "over a commit's range");
    }
}

//! Converts civil dates of the Gregorian calendar to days since 1970-01-01 and back.
//!
//! What it is not: a parser or a formatter, and no time zones. Every crate that shows or reads dates
//! uses these two functions; what a date looks like is theirs.
//!
//! Invariant: each day has one date and each date of the calendar one day, also before 1970.
//!
//! Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (the formulas).

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;
/// Days of 400 years.
const ERA: i64 = 146_097;

/// Returns the days from 1970-01-01 to a civil date; a day beyond the month's last runs over.
#[must_use]
pub const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH
}

/// Returns year, month and day of a number of days since 1970-01-01.
#[must_use]
pub const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(EPOCH);
    let (era, day_of_era) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days() {
        for (date, days) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((2100, 3, 1), 47_541),
            ((1, 1, 1), -719_162),
            ((9999, 12, 31), 2_932_896),
            ((0, 2, 29), -719_469),
            ((-1, 12, 31), -719_529),
        ] {
            let (year, month, day) = date;
            assert_eq!(days_from_civil(year, month, day), days, "{date:?}");
            assert_eq!(civil_from_days(days), date, "{days}");
        }
    }

    #[test]
    fn days_follow_one_another() {
        let mut before = civil_from_days(-800_000);
        for days in -799_999..800_000 {
            let date = civil_from_days(days);
            let (year, month, day) = date;
            assert_eq!(days_from_civil(year, month, day), days);
            assert!(date > before, "{days}");
            before = date;
        }
        assert!(civil_from_days(i64::MAX) > civil_from_days(i64::MIN));
    }
}

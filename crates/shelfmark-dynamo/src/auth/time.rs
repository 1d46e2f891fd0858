//! Parses and formats times of requests: the basic format of ISO 8601, and HTTP's `Date`.

use shelfmark_keycode::calendar::{civil_from_days, days_from_civil};

const SECONDS_PER_DAY: i64 = 86_400;

/// Parses `20261121T203000Z` as seconds since the Unix epoch.
pub(super) fn seconds_of(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let digits = bytes.iter().enumerate().all(|(at, byte)| match at {
        8 => *byte == b'T',
        15 => *byte == b'Z',
        _ => byte.is_ascii_digit(),
    });
    if bytes.len() != 16 || !digits {
        return None;
    }
    let number = |from: usize, upto: usize| text.get(from..upto)?.parse::<i64>().ok();
    let (month, day) = (number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(9, 11)?, number(11, 13)?, number(13, 15)?);
    let is_fit = (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_fit || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_from_civil(number(0, 4)?, month, day);
    Some(days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second)
}

/// Formats seconds since the Unix epoch as `20261121T203000Z`.
pub(super) fn basic_format(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// Converts `Sat, 21 Nov 2026 20:30:00 GMT` to the basic format; returns anything else unchanged.
pub(super) fn basic_of(text: &str) -> String {
    http_date(text).unwrap_or_else(|| text.to_owned())
}

fn http_date(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, rest) = text.split_once(", ")?;
    let words: Vec<&str> = rest.split(' ').collect();
    let [day, month, year, time, "GMT" | "-0000" | "+0000"] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    let basic = format!("{year}{month:02}{day:0>2}T{}Z", time.replace(':', ""));
    seconds_of(&basic).map(|_| basic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back() {
        for (text, seconds) in [
            ("19700101T000000Z", 0),
            ("20150830T123600Z", 1_440_938_160),
            ("20240229T235959Z", 1_709_251_199),
            ("20240301T000000Z", 1_709_251_200),
            ("21000228T000000Z", 4_107_456_000),
            ("21000301T000000Z", 4_107_542_400),
            ("19691231T235959Z", -1),
        ] {
            assert_eq!(seconds_of(text), Some(seconds), "{text}");
            assert_eq!(basic_format(seconds), text);
        }
        for days in -200_000..200_000 {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2015",
            "2015-08-30T12:36:00Z",
            "20150830T123600",
            "20151330T123600Z",
            "20150832T123600Z",
            "20150830T243600Z",
            "20150830T126000Z",
            "2015083éT123600Z",
        ] {
            assert_eq!(seconds_of(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_of_http_will_do() {
        assert_eq!(basic_of("Sun, 30 Aug 2015 12:36:00 GMT"), "20150830T123600Z");
        assert_eq!(basic_of("Wed, 3 Jun 2015 12:36:00 -0000"), "20150603T123600Z");
        for text in ["Sun, 30 Aug 2015 12:36:00 CET", "yesterday", "Sun, 30 Xyz 2015 12:36:00 GMT"]
        {
            assert_eq!(basic_of(text), text);
        }
    }
}

//! Folds texts that count as one in an index: of either case, composed or not, with or without
//! accents.
//!
//! What it is not: a language's collation. Nothing here depends on a locale.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The differences between texts that an index ignores; by default none.
///
/// The steps are taken in the order of the fields, as Cassandra's storage attached indexes take
/// them. Source: Cassandra 5.0, `NonTokenizingAnalyzer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextFold {
    /// Ignores case.
    pub lower_case: bool,
    /// Ignores composition (Unicode's NFC).
    pub normalize: bool,
    /// Replaces characters by the ASCII ones that they are variants of.
    pub ascii: bool,
}

impl TextFold {
    /// Returns true if it changes nothing.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Returns the folded form of a text. Bytes that are no text stay as they are.
    ///
    /// Cost: linear in the text; none where nothing is folded.
    #[must_use]
    pub fn apply(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self.is_none() {
            return Cow::Borrowed(text);
        }
        let Ok(own) = std::str::from_utf8(text) else { return Cow::Borrowed(text) };
        let mut own = Cow::Borrowed(own);
        if self.lower_case {
            own = Cow::Owned(own.to_lowercase());
        }
        if self.normalize {
            own = Cow::Owned(own.nfc().collect());
        }
        if self.ascii && !own.is_ascii() {
            own = Cow::Owned(to_ascii(&own));
        }
        Cow::Owned(own.into_owned().into_bytes())
    }
}

/// Replaces each character that has a variant in ASCII; the others stay.
fn to_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for own in text.chars() {
        match own {
            own if own.is_ascii() => out.push(own),
            own => match plain(own) {
                Some(form) => out.push_str(form),
                None => decompose(own, &mut out),
            },
        }
    }
    out
}

/// Decomposes a character and drops its diacritical marks, if ASCII letters or digits remain.
fn decompose(own: char, out: &mut String) {
    // What Unicode takes apart into a number and a sign is no variant of a letter.
    const KEPT: std::ops::RangeInclusive<char> = '\u{a0}'..='\u{bf}';
    let before = out.len();
    for part in std::iter::once(own).nfkd().filter(|part| !is_combining_mark(*part)) {
        match plain(part) {
            Some(form) => out.push_str(form),
            None if part.is_ascii_graphic() => out.push(part),
            None => {
                out.truncate(before);
                break;
            }
        }
    }
    if out.len() == before || (KEPT.contains(&own) && !matches!(own, '²' | '³' | '¹')) {
        out.truncate(before);
        out.push(own);
    }
}

/// Returns the ASCII form of a variant that Unicode does not decompose. Source: the list of
/// Lucene's `ASCIIFoldingFilter`.
fn plain(own: char) -> Option<&'static str> {
    Some(match own {
        'Æ' | 'Ǣ' | 'Ǽ' | 'ᴁ' => "AE",
        'æ' | 'ǣ' | 'ǽ' | 'ᴂ' => "ae",
        'Œ' | 'ɶ' => "OE",
        'œ' | 'ᴔ' => "oe",
        'Ø' | 'Ǿ' | 'Ɵ' => "O",
        'ø' | 'ǿ' | 'ɵ' => "o",
        'Đ' | 'Ð' | 'Ɖ' | 'Ɗ' => "D",
        'đ' | 'ð' | 'ɖ' | 'ɗ' => "d",
        'Þ' => "TH",
        'þ' | 'ᵺ' => "th",
        'ẞ' => "SS",
        'ß' => "ss",
        'Ħ' => "H",
        'ħ' => "h",
        'ı' | 'ɨ' => "i",
        'Ɨ' => "I",
        'Ł' | 'Ƚ' => "L",
        'ł' | 'ƚ' => "l",
        'Ŋ' | 'Ɲ' => "N",
        'ŋ' | 'ɲ' | 'ŉ' => "n",
        'ĸ' | 'ɋ' => "q",
        'ſ' => "s",
        'Ŧ' | 'Ƭ' => "T",
        'ŧ' | 'ƭ' => "t",
        'Ƀ' | 'Ɓ' => "B",
        'ƀ' | 'ɓ' => "b",
        'Ƈ' | 'Ȼ' => "C",
        'ƈ' | 'ȼ' => "c",
        'Ɇ' | 'Ǝ' | 'Ə' => "E",
        'ɇ' | 'ǝ' | 'ə' => "e",
        'Ƒ' => "F",
        'ƒ' => "f",
        'Ɠ' | 'Ǥ' => "G",
        'ɠ' | 'ǥ' => "g",
        'Ɉ' => "J",
        'ɉ' | 'ȷ' => "j",
        'Ƙ' => "K",
        'ƙ' => "k",
        'Ƥ' => "P",
        'ƥ' => "p",
        'Ɍ' => "R",
        'ɍ' => "r",
        'Ʉ' => "U",
        'ʉ' => "u",
        'Ʋ' => "V",
        'ʋ' => "v",
        'Ƴ' | 'Ɏ' => "Y",
        'ƴ' | 'ɏ' => "y",
        'Ƶ' | 'Ȥ' => "Z",
        'ƶ' | 'ȥ' => "z",
        '«' | '»' | '“' | '”' | '„' | '″' | '‶' | '❝' | '❞' => "\"",
        '‘' | '’' | '‚' | '‛' | '′' | '‵' | '‹' | '›' | '❛' | '❜' => "'",
        '‐' | '‑' | '‒' | '–' | '—' | '⁻' => "-",
        '⁅' => "[",
        '⁆' => "]",
        '⁎' => "*",
        '⁄' => "/",
        '⁏' => ";",
        '⁒' => "%",
        '‸' => "^",
        '⁓' => "~",
        '⁇' => "??",
        '⁈' => "?!",
        '⁉' => "!?",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn folded(fold: TextFold, text: &str) -> String {
        String::from_utf8(fold.apply(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn each_step_folds_what_it_says_and_no_more() {
        let none = TextFold::default();
        let lower = TextFold { lower_case: true, ..none };
        let normal = TextFold { normalize: true, ..none };
        let ascii = TextFold { ascii: true, ..none };
        assert_eq!(folded(none, "É"), "É");
        assert_eq!(folded(lower, "ÉCOLE Σ"), "école σ");
        assert_eq!(folded(normal, "e\u{301}"), "é");
        // As Cassandra 5.0.9 answers.
        assert_eq!(
            folded(ascii, "Æsir Øre łódź Þor ñandú ﬁre “q” – ½ ① Ａ"),
            "AEsir Ore lodz THor nandu fire \"q\" - ½ 1 A"
        );
        assert_eq!(folded(ascii, "ĳ ŉ đ Ŋ ʼn ẞ ß"), "ij n d N ʼn SS ss");
        assert_eq!(folded(ascii, "άλφα"), "άλφα");
        assert_eq!(folded(TextFold { lower_case: true, ..ascii }, "STRAẞE"), "strasse");
        assert_eq!(lower.apply(b"\xff").as_ref(), b"\xff", "no text");
    }
}

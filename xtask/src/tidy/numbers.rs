//! Numbers in documents that stand for constants of the code: `2,048<!--POOL_QUEUE_MAX-->`.
//!
//! A document says a number as people read it, with a comment behind it that names the constant; of
//! constants that share a name, with the crate before it (`shelfmark-server:POOL_QUEUE_MAX`). Units
//! that stand between the two count: `16 MiB<!--…-->`, `75 seconds<!--…-->`.
//!
//! What it is not: an interpreter. Integers, products, sums, shifts, durations and other constants are
//! read; what else a constant is made of is a problem that is told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{has_extension, read};

/// Deepest chain of constants that are made of each other.
const DEPTH_MAX: usize = 8;

/// Units, and how many of the unit of a constant they are: bytes, or milliseconds.
const UNITS: [(&str, u128); 12] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("milliseconds", 1),
    ("ms", 1),
    ("seconds", 1_000),
    ("second", 1_000),
    ("minutes", 60_000),
    ("minute", 60_000),
    ("hours", 3_600_000),
    ("hour", 3_600_000),
    ("bytes", 1),
];

/// The constants of the product: by name, the crates that have one, and how it is written.
type Constants = BTreeMap<String, Vec<(String, String)>>;

pub(super) fn check(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let constants = constants(files)?;
    let mut problems = Vec::new();
    for path in files.iter().filter(|path| has_extension(path, "md")) {
        let text = read(path)?;
        for (number, line) in (1..).zip(text.lines()) {
            let told = |why| format!("{}:{number}: {why}", path.display());
            problems.extend(marked(line).filter_map(|own| own.problem(&constants)).map(told));
        }
    }
    Ok(problems)
}

/// A number of a document, and the constant that it stands for.
#[derive(Debug, PartialEq, Eq)]
struct Marked<'l> {
    before: &'l str,
    constant: &'l str,
}

/// Returns the marked numbers of a line: what stands before each comment that names a constant.
fn marked(line: &str) -> impl Iterator<Item = Marked<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            let (before, behind) = rest.split_once("<!--")?;
            let (constant, after) = behind.split_once("-->")?;
            rest = after;
            let name = constant.rsplit(':').next().unwrap_or_default();
            let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            if !name.is_empty() && name.chars().all(is_name) {
                return Some(Marked { before, constant });
            }
        }
    })
}

impl Marked<'_> {
    fn problem(&self, constants: &Constants) -> Option<String> {
        let stated = match stated(self.before) {
            Some(stated) => stated,
            None => return Some(format!("no number stands before {}", self.constant)),
        };
        match value(self.constant, constants, 0) {
            Err(why) => Some(why),
            Ok(own) if own.is_said_by(stated) => None,
            Ok(own) => Some(format!("{} is {} and not what is said", self.constant, own.number)),
        }
    }
}

/// Returns the number at the end of a text, and its unit if it has one.
fn stated(text: &str) -> Option<(u128, Option<&'static (&'static str, u128)>)> {
    let unit = UNITS.iter().find(|(unit, _)| text.ends_with(&format!(" {unit}")));
    let text = unit.map_or(text, |(unit, _)| text.strip_suffix(unit).unwrap_or(text).trim_end());
    let is_part = |c: char| c.is_ascii_digit() || c == ',';
    let from = text
        .rfind(|c| !is_part(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    let number = text[from..].replace(',', "").parse().ok()?;
    Some((number, unit))
}

/// The value of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    number: u128,
    /// It is a duration, in milliseconds.
    is_time: bool,
}

impl Known {
    fn is_said_by(self, (number, unit): (u128, Option<&(&str, u128)>)) -> bool {
        let times = unit.map_or(1, |(_, times)| *times);
        let is_time =
            unit.is_some_and(|(name, _)| !matches!(*name, "KiB" | "MiB" | "GiB" | "bytes"));
        match (self.is_time, is_time) {
            // A number of seconds that is said with a unit of time.
            (false, true) => self.number * 1_000 == number * times,
            // A duration that is said without: in seconds.
            (true, false) => self.number == number * 1_000,
            _ => self.number == number * times,
        }
    }
}

/// Finds all constants, `const NAME: type = …;` on as many lines as it takes.
fn constants(files: &[PathBuf]) -> anyhow::Result<Constants> {
    let mut found = Constants::new();
    let is_product = |path: &&PathBuf| {
        has_extension(path, "rs") && path.components().any(|own| own.as_os_str() == "src")
    };
    for path in files.iter().filter(is_product) {
        let crate_name = crate_of(path);
        let text = read(path)?;
        for part in text.split("const ").skip(1) {
            let Some((head, rest)) = part.split_once('=') else { continue };
            let Some((name, _)) = head.split_once(':') else { continue };
            let Some((value, _)) = rest.split_once(';') else { continue };
            let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            if !name.is_empty() && name.chars().all(is_name) {
                let own = (crate_name.clone(), value.trim().to_owned());
                found.entry(name.to_owned()).or_default().push(own);
            }
        }
    }
    Ok(found)
}

fn crate_of(path: &Path) -> String {
    let mut parts = path.components().map(|own| own.as_os_str().to_string_lossy());
    match (parts.next(), parts.next()) {
        (Some(folder), Some(name)) if folder == "crates" => name.into_owned(),
        (Some(folder), _) => folder.into_owned(),
        _ => String::new(),
    }
}

/// Returns the value of a constant; one of the name in each crate has to have the same.
fn value(constant: &str, constants: &Constants, depth: usize) -> Result<Known, String> {
    if depth > DEPTH_MAX {
        return Err(format!("{constant} is made of too many others"));
    }
    let (of, name) = match constant.split_once(':') {
        Some((of, name)) => (Some(of), name),
        None => (None, constant),
    };
    let all = constants.get(name).map(Vec::as_slice).unwrap_or_default();
    let mut values = all
        .iter()
        .filter(|(own, _)| of.is_none_or(|of| of == own))
        .map(|(_, text)| evaluated(text, constants, depth));
    let first = values.next().ok_or_else(|| format!("there is no constant {constant}"))??;
    match values.all(|other| other == Ok(first)) {
        true => Ok(first),
        false => Err(format!("several constants are called {constant}; write CRATE:{name}")),
    }
}

/// Evaluates the text of a constant.
fn evaluated(text: &str, constants: &Constants, depth: usize) -> Result<Known, String> {
    let mut parser = Parser { rest: text, constants, depth };
    let known = parser.sum()?;
    match parser.rest.trim().is_empty() {
        true => Ok(known),
        false => Err(format!("what `{text}` comes to is not read here")),
    }
}

struct Parser<'t> {
    rest: &'t str,
    constants: &'t Constants,
    depth: usize,
}

impl Parser<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        match self.rest.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Reads sums, differences and shifts, from left to right.
    fn sum(&mut self) -> Result<Known, String> {
        let mut left = self.product()?;
        loop {
            let is_sum = self.takes("+");
            let is_difference = !is_sum && self.takes("-");
            let is_shift = !is_sum && !is_difference && self.takes("<<");
            if !is_sum && !is_difference && !is_shift {
                return Ok(left);
            }
            let right = self.product()?.number;
            let bits = u32::try_from(right).ok();
            let number = match (is_sum, is_difference) {
                (true, _) => left.number.checked_add(right),
                (_, true) => left.number.checked_sub(right),
                _ => bits.and_then(|bits| left.number.checked_shl(bits)),
            };
            left.number = number.ok_or("a constant is too large")?;
        }
    }

    fn product(&mut self) -> Result<Known, String> {
        let mut left = self.one()?;
        while self.takes("*") {
            let right = self.one()?.number;
            left.number = left.number.checked_mul(right).ok_or("a constant is too large")?;
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Known, String> {
        if self.takes("(") {
            let inner = self.sum()?;
            return if self.takes(")") { Ok(inner) } else { Err("a bracket is open".to_owned()) };
        }
        let text = self.rest.trim_start();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        let times = match word.strip_prefix("Duration::from_") {
            Some("millis") => Some(1),
            Some("secs") => Some(1_000),
            Some("mins") => Some(60_000),
            Some("hours") => Some(3_600_000),
            _ => None,
        };
        if let Some(times) = times {
            let number = self.one()?.number * times;
            return Ok(Known { number, is_time: true });
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = word.replace('_', "").parse();
            let number = number.map_err(|_| format!("{word} is no number that is read here"))?;
            return Ok(Known { number, is_time: false });
        }
        let name = word.rsplit(':').next().unwrap_or_default();
        value(name, self.constants, self.depth + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(line: &str) -> Option<String> {
        let own = |name: &str, of: &str, text: &str| {
            (name.to_owned(), vec![(of.to_owned(), text.to_owned())])
        };
        let mut constants = Constants::from([
            own("QUEUE_MAX", "a", "2_048"),
            own("BYTES_MAX", "a", "16 * 1024 * 1024"),
            own("ANSWER_MAX", "a", "(1 << 31) - (1 << 20)"),
            own("IDLE_TIME", "a", "Duration::from_secs(75)"),
            own("TOKEN_SECONDS", "a", "600"),
            own("HALF", "a", "limits::QUEUE_MAX * 2"),
            own("OTHER", "a", "f(1)"),
            own("TWICE", "a", "1"),
        ]);
        constants.get_mut("TWICE").unwrap().push(("b".to_owned(), "2".to_owned()));
        marked(line).find_map(|own| own.problem(&constants))
    }

    #[test]
    fn a_number_is_the_constant_behind_it_and_its_neighbour_is_not() {
        for line in [
            "at most 2,048<!--QUEUE_MAX--> requests",
            "16 MiB<!--BYTES_MAX--> and 2048<!--QUEUE_MAX-->",
            "(4,096<!--HALF-->)",
            "after 75 seconds<!--IDLE_TIME-->, for 10 minutes<!--TOKEN_SECONDS-->",
            "2,146,435,072<!--ANSWER_MAX-->",
            "2<!--b:TWICE--> of 1<!--a:TWICE-->",
            "a comment <!-- of another kind --> is none",
        ] {
            assert_eq!(problem(line), None, "{line}");
        }
        for (line, why) in [
            ("at most 2,047<!--QUEUE_MAX-->", "is 2048"),
            ("15 MiB<!--BYTES_MAX-->", "is 16777216"),
            ("76 seconds<!--IDLE_TIME-->", "is 75000"),
            ("9 minutes<!--TOKEN_SECONDS-->", "is 600"),
            ("many<!--QUEUE_MAX-->", "no number stands before"),
            ("1<!--MISSING-->", "there is no constant MISSING"),
            ("1<!--TWICE-->", "several constants"),
            ("1<!--OTHER-->", "there is no constant f"),
        ] {
            assert!(
                problem(line).is_some_and(|own| own.contains(why)),
                "{line}: {:?}",
                problem(line)
            );
        }
    }
}

//! The mutants that do what the original does, each with the reason: nobody can notice them.

use anyhow::{Context as _, bail};

use crate::mutants::area::Area;
use crate::run::root;

const FILE: &str = "xtask/src/mutants/equivalent.txt";

/// The entries of the file: names without line and column, which move.
pub(crate) struct Equivalents(Vec<String>);

impl Equivalents {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// A line without a reason.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(root().join(FILE)).context(FILE)?;
        Self::parse(&text)
    }

    /// Parses one mutant a line, then ` # ` and the reason; lines that begin with `#` are comments.
    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut names = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once(" # ") {
                Some((name, reason)) if !reason.trim().is_empty() => {
                    names.push(name.trim().to_owned());
                }
                _ => bail!("{FILE}: no reason (` # …`) in: {line}"),
            }
        }
        Ok(Self(names))
    }

    /// Tells whether the mutant of this name, with line and column, stands there.
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.0.contains(&without_place(name))
    }

    /// Returns the entries of an area's crate and files that are no mutants any more.
    pub(crate) fn stale<'a>(
        &'a self,
        area: &'a Area,
        listed: &[String],
    ) -> impl Iterator<Item = &'a str> {
        let known: Vec<String> = listed.iter().map(|name| without_place(name)).collect();
        let own = self.0.iter().filter(|name| area.is_of_crate(name));
        own.filter(move |name| !known.contains(name)).map(String::as_str)
    }
}

/// Returns `file:line:column: what` without line and column.
fn without_place(name: &str) -> String {
    let mut parts = name.splitn(4, ':');
    let (Some(file), Some(_), Some(_), Some(what)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return name.to_owned();
    };
    format!("{file}:{what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_has_a_reason() {
        Equivalents::read().unwrap();
        assert!(Equivalents::parse("a.rs: replace f with ()").is_err());
        assert!(Equivalents::parse("a.rs: replace f with () # ").is_err());
    }

    #[test]
    fn names_are_found_wherever_the_line_went() {
        let own =
            Equivalents::parse("# note\n\na.rs: replace + with * in f # both are 4\n").unwrap();
        assert!(own.holds("a.rs:12:7: replace + with * in f"));
        assert!(!own.holds("a.rs:12:7: replace + with - in f"));
        assert!(!own.holds("b.rs:12:7: replace + with * in f"));
    }
}

//! Completes CQL at the prompt, and decides when a statement is complete.
//!
//! Keywords come from the grammar, names from the schema as it was read last.

use std::collections::BTreeMap;

use shelfmark_cql_syntax::{complete, quoted_name};

use super::pieces::{commands, is_command, pieces};
use crate::prompt::Language;

/// The names of a schema.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The keyspace in use.
    pub(super) keyspace: Option<String>,
    /// Keyspaces, their tables, views and types, and the columns of these.
    pub(super) keyspaces: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// CQL at a prompt.
#[derive(Debug, Default)]
pub(super) struct Cql {
    pub(super) names: Names,
}

impl Language for Cql {
    fn is_whole(&self, text: &str) -> bool {
        pieces(text).1
    }

    fn complete(&self, text: &str) -> (usize, Vec<String>) {
        let (found, whole) = pieces(text);
        let open = found.last().filter(|piece| !whole || piece.command && !text.ends_with('\n'));
        let (base, text) = open.map_or((text.len(), ""), |piece| {
            (piece.start, text.get(piece.start..).unwrap_or_default())
        });
        if is_command(text) {
            let (start, candidates) = self.command(text);
            return (base + start, candidates);
        }
        let mut next = complete(text);
        let begun = text.get(next.start..).unwrap_or_default();
        let lower = begun.chars().any(|c| c.is_ascii_lowercase());
        let head = text.get(..next.start).unwrap_or_default();
        let mut candidates = Vec::new();
        if let Some(before) = head.strip_suffix('.') {
            candidates.extend(self.of_keyspace(last_name(before)));
        } else if next.name {
            candidates.extend(self.names(text));
        }
        // The system's own are looked for rarely.
        candidates.retain(|name| {
            name.starts_with(begun) && !(begun.is_empty() && name.starts_with("system"))
        });
        candidates.sort();
        candidates.dedup();
        if head.trim().is_empty() {
            next.keywords.extend(commands().iter().map(|word| (*word).to_owned()));
            next.keywords.retain(|word| {
                word.get(..begun.len()).is_some_and(|part| part.eq_ignore_ascii_case(begun))
            });
            next.keywords.sort();
            next.keywords.dedup();
        }
        let keyword = |word: String| if lower { word.to_ascii_lowercase() } else { word };
        candidates.extend(next.keywords.into_iter().map(keyword));
        // What stands in the place of a whole word is followed by the next one.
        if let [only] = candidates.as_mut_slice()
            && !only.ends_with('.')
        {
            only.push(' ');
        }
        (base + next.start, candidates)
    }
}

impl Cql {
    /// Returns completions for the end of a command of the shell.
    fn command(&self, text: &str) -> (usize, Vec<String>) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '"');
        let start = text.trim_end_matches(is_name).len();
        let begun = text.get(start..).unwrap_or_default();
        let head = text.get(..start).unwrap_or_default();
        let mut words = head.split_whitespace();
        let first = words.next().unwrap_or_default().to_ascii_uppercase();
        let keywords: &[&str] = match first.as_str() {
            "" => commands(),
            "CONSISTENCY" | "SERIAL" => &super::special::LEVELS,
            "EXPAND" | "PAGING" | "TRACING" => &["OFF", "ON"],
            "SHOW" => &["HOST", "SESSION", "VERSION"],
            "DESC" | "DESCRIBE" if words.next().is_none() => &[
                "CLUSTER",
                "FULL",
                "INDEX",
                "KEYSPACE",
                "KEYSPACES",
                "MATERIALIZED",
                "SCHEMA",
                "TABLE",
                "TABLES",
                "TYPE",
                "TYPES",
            ],
            _ => &[],
        };
        let fits = |word: &&str| {
            word.get(..begun.len()).is_some_and(|part| part.eq_ignore_ascii_case(begun))
        };
        let mut candidates: Vec<String> =
            keywords.iter().filter(|word| fits(word)).map(|word| (*word).to_owned()).collect();
        if first.starts_with("DESC") {
            let names = match head.strip_suffix('.') {
                Some(before) => self.of_keyspace(last_name(before)),
                None => self.names(""),
            };
            candidates.extend(names.into_iter().filter(|name| name.starts_with(begun)));
        }
        (start, candidates)
    }

    fn of_keyspace(&self, keyspace: &str) -> Vec<String> {
        let keyspace = keyspace.trim_matches('"');
        let tables = self.names.keyspaces.get(keyspace);
        tables.into_iter().flat_map(|tables| tables.keys()).map(|name| quoted(name)).collect()
    }

    /// Returns keyspaces, the tables of the one in use, and the columns of those that a statement
    /// names.
    fn names(&self, statement: &str) -> Vec<String> {
        let keyspaces = self.names.keyspaces.keys().map(|name| format!("{}.", quoted_name(name)));
        let mut names: Vec<String> = keyspaces.collect();
        if let Some(keyspace) = &self.names.keyspace {
            names.extend(self.of_keyspace(keyspace));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for word in statement.split(|c| !is_name(c)).filter(|word| !word.is_empty()) {
            for tables in self.names.keyspaces.values() {
                let found = tables.iter().filter(|(name, _)| name.eq_ignore_ascii_case(word));
                names.extend(found.flat_map(|(_, columns)| columns).map(|name| quoted(name)));
            }
        }
        names
    }
}

fn quoted(name: &str) -> String {
    quoted_name(name).into_owned()
}

/// Returns the name at the end of a text.
fn last_name(text: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '"');
    text.get(text.trim_end_matches(is_name).len()..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cql() -> Cql {
        let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let tables = BTreeMap::from([
            ("posts".to_owned(), columns(&["author", "posted", "Title"])),
            ("people".to_owned(), columns(&["name"])),
        ]);
        let keyspaces = BTreeMap::from([("blog".to_owned(), tables)]);
        Cql { names: Names { keyspace: Some("blog".to_owned()), keyspaces } }
    }

    #[track_caller]
    fn check(text: &str, start: usize, expected: &[&str]) {
        assert_eq!(
            cql().complete(text),
            (start, expected.iter().map(|&word| word.to_owned()).collect()),
            "{text}"
        );
    }

    #[test]
    fn names_and_keywords_complete_what_was_begun() {
        check("SELECT * FROM po", 14, &["posts "]);
        check("select * from posts wh", 20, &["where "]);
        check("SELECT * FROM blog.p", 19, &["people", "posts"]);
        check("SELECT * FROM posts WHERE po", 26, &["posted", "posts"]);
        check("SELECT 'po", 8, &[]);
        check("USE blog; SELECT * FROM pe", 24, &["people "]);
    }

    #[test]
    fn commands_of_the_shell_complete_too() {
        check("ex", 0, &["exit", "expand"]);
        check("CONSISTENCY LOCAL_Q", 12, &["LOCAL_QUORUM"]);
        check("desc po", 5, &["posts"]);
        check("DESCRIBE TABLE blog.pe", 20, &["people"]);
    }

    #[test]
    fn a_statement_is_whole_with_its_semicolon() {
        for (text, whole) in [
            ("", true),
            ("SELECT 1", false),
            ("SELECT ';", false),
            ("SELECT 1;", true),
            ("help", true),
            ("BEGIN BATCH DELETE FROM t WHERE a = 1;", false),
        ] {
            assert_eq!(cql().is_whole(text), whole, "{text}");
        }
    }
}

//! Templates of key texts, `USER#<id>`, and the form that a text has by them.
//!
//! Invariant: a form holds text of the model alone; where the text has a value, it has `*`.

use shelfmark_design_language::model::schema::Part;

/// A character that stands for a value in a text of the model's own requests.
pub(crate) const HOLE: char = '\u{1}';

/// The fixed texts of a template around its values: one more than there are values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Template(Vec<String>);

impl Template {
    /// Returns the template of a key column. Values that touch are one.
    pub(crate) fn of(parts: &[Part]) -> Self {
        let mut fixed = vec![String::new()];
        let mut touches = false;
        for part in parts {
            match part {
                Part::Literal(text) => {
                    if let Some(last) = fixed.last_mut() {
                        last.push_str(text);
                    }
                    touches = touches && text.is_empty();
                }
                Part::Hole { .. } if touches => {}
                Part::Hole { .. } => {
                    fixed.push(String::new());
                    touches = true;
                }
                Part::End => {}
            }
        }
        Self(fixed)
    }

    /// Returns true if the text can be one of this template.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let (Some((first, rest)), Some(last)) = (self.0.split_first(), self.0.last()) else {
            return false;
        };
        if rest.is_empty() {
            return text == first;
        }
        let Some(mut open) =
            text.strip_prefix(first.as_str()).and_then(|own| own.strip_suffix(last.as_str()))
        else {
            return false;
        };
        let between = rest.get(..rest.len() - 1).unwrap_or_default();
        between.iter().all(|fixed| match open.split_once(fixed.as_str()) {
            Some((_, behind)) => {
                open = behind;
                true
            }
            None => false,
        })
    }

    /// Returns the form: the fixed texts with `*` between them.
    pub(crate) fn form(&self) -> String {
        self.0.join("*")
    }

    /// Returns the form of texts of this template that begin with a text, if some do: as much of the
    /// first fixed text as it has.
    pub(crate) fn begun(&self, text: &str) -> Option<String> {
        let first = self.0.first()?;
        if text.starts_with(first.as_str()) {
            return Some(format!("{first}…"));
        }
        first.starts_with(text).then(|| format!("{text}…"))
    }

    /// Returns the number of fixed characters: the more, the more specific.
    pub(crate) fn weight(&self) -> usize {
        self.0.iter().map(String::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(fixed: &[&str]) -> Template {
        Template(fixed.iter().map(|own| (*own).to_owned()).collect())
    }

    #[test]
    fn texts_match_around_their_values() {
        let user = template(&["USER#", ""]);
        assert!(user.matches("USER#7") && user.matches("USER#") && !user.matches("GAME#7"));
        let line = template(&["ORDER#", "#LINE#", ""]);
        assert!(line.matches("ORDER#1#LINE#2") && !line.matches("ORDER#1"));
        let ends = template(&["", "#END"]);
        assert!(ends.matches("x#END") && !ends.matches("#EN") && !ends.matches("x#END."));
        let fixed = template(&["A"]);
        assert!(fixed.matches("A") && !fixed.matches("AB"));
        assert_eq!((line.form().as_str(), fixed.form().as_str()), ("ORDER#*#LINE#*", "A"));
    }

    #[test]
    fn beginnings_tell_no_value() {
        let user = template(&["USER#", ""]);
        assert_eq!(user.begun("USER#anna").as_deref(), Some("USER#…"));
        assert_eq!(user.begun("US").as_deref(), Some("US…"));
        assert_eq!(user.begun("GAME#"), None);
        assert_eq!(template(&["", ""]).begun("2026-11").as_deref(), Some("…"));
    }
}

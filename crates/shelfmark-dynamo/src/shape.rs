//! Validates the shape of a request: required members, lengths, ranges, enumerations.
//!
//! The service model's constraints are checked together before anything else about a request, and
//! up to ten of their violations are reported in one message.

use crate::errors::{Error, Result, texts};
use crate::limits::{
    NAME_CHARS_MAX, NAME_CHARS_MIN, SHAPE_PROBLEMS_MAX, SHARD_ID_CHARS_MAX, SHARD_ID_CHARS_MIN,
    TABLE_ARN_CHARS_MAX,
};

/// The values of `ReturnConsumedCapacity`.
pub(crate) const CAPACITIES: &[&str] = &["INDEXES", "TOTAL", "NONE"];

/// The values of `ReturnValues`.
const RETURN_VALUES: &[&str] = &["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"];

/// Collects the problems of a request's shape.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    problems: Vec<String>,
    /// The service's older layer looks at the request: it shows every value.
    is_older: bool,
}

impl Shape {
    /// Creates the shape of a request that the service's older layer looks at.
    pub(crate) fn older() -> Self {
        Self { problems: Vec::new(), is_older: true }
    }

    fn refuse(&mut self, path: &str, constraint: &str) {
        self.add(|| texts::constraint(path, constraint));
    }

    /// Refuses a value in the words that show it, which most constraints still have.
    fn refuse_value(&mut self, path: &str, value: &str, constraint: &str) {
        self.add(|| texts::constraint_of_value(path, value, constraint));
    }

    fn add(&mut self, problem: impl FnOnce() -> String) {
        if self.problems.len() < SHAPE_PROBLEMS_MAX {
            self.problems.push(problem());
        }
    }

    /// Requires a member.
    pub(crate) fn required(&mut self, path: &str, present: bool) {
        if !present {
            self.add(|| texts::constraint_of_nothing(path));
        }
    }

    /// Requires that a member, if it is present, is one of these values.
    pub(crate) fn one_of(&mut self, path: &str, value: Option<&str>, values: &[&str]) {
        if let Some(value) = value.filter(|value| !values.contains(value)) {
            self.refuse_value(path, value, &texts::one_of(values));
        }
    }

    /// Checks `ReturnValues`, whose words the service has for itself, a misspelling among them.
    pub(crate) fn return_values(&mut self, value: Option<&str>) {
        if self.is_older {
            self.one_of("ReturnValues", value, RETURN_VALUES);
        } else if value.is_some_and(|value| !RETURN_VALUES.contains(&value)) {
            self.add(|| texts::RETURN_VALUES_UNKNOWN.to_owned());
        }
    }

    /// Checks `ConditionalOperator`, whose words the service has for itself, too.
    pub(crate) fn conditional_operator(&mut self, path: &str, value: Option<&str>) {
        let values = &["OR", "AND"];
        if self.is_older {
            self.one_of(path, value, values);
        } else if value.is_some_and(|value| !values.contains(&value)) {
            self.add(|| texts::CONDITIONAL_OPERATOR_UNKNOWN.to_owned());
        }
    }

    /// Returns true if there are no problems.
    pub(crate) fn is_fine(&self) -> bool {
        self.problems.is_empty()
    }

    /// Requires that a number, if it is present, lies in a range.
    pub(crate) fn range(&mut self, path: &str, value: Option<i64>, least: i64, most: Option<i64>) {
        let Some(value) = value else { return };
        let constraint = match most {
            _ if value < least => texts::value_at_least(least),
            Some(most) if value > most => texts::value_at_most(most),
            _ => return,
        };
        match self.is_older {
            true => self.refuse_value(path, &value.to_string(), &constraint),
            false => self.refuse(path, &constraint),
        }
    }

    /// Requires that a number, if it is present, is large enough; the message shows it.
    pub(crate) fn shown_least(&mut self, path: &str, value: Option<i64>, least: i64) {
        if let Some(value) = value.filter(|value| *value < least) {
            self.refuse_value(path, &value.to_string(), &texts::value_at_least(least));
        }
    }

    /// Requires a text with a number of characters in a range. One that is empty is not shown.
    pub(crate) fn text(&mut self, path: &str, text: &str, least: usize, most: usize) {
        let length = text.chars().count();
        if length < least && least == 1 && !self.is_older {
            self.refuse(path, &texts::length_at_least(least));
        } else if length < least {
            self.refuse_value(path, text, &texts::length_at_least(least));
        }
        if length > most {
            self.refuse_value(path, text, &texts::length_at_most(most));
        }
    }

    /// Refuses a text that does not have the form that the service model asks for.
    pub(crate) fn pattern(&mut self, path: &str, text: &str, pattern: &str) {
        self.refuse_value(path, text, pattern);
    }

    /// Refuses a list that is too long, and shows it.
    pub(crate) fn shown(&mut self, path: &str, list: &str, most: usize) {
        self.refuse_value(path, list, &texts::length_at_most(most));
    }

    /// Requires a length in a range, of a list or a map, which is not shown.
    pub(crate) fn length(&mut self, path: &str, length: usize, least: usize, most: usize) {
        if length < least {
            self.refuse(path, &texts::length_at_least(least));
        }
        if length > most {
            self.refuse(path, &texts::length_at_most(most));
        }
    }

    /// Checks the name of a table that must be given and may be an ARN.
    pub(crate) fn table(&mut self, path: &str, name: Option<&str>) {
        self.required(path, name.is_some());
        let Some(name) = name else { return };
        if name.starts_with("arn:") {
            self.text(path, name, 1, TABLE_ARN_CHARS_MAX);
            return;
        }
        self.text(path, name, 1, NAME_CHARS_MAX);
        if !name.is_empty() && !is_name(name) {
            self.refuse_value(path, name, texts::NAME_PATTERN);
        }
    }

    /// Checks the names of tables that are the keys of a map: names or ARNs, all of them together. `shown`
    /// shows the map.
    pub(crate) fn table_keys<'n>(
        &mut self,
        path: &str,
        mut names: impl Iterator<Item = &'n String>,
        shown: impl FnOnce() -> String,
    ) {
        let fits = |name: &String| {
            let is_short = name.chars().count() <= TABLE_ARN_CHARS_MAX;
            is_short && (name.starts_with("arn:") || is_name(name))
        };
        if !names.all(fits) {
            self.add(|| texts::map_keys(path, &shown()));
        }
    }

    /// Refuses values of a map that are empty or too long lists, and shows the map.
    pub(crate) fn map_values(&mut self, path: &str, shown: &str, most: usize) {
        self.add(|| texts::map_values(path, shown, most));
    }

    /// Checks the id of a shard, if it is present.
    pub(crate) fn shard_id(&mut self, path: &str, id: Option<&str>) {
        if let Some(id) = id {
            self.text(path, id, SHARD_ID_CHARS_MIN, SHARD_ID_CHARS_MAX);
        }
    }

    /// Checks the name of an index, or of a table that is to be created.
    pub(crate) fn new_name(&mut self, path: &str, name: Option<&str>) {
        let Some(name) = name else { return };
        if !is_name(name) {
            self.refuse_value(path, name, texts::NAME_PATTERN);
        }
        self.text(path, name, NAME_CHARS_MIN, NAME_CHARS_MAX);
    }

    /// Checks the name of an index in the words of SearchVectors, which do not show it.
    pub(crate) fn index_name(&mut self, path: &str, name: Option<&str>) {
        let Some(name) = name else { return };
        if !is_name(name) {
            self.refuse(path, texts::NAME_PATTERN);
        }
        self.length(path, name.chars().count(), NAME_CHARS_MIN, NAME_CHARS_MAX);
    }

    /// Refuses the request if there are problems.
    pub(crate) fn check(self) -> Result<()> {
        if self.problems.is_empty() {
            return Ok(());
        }
        Err(Error::validation(texts::envelope_all(&self.problems)))
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fill: impl FnOnce(&mut Shape), expected: &str) {
        let mut shape = Shape::default();
        fill(&mut shape);
        let found = shape.check().err().map(|error| error.message).unwrap_or_default();
        assert_eq!(found, expected);
    }

    #[test]
    fn problems_are_reported_together() {
        check(|shape| shape.table("TableName", Some("Music")), "");
        check(
            |shape| shape.table("TableName", None),
            "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: \
             Member must not be null",
        );
        check(
            |shape| {
                shape.table("TableName", Some("no/table"));
                shape.range("Limit", Some(0), 1, None);
            },
            "2 validation errors detected: Value 'no/table' at 'tableName' failed to satisfy constraint: \
             Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value at 'Limit' \
             failed to satisfy constraint: Member must have value greater than or equal to 1",
        );
    }

    #[test]
    fn no_more_than_ten_problems_are_listed() {
        let mut shape = Shape::default();
        for _ in 0..50 {
            shape.required("TableName", false);
        }
        let message = shape.check().unwrap_err().message;
        assert!(message.starts_with("10 validation errors"), "{message}");
    }
}

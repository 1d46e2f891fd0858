//! Parses the options behind `WITH` in CQL, which are kept as comments, because a model has no
//! words for them.

use shelfmark_cql_syntax::ast::{CreateIndex, Property, PropertyValue, TableOptions};

use crate::names::comment;

/// The options of a table or a view.
#[derive(Default)]
pub(crate) struct Options {
    /// The `comment`.
    comment: Option<String>,
    /// `default_time_to_live`, when rows have one.
    pub(super) lives: Option<String>,
    others: Vec<String>,
}

impl Options {
    pub(super) fn of(options: &TableOptions) -> Self {
        let mut found = Self::default();
        found.change(&options.properties);
        if options.compact_storage {
            found.other("compact storage");
        }
        found
    }

    /// Applies `ALTER TABLE … WITH`: a repeated option replaces the earlier one.
    pub(super) fn change(&mut self, properties: &[Property]) {
        for property in properties {
            self.property(property);
        }
    }

    fn property(&mut self, property: &Property) {
        let name = property.name.as_str();
        let value = match &property.value {
            PropertyValue::Literal(literal) => comment(&literal.text),
            PropertyValue::Word(word) => comment(word),
            PropertyValue::Map(_) => String::new(),
        };
        match name {
            "comment" => self.comment = Some(value).filter(|text| !text.is_empty()),
            "default_time_to_live" => self.lives = Some(value).filter(|text| text != "0"),
            "id" => {}
            _ => self.other(name),
        }
    }

    fn other(&mut self, name: &str) {
        let name = comment(name);
        if !self.others.contains(&name) {
            self.others.push(name);
        }
    }

    /// Returns the text of the comment, such as the query that the table is for.
    pub(super) fn says(&self) -> Option<&str> {
        self.comment.as_deref()
    }

    /// Returns one line per option.
    pub(super) fn remarks(&self) -> Vec<String> {
        let said = self.comment.as_ref().map(|text| format!("its comment in CQL: {text}"));
        let others = (!self.others.is_empty())
            .then(|| format!("options of CQL that are not kept: {}", self.others.join(", ")));
        said.into_iter().chain(others).collect()
    }
}

/// Returns the method by which an index finds its rows, where the statement names more than its
/// column, and true if options change it: texts may be folded or taken apart.
pub(super) fn method(create: &CreateIndex) -> (Option<String>, bool) {
    let class = create.using.as_ref().map(|class| format!("USING {}", comment(class)));
    let mut options: Vec<String> = Vec::new();
    for property in &create.properties {
        match &property.value {
            PropertyValue::Map(entries) => {
                options.extend(
                    entries.iter().map(|(key, value)| format!("{} = {}", key.text, value.text)),
                );
            }
            _ => options.push(property.name.as_str().to_owned()),
        }
    }
    if options.is_empty() {
        return (class, false);
    }
    let class = class.map(|class| format!("{class} ")).unwrap_or_default();
    (Some(format!("{class}WITH {}", comment(&options.join(", ")))), true)
}

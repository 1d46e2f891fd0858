//! The form of the scripts: see `clients/cassandra/script.py`, which writes them.

/// One line that asks for something.
pub(super) enum Line {
    Step(Step),
    /// What follows is sent by this role.
    User(String, String),
    /// Cassandra needs time here.
    Wait,
}

/// A statement, how it is sent, and what is expected.
pub(super) struct Step {
    /// As it stands in the script.
    pub(super) head: String,
    pub(super) statement: String,
    /// Values to bind: the statement is prepared.
    pub(super) words: Option<Vec<String>>,
    /// Rows of a page.
    pub(super) page: Option<i32>,
    /// The values are different each time.
    pub(super) is_hidden: bool,
    pub(super) wanted: Vec<String>,
}

impl Step {
    fn new(head: &str) -> Self {
        let (form, text) = head[1..].split_once(' ').expect("a form and a statement");
        let mut step = Self {
            head: head.to_owned(),
            statement: text.to_owned(),
            words: None,
            page: form.parse().ok(),
            is_hidden: form == "*",
            wanted: Vec::new(),
        };
        if form == "?" {
            let (statement, values) = text.split_once(" <- ").unwrap_or((text, ""));
            let words = values.split(',').map(|word| word.trim().to_owned());
            step.words = Some(if values.is_empty() { Vec::new() } else { words.collect() });
            statement.clone_into(&mut step.statement);
        }
        step
    }
}

/// Reads a script. Where Shelfmark answers something else on purpose, that is what is wanted.
pub(super) fn read(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let last = match lines.last_mut() {
            Some(Line::Step(step)) => Some(step),
            _ => None,
        };
        match (line.as_bytes().first(), last) {
            (Some(b'>'), _) => lines.push(Line::Step(Step::new(line))),
            (Some(b'@'), _) => lines.push(order(line)),
            (None | Some(b'#'), _) => {}
            (Some(b'!'), Some(step)) if line.starts_with("! reason: ") => step.wanted.clear(),
            (Some(b'!'), Some(step)) => {
                step.wanted.push(line.get(2..).unwrap_or_default().to_owned());
            }
            (Some(_), Some(step)) => step.wanted.push(line.to_owned()),
            (Some(_), None) => panic!("an answer without a statement: {line}"),
        }
    }
    lines
}

fn order(line: &str) -> Line {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["@user", name, password] => Line::User((*name).to_owned(), (*password).to_owned()),
        ["@wait", _] => Line::Wait,
        _ => panic!("no order: {line}"),
    }
}

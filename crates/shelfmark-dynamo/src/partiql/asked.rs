//! Tells whoever compares requests with a model what a statement asks for: its table, the attributes that
//! its condition binds and how, those that it changes.
//!
//! What it is not: a check of a statement. One that is told may still be refused; one that is not in the
//! grammar is told as nothing.
//!
//! Invariant: the text is parsed by the parser that answers requests, with its limits.

use super::ast::{Binary, Change, Expr, ExprKind, Source, Statement, Step};

/// The kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedKind {
    /// It reads.
    Select,
    /// It makes an item.
    Insert,
    /// It changes an item.
    Update,
    /// It removes an item.
    Delete,
    /// It is a condition of a transaction, and reads no row for anybody.
    Exists,
}

/// A value of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedValue {
    /// A text that stands there.
    Text(String),
    /// A parameter, by its position from 0.
    Parameter(usize),
    /// Something else.
    Other,
}

/// The values that an attribute may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedValues {
    /// The one value, or one of several.
    Equal(AskedValue),
    /// All that begin with it.
    Prefix(AskedValue),
    /// All between two, of which one may be absent.
    Range(Option<AskedValue>, Option<AskedValue>),
}

/// A statement as what it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedStatement {
    /// The kind.
    pub kind: AskedKind,
    /// The table.
    pub table: String,
    /// The index, if it is named.
    pub index: Option<String>,
    /// The attributes that the condition binds, all at once; of an INSERT those of its item.
    pub bound: Vec<(String, AskedValues)>,
    /// The attributes that an UPDATE changes, each once and in the order of their names.
    pub changes: Vec<String>,
    /// The first attribute of ORDER BY, and whether it goes down.
    pub order: Option<(String, bool)>,
    /// True if the condition has more than what binds attributes.
    pub filtered: bool,
}

/// Returns what a statement asks for; `None` if it is not in the grammar or no operation.
#[must_use]
pub fn asked_statement(text: &str) -> Option<AskedStatement> {
    let (statement, _) = super::parse(text).ok()?;
    let asked = |kind, source: &Source, filter: Option<&Expr>| {
        let named = source.named().ok()?;
        let mut asked = AskedStatement {
            kind,
            table: named.table,
            index: named.index,
            bound: Vec::new(),
            changes: Vec::new(),
            order: None,
            filtered: false,
        };
        if let Some(filter) = filter {
            asked.bind(filter);
        }
        Some(asked)
    };
    match &statement {
        Statement::Select(own) => {
            let mut asked = asked(AskedKind::Select, &own.source, own.filter.as_ref())?;
            let first = own.order.first();
            asked.order = first.and_then(|own| Some((attribute(&own.expr)?, own.descending)));
            Some(asked)
        }
        Statement::Exists(own) => asked(AskedKind::Exists, &own.source, own.filter.as_ref()),
        Statement::Insert(own) => {
            let mut asked = asked(AskedKind::Insert, &own.source, None)?;
            let ExprKind::Struct(fields) = &own.value.kind else { return None };
            asked.bound = fields.iter().filter_map(field).collect();
            Some(asked)
        }
        Statement::Update(own) => {
            let mut asked = asked(AskedKind::Update, &own.source, own.filter.as_ref())?;
            let changed = own.changes.iter().filter_map(|change| {
                let (Change::Set(path, _) | Change::Remove(path)) = change;
                first_name(path)
            });
            asked.changes = changed.collect();
            asked.changes.sort();
            asked.changes.dedup();
            Some(asked)
        }
        Statement::Delete(own) => asked(AskedKind::Delete, &own.source, own.filter.as_ref()),
        Statement::Other(_) => None,
    }
}

impl AskedStatement {
    /// Adds the parts of a condition that all must hold.
    fn bind(&mut self, expr: &Expr) {
        let found = match &expr.kind {
            ExprKind::And(parts) => return parts.iter().for_each(|part| self.bind(part)),
            ExprKind::Binary(operator, left, right) => compared(*operator, left, right),
            ExprKind::Between(parts) => {
                let [own, from, to] = &**parts;
                let range = AskedValues::Range(Some(value(from)), Some(value(to)));
                attribute(own).map(|name| (name, range))
            }
            ExprKind::In(own, list) => attribute(own).map(|name| {
                let first = match &list.kind {
                    ExprKind::List(values) => values.first().map(value),
                    _ => None,
                };
                (name, AskedValues::Equal(first.unwrap_or(AskedValue::Other)))
            }),
            ExprKind::Call(name, arguments) if name == "begins_with" => {
                match arguments.as_slice() {
                    [own, prefix] => {
                        attribute(own).map(|name| (name, AskedValues::Prefix(value(prefix))))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        match found {
            Some((name, values)) => self.add(name, values),
            None => self.filtered = true,
        }
    }

    /// Adds a condition on an attribute; two comparisons of one are one range.
    fn add(&mut self, name: String, values: AskedValues) {
        let open = self.bound.iter_mut().find(|(own, _)| *own == name);
        match (open, values) {
            (Some((_, AskedValues::Range(own_from, own_to))), AskedValues::Range(from, to)) => {
                *own_from = own_from.take().or(from);
                *own_to = own_to.take().or(to);
            }
            (Some(_), _) => self.filtered = true,
            (None, values) => self.bound.push((name, values)),
        }
    }
}

fn compared(operator: Binary, left: &Expr, right: &Expr) -> Option<(String, AskedValues)> {
    // The attribute may stand on either side.
    let (name, other, turned) = match (attribute(left), attribute(right)) {
        (Some(name), None) => (name, value(right), false),
        (None, Some(name)) => (name, value(left), true),
        _ => return None,
    };
    let values = match (operator, turned) {
        (Binary::Equal, _) => AskedValues::Equal(other),
        (Binary::Less | Binary::LessOrEqual, false)
        | (Binary::Greater | Binary::GreaterOrEqual, true) => AskedValues::Range(None, Some(other)),
        (Binary::Greater | Binary::GreaterOrEqual, false)
        | (Binary::Less | Binary::LessOrEqual, true) => AskedValues::Range(Some(other), None),
        _ => return None,
    };
    Some((name, values))
}

/// Returns the attribute of a path of one name.
fn attribute(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Path(path) if path.len() == 1 => first_name(path),
        _ => None,
    }
}

fn first_name(path: &[Step]) -> Option<String> {
    match path.first() {
        Some(Step::Name(name)) => Some(name.clone()),
        _ => None,
    }
}

fn field((name, own): &(Expr, Expr)) -> Option<(String, AskedValues)> {
    match &name.kind {
        ExprKind::Text(name) => Some((name.clone(), AskedValues::Equal(value(own)))),
        _ => None,
    }
}

fn value(expr: &Expr) -> AskedValue {
    match &expr.kind {
        ExprKind::Text(text) => AskedValue::Text(text.clone()),
        ExprKind::Parameter(position) => AskedValue::Parameter(*position),
        _ => AskedValue::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str) -> Vec<(String, AskedValues)> {
        asked_statement(text).unwrap().bound
    }

    fn text(text: &str) -> AskedValue {
        AskedValue::Text(text.to_owned())
    }

    #[test]
    fn conditions_are_told_by_attribute() {
        let asked = asked_statement(
            "SELECT a FROM \"tab\".\"index\" WHERE \"pk\" = ? AND sk BETWEEN 'a' AND 'b' AND x.y = 1 ORDER BY sk DESC",
        );
        let asked = asked.unwrap();
        assert_eq!(
            (asked.kind, &*asked.table, asked.index.as_deref()),
            (AskedKind::Select, "tab", Some("index"))
        );
        let range = AskedValues::Range(Some(text("a")), Some(text("b")));
        let expected = [
            ("pk".to_owned(), AskedValues::Equal(AskedValue::Parameter(0))),
            ("sk".to_owned(), range),
        ];
        assert_eq!(asked.bound, expected);
        assert_eq!((asked.order, asked.filtered), (Some(("sk".to_owned(), true)), true));
        let prefix = bound("SELECT * FROM tab WHERE pk = 'p' AND begins_with(sk, ?)");
        assert_eq!(prefix[1], ("sk".to_owned(), AskedValues::Prefix(AskedValue::Parameter(0))));
        let both = bound("SELECT * FROM tab WHERE 5 < sk AND sk <= 'z'");
        assert_eq!(
            both,
            [("sk".to_owned(), AskedValues::Range(Some(AskedValue::Other), Some(text("z"))))]
        );
        assert_eq!(
            bound("SELECT * FROM tab WHERE pk IN ('a', 'b')"),
            [("pk".to_owned(), AskedValues::Equal(text("a")))]
        );
        assert!(asked_statement("SELECT * FROM tab WHERE pk = 'a' OR sk = 'b'").unwrap().filtered);
        assert!(asked_statement("SELECT * FROM tab WHERE pk <> 'a'").unwrap().filtered);
    }

    #[test]
    fn writes_are_told_by_what_they_change() {
        let update =
            asked_statement("UPDATE tab SET b.c = 1 REMOVE a WHERE pk = 'x' AND sk = ?").unwrap();
        assert_eq!(
            (update.kind, update.changes),
            (AskedKind::Update, vec!["a".to_owned(), "b".to_owned()])
        );
        let insert =
            asked_statement("INSERT INTO tab VALUE {'pk': 'x', 'n': ?, 'm': {'a': 1}}").unwrap();
        let names: Vec<&str> = insert.bound.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((insert.kind, names), (AskedKind::Insert, vec!["pk", "n", "m"]));
        assert_eq!(
            asked_statement("DELETE FROM tab WHERE pk = 'x'").unwrap().kind,
            AskedKind::Delete
        );
        assert_eq!(
            asked_statement("EXISTS(SELECT * FROM tab WHERE pk = 'x')").unwrap().kind,
            AskedKind::Exists
        );
        for wrong in ["", "SELECT", "CREATE TABLE t", "INSERT INTO tab VALUE 1"] {
            assert_eq!(asked_statement(wrong), None, "{wrong}");
        }
    }
}

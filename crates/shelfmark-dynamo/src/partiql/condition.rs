//! Translates WHERE to the conditions that expressions have, by way of their tree and its checks.

use shelfmark_model::{Comparison, Condition, Item, Operand, TableSchema, Value};

use super::ast::{Binary, Expr, ExprKind, Statement, Step};
use super::value::{is_value, value};
use super::words::TypeName;
use crate::errors::{Error, Result, texts, type_name};
use crate::expression::Placeholders;
use crate::expression::tree::{Arg, Leaf, Node, Operator, RawPath, RawStep};
use crate::table::key_letter;

/// The functions that are conditions.
pub(super) const FUNCTIONS: [&str; 5] =
    ["attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"];

/// Translates a condition.
///
/// # Errors
///
/// * ValidationException: it is no condition, or its operands do not fit.
pub(crate) fn condition(expr: &Expr, parameters: &[Value]) -> Result<Condition> {
    if !is_condition(expr) && !is_refused_by_name(expr) {
        return Err(Error::validation(texts::NO_CONDITION));
    }
    let references = references(count(expr));
    let mut lowering = Lowering::new(parameters, &references);
    let node = lowering.node(expr)?;
    Placeholders::of_values(lowering.given()).condition_of(&node)
}

/// Takes the equalities on all key attributes of a table out of a condition: the key, and what is
/// left of the condition.
///
/// # Errors
///
/// * ValidationException: a key attribute has no equality, or one with a value of another type.
pub(crate) fn key_and_condition(
    schema: &TableSchema,
    condition: Condition,
) -> Result<(Item, Option<Condition>)> {
    let mut rest = Vec::new();
    flatten(condition, &mut rest);
    let mut key = Vec::with_capacity(2);
    let partition = schema.partition.iter().map(|column| (&column.name, &column.key_type));
    let sort = schema.sort.iter().map(|column| (&column.name, &column.key_type));
    for (name, key_type) in partition.chain(sort) {
        let value = rest.iter().find_map(|own| equality(own, name)).cloned();
        let value = value.ok_or_else(|| Error::validation(texts::WHERE_WITHOUT_KEY))?;
        if rest.iter().filter_map(|own| equality(own, name)).any(|other| !other.equals(&value)) {
            return Err(Error::validation(texts::key_conditions(name)));
        }
        rest.retain(|own| equality(own, name).is_none());
        check_key_type(name, &value, key_letter(key_type))?;
        key.push((name.clone(), value));
    }
    let rest = match rest.len() {
        0 => None,
        1 => rest.pop(),
        _ => Some(Condition::And(rest)),
    };
    Ok((key.into_iter().collect(), rest))
}

/// Takes the conditions apart that are joined by AND, whatever the parentheses.
fn flatten(condition: Condition, parts: &mut Vec<Condition>) {
    match condition {
        Condition::And(all) if !all.is_empty() => {
            all.into_iter().for_each(|own| flatten(own, parts));
        }
        other => parts.push(other),
    }
}

/// Returns the value that a condition says an attribute equals.
pub(super) fn equality<'c>(condition: &'c Condition, attribute: &str) -> Option<&'c Value> {
    match condition {
        Condition::Compare(Comparison::Equal, Operand::Path(path), Operand::Value(value))
        | Condition::Compare(Comparison::Equal, Operand::Value(value), Operand::Path(path))
            if path.steps.is_empty() && path.attribute == attribute =>
        {
            Some(value)
        }
        _ => None,
    }
}

/// Refuses a value of another type for a key attribute.
pub(crate) fn check_key_type(name: &str, value: &Value, letter: &str) -> Result<()> {
    if type_name(value) == letter {
        return Ok(());
    }
    Err(Error::validation(texts::statement_key_type(name)))
}

/// Returns names for so many values.
pub(super) fn references(count: usize) -> Vec<String> {
    (0..count).map(|number| format!(":{number}")).collect()
}

/// Counts the values of an expression, at most by the elements of lists too many.
pub(super) fn count(expr: &Expr) -> usize {
    let all = |list: &[Expr]| list.iter().map(count).sum::<usize>();
    match &expr.kind {
        ExprKind::And(list) | ExprKind::Or(list) | ExprKind::Call(_, list) => all(list),
        ExprKind::Not(inner) => count(inner),
        ExprKind::Binary(_, left, right) => count(left) + count(right),
        ExprKind::Between(operands) => all(&operands[..]),
        ExprKind::In(left, among) => {
            count(left)
                + match &among.kind {
                    ExprKind::List(list) | ExprKind::Bag(list) => all(list),
                    _ => 0,
                }
        }
        _ => 1,
    }
}

/// A translation in progress.
pub(super) struct Lowering<'t> {
    parameters: &'t [Value],
    references: &'t [String],
    values: Vec<Value>,
}

impl<'t> Lowering<'t> {
    /// Begins a translation that names at most as many values as there are references.
    pub(super) fn new(parameters: &'t [Value], references: &'t [String]) -> Self {
        Self { parameters, references, values: Vec::with_capacity(references.len()) }
    }

    /// Returns the values by their references.
    pub(super) fn given(self) -> Vec<(String, Value)> {
        self.references.iter().cloned().zip(self.values).collect()
    }

    fn node(&mut self, expr: &'t Expr) -> Result<Node<'t>> {
        match &expr.kind {
            ExprKind::And(list) => self.nodes(list).map(Node::And),
            ExprKind::Or(list) => self.nodes(list).map(Node::Or),
            ExprKind::Not(inner) => Ok(negated(self.node(inner)?)),
            ExprKind::Binary(binary, left, right) => self.comparison(*binary, left, right),
            ExprKind::Between(operands) => {
                let args =
                    operands.iter().map(|operand| self.arg(operand)).collect::<Result<_>>()?;
                Ok(Node::Leaf(Leaf { operator: Operator::Between, args }))
            }
            ExprKind::In(left, among) => self.is_among(left, among),
            ExprKind::Is(left, of) => self.is_type(expr, left, *of),
            ExprKind::Call(name, operands) => Ok(Node::Leaf(self.call(expr, name, operands)?)),
            ExprKind::Like => Err(unsupported("like")),
            ExprKind::Statement(statement) => Err(subquery(statement, expr)),
            _ => Err(Error::validation(texts::NO_CONDITION_INSIDE)),
        }
    }

    fn nodes(&mut self, list: &'t [Expr]) -> Result<Vec<Node<'t>>> {
        list.iter().map(|expr| self.node(expr)).collect()
    }

    fn comparison(&mut self, binary: Binary, left: &'t Expr, right: &'t Expr) -> Result<Node<'t>> {
        let comparison = match binary {
            Binary::Equal => Comparison::Equal,
            Binary::NotEqual => Comparison::NotEqual,
            Binary::Less => Comparison::Less,
            Binary::LessOrEqual => Comparison::LessOrEqual,
            Binary::Greater => Comparison::Greater,
            Binary::GreaterOrEqual => Comparison::GreaterOrEqual,
            other => return Err(unsupported(other.symbol())),
        };
        for (of, truth) in [(left, right), (right, left)] {
            let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
            if let (true, true, Some(truth)) = (is_equality, is_condition(of), self.truth(truth)) {
                let node = self.node(of)?;
                let holds = truth == (comparison == Comparison::Equal);
                return Ok(if holds { node } else { negated(node) });
            }
        }
        let args = vec![self.arg(left)?, self.arg(right)?];
        Ok(Node::Leaf(Leaf { operator: Operator::Compare(comparison), args }))
    }

    /// Returns the truth value that an expression is, if it is one.
    fn truth(&self, expr: &Expr) -> Option<bool> {
        match &expr.kind {
            ExprKind::Bool(truth) => Some(*truth),
            ExprKind::Parameter(position) => match self.parameters.get(*position) {
                Some(Value::Bool(truth)) => Some(*truth),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_among(&mut self, left: &'t Expr, among: &'t Expr) -> Result<Node<'t>> {
        let elements = match &among.kind {
            ExprKind::List(list) | ExprKind::Bag(list) if !list.is_empty() => list,
            _ => return Err(Error::validation(texts::IN_WITHOUT_LIST)),
        };
        let args = std::iter::once(left).chain(elements).map(|operand| self.arg(operand));
        let args = args.collect::<Result<_>>()?;
        Ok(Node::Leaf(Leaf { operator: Operator::In, args }))
    }

    fn is_type(&mut self, expr: &Expr, left: &'t Expr, of: TypeName) -> Result<Node<'t>> {
        let path = self.arg(left)?;
        let letters = match of {
            TypeName::Missing => {
                let operator = Operator::Call("attribute_not_exists");
                return Ok(Node::Leaf(Leaf { operator, args: vec![path] }));
            }
            TypeName::Letters(letters) => letters,
            TypeName::Unsupported(name) => {
                return Err(Error::validation(texts::unsupported_type(name, &expr.place)));
            }
        };
        let mut tests = Vec::with_capacity(letters.len());
        for letter in letters {
            let args = vec![path.clone(), self.reference(Value::text(*letter))?];
            let operator = Operator::Call("attribute_type");
            tests.push(Node::Leaf(Leaf { operator, args }));
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Node::Or(tests) })
    }

    fn call(&mut self, expr: &Expr, name: &str, operands: &'t [Expr]) -> Result<Leaf<'t>> {
        let known = FUNCTIONS.into_iter().chain(["size"]).find(|own| *own == name);
        let Some(known) = known else {
            return Err(Error::validation(texts::unrecognized_function(name, &expr.place)));
        };
        let args = operands.iter().map(|operand| self.arg(operand)).collect::<Result<_>>()?;
        Ok(Leaf { operator: Operator::Call(known), args })
    }

    /// Translates an operand.
    pub(super) fn arg(&mut self, expr: &'t Expr) -> Result<Arg<'t>> {
        match &expr.kind {
            ExprKind::Path(steps) => raw_path(steps, expr).map(Arg::Path),
            ExprKind::Call(name, operands) => self.call(expr, name, operands).map(Arg::Call),
            ExprKind::Binary(binary, ..) if !is_condition(expr) => {
                Err(unsupported(binary.symbol()))
            }
            ExprKind::Signed(sign, _) => Err(unsupported(&sign.to_string())),
            ExprKind::Like => Err(unsupported("like")),
            ExprKind::Missing => Err(Error::validation(texts::COMPARED_TO_MISSING)),
            ExprKind::Statement(statement) => Err(subquery(statement, expr)),
            _ if is_value(expr) => {
                let value = value(expr, self.parameters)?;
                self.reference(value)
            }
            _ => Err(Error::validation(texts::unexpected_component(&expr.place))),
        }
    }

    /// Names a value.
    pub(super) fn reference(&mut self, value: Value) -> Result<Arg<'t>> {
        let reference = self.references.get(self.values.len());
        let reference = reference.ok_or_else(|| Error::validation(texts::NO_CONDITION))?;
        self.values.push(value);
        Ok(Arg::Value(reference))
    }
}

fn negated(node: Node<'_>) -> Node<'_> {
    Node::Not(Box::new(node))
}

fn unsupported(operator: &str) -> Error {
    Error::validation(texts::unsupported_operator("Condition", operator))
}

/// Words a statement inside of an expression.
pub(super) fn subquery(statement: &Statement, expr: &Expr) -> Error {
    let word = match statement {
        Statement::Select(_) | Statement::Exists(_) => "SELECT",
        Statement::Insert(_) => "INSERT",
        Statement::Update(_) => "UPDATE",
        Statement::Delete(_) => "DELETE",
        Statement::Other(name) => name,
    };
    Error::validation(texts::unsupported_token_at(word, &expr.place))
}

/// Returns true if the expression is no condition, but is refused for what it is.
fn is_refused_by_name(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Call(..) | ExprKind::Binary(..) | ExprKind::Like | ExprKind::Statement(_)
    )
}

/// Returns true if the expression is a condition, which has a truth value.
fn is_condition(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call(name, _) => FUNCTIONS.contains(&name.as_str()),
        ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Not(_)
        | ExprKind::Between(_)
        | ExprKind::In(..)
        | ExprKind::Is(..) => true,
        ExprKind::Binary(binary, ..) => {
            let symbols = ["=", "<>", "<", "<=", ">", ">="];
            symbols.contains(&binary.symbol())
        }
        _ => false,
    }
}

/// Translates a document path; `expr` is where it stands.
fn raw_path<'t>(steps: &'t [Step], expr: &Expr) -> Result<RawPath<'t>> {
    let step = |step: &'t Step| match step {
        Step::Name(name) => Ok(RawStep::Exact(name)),
        Step::Index(index) => Ok(RawStep::Index(*index)),
        Step::Beyond(..) | Step::Star | Step::Other(_) => Err(refused(step, expr)),
    };
    steps.iter().map(step).collect()
}

/// Words a step that no path has; `expr` is where the path stands.
pub(super) fn refused(step: &Step, expr: &Expr) -> Error {
    Error::validation(match step {
        Step::Beyond(index, place) => texts::index_beyond(index, place),
        Step::Other(place) => texts::unexpected_component(place),
        Step::Name(_) | Step::Index(_) | Step::Star => texts::unexpected_component(&expr.place),
    })
}

/// Translates the path of an assignment, which has no place of its own.
pub(super) fn assigned_path<'t>(steps: &'t [Step]) -> Result<RawPath<'t>> {
    let step = |step: &'t Step| match step {
        Step::Name(name) => Ok(RawStep::Exact(name)),
        Step::Index(index) => Ok(RawStep::Index(*index)),
        Step::Beyond(index, place) => Err(Error::validation(texts::index_beyond(index, place))),
        Step::Star => Err(super::malformed("Invalid path component for simple path")),
        Step::Other(_) => Err(Error::validation(texts::UPDATE_PATH_INVALID)),
    };
    steps.iter().map(step).collect()
}

//! Parses statements: SELECT, INSERT, UPDATE, DELETE, the form of UPDATE that begins with FROM, and
//! `EXISTS(SELECT …)`.
//!
//! A statement is a term of the grammar of expressions, so parsing begins there.

use super::ast::{
    Change, Delete, Expr, ExprKind, Image, Insert, Named, OrderBy, Returning, Select, SelectItem,
    Source, Statement, Step, Update,
};
use super::expression::{SELECT_RANK, expression, more_steps};
use super::lexer::TokenKind;
use super::malformed;
use super::parser::Parser;
use crate::errors::{Error, Result, texts};
use crate::limits::{NAME_CHARS_MAX, NAME_CHARS_MIN};

/// Parses a whole statement; returns it and the number of its parameters.
///
/// # Errors
///
/// * ValidationException: it is not in the grammar, or nests too deep.
pub(super) fn parse(source: &str) -> Result<(Statement, usize)> {
    let mut parser = Parser::new(source)?;
    let expr = expression(&mut parser, 0)?;
    if !parser.is_at_end() {
        return Err(malformed("Unexpected token after expression"));
    }
    Ok((expr.into_statement(), parser.parameters))
}

/// Parses the statement that the next keyword begins, if it begins one.
pub(super) fn of_keyword(parser: &mut Parser<'_>) -> Result<Option<Statement>> {
    let begins_change = parser.is_keyword("set") || parser.is_keyword("remove");
    let statement = if parser.take_keyword("select") {
        Statement::Select(select(parser)?)
    } else if parser.is_keyword("insert") && parser.keyword_ahead(1, "into") {
        parser.skip(2);
        Statement::Insert(insert(parser)?)
    } else if parser.take_keyword("update") {
        let source = simple_source(parser)?;
        let changes = changes(parser)?;
        let filter = filter(parser)?;
        let returning = returning(parser)?;
        Statement::Update(Update { source, changes, filter, returning })
    } else if parser.take_keyword("delete") {
        if !parser.take_keyword("from") {
            return Err(malformed("Expected FROM after DELETE"));
        }
        let source = simple_source(parser)?;
        let filter = filter(parser)?;
        let returning = returning(parser)?;
        Statement::Delete(Delete { source, filter, returning })
    } else if parser.take_keyword("from") {
        let source = source(parser, 0)?;
        let filter = filter(parser)?;
        let changes = changes(parser)?;
        let returning = returning(parser)?;
        Statement::Update(Update { source, changes, filter, returning })
    } else if begins_change {
        changes(parser)?;
        Statement::Other("Dml")
    } else if parser.is_keyword("create") || parser.is_keyword("drop") {
        Statement::Other(definition(parser)?)
    } else {
        return Ok(None);
    };
    Ok(Some(statement))
}

/// Takes a definition of a table or an index, which nothing supports, to its end.
fn definition(parser: &mut Parser<'_>) -> Result<&'static str> {
    let is_create = parser.take_text() == "create";
    let is_table = parser.is_keyword("table");
    if !is_table && !parser.is_keyword("index") {
        let word = if is_create { "CREATE" } else { "DROP" };
        return Err(malformed(&format!("Unexpected token following {word}")));
    }
    while !parser.is_at_end() {
        parser.skip(1);
    }
    Ok(match (is_create, is_table) {
        (true, true) => "CreateTable",
        (true, false) => "CreateIndex",
        (false, true) => "DropTable",
        (false, false) => "DropIndex",
    })
}

fn select(parser: &mut Parser<'_>) -> Result<Select> {
    let mut fault = None;
    if parser.take_keyword("distinct") {
        fault = Some(texts::unsupported_token("DISTINCT"));
    } else {
        parser.take_keyword("all");
    }
    let items = if parser.is_keyword("value") {
        parser.skip(1);
        fault = Some(texts::SELECT_VALUE.to_owned());
        expression(parser, 0)?;
        None
    } else {
        items(parser)?
    };
    if !parser.take_keyword("from") {
        return Err(malformed("Expected FROM after SELECT list"));
    }
    let source = source(parser, SELECT_RANK)?;
    if parser.take_keyword("where") {
        let filter = expression(parser, SELECT_RANK)?;
        return finish_select(
            parser,
            Select { items, source, filter: Some(filter), order: Vec::new(), fault },
        );
    }
    finish_select(parser, Select { items, source, filter: None, order: Vec::new(), fault })
}

/// Parses the clauses behind WHERE.
fn finish_select(parser: &mut Parser<'_>, mut select: Select) -> Result<Select> {
    if parser.take_keyword("order") {
        parser.expect_keyword("by")?;
        select.order = parser.list(|parser| {
            let expr = expression(parser, SELECT_RANK)?;
            let descending = parser.take_keyword("desc");
            if !descending {
                parser.take_keyword("asc");
            }
            Ok(OrderBy { expr, descending })
        })?;
    }
    if parser.take_keyword("group") {
        parser.take_keyword("partial");
        parser.expect_keyword("by")?;
        parser.list(|parser| expression(parser, SELECT_RANK))?;
        select.fault.get_or_insert_with(|| texts::unsupported_clause("GROUP BY"));
    }
    for (keyword, name) in [("having", "HAVING"), ("limit", "LIMIT"), ("offset", "OFFSET")] {
        if parser.take_keyword(keyword) {
            let place = expression(parser, SELECT_RANK)?.place;
            select.fault.get_or_insert_with(|| texts::unsupported_clause_at(name, &place));
        }
    }
    Ok(select)
}

/// Parses the projection of a SELECT; `None` for `*`.
fn items(parser: &mut Parser<'_>) -> Result<Option<Vec<SelectItem>>> {
    let mut has_star = false;
    let items = parser.list(|parser| {
        if parser.take("*") {
            has_star = true;
            return Ok(None);
        }
        let expr = expression(parser, 0)?;
        let is_aliased = alias(parser)?;
        Ok(Some(SelectItem { expr, is_aliased }))
    })?;
    if !has_star {
        return Ok(Some(items.into_iter().flatten().collect()));
    }
    if items.len() > 1 {
        return Err(malformed(
            "Other expressions may not be present in the select list when '*' is used without dot notation.",
        ));
    }
    Ok(None)
}

/// Parses `AS name` or a name alone behind an expression; returns true if there is one.
fn alias(parser: &mut Parser<'_>) -> Result<bool> {
    let is_as = parser.take_keyword("as");
    if matches!(parser.kind(), TokenKind::Word | TokenKind::Quoted) {
        parser.skip(1);
        return Ok(true);
    }
    if is_as {
        return Err(malformed("Expected identifier for alias"));
    }
    Ok(false)
}

/// Parses the table of a SELECT, which may be any expression, and its aliases.
fn source(parser: &mut Parser<'_>, rank: u8) -> Result<Source> {
    let steps = match expression(parser, rank)?.kind {
        ExprKind::Path(steps) => steps,
        _ => Vec::new(),
    };
    let is_aliased = aliases(parser)?;
    let joins = ["join", "inner", "left", "right", "full", "cross", "outer"];
    if parser.is(",") || joins.iter().any(|join| parser.is_keyword(join)) {
        return Err(Error::validation(texts::ONE_TABLE_ONLY));
    }
    Ok(Source::of(steps, is_aliased))
}

/// Parses the table of a statement that writes, which is a path, and its aliases.
fn simple_source(parser: &mut Parser<'_>) -> Result<Source> {
    let steps = simple_path(parser)?;
    let is_aliased = aliases(parser)?;
    Ok(Source::of(steps, is_aliased))
}

fn aliases(parser: &mut Parser<'_>) -> Result<bool> {
    let mut is_aliased = alias(parser)?;
    for keyword in ["at", "by"] {
        if parser.take_keyword(keyword) {
            is_aliased = true;
            if !alias(parser)? {
                return Err(malformed("Expected identifier for alias"));
            }
        }
    }
    Ok(is_aliased)
}

/// Returns true if a table or an index may have this name, which may be the ARN of a table.
fn is_table_name(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    name.starts_with("arn:")
        || (NAME_CHARS_MIN..=NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(is_valid)
}

/// Parses a path that begins with a name.
fn simple_path(parser: &mut Parser<'_>) -> Result<Vec<Step>> {
    if !matches!(parser.kind(), TokenKind::Word | TokenKind::Quoted) {
        return Err(malformed("Expected identifier for simple path"));
    }
    let mut steps = vec![Step::Name(parser.take_text())];
    more_steps(parser, &mut steps)?;
    Ok(steps)
}

fn insert(parser: &mut Parser<'_>) -> Result<Insert> {
    let source = Source::of(simple_path(parser)?, false);
    if !parser.take_keyword("value") {
        let value = expression(parser, 0)?;
        return Ok(Insert { source, value, has_returning: false, clause: Some("InsertOp") });
    }
    let value = expression(parser, 0)?;
    let mut clause = None;
    if parser.take_keyword("at") {
        expression(parser, 0)?;
        clause = Some("AT");
    }
    if parser.is_keyword("on") && parser.keyword_ahead(1, "conflict") {
        parser.skip(2);
        clause = Some("ON CONFLICT");
        if !parser.take_keyword("where") {
            return Err(malformed("invalid ON CONFLICT syntax"));
        }
        expression(parser, 0)?;
        parser.expect_keyword("do")?;
        parser.expect_keyword("nothing")?;
    }
    let has_returning = returning(parser)?.is_some();
    Ok(Insert { source, value, has_returning, clause })
}

/// Parses one SET or REMOVE clause or more.
fn changes(parser: &mut Parser<'_>) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    loop {
        if parser.take_keyword("set") {
            changes.extend(parser.list(|parser| {
                parser.count_operator()?;
                let path = simple_path(parser)?;
                parser.expect("=")?;
                Ok(Change::Set(path, expression(parser, 0)?))
            })?);
        } else if parser.take_keyword("remove") {
            parser.count_operator()?;
            changes.push(Change::Remove(simple_path(parser)?));
        } else if changes.is_empty() {
            return Err(malformed("Expected data manipulation"));
        } else {
            return Ok(changes);
        }
    }
}

fn filter(parser: &mut Parser<'_>) -> Result<Option<Expr>> {
    if parser.take_keyword("where") { expression(parser, 0).map(Some) } else { Ok(None) }
}

fn returning(parser: &mut Parser<'_>) -> Result<Option<Returning>> {
    if !parser.take_keyword("returning") {
        return Ok(None);
    }
    let mut elements = parser.list(|parser| {
        let is_all = parser.is_keyword("all");
        let is_new = parser.keyword_ahead(1, "new");
        if !is_all && !parser.is_keyword("modified") || !is_new && !parser.keyword_ahead(1, "old") {
            return Err(malformed(
                "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.",
            ));
        }
        parser.skip(2);
        let image = match (is_all, is_new) {
            (true, true) => Image::AllNew,
            (true, false) => Image::AllOld,
            (false, true) => Image::ModifiedNew,
            (false, false) => Image::ModifiedOld,
        };
        let is_of_all = parser.take("*");
        if !is_of_all {
            expression(parser, 0)?;
        }
        Ok(Returning { image, is_of_all, is_one: true })
    })?;
    let last = elements.pop();
    let is_one = elements.is_empty();
    Ok(last.map(|last| Returning { is_one, ..last }))
}

impl Source {
    /// Takes the names of a path; without a step it is none.
    fn of(steps: Vec<Step>, is_aliased: bool) -> Self {
        let is_indexed = steps.iter().any(|step| matches!(step, Step::Index(_)));
        let is_path = !steps.is_empty();
        let name = |step| match step {
            Step::Name(name) => Some(name),
            Step::Index(_) | Step::Beyond(..) | Step::Star | Step::Other(_) => None,
        };
        let names: Option<Vec<String>> = steps.into_iter().map(name).collect();
        Self { names: names.filter(|_| is_path), is_aliased, is_indexed }
    }

    /// Returns the names of the table and its index.
    ///
    /// # Errors
    ///
    /// * ValidationException: it has an alias, is no name, has more than two, or an empty one.
    pub(super) fn named(&self) -> Result<Named> {
        if self.is_aliased {
            return Err(Error::validation(texts::ALIAS));
        }
        if self.is_indexed {
            return Err(Error::validation(texts::SOURCE_INDEXED));
        }
        let Some(names) = &self.names else {
            return Err(Error::validation(texts::UNEXPECTED_SOURCE));
        };
        if names.len() > 2 {
            return Err(Error::validation(texts::SOURCE_TOO_LONG));
        }
        if names.iter().any(String::is_empty) {
            return Err(Error::validation(texts::EMPTY_PATH_COMPONENT));
        }
        if !names.iter().all(|name| is_table_name(name)) {
            return Err(Error::validation(texts::TABLE_NAME_IN_STATEMENT));
        }
        let mut names = names.iter().cloned();
        Ok(Named { table: names.next().unwrap_or_default(), index: names.next() })
    }
}

impl Statement {
    /// Returns the table that the statement is about.
    ///
    /// # Errors
    ///
    /// * ValidationException: it is no operation, or names no table.
    pub(crate) fn named(&self) -> Result<Named> {
        match self {
            Self::Select(select) | Self::Exists(select) => select.source.named(),
            Self::Insert(insert) => insert.source.named(),
            Self::Update(update) => update.source.named(),
            Self::Delete(delete) => delete.source.named(),
            Self::Other(name) => Err(Error::validation(texts::unsupported_operation(name))),
        }
    }

    /// Returns true if the statement reads.
    pub(crate) const fn is_read(&self) -> bool {
        matches!(self, Self::Select(_))
    }
}

impl Select {
    /// Refuses clauses that DynamoDB does not have.
    pub(crate) fn check_clauses(&self) -> Result<()> {
        match &self.fault {
            Some(fault) => Err(Error::validation(fault)),
            None => Ok(()),
        }
    }
}

impl Insert {
    /// Refuses clauses that DynamoDB does not have.
    pub(crate) fn check_clauses(&self) -> Result<()> {
        match self.clause {
            Some("InsertOp") => Err(Error::validation(texts::unsupported_operation("InsertOp"))),
            Some(clause) => Err(Error::validation(texts::unsupported_clause(clause))),
            None if self.has_returning => Err(Error::validation(texts::RETURNING_IN_INSERT)),
            None => Ok(()),
        }
    }
}

impl Returning {
    /// Refuses columns other than `*`, and several elements.
    pub(crate) fn check(self) -> Result<Image> {
        match (self.is_one, self.is_of_all) {
            (false, _) => Err(Error::validation(texts::RETURNING_SEVERAL)),
            (true, false) => Err(Error::validation(texts::RETURNING_COLUMNS)),
            (true, true) => Ok(self.image),
        }
    }
}

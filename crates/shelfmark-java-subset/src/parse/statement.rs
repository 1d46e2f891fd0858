//! Parses statements.
//!
//! What it is not: a look at names; a declaration is told from an expression by its form alone.
//!
//! Invariant: statements inside statements are a level deeper.

use super::{Parse, Parser};
use crate::CompileError;
use crate::lexer::TokenKind;
use crate::syntax::{
    Catch, Declarator, Expression, ExpressionKind, Group, Statement, StatementKind,
};

/// Words that begin what functions do not have here, and how it is called, with its verb.
const OUTSIDE: [(&str, &str); 6] = [
    ("class", "classes are"),
    ("interface", "classes are"),
    ("enum", "classes are"),
    ("assert", "assertions are"),
    ("this", "the object of the function is"),
    ("super", "the object of the function is"),
];

impl Parser {
    /// Parses a statement.
    pub(super) fn statement(&mut self) -> Parse<Statement> {
        let line = self.line();
        let kind = self.deeper(Self::statement_kind)?;
        Ok(Statement { line, kind })
    }

    fn statement_kind(&mut self) -> Parse<StatementKind> {
        if self.is_sign("{") {
            return self.block().map(StatementKind::Block);
        }
        if self.eat(";") {
            return Ok(StatementKind::Empty);
        }
        let TokenKind::Word(word) = self.now().clone() else { return self.simple() };
        if let Some((_, what)) = OUTSIDE.iter().find(|(own, _)| *own == word) {
            let message = format!(
                "Syntax error on token \"{word}\": {what} not in the part of Java that functions are written in here"
            );
            return Err(CompileError::new(self.line(), &message));
        }
        if word == "synchronized" {
            return Err(CompileError::invalid("use of synchronized"));
        }
        if self.is_sign_at(1, ":") && !self.is_word("default") {
            self.bump();
            self.bump();
            return Ok(StatementKind::Labelled(word, Box::new(self.statement()?)));
        }
        let step: fn(&mut Self) -> Parse<StatementKind> = match word.as_str() {
            "if" => Self::if_statement,
            "while" => Self::while_statement,
            "do" => Self::do_statement,
            "for" => Self::for_statement,
            "switch" => Self::switch_statement,
            "return" => Self::return_statement,
            "throw" => Self::throw_statement,
            "try" => Self::try_statement,
            "break" | "continue" => return self.jump(word == "break"),
            _ => return self.simple(),
        };
        self.bump();
        step(self)
    }

    fn block(&mut self) -> Parse<Vec<Statement>> {
        self.expect("{", "Block")?;
        let mut out = Vec::new();
        while !self.eat("}") {
            if *self.now() == TokenKind::End {
                let line = self.line_before();
                return Err(CompileError::new(
                    line,
                    "Syntax error, insert \"}\" to complete Block",
                ));
            }
            out.push(self.statement()?);
        }
        Ok(out)
    }

    fn in_parentheses(&mut self) -> Parse<Expression> {
        self.expect("(", "Expression")?;
        let found = self.expression()?;
        self.expect(")", "Expression")?;
        Ok(found)
    }

    fn if_statement(&mut self) -> Parse<StatementKind> {
        let condition = self.in_parentheses()?;
        let yes = Box::new(self.statement()?);
        let no = if self.eat_word("else") { Some(Box::new(self.statement()?)) } else { None };
        Ok(StatementKind::If(condition, yes, no))
    }

    fn while_statement(&mut self) -> Parse<StatementKind> {
        let condition = self.in_parentheses()?;
        Ok(StatementKind::While(condition, Box::new(self.statement()?)))
    }

    fn do_statement(&mut self) -> Parse<StatementKind> {
        let body = Box::new(self.statement()?);
        if !self.eat_word("while") {
            return Err(self.unexpected());
        }
        let condition = self.in_parentheses()?;
        self.expect(";", "DoStatement")?;
        Ok(StatementKind::Do(body, condition))
    }

    fn for_statement(&mut self) -> Parse<StatementKind> {
        self.expect("(", "ForStatement")?;
        let is_final = self.eat_word("final");
        if let Some(length) = self.type_length(0)
            && matches!(self.peek(length), TokenKind::Word(_))
            && self.is_sign_at(length + 1, ":")
        {
            let declared = self.type_name()?;
            let name = self.name()?;
            self.bump();
            let all = self.expression()?;
            self.expect(")", "EnhancedForStatement")?;
            let body = Box::new(self.statement()?);
            return Ok(StatementKind::ForEach(declared, name, all, body));
        }
        let mut first = Vec::new();
        if !self.eat(";") {
            let line = self.line();
            if self.is_declaration() {
                let kind = self.declaration(is_final)?;
                first.push(Statement { line, kind });
            } else {
                for own in self.expressions()? {
                    first.push(Statement { line: own.line, kind: StatementKind::Expression(own) });
                }
            }
            self.expect(";", "ForStatement")?;
        }
        let condition = if self.is_sign(";") { None } else { Some(self.expression()?) };
        self.expect(";", "ForStatement")?;
        let steps = if self.is_sign(")") { Vec::new() } else { self.expressions()? };
        self.expect(")", "ForStatement")?;
        Ok(StatementKind::For(first, condition, steps, Box::new(self.statement()?)))
    }

    fn expressions(&mut self) -> Parse<Vec<Expression>> {
        let mut all = vec![self.expression()?];
        while self.eat(",") {
            all.push(self.expression()?);
        }
        Ok(all)
    }

    fn switch_statement(&mut self) -> Parse<StatementKind> {
        let subject = self.in_parentheses()?;
        self.expect("{", "SwitchBlock")?;
        let mut groups: Vec<Group> = Vec::new();
        while !self.eat("}") {
            let mut labels = Vec::new();
            loop {
                if self.eat_word("default") {
                    labels.push(None);
                } else if self.eat_word("case") {
                    labels.extend(self.expressions()?.into_iter().map(Some));
                } else {
                    break;
                }
                if !self.eat(":") {
                    return Err(self.unexpected());
                }
            }
            if labels.is_empty() {
                return Err(self.unexpected());
            }
            let mut block = Vec::new();
            while !self.is_word("case") && !self.is_word("default") && !self.is_sign("}") {
                if *self.now() == TokenKind::End {
                    return Err(self.unexpected());
                }
                block.push(self.statement()?);
            }
            groups.push(Group { labels, block });
        }
        Ok(StatementKind::Switch(subject, groups))
    }

    fn return_statement(&mut self) -> Parse<StatementKind> {
        if self.eat(";") {
            return Ok(StatementKind::Return(None));
        }
        let value = self.expression()?;
        self.expect(";", "BlockStatements")?;
        Ok(StatementKind::Return(Some(value)))
    }

    fn throw_statement(&mut self) -> Parse<StatementKind> {
        let value = self.expression()?;
        self.expect(";", "BlockStatements")?;
        Ok(StatementKind::Throw(value))
    }

    fn try_statement(&mut self) -> Parse<StatementKind> {
        if self.is_sign("(") {
            let message = "Syntax error on token \"(\": resources of try are not in the part of Java that functions are written in here";
            return Err(CompileError::new(self.line(), message));
        }
        let block = self.block()?;
        let mut catches = Vec::new();
        while self.eat_word("catch") {
            self.expect("(", "CatchHeader")?;
            self.eat_word("final");
            let mut types = vec![self.type_name()?];
            while self.eat("|") {
                types.push(self.type_name()?);
            }
            let name = self.name()?;
            self.expect(")", "CatchHeader")?;
            catches.push(Catch { types, name, block: self.block()? });
        }
        let last = if self.eat_word("finally") { Some(self.block()?) } else { None };
        if catches.is_empty() && last.is_none() {
            let message = "Syntax error, insert \"Finally\" to complete BlockStatements";
            return Err(CompileError::new(self.line_before(), message));
        }
        Ok(StatementKind::Try(block, catches, last))
    }

    fn jump(&mut self, is_break: bool) -> Parse<StatementKind> {
        self.bump();
        let label = if self.is_sign(";") { None } else { Some(self.name()?) };
        self.expect(";", "BlockStatements")?;
        Ok(if is_break { StatementKind::Break(label) } else { StatementKind::Continue(label) })
    }

    /// Returns true if a type and a name stand here.
    fn is_declaration(&self) -> bool {
        self.type_length(0).is_some_and(
            |length| matches!(self.peek(length), TokenKind::Word(own) if own != "instanceof"),
        )
    }

    /// Parses a declaration or an expression, and what ends it.
    fn simple(&mut self) -> Parse<StatementKind> {
        let is_final = self.eat_word("final");
        let kind = if is_final || self.is_declaration() {
            self.declaration(is_final)?
        } else {
            let own = self.expression()?;
            let is_statement = matches!(
                own.kind,
                ExpressionKind::Assign(..)
                    | ExpressionKind::Step(..)
                    | ExpressionKind::Call(..)
                    | ExpressionKind::New(..)
            );
            if !is_statement {
                let message =
                    "Syntax error, insert \"AssignmentOperator Expression\" to complete Expression";
                return Err(CompileError::new(own.line, message));
            }
            StatementKind::Expression(own)
        };
        self.expect(";", "BlockStatements")?;
        Ok(kind)
    }

    fn declaration(&mut self, is_final: bool) -> Parse<StatementKind> {
        let declared = self.type_name()?;
        let mut all = Vec::new();
        loop {
            let line = self.line();
            let name = self.name()?;
            let mut dimensions = 0;
            while self.eat("[") {
                self.expect("]", "Dimensions")?;
                dimensions += 1;
            }
            let value = match self.eat("=") {
                true if self.is_sign("{") => Some(self.array_values(None)?),
                true => Some(self.expression()?),
                false => None,
            };
            all.push(Declarator { line, name, dimensions, value });
            if !self.eat(",") {
                return Ok(StatementKind::Declaration(declared, is_final, all));
            }
        }
    }
}

//! `BEGIN TRANSACTION`, as Cassandra 6 has it: known, so that a refusal can name it.

use super::cursor::{Parse, Parser};
use crate::ast::{Conditions, Reference, Returned, Transaction};
use crate::lexer::Kind;

impl Parser<'_> {
    /// Tells whether the token is this word, which is no keyword.
    pub(super) fn is_word(&mut self, word: &str) -> bool {
        self.now() == Kind::Ident
            && self.slice(self.token(self.position)).eq_ignore_ascii_case(word)
    }

    fn word(&mut self, word: &str) -> Parse<()> {
        if !self.is_word(word) {
            return self.no_viable(1);
        }
        self.bump();
        Ok(())
    }

    /// Parses a transaction, from `TRANSACTION` to the end.
    pub(super) fn transaction(&mut self) -> Parse<Transaction> {
        self.word("transaction")?;
        self.in_transaction = true;
        let mut lets = Vec::new();
        while self.is_word("let") {
            self.bump();
            let name = self.name()?;
            self.expect(Kind::Equal)?;
            self.expect(Kind::LeftParen)?;
            let select = self.select()?;
            self.expect(Kind::RightParen)?;
            self.expect(Kind::Semicolon)?;
            lets.push((name, select));
        }
        let returned = self.returned()?;
        let conditional = self.now() == Kind::If;
        let mut conditions = Conditions::None;
        if conditional {
            conditions = self.conditions()?;
            self.word("then")?;
        }
        let mut modifications = Vec::new();
        while let Some(modification) = self.modification()? {
            modifications.push(modification);
            self.eat(Kind::Semicolon);
        }
        if conditional {
            self.word("end")?;
            self.expect(Kind::If)?;
        }
        self.word("commit")?;
        self.word("transaction")?;
        Ok(Transaction { lets, returned, conditions, modifications })
    }

    /// Parses `SELECT …;` or `SELECT row.column, …;`
    fn returned(&mut self) -> Parse<Option<Returned>> {
        if self.now() != Kind::Select {
            return Ok(None);
        }
        let returned = match self.attempt(Self::select)? {
            Some(select) => Returned::Select(Box::new(select)),
            None => {
                self.bump();
                Returned::References(self.list(Self::reference)?)
            }
        };
        self.expect(Kind::Semicolon)?;
        Ok(Some(returned))
    }

    fn reference(&mut self) -> Parse<Reference> {
        let row = self.name()?;
        let column = if self.eat(Kind::Dot) { Some(self.name()?) } else { None };
        Ok(Reference { row, column })
    }
}

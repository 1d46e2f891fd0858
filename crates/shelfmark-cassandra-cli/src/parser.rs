//! From tokens to a command.

use super::lexer::{Spotted, Token, tokens};
use super::source::Piece;
use super::tree::{
    Access, Attribute, AttributeValue, Command, Comparison, Condition, Definition, HashValue, Value,
};
use super::{CliError, HASH_DEPTH_MAX, Mode, Warning};

/// Parses one command; what was mended is added to `warnings`.
///
/// # Errors
///
/// The piece is no command: correct it. In [`Mode::Strict`] so is everything that had to be mended.
pub fn parse(piece: &Piece, mode: Mode, warnings: &mut Vec<Warning>) -> Result<Command, CliError> {
    let tokens = tokens(piece, mode, warnings)?;
    let mut parser = Parser { piece, mode, tokens, at: 0, warnings };
    let command = parser.command()?;
    parser.eat(";");
    match parser.token() {
        Token::End => Ok(command),
        _ => Err(parser.mismatched("EOF")),
    }
}

struct Parser<'a> {
    piece: &'a Piece,
    mode: Mode,
    tokens: Vec<Spotted>,
    at: usize,
    warnings: &'a mut Vec<Warning>,
}

type Parse<T> = Result<T, CliError>;

impl Parser<'_> {
    fn token(&self) -> &Token {
        self.ahead(0)
    }

    fn ahead(&self, count: usize) -> &Token {
        self.tokens.get(self.at + count).map_or(&Token::End, |spotted| &spotted.token)
    }

    fn offset(&self) -> usize {
        self.tokens.get(self.at).map_or(self.piece.text.len(), |spotted| spotted.offset)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = matches!(self.token(), Token::Sign(found) if *found == sign);
        if found {
            self.at += 1;
        }
        found
    }

    fn is_word(&self, count: usize, word: &str) -> bool {
        matches!(self.ahead(count), Token::Word(found) if found.eq_ignore_ascii_case(word))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(0, word);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, sign: &'static str) -> Parse<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.mismatched(&format!("'{sign}'"))) }
    }

    fn expect_word(&mut self, word: &str) -> Parse<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.mismatched(&word.to_uppercase())) }
    }

    /// Returns the original's words for a token that must be another one.
    fn mismatched(&self, expected: &str) -> CliError {
        let offset = self.offset();
        let position = self.piece.text.get(..offset).unwrap_or_default().chars().count();
        let found = self.token().shown();
        let text = format!(
            "Syntax error at position {position}: mismatched input {found} expecting {expected}"
        );
        CliError::new(self.piece.place(offset), text)
    }

    /// Returns the original's words where nothing fits.
    fn not_found(&self) -> CliError {
        let text = &self.piece.text;
        CliError::new(
            self.piece.place(self.offset()),
            format!("Command not found: `{text}`. Type 'help;' or '?' for help."),
        )
    }

    fn command(&mut self) -> Parse<Command> {
        let first = match self.token() {
            Token::Word(word) => word.to_ascii_lowercase(),
            Token::Sign("?") => "help".to_owned(),
            Token::Sign(";") | Token::End => return Ok(Command::Nothing),
            _ => return Err(self.not_found()),
        };
        let start = self.at;
        self.at += 1;
        match first.as_str() {
            "connect" => self.connect(),
            "quit" | "exit" => Ok(Command::Exit),
            "use" => self.use_keyspace(),
            "create" | "update" => self.define(first == "create"),
            "drop" => self.drop(),
            "set" => self.set(),
            "get" => self.get(),
            "list" => self.list(),
            "count" => Ok(Command::Count(self.access()?)),
            "del" => Ok(Command::Delete(self.access()?)),
            "truncate" => Ok(Command::Truncate(self.name()?)),
            "incr" | "decr" => self.increment(first == "decr"),
            "assume" => self.assume(),
            "consistencylevel" => {
                self.expect_word("as")?;
                Ok(Command::ConsistencyLevel(self.name()?))
            }
            "describe" => self.describe(),
            "show" => self.show(),
            "help" => Ok(Command::Help(self.help())),
            _ => {
                self.at = start;
                Err(self.not_found())
            }
        }
    }

    fn help(&mut self) -> String {
        let mut words = Vec::new();
        while let Token::Word(word) = self.token() {
            words.push(word.to_ascii_lowercase());
            self.at += 1;
        }
        words.join(" ")
    }

    /// Reads a name: a word, a string or a whole number.
    fn name(&mut self) -> Parse<String> {
        match self.token().clone() {
            Token::Word(text) | Token::Text(text) | Token::Integer(text) => {
                self.at += 1;
                Ok(text)
            }
            _ => Err(self.not_found()),
        }
    }

    fn optional_name(&mut self) -> Parse<Option<String>> {
        match self.token() {
            Token::Sign(";") | Token::End => Ok(None),
            _ => Ok(Some(self.name()?)),
        }
    }

    fn connect(&mut self) -> Parse<Command> {
        let mut host = String::new();
        loop {
            match self.token().clone() {
                Token::Word(text) | Token::Address(text) | Token::Integer(text) => {
                    host.push_str(&text);
                }
                _ => return Err(self.not_found()),
            }
            self.at += 1;
            if !self.eat(".") {
                break;
            }
            host.push('.');
        }
        self.expect("/")?;
        let port = self.integer()?;
        let login = match self.token().clone() {
            Token::Word(user) => {
                self.at += 1;
                let Token::Text(password) = self.token().clone() else {
                    return Err(self.mismatched("StringLiteral"));
                };
                self.at += 1;
                Some((user, password))
            }
            _ => None,
        };
        Ok(Command::Connect { host, port, login })
    }

    fn integer(&mut self) -> Parse<String> {
        match self.token().clone() {
            Token::Integer(text) if !text.starts_with('-') => {
                self.at += 1;
                Ok(text)
            }
            _ => Err(self.mismatched("IntegerPositiveLiteral")),
        }
    }

    fn use_keyspace(&mut self) -> Parse<Command> {
        let keyspace = self.name()?;
        let mut login = None;
        if let Token::Word(user) = self.token().clone() {
            self.at += 1;
            let mut password = None;
            if let Token::Text(text) = self.token().clone() {
                self.at += 1;
                password = Some(text);
            }
            login = Some((user, password));
        }
        Ok(Command::Use { keyspace, login })
    }

    fn define(&mut self, create: bool) -> Parse<Command> {
        if self.eat_word("keyspace") {
            let definition = self.definition()?;
            return Ok(if create {
                Command::CreateKeyspace(definition)
            } else {
                Command::UpdateKeyspace(definition)
            });
        }
        if !self.eat_word("column") {
            return Err(self.not_found());
        }
        self.expect_word("family")?;
        let definition = self.definition()?;
        Ok(if create {
            Command::CreateColumnFamily(definition)
        } else {
            Command::UpdateColumnFamily(definition)
        })
    }

    fn definition(&mut self) -> Parse<Definition> {
        let name = self.name()?;
        let mut attributes = Vec::new();
        while self.eat_word("with") || self.eat_word("and") {
            let place = self.piece.place(self.offset());
            let Token::Word(name) = self.token().clone() else {
                return Err(self.mismatched("Identifier"));
            };
            self.at += 1;
            self.expect("=")?;
            let value = self.attribute_value()?;
            attributes.push(Attribute { name, value, place });
        }
        Ok(Definition { name, attributes })
    }

    fn attribute_value(&mut self) -> Parse<AttributeValue> {
        match self.token().clone() {
            Token::Sign("[") => {
                self.at += 1;
                let mut hashes = Vec::new();
                while matches!(self.token(), Token::Sign("{")) {
                    hashes.push(self.hash(0)?);
                    self.eat(",");
                }
                self.expect("]")?;
                Ok(AttributeValue::Array(hashes))
            }
            Token::Sign("{") => Ok(AttributeValue::Hash(self.hash(0)?)),
            Token::Word(text) | Token::Text(text) | Token::Integer(text) | Token::Double(text) => {
                self.at += 1;
                Ok(AttributeValue::Text(self.last_of_several(text)))
            }
            _ => Err(self.not_found()),
        }
    }

    /// Mends two types where one must stand, which come from an edit that struck one out: the last
    /// one counts.
    fn last_of_several(&mut self, mut text: String) -> String {
        while self.mode == Mode::Forgiving {
            let Token::Word(next) = self.token().clone() else { break };
            if ["and", "with"].iter().any(|word| next.eq_ignore_ascii_case(word)) {
                break;
            }
            let place = self.piece.place(self.offset());
            self.warnings
                .push(Warning::new(place, format!("two values, {text} and {next}; {next} counts")));
            self.at += 1;
            text = next;
        }
        text
    }

    fn hash(&mut self, depth: usize) -> Parse<Vec<(Value, HashValue)>> {
        if depth == HASH_DEPTH_MAX {
            let text = format!("hashes are nested deeper than {HASH_DEPTH_MAX} levels");
            return Err(CliError::new(self.piece.place(self.offset()), text));
        }
        self.expect("{")?;
        let mut pairs = Vec::new();
        loop {
            let key = self.value()?;
            self.expect(":")?;
            let value = if matches!(self.token(), Token::Sign("{")) {
                HashValue::Hash(self.hash(depth + 1)?)
            } else {
                HashValue::Value(self.value()?)
            };
            pairs.push((key, value));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(pairs)
    }

    /// Reads a row key, a column or a value.
    fn value(&mut self) -> Parse<Value> {
        match self.token().clone() {
            Token::Text(text) => {
                self.at += 1;
                Ok(Value::Text(text))
            }
            Token::Integer(text) => {
                self.at += 1;
                Ok(Value::Word(text))
            }
            Token::Word(word) => {
                self.at += 1;
                if !self.eat("(") {
                    return Ok(Value::Word(word));
                }
                let argument = match self.token().clone() {
                    Token::Word(text) | Token::Text(text) | Token::Integer(text) => {
                        self.at += 1;
                        Some(text)
                    }
                    _ => None,
                };
                self.expect(")")?;
                Ok(Value::Call { function: word, argument })
            }
            _ => Err(self.not_found()),
        }
    }

    /// Reads `family[key][column][sub column]`.
    fn access(&mut self) -> Parse<Access> {
        let family = self.name()?;
        self.expect("[")?;
        let key = self.value()?;
        self.expect("]")?;
        let column = self.subscript()?;
        let sub_column = if column.is_some() { self.subscript()? } else { None };
        Ok(Access { family, key, column, sub_column })
    }

    fn subscript(&mut self) -> Parse<Option<Value>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let value = self.value()?;
        self.expect("]")?;
        Ok(Some(value))
    }

    fn set(&mut self) -> Parse<Command> {
        let cell = self.access()?;
        self.expect("=")?;
        let value = self.value()?;
        let mut ttl = None;
        if self.eat_word("with") {
            self.expect_word("ttl")?;
            self.expect("=")?;
            ttl = Some(self.integer()?);
        }
        Ok(Command::Set { cell, value, ttl })
    }

    fn limit(&mut self) -> Parse<Option<String>> {
        if self.eat_word("limit") { Ok(Some(self.integer()?)) } else { Ok(None) }
    }

    fn get(&mut self) -> Parse<Command> {
        if self.is_word(1, "where") {
            return self.get_where();
        }
        let cell = self.access()?;
        let as_type = if self.eat_word("as") { Some(self.name()?) } else { None };
        Ok(Command::Get { cell, as_type, limit: self.limit()? })
    }

    fn get_where(&mut self) -> Parse<Command> {
        let family = self.name()?;
        self.expect_word("where")?;
        let mut conditions = Vec::new();
        loop {
            let column = self.value()?;
            let operator = match self.token() {
                Token::Sign("=") => Comparison::Equal,
                Token::Sign(">") => Comparison::Greater,
                Token::Sign("<") => Comparison::Less,
                Token::Sign(">=") => Comparison::GreaterOrEqual,
                Token::Sign("<=") => Comparison::LessOrEqual,
                _ => return Err(self.mismatched("set null")),
            };
            self.at += 1;
            conditions.push(Condition { column, operator, value: self.value()? });
            if !self.eat_word("and") {
                break;
            }
        }
        Ok(Command::GetWhere { family, conditions, limit: self.limit()? })
    }

    fn list(&mut self) -> Parse<Command> {
        let family = self.name()?;
        let mut range = None;
        if self.eat("[") {
            let bound = |parser: &mut Self| match parser.token() {
                Token::Sign(_) | Token::End => Ok(None),
                _ => parser.name().map(Some),
            };
            let start = bound(self)?;
            let mut end = None;
            if start.is_some() || matches!(self.token(), Token::Sign(":")) {
                self.expect(":")?;
                end = bound(self)?;
            }
            self.expect("]")?;
            range = Some((start, end));
        }
        let limit = self.limit()?;
        let columns = if self.eat_word("columns") { Some(self.integer()?) } else { None };
        let reversed = self.eat_word("reversed");
        Ok(Command::List { family, range, limit, columns, reversed })
    }

    fn increment(&mut self, down: bool) -> Parse<Command> {
        let cell = self.access()?;
        let mut by = None;
        if self.eat_word("by") {
            let Token::Integer(text) = self.token().clone() else {
                return Err(self.mismatched("set null"));
            };
            self.at += 1;
            by = Some(text);
        }
        Ok(Command::Increment { cell, by, down })
    }

    fn assume(&mut self) -> Parse<Command> {
        let family = self.name()?;
        let element = self.name()?;
        self.expect_word("as")?;
        Ok(Command::Assume { family, element, as_type: self.name()? })
    }

    fn drop(&mut self) -> Parse<Command> {
        if self.eat_word("keyspace") {
            return Ok(Command::DropKeyspace(self.name()?));
        }
        if self.eat_word("column") {
            self.expect_word("family")?;
            return Ok(Command::DropColumnFamily(self.name()?));
        }
        if !self.eat_word("index") {
            return Err(self.not_found());
        }
        self.expect_word("on")?;
        let family = self.name()?;
        self.expect(".")?;
        Ok(Command::DropIndex { family, column: self.name()? })
    }

    fn describe(&mut self) -> Parse<Command> {
        if self.eat_word("cluster") {
            return Ok(Command::DescribeCluster);
        }
        if self.eat_word("ring") {
            return Ok(Command::DescribeRing(self.optional_name()?));
        }
        Ok(Command::Describe(self.optional_name()?))
    }

    fn show(&mut self) -> Parse<Command> {
        if self.eat_word("keyspaces") {
            return Ok(Command::ShowKeyspaces);
        }
        if self.eat_word("schema") {
            return Ok(Command::ShowSchema(self.optional_name()?));
        }
        if self.eat_word("cluster") {
            self.expect_word("name")?;
            return Ok(Command::ShowClusterName);
        }
        if self.eat_word("api") {
            self.expect_word("version")?;
            return Ok(Command::ShowApiVersion);
        }
        Err(self.not_found())
    }
}

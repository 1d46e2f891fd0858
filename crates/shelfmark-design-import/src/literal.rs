//! Reads the object literals of JavaScript and TypeScript, and JSON, without running anything.
//!
//! Objects, lists, texts, numbers and constants that the file names are values; a function, a call or
//! any other expression is unknown, and passed over to its end.
//!
//! What it is not: an interpreter. What an unknown expression would give is asked.
//!
//! Invariant: reading needs at most [`DEPTH_MAX`] levels.

use std::collections::BTreeMap;

use crate::ImportError;
use crate::tokens::{Kind, SCRIPT, Token, tokens};

/// Deepest nesting of literals.
///
/// Ours: published schemas nest ten deep.
pub(crate) const DEPTH_MAX: usize = 64;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Object(Vec<(String, Value)>),
    List(Vec<Value>),
    Text(String),
    Number(String),
    Bool(bool),
    Nothing,
    /// A name that the file does not say the value of, such as `String`.
    Name(String),
    Unknown,
}

impl Value {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Object(members) => {
                members.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub(crate) fn members(&self) -> &[(String, Value)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Value] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Returns a text, or the last part of a name.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Name(name) => name.rsplit('.').next(),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }

    /// Returns the texts of a list, or one text alone.
    pub(crate) fn texts(&self) -> Vec<String> {
        match self {
            Self::List(items) => {
                items.iter().filter_map(|item| item.text()).map(str::to_owned).collect()
            }
            other => other.text().map(str::to_owned).into_iter().collect(),
        }
    }
}

/// The literals of a file: arguments of `new NAME(…)`, constants, and what it exports.
#[derive(Debug, Default)]
pub(crate) struct Literals {
    pub(crate) made: Vec<Made>,
    /// Constants in the order of the file; `export default` is called `default`.
    pub(crate) constants: Vec<(String, Value)>,
}

/// The arguments of `new NAME(value, options)`.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) class: String,
    pub(crate) value: Value,
    pub(crate) options: Value,
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
    known: BTreeMap<String, Value>,
    made: Vec<Made>,
    source: &'t str,
}

/// Reads all literals of a file.
pub(crate) fn literals(text: &str) -> Result<Literals, ImportError> {
    let tokens = tokens(text, SCRIPT)?;
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        depth: 0,
        known: BTreeMap::new(),
        made: Vec::new(),
        source: text,
    };
    let mut constants = Vec::new();
    if tokens.first().is_some_and(|first| first.is("{") || first.is("[")) {
        let value = reader.value()?;
        constants.push(("the file".to_owned(), value));
        return Ok(Literals { made: reader.made, constants });
    }
    while let Some(token) = reader.peek() {
        if token.is_word("new") {
            reader.instance()?;
            continue;
        }
        let declares = ["const", "let", "var", "static"].iter().any(|word| token.is_word(word));
        reader.at += 1;
        if declares {
            reader.constant(&mut constants)?;
        } else if reader.exports() {
            let value = reader.value()?;
            constants.push(("default".to_owned(), value));
        }
    }
    Ok(Literals { made: reader.made, constants })
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is(mark));
        self.at += usize::from(found);
        found
    }

    /// Reads `new NAME(value, options)` and keeps the arguments; without brackets only `new` is passed.
    fn instance(&mut self) -> Result<(), ImportError> {
        self.at += 1;
        let Some(class) = self.peek().filter(|next| next.kind == Kind::Word) else { return Ok(()) };
        let class = class.text.clone();
        self.at += 1;
        self.generics();
        if self.eat("(") {
            let value = self.value()?;
            let options = if self.eat(",") { self.value()? } else { Value::Nothing };
            self.made.push(Made { class, value, options });
        }
        Ok(())
    }

    /// Returns true if a literal follows that the file exports: behind `export default`,
    /// `module.exports =` or `export =`, of which one word was passed.
    fn exports(&mut self) -> bool {
        let word = |back: usize, word: &str| {
            let token = self.at.checked_sub(back).and_then(|at| self.tokens.get(at));
            token.is_some_and(|token| token.is_word(word))
        };
        let default = word(1, "default") && word(2, "export");
        let assigned = word(1, "exports") || word(1, "export");
        let equals = assigned && self.peek().is_some_and(|next| next.is("="));
        let value = self.tokens.get(self.at + usize::from(equals));
        let literal = value.is_some_and(|token| token.is("{") || token.is("["));
        let found = literal && (default || equals);
        self.at += usize::from(found && equals);
        found
    }

    /// Passes over `as const`, `satisfies T<U>` and `!` behind a literal.
    fn assertions(&mut self) {
        while let Some(token) = self.peek() {
            let typed = token.is_word("as") || token.is_word("satisfies");
            if !typed && !token.is("!") {
                return;
            }
            self.at += 1;
            if !typed {
                continue;
            }
            self.at += usize::from(self.peek().is_some_and(|next| next.kind == Kind::Word));
            while self.eat(".") {
                self.at += 1;
            }
            self.generics();
        }
    }

    /// Passes over the type arguments of a class.
    fn generics(&mut self) {
        if !self.peek().is_some_and(|token| token.is("<")) {
            return;
        }
        let mut open = 0_usize;
        while let Some(token) = self.peek() {
            open += usize::from(token.is("<"));
            open = open.saturating_sub(usize::from(token.is(">")));
            self.at += 1;
            if open == 0 {
                return;
            }
        }
    }

    /// Reads `NAME[: Type] = value`, if the value is a literal.
    fn constant(&mut self, found: &mut Vec<(String, Value)>) -> Result<(), ImportError> {
        let Some(name) = self.peek().filter(|token| token.kind == Kind::Word) else {
            return Ok(());
        };
        let name = name.text.clone();
        self.at += 1;
        let start = self.at;
        while self.peek().is_some_and(|token| !token.is("=") && !token.is(";") && !token.is("{")) {
            self.at += 1;
            if self.at > start + 24 {
                return Ok(());
            }
        }
        if !self.eat("=") {
            return Ok(());
        }
        let literal = self.peek().is_some_and(|token| {
            token.is("{") || token.is("[") || matches!(token.kind, Kind::Text(_) | Kind::Number)
        });
        if literal {
            let value = self.value()?;
            self.known.insert(name.clone(), value.clone());
            found.push((name, value));
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Value, ImportError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let start = self.peek().map_or(0, |token| token.start);
            let message = format!("literals nest deeper than {DEPTH_MAX} levels; flatten them");
            return Err(ImportError::at(self.source, start, message));
        }
        let value = self.start()?;
        self.depth -= 1;
        // `as const`, `satisfies T` and `!` say nothing of the value; an operator makes it unknown.
        let ends = |token: &Token| [",", "}", "]", ")", ";"].iter().any(|mark| token.is(mark));
        match self.peek() {
            None => Ok(value),
            Some(token) if ends(token) => Ok(value),
            Some(_) if self.depth == 0 => {
                self.assertions();
                Ok(value)
            }
            Some(token) if token.is_word("as") || token.is_word("satisfies") || token.is("!") => {
                self.skip();
                Ok(value)
            }
            Some(_) => {
                self.skip();
                Ok(Value::Unknown)
            }
        }
    }

    fn start(&mut self) -> Result<Value, ImportError> {
        let Some(token) = self.peek().cloned() else { return Ok(Value::Nothing) };
        if token.is("{") {
            self.at += 1;
            return self.object();
        }
        if token.is("[") {
            self.at += 1;
            let mut items = Vec::new();
            while let Some(next) = self.peek() {
                if next.is("]") {
                    break;
                }
                items.push(self.value()?);
                if !self.eat(",") {
                    break;
                }
            }
            self.close("]", token.start)?;
            return Ok(Value::List(items));
        }
        let next = self.tokens.get(self.at + 1);
        let called = next.is_some_and(|next| next.is("(") || next.is("=>") || next.is("`"));
        match token.kind {
            Kind::Text(_) => {
                self.at += 1;
                Ok(Value::Text(token.text))
            }
            Kind::Number => {
                self.at += 1;
                Ok(Value::Number(token.text))
            }
            Kind::Word if token.is_word("new") => {
                let start = self.at;
                self.instance()?;
                self.at = start;
                self.skip();
                Ok(Value::Unknown)
            }
            Kind::Word
                if called || ["function", "async", "class"].contains(&token.text.as_str()) =>
            {
                self.skip();
                Ok(Value::Unknown)
            }
            Kind::Word => Ok(self.name(&token)),
            _ => {
                self.skip();
                Ok(Value::Unknown)
            }
        }
    }

    fn name(&mut self, token: &Token) -> Value {
        self.at += 1;
        let mut name = token.text.clone();
        while self.peek().is_some_and(|next| next.is(".")) {
            let Some(part) = self.tokens.get(self.at + 1) else { break };
            name.push('.');
            name.push_str(&part.text);
            self.at += 2;
        }
        if self.peek().is_some_and(|next| next.is("(")) {
            self.skip();
            return Value::Unknown;
        }
        match name.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" | "undefined" => Value::Nothing,
            _ => self.known.get(&name).cloned().unwrap_or(Value::Name(name)),
        }
    }

    fn object(&mut self) -> Result<Value, ImportError> {
        let start = self.peek().map_or(self.source.len(), |token| token.start);
        let mut members: Vec<(String, Value)> = Vec::new();
        while let Some(token) = self.peek().cloned() {
            if token.is("}") {
                break;
            }
            self.at += 1;
            if token.is("...") {
                if let Value::Object(more) = self.value()? {
                    members.extend(more);
                }
            } else if self.eat(":") {
                let value = self.value()?;
                members.push((token.text, value));
            } else if self.peek().is_some_and(|next| next.is(",") || next.is("}")) {
                let value = self.known.get(&token.text).cloned();
                members.push((token.text.clone(), value.unwrap_or(Value::Name(token.text))));
            } else {
                // A method, a getter, a computed name: passed over.
                self.skip();
                members.push((token.text, Value::Unknown));
            }
            if !self.eat(",") {
                break;
            }
        }
        self.close("}", start)?;
        Ok(Value::Object(members))
    }

    fn close(&mut self, mark: &str, start: usize) -> Result<(), ImportError> {
        if self.eat(mark) {
            return Ok(());
        }
        let at = self.peek().map_or(start, |token| token.start);
        Err(ImportError::at(
            self.source,
            at,
            format!("expected `{mark}` that closes what was opened"),
        ))
    }

    /// Passes over an expression, to the mark that ends it.
    fn skip(&mut self) {
        let mut open = 0_usize;
        while let Some(token) = self.peek() {
            let opens = ["(", "[", "{"].iter().any(|mark| token.is(mark));
            let closes = [")", "]", "}"].iter().any(|mark| token.is(mark));
            if open == 0 && (closes || token.is(",") || token.is(";")) {
                return;
            }
            open += usize::from(opens);
            open = open.saturating_sub(usize::from(closes));
            self.at += 1;
        }
    }
}

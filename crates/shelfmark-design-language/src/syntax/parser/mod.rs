//! Parses tokens to the syntax tree, with recovery: one run reports every error it can.
//!
//! After an error the rest of the line's construct is skipped up to the next line that begins
//! something at the same depth of braces.
//!
//! Invariant: never panics, never recurses deeper than `DEPTH_MAX`, always moves forward.

mod pattern;
mod relation;
mod schema;
mod template;

use std::collections::BTreeSet;

use super::diagnostic::{Diagnostic, nearest, shortened};
use super::lexer::{Comment, Token, TokenKind, lex};
use super::span::Span;
use super::tree::{File, Item, Name};
use crate::limits::{DEPTH_MAX, DIAGNOSTICS_MAX, SOURCE_BYTES_MAX};

pub use template::segments;

/// Longest word of a source that a message repeats, in characters.
///
/// Ours: enough to know it again.
const FOUND_CHARACTERS_MAX: usize = 40;

/// The result of parsing: a tree of the readable parts, comments and messages.
pub struct Parsed {
    /// The syntax tree.
    pub file: File,
    /// The comments, which the printer puts back.
    pub comments: Vec<Comment>,
    /// The syntax errors.
    pub diagnostics: Vec<Diagnostic>,
    /// The words of unreadable parts, which later errors may follow from.
    pub broken: Broken,
}

/// Words of unreadable lines: unknown names may have been declared there.
#[derive(Debug, Default)]
pub struct Broken {
    /// The names that stand in broken declarations.
    pub words: BTreeSet<String>,
    /// True if a block has no end, so that its content is unknown.
    pub open: bool,
}

/// The words that begin an item.
const ITEMS: [&str; 8] = ["type", "entity", "link", "read", "write", "schema", "target", "allow"];

/// Parses a text as far as it can.
pub fn parse(source: &str) -> Parsed {
    let mut diagnostics = Vec::new();
    if source.len() > SOURCE_BYTES_MAX {
        let message =
            format!("this model has {} bytes; at most {SOURCE_BYTES_MAX} are read", source.len());
        let diagnostic = Diagnostic::error(Span::new(0, 0), message).help("split it into files");
        return Parsed {
            file: File::default(),
            comments: Vec::new(),
            diagnostics: vec![diagnostic],
            broken: Broken::default(),
        };
    }
    let lexed = lex(source, &mut diagnostics);
    let mut parser = Parser {
        source,
        tokens: lexed.tokens,
        at: 0,
        depth: 0,
        diagnostics,
        broken: Broken::default(),
        end: Token { kind: TokenKind::End, span: Span::default(), first: true },
    };
    let file = parser.file();
    Parsed {
        file,
        comments: lexed.comments,
        diagnostics: parser.diagnostics,
        broken: parser.broken,
    }
}

/// A parsed part; `None` after an error, which has been reported.
pub(super) type Got<T> = Option<T>;

pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    broken: Broken,
    end: Token,
}

/// Returns the equivalent of another language's word.
fn elsewhere(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "or" | "union" => "write two reads: each of them is a range of its own",
        "not" | "except" => {
            "what is left beside a value is no range: keep it as an attribute of its own"
        }
        "like" => "it is `begins`, `ends` or `contains`",
        "sort" => "it is `order by`",
        "take" | "top" | "first" => "it is `limit n`",
        "upsert" | "put" | "replace" => "it is `insert … or replace`",
        "create" | "add" => "it is `insert`, or `link`",
        "remove" => "it is `delete`, or `unlink`",
        "if" => "it is `unless exists`",
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.at_end() {
            let before = self.at;
            match self.item() {
                Some(item) => file.items.push(item),
                None => self.recover(before, |parser| ITEMS.contains(&parser.word())),
            }
        }
        file
    }

    fn item(&mut self) -> Got<Item> {
        match self.word() {
            "type" => self.type_item().map(Item::Type),
            "entity" => self.entity().map(Item::Entity),
            "link" => self.link().map(Item::Link),
            "read" => self.read().map(|read| Item::Read(Box::new(read))),
            "write" => self.write().map(|write| Item::Write(Box::new(write))),
            "schema" => self.schema().map(|schema| Item::Schema(Box::new(schema))),
            "target" => self.settings().map(Item::Target),
            "allow" => self.allow().map(Item::Allow),
            other => {
                let message = "expected an item".to_owned();
                let mut diagnostic = Diagnostic::error(self.span(), message)
                    .label("nothing of a model begins like this");
                diagnostic = match nearest(other, ITEMS) {
                    Some(near) if !other.is_empty() => {
                        diagnostic.help(format!("did you mean `{near}`?"))
                    }
                    _ => {
                        diagnostic.help(format!("an item begins with one of: {}", ITEMS.join(", ")))
                    }
                };
                self.report(diagnostic);
                None
            }
        }
    }

    /// Skips to the next line at this depth on which `starts` holds, or to the block's end.
    pub(super) fn recover(&mut self, before: usize, starts: impl Fn(&Self) -> bool) {
        if self.at == before {
            self.step();
        }
        let mut open = 0_usize;
        while !self.at_end() {
            if self.is("{") {
                open += 1;
            } else if self.is("}") {
                if open == 0 {
                    break;
                }
                open -= 1;
            } else if open == 0 && self.token().first && starts(self) {
                break;
            }
            self.step();
        }
        for token in self.tokens.get(before..self.at).unwrap_or(&[]) {
            if token.kind == TokenKind::Name {
                let word = self.source.get(token.span.start..token.span.end).unwrap_or("");
                self.broken.words.insert(word.to_owned());
            }
        }
    }

    /// Parses members between braces until the closing one, recovering line by line.
    pub(super) fn block(&mut self, mut member: impl FnMut(&mut Self) -> Got<()>) -> Got<()> {
        let open = self.span();
        self.expect("{")?;
        self.enter()?;
        while !self.is("}") {
            if self.at_end() {
                self.report(
                    Diagnostic::error(open, "this block is never closed".to_owned())
                        .help("add a closing brace"),
                );
                self.broken.open = true;
                self.depth -= 1;
                return None;
            }
            let before = self.at;
            if member(self).is_none() {
                self.recover(before, |parser| parser.token().first);
            }
            self.eat(";");
        }
        self.depth -= 1;
        self.expect("}")
    }

    pub(super) fn enter(&mut self) -> Got<()> {
        if self.depth >= DEPTH_MAX {
            let message = format!("nested deeper than {DEPTH_MAX}");
            self.report(Diagnostic::error(self.span(), message));
            return None;
        }
        self.depth += 1;
        Some(())
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < DIAGNOSTICS_MAX {
            self.diagnostics.push(diagnostic);
        }
    }

    pub(super) fn fail<T>(&mut self, message: impl Into<String>, help: &str) -> Got<T> {
        let diagnostic = Diagnostic::error(self.span(), message.into());
        self.report(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
        None
    }

    /// Fails where one of some words was expected, suggesting the nearest, or all of them.
    pub(super) fn fail_among<T>(&mut self, what: &str, known: &[&str]) -> Got<T> {
        let found = self.found();
        let near = nearest(self.word(), known.iter().copied()).filter(|_| !self.word().is_empty());
        // In plans some of these words are what they say.
        let pattern = !what.contains("plan") && !what.contains("step");
        let other = elsewhere(self.word()).filter(|_| pattern);
        let help = match (other, near) {
            (Some(help), _) => help.to_owned(),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("known: {}", known.join(", ")),
        };
        self.fail(format!("expected {what}, found {found}"), &help)
    }

    pub(super) fn token(&self) -> &Token {
        self.tokens.get(self.at).or(self.tokens.last()).unwrap_or(&self.end)
    }

    pub(super) fn peek(&self, ahead: usize) -> &Token {
        self.tokens.get(self.at + ahead).or(self.tokens.last()).unwrap_or(&self.end)
    }

    pub(super) fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    pub(super) fn span(&self) -> Span {
        self.token().span
    }

    /// Returns the end of the token before this one.
    pub(super) fn last_end(&self) -> usize {
        self.at
            .checked_sub(1)
            .and_then(|before| self.tokens.get(before))
            .map_or(0, |token| token.span.end)
    }

    /// Returns the span from `start` to the end of the token before this one.
    pub(super) fn since(&self, start: Span) -> Span {
        Span::new(start.start, self.last_end().max(start.start))
    }

    pub(super) fn text_of(&self, token: &Token) -> &'a str {
        self.source.get(token.span.start..token.span.end).unwrap_or("")
    }

    /// Returns the word here, or an empty text when this is no name.
    pub(super) fn word(&self) -> &'a str {
        self.word_at(0)
    }

    pub(super) fn word_at(&self, ahead: usize) -> &'a str {
        let token = self.peek(ahead);
        if token.kind == TokenKind::Name { self.text_of(token) } else { "" }
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        self.is_at(0, mark)
    }

    pub(super) fn is_at(&self, ahead: usize, mark: &str) -> bool {
        matches!(self.peek(ahead).kind, TokenKind::Mark(found) if found == mark)
    }

    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.step();
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        if found {
            self.step();
        }
        found
    }

    pub(super) fn expect(&mut self, mark: &str) -> Got<()> {
        if self.eat(mark) {
            return Some(());
        }
        let found = self.found();
        let help = match mark {
            ")" if self.is(";") => {
                "only in a table's key stands `;`; elsewhere all parts are parted by commas"
            }
            _ => "",
        };
        self.fail(format!("expected `{mark}`, found {found}"), help)
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Got<()> {
        if self.eat_word(word) {
            return Some(());
        }
        let found = self.found();
        let near = nearest(self.word(), [word]).filter(|_| !self.word().is_empty());
        let help = near.map_or_else(String::new, |near| format!("did you mean `{near}`?"));
        self.fail(format!("expected `{word}`, found {found}"), &help)
    }

    /// Returns true if an item begins here: its word is the first of a line, and a name follows.
    pub(super) fn at_item(&self) -> bool {
        self.token().first && ITEMS.contains(&self.word()) && self.peek(1).kind == TokenKind::Name
    }

    /// Describes the token here, for messages.
    pub(super) fn found(&self) -> String {
        match &self.token().kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", shortened(self.text_of(self.token()), FOUND_CHARACTERS_MAX)),
        }
    }

    pub(super) fn name(&mut self, what: &str) -> Got<Name> {
        if self.token().kind == TokenKind::Name && !self.at_item() {
            let name = Name { text: self.word().to_owned(), span: self.span() };
            self.step();
            return Some(name);
        }
        let found = self.found();
        self.fail(format!("expected {what}, found {found}"), "")
    }

    pub(super) fn text(&mut self, what: &str) -> Got<String> {
        if let TokenKind::Text(text) = &self.token().kind {
            let text = text.clone();
            self.step();
            return Some(text);
        }
        let found = self.found();
        self.fail(format!("expected {what} in double quotes, found {found}"), "")
    }

    /// Parses a whole number, perhaps negative, perhaps with a suffix such as `k` or `M`.
    pub(super) fn integer(&mut self) -> Got<i64> {
        let negative = self.eat("-");
        if self.token().kind == TokenKind::Number {
            let text = self.text_of(self.token());
            let parsed = crate::model::quantity::integer(text);
            if let Some(value) = parsed {
                self.step();
                return Some(if negative { -value } else { value });
            }
        }
        let found = self.found();
        self.fail(format!("expected a whole number, found {found}"), "")
    }

    pub(super) fn natural(&mut self) -> Got<u64> {
        let value = self.integer()?;
        match u64::try_from(value) {
            Ok(value) => Some(value),
            Err(_) => self.fail("expected a number from 0 on", ""),
        }
    }

    /// Parses items between brackets, separated by commas; a trailing comma is allowed.
    pub(super) fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Got<T>,
    ) -> Got<Vec<T>> {
        self.expect(open)?;
        self.enter()?;
        let mut items = Vec::new();
        while !self.is(close) {
            items.push(item(self)?);
            if !self.eat(",") {
                break;
            }
        }
        self.leave();
        self.expect(close)?;
        Some(items)
    }

    /// Parses at least one item, separated by commas, without brackets around.
    pub(super) fn commas<T>(&mut self, mut item: impl FnMut(&mut Self) -> Got<T>) -> Got<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Some(items)
    }
}

//! Parses values, paths, and texts with holes.

use super::super::diagnostic::Diagnostic;
use super::super::lexer::TokenKind;
use super::super::span::Span;
use super::super::tree::{Codec, Expr, ExprKind, Name, Path, Segment, Template};
use super::{Got, Parser};
use crate::limits::DEPTH_MAX;

impl Parser<'_> {
    pub(super) fn path(&mut self) -> Got<Path> {
        let mut parts = vec![self.name("a name")?];
        while self.is(".") {
            self.step();
            parts.push(self.name("a name")?);
        }
        Some(Path { parts })
    }

    /// Parses a value of a pattern, in which texts have no holes.
    pub(super) fn expr(&mut self) -> Got<Expr> {
        self.expr_with(false)
    }

    /// Parses a value of a schema, in which texts are templates.
    pub(super) fn key_expr(&mut self) -> Got<Expr> {
        self.expr_with(true)
    }

    fn expr_with(&mut self, templates: bool) -> Got<Expr> {
        self.enter()?;
        let start = self.span();
        let kind = match &self.token().kind {
            TokenKind::Text(_) if templates => self.template().map(ExprKind::Template)?,
            TokenKind::Text(text) => {
                let text = text.clone();
                self.step();
                ExprKind::Text(text)
            }
            TokenKind::Number | TokenKind::Mark("-") => ExprKind::Int(self.integer()?),
            _ => self.word_expr(templates)?,
        };
        let mut expr = Expr { kind, span: self.since(start) };
        // `user / 100` inside `floor(…)`.
        if self.eat("/") {
            let divisor = Expr { span: self.span(), kind: ExprKind::Int(self.integer()?) };
            let name = Name { text: "div".to_owned(), span: expr.span };
            expr = Expr {
                span: self.since(start),
                kind: ExprKind::Call { name, args: vec![expr, divisor] },
            };
        }
        self.leave();
        Some(expr)
    }

    fn word_expr(&mut self, templates: bool) -> Got<ExprKind> {
        match self.word() {
            "true" => {
                self.step();
                return Some(ExprKind::Bool(true));
            }
            "false" => {
                self.step();
                return Some(ExprKind::Bool(false));
            }
            _ => {}
        }
        if self.is_at(1, "(") {
            let name = self.name("a function")?;
            let args = self.list("(", ")", |parser| parser.expr_with(templates))?;
            return Some(ExprKind::Call { name, args });
        }
        self.path().map(ExprKind::Path)
    }

    pub(super) fn template(&mut self) -> Got<Template> {
        let span = self.span();
        let raw = self.text("a template")?;
        let mut found = Vec::new();
        let segments = segments(&raw, span.start + 1, &mut found);
        let failed = !found.is_empty();
        for diagnostic in found {
            self.report(diagnostic);
        }
        if failed { None } else { Some(Template { raw, segments, span }) }
    }
}

/// Splits a text into literals and holes; `<<` stands for `<`.
pub fn segments(raw: &str, offset: usize, errors: &mut Vec<Diagnostic>) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some(rest) = raw.get(at..)
        && let Some(next) = rest.chars().next()
    {
        if next != '<' {
            literal.push(next);
            at += next.len_utf8();
        } else if rest.starts_with("<<") {
            literal.push('<');
            at += 2;
        } else if let Some(length) = rest.find('>') {
            if !literal.is_empty() {
                segments.push(Segment::Literal(std::mem::take(&mut literal)));
            }
            let inside = rest.get(1..length).unwrap_or("");
            hole(inside, offset + at + 1, &mut segments, errors);
            at += length + 1;
        } else {
            let span = Span::new(offset + at, offset + raw.len());
            errors.push(
                Diagnostic::error(span, "this hole is never closed".to_owned())
                    .help("close it with `>`, or write `<<` for the character itself"),
            );
            break;
        }
    }
    if !literal.is_empty() {
        segments.push(Segment::Literal(literal));
    }
    segments
}

/// Parses the inside of a hole: `path`, `path:codec`, `call(path)`, or `path:pad(4)`.
fn hole(inside: &str, offset: usize, segments: &mut Vec<Segment>, errors: &mut Vec<Diagnostic>) {
    let span = Span::new(offset, offset + inside.len());
    let (value, codec) = match inside.split_once(':') {
        Some((value, codec)) => (value, Some(codec)),
        None => (inside, None),
    };
    let Some(expr) = expression(value, offset, 0) else {
        errors.push(Diagnostic::error(span, format!("`{inside}` is no hole")).help(
            "a hole is an attribute, a path or a computed part: <user>, <author.name>, <week(at)>",
        ));
        return;
    };
    let codec = match codec {
        None => None,
        Some(text) => match codec_of(text.trim(), offset + value.len() + 1) {
            Some(codec) => Some(codec),
            None => {
                errors.push(
                    Diagnostic::error(span, format!("`{text}` is no codec"))
                        .help("known: pad(n), lexint, ulid, iso, esc"),
                );
                None
            }
        },
    };
    segments.push(Segment::Hole { expr, codec });
}

fn codec_of(text: &str, offset: usize) -> Option<Codec> {
    let span = Span::new(offset, offset + text.len());
    if let Some(width) = text.strip_prefix("pad(").and_then(|rest| rest.strip_suffix(')')) {
        let width = width.trim().parse().ok().filter(|width| (1..=20).contains(width))?;
        let name = Name { text: "pad".to_owned(), span };
        return Some(Codec { name, width: Some(width) });
    }
    let known = ["lexint", "ulid", "iso", "esc"].contains(&text);
    known.then(|| Codec { name: Name { text: text.to_owned(), span }, width: None })
}

/// Parses the expressions inside holes: paths, whole numbers, `/`, and calls.
fn expression(text: &str, offset: usize, depth: usize) -> Option<Expr> {
    if depth >= DEPTH_MAX {
        return None;
    }
    let lead = text.len() - text.trim_start().len();
    let offset = offset + lead;
    let text = text.trim();
    let span = Span::new(offset, offset + text.len());
    if let Some(body) = text.strip_suffix(')')
        && let Some(open) = body.find('(')
    {
        let name = Name { text: word(body.get(..open)?)?, span };
        let args = arguments(body.get(open + 1..)?, offset + open + 1, depth + 1)?;
        return Some(Expr { kind: ExprKind::Call { name, args }, span });
    }
    if let Some((left, right)) = text.rsplit_once('/') {
        let left = expression(left, offset, depth + 1)?;
        let right = Expr { kind: ExprKind::Int(right.trim().parse().ok()?), span };
        let name = Name { text: "div".to_owned(), span };
        return Some(Expr { kind: ExprKind::Call { name, args: vec![left, right] }, span });
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(Expr { kind: ExprKind::Int(number), span });
    }
    let parts: Option<Vec<Name>> =
        text.split('.').map(|part| Some(Name { text: word(part)?, span })).collect();
    Some(Expr { kind: ExprKind::Path(Path { parts: parts? }), span })
}

/// Splits at the commas outside parentheses.
fn arguments(text: &str, offset: usize, depth: usize) -> Option<Vec<Expr>> {
    let mut open = 0_i32;
    let mut start = 0;
    let mut args = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' => open -= 1,
            ',' if open == 0 => {
                args.push(expression(text.get(start..at)?, offset + start, depth)?);
                start = at + 1;
            }
            _ => {}
        }
    }
    args.push(expression(text.get(start..)?, offset + start, depth)?);
    Some(args)
}

fn word(text: &str) -> Option<String> {
    let good = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    good.then(|| text.to_owned())
}

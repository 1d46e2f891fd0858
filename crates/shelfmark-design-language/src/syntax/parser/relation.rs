//! Parses types, entities, links and the facts behind them.

use super::super::diagnostic::{Diagnostic, nearest};
use super::super::lexer::TokenKind;
use super::super::tree::{
    Attribute, End, Fact, Fanout, Fd, Member, Name, Names, Param, Relation, Type, TypeItem,
    TypeOption,
};
use super::{Got, Parser};
use crate::model::quantity::{Dimension, billions};

/// Facts of attributes; the second is true if a quantity follows.
const ATTRIBUTE_FACTS: [(&str, bool); 14] = [
    ("immutable", false),
    ("mutable", false),
    ("optional", false),
    ("unique", false),
    ("monotonic", false),
    ("uniform", false),
    ("ttl", false),
    ("avg", true),
    ("max", true),
    ("distinct", true),
    ("zipf", true),
    ("normal", true),
    ("changes", true),
    ("sparse", true),
];

const RELATION_FACTS: [(&str, bool); 3] = [("count", true), ("growth", true), ("retention", true)];

const FANOUT_FACTS: [(&str, bool); 7] = [
    ("min", true),
    ("avg", true),
    ("p99", true),
    ("max", true),
    ("zipf", true),
    ("uniform", false),
    ("growth", true),
];

/// Words that begin a member and are no attribute.
const MEMBERS: [&str; 8] =
    ["key", "unique", "together", "fd", "fanout", "count", "growth", "retention"];

impl Parser<'_> {
    pub(super) fn type_item(&mut self) -> Got<TypeItem> {
        let start = self.span();
        self.step();
        let name = self.name("the name of a type")?;
        self.expect("=")?;
        let ty = self.ty()?;
        Some(TypeItem { name, ty, span: self.since(start) })
    }

    pub(super) fn ty(&mut self) -> Got<Type> {
        self.enter()?;
        let start = self.span();
        let name = self.name("a type")?;
        let element = if matches!(name.text.as_str(), "list" | "set") && self.eat_word("of") {
            Some(Box::new(self.ty()?))
        } else {
            None
        };
        let mut fields = Vec::new();
        if name.text == "record" && self.is("{") {
            self.block(|parser| {
                fields.push(parser.attribute(false)?);
                parser.eat(",");
                Some(())
            })?;
        }
        let among = if name.text == "one" && self.eat_word("of") {
            self.list("(", ")", |parser| parser.name("an entity"))?
        } else {
            Vec::new()
        };
        let options =
            if self.is("(") { self.list("(", ")", Self::type_option)? } else { Vec::new() };
        self.leave();
        Some(Type { name, options, element, fields, among, span: self.since(start) })
    }

    fn type_option(&mut self) -> Got<TypeOption> {
        if let TokenKind::Text(text) = &self.token().kind {
            let text = text.clone();
            self.step();
            return Some(TypeOption::Variant(text));
        }
        match self.word() {
            "max" => {
                self.step();
                self.natural().map(TypeOption::Max)
            }
            "min" => {
                self.step();
                self.natural().map(TypeOption::Min)
            }
            "without" => {
                self.step();
                self.text("the characters that do not occur").map(TypeOption::Without)
            }
            "only" => {
                self.step();
                self.text("the characters that may occur").map(TypeOption::Only)
            }
            "" => {
                let low = self.integer()?;
                self.expect("..")?;
                let high = self.integer()?;
                Some(TypeOption::Range(low, high))
            }
            other => {
                let near = nearest(other, ["max", "min", "without", "only"]);
                let help = near.map_or_else(
                    || {
                        "known: max N, min N, without \"…\", only \"…\", 0..9, \"variant\""
                            .to_owned()
                    },
                    |near| format!("did you mean `{near}`?"),
                );
                let word = other.starts_with(|c: char| c.is_alphabetic()) && near.is_none();
                let help = if word {
                    format!("write a value of an enum as a text, `\"{other}\"`; {help}")
                } else {
                    help
                };
                self.fail(format!("`{other}` is no option of a type"), &help)
            }
        }
    }

    pub(super) fn entity(&mut self) -> Got<Relation> {
        let start = self.span();
        self.step();
        let name = self.name("the name of an entity")?;
        let members = self.members()?;
        Some(Relation { name, ends: Vec::new(), members, span: self.since(start) })
    }

    pub(super) fn link(&mut self) -> Got<Relation> {
        let start = self.span();
        self.step();
        let name = self.name("the name of a link")?;
        let mut ends = Vec::new();
        while self.eat_word("from") || self.eat_word("to") {
            let entity = self.name("an entity")?;
            let role = if self.eat_word("as") { Some(self.name("a role")?) } else { None };
            ends.push(End { entity, role });
        }
        if ends.len() < 2 {
            return self.fail(
                "a link needs two ends",
                "write `link Follow from User as followee to User as follower { … }`",
            );
        }
        let members = if self.is("{") { self.members()? } else { Vec::new() };
        Some(Relation { name, ends, members, span: self.since(start) })
    }

    fn members(&mut self) -> Got<Vec<Member>> {
        let mut members = Vec::new();
        self.block(|parser| {
            members.push(parser.member()?);
            parser.eat(",");
            Some(())
        })?;
        Some(members)
    }

    fn member(&mut self) -> Got<Member> {
        let start = self.span();
        if self.is_at(1, ":") {
            return self.attribute(false).map(Member::Attribute);
        }
        match self.word() {
            "key" if self.is_at(1, "(") => {
                self.step();
                let names = self.list("(", ")", |parser| parser.name("an attribute"))?;
                Some(Member::Key(Names { names, span: self.since(start) }))
            }
            "key" => {
                self.step();
                self.attribute(true).map(Member::Attribute)
            }
            "unique" => {
                self.step();
                let names = self.list("(", ")", |parser| parser.name("an attribute"))?;
                Some(Member::Unique(Names { names, span: self.since(start) }))
            }
            "together" => {
                self.step();
                let names = self.list("(", ")", |parser| parser.name("an attribute"))?;
                Some(Member::Together(Names { names, span: self.since(start) }))
            }
            "fd" => {
                self.step();
                let from = self.commas(|parser| parser.name("an attribute"))?;
                self.expect("->")?;
                let to = self.commas(|parser| parser.name("an attribute"))?;
                Some(Member::Fd(Fd { from, to, span: self.since(start) }))
            }
            "fanout" => {
                self.step();
                let from = self.commas(|parser| parser.name("an end or attribute"))?;
                let to = if self.eat("->") { Some(self.name("the other end")?) } else { None };
                let facts = self.facts(&FANOUT_FACTS)?;
                Some(Member::Fanout(Fanout { from, to, facts, span: self.since(start) }))
            }
            "count" | "growth" | "retention" => self.facts_one(&RELATION_FACTS).map(Member::Fact),
            other => {
                let facts = ATTRIBUTE_FACTS.iter().chain(&FANOUT_FACTS).map(|(name, _)| *name);
                let near = nearest(other, MEMBERS.into_iter().chain(facts));
                let near = near.filter(|_| !other.is_empty());
                let help = near.map_or_else(
                    || "an attribute is written `name: type`".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                let found = self.found();
                self.fail(format!("expected an attribute or a fact, found {found}"), &help)
            }
        }
    }

    fn attribute(&mut self, key: bool) -> Got<Attribute> {
        let start = self.span();
        let name = self.name("an attribute")?;
        self.expect(":")?;
        let ty = self.ty()?;
        let facts = self.facts(&ATTRIBUTE_FACTS)?;
        Some(Attribute { name, key, ty, facts, span: self.since(start) })
    }

    /// Parses facts up to the first other word; an attribute named like a fact begins a new member.
    pub(super) fn facts(&mut self, known: &[(&str, bool)]) -> Got<Vec<Fact>> {
        let mut facts = Vec::new();
        while known.iter().any(|(name, _)| *name == self.word())
            && !self.is_at(1, ":")
            && !(self.word() == "unique" && self.is_at(1, "("))
        {
            facts.push(self.facts_one(known)?);
        }
        Some(facts)
    }

    pub(super) fn facts_one(&mut self, known: &[(&str, bool)]) -> Got<Fact> {
        let valued = known.iter().any(|(name, valued)| *name == self.word() && *valued);
        let name = self.name("a fact")?;
        let span = self.span();
        let value = if valued { Some(self.quantity()?) } else { None };
        // Only facts of attributes say what may be left out.
        let attribute = known.iter().any(|(name, _)| *name == "optional");
        let dimension = Dimension::of(&name.text, attribute);
        let fits = |raw: &&String| dimension.fits(raw) || billions(&name.text, raw);
        if let Some(raw) = value.as_ref().filter(|raw| !fits(raw)) {
            let message = format!("`{raw}` does not fit `{}`", name.text);
            let help = format!("it takes {}", dimension.examples());
            self.report(Diagnostic::error(self.since(span), message).help(help));
        }
        Some(Fact { name, value })
    }

    /// Parses a quantity as written: a number, `%`, and `/` with a unit of time, without spaces.
    pub(super) fn quantity(&mut self) -> Got<String> {
        let start = self.span();
        if self.token().kind != TokenKind::Number {
            let found = self.found();
            return self.fail(
                format!("expected a quantity, found {found}"),
                "such as 2M, 300/s, 3%/mo, 64MiB",
            );
        }
        self.step();
        self.eat("%");
        if self.eat("/") {
            self.name("a unit of time")?;
        }
        let span = self.since(start);
        let raw: String = self
            .source
            .get(span.start..span.end)
            .unwrap_or("")
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect();
        if crate::model::quantity::parse(&raw).is_none() {
            self.report(
                Diagnostic::error(span, format!("`{raw}` is no quantity"))
                    .help("such as 2M, 1.5k, 300/s, 3%/mo, 64MiB, 3y"),
            );
            return None;
        }
        Some(raw)
    }

    pub(super) fn params(&mut self) -> Got<Vec<Param>> {
        self.list("(", ")", |parser| {
            let name = parser.name("a parameter")?;
            let ty = if parser.eat(":") { Some(parser.ty()?) } else { None };
            Some(Param { name, ty })
        })
    }

    pub(super) fn names_in(&mut self, what: &str) -> Got<Vec<Name>> {
        self.list("(", ")", |parser| parser.name(what))
    }
}

//! Formats the tree as text, with the comments.
//!
//! A comment stays in front of what it stood in front of, or behind what ended on its line; one
//! inside a pattern or a row goes in front of it. One blank line is kept where there were some.
//!
//! Invariant: formatting what was formatted changes nothing, and what is parsed from it is the
//! same tree.

mod parts;
mod schema;

use super::lexer::Comment;
use super::span::Span;
use super::tree::{File, Item, Member, Relation};
pub use parts::quote;
use parts::{
    allow, attribute, effects, facts, fanout, names, params, read_clauses, settings_value, ty,
};

/// Widest line; longer ones break before their clauses.
const WIDTH_MAX: usize = 100;

/// Prints a syntax tree with its comments.
pub fn format(source: &str, file: &File, comments: &[Comment]) -> String {
    let mut printer =
        Printer { source, comments, next: 0, out: String::new(), depth: 0, last: 0, fresh: true };
    for item in &file.items {
        printer.item(item);
    }
    printer.comments_before(source.len() + 1);
    printer.out
}

struct Printer<'a> {
    source: &'a str,
    comments: &'a [Comment],
    next: usize,
    out: String,
    depth: usize,
    /// The end of the last unit in the source.
    last: usize,
    /// True if a block was just opened, where no blank line is kept.
    fresh: bool,
}

impl Printer<'_> {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Type(def) => {
                self.line(def.span, &[format!("type {} = {}", def.name.text, ty(&def.ty))]);
            }
            Item::Entity(relation) => self.relation("entity", relation),
            Item::Link(relation) => self.relation("link", relation),
            Item::Read(read) => self.line(read.span, &read_clauses(read)),
            Item::Write(write) => {
                let mut clauses =
                    vec![format!("write {}{} =", write.name.text, params(&write.params))];
                clauses.extend(effects(write));
                let tail = facts(&write.facts);
                if !tail.is_empty() {
                    clauses.push(tail);
                }
                self.line(write.span, &clauses);
            }
            Item::Schema(schema) => self.schema(schema),
            Item::Target(settings) => {
                self.open(settings.span, format!("target {} {{", settings.target.text));
                for (path, value) in &settings.values {
                    self.line(path.span(), &[settings_value(path, value)]);
                }
                self.close(settings.span);
            }
            Item::Allow(item) => self.line(item.span, &[allow(item)]),
        }
    }

    fn relation(&mut self, word: &str, relation: &Relation) {
        let mut head = format!("{word} {}", relation.name.text);
        for (index, end) in relation.ends.iter().enumerate() {
            let side = if index == 0 { "from" } else { "to" };
            head.push_str(&format!(" {side} {}", end.entity.text));
            if let Some(role) = &end.role {
                head.push_str(&format!(" as {}", role.text));
            }
        }
        if relation.members.is_empty() && !relation.ends.is_empty() {
            self.line(relation.span, &[head]);
            return;
        }
        head.push_str(" {");
        self.open(relation.span, head);
        let mut index = 0;
        while let Some(member) = relation.members.get(index) {
            let (span, mut text) = member_text(member);
            index += 1;
            // Facts of the whole relation stay on one line when they were on one.
            while let (Member::Fact(before), Some(Member::Fact(fact))) =
                (member, relation.members.get(index))
                && self.same_line(before.name.span.start, fact.name.span.start)
            {
                text.push(' ');
                text.push_str(&facts(std::slice::from_ref(fact)));
                index += 1;
            }
            self.line(span, &[text]);
        }
        self.close(relation.span);
    }

    fn same_line(&self, left: usize, right: usize) -> bool {
        left <= right && !self.source.get(left..right).unwrap_or("\n").contains('\n')
    }

    /// Writes one unit; its clauses go on lines of their own when they do not fit on one.
    fn line(&mut self, span: Span, clauses: &[String]) {
        self.lead(span.start);
        // What stands inside, between clauses that go on one line, is said before them.
        self.comments_before(span.end);
        let one = clauses.join(" ");
        let indent = "  ".repeat(self.depth);
        if indent.len() + one.chars().count() <= WIDTH_MAX || clauses.len() < 2 {
            self.out.push_str(&indent);
            self.out.push_str(&one);
        } else {
            for (index, clause) in clauses.iter().enumerate() {
                if index > 0 {
                    self.out.push('\n');
                    self.out.push_str("    ");
                }
                self.out.push_str(&indent);
                self.out.push_str(clause);
            }
        }
        self.end(span.end);
    }

    fn open(&mut self, span: Span, head: String) {
        self.lead(span.start);
        self.out.push_str(&"  ".repeat(self.depth));
        self.out.push_str(&head);
        self.out.push('\n');
        self.depth += 1;
        self.fresh = true;
        self.last = span.start;
    }

    fn close(&mut self, span: Span) {
        self.comments_before(span.end);
        self.depth = self.depth.saturating_sub(1);
        self.out.push_str(&"  ".repeat(self.depth));
        self.out.push('}');
        self.end(span.end);
    }

    /// Writes the comments before a unit, and a blank line where there was one.
    fn lead(&mut self, start: usize) {
        self.comments_before(start);
        self.blank_line(start);
    }

    fn comments_before(&mut self, start: usize) {
        while let Some(comment) = self.comments.get(self.next)
            && comment.span.start < start
        {
            self.next += 1;
            self.blank_line(comment.span.start);
            self.out.push_str(&"  ".repeat(self.depth));
            self.push_comment(comment.span);
            self.out.push('\n');
            self.last = comment.span.end;
            self.fresh = false;
        }
    }

    fn push_comment(&mut self, span: Span) {
        let text = self.source.get(span.start..span.end).unwrap_or("").trim_end();
        self.out.push_str(text);
    }

    fn blank_line(&mut self, start: usize) {
        let between = self.source.get(self.last..start).unwrap_or("");
        let breaks = between.bytes().filter(|byte| *byte == b'\n').count();
        let blank = breaks > 1
            && between.trim_matches([' ', '\t', ';', '}', '\r']).starts_with('\n')
            && between.split('\n').skip(1).take(breaks - 1).any(|line| line.trim().is_empty());
        if blank && !self.fresh && !self.out.is_empty() {
            self.out.push('\n');
        }
        self.fresh = false;
    }

    /// Ends a unit's line with the comment that stood on it.
    fn end(&mut self, end: usize) {
        self.last = end.max(self.last);
        if let Some(comment) = self.comments.get(self.next)
            && self.same_line(end, comment.span.start)
        {
            let span = comment.span;
            self.next += 1;
            self.out.push_str("  ");
            self.push_comment(span);
            self.last = span.end.max(self.last);
        }
        self.out.push('\n');
        self.fresh = false;
    }
}

fn member_text(member: &Member) -> (Span, String) {
    match member {
        Member::Attribute(item) => (item.span, attribute(item)),
        Member::Key(item) => (item.span, format!("key ({})", names(&item.names))),
        Member::Unique(item) => (item.span, format!("unique ({})", names(&item.names))),
        Member::Together(item) => (item.span, format!("together ({})", names(&item.names))),
        Member::Fd(fd) => (fd.span, format!("fd {} -> {}", names(&fd.from), names(&fd.to))),
        Member::Fanout(item) => (item.span, fanout(item)),
        Member::Fact(fact) => (fact.name.span, facts(std::slice::from_ref(fact))),
    }
}

//! Parses reads, writes, predicates, settings and suppressions.

use super::super::lexer::TokenKind;
use super::super::tree::{
    Aggregate, Allow, Cond, CondOp, Differ, Each, Effect, EffectKind, Existing, Expr, ExprKind,
    Field, Name, Order, OwnLimit, Path, Read, Settings, Write,
};
use super::{Got, Parser};
use crate::model::term::Function;

/// The words behind a read or a write; the second is true if a quantity follows.
const PATTERN_FACTS: [(&str, bool); 11] = [
    ("rate", true),
    ("peak", true),
    ("latency", true),
    ("staleness", true),
    ("eventual", false),
    ("strong", false),
    ("session", false),
    ("admin", false),
    ("atomic", false),
    ("idempotent", false),
    ("bulk", false),
];

/// The words between an attribute and a value.
const COMPARISONS: [&str; 15] = [
    "=",
    "<",
    "<=",
    ">",
    ">=",
    "between",
    "begins",
    "in",
    "contains",
    "ends",
    "matches",
    "near",
    "is",
    "is present",
    "is absent",
];

/// The words that begin a clause of a read.
const CLAUSES: [&str; 8] =
    ["with", "select", "where", "order", "limit", "page", "offset", "unique"];

/// The longest text before `!=` that is looked at, in tokens.
const DIFFERING_TOKENS_MAX: usize = 64;

/// The words for effects of a write.
const EFFECTS: [&str; 6] = ["insert", "link", "update", "delete", "unlink", "increment"];

impl Parser<'_> {
    pub(super) fn read(&mut self) -> Got<Read> {
        let start = self.span();
        self.step();
        let name = self.name("the name of a read")?;
        let params = if self.is("(") { self.params()? } else { Vec::new() };
        self.expect("=")?;
        let aggregate = self.aggregate()?;
        let mut sources = vec![self.name("an entity or a link")?];
        while self.eat("+") {
            sources.push(self.name("an entity or a link")?);
        }
        let mut read = Read {
            name,
            params,
            aggregate,
            sources,
            with: Vec::new(),
            distinct: false,
            select: None,
            conds: Vec::new(),
            order: Vec::new(),
            limit: None,
            limits: Vec::new(),
            page: false,
            offset: None,
            unique: false,
            facts: Vec::new(),
            span: start,
        };
        loop {
            while self.clause(&mut read)? {}
            let facts = self.facts(&PATTERN_FACTS)?;
            if facts.is_empty() {
                break;
            }
            read.facts.extend(facts);
        }
        let known = CLAUSES.into_iter().chain(PATTERN_FACTS.map(|(name, _)| name));
        self.ends_here("a clause of a read", known)?;
        read.span = self.since(start);
        Some(read)
    }

    /// Fails on a word that continues a finished pattern: a misspelt clause.
    fn ends_here<'k>(&mut self, what: &str, known: impl Iterator<Item = &'k str>) -> Got<()> {
        let word = self.word();
        if self.token().first || word.is_empty() || super::ITEMS.contains(&word) {
            return Some(());
        }
        let known: Vec<&str> = known.collect();
        self.fail_among(what, &known)
    }

    fn aggregate(&mut self) -> Got<Option<(Aggregate, Option<Path>)>> {
        let aggregate = match self.word() {
            "count" => Aggregate::Count,
            "sum" => Aggregate::Sum,
            "min" => Aggregate::Min,
            "max" => Aggregate::Max,
            _ => return Some(None),
        };
        self.step();
        if aggregate != Aggregate::Count && self.word() == "of" {
            return self.fail(
                "expected an attribute, found `of`",
                "write what is added up or compared first: `sum total of Order`",
            );
        }
        let path = if aggregate == Aggregate::Count && self.word() == "of" {
            None
        } else {
            Some(self.path()?)
        };
        self.expect_word("of")?;
        Some(Some((aggregate, path)))
    }

    /// Parses one clause; returns `false` when none begins here.
    fn clause(&mut self, read: &mut Read) -> Got<bool> {
        match self.word() {
            "with" => {
                self.step();
                read.with = self.commas(Self::path)?;
            }
            "select" => {
                self.step();
                read.distinct = self.eat_word("distinct");
                read.select = Some(self.commas(Self::path)?);
            }
            "where" => {
                self.step();
                read.conds = self.conds()?;
            }
            "order" => {
                self.step();
                self.expect_word("by")?;
                read.order = self.orders()?;
            }
            "limit" => {
                self.step();
                let page = self.eat_word("page");
                self.limits(page, read)?;
            }
            "page" => {
                self.step();
                read.page = true;
                read.limit = Some(self.expr()?);
            }
            "offset" => {
                self.step();
                read.offset = Some(self.expr()?);
            }
            "unique" => {
                self.step();
                read.unique = true;
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Parses a limit of all rows, or those of single row types: `25 of Issue, n of Pull`.
    fn limits(&mut self, page: bool, read: &mut Read) -> Got<()> {
        let count = self.expr()?;
        if page || !self.eat_word("of") {
            (read.page, read.limit) = (page, Some(count));
            return Some(());
        }
        read.limits.push(OwnLimit { count, of: self.name("a row type")? });
        while self.eat(",") {
            let count = self.expr()?;
            self.expect_word("of")?;
            read.limits.push(OwnLimit { count, of: self.name("a row type")? });
        }
        Some(())
    }

    pub(super) fn orders(&mut self) -> Got<Vec<Order>> {
        self.commas(|parser| {
            let (path, others) = parser.of_each()?;
            let desc = parser.eat_word("desc");
            if !desc {
                parser.eat_word("asc");
            }
            Some(Order { path, others, desc })
        })
    }

    /// Parses an attribute, or the attributes that several row types have: `(Post.author, Comment.by)`.
    fn of_each(&mut self) -> Got<(Path, Vec<Path>)> {
        if !self.is("(") {
            return Some((self.path()?, Vec::new()));
        }
        let mut paths = self.list("(", ")", Self::path)?.into_iter();
        match paths.next() {
            Some(first) => Some((first, paths.collect())),
            None => self.fail(
                "expected an attribute of each row type",
                "write `(Post.author, Comment.by)`",
            ),
        }
    }

    pub(super) fn conds(&mut self) -> Got<Vec<Cond>> {
        let mut conds = vec![self.cond()?];
        while !self.goes_on() && self.eat_word("and") {
            conds.push(self.cond()?);
        }
        Some(conds)
    }

    /// Returns true if `and` is followed by another effect: `insert X(`.
    fn goes_on(&self) -> bool {
        matches!(self.word_at(1), "insert" | "link" | "update" | "delete" | "unlink" | "increment")
            && !self.word_at(2).is_empty()
            && self.is_at(3, "(")
    }

    fn cond(&mut self) -> Got<Cond> {
        let start = self.span();
        let (path, others) = self.of_each()?;
        let op = self.cond_op()?;
        let mut values = Vec::new();
        let mut max = None;
        match op {
            CondOp::Present | CondOp::Absent => {}
            CondOp::Between => {
                values.push(self.expr()?);
                self.expect_word("and")?;
                values.push(self.expr()?);
            }
            CondOp::In if self.is("(") => {
                return self.fail(
                    "a list of constants cannot stand here",
                    "take it as an input: `read r(xs: list of text(max 3)) = … where x in xs`",
                );
            }
            CondOp::In => {
                values.push(self.expr()?);
                if self.eat_word("max") {
                    max = Some(self.natural()?);
                }
            }
            _ => values.push(self.expr()?),
        }
        Some(Cond { path, others, op, values, max, span: self.since(start) })
    }

    fn cond_op(&mut self) -> Got<CondOp> {
        if self.is("=") && self.is_at(1, "=") {
            return self.fail("expected a value, found `=`", "one `=` compares");
        }
        if self.is("!=") {
            let help = "there is no `!=`: what is left beside a value is no range; a write may say \
                        that two of its inputs differ, `if s != t`";
            return self.fail("expected a comparison with an attribute, found `!=`", help);
        }
        for (mark, op) in [
            ("=", CondOp::Eq),
            ("<=", CondOp::Le),
            (">=", CondOp::Ge),
            ("<", CondOp::Lt),
            (">", CondOp::Gt),
        ] {
            if self.eat(mark) {
                return Some(op);
            }
        }
        let op = match self.word() {
            "between" => CondOp::Between,
            "begins" => CondOp::Begins,
            "in" => CondOp::In,
            "contains" => CondOp::Contains,
            "ends" => CondOp::Ends,
            "matches" => CondOp::Matches,
            "near" => CondOp::Near,
            "is" => match self.word_at(1) {
                "present" => {
                    self.step();
                    CondOp::Present
                }
                "absent" => {
                    self.step();
                    CondOp::Absent
                }
                _ => {
                    let help = "`is present`, `is absent`; a value is compared by `=`";
                    return self.fail("expected `present` or `absent` behind `is`", help);
                }
            },
            _ => return self.fail_among("a comparison", &COMPARISONS),
        };
        self.step();
        if matches!(op, CondOp::Begins | CondOp::Ends) {
            self.eat_word("with");
        }
        Some(op)
    }

    pub(super) fn write(&mut self) -> Got<Write> {
        let start = self.span();
        self.step();
        let name = self.name("the name of a write")?;
        let params = if self.is("(") { self.params()? } else { Vec::new() };
        self.expect("=")?;
        let mut effects = vec![self.effect()?];
        while self.eat_word("and") {
            effects.push(self.effect()?);
        }
        let facts = self.facts(&PATTERN_FACTS)?;
        let known = ["set", "unless", "or", "if", "for", "and"].into_iter();
        self.ends_here("more of a write", known.chain(PATTERN_FACTS.map(|(name, _)| name)))?;
        Some(Write { name, params, effects, facts, span: self.since(start) })
    }

    fn effect(&mut self) -> Got<Effect> {
        let start = self.span();
        let kind = match self.word() {
            "insert" => EffectKind::Insert,
            "link" => EffectKind::Link,
            "update" => EffectKind::Update,
            "delete" => EffectKind::Delete,
            "unlink" => EffectKind::Unlink,
            "increment" => EffectKind::Increment,
            _ => return self.fail_among("what the write does", &EFFECTS),
        };
        self.step();
        let relation = self.name("an entity or a link")?;
        let key = self.list("(", ")", |parser| parser.binding(false))?;
        let mut set = Vec::new();
        if self.eat_word("set") {
            set = self.commas(|parser| parser.binding(true))?;
        }
        let existing = if self.eat_word("unless") {
            self.expect_word("exists")?;
            Existing::Unless
        } else if self.eat_word("or") {
            if kind == EffectKind::Increment {
                self.expect_word("insert")?;
                Existing::Insert
            } else {
                self.expect_word("replace")?;
                Existing::Replace
            }
        } else {
            Existing::Fresh
        };
        let (mut conds, mut differ) = (Vec::new(), Vec::new());
        if self.eat_word("if") {
            // A comma, because `and` begins the next change.
            self.commas(|parser| {
                if parser.differs() {
                    differ.push(parser.differ()?);
                } else {
                    conds.push(parser.cond()?);
                }
                Some(())
            })?;
        }
        let each = if self.word() == "for" { Some(self.each()?) } else { None };
        let span = self.since(start);
        Some(Effect { kind, relation, key, set, existing, conds, differ, each, span })
    }

    /// Returns true if two inputs are said to differ here: `s != t`, or `(a, b) != (c, d)`.
    fn differs(&self) -> bool {
        let own = |at: &usize| {
            let names = !self.word_at(*at).is_empty();
            names || [".", ",", "(", ")"].iter().any(|mark| self.is_at(*at, mark))
        };
        let end = (0..DIFFERING_TOKENS_MAX).find(|at| !own(at));
        end.is_some_and(|end| end > 0 && self.is_at(end, "!="))
    }

    /// Parses two inputs, or two lists of them, that differ.
    fn differ(&mut self) -> Got<Differ> {
        let start = self.span();
        let left = self.inputs()?;
        self.expect("!=")?;
        let right = self.inputs()?;
        Some(Differ { left, right, span: self.since(start) })
    }

    fn inputs(&mut self) -> Got<Vec<Path>> {
        if self.is("(") { self.list("(", ")", Self::path) } else { Some(vec![self.path()?]) }
    }

    /// Parses `col value`, `col = value`, or `col by value`.
    fn binding(&mut self, marked: bool) -> Got<(Field, Expr)> {
        let mut parts = vec![self.name("an attribute")?];
        while self.eat(".") {
            parts.push(self.name("a field")?);
        }
        let path = Path { parts };
        let name = Field(Name { text: path.text(), span: path.span() });
        let by = self.word() == "by";
        if !self.eat("=") && !self.eat_word("by") && marked {
            let found = self.found();
            return self.fail(format!("expected `=`, found {found}"), "");
        }
        if by && marked && self.is("-") && self.peek(1).kind == TokenKind::Name {
            return Some((name, self.taken()?));
        }
        Some((name, self.expr()?))
    }

    /// Parses an input that is taken away: `-n`.
    fn taken(&mut self) -> Got<Expr> {
        let start = self.span();
        self.step();
        let args = vec![self.expr()?];
        let span = self.since(start);
        let name = Name { text: Function::Minus.name().to_owned(), span };
        Some(Expr { kind: ExprKind::Call { name, args }, span })
    }

    fn each(&mut self) -> Got<Each> {
        self.expect_word("for")?;
        self.expect_word("each")?;
        let source = self.name("an entity or a link")?;
        let alias = if self.eat_word("as") { Some(self.name("a name")?) } else { None };
        let conds = if self.eat_word("where") { self.conds()? } else { Vec::new() };
        Some(Each { source, alias, conds })
    }

    pub(super) fn settings(&mut self) -> Got<Settings> {
        let start = self.span();
        self.step();
        let target = self.name("a target")?;
        let mut values = Vec::new();
        self.block(|parser| {
            let path = parser.path()?;
            values.push((path, parser.quantity()?));
            parser.eat(",");
            Some(())
        })?;
        Some(Settings { target, values, span: self.since(start) })
    }

    pub(super) fn allow(&mut self) -> Got<Allow> {
        let start = self.span();
        self.step();
        let lints = self.commas(|parser| parser.name("the id of a lint"))?;
        let schema = if self.eat_word("in") { Some(self.name("a schema")?) } else { None };
        let on =
            if self.eat_word("on") { Some(self.name("a pattern, table or row")?) } else { None };
        if !self.eat_word("because") {
            return self.fail(
                "a suppression needs its reason",
                "write `allow K4 in published because \"…\"`",
            );
        }
        let reason = self.text("the reason")?;
        Some(Allow { lints, schema, on, reason, span: self.since(start) })
    }
}

//! Parses schemas: tables, row families, plans of reads and writes, samples.

use super::super::lexer::TokenKind;
use super::super::tree::{
    Bind, Bound, BoundKind, Component, Cond, EachOf, Expr, ExprKind, Index, Key, ReadStep, Row,
    SampleRow, Schema, Serve, Step, StepKind, Store, StoreItem, Table, Template, Verb, WritePlan,
    WriteStep,
};
use super::{Got, Parser};

impl Parser<'_> {
    pub(super) fn schema(&mut self) -> Got<Schema> {
        let start = self.span();
        self.step();
        let name = self.name("the name of a schema")?;
        self.expect_word("target")?;
        let target = self.name("a target")?;
        let doc = if matches!(self.token().kind, TokenKind::Text(_)) {
            Some(self.text("a remark")?)
        } else {
            None
        };
        let mut schema = Schema {
            name,
            target,
            doc,
            tables: Vec::new(),
            serves: Vec::new(),
            writes: Vec::new(),
            samples: Vec::new(),
            sample_span: None,
            span: start,
        };
        self.block(|parser| {
            match parser.word() {
                "table" => schema.tables.push(parser.table()?),
                "serve" => schema.serves.push(parser.serve()?),
                "write" => schema.writes.push(parser.write_plan()?),
                "sample" => {
                    let start = parser.span();
                    parser.step();
                    parser.block(|inner| {
                        schema.samples.push(inner.sample_row()?);
                        Some(())
                    })?;
                    let span = parser.since(start);
                    let whole = schema.sample_span.get_or_insert(span);
                    *whole = whole.to(span);
                }
                _ => {
                    let known = ["table", "serve", "write", "sample"];
                    return parser.fail_among("a part of a schema", &known);
                }
            }
            Some(())
        })?;
        schema.span = self.since(start);
        Some(schema)
    }

    fn table(&mut self) -> Got<Table> {
        let start = self.span();
        self.step();
        let name = self.name("the name of a table")?;
        if self.word() == "from" {
            let row = self.row_body(name.clone(), start)?;
            let span = self.since(start);
            return Some(Table { name, short: true, columns: Vec::new(), rows: vec![row], span });
        }
        let mut table =
            Table { name, short: false, columns: Vec::new(), rows: Vec::new(), span: start };
        self.block(|parser| {
            match parser.word() {
                "row" => {
                    let start = parser.span();
                    parser.step();
                    let name = parser.name("the name of a row family")?;
                    table.rows.push(parser.row_body(name, start)?);
                }
                "pk" | "sk" => {
                    table.columns.push(parser.name("a column")?);
                    parser.expect_word("text")?;
                }
                _ => return parser.fail_among("a part of a table", &["row", "pk", "sk"]),
            }
            Some(())
        })?;
        table.span = self.since(start);
        Some(table)
    }

    fn row_body(&mut self, name: super::Name, start: super::Span) -> Got<Row> {
        self.expect_word("from")?;
        let mut sources = vec![self.name("an entity or a link")?];
        while self.eat("+") {
            sources.push(self.name("an entity or a link")?);
        }
        let when = self.when()?;
        let key = self.key()?;
        let store = self.store()?.unwrap_or(Store::Items(Vec::new()));
        let follows = match self.word() {
            "follows" => self.facts_one(&[("follows", true)])?.value,
            _ => None,
        };
        let mut indexes = Vec::new();
        while self.word() == "index" {
            let start = self.span();
            self.step();
            let name = self.name("the name of an index")?;
            let local = self.eat_word("local");
            let when = self.when()?;
            if self.word() == "local" {
                let help = "write `index NAME local when … key (…)`";
                return self.fail("`local` stands before `when`", help);
            }
            let key = self.key()?;
            let store = self.store()?;
            indexes.push(Index { name, local, when, key, store, span: self.since(start) });
        }
        let span = self.since(start);
        Some(Row { name, sources, when, key, store, follows, indexes, span })
    }

    /// Parses the conditions of sparse rows or of a sparse index, mostly nothing.
    fn when(&mut self) -> Got<Vec<Cond>> {
        let when = if self.eat_word("when") { self.conds()? } else { Vec::new() };
        if !when.is_empty() && self.is(",") {
            let found = self.found();
            return self.fail(
                format!("expected the key, found {found}"),
                "several conditions are parted by `and`: `when a = 1 and b = 2 key (…)`",
            );
        }
        Some(when)
    }

    fn key(&mut self) -> Got<Key> {
        if self.eat_word("pk") {
            let pk = self.template()?;
            let sk = if self.eat_word("sk") { Some(self.template()?) } else { None };
            return Some(Key::Text { pk, sk });
        }
        if !self.eat_word("key") {
            let found = self.found();
            return self.fail(
                format!("expected the key, found {found}"),
                "write `pk \"…\" sk \"…\"` or `key (a; b desc)`",
            );
        }
        self.expect("(")?;
        let mut groups: Vec<Vec<Component>> = vec![Vec::new()];
        while !self.is(")") {
            let component = self.component()?;
            if let Some(group) = groups.last_mut() {
                group.push(component);
            }
            if self.eat(";") {
                groups.push(Vec::new());
            } else if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        let mut groups = groups.into_iter();
        match (groups.next(), groups.next(), groups.next()) {
            (Some(sort), None, _) => Some(Key::Tuple { partition: None, sort }),
            (Some(partition), Some(sort), None) => {
                Some(Key::Tuple { partition: Some(partition), sort })
            }
            _ => self.fail("a key has one `;`: between partition and sort key", ""),
        }
    }

    fn component(&mut self) -> Got<Component> {
        let expr = self.key_expr()?;
        let desc = self.eat_word("desc");
        if !desc {
            self.eat_word("asc");
        }
        Some(Component { expr, desc })
    }

    fn store(&mut self) -> Got<Option<Store>> {
        if !self.eat_word("store") {
            return Some(None);
        }
        if self.eat_word("all") {
            return Some(Some(Store::All));
        }
        let items = self.list("{", "}", |parser| match parser.word() {
            "collect" if !parser.is_at(1, ",") && !parser.is_at(1, "}") => {
                parser.step();
                let path = parser.path()?;
                let by = parser.by_reference()?;
                let alias = parser.alias()?;
                Some(StoreItem::Collect { path, by, alias })
            }
            "count" if !parser.is_at(1, ",") && !parser.is_at(1, "}") => {
                parser.step();
                let source = parser.name("a link or an entity")?;
                let by = parser.by_reference()?;
                let conds = parser.tallied()?;
                let alias = parser.alias()?;
                Some(StoreItem::Count { source, by, conds, alias })
            }
            "sum" if !parser.is_at(1, ",") && !parser.is_at(1, "}") => {
                parser.step();
                let path = parser.path()?;
                parser.expect_word("of")?;
                let source = parser.name("a link or an entity")?;
                let by = parser.by_reference()?;
                let conds = parser.tallied()?;
                let alias = parser.alias()?;
                Some(StoreItem::Sum { path, source, by, conds, alias })
            }
            word @ ("min" | "max") if !parser.is_at(1, ",") && !parser.is_at(1, "}") => {
                let largest = word == "max";
                parser.step();
                let path = parser.path()?;
                parser.expect_word("of")?;
                let source = parser.name("a link or an entity")?;
                let by = parser.by_reference()?;
                let conds = parser.tallied()?;
                let alias = parser.alias()?;
                Some(StoreItem::Extreme { largest, path, source, by, conds, alias })
            }
            "first" if !parser.is_at(1, ",") && !parser.is_at(1, "}") => {
                let message =
                    "a row keeps no `first`: what takes one away would have to find the next";
                let help = "read them from rows in their order: `order by at desc limit 3`";
                parser.fail(message, help)
            }
            _ => parser.path().map(StoreItem::Path),
        })?;
        Some(Some(Store::Items(items)))
    }

    /// Parses the reference by which tuples belong to a row.
    fn by_reference(&mut self) -> Got<Option<super::Name>> {
        if self.eat_word("by") { self.name("a reference").map(Some) } else { Some(None) }
    }

    /// Parses the conditions of what a row counts or adds up.
    fn tallied(&mut self) -> Got<Vec<super::super::tree::Cond>> {
        if self.eat_word("where") { self.conds() } else { Some(Vec::new()) }
    }

    fn alias(&mut self) -> Got<Option<super::Name>> {
        if self.eat_word("as") { self.name("a name").map(Some) } else { Some(None) }
    }

    fn serve(&mut self) -> Got<Serve> {
        let start = self.span();
        self.step();
        let pattern = self.name("the name of a read")?;
        let params = if self.is("(") { Some(self.names_in("a parameter")?) } else { None };
        self.expect_word("by")?;
        let mut steps = vec![self.plan_step()?];
        while self.eat_word("and") {
            steps.push(Step { kind: StepKind::Also(Box::new(self.read_step()?)) });
        }
        while self.eat_word("then") || matches!(self.word(), "filter" | "sort" | "take") {
            steps.push(self.plan_step()?);
        }
        Some(Serve { pattern, params, steps, span: self.since(start) })
    }

    fn plan_step(&mut self) -> Got<Step> {
        let kind = match self.word() {
            "filter" => {
                self.step();
                StepKind::Filter(self.conds()?)
            }
            "sort" => {
                self.step();
                self.eat_word("by");
                StepKind::Sort(self.orders()?)
            }
            "take" => {
                self.step();
                StepKind::Take(self.expr()?)
            }
            _ => StepKind::Read(Box::new(self.read_step()?)),
        };
        Some(Step { kind })
    }

    fn read_step(&mut self) -> Got<ReadStep> {
        let each = if self.eat_word("each") {
            let name = self.name("a name")?;
            self.expect_word("in")?;
            let of = if self.token().kind == TokenKind::Number {
                let low = self.integer()?;
                self.expect("..")?;
                EachOf::Numbers(low, self.integer()?)
            } else {
                EachOf::Param(self.name("a parameter that is a list")?)
            };
            Some((name, of))
        } else {
            None
        };
        let verb = match self.word() {
            "get" => Verb::Get,
            "query" => Verb::Query,
            "scan" => Verb::Scan,
            "range" => Verb::Range,
            _ => {
                let known = ["get", "query", "scan", "range", "each", "filter", "sort", "take"];
                return self.fail_among("a step of a plan", &known);
            }
        };
        self.step();
        let table = self.name("a table or an index")?;
        let (bind, bounds) = self.bind()?;
        let desc = self.eat_word("desc");
        if !desc {
            self.eat_word("asc");
        }
        let limit = if self.eat_word("limit") { Some(self.expr()?) } else { None };
        Some(ReadStep { each, verb, table, bind, bounds, desc, limit })
    }

    fn bind(&mut self) -> Got<(Bind, Vec<Bound>)> {
        if self.is("(") {
            let values = self.list("(", ")", Self::key_expr)?;
            return Some((Bind::Tuple(values), self.bounds()?));
        }
        let pk = if self.eat_word("pk") { Some(self.template()?) } else { None };
        let mut sk: Option<Template> = None;
        let mut bounds = Vec::new();
        if self.eat_word("sk") {
            if matches!(self.token().kind, TokenKind::Text(_)) {
                sk = Some(self.template()?);
            } else {
                bounds = self.bounds()?;
            }
        }
        if pk.is_none() && sk.is_none() && bounds.is_empty() {
            // Without a word for the column: ends on the first one.
            return Some((Bind::Nothing, self.bounds()?));
        }
        Some((Bind::Text { pk, sk }, bounds))
    }

    fn bounds(&mut self) -> Got<Vec<Bound>> {
        let mut bounds = Vec::new();
        loop {
            let kind = match self.word() {
                "begins" => BoundKind::Begins,
                "from" => BoundKind::From,
                "after" => BoundKind::After,
                "to" => BoundKind::To,
                "before" => BoundKind::Before,
                "through" => BoundKind::Through,
                _ => return Some(bounds),
            };
            self.step();
            self.eat_word("with");
            if self.is("(") {
                let help = "an end is one value without parentheses, `from a`; what is known before it stands in those behind the table";
                return self.fail("expected a value, found `(`", help);
            }
            bounds.push(Bound { kind, value: self.key_expr()? });
        }
    }

    fn write_plan(&mut self) -> Got<WritePlan> {
        let start = self.span();
        self.step();
        let pattern = self.name("the name of a write")?;
        let params = if self.is("(") { Some(self.names_in("a parameter")?) } else { None };
        let steps = self.write_steps()?;
        Some(WritePlan { pattern, params, steps, span: self.since(start) })
    }

    fn write_steps(&mut self) -> Got<Vec<WriteStep>> {
        let mut steps = Vec::new();
        self.block(|parser| {
            steps.push(parser.write_step()?);
            Some(())
        })?;
        Some(steps)
    }

    fn write_step(&mut self) -> Got<WriteStep> {
        let word = self.word();
        match word {
            "transaction" => {
                self.step();
                self.write_steps().map(WriteStep::Transaction)
            }
            "read" => {
                self.step();
                let row = self.family_name()?;
                let conds = if self.eat_word("where") { self.conds()? } else { Vec::new() };
                let alias = self.alias()?;
                Some(WriteStep::Read { row, conds, alias })
            }
            "put" | "delete" | "patch" => {
                self.step();
                let row = self.name("a row family")?;
                let each = if self.eat_word("for") {
                    self.expect_word("each")?;
                    Some(self.name("what was read")?)
                } else {
                    None
                };
                Some(match word {
                    "put" => WriteStep::Put { row, each },
                    "delete" => WriteStep::Delete { row, each },
                    _ => WriteStep::Patch { row, each },
                })
            }
            _ => {
                let known = ["read", "put", "delete", "patch", "transaction"];
                self.fail_among("a step of a write", &known)
            }
        }
    }

    /// Parses the name of a row family, or of the entries of one row type in a shared index.
    fn family_name(&mut self) -> Got<super::Name> {
        let start = self.span();
        let mut name = self.name("a row family")?;
        if self.eat(".") {
            let index = self.name("an index")?;
            name.text = format!("{}.{}", name.text, index.text);
            name.span = self.since(start);
        }
        Some(name)
    }

    fn sample_row(&mut self) -> Got<SampleRow> {
        let start = self.span();
        let script = self.eat_word("script");
        if !script {
            self.expect_word("row")?;
        }
        let row = self.name("a row family")?;
        let mut keys = Vec::new();
        while matches!(self.token().kind, TokenKind::Text(_)) {
            keys.push(self.text("a key")?);
        }
        let values = if self.is("{") {
            self.list("{", "}", |parser| {
                let name = parser.name("an attribute")?;
                parser.expect("=")?;
                let value: Expr = parser.expr()?;
                if !matches!(value.kind, ExprKind::Text(_) | ExprKind::Int(_) | ExprKind::Bool(_)) {
                    return parser.fail("a sample holds plain values", "");
                }
                Some((name, value))
            })?
        } else {
            Vec::new()
        };
        Some(SampleRow { row, script, keys, values, span: self.since(start) })
    }
}

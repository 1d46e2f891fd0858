//! Formats schemas.

use super::super::span::Span;
use super::super::tree::{
    Bind, BoundKind, Component, Cond, EachOf, Index, Key, Name, ReadStep, Row, SampleRow, Schema,
    Serve, Step, StepKind, Store, StoreItem, Table, Template, Verb, WritePlan, WriteStep,
};
use super::Printer;
use super::parts::{conds, expr, names, orders, quote};

impl Printer<'_> {
    pub(super) fn schema(&mut self, schema: &Schema) {
        let doc = schema.doc.as_ref().map_or_else(String::new, |doc| format!(" {}", quote(doc)));
        let head = format!("schema {} target {}{doc} {{", schema.name.text, schema.target.text);
        self.open(schema.span, head);
        let mut parts: Vec<(usize, Part<'_>)> = Vec::new();
        parts.extend(schema.tables.iter().map(|item| (item.span.start, Part::Table(item))));
        parts.extend(schema.serves.iter().map(|item| (item.span.start, Part::Serve(item))));
        parts.extend(schema.writes.iter().map(|item| (item.span.start, Part::Write(item))));
        if let (Some(first), Some(last)) = (schema.samples.first(), schema.samples.last()) {
            let span = schema.sample_span.unwrap_or_else(|| first.span.to(last.span));
            parts.push((span.start, Part::Samples(&schema.samples, span)));
        }
        parts.sort_by_key(|(start, _)| *start);
        for (_, part) in parts {
            match part {
                Part::Table(table) => self.table(table),
                Part::Serve(serve) => self.line(serve.span, &serve_text(serve)),
                Part::Write(plan) => self.write_plan(plan),
                Part::Samples(rows, span) => self.samples(rows, span),
            }
        }
        self.close(schema.span);
    }

    fn table(&mut self, table: &Table) {
        if let (true, Some(row)) = (table.short, table.rows.first()) {
            let clauses = row_text(&format!("table {}", table.name.text), row);
            self.line(table.span, &clauses);
            return;
        }
        self.open(table.span, format!("table {} {{", table.name.text));
        if let (Some(first), Some(last)) = (table.columns.first(), table.columns.last()) {
            let texts: Vec<String> =
                table.columns.iter().map(|name| format!("{} text", name.text)).collect();
            self.line(first.span.to(last.span), &[texts.join("  ")]);
        }
        for row in &table.rows {
            self.line(row.span, &row_text(&format!("row {}", row.name.text), row));
        }
        self.close(table.span);
    }

    fn write_plan(&mut self, plan: &WritePlan) {
        let params =
            plan.params.as_ref().map_or_else(String::new, |list| format!("({})", names(list)));
        let steps: Vec<String> = plan.steps.iter().map(write_step).collect();
        let head = format!("write {}{params} {{", plan.pattern.text);
        self.line(plan.span, &[format!("{head} {} }}", steps.join(" ; "))]);
    }

    fn samples(&mut self, rows: &[SampleRow], span: Span) {
        self.open(span, "sample {".to_owned());
        for row in rows {
            self.line(row.span, &[sample_text(row)]);
        }
        self.close(span);
    }
}

enum Part<'a> {
    Table(&'a Table),
    Serve(&'a Serve),
    Write(&'a WritePlan),
    Samples(&'a [SampleRow], Span),
}

fn template(item: &Template) -> String {
    quote(&item.raw)
}

fn key(item: &Key) -> String {
    match item {
        Key::Text { pk, sk: None } => format!("pk {}", template(pk)),
        Key::Text { pk, sk: Some(sk) } => format!("pk {} sk {}", template(pk), template(sk)),
        Key::Tuple { partition: None, sort } => format!("key ({})", components(sort)),
        Key::Tuple { partition: Some(partition), sort } => {
            let gap = if sort.is_empty() { "" } else { " " };
            format!("key ({};{gap}{})", components(partition), components(sort))
        }
    }
}

fn components(items: &[Component]) -> String {
    let texts: Vec<String> = items
        .iter()
        .map(|item| format!("{}{}", expr(&item.expr), if item.desc { " desc" } else { "" }))
        .collect();
    texts.join(", ")
}

fn store(item: &Store) -> Option<String> {
    match item {
        Store::All => Some("store all".to_owned()),
        Store::Items(items) if items.is_empty() => None,
        Store::Items(items) => {
            let texts: Vec<String> = items.iter().map(store_item).collect();
            Some(format!("store {{ {} }}", texts.join(", ")))
        }
    }
}

fn store_item(item: &StoreItem) -> String {
    let named = |alias: &Option<Name>| {
        alias.as_ref().map_or_else(String::new, |name| format!(" as {}", name.text))
    };
    let asked = |list: &[Cond]| match list {
        [] => String::new(),
        list => format!(" where {}", conds(list)),
    };
    let via = |by: &Option<Name>| {
        by.as_ref().map_or_else(String::new, |name| format!(" by {}", name.text))
    };
    match item {
        StoreItem::Path(path) => path.text(),
        StoreItem::Collect { path, by, alias } => {
            format!("collect {}{}{}", path.text(), via(by), named(alias))
        }
        StoreItem::Count { source, by, conds, alias } => {
            format!("count {}{}{}{}", source.text, via(by), asked(conds), named(alias))
        }
        StoreItem::Sum { path, source, by, conds, alias } => {
            let (what, of) = (path.text(), &source.text);
            format!("sum {what} of {of}{}{}{}", via(by), asked(conds), named(alias))
        }
        StoreItem::Extreme { largest, path, source, by, conds, alias } => {
            let word = if *largest { "max" } else { "min" };
            let (what, of) = (path.text(), &source.text);
            format!("{word} {what} of {of}{}{}{}", via(by), asked(conds), named(alias))
        }
    }
}

fn row_text(head: &str, row: &Row) -> Vec<String> {
    let sources: Vec<&str> = row.sources.iter().map(|name| name.text.as_str()).collect();
    let mut first = format!("{head} from {}", sources.join(" + "));
    first.push_str(&when(&row.when));
    first.push_str(&format!(" {}", key(&row.key)));
    let mut clauses = vec![first];
    clauses.extend(store(&row.store));
    clauses.extend(row.follows.as_ref().map(|late| format!("follows {late}")));
    for index in &row.indexes {
        clauses.push(index_text(index));
    }
    clauses
}

/// Returns the condition of sparse rows or of a sparse index, mostly nothing.
fn when(all: &[Cond]) -> String {
    if all.is_empty() { String::new() } else { format!(" when {}", conds(all)) }
}

fn index_text(index: &Index) -> String {
    let stored = index.store.as_ref().map_or_else(String::new, |item| match item {
        // Nothing stored is something else than nothing said.
        Store::Items(items) if items.is_empty() => " store { }".to_owned(),
        other => store(other).map_or_else(String::new, |text| format!(" {text}")),
    });
    let local = if index.local { " local" } else { "" };
    let when = when(&index.when);
    format!("index {}{local}{when} {}{stored}", index.name.text, key(&index.key))
}

fn serve_text(serve: &Serve) -> Vec<String> {
    let params =
        serve.params.as_ref().map_or_else(String::new, |list| format!("({})", names(list)));
    let mut clauses = Vec::new();
    for (index, step) in serve.steps.iter().enumerate() {
        let text = step_text(step);
        clauses.push(if index == 0 {
            format!("serve {}{params} by {text}", serve.pattern.text)
        } else {
            let word = if matches!(step.kind, StepKind::Also(_)) { "and" } else { "then" };
            format!("{word} {text}")
        });
    }
    clauses
}

fn step_text(step: &Step) -> String {
    match &step.kind {
        StepKind::Filter(items) => format!("filter {}", conds(items)),
        StepKind::Sort(items) => format!("sort by {}", orders(items)),
        StepKind::Take(value) => format!("take {}", expr(value)),
        StepKind::Read(read) | StepKind::Also(read) => read_step(read),
    }
}

fn read_step(read: &ReadStep) -> String {
    let mut out = String::new();
    if let Some((name, of)) = &read.each {
        let of = match of {
            EachOf::Param(param) => param.text.clone(),
            EachOf::Numbers(low, high) => format!("{low}..{high}"),
        };
        out.push_str(&format!("each {} in {of} ", name.text));
    }
    out.push_str(match read.verb {
        Verb::Get => "get",
        Verb::Query => "query",
        Verb::Scan => "scan",
        Verb::Range => "range",
    });
    out.push_str(&format!(" {}", read.table.text));
    match &read.bind {
        Bind::Nothing => {}
        Bind::Text { pk, sk } => {
            if let Some(pk) = pk {
                out.push_str(&format!(" pk {}", template(pk)));
            }
            if let Some(sk) = sk {
                out.push_str(&format!(" sk {}", template(sk)));
            } else if !read.bounds.is_empty() {
                out.push_str(" sk");
            }
        }
        Bind::Tuple(values) => {
            let texts: Vec<String> = values.iter().map(expr).collect();
            out.push_str(&format!(" ({})", texts.join(", ")));
        }
    }
    for bound in &read.bounds {
        let word = match bound.kind {
            BoundKind::Begins => "begins",
            BoundKind::From => "from",
            BoundKind::After => "after",
            BoundKind::To => "to",
            BoundKind::Before => "before",
            BoundKind::Through => "through",
        };
        out.push_str(&format!(" {word} {}", expr(&bound.value)));
    }
    if read.desc {
        out.push_str(" desc");
    }
    if let Some(limit) = &read.limit {
        out.push_str(&format!(" limit {}", expr(limit)));
    }
    out
}

fn write_step(step: &WriteStep) -> String {
    let each = |each: &Option<Name>| {
        each.as_ref().map_or_else(String::new, |name| format!(" for each {}", name.text))
    };
    match step {
        WriteStep::Transaction(steps) => {
            let inner: Vec<String> = steps.iter().map(write_step).collect();
            format!("transaction {{ {} }}", inner.join(" ; "))
        }
        WriteStep::Read { row, conds: filter, alias } => {
            let filter =
                if filter.is_empty() { String::new() } else { format!(" where {}", conds(filter)) };
            let alias =
                alias.as_ref().map_or_else(String::new, |name| format!(" as {}", name.text));
            format!("read {}{filter}{alias}", row.text)
        }
        WriteStep::Put { row, each: name } => format!("put {}{}", row.text, each(name)),
        WriteStep::Delete { row, each: name } => format!("delete {}{}", row.text, each(name)),
        WriteStep::Patch { row, each: name } => format!("patch {}{}", row.text, each(name)),
    }
}

fn sample_text(row: &SampleRow) -> String {
    let word = if row.script { "script" } else { "row" };
    let mut out = format!("{word} {}", row.row.text);
    for key in &row.keys {
        out.push_str(&format!(" {}", quote(key)));
    }
    if !row.values.is_empty() {
        let values: Vec<String> = row
            .values
            .iter()
            .map(|(name, value)| format!("{} = {}", name.text, expr(value)))
            .collect();
        out.push_str(&format!(" {{ {} }}", values.join(", ")));
    }
    out
}

//! Formats the pieces of a line.

use super::super::tree::{
    Aggregate, Allow, Attribute, Cond, CondOp, Differ, Each, Effect, EffectKind, Existing, Expr,
    ExprKind, Fact, Fanout, Name, Order, Param, Path, Read, Type, TypeOption, Write,
};

/// Prints a text in quotes.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\0' => out.push_str("\\0"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

fn join<T>(items: &[T], by: &str, text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(by)
}

pub(super) fn names(items: &[Name]) -> String {
    join(items, ", ", |name| name.text.clone())
}

pub(super) fn ty(ty: &Type) -> String {
    let mut out = ty.name.text.clone();
    if let Some(element) = &ty.element {
        out.push_str(" of ");
        out.push_str(&self::ty(element));
    }
    if !ty.fields.is_empty() {
        out.push_str(&format!(" {{ {} }}", join(&ty.fields, ", ", attribute)));
    }
    if !ty.among.is_empty() {
        out.push_str(&format!(" of ({})", names(&ty.among)));
    }
    if !ty.options.is_empty() {
        let options = join(&ty.options, ", ", |option| match option {
            TypeOption::Max(n) => format!("max {n}"),
            TypeOption::Min(n) => format!("min {n}"),
            TypeOption::Without(text) => format!("without {}", quote(text)),
            TypeOption::Only(text) => format!("only {}", quote(text)),
            TypeOption::Range(low, high) => format!("{low}..{high}"),
            TypeOption::Variant(text) => quote(text),
        });
        out.push_str(&format!("({options})"));
    }
    out
}

pub(super) fn facts(facts: &[Fact]) -> String {
    join(facts, " ", |fact| match &fact.value {
        Some(value) => format!("{} {value}", fact.name.text),
        None => fact.name.text.clone(),
    })
}

fn with_facts(mut out: String, list: &[Fact]) -> String {
    if !list.is_empty() {
        out.push(' ');
        out.push_str(&facts(list));
    }
    out
}

pub(super) fn attribute(item: &Attribute) -> String {
    let key = if item.key { "key " } else { "" };
    with_facts(format!("{key}{}: {}", item.name.text, ty(&item.ty)), &item.facts)
}

pub(super) fn fanout(item: &Fanout) -> String {
    let mut out = format!("fanout {}", names(&item.from));
    if let Some(to) = &item.to {
        out.push_str(&format!(" -> {}", to.text));
    }
    with_facts(out, &item.facts)
}

pub(super) fn params(params: &[Param]) -> String {
    let list = join(params, ", ", |param| match &param.ty {
        Some(of) => format!("{}: {}", param.name.text, ty(of)),
        None => param.name.text.clone(),
    });
    format!("({list})")
}

pub(super) fn paths(items: &[Path]) -> String {
    join(items, ", ", Path::text)
}

pub(super) fn expr(item: &Expr) -> String {
    match &item.kind {
        ExprKind::Path(path) => path.text(),
        ExprKind::Text(text) => quote(text),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Call { name, args } if name.text == "div" => join(args, " / ", expr),
        ExprKind::Call { name, args } if name.text == "minus" => {
            format!("-{}", join(args, ", ", expr))
        }
        ExprKind::Call { name, args } => format!("{}({})", name.text, join(args, ", ", expr)),
        ExprKind::Template(template) => quote(&template.raw),
    }
}

pub(super) fn conds(items: &[Cond]) -> String {
    join(items, " and ", cond)
}

fn cond(item: &Cond) -> String {
    let path = of_each(&item.path, &item.others);
    let word = match item.op {
        CondOp::Eq => "=",
        CondOp::Lt => "<",
        CondOp::Le => "<=",
        CondOp::Gt => ">",
        CondOp::Ge => ">=",
        CondOp::Between => "between",
        CondOp::Begins => "begins",
        CondOp::In => "in",
        CondOp::Contains => "contains",
        CondOp::Ends => "ends",
        CondOp::Matches => "matches",
        CondOp::Near => "near",
        CondOp::Present => return format!("{path} is present"),
        CondOp::Absent => return format!("{path} is absent"),
    };
    let values = join(&item.values, " and ", expr);
    let max = item.max.map_or_else(String::new, |max| format!(" max {max}"));
    format!("{path} {word} {values}{max}")
}

pub(super) fn orders(items: &[Order]) -> String {
    join(items, ", ", |order| {
        let desc = if order.desc { " desc" } else { "" };
        format!("{}{desc}", of_each(&order.path, &order.others))
    })
}

/// Formats an attribute, or those of several row types.
fn of_each(path: &Path, others: &[Path]) -> String {
    if others.is_empty() {
        return path.text();
    }
    let all: Vec<String> = std::iter::once(path).chain(others).map(Path::text).collect();
    format!("({})", all.join(", "))
}

pub(super) fn read_clauses(read: &Read) -> Vec<String> {
    let aggregate = match &read.aggregate {
        None => String::new(),
        Some((kind, path)) => {
            let word = match kind {
                Aggregate::Count => "count",
                Aggregate::Sum => "sum",
                Aggregate::Min => "min",
                Aggregate::Max => "max",
            };
            let path = path.as_ref().map_or_else(String::new, |path| format!(" {}", path.text()));
            format!("{word}{path} of ")
        }
    };
    let sources = join(&read.sources, " + ", |name| name.text.clone());
    let head = format!("read {}{} = {aggregate}{sources}", read.name.text, params(&read.params));
    let mut clauses = vec![head];
    if !read.with.is_empty() {
        clauses.push(format!("with {}", paths(&read.with)));
    }
    if let Some(select) = &read.select {
        let distinct = if read.distinct { "distinct " } else { "" };
        clauses.push(format!("select {distinct}{}", paths(select)));
    }
    if !read.conds.is_empty() {
        clauses.push(format!("where {}", conds(&read.conds)));
    }
    if !read.order.is_empty() {
        clauses.push(format!("order by {}", orders(&read.order)));
    }
    if let Some(offset) = &read.offset {
        clauses.push(format!("offset {}", expr(offset)));
    }
    if let Some(limit) = &read.limit {
        let word = if read.page { "page" } else { "limit" };
        clauses.push(format!("{word} {}", expr(limit)));
    }
    if !read.limits.is_empty() {
        let own =
            join(&read.limits, ", ", |one| format!("{} of {}", expr(&one.count), one.of.text));
        clauses.push(format!("limit {own}"));
    }
    if read.unique {
        clauses.push("unique".to_owned());
    }
    if !read.facts.is_empty() {
        clauses.push(facts(&read.facts));
    }
    clauses
}

pub(super) fn effects(write: &Write) -> Vec<String> {
    let mut out = Vec::new();
    for (index, item) in write.effects.iter().enumerate() {
        let and = if index == 0 { "" } else { "and " };
        out.push(format!("{and}{}", effect(item)));
    }
    out
}

fn effect(item: &Effect) -> String {
    let word = match item.kind {
        EffectKind::Insert => "insert",
        EffectKind::Link => "link",
        EffectKind::Update => "update",
        EffectKind::Delete => "delete",
        EffectKind::Unlink => "unlink",
        EffectKind::Increment => "increment",
    };
    let key = join(&item.key, ", ", |(name, value)| format!("{} {}", name.text, expr(value)));
    let mut out = format!("{word} {}({key})", item.relation.text);
    if !item.set.is_empty() {
        let by = if item.kind == EffectKind::Increment { "by" } else { "=" };
        let set =
            join(&item.set, ", ", |(name, value)| format!("{} {by} {}", name.text, expr(value)));
        out.push_str(&format!(" set {set}"));
    }
    match item.existing {
        Existing::Fresh => {}
        Existing::Unless => out.push_str(" unless exists"),
        Existing::Replace => out.push_str(" or replace"),
        Existing::Insert => out.push_str(" or insert"),
    }
    let asked = item.conds.iter().map(|one| conds(std::slice::from_ref(one)));
    let asked: Vec<String> = asked.chain(item.differ.iter().map(differ)).collect();
    if !asked.is_empty() {
        out.push_str(&format!(" if {}", asked.join(", ")));
    }
    if let Some(each) = &item.each {
        out.push_str(&format!(" {}", each_text(each)));
    }
    out
}

/// Returns two inputs, or two lists of them, that differ.
fn differ(item: &Differ) -> String {
    let side = |paths: &[Path]| match paths {
        [only] => only.text(),
        several => format!("({})", join(several, ", ", Path::text)),
    };
    format!("{} != {}", side(&item.left), side(&item.right))
}

fn each_text(each: &Each) -> String {
    let alias = each.alias.as_ref().map_or_else(String::new, |name| format!(" as {}", name.text));
    let filter = if each.conds.is_empty() {
        String::new()
    } else {
        format!(" where {}", conds(&each.conds))
    };
    format!("for each {}{alias}{filter}", each.source.text)
}

pub(super) fn settings_value(path: &Path, value: &str) -> String {
    format!("{} {value}", path.text())
}

pub(super) fn allow(item: &Allow) -> String {
    let schema = item.schema.as_ref().map_or_else(String::new, |name| format!(" in {}", name.text));
    let on = item.on.as_ref().map_or_else(String::new, |name| format!(" on {}", name.text));
    format!("allow {}{schema}{on} because {}", names(&item.lints), quote(&item.reason))
}

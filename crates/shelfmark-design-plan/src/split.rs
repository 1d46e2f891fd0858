//! Plans reads of several row types as one read for each row type.
//!
//! A range that holds several row types has one limit. Where it cannot be that of a row type, the read is
//! several requests, and each of them asks for rows in an order of its own: as reads of these row types
//! would. So these are planned, and their plans are put together. A read without a limit may be several
//! requests as well: its row types then need no rows that lie together.
//!
//! What it is not: no proof. Whether the requests together are right says the prover.
//!
//! Invariant: a schema that is returned serves each read that was taken apart.

use std::collections::BTreeSet;

use crate::Plan;
use crate::basis::{Basis, model_of};
use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::{Model, OrderKey, Read};
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_language::syntax::print;
use shelfmark_design_language::syntax::tree::{
    self, Cond, Expr, ExprKind, Item, Order, Path, Serve, Step, StepKind,
};
use shelfmark_design_language::target::profile;
use shelfmark_design_prove::{decisive, prove_read};

/// Words that stand in front of the row type in the name of a part.
const PART: &str = "part_of";

/// A read, and the reads that it is taken apart to, in the order of their requests.
struct Parts {
    read: String,
    parts: Vec<String>,
    /// The limit of each part that is an input.
    limits: Vec<Option<Expr>>,
    /// The order by which the requests' rows are brought together, if they do not follow one another.
    sort: Vec<Order>,
}

/// The reads of several row types that are taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Those of which a row type has a limit.
    Limited,
    /// Those without any limit as well.
    Unlimited,
}

impl Taken {
    /// The kinds, in the order in which they are tried.
    pub(crate) const ALL: [Self; 2] = [Self::Limited, Self::Unlimited];
}

/// Plans a model whose reads of several row types are taken apart; `None` where there are none of the kind,
/// or not all of them are served so.
pub(crate) fn planned(
    basis: &Basis<'_>,
    taken: Taken,
    plan: impl FnOnce(&Basis<'_>) -> Result<Plan, String>,
) -> Result<Option<Plan>, String> {
    let Some((text, split)) = taken_apart(basis, taken) else { return Ok(None) };
    let Ok(model) = model_of(&text) else { return Ok(None) };
    let plan = put_together(plan(&Basis::new(&model, &text))?, &split);
    let model = basis.with(&plan.schema)?;
    Ok(serves(&model, &split).then_some(plan))
}

/// Returns true if a schema serves each read that was taken apart.
fn serves(model: &Model, split: &[Parts]) -> bool {
    let Some(schema) = model.schemas.first() else { return false };
    let Some(target) = profile(&schema.target) else { return false };
    split.iter().all(|one| {
        let mut reads = model.reads.iter().enumerate();
        reads.find(|(_, read)| read.name.text == one.read).is_some_and(|(index, read)| {
            decisive(&prove_read(model, schema, target, index, read).analysis).is_none()
        })
    })
}

/// Returns the model's text with a read for each row type where reads of several are taken apart.
fn taken_apart(basis: &Basis<'_>, taken: Taken) -> Option<(String, Vec<Parts>)> {
    let unlimited = |read: &Read| {
        let several = read.sources.len() > 1 && !read.has_own_limits();
        several && read.limit.is_none() && !read.page && !read.order.is_empty()
    };
    if taken == Taken::Unlimited && !basis.model.reads.iter().any(unlimited) {
        return None;
    }
    let parts =
        |read: &&Read| read.has_own_limits() || taken == Taken::Unlimited && unlimited(read);
    let mut file = parse(&basis.text_with("")).file;
    let mut split = Vec::new();
    let mut items = Vec::new();
    for item in file.items {
        let Item::Read(read) = &item else {
            items.push(item);
            continue;
        };
        let resolved = basis.model.reads.iter().find(|one| one.name.text == read.name.text);
        let Some(resolved) = resolved.filter(parts) else {
            items.push(item);
            continue;
        };
        let mut places: Vec<usize> = (0..read.sources.len()).collect();
        let by_kind = matches!(resolved.order.first(), Some((OrderKey::Kind, _)));
        if matches!(resolved.order.first(), Some((OrderKey::Kind, true))) {
            places.reverse();
        }
        let (mut parts, mut limits) = (Vec::new(), Vec::new());
        for at in places {
            let part = part(basis.model, (read, resolved), at)?;
            parts.push(part.name.text.clone());
            limits.push(part.limit.clone().filter(|one| !matches!(one.kind, ExprKind::Int(_))));
            items.push(Item::Read(Box::new(part)));
        }
        let sort = if by_kind { Vec::new() } else { read.order.clone() };
        split.push(Parts { read: read.name.text.clone(), parts, limits, sort });
    }
    file.items = items;
    let text = print::format("", &file, &[]);
    (!split.is_empty()).then_some((text, split))
}

/// Returns the read of one row type alone.
fn part(model: &Model, (read, resolved): (&tree::Read, &Read), at: usize) -> Option<tree::Read> {
    let name = read.sources.get(at)?;
    let source = resolved.sources.get(at)?;
    let own = |path: &Path, others: &[Path]| own_path(model, source, path, others);
    let conds = read.conds.iter().filter_map(|cond| {
        let path = own(&cond.path, &cond.others)?;
        Some(Cond { path, others: Vec::new(), ..cond.clone() })
    });
    let orders = read.order.iter().zip(&resolved.order).filter_map(|(order, (key, _))| {
        let OrderKey::Columns(paths) = key else { return None };
        paths.get(at)?.as_ref()?;
        let path = own(&order.path, &order.others)?;
        Some(Order { path, others: Vec::new(), desc: order.desc })
    });
    let shown = |path: &&Path| {
        let place = resolved.outputs.iter().position(|name| *name == path.text());
        place.and_then(|place| source.outputs.get(place)).is_some_and(Option::is_some)
    };
    let select: Option<Vec<Path>> =
        read.select.as_ref().map(|paths| paths.iter().filter(shown).cloned().collect());
    let limit = read.limits.iter().find(|own| own.of.text == name.text);
    let mut part = tree::Read {
        sources: vec![name.clone()],
        with: read.with.iter().filter(shown).cloned().collect(),
        select: select.filter(|paths| !paths.is_empty()),
        conds: conds.collect(),
        order: orders.collect(),
        limit: limit.map(|own| own.count.clone()),
        limits: Vec::new(),
        ..read.clone()
    };
    part.name.text = format!("{PART}_{}_{}", read.name.text, name.text.to_lowercase());
    let mut used = BTreeSet::new();
    let values = part.conds.iter().flat_map(|cond| &cond.values);
    values.chain(&part.limit).for_each(|value| inputs(value, &mut used));
    part.params.retain(|param| used.contains(&param.name.text));
    Some(part)
}

/// Returns the attribute that a row type has of those that are named; `None` where none is its own.
fn own_path(model: &Model, source: &Source, path: &Path, others: &[Path]) -> Option<Path> {
    let relation = model.relation(source.relation);
    let first = |path: &Path| path.parts.first().map_or("", |one| one.text.as_str()).to_owned();
    let behind = |path: &Path| Path { parts: path.parts.iter().skip(1).cloned().collect() };
    if !others.is_empty() {
        let mut all = std::iter::once(path).chain(others);
        return all.find(|path| first(path) == relation.name.text).map(behind);
    }
    let is_type = path.parts.len() > 1
        && relation.column(&first(path)).is_none()
        && model.relations.iter().any(|one| one.name.text == first(path));
    match is_type {
        true => (first(path) == relation.name.text).then(|| behind(path)),
        false => Some(path.clone()),
    }
}

/// Collects the inputs that a value names.
fn inputs(value: &Expr, found: &mut BTreeSet<String>) {
    match &value.kind {
        ExprKind::Path(path) => found.extend(path.parts.first().map(|name| name.text.clone())),
        ExprKind::Call { args, .. } => args.iter().for_each(|arg| inputs(arg, found)),
        _ => {}
    }
}

/// Returns a plan with the reads of row types put together to those that were asked for.
fn put_together(plan: Plan, split: &[Parts]) -> Plan {
    let mut notes = Vec::new();
    let mut schema = plan.schema;
    for note in plan.notes {
        let part = split.iter().find_map(|one| {
            let part = one.parts.iter().find(|part| note.starts_with(&format!("{part} ")))?;
            Some((part, &one.read))
        });
        let said = part.map_or_else(|| note.clone(), |(part, read)| note.replacen(part, read, 1));
        schema = schema.replacen(&format!("# {note}\n"), &format!("# {said}\n"), 1);
        notes.push(said);
    }
    let mut parsed = parse(&schema);
    for item in &mut parsed.file.items {
        if let Item::Schema(schema) = item {
            split.iter().for_each(|one| one.join(&mut schema.serves));
        }
    }
    let schema = print::format(&schema, &parsed.file, &parsed.comments);
    Plan { schema, notes }
}

impl Parts {
    /// Makes one plan of those of the row types; none where one of them has none, or no request alone.
    fn join(&self, serves: &mut Vec<Serve>) {
        let find = |part: &String| serves.iter().find(|serve| serve.pattern.text == *part);
        let found: Option<Vec<Serve>> = self.parts.iter().map(|part| find(part).cloned()).collect();
        let place = serves.iter().position(|one| self.parts.contains(&one.pattern.text));
        serves.retain(|one| !self.parts.contains(&one.pattern.text));
        let Some((joined, place)) = found.and_then(|all| self.joined(all)).zip(place) else {
            return;
        };
        serves.insert(place.min(serves.len()), joined);
    }

    fn joined(&self, serves: Vec<Serve>) -> Option<Serve> {
        let span = serves.first()?.span;
        let (mut steps, mut later): (Vec<Step>, Vec<Step>) = (Vec::new(), Vec::new());
        for (serve, limit) in serves.into_iter().zip(&self.limits) {
            let mut own = serve.steps.into_iter();
            let StepKind::Read(mut first) = own.next()?.kind else { return None };
            first.limit = first.limit.or_else(|| limit.clone());
            if first.each.is_some() {
                return None;
            }
            let kind = if steps.is_empty() { StepKind::Read(first) } else { StepKind::Also(first) };
            steps.push(Step { kind });
            later.extend(own);
        }
        if !self.sort.is_empty() {
            steps.push(Step { kind: StepKind::Sort(self.sort.clone()) });
        }
        steps.extend(later);
        let mut pattern = tree::Name::plain(self.read.clone());
        pattern.span = span;
        Some(Serve { pattern, params: None, steps, span })
    }
}

//! Converts steps of a read to requests.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::Calls;
use super::expr::{Expr, Piece};
use super::request::{Ask, End, Guard, Refusal, Request};
use super::stepped;
use super::uuids::is_by_uuid;
use crate::follow::leading_to;
use crate::key::facts::{ends_itself, first_of, going_past, same_form};
use crate::paths::is_optional;
use crate::range::{columns_may_meet, may_touch};
use crate::unique::available;
use shelfmark_design_language::model::schema::{
    Codec, EachOf, Family, FilterPredicate, Part, ReadStep, Serve, Step,
};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{
    ColumnPath, Consistency, Model, Read, RelationId, Term, Value, canonical,
};
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp, Verb};
use shelfmark_design_language::target::Target;

/// Longest text behind which a scan may end, in characters.
///
/// Ours: it is written whole.
const LONGEST_MAX: usize = 100;

/// Characters of any value that is no text: an identifier has 36, a moment fewer.
const MOST_DIGITS: usize = 40;

/// Largest LIMIT of a statement of CQL, which is an `int`.
///
/// Source: Apache Cassandra documentation, SELECT, read 2026-11.
const LIMIT_MAX: i64 = 2_147_483_647;

/// Converts the steps of a plan to requests; filters and sorts stand beside the read before them.
pub(super) fn requests(
    calls: &Calls<'_>,
    read: &Read,
    serve: &Serve,
) -> Result<Vec<Request>, Refusal> {
    let sorted = serve.steps.iter().any(|step| matches!(step, Step::Sort(_)));
    let mut found: Vec<Request> = Vec::new();
    let by_uuid = !sorted && is_by_uuid(calls.model, read);
    let mut before: Vec<(usize, &ReadStep)> = Vec::new();
    for step in &serve.steps {
        let beside = matches!(step, Step::Also(_));
        let Some(step) = step.read() else {
            if let Some(Request::Read { then, .. }) = found.last_mut() {
                then.push(work(read, step));
            }
            continue;
        };
        let number = found.len() + 1;
        // What stands beside the first request takes nothing from rows.
        let before_it = if beside { &[][..] } else { before.as_slice() };
        let reader = Reader { calls, read, step, before: before_it };
        found.push(reader.request(number, by_uuid)?);
        before.push((number, step));
    }
    Ok(found)
}

/// Returns the caller's work on the rows that were read.
fn work(read: &Read, step: &Step) -> Json {
    let value = |term: &Term| plain(read, term).json();
    match step {
        Step::Filter(filters) => {
            let one = |filter: &FilterPredicate| {
                let values: Vec<Json> = filter.values.iter().map(value).collect();
                json!([filter.name, filter.op, values])
            };
            json!({ "filter": filters.iter().map(one).collect::<Vec<_>>() })
        }
        Step::Sort(orders) => {
            let one =
                |(name, desc): &(String, bool)| json!([name, if *desc { "desc" } else { "asc" }]);
            json!({ "sort": orders.iter().map(one).collect::<Vec<_>>() })
        }
        Step::Take(limit) => json!({ "take": value(limit) }),
        Step::Read(_) | Step::Also(_) => Json::Null,
    }
}

/// Returns a term of inputs and constants alone.
fn plain(read: &Read, term: &Term) -> Expr {
    match term {
        Term::Param(at) => match read.params.get(*at) {
            Some(param) => Expr::input(param),
            None => Expr::Const(Value::Null, Type::Bool),
        },
        Term::Const(value) => Expr::Const(value.clone(), type_of(value)),
        Term::Call(function, args) => {
            let args: Vec<Expr> = args.iter().map(|arg| plain(read, arg)).collect();
            let ty = args.first().map_or(Type::Bool, Expr::ty);
            Expr::call(*function, args, ty)
        }
        Term::Each | Term::Prior(_) | Term::Column(_) => Expr::Const(Value::Null, Type::Bool),
    }
}

/// Returns the type of a constant by itself.
pub(super) fn type_of(value: &Value) -> Type {
    match value {
        Value::Null | Value::Bool(_) => Type::Bool,
        Value::Int(_) => Type::Int(None),
        Value::Id(_) => Type::Uuid,
        Value::Text(_) => super::expr::plain_text(),
        Value::List(items) => Type::List(Box::new(items.first().map_or(Type::Bool, type_of)), None),
    }
}

struct Reader<'a> {
    calls: &'a Calls<'a>,
    read: &'a Read,
    step: &'a ReadStep,
    /// The reads before this one, with their numbers.
    before: &'a [(usize, &'a ReadStep)],
}

impl Reader<'_> {
    fn request(&self, number: usize, by_uuid: bool) -> Result<Request, Refusal> {
        let step = self.step;
        let key = self.calls.columns.key(step.table);
        let mut equal = Vec::new();
        for (at, parts) in step.bound.iter().enumerate() {
            let ty = key.get(at).map(|column| column.ty.clone());
            equal.push(self.column(parts, ty)?);
        }
        let mut ends = Vec::new();
        for (kind, parts) in &step.bounds {
            let ty = key.get(step.bound.len()).map(|column| column.ty.clone());
            let typed = matches!(parts.as_slice(), [Part::Hole { codec: Codec::Native, .. }]);
            let whole = typed || matches!(parts.last(), Some(Part::End));
            ends.push(End { kind: *kind, value: self.column(parts, ty)?, whole, number: None });
        }
        match self.calls.target.name.as_str() {
            "dynamodb" if ends.len() == 2 => {
                ends = stepped::included(self.close(ends, &step.bounds), &step.bounds);
            }
            "candb" if equal.len() < key.len() => ends = self.both_ends(ends),
            _ => {}
        }
        let limit = step.limit.as_ref().map(|limit| plain(self.read, limit));
        let table = self.calls.schema.tables.get(step.table);
        let is_index = table.is_some_and(|table| table.is_index);
        let lags = table.is_some_and(|table| table.is_index && !table.is_local);
        let point = !is_index && ends.is_empty() && equal.len() == key.len() && !key.is_empty();
        let mut guards = Vec::new();
        if let Some(limit) = limit.as_ref().filter(|limit| !is_positive(limit)) {
            let one = Expr::Const(Value::Int(1), Type::Int(None));
            guards.push(Guard { left: limit.clone(), op: CondOp::Ge, right: vec![one] });
        }
        if let Some(limit) = limit.as_ref().filter(|limit| is_long(self.calls.target, limit)) {
            let most = Expr::Const(Value::Int(LIMIT_MAX), Type::Int(None));
            let op = CondOp::Le;
            guards.push(Guard { left: limit.clone(), op, right: vec![most] });
        }
        let fresh = matches!(self.read.consistency, Consistency::Strong | Consistency::Session);
        let each = match &step.each {
            None => self.rows_from(&equal, &ends)?.map(|before| json!({ "step": before })),
            Some(EachOf::Param(at)) => {
                self.read.params.get(*at).map(|param| json!({ "$input": param.name }))
            }
            Some(EachOf::Numbers(low, high)) => Some(json!({ "from": low, "to": high })),
        };
        guards.extend(self.lacking(&equal, &ends));
        let get = point || step.verb == Verb::Get && limit.is_none();
        let ask = Box::new(Ask {
            table: step.table,
            equal,
            ends,
            desc: step.desc,
            limit: limit.filter(|_| !point),
            fresh: fresh && !lags,
            by_uuid: by_uuid
                && !get
                && key.iter().skip(step.bound.len()).any(|column| column.ty == Type::Uuid),
            point,
        });
        Ok(Request::Read { step: number, ask, each, guards, then: Vec::new() })
    }

    /// Gives a range both of its ends, and includes them, as a scan of CanDB has them: from the least
    /// text on, up to the smallest text behind all rows of the partition.
    fn both_ends(&self, ends: Vec<End>) -> Vec<End> {
        let (mut both, mut bounds) = (Vec::new(), Vec::new());
        for (end, (_, parts)) in ends.into_iter().zip(&self.step.bounds) {
            if end.kind == BoundKind::Begins {
                for kind in [BoundKind::From, BoundKind::Through] {
                    both.push(End { kind, value: end.value.clone(), whole: false, number: None });
                    bounds.push((kind, parts.clone()));
                }
                continue;
            }
            bounds.push((end.kind, parts.clone()));
            both.push(end);
        }
        let mut both = self.close(both, &bounds);
        let text = |text: String| Expr::Const(Value::Text(text), super::expr::plain_text());
        let low = |end: &End| matches!(end.kind, BoundKind::From | BoundKind::After);
        let whole = |kind, value| End { kind, value, whole: true, number: None };
        if !both.iter().any(low) {
            both.push(whole(BoundKind::From, text(String::new())));
        }
        if both.iter().all(low)
            && let Some(last) = self.behind_all()
        {
            both.push(whole(BoundKind::To, text(last)));
        }
        both
    }

    /// Returns a text behind all rows of the partition, if they begin with known texts or signs, or are
    /// only so long.
    fn behind_all(&self) -> Option<String> {
        let at = self.step.bound.len();
        let table = self.calls.schema.tables.get(self.step.table)?;
        let families = self.calls.schema.of_table(self.step.table).map(|(_, family)| family);
        let touched = families.filter(|family| may_touch(self.step, table, family));
        let last = touched.map(|family| {
            let parts = &family.key.get(at)?.parts;
            if let Some(Part::Literal(text)) = parts.first() {
                let text = Expr::Const(Value::Text(text.clone()), super::expr::plain_text());
                return match text.next() {
                    Expr::Const(Value::Text(next), _) => Some(next),
                    _ => None,
                };
            }
            match first_of(parts).bytes.max() {
                Some(last) if last < b'~' => Some(char::from(last + 1).to_string()),
                _ => Some(char::MAX.to_string().repeat(longest(parts)?)),
            }
        });
        last.collect::<Option<Vec<String>>>()?.into_iter().max()
    }

    /// Makes excluded ends included, where no row can lie there: BETWEEN includes both of its ends.
    fn close(&self, ends: Vec<End>, bounds: &[(BoundKind, Vec<Part>)]) -> Vec<End> {
        let mut closed = Vec::new();
        for (mut end, (_, parts)) in ends.into_iter().zip(bounds) {
            if self.keeps_all(end.kind, parts) {
                continue;
            }
            match (end.kind, end.whole) {
                (BoundKind::After, false) => {
                    end.value = end.value.clone().next();
                    (end.kind, end.whole) = (BoundKind::From, true);
                }
                (BoundKind::After, true) if self.no_row_at(parts) => end.kind = BoundKind::From,
                // What is written in full has no rows behind it before the next text.
                (BoundKind::After, true) if self.is_written(parts) => {
                    end.value = end.value.clone().next();
                    end.kind = BoundKind::From;
                }
                (BoundKind::Before, _) if self.no_row_at(parts) => {
                    (end.kind, end.whole) = (BoundKind::To, true);
                }
                (BoundKind::Through, false) if self.is_whole(parts) => {
                    (end.kind, end.whole) = (BoundKind::To, true);
                }
                (BoundKind::Through, false) => {
                    // The next text, where no row has it: between the two all texts begin so.
                    let next = bumped(parts).filter(|next| self.no_row_at(next));
                    if next.is_some() {
                        end.value = end.value.clone().next();
                        (end.kind, end.whole) = (BoundKind::To, true);
                        closed.push(end);
                        continue;
                    }
                    // Above all rows that begin so and go on with the texts that follow there.
                    if let Some(last) = self.follows(parts) {
                        let pieces = vec![
                            Piece::Hole(end.value.clone(), Codec::Plain),
                            Piece::Literal(last),
                        ];
                        end.value = Expr::text(pieces);
                        (end.kind, end.whole) = (BoundKind::To, true);
                    }
                }
                _ => {}
            }
            closed.push(end);
        }
        closed
    }

    /// Returns true if an end excludes no row of the partition: all of them begin with its text.
    fn keeps_all(&self, kind: BoundKind, parts: &[Part]) -> bool {
        let (BoundKind::From | BoundKind::Through, [Part::Literal(text)]) = (kind, parts) else {
            return false;
        };
        let at = self.step.bound.len();
        let mut inside = self.calls.schema.of_table(self.step.table).filter(|(_, family)| {
            let mut columns = self.step.bound.iter().zip(&family.key);
            columns
                .all(|(asked, column)| asked.is_empty() || columns_may_meet(asked, &column.parts))
        });
        inside.all(|(_, family)| {
            let first = family.key.get(at).and_then(|column| column.parts.first());
            matches!(first, Some(Part::Literal(begins)) if begins.starts_with(text.as_str()))
        })
    }

    /// Returns true if no row of the table has exactly this text in the column.
    fn no_row_at(&self, parts: &[Part]) -> bool {
        let mut whole = parts.to_vec();
        if whole.last() != Some(&Part::End) {
            whole.push(Part::End);
        }
        let typed = matches!(parts, [Part::Hole { codec: Codec::Native, .. }]);
        let at = self.step.bound.len();
        !typed
            && self.calls.schema.of_table(self.step.table).all(|(_, family)| {
                family.key.get(at).is_some_and(|column| !columns_may_meet(&whole, &column.parts))
            })
    }

    /// Returns true if a text is one of a codec, and no row of the range goes on behind it.
    fn is_written(&self, parts: &[Part]) -> bool {
        let parts = parts.strip_suffix(&[Part::End]).unwrap_or(parts);
        let typed = matches!(parts, [Part::Hole { codec: Codec::Native, .. }]);
        !typed && self.is_whole(parts)
    }

    /// Returns true if no row of the range goes on behind a text of these parts: both are whole texts of
    /// one form, and no value's text begins another's.
    fn is_whole(&self, parts: &[Part]) -> bool {
        let at = self.step.bound.len();
        let table = self.calls.schema.tables.get(self.step.table);
        let alike = |(asked, found): (&Part, &Part)| match (asked, found) {
            (Part::Literal(a), Part::Literal(b)) => a == b,
            (Part::Hole { .. }, Part::Hole { .. }) => {
                same_form(asked, found) && ends_itself(found) && going_past(asked, found).is_empty()
            }
            _ => false,
        };
        let families = self.calls.schema.of_table(self.step.table).map(|(_, family)| family);
        let mut touched = families
            .filter(|family| table.is_some_and(|table| may_touch(self.step, table, family)));
        touched.all(|family| {
            let column = family.key.get(at).map_or(&[][..], |column| column.parts.as_slice());
            let column = column.strip_suffix(&[Part::End]).unwrap_or(column);
            column.len() == parts.len() && parts.iter().zip(column).all(alike)
        })
    }

    /// Returns a text above all texts of rows that begin with these parts, which end with a value:
    /// the delimiter behind it, and the next character.
    ///
    /// A plan that is right so far reads no row that begins so and has another value there.
    fn follows(&self, parts: &[Part]) -> Option<String> {
        let at = self.step.bound.len();
        let table = self.calls.schema.tables.get(self.step.table)?;
        let mut most: Option<char> = None;
        for (_, family) in self.calls.schema.of_table(self.step.table) {
            if !may_touch(self.step, table, family) {
                continue;
            }
            let column = &family.key.get(at)?.parts;
            let same = parts.iter().zip(column).all(|(a, b)| match (a, b) {
                (Part::Literal(a), Part::Literal(b)) => a == b,
                (Part::Hole { .. }, Part::Hole { .. }) => same_form(a, b),
                _ => false,
            });
            let (true, Some(Part::Hole { .. })) = (same, parts.last()) else { return None };
            match column.get(parts.len()) {
                Some(Part::Literal(text)) => most = most.max(text.chars().next()),
                Some(Part::End) => {}
                _ => return None,
            }
        }
        let next = char::from_u32(u32::from(most?) + 1)?;
        Some(next.to_string())
    }

    /// Returns the value of a key column.
    fn column(&self, parts: &[Part], ty: Option<Type>) -> Result<Expr, Refusal> {
        if let [Part::Hole { term, ty: of, codec: Codec::Native }] = parts {
            return self.term(term, ty.unwrap_or_else(|| of.clone()));
        }
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                Part::Literal(text) => pieces.push(Piece::Literal(text.clone())),
                Part::Hole { term, ty, codec } => {
                    pieces.push(Piece::Hole(self.term(term, ty.clone())?, *codec));
                }
                Part::End => {}
            }
        }
        Ok(Expr::text(pieces))
    }

    fn term(&self, term: &Term, ty: Type) -> Result<Expr, Refusal> {
        Ok(match term {
            Term::Param(at) => match self.read.params.get(*at) {
                Some(param) => Expr::input(param),
                None => Expr::Const(Value::Null, ty),
            },
            Term::Const(value) => Expr::Const(value.clone(), ty),
            Term::Each => self.each(ty),
            Term::Prior(path) => self.prior(path, ty)?,
            Term::Call(function, args) => {
                let of: Result<Vec<Expr>, Refusal> = args
                    .iter()
                    .map(|arg| {
                        let ty = match arg {
                            Term::Const(value) => type_of(value),
                            _ => ty.clone(),
                        };
                        self.term(arg, ty)
                    })
                    .collect();
                Expr::call(*function, of?, ty)
            }
            Term::Column(_) => Expr::Const(Value::Null, ty),
        })
    }

    fn each(&self, ty: Type) -> Expr {
        match &self.step.each {
            Some(EachOf::Param(at)) => match self.read.params.get(*at) {
                Some(param) => {
                    let of = match &param.ty {
                        Type::List(element, _) => (**element).clone(),
                        other => other.clone(),
                    };
                    Expr::Each(param.name.clone(), of)
                }
                None => Expr::Const(Value::Null, ty),
            },
            _ => Expr::Each("number".to_owned(), ty),
        }
    }

    /// Returns the step whose rows a follow-up read is sent for: the one that shows what it is asked
    /// by.
    fn rows_from(&self, equal: &[Expr], ends: &[End]) -> Result<Option<usize>, Refusal> {
        let mut steps = BTreeSet::new();
        for value in equal.iter().chain(ends.iter().map(|end| &end.value)) {
            value.rows(&mut |_, step| {
                steps.insert(step);
            });
        }
        if steps.len() > 1 {
            let why = "a follow-up read is by what rows of several reads show";
            return Err(self.calls.refuse("shown", why));
        }
        Ok(steps.first().copied().or(self.before.last().map(|(number, _)| *number)))
    }

    /// Returns a value that a row shows which was read before; the path begins at the first read's
    /// row.
    fn prior(&self, path: &[usize], ty: Type) -> Result<Expr, Refusal> {
        if self.before.is_empty() {
            return Ok(Expr::Const(Value::Null, ty));
        }
        for (number, step) in self.before.iter().rev() {
            if let Some(name) = self.shown_by(*number, step, path) {
                return Ok(Expr::Row { name, step: *number, ty });
            }
        }
        Err(self.calls.refuse("shown", "a follow-up read is by what no row shows"))
    }

    /// Returns the column in which the rows of a step show a path of the first read's rows.
    fn shown_by(&self, number: usize, step: &ReadStep, path: &[usize]) -> Option<String> {
        let (model, schema) = (self.calls.model, self.calls.schema);
        let base = self.calls.base_of(step.table);
        self.sources().into_iter().find_map(|source| {
            let path = canonical(model, source, path);
            self.families(step).find_map(|family| {
                let rest = if number == 1 {
                    (family.source == source).then_some(path.as_slice())?
                } else {
                    let led = led_by(model, source, step, family.source);
                    path.strip_prefix(led.as_slice())?
                };
                let rest = canonical(model, family.source, rest);
                // What an index does not project is in its rows only where it is a key.
                let entry = schema.tables.get(step.table).is_some_and(|table| table.is_index);
                if entry && !available(model, family).contains(&rest) {
                    return None;
                }
                self.calls.columns.attribute(base, family.source, &rest).map(str::to_owned)
            })
        })
    }

    /// Returns guards on what some of the rows before may lack that this read is by.
    fn lacking(&self, equal: &[Expr], ends: &[End]) -> Vec<Guard> {
        let mut found: Vec<Guard> = Vec::new();
        for value in equal.iter().chain(ends.iter().map(|end| &end.value)) {
            value.rows(&mut |row, number| {
                let op = CondOp::Present;
                let there = Guard { left: row.clone(), op, right: Vec::new() };
                if self.may_lack(row, number) && !found.contains(&there) {
                    found.push(there);
                }
            });
        }
        found
    }

    /// Returns true if some row of a step before lacks an attribute, or is of a type that has it not.
    fn may_lack(&self, row: &Expr, number: usize) -> bool {
        let model = self.calls.model;
        let step = self.before.iter().find(|(other, _)| *other == number);
        let (Expr::Row { name, .. }, Some((_, step))) = (row, step) else { return true };
        let base = self.calls.base_of(step.table);
        self.families(step).any(|family| {
            let named = |path: &&ColumnPath| {
                self.calls.columns.attribute(base, family.source, path) == Some(name.as_str())
            };
            let own = available(model, family).iter().find(named);
            own.is_none_or(|path| is_optional(model, family.source, path))
        })
    }

    /// Returns the relations of the rows that the first read may find.
    fn sources(&self) -> BTreeSet<RelationId> {
        let first = self.before.first();
        let families = first.into_iter().flat_map(|(_, step)| self.families(step));
        families.map(|family| family.source).collect()
    }

    /// Returns the families whose rows a step may find.
    fn families<'s>(&'s self, step: &'s ReadStep) -> impl Iterator<Item = &'s Family> {
        let table = self.calls.schema.tables.get(step.table);
        let all = self.calls.schema.of_table(step.table).map(|(_, family)| family);
        all.filter(move |family| table.is_none_or(|table| may_touch(step, table, family)))
    }
}

/// Returns the reference that a follow-up read leads along; nothing where it finds the same tuple.
fn led_by(model: &Model, source: RelationId, step: &ReadStep, found: RelationId) -> ColumnPath {
    let asked = step.bound.iter().flatten().find_map(|part| match part {
        Part::Hole { term: Term::Prior(path), .. } => Some(canonical(model, source, path)),
        _ => None,
    });
    asked.and_then(|path| leading_to(model, source, &path, found)).unwrap_or_default()
}

/// Returns true if a limit is never 0 or less.
fn is_positive(limit: &Expr) -> bool {
    match limit {
        Expr::Const(Value::Int(n), _) => *n >= 1,
        other => matches!(other.ty(), Type::Int(Some((low, _))) if low >= 1),
    }
}

/// Returns true if a limit may be more than a statement of CQL takes.
fn is_long(target: &Target, limit: &Expr) -> bool {
    target.name == "cql"
        && match limit {
            Expr::Const(Value::Int(n), _) => *n > LIMIT_MAX,
            other => !matches!(other.ty(), Type::Int(Some((_, high))) if high <= LIMIT_MAX),
        }
}

/// Returns the parts of the smallest text above all that begin so, where they end with a fixed
/// text.
fn bumped(parts: &[Part]) -> Option<Vec<Part>> {
    let mut parts = parts.to_vec();
    let Some(Part::Literal(text)) = parts.last_mut() else { return None };
    let next = Expr::Const(Value::Text(text.clone()), super::expr::plain_text()).next();
    let Expr::Const(Value::Text(next), _) = next else { return None };
    *text = next;
    Some(parts)
}

/// Returns the most characters of a text column, if its values have a limit.
fn longest(parts: &[Part]) -> Option<usize> {
    let one = |part: &Part| match part {
        Part::Literal(text) => Some(text.chars().count()),
        Part::End => Some(0),
        Part::Hole { ty: Type::Text(domain), codec: Codec::Plain, .. } => {
            usize::try_from(domain.max?).ok().filter(|most| *most <= LONGEST_MAX)
        }
        Part::Hole { ty: Type::Enum(words), .. } => {
            Some(words.iter().map(|word| 2 * word.chars().count()).max().unwrap_or(0))
        }
        Part::Hole { ty: Type::Text(_) | Type::List(..) | Type::Bytes(_), .. } => None,
        Part::Hole { .. } => Some(MOST_DIGITS),
    };
    parts.iter().map(one).sum()
}

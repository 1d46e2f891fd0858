//! Proves plans that ask for row types by requests of their own, one beside the other.
//!
//! Each request is proven as a read of the row types that it is for, with their conditions, their order
//! and their limit. Together they are the pattern's list where they follow one another in the order of
//! row types, or are sorted outside the store.
//!
//! Invariant: no failure is returned only when each row type is read by one request, which is right by
//! itself, and the rows of all of them come as asked.

use super::analysis::Analysis;
use super::ordered::sorts_as_wanted;
use super::range::{Found, find};
use super::read::{Context, Tail, analyse};
use shelfmark_design_language::certificate::{RowsMax, text};
use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::schema::{ReadStep, Schema, Serve, Step};
use shelfmark_design_language::model::{ColumnPath, Model, OrderKey, Read, Term};
use shelfmark_design_language::syntax::tree::Verb;
use shelfmark_design_language::target::Target;

/// Returns the requests of a plan that stand beside one another, and the steps behind them; `None` where
/// there is one.
fn requests(serve: &Serve) -> Option<(Vec<&ReadStep>, &[Step])> {
    let (first, later) = serve.steps.split_first()?;
    let count = later.iter().take_while(|step| matches!(step, Step::Also(_))).count();
    let (also, behind) = later.split_at_checked(count).filter(|(also, _)| !also.is_empty())?;
    Some((first.read().into_iter().chain(also.iter().filter_map(Step::read)).collect(), behind))
}

/// Proves a plan with several requests beside one another; `None` where it has one.
pub(super) fn proven(
    (model, schema, target): (&Model, &Schema, &Target),
    read: &Read,
    serve: &Serve,
) -> Option<Analysis> {
    let (requests, later) = requests(serve)?;
    let mut analysis = Analysis { multi: true, ..Analysis::default() };
    if read.aggregate.is_some() || read.offset {
        analysis.fail(7, "A6", "no range of keys skips rows or computes over them");
        return Some(analysis);
    }
    if read.page {
        analysis.fail_request("no request asks for the next page of several requests together");
    }
    let tail = Tail::of(later);
    if tail.take != read.limit.as_ref() {
        let why = match read.limit {
            Some(_) => "each request has its own limit; take the first of them all",
            None => "the plan takes another number of rows than the pattern asks",
        };
        analysis.fail(4, "A4", why);
    }
    let groups = match shared(model, schema, read, &requests) {
        Ok(groups) => groups,
        Err(why) => {
            for step in requests {
                Context { model, schema, target, read, step }.bound(&mut analysis);
            }
            analysis.fail(4, "A4", why);
            return Some(analysis);
        }
    };
    let mut rows = None;
    for (step, group) in requests.iter().zip(&groups) {
        let own = part(read, group);
        if let Some(why) = unlimited(model, &own, (read, step)) {
            analysis.fail(4, "A4", why);
        }
        let steps = std::iter::once(Step::Read((*step).clone())).chain(later.iter().cloned());
        let serve = Serve { steps: steps.collect(), ..serve.clone() };
        let one = analyse(model, schema, target, &own, &serve);
        rows = Some(match rows.take() {
            None => one.rows_max.clone(),
            Some(rows) => RowsMax::plus(rows, one.rows_max.clone()),
        });
        join(&mut analysis, one);
    }
    analysis.rows_max = rows.unwrap_or_default();
    analysis.note(9, format!("rows by one call: {}", analysis.rows_max));
    in_order(model, read, &groups, &tail, &mut analysis);
    Some(analysis)
}

/// Returns why a request reads rows of a type of which none may be asked for.
fn unlimited(model: &Model, own: &Read, (read, step): (&Read, &ReadStep)) -> Option<String> {
    let [only] = own.sources.as_slice() else { return None };
    let input = own.limit.as_ref().filter(|limit| !matches!(limit, Term::Const(_)))?;
    (read.limit.is_none() && step.limit.is_none()).then(|| {
        let name = &model.relation(only.relation).name.text;
        format!("where {} is 0, the request reads rows of {name}", text::term(read, input))
    })
}

/// Adds what was found about one request.
fn join(all: &mut Analysis, one: Analysis) {
    for failure in one.failures {
        let said = all.failures.iter().any(|other| {
            (other.obligation, &other.reason) == (failure.obligation, &failure.reason)
        });
        if !said {
            all.failures.push(failure);
        }
    }
    for (number, text) in one.evidence {
        // Rows of all requests together are counted at the end.
        if number != 9 && !all.evidence.contains(&(number, text.clone())) {
            all.evidence.push((number, text));
        }
    }
    all.leans_on_base_key |= one.leans_on_base_key;
    all.families.extend(one.families);
}

/// Proves O5: the requests follow one another as row types do, or are sorted.
fn in_order(
    model: &Model,
    read: &Read,
    groups: &[Vec<usize>],
    tail: &Tail<'_>,
    analysis: &mut Analysis,
) {
    if read.order.is_empty() {
        return;
    }
    if let Some(sort) = &tail.sort {
        if !sorts_as_wanted(model, read, sort) {
            analysis.fail(5, "K7", "the plan sorts otherwise than the pattern asks");
        }
        return;
    }
    let follow = |desc: bool| {
        groups.windows(2).all(|pair| {
            let [first, second] = pair else { return true };
            match desc {
                false => first.iter().max() < second.iter().min(),
                true => first.iter().min() > second.iter().max(),
            }
        })
    };
    match read.order.first() {
        Some((OrderKey::Kind, desc)) if follow(*desc) => {
            analysis.note(5, "requests follow one another as row types do");
        }
        Some((OrderKey::Kind, _)) => {
            analysis.fail(5, "K7", "the requests come in another order than their row types");
        }
        _ => {
            let why = "several requests follow one another, each in order; sort them";
            analysis.fail(5, "K7", why);
        }
    }
}

/// Returns the row types of each request, by their places in the read.
fn shared(
    model: &Model,
    schema: &Schema,
    read: &Read,
    requests: &[&ReadStep],
) -> Result<Vec<Vec<usize>>, String> {
    let mut groups = vec![Vec::new(); requests.len()];
    for (at, source) in read.sources.iter().enumerate() {
        let here = |step: &&&ReadStep| has_rows(schema, step, source);
        let name = &model.relation(source.relation).name.text;
        let place = requests.iter().position(|step| here(&step)).or_else(|| {
            // A request of its table shows better what is wrong than that there is none.
            requests.iter().position(|step| {
                schema.of_source(source.relation).any(|(_, family)| family.table == step.table)
            })
        });
        let group = place.and_then(|place| groups.get_mut(place));
        group.ok_or_else(|| format!("no request of the plan reads rows of {name}"))?.push(at);
    }
    if let Some((step, _)) = requests.iter().zip(&groups).find(|(_, group)| group.is_empty()) {
        let table = schema.tables.get(step.table).map_or("", |table| table.name.text.as_str());
        return Err(format!(
            "what a request of {table} reads is read by another one, or not asked for"
        ));
    }
    Ok(groups)
}

/// Returns true if a request reads rows of a row type.
fn has_rows(schema: &Schema, step: &ReadStep, source: &Source) -> bool {
    let Some(table) = schema.tables.get(step.table) else { return false };
    schema.of_source(source.relation).any(|(_, family)| {
        family.table == step.table && matches!(find(step, table, family), Found::Rows { .. })
    })
}

/// Returns the read of some of its row types alone.
pub(crate) fn part(read: &Read, group: &[usize]) -> Read {
    let mut sources: Vec<Source> =
        group.iter().filter_map(|at| read.sources.get(*at).cloned()).collect();
    let own = match sources.as_mut_slice() {
        [only] => only.limit.take(),
        _ => None,
    };
    let of_group = |key: &OrderKey| match key {
        OrderKey::Kind => OrderKey::Kind,
        OrderKey::Columns(paths) => {
            let own = group.iter().filter_map(|at| paths.get(*at).cloned());
            OrderKey::Columns(own.collect())
        }
    };
    let order = read.order.iter().map(|(key, desc)| (of_group(key), *desc)).collect();
    let limit = own.or_else(|| read.limit.clone());
    Read { sources, order, limit, page: false, ..read.clone() }
}

/// Returns a plan with a request for each row type, of the best plan that each has by itself.
pub(crate) fn derived(
    model: &Model,
    read: &Read,
    best: impl Fn(&Read) -> Option<Serve>,
) -> Option<Vec<Step>> {
    let mut places: Vec<usize> = (0..read.sources.len()).collect();
    let by_kind = matches!(read.order.first(), Some((OrderKey::Kind, _)));
    if matches!(read.order.first(), Some((OrderKey::Kind, true))) {
        places.reverse();
    }
    let (mut requests, mut follows): (Vec<Step>, Vec<Step>) = (Vec::new(), Vec::new());
    for at in places {
        let own = part(read, &[at]);
        let mut steps = best(&own)?.steps.into_iter();
        let Step::Read(first) = steps.next()? else { return None };
        if first.each.is_some() {
            return None;
        }
        // A point read has no end, but none may be asked for where the limit is an input.
        let input = own.limit.filter(|limit| !matches!(limit, Term::Const(_)));
        let limit = first.limit.or_else(|| input.filter(|_| read.limit.is_none()));
        let first = ReadStep { limit, ..first };
        requests.push(if requests.is_empty() { Step::Read(first) } else { Step::Also(first) });
        for step in steps {
            match step {
                Step::Read(step) if step.verb == Verb::Get => follows.push(Step::Read(step)),
                _ => return None,
            }
        }
    }
    if !by_kind {
        requests.extend(sort(model, read));
    }
    requests.extend(follows);
    Some(requests)
}

/// Returns the sort that brings requests together in the order of a read.
fn sort(model: &Model, read: &Read) -> Option<Step> {
    let names = read.order.iter().map(|(key, desc)| {
        let OrderKey::Columns(paths) = key else { return Some(("kind".to_owned(), *desc)) };
        let of_type = |(source, path): (&Source, &Option<ColumnPath>)| {
            Some((source.relation, model.path_text(source.relation, path.as_ref()?)))
        };
        let own: Option<Vec<_>> = read.sources.iter().zip(paths).map(of_type).collect();
        let own = own?;
        let (_, first) = own.first()?;
        if own.iter().all(|(_, name)| name == first) {
            return Some((first.clone(), *desc));
        }
        let each = own.iter().map(|(id, name)| format!("{}.{name}", model.relation(*id).name.text));
        Some((format!("({})", each.collect::<Vec<_>>().join(", ")), *desc))
    });
    let names: Option<Vec<(String, bool)>> = names.collect();
    names.filter(|names| !names.is_empty()).map(Step::Sort)
}

//! Runs certified plans by the requests that `design calls` prints, through a face in this process or
//! a server elsewhere.
//!
//! The rows of a drawn state are put as items; each read is sent, and its answer compared with what
//! the state alone says; each write is sent to tables that hold the state, and what lies in them
//! afterwards compared with the rows of the changed state.
//!
//! What it is not: it counts no rows and looks at no ranges; running on the engine does that.
//!
//! Invariant: a pattern is `ok` only when every request that was sent was taken, asked for the keys
//! that the plan asks for, and gave what is right.

mod cql;
mod dynamo;
mod endpoint;
mod fill;
mod race;
mod server;
mod statement;
mod wire;

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use shelfmark_design::trial::{Ask, Image, KeyValue, Scene, Shelf, Trial, Value};
use shelfmark_design::{Call, Document, Status};
use shelfmark_design_language::model::types::Type;
use shelfmark_dynamo::DynamoDbEndpoint;

use crate::report::Shown;
use crate::{Options, Report, judge};
use cql::Cql;
use dynamo::DynamoDb;
pub(crate) use endpoint::{LocalCql, local_dynamodb};
use fill::{Open, Places};
use race::{Racer, is_plain};
use server::Server;

pub use endpoint::CqlEndpoint;

/// Draws of a write's inputs until one is defined on the state.
const DRAWS_MAX: u64 = 16;

/// Most pages of one read.
///
/// Ours: states are small; more is a page that leads to itself.
const PAGES_MAX: usize = 10_000;

/// The words in which a row says that its item takes more than the row shows.
const NOT_KNOWN: &str = "needs what it does not know";

/// The words in which DynamoDB refuses a transaction that changes one item twice.
const TWICE: &str = "multiple operations on one item";

/// Inputs by their names in requests.
type Inputs = Vec<(String, Value, Type)>;

/// Runs every certified pattern of the schemas for DynamoDB through its face, in this process.
///
/// Cost: for each schema the tables once; for each call of a write the items that the one before
/// changed.
///
/// # Errors
///
/// What keeps a schema from being laid out as tables, or rows from being put. What goes otherwise
/// than proven is no error: it is in the report.
pub fn confirm_through_dynamodb(document: &Document, options: &Options) -> Result<Report, String> {
    let all = |trial: &Trial<'_>| {
        let face = local_dynamodb()?;
        let server = DynamoDb::new(&face, &trial.create()?, false)?;
        judged(trial, options, &server, "through the DynamoDB face")
    };
    each_schema(document, options, "dynamodb", &all)
}

/// Runs them as [`confirm_through_dynamodb`] does, on a server elsewhere; its tables must not be there
/// yet, and are dropped at the end.
///
/// # Errors
///
/// Those of [`confirm_through_dynamodb`], and what the server says.
pub fn confirm_at_dynamodb(
    document: &Document,
    options: &Options,
    endpoint: &dyn DynamoDbEndpoint,
) -> Result<Report, String> {
    let all = |trial: &Trial<'_>| {
        let server = DynamoDb::new(endpoint, &trial.create()?, true)?;
        let verdicts = judged(trial, options, &server, "sent to the server");
        server.drop_tables().and(verdicts)
    };
    each_schema(document, options, "dynamodb", &all)
}

/// Runs every certified pattern of the schemas for CQL through its face, in this process.
///
/// Cost: for each schema the tables once; for each call of a write all rows.
///
/// # Errors
///
/// Those of [`confirm_through_dynamodb`].
pub fn confirm_through_cql(document: &Document, options: &Options) -> Result<Report, String> {
    let all = |trial: &Trial<'_>| {
        let face = LocalCql::new()?;
        let server = Cql::new(&face, &trial.create()?, trial.tables()?)?;
        judged(trial, options, &server, "through the CQL face")
    };
    each_schema(document, options, "cql", &all)
}

/// Runs them as [`confirm_through_cql`] does, on a server elsewhere, in a keyspace that must not be
/// there yet and is dropped at the end.
///
/// # Errors
///
/// Those of [`confirm_through_cql`], and what the server says.
pub fn confirm_at_cql(
    document: &Document,
    options: &Options,
    endpoint: &dyn CqlEndpoint,
) -> Result<Report, String> {
    let all = |trial: &Trial<'_>| {
        let server = Cql::new(endpoint, &trial.create()?, trial.tables()?)?;
        let verdicts = judged(trial, options, &server, "sent to the server");
        server.drop_tables().and(verdicts)
    };
    each_schema(document, options, "cql", &all)
}

/// Runs one schema and returns its verdicts.
type Found<'f> = dyn Fn(&Trial<'_>) -> Result<Vec<crate::Verdict>, String> + 'f;

fn each_schema(
    document: &Document,
    options: &Options,
    target: &str,
    run: &Found<'_>,
) -> Result<Report, String> {
    let mut verdicts = Vec::new();
    for trial in document.trials() {
        let other = options.schema.as_ref().is_some_and(|name| *name != trial.schema());
        let any = trial.certificates().any(|one| proven(one.status));
        if other || trial.target() != target {
            continue;
        }
        if let Err(error) = trial.create() {
            verdicts.extend(uncreated(&trial, &error));
        } else if any {
            let said = |error: String| format!("schema {}: {error}", trial.schema());
            verdicts.extend(run(&trial).map_err(said)?);
        }
    }
    Ok(Report { name: document.name().to_owned(), seed: options.seed, verdicts })
}

/// Returns verdicts on a schema whose tables cannot be created: what is proven of it is wrong, what is
/// refused is not sent.
fn uncreated(trial: &Trial<'_>, error: &str) -> Vec<crate::Verdict> {
    let one = |certificate: &shelfmark_design::Certificate| crate::Verdict {
        ok: !proven(certificate.status),
        note: format!("the schema cannot be created: {error}"),
        ..judge::open(trial, certificate)
    };
    trial.certificates().map(one).collect()
}

/// Fills a request of DynamoDB with the inputs of a call.
///
/// # Errors
///
/// What else the request takes, such as a row that an earlier step returns.
pub fn filled(
    trial: &Trial<'_>,
    pattern: usize,
    call: &shelfmark_design::trial::Call,
    request: &Json,
) -> Result<Json, String> {
    let inputs = trial.inputs(pattern, call);
    let places = Places { inputs: &inputs, each: None, rows: BTreeMap::new() };
    places.fill(request).map_err(|open| match open {
        Open::Missing => "it takes a row of an earlier step".to_owned(),
        Open::Unknown(place) => format!("it takes more than the inputs: {place}"),
    })
}

/// Returns true if a write is claimed to be one with others beside it.
fn atomic(certificate: &shelfmark_design::Certificate) -> bool {
    certificate.concurrency.as_ref().is_some_and(|one| one.is_atomic())
}

fn proven(status: Status) -> bool {
    matches!(status, Status::Certified | Status::Multi)
}

fn judged(
    trial: &Trial<'_>,
    options: &Options,
    server: &dyn Server,
    place: &str,
) -> Result<Vec<crate::Verdict>, String> {
    let certificates: Vec<_> = trial.certificates().collect();
    let mut verdicts: Vec<_> = certificates.iter().map(|one| judge::open(trial, one)).collect();
    for (number, scale) in options.scales.iter().enumerate() {
        let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
        let stage = Stage::new(trial, server, scene(trial, seed, *scale))?;
        for (pattern, certificate) in certificates.iter().enumerate() {
            let Some(verdict) = verdicts.get_mut(pattern) else { continue };
            if !proven(certificate.status) || !verdict.ok {
                continue;
            }
            stage.calls(pattern, certificate.write, seed, options.calls, verdict)?;
            if atomic(certificate) && verdict.ok {
                let writes = certificates.iter().enumerate();
                let others = writes.filter(|(_, one)| proven(one.status) && atomic(one));
                let others: Vec<usize> = others.map(|(other, _)| other).collect();
                stage.raced(pattern, &others, seed, verdict)?;
            }
        }
    }
    for (verdict, certificate) in verdicts.iter_mut().zip(&certificates) {
        if verdict.ok && proven(certificate.status) {
            let calls = shelfmark_design::shown::counted(verdict.calls, "call");
            verdict.note = format!("{calls} {place}{}", verdict.beside());
            if verdict.races > 0 {
                let others = shelfmark_design::shown::counted(verdict.races, "other write");
                verdict.note.push_str(&format!("; {others} behind its reads left one order"));
            }
        } else if verdict.ok {
            verdict.note = format!("not sent: {}", certificate.reason);
        }
    }
    Ok(verdicts)
}

/// Draws a state whose rows can all be put: a text that an entity may leave empty is in no key.
fn scene(trial: &Trial<'_>, seed: u64, scale: usize) -> Scene {
    let drawn = |number: u64| trial.scene(seed.wrapping_add(number << 48), scale);
    let mut scenes = (0..DRAWS_MAX).map(drawn);
    scenes.find(|scene| trial.items(scene).is_ok()).unwrap_or_else(|| drawn(0))
}

/// A difference: a sentence, the right result, and the found one.
struct Wrong(String, Json, Json);

impl From<String> for Box<Wrong> {
    fn from(why: String) -> Self {
        Self::new(Wrong(why, Json::Null, Json::Null))
    }
}

/// A state and a server that holds its items.
struct Stage<'t> {
    trial: &'t Trial<'t>,
    scene: Scene,
    items: Vec<(String, Json)>,
    server: &'t dyn Server,
}

impl<'t> Stage<'t> {
    fn new(trial: &'t Trial<'t>, server: &'t dyn Server, scene: Scene) -> Result<Self, String> {
        let all = trial.items(&scene)?;
        server.hold(&all)?;
        let items = server.kept(all);
        if server.dump()? != items {
            return Err("the tables hold other items than were put".to_owned());
        }
        Ok(Self { trial, scene, items, server })
    }

    /// Runs some calls of a pattern, up to the first that differs.
    fn calls(
        &self,
        pattern: usize,
        write: bool,
        seed: u64,
        calls: usize,
        verdict: &mut crate::Verdict,
    ) -> Result<(), String> {
        let requests = self.trial.requests(pattern)?;
        for call in 0..calls {
            let seed = seed.wrapping_add(((pattern * 1_000 + call) as u64) << 32);
            let call = self.call(pattern, seed);
            let done = if write {
                self.write(pattern, &requests, &call)
            } else {
                self.read(pattern, &requests, &call)
            };
            match done {
                Ok(true) => verdict.calls += 1,
                Ok(false) if write => verdict.left_out += 1,
                Ok(false) => {}
                Err(wrong) => {
                    self.contradict(pattern, &call, *wrong, verdict);
                    break;
                }
            }
            let call = self.trial.undefined_call(pattern, &self.scene, seed);
            match self.undefined(pattern, &requests, &call) {
                Ok(true) => verdict.undefined += 1,
                Ok(false) => {}
                Err(wrong) => {
                    self.contradict(pattern, &call, *wrong, verdict);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Runs a write with each of some others between its reads and its changes.
    fn raced(
        &self,
        pattern: usize,
        others: &[usize],
        seed: u64,
        verdict: &mut crate::Verdict,
    ) -> Result<(), String> {
        let racer = |pattern: usize| -> Result<(Racer, _), String> {
            let call = self.call(pattern, seed.wrapping_add((pattern as u64) << 32));
            let inputs = self.trial.inputs(pattern, &call);
            Ok((Racer { requests: self.trial.requests(pattern)?, inputs }, call))
        };
        let (own, call) = racer(pattern)?;
        if !own.reads() || !is_plain(&own.requests) {
            return Ok(());
        }
        let own_first = others.iter().filter(|other| **other == pattern);
        let order = own_first.chain(others.iter().filter(|other| **other != pattern));
        let all: Result<Vec<Racer>, String> = order.map(|other| Ok(racer(*other)?.0)).collect();
        match self.races(&own, all?) {
            Ok(tried) => verdict.races += tried,
            Err(wrong) => self.contradict(pattern, &call, *wrong, verdict),
        }
        Ok(())
    }

    fn contradict(
        &self,
        pattern: usize,
        call: &shelfmark_design::trial::Call,
        wrong: Wrong,
        verdict: &mut crate::Verdict,
    ) {
        verdict.ok = false;
        verdict.note = wrong.0;
        verdict.shown = Some(Shown {
            state: self.trial.scene_json(&self.scene),
            call: self.trial.call_json(pattern, call),
            right: wrong.1,
            plan: wrong.2,
        });
    }

    /// Returns inputs of a call; of a write ones that are defined here, if a few draws find them.
    fn call(&self, pattern: usize, seed: u64) -> shelfmark_design::trial::Call {
        let drawn = |number: u64| {
            self.trial.call(pattern, &self.scene, seed.wrapping_add(number.wrapping_mul(0x1_0001)))
        };
        let defined = |call: &shelfmark_design::trial::Call| {
            self.trial.after(pattern, &self.scene, call).is_some()
        };
        (0..DRAWS_MAX).map(drawn).find(defined).unwrap_or_else(|| drawn(0))
    }

    fn read(
        &self,
        pattern: usize,
        requests: &[Call],
        call: &shelfmark_design::trial::Call,
    ) -> Result<bool, Box<Wrong>> {
        let inputs = self.trial.inputs(pattern, call);
        let mut run = None;
        // An index may show a write a moment later.
        for _ in 0..self.server.patience() {
            let sender = Sender {
                trial: self.trial,
                server: self.server,
                requests,
                inputs: &inputs,
                rows: RefCell::default(),
                turns: RefCell::default(),
                pages: false,
            };
            let found = self.trial.read(pattern, &self.scene, call, &sender)?;
            if found.agrees {
                return self.pages(pattern, requests, &inputs, call);
            }
            run = Some(found);
        }
        let run = run.ok_or_else(|| "no read was sent".to_owned())?;
        let why = "the requests' answer is not the right one".to_owned();
        Err(Box::new(Wrong(why, run.right, run.found)))
    }

    /// Follows the pages of a read that has such, whose first page was right.
    fn pages(
        &self,
        pattern: usize,
        requests: &[Call],
        inputs: &Inputs,
        call: &shelfmark_design::trial::Call,
    ) -> Result<bool, Box<Wrong>> {
        let next = requests.first().and_then(|first| beside(first, "next"));
        if next.is_none() || !self.trial.has_pages(pattern) {
            return Ok(true);
        }
        let (trial, server) = (self.trial, self.server);
        let (rows, turns) = (RefCell::default(), RefCell::default());
        let sender = Sender { trial, server, requests, inputs, rows, turns, pages: true };
        let run = trial.read_pages(pattern, &self.scene, call, &sender)?;
        let why = "the pages together are not the whole answer".to_owned();
        match run.agrees {
            true => Ok(true),
            false => Err(Box::new(Wrong(why, run.right, run.found))),
        }
    }

    fn write(
        &self,
        pattern: usize,
        requests: &[Call],
        call: &shelfmark_design::trial::Call,
    ) -> Result<bool, Box<Wrong>> {
        let Some(after) = self.trial.after(pattern, &self.scene, call) else { return Ok(false) };
        let right = match self.trial.items_after(&self.scene, &after) {
            Ok(items) => self.server.kept(items),
            // A row whose key is computed of what it does not show is compared with nothing.
            Err(why) if why.contains(NOT_KNOWN) => return Ok(false),
            Err(why) => return Err(why.into()),
        };
        let inputs = self.trial.inputs(pattern, call);
        let done = run(self.server, requests, &inputs);
        let found = self.server.dump()?;
        if found != self.items {
            self.server.hold(&self.trial.items(&self.scene)?)?;
        }
        done?;
        if found == right {
            return Ok(true);
        }
        // What names something that is not there changes nothing at all.
        if found == self.items && !self.trial.names_what_is_there(pattern, &self.scene, call) {
            return Ok(true);
        }
        let why = "the requests leave other items than the changed state has".to_owned();
        Err(difference(why, &right, &found))
    }

    /// Sends the requests of a write where it is not defined.
    fn undefined(
        &self,
        pattern: usize,
        requests: &[Call],
        call: &shelfmark_design::trial::Call,
    ) -> Result<bool, Box<Wrong>> {
        let Some(outcomes) = self.trial.outcomes(pattern, &self.scene, call) else {
            return Ok(false);
        };
        let inputs = self.trial.inputs(pattern, call);
        let done = run(self.server, requests, &inputs);
        let found = self.server.dump()?;
        if found != self.items {
            self.server.hold(&self.trial.items(&self.scene)?)?;
        }
        // What makes one thing twice is refused, which changes nothing either.
        match done {
            Err(why) if found == self.items && why.contains(TWICE) => {}
            other => other?,
        }
        for after in &outcomes {
            // A row whose key is computed of what it does not show is compared with nothing.
            let Ok(items) = self.trial.items_after(&self.scene, after) else { return Ok(false) };
            if found == self.server.kept(items) {
                return Ok(true);
            }
        }
        let why = "the write is not defined here, and its requests change items".to_owned();
        Err(difference(why, &self.items, &found))
    }
}

/// Returns the difference between the right items and those that were found.
fn difference(why: String, right: &[(String, Json)], found: &[(String, Json)]) -> Box<Wrong> {
    let only = |these: &[(String, Json)], those: &[(String, Json)]| -> Json {
        let those = |one: &&(String, Json)| !those.contains(one);
        let left = these.iter().filter(those);
        left.map(|(table, item)| json!({ "table": table, "item": item })).collect()
    };
    Box::new(Wrong(why, only(right, found), only(found, right)))
}

/// Returns the field of this name beside a request.
fn beside<'c>(call: &'c Call, name: &str) -> Option<&'c Json> {
    call.beside.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
}

fn guards(found: Option<&Json>) -> &[Json] {
    found.and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

/// Sends the requests of a write one after another; the first whose condition fails ends it.
fn run(server: &dyn Server, requests: &[Call], inputs: &Inputs) -> Result<(), String> {
    run_with(server, requests, inputs, &mut || Ok(()))
}

/// Sends them with something else between the reads that they begin with and what follows.
fn run_with(
    server: &dyn Server,
    requests: &[Call],
    inputs: &Inputs,
    between: &mut dyn FnMut() -> Result<(), String>,
) -> Result<(), String> {
    let mut read: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    let mut deleted_last = None;
    let first_change = requests.iter().position(|one| !one.reads);
    for (at, call) in requests.iter().enumerate() {
        if first_change == Some(at) {
            between()?;
        }
        let places = |rows: BTreeMap<u64, Json>| (inputs, rows);
        let first: BTreeMap<u64, Json> =
            read.iter().filter_map(|(step, rows)| Some((*step, rows.first()?.clone()))).collect();
        let (inputs, first) = places(first);
        let own = Places {
            inputs,
            each: None,
            rows: first.iter().map(|(step, row)| (*step, row)).collect(),
        };
        if call.reads {
            let sent = own.allows(guards(beside(call, "only_if")));
            let rows = match (sent.map_err(unfilled)?, server.fill(&own, &call.request)) {
                (false, _) => Vec::new(),
                (true, Ok(body)) => server.read(&call.operation, &body)?,
                (true, Err(open)) => return Err(said(&call.request, open)),
            };
            read.insert(call.step as u64, filtered(call, &own, rows)?);
            continue;
        }
        let Some(parts) = call.request.get("TransactItems").and_then(Json::as_array) else {
            let operation = call.operation.as_str();
            let each = beside(call, "for_each");
            for body in repeated(
                server,
                (&own, &read),
                each,
                guards(beside(call, "only_if")),
                &call.request,
            )? {
                // What is not there to be changed is passed over, as is what was deleted just before; what
                // is there already, and whatever happens together, ends the plan.
                let is_passed = deletes_again(&mut deleted_last, &body) || passes(operation, &body);
                if !server.change(operation, &body)? && each.is_none() && !is_passed {
                    return Ok(());
                }
            }
            continue;
        };
        let sent = own.allows(guards(beside(call, "only_if")));
        if !sent.map_err(unfilled)? {
            return Ok(());
        }
        let mut items = Vec::new();
        for part in parts {
            let mut bare = part.clone();
            let (each, only) = match bare.as_object_mut() {
                Some(fields) => (fields.shift_remove("$for_each"), fields.shift_remove("$only_if")),
                None => (None, None),
            };
            items.extend(repeated(
                server,
                (&own, &read),
                each.as_ref(),
                guards(only.as_ref()),
                &bare,
            )?);
        }
        let body = json!({ "TransactItems": items });
        if !items.is_empty() && !server.change(&call.operation, &body)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns true if a request adds to what is there: sent twice, it adds twice.
fn adds(body: &Json) -> bool {
    let own = body.get("Update").unwrap_or(body).get("UpdateExpression").and_then(Json::as_str);
    let text = body.get("statement").and_then(Json::as_str).unwrap_or("");
    own.is_some_and(|own| own.contains("ADD ") || own.contains("list_append"))
        || text.starts_with("UPDATE ") && (text.contains(" + ") || text.contains(" - "))
}

/// Returns true if a request changes or deletes one item or row that is there, and a statement compares
/// nothing else.
fn passes(operation: &str, body: &Json) -> bool {
    let text = body.get("statement").and_then(Json::as_str).unwrap_or("");
    let compares = text.contains(" IF ") && !text.ends_with(" IF EXISTS");
    matches!(operation, "UpdateItem" | "DeleteItem")
        || !compares && (text.starts_with("UPDATE ") || text.starts_with("DELETE "))
}

/// Returns true if a statement deletes what the one before it has deleted, and keeps it for the next one.
fn deletes_again(last: &mut Option<String>, body: &Json) -> bool {
    let filled = body.get("filled").and_then(Json::as_str);
    let deleted = filled.filter(|text| text.starts_with("DELETE ")).map(str::to_owned);
    let is_again = deleted.is_some() && deleted == *last;
    *last = deleted;
    is_again
}

/// Returns a body for each row that the request is repeated for, as far as its guards hold.
fn repeated(
    server: &dyn Server,
    (own, read): (&Places<'_>, &BTreeMap<u64, Vec<Json>>),
    each: Option<&Json>,
    guards: &[Json],
    body: &Json,
) -> Result<Vec<Json>, String> {
    let step = each.and_then(|each| each.get("step")).and_then(Json::as_u64);
    let rows: Vec<Option<&Json>> = match step {
        None => vec![None],
        Some(step) => read.get(&step).into_iter().flatten().map(Some).collect(),
    };
    let mut bodies = Vec::new();
    for row in rows {
        let mut places = own.clone();
        if let (Some(step), Some(row)) = (step, row) {
            places.rows.insert(step, row);
        }
        if !places.allows(guards).map_err(unfilled)? {
            continue;
        }
        match server.fill(&places, body) {
            // Rows that name one item ask for one change of it.
            Ok(body) if !adds(&body) && bodies.contains(&body) => {}
            Ok(body) => bodies.push(body),
            Err(open) => return Err(said(body, open)),
        }
    }
    Ok(bodies)
}

/// Returns the reason why a guard cannot be computed.
fn unfilled(open: Open) -> String {
    format!("a place stays open: {open:?}")
}

/// Returns the reason why a request that its guards let through cannot be sent as it is printed.
fn said(request: &Json, open: Open) -> String {
    match open {
        Open::Missing => {
            format!("{request} names what a row lacks, and no guard says that it is there")
        }
        Open::Unknown(place) => format!("nothing is known of {place}"),
    }
}

/// Returns the rows that a read of a write selects, beyond its key.
fn filtered(call: &Call, own: &Places<'_>, rows: Vec<Json>) -> Result<Vec<Json>, String> {
    let filters =
        guards(beside(call, "then")).iter().filter_map(|one| one.get("filter")?.as_array());
    let mut rows = rows;
    for filter in filters.flatten() {
        let name = filter.get(0).and_then(Json::as_str).unwrap_or("").replace('.', "_");
        let wanted = filter.get(2).and_then(|values| values.get(0)).unwrap_or(&Json::Null);
        let (value, ty) = own.typed(wanted).map_err(|open| format!("{open:?}"))?;
        let text = value.text(&ty);
        rows.retain(|row| {
            let found =
                row.get(&name).and_then(Json::as_object).and_then(|one| one.values().next());
            found.and_then(Json::as_str) == Some(text.as_str())
        });
    }
    Ok(rows)
}

/// Answers the reads of a plan by sending the requests that are printed for them.
struct Sender<'a> {
    trial: &'a Trial<'a>,
    server: &'a dyn Server,
    requests: &'a [Call],
    inputs: &'a Inputs,
    /// The rows that each step returned, all calls of it together.
    rows: RefCell<BTreeMap<u64, Vec<Json>>>,
    /// Number of values of a list that a step was asked for so far.
    turns: RefCell<BTreeMap<usize, usize>>,
    /// True if the first step is read page by page to its end.
    pages: bool,
}

impl Sender<'_> {
    /// Sends a read of a step; of a read with pages one after the other.
    fn send(&self, step: usize, call: &Call, body: &Json) -> Result<Vec<Json>, String> {
        if !self.pages || step > 0 {
            return self.server.read(&call.operation, body);
        }
        let (mut all, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let (rows, next) = self.server.page(&call.operation, body, cursor.as_ref())?;
            all.extend(rows);
            match next {
                Some(next) => cursor = Some(next),
                None => return Ok(all),
            }
        }
        Err("its pages do not end".to_owned())
    }
}

impl Shelf for Sender<'_> {
    fn read(&self, ask: &Ask) -> Result<Vec<Image>, String> {
        let call = self.requests.get(ask.step).ok_or("a step without a request")?;
        let before = self.rows.borrow().clone();
        let each = beside(call, "for_each");
        let mut tried: Vec<Places<'_>> = Vec::new();
        let plain = Places { inputs: self.inputs, each: None, rows: BTreeMap::new() };
        if let Some(step) = each.and_then(|each| each.get("step")).and_then(Json::as_u64) {
            for row in before.get(&step).into_iter().flatten() {
                tried.push(Places { rows: BTreeMap::from([(step, row)]), ..plain.clone() });
            }
        } else if let Some(name) = each.and_then(|each| each.get("$input")).and_then(Json::as_str) {
            let list = self.inputs.iter().find(|(other, ..)| other == name);
            if let Some((_, Value::List(items), Type::List(of, _))) = list {
                // The loop goes up its list, and asks once for each of its values.
                let mut items = items.clone();
                items.sort();
                items.dedup();
                let mut turns = self.turns.borrow_mut();
                let turn = turns.entry(ask.step).or_default();
                if let Some(item) = items.get(*turn) {
                    let each = Some((item.clone(), (**of).clone()));
                    tried.push(Places { each, ..plain.clone() });
                }
                *turn += 1;
            }
        } else if let Some(from) = each.and_then(|each| each.get("from")).and_then(Json::as_i64) {
            let to = each.and_then(|each| each.get("to")).and_then(Json::as_i64).unwrap_or(from);
            for number in from..=to {
                let each = Some((Value::Int(number), Type::Int(None)));
                tried.push(Places { each, ..plain.clone() });
            }
        } else {
            tried.push(plain);
        }
        for places in tried {
            let allowed = places.allows(guards(beside(call, "only_if"))).map_err(unfilled)?;
            let body = match self.server.fill(&places, &call.request) {
                Ok(body) => body,
                Err(Open::Missing) if !allowed => continue,
                Err(open) => return Err(said(&call.request, open)),
            };
            if !self.server.asks_for(&body, ask) {
                continue;
            }
            if !allowed {
                return Ok(Vec::new());
            }
            let items = self.send(ask.step, call, &body)?;
            let images: Option<Vec<Image>> =
                items.iter().map(|item| self.trial.image_of_item(ask.table, item)).collect();
            self.rows.borrow_mut().entry(call.step as u64).or_default().extend(items);
            return images.ok_or_else(|| "an item of no row family came back".to_owned());
        }
        Err(format!("the request of step {} asks for other keys than the plan", call.step))
    }

    fn put(&self, _: &Image) -> Result<(), String> {
        Err("a read puts nothing".to_owned())
    }

    fn remove(&self, _: usize, _: &[KeyValue]) -> Result<(), String> {
        Err("a read removes nothing".to_owned())
    }
}

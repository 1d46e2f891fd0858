//! Writes plans as the requests that a user of the target would send.
//!
//! A step of a plan says which keys it touches; a request says it in the target's own interface:
//! JSON bodies of DynamoDB, statements of CQL, calls of the others. `read` and `write` turn steps into
//! requests that know no target yet; `dynamo`, `cql`, `candb`, `ordered` and `typed` write them down.
//!
//! What it is not: nothing is sent, and nothing is certified here. What a target cannot be asked is a
//! [`Refusal`] with the rule of the target's profile that forbids it; obligation O10 rests on it.
//!
//! Invariant: a request stands for the same rows as its step, for every input that its guards let
//! through; where a guard does not, the answer is empty and nothing is to be sent.

mod candb;
mod columns;
mod cql;
mod dynamo;
mod expr;
mod items;
mod kept;
mod known;
mod lacking;
mod lasting;
mod marks;
mod names;
mod ordered;
mod read;
mod request;
mod rest;
mod rows;
mod shown;
mod stepped;
mod typed;
mod uuids;
mod write;

use std::sync::OnceLock;

use serde_json::{Value as Json, json};

use crate::Proof;
use columns::Columns;
pub use cql::literal;
use expr::Expr;
pub use items::{ShownItem, TableColumns};
pub use request::Refusal;
use request::{Change, Guard, Request};
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::pattern::Param;
use shelfmark_design_language::model::schema::{Schema, Serve, Table, WritePlan};
use shelfmark_design_language::target::{Target, profile};

/// One request of a plan, in its machine form.
#[derive(Debug, Clone)]
pub struct Call {
    /// The read or write.
    pub pattern: String,
    /// Its position in the plan, from 1.
    pub step: usize,
    /// True for a step of a read, or a read that a write begins with.
    pub reads: bool,
    /// The target's name of the operation.
    pub operation: String,
    /// The request.
    pub request: Json,
    /// Its inputs, in order.
    pub inputs: Vec<String>,
    /// The caller's work beside sending it: loops, guards, processing of the answer.
    pub beside: Vec<(&'static str, Json)>,
}

impl Call {
    /// Returns the machine form.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut out = json!({
            "pattern": self.pattern,
            "step": self.step,
            "kind": if self.reads { "read" } else { "write" },
            "operation": self.operation,
            "request": self.request,
            "inputs": self.inputs,
        });
        if let Some(fields) = out.as_object_mut() {
            fields.extend(
                self.beside.iter().map(|(name, value)| ((*name).to_owned(), value.clone())),
            );
        }
        out
    }

    /// Adds conditions for sending it.
    fn only_if(&mut self, guards: &[Json]) {
        let own = self.beside.iter_mut().find(|(name, _)| *name == "only_if");
        match own {
            Some((_, Json::Array(all))) => all.extend_from_slice(guards),
            _ => self.beside.push(("only_if", Json::Array(guards.to_vec()))),
        }
    }
}

/// A schema with its names in the target.
pub struct Calls<'a> {
    model: &'a Model,
    schema: &'a Schema,
    target: &'static Target,
    columns: &'a Columns,
}

impl<'a> Calls<'a> {
    /// Names the columns of a schema's tables; `None` for an unknown target.
    ///
    /// Cost: linear in the schema, once; asked again, the names are remembered.
    #[must_use]
    pub fn new(model: &'a Model, schema: &'a Schema) -> Option<Self> {
        let target = profile(&schema.target)?;
        let columns =
            schema.notes.get::<OnceLock<Columns>>().get_or_init(|| Columns::of(model, schema));
        Some(Self { model, schema, target, columns })
    }

    /// Returns the requests that create the tables: CreateTable bodies, statements, or one line for
    /// each table.
    ///
    /// # Errors
    ///
    /// The first table or index that the target does not make. Change the schema.
    pub fn create(&self) -> Result<Vec<Json>, Refusal> {
        match self.target.name.as_str() {
            "dynamodb" => dynamo::create(self),
            "cql" => cql::create(self),
            "candb" => candb::create(self),
            _ => Ok(typed::create(self)),
        }
    }

    /// Returns the requests of a read's plan.
    ///
    /// # Errors
    ///
    /// The first step that the target cannot be asked. Change the plan or the key.
    pub fn read(&self, read: usize, serve: &Serve) -> Result<Vec<Call>, Refusal> {
        let Some(pattern) = self.model.reads.get(read) else { return Ok(Vec::new()) };
        let mut requests = read::requests(self, pattern, serve)?;
        let size =
            requests.first_mut().filter(|_| pattern.page).and_then(|one| self.page_size(one));
        let name = &pattern.name.text;
        let said: Result<Vec<Call>, Refusal> =
            requests.into_iter().map(|one| self.say(name, one)).collect();
        let mut said = said?;
        let paged = said.first_mut().filter(|_| size.is_some());
        paged.into_iter().for_each(|first| first.beside.retain(|(named, _)| *named != "next"));
        if let (Some(first), Some(size)) = (said.first_mut(), size) {
            if let ("cql", Some(request)) =
                (self.target.name.as_str(), first.request.as_object_mut())
            {
                request.insert("page_size".to_owned(), size.json());
                size.inputs(&mut first.inputs);
            }
            first.beside.push(("next", self.next()));
        }
        Ok(said)
    }

    /// Returns the requests of a write's plan.
    ///
    /// # Errors
    ///
    /// The first step that the target cannot be asked. Change the plan or the rows.
    pub fn write(&self, write: usize, plan: &WritePlan) -> Result<Vec<Call>, Refusal> {
        let Some(pattern) = self.model.writes.get(write) else { return Ok(Vec::new()) };
        let mut requests = write::requests(self, pattern, plan)?;
        if self.target.name == "cql" {
            // A counter that nobody has added to is 0: its row is made by the first who adds.
            requests.retain(|one| !self.makes_counter(one));
        }
        let guards: Vec<Json> = write::differing(pattern).iter().map(Guard::json).collect();
        let mut said = Vec::new();
        for request in requests {
            let mut call = self.say(&pattern.name.text, request)?;
            if !call.reads && !guards.is_empty() {
                call.only_if(&guards);
            }
            said.push(call);
        }
        Ok(said)
    }

    /// Returns the tables whose changes by a write's plan carry a condition on the row: none where the
    /// target cannot be asked.
    pub(crate) fn conditional(&self, write: usize, plan: &WritePlan) -> Vec<String> {
        let Some(pattern) = self.model.writes.get(write) else { return Vec::new() };
        let requests = write::requests(self, pattern, plan).unwrap_or_default();
        let mut found: Vec<String> = Vec::new();
        for request in &requests {
            let Request::Write { changes, .. } = request else { continue };
            let counts = |table| self.target.name == "cql" && cql::is_counter(self, table);
            for change in changes.iter().filter(|one| one.asks() && !counts(one.table)) {
                let name = self.table_name(change.table);
                if !found.iter().any(|other| other == name) {
                    found.push(name.to_owned());
                }
            }
        }
        found
    }

    /// Returns the requests of a proven pattern.
    ///
    /// # Errors
    ///
    /// Those of [`Calls::read`] and [`Calls::write`].
    pub fn of_proof(&self, proof: &Proof) -> Result<Vec<Call>, Refusal> {
        match (&proof.serve, &proof.plan) {
            (Some(serve), _) => self.read(proof.pattern, serve),
            (None, Some(plan)) => self.write(proof.pattern, plan),
            (None, None) => Ok(Vec::new()),
        }
    }

    fn say(&self, pattern: &str, mut request: Request) -> Result<Call, Refusal> {
        for table in request.tables() {
            self.creatable(table)?;
        }
        if matches!(self.target.name.as_str(), "dynamodb" | "shelfmark")
            && let Request::Read { ask, guards, .. } = &mut request
        {
            guards.extend(dynamo::crossed(ask));
        }
        let mut beside = request.beside();
        if self.may_be_cut(&request) {
            beside.push(("next", self.next()));
        }
        let (step, reads) = (request.step(), request.is_read());
        let (operation, body, inputs) = match self.target.name.as_str() {
            "dynamodb" => dynamo::say(self, &request)?,
            "cql" => cql::say(self, &request, self.params(pattern))?,
            "candb" => candb::say(self, &request)?,
            "ordered" => ordered::say(self, &request)?,
            _ => typed::say(self, &request),
        };
        Ok(Call {
            pattern: pattern.to_owned(),
            step,
            reads,
            operation,
            request: body,
            inputs,
            beside,
        })
    }

    /// Returns the size of a page. In CQL it stands beside the statement, whose LIMIT would end all
    /// pages together.
    fn page_size(&self, request: &mut Request) -> Option<Expr> {
        let Request::Read { ask, .. } = request else { return None };
        let limit = ask.limit.clone().filter(|_| !ask.point)?;
        if self.target.name == "cql" {
            ask.limit = None;
        }
        Some(limit)
    }

    /// Returns what the request of the next page has beside or instead: `{"$answer": …}` is what the
    /// answer of the page before gave. Where it gave none, that page was the last.
    fn next(&self) -> Json {
        match self.target.name.as_str() {
            "dynamodb" => json!({ "ExclusiveStartKey": { "$answer": "LastEvaluatedKey" } }),
            "cql" => json!({ "paging_state": { "$answer": "paging_state" } }),
            "candb" => json!({ "skLowerBound or skUpperBound": { "$answer": "nextKey" } }),
            _ => json!({ "after": { "$answer": "last_key" } }),
        }
    }

    fn makes_counter(&self, request: &Request) -> bool {
        let Request::Write { changes, .. } = request else { return false };
        let put = |one: &Change| matches!(one.kind, request::ChangeKind::Put { .. });
        !changes.is_empty()
            && changes.iter().all(|one| put(one) && cql::is_counter(self, one.table))
    }

    /// Returns the inputs of a pattern.
    fn params(&self, pattern: &str) -> &[Param] {
        let reads = self.model.reads.iter().find(|one| one.name.text == pattern);
        let writes = self.model.writes.iter().find(|one| one.name.text == pattern);
        let of_write = || writes.map(|one| one.params.as_slice());
        reads.map(|one| one.params.as_slice()).or_else(of_write).unwrap_or_default()
    }

    /// Refuses a table that the target does not make with all its indexes: nothing is asked of it then.
    fn creatable(&self, table: usize) -> Result<(), Refusal> {
        let base = self.base_of(table);
        let tables = self.schema.tables.iter().enumerate();
        let own = |(id, form): &(usize, &Table)| {
            *id == base || form.is_index && self.base_of(*id) == base
        };
        let all: Vec<(usize, &Table)> = tables.filter(own).collect();
        match self.target.name.as_str() {
            "dynamodb" => dynamo::creatable(self, base, &all),
            "cql" => all.iter().try_for_each(|(id, _)| cql::check(self, *id)),
            _ => Ok(()),
        }
    }

    /// Returns a limit of the target, or the model's own.
    fn setting(&self, name: &str, usual: f64) -> f64 {
        let own = self.model.settings.get(&self.schema.target);
        own.and_then(|settings| settings.get(name)).copied().unwrap_or(usual)
    }

    /// Returns the refusal by a rule of the target's profile.
    fn refuse(&self, rule: &str, why: impl Into<String>) -> Refusal {
        Refusal::by(self.target, rule, why.into())
    }

    /// Returns the name of a table or index.
    fn table_name(&self, table: usize) -> &str {
        self.schema.tables.get(table).map_or("", |table| table.name.text.as_str())
    }

    /// Returns the table of an index, or the table itself.
    fn base_of(&self, table: usize) -> usize {
        let family = self.schema.of_table(table).find_map(|(_, family)| family.base);
        family.and_then(|base| self.schema.families.get(base)).map_or(table, |base| base.table)
    }
}

//! Statements: planned once, run many times.
//!
//! * `relation`, `keys`, `filter`, `row`: what `SELECT` and modifications share.
//! * `select`, `modify`, `batch`: data; `ddl`: the schema; `describe`: the schema as text.
//! * `required_permissions`: which permissions they need; `request`: what comes with a request.
//!
//! What it is not: it knows no frames and no connections, and holds no rows.
//!
//! Invariant: a plan holds the table that it was made for; when the schema has another one of that
//! name, the plan is stale.

mod batch;
mod bind;
mod ddl;
mod describe;
mod elsewhere;
mod filter;
mod keys;
mod modify;
mod plan;
mod prepared;
mod relation;
mod request;
mod required_permissions;
mod row;
mod select;
mod shared;
mod tuples;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, RwLock};

use batch::{check_batch, plan_batch};
use modify::{Entry, Modify};
use plan::Action;
use shelfmark_cql_protocol::{
    BatchKind, BoundValue, ColumnSpec, Consistency, CqlError, ErrorCode, Result, Values,
};
use shelfmark_cql_syntax::ast::{self, Modification, Permission, QualifiedName, Statement};
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::term::{BindMarkers, Scope};
use shelfmark_engine::Engine;
use shelfmark_engine::weight::{INLINE_ROWS_MAX, Inline, Pool, Weight};

use crate::auth::{self, RequiredPermission, Resource, User};
use crate::outcome::{Answer, Answered, Outcome, RequestOptions};
use crate::schema::VirtualTable;
use crate::schema::{self, Keyspace, Schema, Table};
use crate::trace_recorder::traced_engine;
pub use plan::Plan;
pub use prepared::{BatchEntry, BatchRequest, PreparedStatement};
use select::Select;
use shelfmark_engine::locks;

/// Most markers of a statement. Source: the native protocol counts them in 16 bits.
const MARKERS_MAX: usize = 65_535;

/// Plans and runs statements. Shared by all connections.
pub struct Executor {
    engine: Engine,
    virtual_tables: Vec<Arc<dyn VirtualTable>>,
    system: Vec<Arc<Keyspace>>,
    schema: RwLock<Arc<Schema>>,
    /// Changes of the schema happen one after the other.
    changes: Mutex<()>,
    /// Set where an index or view may be declared and not be built.
    has_unbuilt: AtomicBool,
    /// Held while a picture of the schema is made.
    loading: Mutex<()>,
    /// The permissions of roles.
    authority: Arc<auth::Authority>,
    /// The pool of long reads: they let others have their turn there.
    pool: Arc<dyn Pool>,
    /// True if functions of users may be made and called.
    user_functions: bool,
}

impl Executor {
    /// Makes a write that this thread just passed on durable here, if it alone is queued.
    pub(crate) fn lead(&self) {
        self.engine.store().lead();
    }

    /// Creates the executor of an engine's tables and of `virtual_tables`.
    ///
    /// # Errors
    ///
    /// * Those of reading the catalogue: see the engine's.
    pub fn open(engine: Engine, virtual_tables: Vec<Arc<dyn VirtualTable>>) -> Result<Self> {
        let executor = Self::open_unbuilt(engine, virtual_tables)?;
        // What fails is told by the background work, which tries again.
        let _ = executor.go_on_building();
        Ok(executor)
    }

    /// Creates the executor as [`Self::open`] does, with indexes and views as they are;
    /// [`Self::go_on_building`] builds those that are not.
    ///
    /// # Errors
    ///
    /// * Those of reading the catalogue: see the engine's.
    pub(crate) fn open_unbuilt(
        engine: Engine,
        virtual_tables: Vec<Arc<dyn VirtualTable>>,
    ) -> Result<Self> {
        let system = crate::schema::virtual_keyspaces(&virtual_tables);
        let schema = schema::load(&engine, &system, &Schema::default())?;
        let authority = auth::Authority::new(&engine, auth::Authorizer::AllowAll, None);
        Ok(Self {
            authority: Arc::new(authority),
            engine,
            virtual_tables,
            system,
            schema: RwLock::new(Arc::new(schema)),
            changes: Mutex::new(()),
            // Nobody knows yet.
            has_unbuilt: AtomicBool::new(true),
            loading: Mutex::new(()),
            pool: Arc::new(Inline),
            user_functions: true,
        })
    }

    /// Sets the authorizer; `start_role` is the role that the server is started with. Without it
    /// every role may do everything, and superusers alone change roles.
    #[must_use]
    pub fn with_authorizer(self, authorizer: auth::Authorizer, start_role: &str) -> Self {
        let authority = auth::Authority::new(&self.engine, authorizer, Some(start_role));
        self.with_authority(Arc::new(authority))
    }

    /// Sets whether functions of users may be made and called; those that are there are kept, shown and
    /// dropped whatever it says.
    #[must_use]
    pub fn with_user_functions(self, user_functions: bool) -> Self {
        Self { user_functions, ..self }
    }

    pub(crate) fn with_pool(self, pool: Arc<dyn Pool>) -> Self {
        Self { pool, ..self }
    }

    pub(crate) fn with_authority(self, authority: Arc<auth::Authority>) -> Self {
        Self { authority, ..self }
    }

    /// Returns the schema as it is now.
    ///
    /// The first call reads the tables of another face that are granted: until then they cost nothing.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        let known = self.known_schema();
        if known.knows_shared() {
            return known;
        }
        let read = self.change_known(|known| match known.knows_shared() {
            // Somebody else was faster.
            true => Ok(known.clone()),
            false => schema::with_shared(&self.engine, known, known),
        });
        // What cannot be read now is read by the next one who asks.
        read.unwrap_or(known)
    }

    fn known_schema(&self) -> Arc<Schema> {
        Arc::clone(&locks::read(&self.schema))
    }

    /// Replaces the schema by what `change` makes of it.
    fn change_known(&self, change: impl FnOnce(&Schema) -> Result<Schema>) -> Result<Arc<Schema>> {
        // Each picture is newer than the one before it.
        let _one = locks::lock(&self.loading);
        let fresh = Arc::new(change(&self.known_schema())?);
        *locks::write(&self.schema) = Arc::clone(&fresh);
        Ok(fresh)
    }

    /// Reads the schema anew after a change.
    fn reload(&self) -> Result<Arc<Schema>> {
        self.change_known(|known| schema::load(&self.engine, &self.system, known))
    }

    /// Parses and plans a statement. `keyspace` is that of names that have none.
    ///
    /// # Errors
    ///
    /// * `Syntax`, `Invalid`: the statement is wrong.
    pub fn prepare(&self, text: &str, keyspace: Option<&str>) -> Result<Arc<PreparedStatement>> {
        let parsed =
            shelfmark_cql_syntax::parse(text).map_err(|error| CqlError::syntax(error.message()))?;
        if parsed.markers.len() > MARKERS_MAX {
            return Err(CqlError::invalid(format!(
                "Too many markers(?). {} markers exceed the allowed maximum of {MARKERS_MAX}",
                parsed.markers.len()
            )));
        }
        if matches!(parsed.statement, Statement::CreateView(_)) && !parsed.markers.is_empty() {
            return Err(CqlError::invalid(
                "Bind variables are not allowed in CREATE MATERIALIZED VIEW statements",
            ));
        }
        let schema = self.schema();
        let mut markers = BindMarkers::of(&parsed.markers);
        let needs_keyspace = needs_keyspace(&parsed.statement);
        let mut planned = self.plan(parsed.statement, keyspace, &schema, &mut markers)?;
        let needs = match self.authority.checks() {
            true => {
                let calls = required_permissions::of_calls(&markers.functions);
                let rows = required_permissions::of_rows(&planned.action, &schema);
                rows.into_iter().chain(calls).collect()
            }
            false => Vec::new(),
        };
        let is_masked = matches!(planned.action, Action::Select(_))
            && planned.tables.iter().any(|own| own.is_masked_by_user());
        let calls = !markers.functions.is_empty() || is_masked;
        if calls {
            // A call may take long.
            planned.weight = Weight::Heavy;
        }
        let version = calls.then_some(schema.version);
        let mut prepared = planned.finish(&markers, needs, version);
        prepared.needs_keyspace = needs_keyspace;
        Ok(Arc::new(prepared))
    }

    /// Tells whether a statement was planned for a schema that is no more; then it is to be
    /// prepared again from its text.
    #[must_use]
    pub fn is_stale(&self, statement: &PreparedStatement) -> bool {
        let schema = self.schema();
        if statement.plan.version.is_some_and(|own| own != schema.version) {
            return true;
        }
        statement.plan.tables.iter().any(|table| {
            !schema.table(&table.keyspace, &table.name).is_some_and(|now| Arc::ptr_eq(now, table))
        })
    }

    /// Runs a read on a thread that serves connections. `None` if it turns out long, or is no read:
    /// then it is to be executed where it holds nobody up.
    pub(crate) fn try_short(
        &self,
        statement: &PreparedStatement,
        options: &RequestOptions,
    ) -> Option<Result<Answered>> {
        let Action::Select(select) = &statement.plan.action else { return None };
        if options.consistency == Consistency::Any {
            return None;
        }
        let user = options.user.as_ref();
        let allowed = self.authority.check(user, &statement.plan.needs);
        let seen = allowed.and_then(|()| self.seen(select, user));
        let bound = bind::bind(&statement.plan.markers, &options.values);
        match seen.and_then(|seen| Ok((seen, bound?))) {
            Ok((select, values)) => self.select(select, &values, options),
            Err(error) => Some(Err(error)),
        }
    }

    /// Runs a statement.
    pub fn execute(
        &self,
        statement: &Arc<PreparedStatement>,
        options: RequestOptions,
        answer: Answer,
    ) {
        let plan = &statement.plan;
        let allowed = self.authority.check(options.user.as_ref(), &plan.needs);
        let values = match allowed.and_then(|()| bind::bind(&plan.markers, &options.values)) {
            Ok(values) => values,
            Err(error) => return answer(Err(error)),
        };
        match &plan.action {
            Action::Select(_) if options.consistency == Consistency::Any => {
                answer(Err(CqlError::invalid("ANY ConsistencyLevel is only supported for writes")))
            }
            Action::Select(select) => {
                let outcome = match self.seen(select, options.user.as_ref()) {
                    Ok(select) => self.select(select, &values, &options),
                    Err(error) => Some(Err(error)),
                };
                if let Some(outcome) = outcome {
                    answer(outcome);
                }
            }
            Action::Modify(modify) if modify::is_of_roles(&modify.table) => {
                let context = self.context(&options);
                let user = options.user.as_ref();
                let written = modify.write_roles(&values, &context, &self.authority, user);
                answer(written.map(|()| Outcome::Void.into()));
            }
            Action::Modify(modify) => {
                if let Err(error) = self.check_level([&**modify], options.consistency) {
                    return answer(Err(error));
                }
                let engine = traced_engine(&self.engine, &options);
                match self.with_masks([&**modify], options) {
                    Ok(options) => {
                        let context = self.context(&options);
                        modify::run_one(&engine, &context, modify, &values, &options, answer);
                    }
                    Err(error) => answer(Err(error)),
                }
            }
            Action::Batch { kind, entries, timestamp } => {
                let all: Vec<Entry<'_>> =
                    entries.iter().map(|modify| Entry { modify, values: &values }).collect();
                match self.batch_timestamp(timestamp.as_ref(), &values, &options) {
                    Ok(own) => self.run_batch(*kind, &all, &options, own, answer),
                    Err(error) => answer(Err(error)),
                }
            }
            Action::Use(name) => answer(match self.schema().keyspace(name) {
                Some(_) => Ok(Outcome::SetKeyspace(name.clone()).into()),
                None => Err(CqlError::invalid(format!("Keyspace '{name}' does not exist"))),
            }),
            Action::Truncate(name, keyspace) => {
                answer(self.truncate(name, keyspace.as_deref(), options.user.as_ref()));
            }
            Action::Role(statement) => {
                let user = options.user.as_ref();
                answer(auth::run_role_statement(&self.authority, statement, user));
            }
            Action::Permissions(statement, keyspace) => {
                let (user, keyspace) = (options.user.as_ref(), keyspace.as_deref());
                let context = auth::PermissionContext { user, keyspace, schema: &self.schema() };
                answer(auth::run_permission_statement(&self.authority, statement, context));
            }
            Action::Schema(statement, keyspace) => {
                answer(self.change_schema(statement, keyspace.as_deref(), &options));
            }
            Action::Describe(describe, keyspace) => {
                let schema = self.schema();
                answer(describe::describe(describe, keyspace.as_deref(), &schema, &options));
            }
        }
    }

    /// Runs a batch; its options' values are not used.
    pub fn batch(&self, batch: BatchRequest, options: RequestOptions, answer: Answer) {
        let mut bound = Vec::with_capacity(batch.entries.len());
        for entry in &batch.entries {
            let markers = &entry.statement.plan.markers;
            if let Values::Positional(values) = &entry.values
                && values.len() != markers.len()
            {
                return answer(Err(CqlError::invalid(format!(
                    "There were {} markers(?) in CQL but {} bound variables",
                    markers.len(),
                    values.len()
                ))));
            }
            match bind::bind(&entry.statement.plan.markers, &entry.values) {
                Ok(values) => bound.push(values),
                Err(error) => return answer(Err(error)),
            }
        }
        let mut entries = Vec::with_capacity(batch.entries.len());
        for (entry, values) in batch.entries.iter().zip(&bound) {
            match &entry.statement.plan.action {
                Action::Modify(modify) => entries.push(Entry { modify, values }),
                _ => {
                    return answer(Err(CqlError::invalid(
                        "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.",
                    )));
                }
            }
        }
        for entry in &batch.entries {
            let needs = &entry.statement.plan.needs;
            if let Err(error) = self.authority.check(options.user.as_ref(), needs) {
                return answer(Err(error));
            }
        }
        self.run_batch(batch.kind, &entries, &options, None, answer);
    }

    fn run_batch(
        &self,
        kind: BatchKind,
        entries: &[Entry<'_>],
        options: &RequestOptions,
        timestamp: Option<i64>,
        answer: Answer,
    ) {
        if entries.is_empty() {
            return answer(Ok(Outcome::Void.into()));
        }
        let all: Vec<&Modify> = entries.iter().map(|entry| entry.modify).collect();
        let checked = check_batch(kind, &all, timestamp.is_some());
        let level = || self.check_level(all.iter().copied(), options.consistency);
        if let Err(error) = checked.and_then(|()| level()) {
            return answer(Err(error));
        }
        let options = match self.with_masks(all, options.clone()) {
            Ok(options) => options,
            Err(error) => return answer(Err(error)),
        };
        let timestamp = timestamp.or(options.timestamp);
        let engine = traced_engine(&self.engine, &options);
        let context = self.context(&options);
        modify::run_batch(&engine, &context, entries, &options, timestamp, kind, answer);
    }

    /// Returns a read as `user` has it: masked columns through their masks, unless it has `UNMASK`.
    fn seen<'s>(&self, select: &'s Arc<Select>, user: Option<&User>) -> Result<&'s Arc<Select>> {
        let Some(masked) = &select.masked else { return Ok(select) };
        let table = &select.table;
        let resource = Resource::table(&table.keyspace, &table.name);
        let has = |permission| self.authority.has(user, permission, &resource);
        if has(Permission::Unmask)? {
            return Ok(select);
        }
        if masked.queried.is_empty() || has(Permission::SelectMasked)? {
            return Ok(&masked.select);
        }
        let name = user.map(|user| &*user.name).unwrap_or_default();
        Err(CqlError::new(
            ErrorCode::Unauthorized,
            format!(
                "User {name} has no UNMASK nor SELECT_MASKED permission on table {}.{}, cannot query masked columns [{}]",
                table.keyspace,
                table.name,
                masked.queried.join(", ")
            ),
        ))
    }

    /// Decides whether the values that a failed condition shows are masked.
    fn with_masks<'m>(
        &self,
        all: impl IntoIterator<Item = &'m Modify>,
        mut options: RequestOptions,
    ) -> Result<RequestOptions> {
        for modify in all {
            let table = &modify.table;
            if modify.is_conditional() && table.has_masks() {
                let resource = Resource::table(&table.keyspace, &table.name);
                let user = options.user.as_ref();
                options.masks |= !self.authority.has(user, Permission::Unmask, &resource)?;
            }
        }
        Ok(options)
    }

    /// Runs a read; `None` if it is given up, which only reads that are `is_inline` are.
    fn select(
        &self,
        select: &Arc<Select>,
        values: &[BoundValue],
        options: &RequestOptions,
    ) -> Option<Result<Answered>> {
        let schema = self.schema();
        let computed = match &select.table.stored {
            Some(_) => None,
            None => self.virtual_tables.iter().find(|own| {
                let own = own.definition();
                own.keyspace == select.table.keyspace && own.name == select.table.name
            }),
        };
        let engine = traced_engine(&self.engine, options);
        let (engine, schema) = (&*engine, &*schema);
        let context = self.context(options);
        let (pool, inline) = (&*self.pool, select::Inline::default());
        let run = select::Run { engine, context, pool, schema, computed, values, options, inline };
        let outcome = select::run_select(select, &run);
        (!run.is_given_up()).then_some(outcome)
    }

    fn plan(
        &self,
        statement: Statement,
        keyspace: Option<&str>,
        schema: &Schema,
        markers: &mut BindMarkers,
    ) -> Result<Planned> {
        let action = match statement {
            Statement::Select(select) => {
                let table = find_table(&select.table, keyspace, schema)?;
                let mut scope =
                    Scope { schema, keyspace: &table.keyspace, table: Some(&*table), markers };
                let select = select::prepare_select(&select, &table, &mut scope)?;
                return Ok(Planned::of_select(select));
            }
            Statement::Insert(insert) => {
                return self.plan_modification(
                    &Modification::Insert(insert),
                    keyspace,
                    schema,
                    markers,
                );
            }
            Statement::Update(update) => {
                return self.plan_modification(
                    &Modification::Update(update),
                    keyspace,
                    schema,
                    markers,
                );
            }
            Statement::Delete(delete) => {
                return self.plan_modification(
                    &Modification::Delete(delete),
                    keyspace,
                    schema,
                    markers,
                );
            }
            Statement::Batch(batch) => return plan_batch(&batch, keyspace, schema, markers),
            Statement::Use(name) => Action::Use(name.as_str().to_owned()),
            Statement::Truncate(name) => {
                keyspace_of(&name, keyspace)?;
                // Where there are permissions, who has none is told that first.
                if !self.authority.checks() {
                    ddl::truncated(&name, keyspace, schema)?;
                }
                Action::Truncate(name, keyspace.map(str::to_owned))
            }
            Statement::Describe(describe) => {
                Action::Describe(describe, keyspace.map(str::to_owned))
            }
            other => other_action(other, keyspace)?,
        };
        let weight = match &action {
            Action::Use(_) | Action::Describe(..) => Weight::Heavy,
            // What changes roles or the schema waits for others that do, or for all of a table.
            _ => Weight::Waiting,
        };
        Ok(Planned {
            action,
            tables: Vec::new(),
            pk_indices: Vec::new(),
            result: Arc::new([]),
            conditional: false,
            weight,
        })
    }

    fn plan_modification(
        &self,
        written: &Modification,
        keyspace: Option<&str>,
        schema: &Schema,
        markers: &mut BindMarkers,
    ) -> Result<Planned> {
        let modify = plan_one(written, keyspace, schema, markers)?;
        modify::check_counters(&modify)?;
        shared::check_modify(&modify)?;
        Ok(Planned::of_modify(modify))
    }
}

/// Returns what a statement about roles, permissions or the schema does.
fn other_action(statement: Statement, keyspace: Option<&str>) -> Result<Action> {
    let keyspace = keyspace.map(str::to_owned);
    Ok(match &statement {
        Statement::CreateRole(_)
        | Statement::AlterRole(_)
        | Statement::DropRole(_)
        | Statement::GrantRole(_)
        | Statement::RevokeRole(_)
        | Statement::AddIdentity(_)
        | Statement::DropIdentity(_)
        | Statement::ListRoles(_)
        | Statement::ListUsers => Action::Role(Box::new(statement)),
        Statement::GrantPermissions(_)
        | Statement::RevokePermissions(_)
        | Statement::ListPermissions(_) => Action::Permissions(Box::new(statement), keyspace),
        other => {
            ddl::check_known(other)?;
            Action::Schema(Box::new(statement), keyspace)
        }
    })
}

/// A statement planned, before its markers are known.
struct Planned {
    action: Action,
    tables: Vec<Arc<Table>>,
    pk_indices: Vec<u16>,
    result: Arc<[ColumnSpec]>,
    conditional: bool,
    weight: Weight,
}

impl Planned {
    fn of_select(select: Select) -> Self {
        let weight = match select.access {
            // A row of the answer may be far longer than the one that is read.
            _ if select.items.len() > select.table.columns.len() => Weight::Heavy,
            select::Access::Partitions if select.is_aggregate() => Weight::Heavy,
            select::Access::Partitions if bind::listed(&select.restrictions) > INLINE_ROWS_MAX => {
                Weight::Heavy
            }
            select::Access::Partitions if crate::schema::is_costly(&select.table) => Weight::Heavy,
            select::Access::Partitions if select.names_one_row() => Weight::Light,
            select::Access::Partitions => Weight::Page,
            // What drivers ask when they connect does not wait for long answers of others to end.
            _ if select.table.stored.is_none() && !crate::schema::is_costly(&select.table) => {
                Weight::Waiting
            }
            _ => Weight::Heavy,
        };
        Self {
            tables: vec![Arc::clone(&select.table)],
            pk_indices: bind::pk_indices(&select.table, &select.restrictions),
            result: Arc::clone(&select.result),
            conditional: false,
            weight,
            action: Action::Select(Arc::new(select)),
        }
    }

    fn of_modify(modify: Modify) -> Self {
        let conditional = modify.is_conditional();
        let listed = bind::listed(&modify.restrictions);
        Self {
            tables: vec![Arc::clone(&modify.table)],
            pk_indices: bind::pk_indices(&modify.table, &modify.restrictions),
            // What a conditional statement answers with is known when it was decided.
            result: Arc::new([]),
            conditional,
            weight: Weight::of(listed, 0),
            action: Action::Modify(Box::new(modify)),
        }
    }

    fn finish(
        self,
        markers: &BindMarkers,
        needs: Vec<RequiredPermission>,
        version: Option<[u8; 16]>,
    ) -> PreparedStatement {
        let table = self.tables.first();
        let keyspace: Arc<str> = table.map_or_else(|| "".into(), |own| Arc::clone(&own.keyspace));
        let name: Arc<str> = table.map_or_else(|| "".into(), |own| Arc::clone(&own.name));
        let in_batch = matches!(self.action, Action::Batch { .. });
        let specs: Arc<[ColumnSpec]> = markers
            .types
            .iter()
            .zip(&markers.names)
            .zip(&markers.tables)
            .map(|((known, own), table)| {
                let (name_of, kind) = match known {
                    Some((name, ty)) => (name.as_str(), ty.clone()),
                    None => (own.as_deref().unwrap_or("?"), CqlType::Blob),
                };
                let (keyspace, table) = match table {
                    Some((keyspace, table)) => (Arc::clone(keyspace), Arc::clone(table)),
                    None if in_batch => ("[batch]".into(), "[batch]".into()),
                    None => (Arc::clone(&keyspace), Arc::clone(&name)),
                };
                ColumnSpec { keyspace, table, name: name_of.into(), kind }
            })
            .collect();
        PreparedStatement {
            markers: Arc::clone(&specs),
            pk_indices: self.pk_indices,
            result: self.result,
            conditional: self.conditional,
            needs_keyspace: false,
            weight: self.weight,
            plan: Arc::new(Plan {
                action: self.action,
                tables: self.tables,
                markers: specs,
                needs: needs.into(),
                version,
            }),
        }
    }
}

/// Returns true if a statement about rows names a table without its keyspace.
fn needs_keyspace(statement: &Statement) -> bool {
    match statement {
        Statement::Select(own) => own.table.keyspace.is_none(),
        Statement::Insert(own) => own.table.keyspace.is_none(),
        Statement::Update(own) => own.table.keyspace.is_none(),
        Statement::Delete(own) => own.table.keyspace.is_none(),
        Statement::Batch(own) => {
            own.statements.iter().any(|own| table_name(own).keyspace.is_none())
        }
        _ => false,
    }
}

fn table_name(written: &Modification) -> &QualifiedName {
    match written {
        Modification::Insert(own) => &own.table,
        Modification::Update(own) => &own.table,
        Modification::Delete(own) => &own.table,
    }
}

/// Finds a table or view.
fn find_table(name: &QualifiedName, keyspace: Option<&str>, schema: &Schema) -> Result<Arc<Table>> {
    let keyspace = keyspace_of(name, keyspace)?;
    let Some(found) = schema.keyspace(keyspace) else {
        return Err(CqlError::invalid(format!("keyspace {keyspace} does not exist")));
    };
    let name = name.name.as_str();
    match found.tables.get(name) {
        Some(table) => Ok(Arc::clone(table)),
        None if found.damage.tables.contains(name) => {
            Err(schema::damaged(&format!("table {keyspace}.{name}")))
        }
        None => Err(CqlError::invalid(format!("table {name} does not exist"))),
    }
}

/// Returns the keyspace of a name, or that of the connection.
fn keyspace_of<'n>(name: &'n QualifiedName, keyspace: Option<&'n str>) -> Result<&'n str> {
    name.keyspace.as_ref().map(ast::Name::as_str).or(keyspace).ok_or_else(|| {
        CqlError::invalid(
            "No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename",
        )
    })
}

fn plan_one(
    written: &Modification,
    keyspace: Option<&str>,
    schema: &Schema,
    markers: &mut BindMarkers,
) -> Result<Modify> {
    let table = find_table(table_name(written), keyspace, schema)?;
    let mut scope = Scope { schema, keyspace: &table.keyspace, table: Some(&*table), markers };
    match written {
        Modification::Insert(own) => modify::prepare_insert(own, &table, &mut scope),
        Modification::Update(own) => modify::prepare_update(own, &table, &mut scope),
        Modification::Delete(own) => modify::prepare_delete(own, &table, &mut scope),
    }
}

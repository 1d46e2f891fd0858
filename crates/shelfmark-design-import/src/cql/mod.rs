//! Imports CQL schemas: tables become entities of their own, indexes and views indexes, `SELECT`s
//! reads.
//!
//! Which tables are copies of one entity, CQL does not say; that is asked.

mod options;
mod reads;
mod types;

use shelfmark_cql_syntax::ast::{
    AlterTableAction, ColumnDefinition, CreateIndex, CreateTable, CreateView, Direction,
    IndexTargetKind, Name, NativeType, PrimaryKey, QualifiedName, Relation, Select, SelectClause,
    Selector, Statement, TableOptions, Type,
};
use shelfmark_cql_syntax::{parse, split};

use self::options::{Options, method};
use self::types::{has_no_type, typed};
use crate::names::{Names, camel, comment};
use crate::{IMPORT_ATTRIBUTES_MAX, IMPORT_TABLES_MAX, ImportError};

/// A table after all statements.
pub(super) struct Table {
    /// The keyspace, where a statement or one before it names it.
    keyspace: Option<Name>,
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    pub(super) partition: Vec<String>,
    pub(super) clustering: Vec<(String, bool)>,
    pub(super) indexes: Vec<Index>,
    /// The comment line before it.
    remark: Option<String>,
    pub(super) options: Options,
}

pub(super) struct Column {
    pub(super) name: String,
    pub(super) ty: Type,
    is_static: bool,
    is_masked: bool,
}

impl From<ColumnDefinition> for Column {
    fn from(column: ColumnDefinition) -> Self {
        Self {
            name: column.name.as_str().to_owned(),
            ty: column.column_type,
            is_static: column.is_static,
            is_masked: column.mask.is_some(),
        }
    }
}

/// A secondary index or a view.
#[derive(Default)]
pub(super) struct Index {
    pub(super) name: String,
    pub(super) partition: Vec<String>,
    pub(super) clustering: Vec<(String, bool)>,
    /// The columns of a view; `None` means all.
    shown: Option<Vec<String>>,
    remark: Option<String>,
    /// True if the index may find more than equal values.
    asks: bool,
    pub(super) is_view: bool,
    /// True if a view leaves rows out.
    pub(super) filtered: bool,
}

impl Table {
    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    pub(super) fn in_key(&self, name: &str) -> bool {
        self.partition.iter().any(|one| one == name)
            || self.clustering.iter().any(|(one, _)| one == name)
    }

    /// Returns true if a view's key holds a column.
    fn in_view(&self, name: &str) -> bool {
        self.indexes.iter().filter(|index| index.is_view).any(|view| {
            view.partition
                .iter()
                .chain(view.clustering.iter().map(|(one, _)| one))
                .any(|one| one == name)
        })
    }

    /// Returns true if the table, or a view of it, lies where a name says; one without a keyspace may be
    /// that of any.
    pub(super) fn is_beside(&self, name: &QualifiedName) -> bool {
        match (&self.keyspace, &name.keyspace) {
            (Some(own), Some(named)) => own == named,
            _ => true,
        }
    }

    pub(super) fn is_named(&self, name: &QualifiedName) -> bool {
        self.name == name.name.as_str() && self.is_beside(name)
    }
}

/// A `SELECT`, its markers' names and the comment line before it.
pub(super) struct Query {
    pub(super) select: Select,
    pub(super) markers: Vec<Option<String>>,
    pub(super) remark: Option<String>,
    pub(super) text: String,
}

#[derive(Default)]
struct Script {
    tables: Vec<Table>,
    queries: Vec<Query>,
    /// The keyspace that `USE` named last.
    keyspace: Option<Name>,
    /// Ignored kinds of statements, with their numbers.
    passed_over: Vec<String>,
    /// True if some statement could not be read.
    broken: bool,
}

/// The reason why a statement is not imported.
enum Wrong {
    /// It names an unknown table.
    Missing(String),
    Other(String),
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Self::Other(message)
    }
}

pub(super) fn import(name: &str, text: &str) -> Result<String, ImportError> {
    let parts = split(text);
    let mut script = Script::default();
    let mut before = 0;
    let mut errors = Vec::new();
    for span in parts.statements.iter().copied().chain(parts.rest) {
        let start = usize::try_from(span.start).unwrap_or(0);
        let end = usize::try_from(span.end).unwrap_or(text.len());
        let remark = remark_in(text.get(before..start).unwrap_or_default());
        before = end;
        let written = text.get(start..end).unwrap_or_default();
        let parsed = match parse(written) {
            Ok(parsed) => parsed,
            Err(error) => {
                errors.push(ImportError::at(text, start + error.offset(), error.message()));
                script.broken = true;
                continue;
            }
        };
        let markers = parsed
            .markers
            .iter()
            .map(|marker| marker.name.as_ref().map(|name| name.as_str().to_owned()))
            .collect();
        match script.statement(parsed.statement, markers, remark, written) {
            Ok(()) => {}
            // A table that could not be read is not missed.
            Err(Wrong::Missing(_)) if script.broken => {}
            Err(Wrong::Missing(message) | Wrong::Other(message)) => {
                errors.push(ImportError::at(text, start, message));
                script.broken = true;
            }
        }
    }
    if let Some(error) = ImportError::all(errors) {
        return Err(error);
    }
    if script.tables.is_empty() {
        return Err(ImportError::new("1:1", "there is no CREATE TABLE in it"));
    }
    Ok(script.model(name))
}

/// Returns the last comment line between two statements.
fn remark_in(between: &str) -> Option<String> {
    let line = between.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let text = line
        .strip_prefix("--")
        .or_else(|| line.strip_prefix("//"))
        .or_else(|| line.strip_prefix("/*"))?;
    let text = comment(text.trim_end_matches("*/").trim_start_matches(['-', '/', '*']));
    (!text.is_empty()).then_some(text)
}

impl Script {
    fn statement(
        &mut self,
        statement: Statement,
        markers: Vec<Option<String>>,
        remark: Option<String>,
        written: &str,
    ) -> Result<(), Wrong> {
        match statement {
            Statement::CreateTable(create) => Ok(self.table(create, remark)?),
            Statement::CreateIndex(create) => self.index(create),
            Statement::CreateView(create) => self.view(create),
            Statement::AlterTable(alter) => {
                let table = self.known(&alter.name)?;
                match alter.action {
                    AlterTableAction::Add { columns, .. } => {
                        table.columns.extend(columns.into_iter().map(Column::from));
                    }
                    AlterTableAction::Drop { columns, .. } => {
                        table.columns.retain(|one| {
                            !columns.iter().any(|column| column.as_str() == one.name)
                        });
                    }
                    AlterTableAction::With(options) => table.options.change(&options),
                    AlterTableAction::Mask { .. } => {}
                    _ => {
                        let message =
                            "this change of a table is not followed; write the table as it is now";
                        return Err(Wrong::Other(message.to_owned()));
                    }
                }
                Ok(())
            }
            Statement::Use(keyspace) => {
                self.keyspace = Some(keyspace);
                Ok(())
            }
            Statement::Select(mut select) => {
                select.table.keyspace = self.keyspace_of(&select.table);
                let text = comment(written);
                self.queries.push(Query { select, markers, remark, text });
                Ok(())
            }
            other => {
                let kind = other.kind().text().to_owned();
                if !self.passed_over.contains(&kind) {
                    self.passed_over.push(kind);
                }
                Ok(())
            }
        }
    }

    fn keyspace_of(&self, name: &QualifiedName) -> Option<Name> {
        name.keyspace.clone().or_else(|| self.keyspace.clone())
    }

    fn known(&mut self, name: &QualifiedName) -> Result<&mut Table, Wrong> {
        let name = QualifiedName { keyspace: self.keyspace_of(name), name: name.name.clone() };
        self.tables.iter_mut().find(|table| table.is_named(&name)).ok_or_else(|| {
            let name = name.name.as_str();
            Wrong::Missing(format!("there is no table {name} before this statement"))
        })
    }

    fn table(&mut self, create: CreateTable, remark: Option<String>) -> Result<(), String> {
        let name = create.name.name.as_str().to_owned();
        let keyspace = self.keyspace_of(&create.name);
        if self.tables.iter().any(|table| table.name == name && table.keyspace == keyspace) {
            if create.if_not_exists {
                return Ok(());
            }
            return Err(format!("the table {name} is created twice"));
        }
        if self.tables.len() >= IMPORT_TABLES_MAX {
            return Err(format!("at most {IMPORT_TABLES_MAX} tables are imported at once"));
        }
        if create.columns.len() > IMPORT_ATTRIBUTES_MAX {
            return Err(format!("at most {IMPORT_ATTRIBUTES_MAX} columns of a table are imported"));
        }
        let [key] = create.primary_keys.as_slice() else {
            return Err(format!("the table {name} has {} primary keys", create.primary_keys.len()));
        };
        let (partition, clustering) = key_of(key, &create.options);
        let options = Options::of(&create.options);
        let columns: Vec<Column> = create.columns.into_iter().map(Column::from).collect();
        let indexes = Vec::new();
        let table =
            Table { keyspace, name, columns, partition, clustering, indexes, remark, options };
        let mut seen = std::collections::BTreeSet::new();
        for column in &table.columns {
            if !seen.insert(column.name.as_str()) {
                return Err(format!("the column {} is declared twice", column.name));
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        for column in table.partition.iter().chain(table.clustering.iter().map(|(name, _)| name)) {
            if table.column(column).is_none() {
                return Err(format!(
                    "the key names {column}, which is no column of {}",
                    table.name
                ));
            }
            if !seen.insert(column.clone()) {
                return Err(format!("the key names {column} twice"));
            }
        }
        self.tables.push(table);
        Ok(())
    }

    fn index(&mut self, create: CreateIndex) -> Result<(), Wrong> {
        let table = self.known(&create.table)?;
        let [target] = create.targets.as_slice() else {
            let message = "an index on no column, or on several, is not known";
            return Err(Wrong::Other(message.to_owned()));
        };
        let column = target.column.as_str().to_owned();
        let Some(found) = table.column(&column) else {
            return Err(format!("there is no column {column} in {}", table.name).into());
        };
        let collection = matches!(found.ty, Type::List(_) | Type::Set(_) | Type::Map(..));
        let members = collection || !matches!(target.kind, IndexTargetKind::Simple);
        let name = match &create.name {
            Some(name) => name.as_str().to_owned(),
            None => format!("{}_{column}_idx", table.name),
        };
        let (remark, asks) = method(&create);
        let index = if members || (has_no_type(&found.ty) && !table.in_key(&column)) {
            // Its entries stem from members of a value, which a key here cannot name.
            let of = if members { "the members of " } else { "" };
            let how = remark.map(|remark| format!(" ({remark})")).unwrap_or_default();
            Index { name, remark: Some(format!("on {of}{column}{how}")), ..Index::default() }
        } else {
            Index { name, partition: vec![column], remark, asks, ..Index::default() }
        };
        table.indexes.push(index);
        Ok(())
    }

    fn view(&mut self, create: CreateView) -> Result<(), Wrong> {
        let table = self.known(&create.base)?;
        let (partition, mut clustering) = key_of(&create.primary_key, &create.options);
        // Of which the view does not say the order, it keeps that of its table.
        for (column, desc) in &mut clustering {
            let ordered = &create.options.clustering_order;
            if !ordered.iter().any(|(one, _)| one.as_str() == column) {
                *desc = table.clustering.iter().any(|(one, desc)| one == column && *desc);
            }
        }
        let named = partition.iter().chain(clustering.iter().map(|(name, _)| name));
        for column in named {
            if table.column(column).is_none() {
                let message =
                    format!("the view names {column}, which is no column of {}", table.name);
                return Err(Wrong::Other(message));
            }
        }
        let shown = match &create.selection {
            SelectClause::All => None,
            SelectClause::Items(items) => Some(
                items
                    .iter()
                    .filter_map(|item| match &item.selector {
                        Selector::Column(name) => Some(name.as_str().to_owned()),
                        _ => None,
                    })
                    .collect::<Vec<String>>(),
            ),
        };
        let filtered =
            create.relations.iter().any(|one| !matches!(one, Relation::IsNotNull { .. }));
        let mut remarks = vec![
            if filtered { "its WHERE is not kept: it holds fewer rows" } else { "a view" }
                .to_owned(),
        ];
        remarks.extend(Options::of(&create.options).remarks());
        table.indexes.push(Index {
            name: create.name.name.as_str().to_owned(),
            partition,
            clustering,
            shown,
            remark: Some(remarks.join("; ")),
            asks: false,
            is_view: true,
            filtered,
        });
        Ok(())
    }

    fn model(&self, name: &str) -> String {
        let mut entities = Names::default();
        let mut tables = Names::default();
        let mut out = format!("# Imported from CQL: {}.\n", comment(name));
        out.push_str(
            "# ? Each table is an entity here, because CQL does not say which tables are copies of\n\
             #   one. Where several are, write one entity, let the tables stem from it, and name a\n\
             #   write for each change: then it is proven that the copies are kept equal.\n\
             # Columns outside the key are optional: nothing says that they are always there. An\n\
             # empty list or set and an absent one are the same.\n",
        );
        if !self.passed_over.is_empty() {
            out.push_str(&format!("# Passed over: {}.\n", self.passed_over.join(", ")));
        }
        let mut body = String::new();
        let mut schema = String::new();
        let mut written = Vec::new();
        for table in &self.tables {
            let entity = entities.fresh(&camel(&table.name));
            let mut columns = Names::default();
            body.push('\n');
            body.push_str(&entity_text(table, &entity, &mut columns));
            schema.push_str(&table_text(table, &entity, &mut tables, &mut columns));
            written.push((entity, columns));
        }
        out.push_str(&body);
        out.push_str(&reads::reads(&self.tables, &mut written, &self.queries));
        out.push_str(&additions(&self.tables, &mut written));
        out.push_str(&format!("\nschema imported target cql {{\n{schema}}}\n"));
        out
    }
}

/// Returns the counters of a table that has nothing else beside its key.
fn counters(table: &Table) -> Vec<&Column> {
    let beside = table.columns.iter().filter(|column| !table.in_key(&column.name));
    let beside: Vec<&Column> = beside.collect();
    let counts = |column: &&Column| {
        matches!(column.ty, Type::Native(NativeType::Counter)) && !column.is_static
    };
    if beside.iter().all(counts) { beside } else { Vec::new() }
}

/// Returns a write for each counter: CQL has no other way to change one.
fn additions(tables: &[Table], written: &mut [(String, Names)]) -> String {
    let mut out = String::new();
    let mut writes = Names::default();
    for (table, (entity, names)) in tables.iter().zip(written) {
        let counters = counters(table);
        for counter in &counters {
            let wanted = match counters.len() {
                1 => format!("add_to_{}", table.name),
                _ => format!("add_to_{}_{}", table.name, counter.name),
            };
            let name = writes.fresh(&wanted);
            let key = table.partition.iter().chain(table.clustering.iter().map(|(name, _)| name));
            let key: Vec<String> = key.map(|name| names.of(name)).collect();
            let by = names.of(&counter.name);
            let given: Vec<String> = key.iter().map(|name| format!("{name} {name}")).collect();
            if out.is_empty() {
                out.push_str(
                    "\n# ? An UPDATE adds to a counter, and makes the row. How often?  rate 10/s\n",
                );
            }
            out.push_str(&format!(
                "write {name}({}, {by}) = increment {entity}({}) set {by} by {by} or insert\n",
                key.join(", "),
                given.join(", ")
            ));
        }
    }
    out
}

fn key_of(key: &PrimaryKey, options: &TableOptions) -> (Vec<String>, Vec<(String, bool)>) {
    let text = |name: &Name| name.as_str().to_owned();
    let descends = |column: &Name| {
        let mut orders = options.clustering_order.iter();
        orders.any(|(one, direction)| one == column && *direction == Direction::Descending)
    };
    (
        key.partition.iter().map(text).collect(),
        key.clustering.iter().map(|name| (text(name), descends(name))).collect(),
    )
}

fn entity_text(table: &Table, entity: &str, names: &mut Names) -> String {
    let mut out = String::new();
    if let Some(remark) = &table.remark {
        out.push_str(&format!("# {remark}\n"));
    }
    out.push_str(&format!("entity {entity} {{\n"));
    for column in &table.columns {
        let key = table.in_key(&column.name);
        let mut found = typed(&column.ty, key || table.in_view(&column.name));
        // A partition key of one column is not empty.
        let alone = matches!(table.partition.as_slice(), [only] if *only == column.name);
        if alone && found.text == "text" {
            found.text = "text(min 1)".to_owned();
        }
        let mut remarks: Vec<String> = found.remark.into_iter().collect();
        let name = names.of(&column.name);
        if name != column.name {
            remarks.push(format!("called {:?} in CQL", comment(&column.name)));
        }
        if column.is_masked {
            remarks.push("masked in CQL".to_owned());
        }
        // CQL does not tell an empty collection from an absent one.
        let always = key || ["list of", "set of"].iter().any(|own| found.text.starts_with(own));
        let alone = matches!(counters(table).as_slice(), [only] if only.name == column.name);
        let optional = if always || alone { "" } else { " optional" };
        let remark = if remarks.is_empty() {
            String::new()
        } else {
            format!("  # {}", comment(&remarks.join("; ")))
        };
        out.push_str(&format!("  {name}: {}{optional}{remark}\n", found.text));
    }
    let key: Vec<String> = table
        .partition
        .iter()
        .chain(table.clustering.iter().map(|(name, _)| name))
        .map(|name| names.of(name))
        .collect();
    out.push_str(&format!("  key ({})\n", key.join(", ")));
    out.push_str(&statics(table, names));
    out.push_str("  # ? How many are there, and how do they grow?  count 1M growth 2%/mo\n");
    if let Some(seconds) = &table.options.lives {
        out.push_str(&format!(
            "  # ? Rows live {seconds} s in CQL (default_time_to_live): which attribute says until \
             when?  until: int ttl\n"
        ));
    }
    if !table.clustering.is_empty() {
        let partition: Vec<String> = table.partition.iter().map(|name| names.of(name)).collect();
        out.push_str(&format!(
            "  # ? How many rows share a partition?  fanout {} avg 10 p99 100 max 1k\n",
            partition.join(", ")
        ));
    }
    out.push_str("}\n");
    out
}

/// Returns the dependency of static columns, which the partition key determines.
fn statics(table: &Table, names: &mut Names) -> String {
    let columns = table.columns.iter().filter(|column| column.is_static);
    let columns: Vec<String> = columns.map(|column| names.of(&column.name)).collect();
    if columns.is_empty() {
        return String::new();
    }
    let partition: Vec<String> = table.partition.iter().map(|name| names.of(name)).collect();
    format!(
        "  fd {} -> {}  # static in CQL; ? is it of an entity of its own\n",
        partition.join(", "),
        columns.join(", ")
    )
}

fn table_text(table: &Table, entity: &str, tables: &mut Names, names: &mut Names) -> String {
    let name = tables.fresh(&table.name);
    let key = key_text(&table.partition, &table.clustering, names);
    let mut indexes = String::new();
    let mut remarks = String::new();
    if name != table.name {
        let keyspace = table.keyspace.as_ref();
        let keyspace = keyspace.map(|one| format!("{}.", one.as_str())).unwrap_or_default();
        let whole = comment(&format!("{keyspace}{}", table.name));
        remarks.push_str(&format!("  # ? {name}: called {whole:?} in CQL\n"));
    }
    remarks.extend(table.options.remarks().iter().map(|remark| format!("  # {name}: {remark}\n")));
    for index in &table.indexes {
        if index.partition.is_empty() {
            let remark = index.remark.as_deref().unwrap_or_default();
            remarks.push_str(&format!(
                "  # ? {} is an index {remark}: no key here says that.\n",
                comment(&index.name)
            ));
            continue;
        }
        let name = tables.fresh(&index.name);
        if name != index.name {
            let whole = comment(&index.name);
            remarks.push_str(&format!("  # ? {name}: called {whole:?} in CQL\n"));
        }
        if let Some(remark) = &index.remark {
            let (mark, question) = match index.asks {
                true => ("? ", "; here it finds equal values: does that do?"),
                false => ("", ""),
            };
            remarks.push_str(&format!("  # {mark}{name}: {remark}{question}\n"));
        }
        let key = key_text(&index.partition, &index.clustering, names);
        let shown = index.shown.as_ref().map_or_else(String::new, |shown| {
            let known: Vec<String> = shown
                .iter()
                .filter(|column| table.column(column).is_some())
                .map(|column| names.of(column))
                .collect();
            format!(" store {{ {} }}", known.join(", "))
        });
        indexes.push_str(&format!(" index {name} {key}{shown}"));
    }
    format!("{remarks}  table {name} from {entity} {key} store all{indexes}\n")
}

fn key_text(partition: &[String], clustering: &[(String, bool)], names: &mut Names) -> String {
    let partition: Vec<String> = partition.iter().map(|name| names.of(name)).collect();
    let clustering: Vec<String> = clustering
        .iter()
        .map(|(name, desc)| format!("{}{}", names.of(name), if *desc { " desc" } else { "" }))
        .collect();
    format!("key ({}; {})", partition.join(", "), clustering.join(", "))
}

//! Writes entities whose keys are templates already, as libraries for one table declare them.
//!
//! Each access pattern becomes a read: the point read of the table's key, lists of partitions and of
//! indexes. What several entities answer together becomes a read of several row types.
//!
//! What it is not: it knows no library.

use crate::columns;
use crate::draft::{self, Attribute, Draft, Entity, Pattern, Piece, Row, Schema, Table, cell};
use crate::names::{Names, camel, comment};
use crate::places::Places;
use shelfmark_design_language::syntax::print::quote;

/// One entity of a library.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) name: String,
    /// The table; `None` where the file does not say what it is called.
    pub(crate) table: Option<String>,
    /// The attribute that tells the type of a row.
    pub(crate) tag: String,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) indexes: Vec<Access>,
    pub(crate) remarks: Vec<String>,
    pub(crate) asks: Vec<String>,
}

/// An access pattern: the key of the table or of an index.
#[derive(Debug, Default)]
pub(crate) struct Access {
    pub(crate) name: String,
    /// The index; `None` for the table.
    pub(crate) index: Option<String>,
    /// True if it is said to lie beside its rows, in their partition.
    pub(crate) local: bool,
    /// The columns of its key as they are called there.
    pub(crate) columns: Vec<String>,
    pub(crate) cells: Vec<Vec<Piece>>,
    /// Groups of entities that are read together, and what their sort keys begin with there.
    pub(crate) together: Vec<(String, String)>,
    pub(crate) store: Option<Vec<String>>,
}

impl Model {
    fn table(&self) -> &str {
        self.table.as_deref().unwrap_or(UNNAMED)
    }
}

/// The name of a table whose name no file says.
const UNNAMED: &str = "table";

/// Entities that are read together: where, by which partition, and who.
struct Together {
    name: String,
    place: String,
    partition: String,
    params: Vec<String>,
    sources: Vec<String>,
    begins: String,
}

struct Writer<'d> {
    draft: &'d mut Draft,
    entities: Names,
    places: Places,
    patterns: Names,
    together: Vec<Together>,
}

/// Adds the entities of tables to a draft.
pub(crate) fn write(draft: &mut Draft, models: &[Model]) {
    let indexes = |model: &Model| {
        model.indexes.iter().filter_map(|access| access.index.clone()).collect::<Vec<String>>()
    };
    let named: Vec<(String, Vec<String>)> =
        models.iter().map(|model| (model.table().to_owned(), indexes(model))).collect();
    if models.iter().any(|model| model.table.is_none()) {
        draft.remarks.push(format!("? What is the table called? Here it is {UNNAMED}."));
    }
    let places = Places::of(&named);
    let (entities, patterns) = (Names::default(), Names::default());
    let mut writer = Writer { draft, entities, places, patterns, together: Vec::new() };
    let mut tables: Vec<Table> = Vec::new();
    for model in models {
        let Some(row) = writer.model(model) else { continue };
        let name = writer.places.table(model.table());
        match tables.iter_mut().find(|table| table.name == name) {
            Some(table) => table.rows.push(row),
            None => {
                let primary = model.indexes.iter().find(|access| access.index.is_none());
                let columns = primary.map(|primary| primary.columns.clone()).unwrap_or_default();
                let remarks = writer.places.renamed(model.table());
                tables.push(Table { name, remarks, columns, rows: vec![row] });
            }
        }
    }
    let serves = writer.together();
    let tag = models.first().map(|model| model.tag.as_str());
    for table in &mut tables {
        let remarks = columns::renamed(table, tag, &draft.entities);
        table.remarks.extend(remarks);
    }
    if !tables.is_empty() {
        draft.schema = Some(Schema { target: "dynamodb", tables, serves, samples: Vec::new() });
    }
}

impl Writer<'_> {
    /// Adds an entity and its reads; returns its row family, if its key says anything.
    fn model(&mut self, model: &Model) -> Option<Row> {
        let entity = self.entities.fresh(&camel(&model.name));
        let primary = model.indexes.iter().find(|access| access.index.is_none());
        let key = primary.map(|primary| holes(primary.cells.iter())).unwrap_or_default();
        let Some(primary) = primary.filter(|_| !key.is_empty()) else {
            self.draft.remarks.push(format!(
                "? {} is left out: its key of the table is missing or constant. What is it keyed by?",
                comment(&model.name)
            ));
            return None;
        };
        let mut asks = model.asks.clone();
        let indexes = self.indexes(model, primary, &mut asks);
        asks.push("? How many are there, and how do they grow?  count 1M growth 2%/mo".to_owned());
        self.draft.entities.push(Entity {
            name: entity.clone(),
            remarks: model.remarks.clone(),
            attributes: model.attributes.clone(),
            key: key.clone(),
            members: Vec::new(),
            asks,
        });
        let name = self.places.row(&model.name);
        for access in &model.indexes {
            reads(self.draft, &mut self.patterns, &entity, model, access, &key);
            let lies = |index: &String| {
                let name = self.places.index(model.table(), index);
                indexes.iter().any(|one| one.name == name)
            };
            if access.index.as_ref().is_none_or(lies) {
                self.join(model, access, &entity);
            }
        }
        let key = primary.cells.iter().map(|pieces| cell(pieces, false)).collect();
        Some(Row { name, entity, key, partition: 1, indexes, remarks: Vec::new() })
    }

    /// Returns the entries of an entity's rows in indexes; asks about those that cannot lie so.
    fn indexes(
        &self,
        model: &Model,
        primary: &Access,
        asks: &mut Vec<String>,
    ) -> Vec<draft::Index> {
        let mut found = Vec::new();
        for access in &model.indexes {
            let Some(index) = &access.index else { continue };
            let beside = access.cells.len() == 2
                && primary.cells.len() == 2
                && access.cells.first() == primary.cells.first();
            if access.local && !beside {
                asks.push(format!(
                    "? {} is a local index, and its key is not the table's partition key with one \
                     column more: what is it made of? It is left out",
                    comment(index)
                ));
                continue;
            }
            found.push(draft::Index {
                name: self.places.index(model.table(), index),
                local: access.local,
                key: access.cells.iter().map(|pieces| cell(pieces, false)).collect(),
                partition: 1,
                columns: access.columns.clone(),
                store: access.store.clone(),
            });
        }
        found
    }

    /// Notes with whom an entity is read together.
    fn join(&mut self, model: &Model, access: &Access, entity: &str) {
        for (group, begins) in &access.together {
            let place = match &access.index {
                None => self.places.table(model.table()),
                Some(index) => self.places.index(model.table(), index),
            };
            let params = holes(access.cells.iter().take(1));
            let first = access.cells.first();
            let partition = first.map(|pieces| cell(pieces, false)).unwrap_or_default();
            let found = self.together.iter_mut().find(|one| {
                one.name == *group
                    && one.place == place
                    && one.partition == partition
                    && one.params == params
            });
            match found {
                Some(one) => one.sources.push(entity.to_owned()),
                None => self.together.push(Together {
                    name: group.clone(),
                    place,
                    partition,
                    params,
                    sources: vec![entity.to_owned()],
                    begins: begins.clone(),
                }),
            }
        }
    }

    /// Adds the reads of several entities; returns their plans.
    fn together(&mut self) -> Vec<String> {
        let mut serves = Vec::new();
        for one in std::mem::take(&mut self.together) {
            if one.sources.len() < 2 || one.params.is_empty() {
                continue;
            }
            let head = format!("{}({})", self.patterns.fresh(&one.name), one.params.join(", "));
            let known: Vec<String> =
                one.params.iter().map(|name| format!("{name} = {name}")).collect();
            let sources = one.sources.join(" + ");
            let text = format!("read {head} = {sources} where {}", known.join(" and "));
            self.draft.patterns.push(Pattern { remarks: Vec::new(), text });
            let begins = match one.begins.as_str() {
                "" => String::new(),
                text => format!(" begins {}", quote(text)),
            };
            serves.push(format!("serve {head} by query {} ({}){begins}", one.place, one.partition));
        }
        serves
    }
}

/// Returns the attributes in cells, each once.
fn holes<'c>(cells: impl Iterator<Item = &'c Vec<Piece>>) -> Vec<String> {
    let mut found = Vec::new();
    for piece in cells.flatten() {
        if let Piece::Hole(name, _) = piece
            && !found.contains(name)
        {
            found.push(name.clone());
        }
    }
    found
}

fn reads(
    draft: &mut Draft,
    patterns: &mut Names,
    entity: &str,
    model: &Model,
    access: &Access,
    key: &[String],
) {
    let own = &model.name;
    let optional =
        |name: &&String| model.attributes.iter().any(|one| one.name == **name && one.optional);
    let equal = |names: &[String]| -> String {
        let conditions: Vec<String> = names.iter().map(|name| format!("{name} = {name}")).collect();
        conditions.join(" and ")
    };
    let partition = holes(access.cells.iter().take(1));
    let behind: Vec<String> = holes(access.cells.iter().skip(1))
        .into_iter()
        .filter(|name| !partition.contains(name))
        .collect();
    if access.index.is_none() {
        let name = patterns.fresh(&format!("get_{own}"));
        let text =
            format!("read {name}({}) = {entity} where {} unique", key.join(", "), equal(key));
        draft.patterns.push(Pattern { remarks: Vec::new(), text });
    }
    if partition.is_empty() || (access.index.is_none() && behind.is_empty()) {
        return;
    }
    let present: String = behind
        .iter()
        .filter(|name| !key.contains(name))
        .filter(optional)
        .map(|name| format!(" and {name} is present"))
        .collect();
    let order = match behind.as_slice() {
        // More than one value is parted by delimiters, which need not sort below what stands in them.
        [only] => format!(" order by {only}"),
        _ => String::new(),
    };
    let select = access.store.as_ref().map_or_else(String::new, |store| {
        let mut names: Vec<String> = store.clone();
        names.extend(key.iter().chain(&partition).chain(&behind).cloned());
        names.sort();
        names.dedup();
        format!(" select {}", names.join(", "))
    });
    let name = patterns.fresh(&format!("{own}_{}", access.name));
    let text = format!(
        "read {name}({}) = {entity}{select} where {}{present}{order}",
        partition.join(", "),
        equal(&partition)
    );
    draft.patterns.push(Pattern { remarks: Vec::new(), text });
}

//! Imports data models of NoSQL Workbench for DynamoDB, versions 1 to 3.
//!
//! Each facet of a table becomes an entity with a row family; a table without facets is one. What
//! a facet's key cells are made of is known only where an alias says so with holes (`USER#<id>`);
//! otherwise the whole cell is an attribute, and the alias stands beside it as a question.
//!
//! Source of the form: the developer guide's page on importing models, and Amazon's published
//! samples of versions 1.0, 2.0 and 3.0, read 2026-11. Unknown members are passed over: later
//! versions of the tool write more.

use serde_json::Value as Json;

use super::sheet::{Names, camel, comment};
use super::workbench_rows::{Samples, common_head, rows_of};
use super::{IMPORT_ATTRIBUTES_MAX, IMPORT_TABLES_MAX, ImportError};
use shelfmark_design_language::syntax::print::quote;

/// A member of JSON and the way to it, for messages.
#[derive(Clone)]
pub(super) struct At<'a> {
    pub(super) json: &'a Json,
    pub(super) path: String,
}

impl<'a> At<'a> {
    pub(super) fn member(&self, name: &str) -> Option<At<'a>> {
        let json = self.json.get(name).filter(|json| !json.is_null())?;
        let dot = if self.path.is_empty() { "" } else { "." };
        Some(At { json, path: format!("{}{dot}{name}", self.path) })
    }

    fn wanted(&self, name: &str) -> Result<At<'a>, ImportError> {
        self.member(name).ok_or_else(|| {
            let place = if self.path.is_empty() { "the model" } else { &self.path };
            ImportError::new(place, format!("there is no {name}"))
        })
    }

    pub(super) fn text(&self) -> Result<&'a str, ImportError> {
        self.json.as_str().ok_or_else(|| self.error("is no text"))
    }

    pub(super) fn items(&self) -> Result<Vec<At<'a>>, ImportError> {
        let list = self.json.as_array().ok_or_else(|| self.error("is no list"))?;
        Ok(list
            .iter()
            .enumerate()
            .map(|(at, json)| At { json, path: format!("{}[{at}]", self.path) })
            .collect())
    }

    fn error(&self, message: &str) -> ImportError {
        ImportError::new(self.path.clone(), message)
    }

    /// Returns the items of a member that may be missing.
    fn list(&self, name: &str) -> Result<Vec<At<'a>>, ImportError> {
        self.member(name).map_or(Ok(Vec::new()), |member| member.items())
    }
}

/// An attribute and its type letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) letter: String,
}

/// The key of a table or an index.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) partition: Attribute,
    pub(super) sort: Option<Attribute>,
}

impl Key {
    fn parts(&self) -> impl Iterator<Item = &Attribute> {
        std::iter::once(&self.partition).chain(&self.sort)
    }
}

struct Index {
    name: String,
    /// Its key: one attribute and at most one more, or up to four and four.
    parts: Vec<Attribute>,
    /// Number of columns in the partition key.
    partition: usize,
    /// The projected attributes beside keys; `None` means all.
    shown: Option<Vec<String>>,
}

/// Rows of one kind: a facet, or a whole table.
pub(super) struct Kind {
    name: String,
    /// The facet's names of the key cells.
    aliases: [Option<String>; 2],
    /// Attributes beside the key; `None` means all of the table's.
    others: Option<Vec<String>>,
}

struct Table<'a> {
    name: String,
    key: Key,
    others: Vec<Attribute>,
    indexes: Vec<Index>,
    kinds: Vec<Kind>,
    at: At<'a>,
}

pub(super) fn import(name: &str, text: &str) -> Result<String, ImportError> {
    let json: Json = serde_json::from_str(text).map_err(|error| {
        ImportError::new(
            format!("{}:{}", error.line(), error.column()),
            format!("no JSON: {error}"),
        )
    })?;
    let model = At { json: &json, path: String::new() };
    if !json.is_object() {
        return Err(ImportError::new("1:1", "a data model is a JSON object"));
    }
    let version = model.member("ModelMetadata").and_then(|metadata| metadata.member("Version"));
    if let Some(version) = &version {
        let number = version.text()?;
        if !matches!(number.split('.').next(), Some("1" | "2" | "3")) {
            let message = format!("version {} is not known; 1 to 3 are read", comment(number));
            return Err(version.error(&message));
        }
    }
    let title = model.member("ModelName").and_then(|at| at.json.as_str()).unwrap_or(name);
    let mut tables: Vec<Table<'_>> = Vec::new();
    let found = model.wanted("DataModel")?;
    for at in found.items()? {
        if tables.len() >= IMPORT_TABLES_MAX {
            return Err(at.error(&format!("at most {IMPORT_TABLES_MAX} tables are imported")));
        }
        tables.push(table(at)?);
    }
    if tables.is_empty() {
        return Err(found.error("has no table"));
    }
    let mut remarks: Vec<String> = passed_over(&model, "").into_iter().collect();
    remarks.extend(unread(&model, "", &["ModelName", "ModelMetadata", "DataModel", "ModelSchema"]));
    if version.is_none() {
        remarks.push("? It does not say its version, and was read as 3.0: is it one?".to_owned());
    }
    for table in &tables {
        let of = format!(" of {}", comment(&table.name));
        remarks.extend(passed_over(&table.at, &of));
        remarks.extend(unread(&table.at, &of, &TABLE_MEMBERS));
        remarks.extend(table.undeclared(&of));
    }
    written(title, &tables, remarks)
}

/// Returns a remark on ignored members that other tools write: templates and named queries.
fn passed_over(at: &At<'_>, of: &str) -> Option<String> {
    let schema = at.member("ModelSchema")?;
    let names = |name: &str| -> Vec<String> {
        let found = schema.json.get(name).and_then(Json::as_object);
        let mut names: Vec<String> =
            found.into_iter().flat_map(|found| found.keys()).map(|key| comment(key)).collect();
        names.sort();
        names
    };
    let (models, queries) = (names("models"), names("queries"));
    let list = |names: &[String]| {
        if names.is_empty() { "none".to_owned() } else { comment(&names.join(", ")) }
    };
    Some(format!(
        "? ModelSchema{of} is not read. It has key templates of: {}; queries: {}. Write them as \
         keys and reads.",
        list(&models),
        list(&queries)
    ))
}

/// Members of a table that are read, or that say nothing of its data: `DataAccess` names another
/// database.
const TABLE_MEMBERS: [&str; 8] = [
    "TableName",
    "KeyAttributes",
    "NonKeyAttributes",
    "GlobalSecondaryIndexes",
    "TableFacets",
    "TableData",
    "DataAccess",
    "ModelSchema",
];

/// Returns a remark on unknown members of later versions and other tools.
fn unread(at: &At<'_>, of: &str, known: &[&str]) -> Option<String> {
    let members = at.json.as_object()?;
    let is_empty = |json: &Json| {
        json.is_null()
            || json.as_array().is_some_and(Vec::is_empty)
            || json.as_object().is_some_and(serde_json::Map::is_empty)
    };
    let mut names: Vec<String> = members
        .iter()
        .filter(|(name, json)| !known.contains(&name.as_str()) && !is_empty(json))
        .map(|(name, _)| comment(name))
        .collect();
    names.sort();
    let place = if of.is_empty() { " of the model" } else { of };
    (!names.is_empty()).then(|| {
        format!(
            "? Members{place} that are not read: {}. Do they matter?",
            comment(&names.join(", "))
        )
    })
}

fn table(at: At<'_>) -> Result<Table<'_>, ImportError> {
    let name = at.wanted("TableName")?.text()?.to_owned();
    let key = key(&at)?;
    let mut others: Vec<Attribute> = Vec::new();
    for item in at.list("NonKeyAttributes")? {
        let found = attribute(&item)?;
        let known = |one: &Attribute| one.name == found.name;
        if !others.iter().any(known) && !key.parts().any(known) {
            others.push(found);
        }
    }
    if others.len() > IMPORT_ATTRIBUTES_MAX {
        let message = format!("at most {IMPORT_ATTRIBUTES_MAX} attributes are imported");
        return Err(at.error(&message));
    }
    let mut indexes = Vec::new();
    for item in at.list("GlobalSecondaryIndexes")? {
        indexes.push(index(&item)?);
    }
    // Key attributes of indexes need not be listed.
    for part in indexes.iter().flat_map(|index| &index.parts) {
        let known = |one: &Attribute| one.name == part.name;
        if !others.iter().any(known) && !key.parts().any(known) {
            others.push(part.clone());
        }
    }
    let mut kinds = Vec::new();
    for item in at.list("TableFacets")? {
        kinds.push(facet(&item)?);
    }
    if kinds.is_empty() {
        kinds.push(Kind { name: name.clone(), aliases: [None, None], others: None });
    }
    Ok(Table { name, key, others, indexes, kinds, at })
}

fn key(at: &At<'_>) -> Result<Key, ImportError> {
    let key = at.wanted("KeyAttributes")?;
    let partition = attribute(&key.wanted("PartitionKey")?)?;
    let sort = key.member("SortKey").map(|sort| attribute(&sort)).transpose()?;
    if sort.as_ref().is_some_and(|sort| sort.name == partition.name) {
        return Err(key.error("names one attribute twice"));
    }
    Ok(Key { partition, sort })
}

/// Returns one attribute, or a list of them: indexes have up to four and four since November 2025.
fn several(at: &At<'_>) -> Result<Vec<Attribute>, ImportError> {
    if !at.json.is_array() {
        return Ok(vec![attribute(at)?]);
    }
    let found = at.items()?.iter().map(attribute).collect::<Result<Vec<_>, _>>()?;
    if found.is_empty() {
        return Err(at.error("names no attribute"));
    }
    Ok(found)
}

fn attribute(at: &At<'_>) -> Result<Attribute, ImportError> {
    let name = at.wanted("AttributeName")?.text()?.to_owned();
    let letter = at.member("AttributeType").map_or(Ok("S"), |letter| letter.text())?.to_owned();
    let known = ["S", "N", "B", "BOOL", "M", "L", "SS", "NS", "BS", "NULL"];
    if !known.contains(&letter.as_str()) {
        return Err(at.error(&format!("{} is no type of an attribute", comment(&letter))));
    }
    Ok(Attribute { name, letter })
}

fn index(at: &At<'_>) -> Result<Index, ImportError> {
    let name = at.wanted("IndexName")?.text()?.to_owned();
    let key = at.wanted("KeyAttributes")?;
    let mut parts = several(&key.wanted("PartitionKey")?)?;
    let partition = parts.len();
    if let Some(sort) = key.member("SortKey") {
        parts.extend(several(&sort)?);
    }
    let projection = at.member("Projection");
    let kind = projection.as_ref().and_then(|one| one.member("ProjectionType"));
    let shown = match kind.map(|kind| kind.text()).transpose()? {
        None | Some("ALL") => None,
        Some("KEYS_ONLY") => Some(Vec::new()),
        Some("INCLUDE") => {
            let mut names = Vec::new();
            for item in projection.map_or(Ok(Vec::new()), |one| one.list("NonKeyAttributes"))? {
                names.push(item.text()?.to_owned());
            }
            Some(names)
        }
        Some(other) => {
            return Err(at.error(&format!("{} is no projection", comment(other))));
        }
    };
    Ok(Index { name, parts, partition, shown })
}

fn facet(at: &At<'_>) -> Result<Kind, ImportError> {
    let name = at.wanted("FacetName")?.text()?.to_owned();
    let alias = |member: &str| -> Result<Option<String>, ImportError> {
        let found = at.member("KeyAttributeAlias").and_then(|one| one.member(member));
        found.map(|found| found.text().map(str::to_owned)).transpose()
    };
    let aliases = [alias("PartitionKeyAlias")?, alias("SortKeyAlias")?];
    let mut others = Vec::new();
    for item in at.list("NonKeyAttributes")? {
        // The guide's samples list names; some tools write objects.
        others.push(match item.json.as_str() {
            Some(name) => name.to_owned(),
            None => attribute(&item)?.name,
        });
    }
    let others = at.member("NonKeyAttributes").map(|_| others);
    Ok(Kind { name, aliases, others })
}

/// A literal or an attribute of a key cell.
pub(super) enum Piece {
    Text(String),
    Hole(String),
}

/// Parses an alias with holes, written `<id>`, `{id}` or `${id}`; `None` when it has none.
fn pieces(alias: &str) -> Option<Vec<Piece>> {
    let mut found = Vec::new();
    let mut rest = alias;
    let mut holes = 0;
    while let Some(open) = rest.find(['<', '{']) {
        let (head, tail) = rest.split_at(open);
        let close = if tail.starts_with('<') { '>' } else { '}' };
        let inside = tail.get(1..)?.split_once(close);
        let (inside, after) = inside.filter(|(inside, _)| !inside.trim().is_empty())?;
        let head = head.strip_suffix('$').unwrap_or(head);
        if !head.is_empty() {
            found.push(Piece::Text(head.to_owned()));
        }
        found.push(Piece::Hole(inside.trim().to_owned()));
        holes += 1;
        rest = after;
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest.to_owned()));
    }
    (holes > 0).then_some(found)
}

fn written(
    title: &str,
    tables: &[Table<'_>],
    mut remarks: Vec<String>,
) -> Result<String, ImportError> {
    let mut entities = Names::default();
    let mut names = Names::default();
    let mut out = format!("# Imported from NoSQL Workbench: {}.\n", comment(title));
    out.push_str(
        "# Attributes outside the key are optional: a table of DynamoDB does not ask for them.\n\
         # ? Say which reads and writes there are: a data model does not know them.\n",
    );
    let mut body = String::new();
    let mut schema = String::new();
    let mut sampled = String::new();
    let mut reads = String::new();
    for table in tables {
        let name = names.fresh(&table.name);
        let mut families = Vec::new();
        let mut rows = String::new();
        for (number, kind) in table.kinds.iter().enumerate() {
            let entity = entities.fresh(&camel(&kind.name));
            // A table of one kind has that kind's name; kinds have names of their own.
            let family =
                if table.kinds.len() == 1 { name.clone() } else { names.fresh(&kind.name) };
            let mut shape = Shape::new(table, kind, number);
            body.push('\n');
            body.push_str(&shape.entity(&entity));
            let short = table.kinds.len() == 1;
            rows.push_str(&shape.row(&family, &entity, short, &mut names));
            reads.push_str(&shape.stub(&entity));
            families.push((family, shape));
        }
        if table.kinds.len() == 1 {
            schema.push_str(&rows);
        } else {
            schema.push_str(&format!("  table {name} {{\n{rows}  }}\n"));
        }
        if name != table.name {
            remarks.push(format!("{name} is called {:?} there.", comment(&table.name)));
        }
        remarks.extend(table.lost_indexes(&families));
        let mut taken = Samples::default();
        taken.table(&table.at, &table.key, &mut families)?;
        sampled.push_str(&taken.lines);
        remarks.extend(taken.remarks(&table.name));
    }
    out.extend(remarks.iter().map(|remark| format!("# {remark}\n")));
    out.push_str(&body);
    out.push('\n');
    out.push_str(&reads);
    let sampled =
        if sampled.is_empty() { String::new() } else { format!("  sample {{\n{sampled}  }}\n") };
    out.push_str(&format!("\nschema imported target dynamodb {{\n{schema}{sampled}}}\n"));
    Ok(out)
}

/// Parses an alias without brackets: the text before the last delimiter, and a name behind it.
fn bare(alias: &str) -> Option<(&str, &str)> {
    let at = alias.rfind('#')?;
    let (head, name) = alias.split_at(at + 1);
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    named.then_some((head, name))
}

impl Table<'_> {
    /// Returns a remark on attributes that a facet or a projection names, and the table does not
    /// declare.
    fn undeclared(&self, of: &str) -> Option<String> {
        let facets = self.kinds.iter().filter_map(|kind| kind.others.as_ref());
        let shown = self.indexes.iter().filter_map(|index| index.shown.as_ref());
        let declared =
            |name: &String| self.others.iter().chain(self.key.parts()).any(|one| one.name == *name);
        let mut names: Vec<String> = facets
            .chain(shown)
            .flatten()
            .filter(|name| !declared(name))
            .map(|name| comment(name))
            .collect();
        names.sort();
        names.dedup();
        (!names.is_empty()).then(|| {
            let names = comment(&names.join(", "));
            format!(
                "? Attributes{of} that a facet or an index names and the table does not: {names}."
            )
        })
    }

    /// Returns remarks on indexes whose attributes no facet names.
    fn lost_indexes(&self, families: &[(String, Shape<'_>)]) -> Vec<String> {
        let lost = self.indexes.iter().filter(|index| {
            !families.iter().any(|(_, shape)| {
                let known = shape.known();
                let own = |part: &Attribute| self.key.parts().any(|one| one.name == part.name);
                index.parts.iter().all(|part| own(part) || known.contains(&part.name))
            })
        });
        lost.map(|index| {
            let names: Vec<String> = index.parts.iter().map(|part| comment(&part.name)).collect();
            format!(
                "? The index {} of {} is not imported: no facet names {}. Which rows lie in it, \
                 and what is its key made of?",
                comment(&index.name),
                comment(&self.name),
                names.join(" and ")
            )
        })
        .collect()
    }

    /// Returns the texts of a key cell in all sample rows.
    fn texts(&self, cell: &str) -> Vec<String> {
        let facets = self.at.member("TableFacets").and_then(|facets| facets.items().ok());
        let mut texts: Vec<String> =
            facets.unwrap_or_default().iter().flat_map(|facet| rows_of(facet, cell)).collect();
        texts.extend(rows_of(&self.at, cell));
        texts
    }

    /// Returns the texts of a key cell in the rows of one facet.
    fn facet_texts(&self, facet: usize, cell: &str) -> Vec<String> {
        let facets = self.at.member("TableFacets").and_then(|facets| facets.items().ok());
        let facet = facets.unwrap_or_default().into_iter().nth(facet);
        facet.map_or_else(Vec::new, |facet| rows_of(&facet, cell))
    }

    /// Returns the tag of an alias without brackets: its own, when some row begins so or there is
    /// none; else the common beginning of all rows of the facet.
    fn tag<'t>(&self, facet: usize, cell: &str, alias: &'t str) -> Option<(String, &'t str)> {
        let (head, name) = bare(alias)?;
        let texts = self.texts(cell);
        if texts.is_empty() || texts.iter().any(|text| text.starts_with(head)) {
            return Some((head.to_owned(), name));
        }
        common_head(&self.facet_texts(facet, cell)).map(|head| (head, name))
    }
}

/// The form of one kind of rows: its attributes and the pieces of its key.
pub(super) struct Shape<'a> {
    table: &'a Table<'a>,
    kind: &'a Kind,
    pub(super) columns: Names,
    /// The pieces of each key cell, and true if an alias named them.
    cells: Vec<(Vec<Piece>, bool)>,
}

impl<'a> Shape<'a> {
    fn new(table: &'a Table<'a>, kind: &'a Kind, number: usize) -> Self {
        let cells = table
            .key
            .parts()
            .zip(&kind.aliases)
            .map(|(part, alias)| {
                let alias = alias.as_deref().filter(|_| part.letter == "S");
                let known = alias.and_then(pieces);
                let told = known.is_some();
                // Most published aliases have no brackets: `ITEMS#ItemID`.
                let known = known.or_else(|| {
                    let (head, name) = table.tag(number, &part.name, alias?)?;
                    Some(vec![Piece::Text(head), Piece::Hole(name.to_owned())])
                });
                (known.unwrap_or_else(|| vec![Piece::Hole(part.name.clone())]), told)
            })
            .collect();
        Self { table, kind, columns: Names::default(), cells }
    }

    pub(super) fn others(&self) -> Vec<&'a Attribute> {
        let wanted = |one: &&Attribute| {
            let listed = self.kind.others.as_ref().is_none_or(|names| names.contains(&one.name));
            let indexed = self.table.kinds.len() == 1
                && self
                    .table
                    .indexes
                    .iter()
                    .any(|index| index.parts.iter().any(|part| part.name == one.name));
            listed || indexed
        };
        let in_key = self.key_columns();
        self.table.others.iter().filter(wanted).filter(|one| !in_key.contains(&one.name)).collect()
    }

    /// Returns the foreign names of all attributes.
    fn known(&self) -> Vec<String> {
        let others = self.others().into_iter().map(|one| one.name.clone());
        others.chain(self.key_columns()).collect()
    }

    /// Returns the foreign names of all attributes in the key, each once.
    fn key_columns(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for piece in self.cells.iter().flat_map(|(pieces, _)| pieces) {
            if let Piece::Hole(name) = piece
                && !found.contains(name)
            {
                found.push(name.clone());
            }
        }
        found
    }

    fn entity(&mut self, entity: &str) -> String {
        let mut out = format!("entity {entity} {{\n");
        let mut key = Vec::new();
        for foreign in self.key_columns() {
            let part = self.table.key.parts().find(|part| part.name == foreign);
            let declared = self.table.others.iter().find(|one| one.name == foreign);
            let ty = part.or(declared).map_or("text", |part| type_of(&part.letter, true));
            let name = self.columns.of(&foreign);
            let letter = part.or(declared).map_or("S", |part| part.letter.as_str());
            let remark = beside(called(&name, &foreign), otherwise(letter));
            out.push_str(&format!("  {name}: {ty}{remark}\n"));
            key.push(name);
        }
        for one in self.others() {
            let name = self.columns.of(&one.name);
            let indexed = self
                .table
                .indexes
                .iter()
                .any(|index| index.parts.iter().any(|part| part.name == one.name));
            let ty = type_of(&one.letter, indexed);
            let asked = match asked(&one.letter, indexed) {
                "" if expires(one) => "the second at which rows expire? then: int ttl",
                other => other,
            };
            let asked = if asked.is_empty() { String::new() } else { format!("? {asked}") };
            let remark = beside(called(&name, &one.name), otherwise(&one.letter));
            out.push_str(&format!("  {name}: {ty} optional{}\n", beside(remark, &asked)));
        }
        out.push_str(&format!("  key ({})\n", key.join(", ")));
        for ((pieces, told), (part, alias)) in
            self.cells.iter().zip(self.table.key.parts().zip(&self.kind.aliases))
        {
            let guessed = match pieces.as_slice() {
                [Piece::Text(head), ..] => Some(head),
                _ => None,
            };
            if let (false, Some(head), Some(alias)) = (told, guessed, alias)
                && !alias.starts_with(head.as_str())
            {
                out.push_str(&format!(
                    "  # ? {} is called {:?} in this facet, and its rows begin with {head:?}: which is right?\n",
                    comment(&part.name),
                    comment(alias)
                ));
            } else if let (false, Some(_), Some(alias)) = (told, guessed, alias) {
                out.push_str(&format!(
                    "  # ? {} is called {:?} in this facet, and read as a tag and one attribute: is it?\n",
                    comment(&part.name),
                    comment(alias)
                ));
            } else if let (false, Some(alias)) = (told, alias) {
                out.push_str(&format!(
                    "  # ? {} is called {:?} in this facet: of which attributes is it made?\n",
                    comment(&part.name),
                    comment(alias)
                ));
            }
        }
        out.push_str("  # ? How many are there, and how do they grow?  count 1M growth 2%/mo\n}\n");
        out
    }

    fn row(&mut self, family: &str, entity: &str, short: bool, names: &mut Names) -> String {
        let mut cells = Vec::new();
        let parts: Vec<Attribute> = self.table.key.parts().cloned().collect();
        for (at, part) in parts.iter().enumerate() {
            cells.push(self.cell(at, part));
        }
        let key = join_key(&cells, 1);
        let others: Vec<String> = self.others().iter().map(|one| one.name.clone()).collect();
        let known = self.known();
        let mut indexes = String::new();
        for index in &self.table.indexes {
            // A facet without the index's attributes is not in it.
            let cells: Option<Vec<String>> =
                index.parts.iter().map(|part| self.index_cell(part, &known)).collect();
            let Some(cells) = cells else { continue };
            let shown = index.shown.as_ref().map_or_else(String::new, |shown| {
                let names: Vec<String> = shown
                    .iter()
                    .filter(|name| others.contains(name))
                    .map(|name| self.columns.of(name))
                    .collect();
                format!(" store {{ {} }}", names.join(", "))
            });
            let name = names.of(&format!("{} {}", self.table.name, index.name));
            indexes
                .push_str(&format!(" index {name} {}{shown}", join_key(&cells, index.partition)));
        }
        let word = if short { "table" } else { "row" };
        format!("  {word} {family} from {entity} {key} store all{indexes}\n")
    }

    /// Returns one cell of the table's key: a template where its pieces are known.
    fn cell(&mut self, at: usize, part: &Attribute) -> String {
        let Some((pieces, _)) = self.cells.get(at) else { return self.columns.of(&part.name) };
        if let [Piece::Hole(only)] = pieces.as_slice() {
            return self.columns.of(only);
        }
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(&text.replace('<', "<<")),
                Piece::Hole(name) => out.push_str(&format!("<{}>", self.columns.of(name))),
            }
        }
        quote(&out)
    }

    /// Returns a cell of an index: an attribute, or a cell of the table's own key.
    fn index_cell(&mut self, part: &Attribute, known: &[String]) -> Option<String> {
        let own = self.table.key.parts().position(|one| one.name == part.name);
        match own {
            Some(at) => Some(self.cell(at, part)),
            None => known.contains(&part.name).then(|| self.columns.of(&part.name)),
        }
    }

    fn stub(&mut self, entity: &str) -> String {
        let key: Vec<String> =
            self.key_columns().iter().map(|name| self.columns.of(name)).collect();
        let conds: Vec<String> = key.iter().map(|name| format!("{name} = {name}")).collect();
        format!(
            "# read get_{entity}({}) = {entity} where {} unique\n",
            key.join(", "),
            conds.join(" and ")
        )
    }
}

fn join_key(cells: &[String], partition: usize) -> String {
    let (before, behind) = cells.split_at(partition.min(cells.len()));
    let space = if behind.is_empty() { "" } else { " " };
    format!("key ({};{space}{})", before.join(", "), behind.join(", "))
}

fn called(name: &str, foreign: &str) -> String {
    if name == foreign { String::new() } else { format!("  # called {:?} there", comment(foreign)) }
}

/// Adds a remark to a comment.
fn beside(remark: String, more: &str) -> String {
    match (remark.is_empty(), more.is_empty()) {
        (_, true) => remark,
        (true, false) => format!("  # {more}"),
        (false, false) => format!("{remark}; {more}"),
    }
}

/// Returns what the model's type loses of a type letter.
fn otherwise(letter: &str) -> &'static str {
    match letter {
        "B" => "binary there",
        "BS" => "of binary there",
        "NULL" => "null there",
        _ => "",
    }
}

/// Returns true if an attribute has a usual name for the expiry of an item.
fn expires(one: &Attribute) -> bool {
    let name = one.name.to_lowercase();
    one.letter == "N" && (name.contains("ttl") || name.contains("expir"))
}

/// Returns the question that a type letter leaves open.
fn asked(letter: &str, in_key: bool) -> &'static str {
    match letter {
        "L" if !in_key => "a list: of what, and how many at most?",
        "SS" | "NS" | "BS" if !in_key => "a set: how many at most?",
        "M" => "a map: of what?",
        _ => "",
    }
}

fn type_of(letter: &str, in_key: bool) -> &'static str {
    match letter {
        "S" => "text",
        "N" => "decimal",
        "BOOL" if !in_key => "bool",
        "SS" if !in_key => "set of text",
        "NS" if !in_key => "set of decimal",
        "L" if !in_key => "list of text",
        "BS" if !in_key => "set of text",
        _ if in_key => "text",
        _ => "bytes",
    }
}

//! The vector indexes that CreateTable and UpdateTable ask for.

use std::collections::{BTreeMap, BTreeSet};

use shelfmark_model::{IndexSchema, Projected};

use super::attribute_uses::AttributeUse;
use super::table_request::{ProjectionRequest, read_projection, shape_projection};
use super::table_schema::{Definitions, projected};
use crate::errors::{Error, Exception, Result, texts};
use crate::json::Reader;
use crate::limits::{
    ATTRIBUTE_NAME_BYTES_MAX, INLINE_FILTERS_MAX, NON_KEY_ATTRIBUTES_MAX, VECTOR_DIMENSIONS_MAX,
    VECTOR_INDEXES_MAX,
};
use crate::shape::Shape;
use crate::table::{Billing, Distance, SearchAttribute, VectorIndex};

/// A vector index that is to be created.
#[derive(Debug, Default)]
pub(super) struct VectorRequest {
    name: Option<String>,
    attribute: Option<Option<String>>,
    schema: Option<Vec<SearchElement>>,
    projection: Option<ProjectionRequest>,
    dimensions: Option<i64>,
    distance: Option<String>,
}

/// An element of SearchSchema.
#[derive(Debug, Default)]
struct SearchElement {
    name: Option<String>,
    role: Option<String>,
}

/// An element of VectorIndexUpdates.
#[derive(Debug, Default)]
pub(super) struct VectorUpdate {
    create: Option<VectorRequest>,
    /// Only the name.
    delete: Option<VectorRequest>,
}

/// A change of a vector index that was checked.
pub(super) enum VectorChange {
    Create(String, VectorIndex),
    Delete(String),
}

impl VectorUpdate {
    /// Returns the attributes that an index that is to be made reads. What must not be defined but is,
    /// or the other way round, is refused later, in other words.
    pub(super) fn uses(&self, definitions: &Definitions) -> Vec<AttributeUse> {
        let Some(create) = &self.create else { return Vec::new() };
        let vector = create.attribute.as_ref().and_then(Option::as_deref);
        let vector = vector.filter(|name| definitions.letter(name).is_none());
        let dimensions = create.dimensions.unwrap_or_default().to_string();
        let vector = vector.map(|name| AttributeUse::vector(name, &dimensions));
        let searched = create.schema.iter().flatten().filter_map(|element| {
            let name = element.name.as_deref()?;
            Some(AttributeUse::searched(name, definitions.letter(name)?, element.is_hash()))
        });
        vector.into_iter().chain(searched).collect()
    }
}

impl VectorChange {
    /// Makes the change to the indexes of a table.
    pub(super) fn apply(self, indexes: &mut BTreeMap<String, VectorIndex>) {
        match self {
            Self::Create(name, index) => {
                indexes.insert(name, index);
            }
            Self::Delete(name) => {
                indexes.remove(&name);
            }
        }
    }
}

/// Reads a list of vector indexes.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Option<Vec<VectorRequest>>> {
    reader.list(read_one)
}

/// Reads a list of changes.
pub(super) fn read_updates(reader: &mut Reader<'_>) -> Result<Option<Vec<VectorUpdate>>> {
    reader.list(|reader| {
        let mut update = VectorUpdate::default();
        let present = reader.structure(|reader, name| {
            match name {
                "Create" => update.create = read_one(reader)?,
                "Delete" => update.delete = read_one(reader)?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(present.then_some(update))
    })
}

fn read_one(reader: &mut Reader<'_>) -> Result<Option<VectorRequest>> {
    let mut index = VectorRequest::default();
    let present = reader.structure(|reader, name| {
        match name {
            "IndexName" => index.name = reader.text()?,
            "VectorAttribute" => index.attribute = read_attribute(reader)?,
            "SearchSchema" => index.schema = reader.list(read_element)?,
            "Projection" => index.projection = read_projection(reader)?,
            "Dimensions" => index.dimensions = reader.integer()?,
            "DistanceFunction" => index.distance = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(index))
}

/// Reads the structure that has the name of the attribute; the inner option is that name.
fn read_attribute(reader: &mut Reader<'_>) -> Result<Option<Option<String>>> {
    let mut attribute = None;
    let present = reader.structure(|reader, name| {
        match name {
            "AttributeName" => attribute = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(attribute))
}

fn read_element(reader: &mut Reader<'_>) -> Result<Option<SearchElement>> {
    let mut element = SearchElement::default();
    let present = reader.structure(|reader, name| {
        match name {
            "AttributeName" => element.name = reader.text()?,
            "SearchSchemaElementType" => element.role = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(element))
}

/// Checks the shape of a list of vector indexes.
pub(super) fn shape(indexes: &[VectorRequest], member: &str, shape: &mut Shape) {
    for (position, index) in indexes.iter().enumerate() {
        index.shape(&format!("{member}.{}.member", position + 1), shape);
    }
}

/// Checks the shape of a list of changes.
pub(super) fn shape_updates(updates: &[VectorUpdate], shape: &mut Shape) {
    for (position, update) in updates.iter().enumerate() {
        let path = format!("VectorIndexUpdates.{}.member", position + 1);
        if let Some(index) = &update.create {
            index.shape(&format!("{path}.Create"), shape);
        }
        if let Some(index) = &update.delete {
            let path = format!("{path}.Delete.IndexName");
            shape.required(&path, index.name.is_some());
            shape.new_name(&path, index.name.as_deref());
        }
    }
}

impl VectorRequest {
    fn shape(&self, path: &str, shape: &mut Shape) {
        let at = |member: &str| format!("{path}.{member}");
        shape.required(&at("IndexName"), self.name.is_some());
        shape.new_name(&at("IndexName"), self.name.as_deref());
        shape.required(&at("VectorAttribute"), self.attribute.is_some());
        if let Some(attribute) = &self.attribute {
            let path = at("VectorAttribute.AttributeName");
            shape.required(&path, attribute.is_some());
            let name = attribute.as_deref().unwrap_or("-");
            shape.text(&path, name, 1, ATTRIBUTE_NAME_BYTES_MAX.min(255));
        }
        if let Some(elements) = &self.schema {
            shape.length(&at("SearchSchema"), elements.len(), 1, usize::MAX);
            for (position, element) in elements.iter().enumerate() {
                let path = format!("{}.{}.member", at("SearchSchema"), position + 1);
                shape.required(&format!("{path}.AttributeName"), element.name.is_some());
                let role = format!("{path}.SearchSchemaElementType");
                shape.required(&role, element.role.is_some());
                shape.one_of(&role, element.role.as_deref(), &["HASH", "INLINE_FILTER"]);
            }
        }
        shape.required(&at("Projection"), self.projection.is_some());
        if let Some(projection) = &self.projection {
            shape_projection(projection, path, shape);
        }
        shape.required(&at("Dimensions"), self.dimensions.is_some());
        shape.range(&at("Dimensions"), self.dimensions, 1, None);
        shape.required(&at("DistanceFunction"), self.distance.is_some());
        // In the service's order.
        let names = ["DOT_PRODUCT", "COSINE", "EUCLIDEAN"];
        shape.one_of(&at("DistanceFunction"), self.distance.as_deref(), &names);
    }

    /// Returns name and settings, if they are valid.
    fn checked(self, definitions: &Definitions) -> Result<(String, VectorIndex)> {
        let given = self.dimensions.unwrap_or_default();
        let dimensions = usize::try_from(given).unwrap_or_default();
        if !(1..=VECTOR_DIMENSIONS_MAX).contains(&dimensions) {
            let text = texts::dimensions_out_of_range(VECTOR_DIMENSIONS_MAX);
            return Err(Error::validation(text));
        }
        let name = self.name.unwrap_or_default();
        let schema = search_schema(self.schema.unwrap_or_default(), definitions)?;
        let attribute = self.attribute.flatten().unwrap_or_default();
        if definitions.letter(&attribute).is_some() {
            return Err(Error::validation(texts::vector_attribute_defined(&attribute)));
        }
        let projected = projected(self.projection.unwrap_or_default())?;
        check_projects_few(&name, &attribute, &projected)?;
        let index = VectorIndex {
            attribute,
            dimensions,
            // The shape has checked the name.
            distance: self.distance.as_deref().and_then(Distance::of).unwrap_or_default(),
            schema,
            projected,
        };
        Ok((name, index))
    }
}

impl SearchElement {
    fn is_hash(&self) -> bool {
        self.role.as_deref() == Some("HASH")
    }
}

/// Refuses an index that would hold too many attributes: the vector is one of them.
fn check_projects_few(index: &str, vector: &str, projected: &Projected) -> Result<()> {
    let Projected::Include(names) = projected else { return Ok(()) };
    let others = names.iter().filter(|name| *name != vector).count();
    if others + 1 > NON_KEY_ATTRIBUTES_MAX {
        let text = texts::vector_projects_too_many(index, NON_KEY_ATTRIBUTES_MAX);
        return Err(Error::validation(text));
    }
    Ok(())
}

fn search_schema(
    elements: Vec<SearchElement>,
    definitions: &Definitions,
) -> Result<Vec<SearchAttribute>> {
    let hashes = elements.iter().filter(|element| element.is_hash()).count();
    let filters = elements.len() - hashes;
    let counts = [(hashes, "HASH", 1), (filters, "INLINE_FILTER", INLINE_FILTERS_MAX)];
    for (count, role, most) in counts {
        if count > most {
            return Err(Error::validation(texts::search_schema_count(count, role, most)));
        }
    }
    let mut schema: Vec<SearchAttribute> = Vec::with_capacity(elements.len());
    for element in elements {
        let is_hash = element.is_hash();
        let name = element.name.unwrap_or_default();
        let Some(letter) = definitions.letter(&name) else {
            return Err(Error::validation(texts::SEARCH_ATTRIBUTE_UNDEFINED));
        };
        if schema.iter().any(|other| other.name == name) {
            return Err(Error::validation(texts::SEARCH_ATTRIBUTE_TWICE));
        }
        schema.push(SearchAttribute { name, letter: letter.to_owned(), is_hash });
    }
    Ok(schema)
}

/// Returns the vector indexes of a new table.
pub(super) fn of_new_table(
    requests: Option<Vec<VectorRequest>>,
    definitions: &Definitions,
    billing: Billing,
    others: &[IndexSchema],
) -> Result<BTreeMap<String, VectorIndex>> {
    let Some(requests) = requests else { return Ok(BTreeMap::new()) };
    if requests.is_empty() {
        return Err(Error::validation(texts::VECTOR_INDEXES_EMPTY));
    }
    if billing == Billing::Provisioned {
        return Err(Error::validation(texts::VECTORS_NEED_ON_DEMAND));
    }
    if requests.len() > VECTOR_INDEXES_MAX {
        return Err(Error::validation(texts::vector_indexes_too_many(VECTOR_INDEXES_MAX)));
    }
    check_names(&requests, others)?;
    let mut indexes = BTreeMap::new();
    for request in requests {
        let (name, index) = request.checked(definitions)?;
        indexes.insert(name, index);
    }
    check_together(&indexes)?;
    Ok(indexes)
}

/// Refuses a name that two indexes of a new table would have, before anything else about an index.
fn check_names(requests: &[VectorRequest], others: &[IndexSchema]) -> Result<()> {
    let mut names: BTreeSet<&str> = others.iter().map(|other| other.name.as_str()).collect();
    for request in requests {
        let name = request.name.as_deref().unwrap_or_default();
        if !names.insert(name) {
            return Err(Error::validation(texts::index_name_twice(name)));
        }
    }
    Ok(())
}

/// Checks the one change of a request, if it has one.
pub(super) fn change(
    updates: Vec<VectorUpdate>,
    definitions: &Definitions,
    billing: Billing,
    (table, (others, indexes)): (&str, (&[IndexSchema], BTreeMap<String, VectorIndex>)),
) -> Result<Option<VectorChange>> {
    let mut updates = updates.into_iter();
    let Some(update) = updates.next() else { return Ok(None) };
    if updates.next().is_some() {
        return Err(Error::new(Exception::LimitExceeded, texts::ONE_INDEX_CHANGE));
    }
    match (update.create, update.delete) {
        (Some(request), None) => {
            if billing == Billing::Provisioned {
                return Err(Error::validation(texts::VECTORS_NEED_ON_DEMAND));
            }
            let (name, index) = request.checked(definitions)?;
            if indexes.contains_key(&name) || others.iter().any(|other| other.name == name) {
                return Err(Error::validation(texts::INDEX_EXISTS));
            }
            if indexes.len() >= VECTOR_INDEXES_MAX {
                let text = texts::one_vector_index_too_many(VECTOR_INDEXES_MAX);
                return Err(Error::new(Exception::LimitExceeded, text));
            }
            check_beside(&index, &indexes)?;
            Ok(Some(VectorChange::Create(name, index)))
        }
        (None, Some(request)) => {
            let name = request.name.unwrap_or_default();
            if !indexes.contains_key(&name) {
                let text = texts::index_missing_in_table(&name, table);
                return Err(Error::new(Exception::ResourceNotFound, text));
            }
            Ok(Some(VectorChange::Delete(name)))
        }
        (Some(_), Some(_)) => Err(Error::validation(texts::ONE_VECTOR_ACTION)),
        (None, None) => Err(Error::validation(texts::NO_VECTOR_ACTION)),
    }
}

/// Refuses a new index whose attribute has vectors of another size in those that are there.
fn check_beside(new: &VectorIndex, indexes: &BTreeMap<String, VectorIndex>) -> Result<()> {
    let differs =
        |own: &&VectorIndex| own.attribute == new.attribute && own.dimensions != new.dimensions;
    let Some(old) = indexes.values().find(differs) else { return Ok(()) };
    let shown = |own: &VectorIndex| {
        texts::vector_element_of_schema(&own.attribute, &own.dimensions.to_string())
    };
    Err(Error::validation(texts::attribute_redefined(&shown(old), &shown(new))))
}

/// Refuses indexes of a new table that are of one attribute and of vectors of several sizes.
fn check_together(indexes: &BTreeMap<String, VectorIndex>) -> Result<()> {
    let mut dimensions: BTreeMap<&str, usize> = BTreeMap::new();
    for index in indexes.values() {
        let first = *dimensions.entry(&index.attribute).or_insert(index.dimensions);
        if first != index.dimensions {
            let text = texts::vector_dimensions_differ(&index.attribute);
            return Err(Error::validation(text));
        }
    }
    Ok(())
}

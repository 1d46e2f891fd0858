//! Combines definitions, key schemas and indexes to the engine's schema.

use std::collections::HashSet;

use shelfmark_model::{
    Direction, IndexKind, IndexSchema, IndexState, KeyColumn, KeyType, Projected, SortColumn,
};

use super::table_request::{
    Definition, IndexRequest, KeyElement, ProjectionRequest, ThroughputRequest, WarmFloor,
};
use crate::errors::{Error, Result, texts};
use crate::limits::{
    GLOBAL_INDEXES_MAX, INDEX_KEY_COLUMNS_MAX, LOCAL_INDEXES_MAX, PROJECTED_ATTRIBUTES_MAX,
};
use crate::table::{Billing, IndexMeta, Throughput, check_key_name, key_letter, key_type_of};

/// The attributes that a request defines, in its order.
pub(super) struct Definitions {
    types: Vec<(String, KeyType)>,
}

/// The columns of a key.
pub(super) struct KeyColumns {
    pub(super) partition: Vec<KeyColumn>,
    pub(super) sort: Vec<SortColumn>,
}

impl Definitions {
    /// Collects the definitions, of which none may stand twice.
    pub(super) fn of(definitions: Vec<Definition>) -> Result<Self> {
        let mut types: Vec<(String, KeyType)> = Vec::with_capacity(definitions.len());
        let mut known = HashSet::with_capacity(definitions.len());
        for definition in definitions {
            let name = definition.name.unwrap_or_default();
            check_key_name(&name)?;
            if !known.insert(name.clone()) {
                return Err(Error::validation(texts::definition_twice(&name)));
            }
            let letter = definition.letter.unwrap_or_default();
            types.push((name, key_type_of(&letter).unwrap_or(KeyType::Text)));
        }
        Ok(Self { types })
    }

    /// Returns the letter of a defined attribute's type.
    pub(super) fn letter(&self, name: &str) -> Option<&'static str> {
        let found = self.types.iter().find(|(own, _)| own == name);
        found.map(|(_, key_type)| key_letter(key_type))
    }

    fn names(&self) -> Vec<&str> {
        self.types.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Builds the key of a table or of a local index: HASH, then at most one RANGE.
    pub(super) fn table_key(&self, keys: &[KeyElement]) -> Result<KeyColumns> {
        self.check_defined(keys)?;
        // One definition for two elements that are the same attribute.
        if self.types.len() < keys.len() {
            return Err(Error::validation(texts::KEY_WITHOUT_DEFINITION));
        }
        check_names_differ(keys)?;
        let mut elements = keys.iter();
        if !elements.next().is_some_and(KeyElement::is_hash) {
            return Err(Error::validation(texts::FIRST_KEY_IS_NO_HASH));
        }
        if elements.next().is_some_and(KeyElement::is_hash) {
            return Err(Error::validation(texts::SECOND_KEY_IS_NO_RANGE));
        }
        Ok(self.columns(keys))
    }

    /// Builds the key of a global index: one to four HASH, then none to four RANGE.
    fn global_key(&self, keys: &[KeyElement]) -> Result<KeyColumns> {
        self.check_defined(keys)?;
        check_names_differ(keys)?;
        if !keys.first().is_some_and(KeyElement::is_hash) {
            return Err(Error::validation(texts::FIRST_KEY_IS_NO_HASH));
        }
        let columns = self.columns(keys);
        let ordered = keys.iter().skip_while(|key| key.is_hash()).all(|key| !key.is_hash());
        if !ordered {
            return Err(Error::validation(texts::KEY_COLUMNS_OUT_OF_ORDER));
        }
        if columns.partition.len().max(columns.sort.len()) > INDEX_KEY_COLUMNS_MAX {
            return Err(Error::validation(texts::KEY_COLUMNS_TOO_MANY));
        }
        Ok(columns)
    }

    fn check_defined(&self, keys: &[KeyElement]) -> Result<()> {
        let names: Vec<&str> = keys.iter().map(KeyElement::name).collect();
        if names.iter().all(|name| self.types.iter().any(|(own, _)| own == name)) {
            return Ok(());
        }
        Err(Error::validation(texts::keys_undefined(&names, &self.names())))
    }

    fn columns(&self, keys: &[KeyElement]) -> KeyColumns {
        let key_type = |name: &str| {
            let found = self.types.iter().find(|(own, _)| own == name);
            found.map_or(KeyType::Text, |(_, key_type)| key_type.clone())
        };
        let (hash, range): (Vec<&KeyElement>, Vec<&KeyElement>) =
            keys.iter().partition(|key| key.is_hash());
        KeyColumns {
            partition: hash
                .into_iter()
                .map(|key| KeyColumn::new(key.name(), key_type(key.name())))
                .collect(),
            sort: range
                .into_iter()
                .map(|key| SortColumn::new(key.name(), key_type(key.name()), Direction::Ascending))
                .collect(),
        }
    }

    /// Returns true if there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Refuses definitions that no key uses. `table` is the key of the table, `searched` are the
    /// attributes of search schemas.
    pub(super) fn check_all_used<'n>(
        &self,
        table: &'n KeyColumns,
        indexes: &'n [IndexSchema],
        searched: impl Iterator<Item = &'n str>,
    ) -> Result<()> {
        let partitions = indexes.iter().flat_map(|index| &index.partition);
        let sorts = indexes.iter().flat_map(|index| &index.sort);
        let mut used: Vec<&str> = Vec::new();
        let mut is_used: HashSet<&str> = HashSet::new();
        let names = table.partition.iter().map(|column| column.name.as_str());
        let names = names.chain(table.sort.iter().map(|column| column.name.as_str()));
        let names = names.chain(partitions.map(|column| column.name.as_str()));
        let names = names.chain(sorts.map(|column| column.name.as_str()));
        for name in names.chain(searched) {
            if is_used.insert(name) {
                used.push(name);
            }
        }
        if self.types.iter().all(|(name, _)| is_used.contains(name.as_str())) {
            return Ok(());
        }
        Err(Error::validation(if indexes.is_empty() {
            texts::DEFINITIONS_DO_NOT_MATCH.to_owned()
        } else {
            texts::definitions_unused(&used, &self.names())
        }))
    }

    /// Builds a local index of a table with this key.
    pub(super) fn local_index(
        &self,
        request: IndexRequest,
        table: &KeyColumns,
    ) -> Result<IndexSchema> {
        let name = request.name.unwrap_or_default();
        let columns = self.table_key(&request.keys.unwrap_or_default())?;
        if columns.sort.is_empty() {
            return Err(Error::validation(texts::local_index_without_range(&name)));
        }
        let (own, wanted) = (first_name(&columns), first_name(table));
        if own != wanted {
            return Err(Error::validation(texts::local_index_hash(&name, own, wanted)));
        }
        let projected = projected(request.projection.unwrap_or_default())?;
        Ok(index_schema(name, columns, projected))
    }

    /// Builds a global index of a table with this billing mode.
    pub(super) fn global_index(
        &self,
        request: IndexRequest,
        billing: Billing,
    ) -> Result<(IndexSchema, IndexMeta)> {
        let name = request.name.unwrap_or_default();
        let columns = self.global_key(&request.keys.unwrap_or_default())?;
        let projected = projected(request.projection.unwrap_or_default())?;
        let throughput = match (billing, request.throughput) {
            (Billing::PayPerRequest, None) => Throughput::default(),
            (Billing::PayPerRequest, Some(_)) => {
                return Err(Error::validation(texts::index_units_forbidden(&name)));
            }
            (Billing::Provisioned, None) => {
                return Err(Error::validation(texts::index_units_missing(&name)));
            }
            (Billing::Provisioned, Some(throughput)) => throughput.units()?,
        };
        let cap = request.on_demand.and_then(ThroughputRequest::first_cap);
        if let (Billing::Provisioned, Some(member)) = (billing, cap) {
            return Err(Error::validation(texts::index_on_demand_forbidden(member, &name)));
        }
        let of = format!("index : {name}");
        let on_demand = ThroughputRequest::caps(request.on_demand, None, &of)?;
        let of = format!("index {name}");
        let warm = match request.warm {
            Some(warm) => {
                warm.warm(billing.least_warm(throughput), WarmFloor::of_new(billing), &of)?
            }
            None => Throughput::default(),
        };
        let meta = IndexMeta { local: false, throughput, on_demand, warm };
        Ok((index_schema(name, columns, projected), meta))
    }
}

/// Checks the indexes of a table together: their names and their number.
pub(super) fn check_indexes(local: &[IndexSchema], global: &[IndexSchema]) -> Result<()> {
    if local.len() > LOCAL_INDEXES_MAX {
        return Err(Error::validation(texts::LOCAL_INDEXES_TOO_MANY));
    }
    if global.len() > GLOBAL_INDEXES_MAX {
        return Err(Error::validation(texts::GLOBAL_INDEXES_TOO_MANY));
    }
    let mut names: Vec<&str> = Vec::new();
    let mut projected = 0;
    for index in local.iter().chain(global) {
        if names.contains(&index.name.as_str()) {
            return Err(Error::validation(texts::index_name_twice(&index.name)));
        }
        names.push(&index.name);
        if let Projected::Include(attributes) = &index.projected {
            projected += attributes.len();
        }
    }
    if projected > PROJECTED_ATTRIBUTES_MAX {
        return Err(Error::validation(texts::PROJECTED_TOO_MANY));
    }
    Ok(())
}

fn first_name(columns: &KeyColumns) -> &str {
    columns.partition.first().map_or("", |column| &column.name)
}

fn check_names_differ(keys: &[KeyElement]) -> Result<()> {
    for (position, key) in keys.iter().enumerate() {
        if keys.iter().take(position).any(|other| other.name() == key.name()) {
            return Err(Error::validation(texts::KEY_NAMES_EQUAL));
        }
    }
    Ok(())
}

/// Checks a projection.
pub(super) fn projected(request: ProjectionRequest) -> Result<Projected> {
    let Some(projection_type) = request.projection_type else {
        return Err(Error::validation(texts::UNKNOWN_PROJECTION));
    };
    match (projection_type.as_str(), request.non_key_attributes) {
        ("INCLUDE", Some(names)) => {
            names.iter().try_for_each(|name| check_key_name(name))?;
            for (position, name) in names.iter().enumerate() {
                if names.iter().take(position).any(|other| other == name) {
                    return Err(Error::validation(texts::attribute_twice(name)));
                }
            }
            Ok(Projected::Include(names))
        }
        ("INCLUDE", None) => Err(Error::validation(texts::NON_KEY_ATTRIBUTES_MISSING)),
        (other, Some(_)) => Err(Error::validation(texts::non_key_attributes(other))),
        ("KEYS_ONLY", None) => Ok(Projected::KeysOnly),
        _ => Ok(Projected::All),
    }
}

fn index_schema(name: String, columns: KeyColumns, projected: Projected) -> IndexSchema {
    IndexSchema {
        name,
        kind: IndexKind::Secondary,
        partition: columns.partition,
        sort: columns.sort,
        projected,
        state: IndexState::Public,
    }
}

impl KeyElement {
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    pub(super) fn is_hash(&self) -> bool {
        self.key_type.as_deref() == Some("HASH")
    }
}

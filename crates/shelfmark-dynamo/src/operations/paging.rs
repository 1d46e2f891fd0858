//! Parses Query and Scan and writes their pages, which the engine ends at `Limit` items or at 1 MB.
//!
//! This is what the two have in common: filters, projections, and cursors of result pages. Both
//! limits count before the filter; `query` and `scan` hand them to the engine.

use shelfmark_engine::{Cursor, ErrorKind, ResultPage};
use shelfmark_model::{Condition, Item, Projection};

use super::selection::Select;

use crate::capacity::{Consumed, Detail};
use crate::errors::{Error, Result, texts, type_name};
use crate::expression::{Given, KeyCondition, Kind, Placeholders};
use crate::json::{Attributes, Reader, Writer, put_item};
use crate::legacy::{self, Conditions};
use crate::limits::KEY_NAME_BYTES_MAX;
use crate::reply::Answered;
use crate::shape::{CAPACITIES, Shape};
use crate::table::{Target, check_not_empty, key_letter};

/// The members that both operations have.
#[derive(Debug, Default)]
pub(super) struct PageRequest {
    pub(super) table: Option<String>,
    pub(super) index: Option<String>,
    pub(super) consistent: bool,
    limit: Option<i64>,
    select: Option<String>,
    filter: Option<String>,
    projection: Option<String>,
    key_condition: Option<String>,
    given: Given,
    start: Option<Attributes>,
    capacity: Option<String>,
    attributes_to_get: Option<Vec<String>>,
    legacy_filter: Option<Conditions>,
    legacy_keys: Option<Conditions>,
    operator: Option<String>,
}

/// A request that is valid as far as can be told without its table.
pub(super) struct Prepared {
    operation: Operation,
    pub(super) keys: Vec<KeyCondition>,
    pub(super) filter: Option<Condition>,
    /// The name of the filter's member in messages.
    pub(super) filter_member: &'static str,
    pub(super) limit: Option<usize>,
    pub(super) start: Option<Item>,
    pub(super) detail: Detail,
    pub(super) projection: Projection,
    pub(super) select: Select,
}

impl PageRequest {
    /// Reads a member, if it is one of these; returns `false` to leave it to the caller.
    pub(super) fn member(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<bool> {
        match name {
            "TableName" => self.table = reader.text()?,
            "IndexName" => self.index = reader.text()?,
            "ConsistentRead" => self.consistent = reader.boolean()? == Some(true),
            "Limit" => self.limit = reader.integer()?,
            "Select" => self.select = reader.text()?,
            "FilterExpression" => self.filter = reader.text()?,
            "ProjectionExpression" => self.projection = reader.text()?,
            "KeyConditionExpression" => self.key_condition = reader.text()?,
            "ExpressionAttributeNames" => {
                self.given.names = reader.map(|reader, _| reader.text())?
            }
            "ExpressionAttributeValues" => self.given.values = reader.checked_map()?,
            "ExclusiveStartKey" => self.start = reader.attributes()?,
            "ReturnConsumedCapacity" => self.capacity = reader.text()?,
            "AttributesToGet" => self.attributes_to_get = reader.texts()?,
            "QueryFilter" | "ScanFilter" => {
                self.legacy_filter = legacy::conditions::read(reader)?;
            }
            "KeyConditions" => self.legacy_keys = legacy::conditions::read(reader)?,
            "ConditionalOperator" => self.operator = reader.text()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Checks the operator of a query, which the service does before anything else and alone.
    pub(super) fn check_operator(&self) -> Result<()> {
        match self.operator.as_deref() {
            None | Some("OR" | "AND") => Ok(()),
            Some(_) => Err(Error::validation(texts::CONDITIONAL_OPERATOR_UNKNOWN)),
        }
    }

    /// Checks the shape.
    pub(super) fn shape(&self, operation: Operation, shape: &mut Shape) {
        shape.table("TableName", self.table.as_deref());
        shape.new_name("IndexName", self.index.as_deref());
        shape.range("Limit", self.limit, 1, None);
        let selects =
            &["SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"];
        shape.one_of("Select", self.select.as_deref(), selects);
        shape.one_of("ReturnConsumedCapacity", self.capacity.as_deref(), CAPACITIES);
        if operation == Operation::Scan {
            shape.conditional_operator("ConditionalOperator", self.operator.as_deref());
        }
        if let Some(names) = &self.attributes_to_get {
            shape.length("AttributesToGet", names.len(), 1, KEY_NAME_BYTES_MAX);
        }
        let filter = self.legacy_filter.as_ref();
        legacy::conditions::shape(filter, operation.legacy_filter(), true, shape);
        legacy::conditions::shape(self.legacy_keys.as_ref(), "KeyConditions", true, shape);
    }

    /// Checks and translates everything that needs no table.
    pub(super) fn prepare(mut self, operation: Operation) -> Result<Prepared> {
        self.given.names_values = operation == Operation::Scan;
        let expressions = self.expressions(operation);
        legacy::not_mixed(&self.legacy(operation), &expressions)?;
        legacy::operator_fits(self.operator.as_deref(), self.legacy_filter.as_ref())?;
        let start =
            self.start.map(Attributes::checked).transpose().map_err(|error| match operation {
                Operation::Query => error,
                Operation::Scan => error.prefixed(&texts::start_key_problem("")),
            })?;
        let projected = self.projection.is_some();
        let placeholders = Placeholders::check(self.given, &expressions)?;
        let keys = placeholders.key_condition(self.key_condition.as_deref())?;
        let filter = placeholders.condition(Kind::Filter, self.filter.as_deref())?;
        let projection = placeholders.projection(self.projection.as_deref())?;
        placeholders.all_used()?;
        let keys = match (keys, self.legacy_keys) {
            (Some(keys), _) => keys,
            (None, Some(conditions)) => legacy::conditions::key_conditions(conditions)?,
            (None, None) if operation == Operation::Query => {
                return Err(Error::validation(texts::NO_KEY_CONDITION));
            }
            (None, None) => Vec::new(),
        };
        let filter_member = match filter {
            Some(_) => "Filter Expression",
            None => operation.legacy_filter(),
        };
        let filter = match filter {
            Some(filter) => Some(filter),
            None => legacy::conditions::filter(self.legacy_filter, self.operator.as_deref())?,
        };
        let (projection, parameter) = match &self.attributes_to_get {
            Some(names) => (legacy::attributes_to_get(names)?, Some("AttributesToGet")),
            None => (projection, projected.then_some("ProjectionExpression")),
        };
        let select = Select::of(self.select.as_deref(), parameter, self.index.is_some());
        let select = select.map_err(|error| Error {
            enveloped: operation == Operation::Query
                && error.message == texts::SELECT_NEEDS_PROJECTION,
            ..error
        })?;
        Ok(Prepared {
            operation,
            keys,
            filter,
            filter_member,
            limit: self.limit.and_then(|limit| usize::try_from(limit).ok()),
            start,
            detail: Detail::of(self.capacity.as_deref()),
            projection,
            select,
        })
    }

    fn expressions(&self, operation: Operation) -> Vec<(Kind, bool)> {
        let mut expressions = vec![
            (Kind::Projection, self.projection.is_some()),
            (Kind::Filter, self.filter.is_some()),
        ];
        if operation == Operation::Query {
            expressions.push((Kind::KeyCondition, self.key_condition.is_some()));
        }
        expressions
    }

    fn legacy(&self, operation: Operation) -> Vec<(&'static str, bool)> {
        vec![
            ("AttributesToGet", self.attributes_to_get.is_some()),
            (operation.legacy_filter(), self.legacy_filter.is_some()),
            ("ConditionalOperator", self.operator.is_some()),
            // The service lets these stand beside a filter expression.
            ("KeyConditions", self.legacy_keys.is_some() && self.key_condition.is_some()),
        ]
    }
}

/// The operation: Query or Scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Query,
    Scan,
}

impl Operation {
    const fn legacy_filter(self) -> &'static str {
        match self {
            Self::Query => "QueryFilter",
            Self::Scan => "ScanFilter",
        }
    }
}

impl Prepared {
    /// Returns the cursor to go on from.
    pub(super) fn cursor(&self, target: &Target) -> Result<Option<Cursor>> {
        let Some(position) = &self.start else { return Ok(None) };
        let names = target.position_names();
        if position.len() != names.len() || names.iter().any(|name| position.get(name).is_none()) {
            let is_of_table = self.operation == Operation::Scan && target.index_name().is_none();
            return Err(Error::validation(match is_of_table {
                true => texts::start_key_problem(texts::KEY_DOES_NOT_MATCH),
                false => texts::START_KEY_INVALID.to_owned(),
            }));
        }
        // Of another face's rows a position may hold what no key of a request may: the table tells.
        if !target.table.is_shared() {
            check_position_types(target, position)?;
        }
        let cursor = target.table.cursor_behind(target.index_name(), position);
        cursor.map(Some).map_err(|error| {
            if error.kind() == ErrorKind::Invalid {
                return Error::validation(texts::START_KEY_INVALID);
            }
            error.into()
        })
    }
}

fn check_position_types(target: &Target, position: &Item) -> Result<()> {
    let schema = &target.table.schema;
    let partitions = schema.partition.iter().chain(target.partition());
    let sorts = schema.sort.iter().chain(target.sort());
    let fits = partitions
        .map(|column| (&column.name, &column.key_type))
        .chain(sorts.map(|column| (&column.name, &column.key_type)))
        .all(|(name, key_type)| {
            position.get(name).is_some_and(|value| type_name(value) == key_letter(key_type))
        });
    if !fits {
        return Err(Error::validation(texts::start_key_problem(texts::KEY_DOES_NOT_MATCH)));
    }
    position.iter().try_for_each(|(name, value)| {
        check_not_empty(name, value).map_err(|error| error.prefixed(&texts::start_key_problem("")))
    })
}

/// Writes a page.
pub(super) fn encode(
    target: &Target,
    page: ResultPage,
    request: &Prepared,
    consistent: bool,
) -> Result<Answered> {
    let last = match &page.cursor {
        None => None,
        Some(cursor) => Some(target.table.cursor_key(target.index_name(), cursor)?),
    };
    let local = target.index_name().map(|_| target.local_index().is_some());
    Ok(Writer::answer(|out| {
        if request.select != Select::Count {
            out.name("Items").list(|out| page.items.iter().for_each(|item| put_item(out, item)));
        }
        out.name("Count").count(page.count);
        out.name("ScannedCount").count(page.evaluated);
        if let Some(last) = &last {
            out.name("LastEvaluatedKey");
            put_item(out, last);
        }
        if request.detail.is_wanted() {
            out.name("ConsumedCapacity");
            let consumed = Consumed::page(&page.report, local, consistent);
            consumed.put(out, &target.table.schema.name.name, request.detail);
        }
    })
    .reporting(page.report))
}

//! SearchVectors: the items whose vectors are nearest to one, by reading all of them.
//!
//! Exact: no item that is nearer is left out, as an approximate index may leave one out. The price is
//! that a search reads the whole table.
//!
//! Invariant: memory is a page, the best `TopK` keys, and an answer of at most 16 MB, whatever the size of
//! the table and of its items.

use std::sync::Arc;

use shelfmark_engine::{AccessReport, Get, Scan, Table};
use shelfmark_model::{Item, Key, Projection, Value, item_size_bytes};

use crate::capacity::Detail;
use crate::errors::{Error, Result, texts, type_name};
use crate::expression::{Given, Kind, Placeholders};
use crate::face::Face;
use crate::json::{Checked, Reader, Writer, missing_member, put_value};
use crate::limits::{
    PAGE_SIZE_BYTES_MAX, REQUEST_SIZE_BYTES_MAX, TOP_K_MAX, VECTOR_CHARGE_BYTES_MIN,
    VECTOR_DIMENSIONS_MAX,
};
use crate::reply::Answered;
use crate::shape::{CAPACITIES, Shape};
use crate::table::{self, Distance, VectorIndex, as_kept, search_vector, vector_indexes};

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    index: Option<String>,
    vector: Option<Checked<Vec<Value>>>,
    top: Option<i64>,
    condition: Option<String>,
    projection: Option<String>,
    given: Given,
    capacity: Option<String>,
}

/// A search that fits its index.
struct Planned {
    table: Arc<Table>,
    index: VectorIndex,
    vector: Vec<f32>,
    top: usize,
    /// The attributes of the search schema that are asked for, and their values.
    wanted: Vec<(String, Value)>,
    projection: Projection,
    detail: Detail,
}

/// An item that was found, by its key: items may be large, and most that are near at first are not at
/// last.
struct Found {
    score: f64,
    key: Key,
}

/// The nearest items as they are answered, with their scores, and what it took to find them.
struct Searched {
    results: Vec<(f64, Item)>,
    /// Bytes of the items as they are answered.
    returned: usize,
    report: AccessReport,
    /// The number of vectors that were compared.
    compared: usize,
}

/// Answers SearchVectors.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let planned = plan(face, parse(body)?)?;
    let searched = run(face, &planned)?;
    Ok(encode(&planned, searched))
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => request.table = reader.strict_text()?,
            "IndexName" => request.index = reader.strict_text()?,
            "SearchVector" => {
                reader.strict_list()?;
                request.vector = reader.checked_values()?;
            }
            "TopK" => request.top = reader.strict_integer()?,
            "SearchConditionExpression" => request.condition = reader.text()?,
            "ProjectionExpression" => request.projection = reader.text()?,
            "ExpressionAttributeNames" => {
                request.given.names = reader.map(|reader, _| reader.text())?;
            }
            "ExpressionAttributeValues" => request.given.values = reader.checked_map()?,
            "ReturnConsumedCapacity" => request.capacity = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let members = [
        ("TableName", request.table.is_some()),
        ("IndexName", request.index.is_some()),
        ("SearchVector", request.vector.is_some()),
        ("TopK", request.top.is_some()),
    ];
    if let Some((name, _)) = members.iter().find(|(_, is_there)| !is_there) {
        return Err(missing_member(body, name));
    }
    let mut shape = Shape::default();
    shape.table("TableName", request.table.as_deref());
    shape.index_name("IndexName", request.index.as_deref());
    shape.range("TopK", request.top, 1, None);
    shape.one_of("ReturnConsumedCapacity", request.capacity.as_deref(), CAPACITIES);
    shape.check()?;
    Ok(request)
}

fn plan(face: &Face, request: Request) -> Result<Planned> {
    let vector = request.vector.unwrap_or_default();
    let mut shape = Shape::default();
    shape.length("SearchVector", vector.unchecked().len(), 1, VECTOR_DIMENSIONS_MAX);
    shape.check()?;
    let asked = request.top.unwrap_or_default();
    let top = usize::try_from(asked).unwrap_or_default();
    if top > TOP_K_MAX {
        return Err(Error::validation(texts::top_k_out_of_range(asked, TOP_K_MAX)));
    }
    let expressions = [
        (Kind::SearchCondition, request.condition.is_some()),
        (Kind::Projection, request.projection.is_some()),
    ];
    let placeholders = Placeholders::check(request.given, &expressions)?;
    let wanted = placeholders.search_condition(request.condition.as_deref())?.unwrap_or_default();
    let projection = placeholders.projection(request.projection.as_deref())?;
    placeholders.all_used()?;
    let table = table::find(&face.engine, &request.table.unwrap_or_default())?;
    let name = request.index.unwrap_or_default();
    let Some(index) = vector_indexes(&table.schema).remove(&name) else {
        return Err(Error::validation(texts::index_not_found(&name)));
    };
    check_wanted(&index, &wanted)?;
    // What cannot be read is no number either, and is told here like one.
    let invalid = |_| Error::validation(texts::SEARCH_VECTOR_INVALID);
    let vector = search_vector(vector.checked().map_err(invalid)?, index.dimensions)?;
    let detail = Detail::of(request.capacity.as_deref());
    Ok(Planned { table, index, vector, top, wanted, projection, detail })
}

/// Refuses a condition that the search schema does not allow, or that leaves out its partition key.
fn check_wanted(index: &VectorIndex, wanted: &[(String, Value)]) -> Result<()> {
    for (name, value) in wanted {
        let Some(own) = index.schema.iter().find(|own| own.name == *name) else {
            return Err(Error::validation(texts::search_attribute_unknown(name)));
        };
        if own.letter != type_name(value) {
            let text = texts::search_attribute_type(name, &own.letter, type_name(value));
            return Err(Error::validation(text));
        }
        if own.is_hash && table::is_empty(value) {
            return Err(Error::validation(texts::search_hash_is_empty(name, &own.letter)));
        }
    }
    match index.hash() {
        Some(hash) if !wanted.iter().any(|(name, _)| *name == hash.name) => {
            Err(Error::validation(texts::SEARCH_NEEDS_HASH))
        }
        Some(_) | None => Ok(()),
    }
}

fn run(face: &Face, planned: &Planned) -> Result<Searched> {
    let Planned { table, index, vector, top, wanted, .. } = planned;
    let view = face.engine.snapshot()?;
    let mut scan = Scan { bytes_max: Some(PAGE_SIZE_BYTES_MAX), ..Scan::default() };
    let mut nearest = Nearest { distance: index.distance, top: *top, found: Vec::new() };
    let (mut report, mut compared) = (AccessReport::default(), 0);
    loop {
        let page = view.scan(table, &scan)?;
        for item in page.items {
            let is_wanted = wanted
                .iter()
                .all(|(name, value)| item.get(name).is_some_and(|own| own.equals(value)));
            let Some(own) = is_wanted.then(|| index.vector_of(&item)).flatten() else { continue };
            compared += 1;
            nearest.add(index.distance.between(vector, &own), table.key_of(&item)?);
        }
        merge(&mut report, page.report);
        match page.cursor {
            Some(cursor) => scan.start = Some(cursor),
            None => break,
        }
    }
    let (mut results, mut returned) = (Vec::with_capacity(nearest.found.len()), 0);
    for Found { score, key } in nearest.found {
        // The moment is that of the search: the item is there.
        let Some(item) = view.get(table, &Get::new(key))?.item else { continue };
        let item = planned.projection.apply(entry(table, index, item, &planned.projection));
        returned += item_size_bytes(&item);
        if returned > REQUEST_SIZE_BYTES_MAX {
            return Err(Error::validation(texts::SEARCH_ANSWER_TOO_LARGE));
        }
        results.push((score, item));
    }
    Ok(Searched { results, returned, report, compared })
}

/// Adds the steps of a page to those of the pages before it: together they are one range.
fn merge(report: &mut AccessReport, page: AccessReport) {
    for step in page.steps {
        let same = report.steps.iter_mut().find(|own| own.table == step.table);
        match same {
            Some(own) => {
                own.rows_read += step.rows_read;
                own.rows_returned += step.rows_returned;
                own.bytes_read += step.bytes_read;
                if let (Some(range), Some(next)) = (own.ranges.last_mut(), step.ranges.last()) {
                    range.end.clone_from(&next.end);
                }
            }
            None => report.steps.push(step),
        }
    }
}

/// The nearest items so far, the nearest first; of equal ones the first in key order.
struct Nearest {
    distance: Distance,
    top: usize,
    found: Vec<Found>,
}

impl Nearest {
    fn add(&mut self, score: f64, key: Key) {
        let place =
            self.found.partition_point(|other| !self.distance.is_nearer(score, other.score));
        if place < self.top {
            self.found.insert(place, Found { score, key });
            self.found.truncate(self.top);
        }
    }
}

fn encode(planned: &Planned, searched: Searched) -> Answered {
    let Searched { results, returned, report, compared } = searched;
    let bytes = compared * planned.index.vector_bytes() + returned;
    Writer::answer(|out| {
        out.name("SearchResults").list(|out| {
            for (score, item) in &results {
                out.object(|out| {
                    put_found(out.name("Item"), item, &planned.index.attribute);
                    out.name("Score").fraction(in_32_bits(*score));
                });
            }
        });
        if planned.detail.is_wanted() {
            out.name("ConsumedCapacity").object(|out| {
                let bytes = bytes.max(VECTOR_CHARGE_BYTES_MIN);
                let bytes = u32::try_from(bytes).map_or(f64::MAX, f64::from);
                out.name("VectorSearchRequestBytes").fraction(bytes);
                out.name("VectorSearchUnits").fraction(bytes);
            });
        }
    })
    .reporting(report)
}

/// Returns a score as the service shows it: that of a float of 32 bits, the largest one instead of
/// infinity.
fn in_32_bits(score: f64) -> f64 {
    let most = f64::from(f32::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "the nearest float is what is wanted")]
    let float = score.clamp(-most, most) as f32;
    f64::from(float)
}

/// Returns what the index holds of an item. It holds the vector whatever it projects, as floats of 32
/// bits, and returns it only where it is asked for.
fn entry(table: &Table, index: &VectorIndex, item: Item, projection: &Projection) -> Item {
    let is_asked =
        table::projected(projection).iter().any(|path| path.attribute == index.attribute);
    let is_held = |name: &str| match name == index.attribute {
        true => is_asked,
        false => index.holds(table, name),
    };
    let held = item.into_iter().filter(|(name, _)| is_held(name));
    let kept = held.map(|(name, value)| {
        let value = if name == index.attribute { as_kept(value) } else { value };
        (name, value)
    });
    kept.collect()
}

/// Writes an item that was found. The elements of its vector are the shortest decimals of their floats.
fn put_found(out: &mut Writer, item: &Item, vector: &str) {
    out.object(|out| {
        for (name, value) in item {
            out.name(name);
            if let Value::List(floats) = value
                && name == vector
            {
                put_floats(out, floats);
            } else {
                put_value(out, value);
            }
        }
    });
}

fn put_floats(out: &mut Writer, floats: &[Value]) {
    let put = |out: &mut Writer, value: &Value| {
        if let Value::Float32(float) = value {
            out.object(|out| out.name("N").text(&format!("{float:?}")));
        } else {
            put_value(out, value);
        }
    };
    out.object(|out| {
        out.name("L").list(|out| floats.iter().for_each(|value| put(out, value)));
    });
}

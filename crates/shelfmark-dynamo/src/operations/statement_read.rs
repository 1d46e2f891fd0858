//! One page of a SELECT: gets and queries of what its WHERE names, or a scan.
//!
//! All reads of a page see one moment. `Limit` and 1 MB count what is read, before the filter, over
//! all reads of the page; the token of the next page says which read goes on where.

use shelfmark_engine::weight::Allowance;
use shelfmark_engine::{AccessReport, Cursor, Engine, Get, Query, ResultPage, Scan, View};
use shelfmark_model::{Item, Path, Projection, SortCondition};

use super::scan;
use super::selection::Selected;
use super::statement_request::Asked;
use crate::capacity::{Consumed, Detail};
use crate::errors::{Error, Result, texts};
use crate::face::Reading;
use crate::json::{Writer, put_item};
use crate::limits::{IN_PAGE_ITEMS_MAX, PAGE_SIZE_BYTES_MAX};
use crate::partiql::{self, Columns, Direction, NextToken, Read, Reads, Select};
use crate::reply::Answered;
use crate::scope::ScopedEngine;
use crate::table::{self, Target, check_key_paths, of_condition};

/// The members of a request for a page.
#[derive(Debug, Default)]
pub(super) struct PageOptions {
    pub(super) limit: Option<usize>,
    pub(super) next_token: Option<String>,
    pub(super) detail: Detail,
}

/// A SELECT in progress.
pub(super) struct Selecting {
    engine: Engine,
    view: View,
    target: Target,
    reads: Reads,
    columns: Columns,
    fetch_base: bool,
    consistent: bool,
    request: u64,
    detail: Detail,
    limit: Option<usize>,
    page: Page,
}

/// A page so far: where it goes on, and what was read.
#[derive(Default)]
struct Page {
    at: usize,
    start: Option<Cursor>,
    items: Vec<Item>,
    evaluated: usize,
    bytes: usize,
    report: AccessReport,
    /// The key attributes of what was read last by a get.
    last_key: Option<Item>,
}

/// The end of a page.
enum End {
    /// Nothing is left.
    All,
    /// A limit ended it.
    Limit,
    /// The allowance of the thread is used up.
    Allowance,
}

/// Finds the table and the index of a SELECT.
///
/// # Errors
///
/// * ResourceNotFoundException: there is no such table.
/// * ValidationException: there is no such index, or its key has several attributes of a kind, or it
///   is not read consistently.
fn find_target(engine: &ScopedEngine, asked: &Asked) -> Result<Target> {
    let table = table::find(engine, &asked.named.table)?;
    let index = asked.named.index.as_deref();
    let target = Target::find(table, index).map_err(|error| match index {
        Some(name) if error.message == texts::index_not_found(name) => {
            Error::validation(texts::STATEMENT_INDEX_NOT_FOUND)
        }
        Some(_) | None => error,
    })?;
    if index.is_some() && (target.partition().len() > 1 || target.sort().len() > 1) {
        return Err(Error::validation(texts::MULTI_ATTRIBUTE_INDEX));
    }
    if asked.consistent && target.global_index().is_some() {
        return Err(Error::validation(texts::CONSISTENT_STATEMENT));
    }
    Ok(target)
}

/// Finds the table of a SELECT, and its columns. A fault of the columns is told before that there is no
/// such table, but not before that statements do not read the index.
///
/// # Errors
///
/// * Those of [`find_target`].
/// * ValidationException: the projection has what is no column.
pub(super) fn target_and_columns(
    engine: &ScopedEngine,
    asked: &Asked,
    select: &Select,
) -> Result<(Target, Columns)> {
    let target = find_target(engine, asked);
    match (target, Columns::of(select)) {
        (Ok(target), columns) => Ok((target, columns?)),
        (Err(error), _) if error.message == texts::MULTI_ATTRIBUTE_INDEX => Err(error),
        (Err(error), columns) => Err(columns.err().unwrap_or(error)),
    }
}

/// Plans a SELECT.
///
/// # Errors
///
/// * Those of [`target_and_columns`].
/// * ValidationException: WHERE or ORDER BY do not fit the table.
pub(super) fn plan(
    engine: &ScopedEngine,
    asked: &Asked,
    select: &Select,
    options: PageOptions,
) -> Result<Selecting> {
    select.check_clauses()?;
    if select.filter.is_none() && !select.order.is_empty() {
        return Err(Error::validation(texts::ORDER_BY_WITHOUT_WHERE));
    }
    let filter = select.filter.as_ref();
    let condition =
        filter.map(|filter| partiql::condition(filter, &asked.parameters)).transpose()?;
    let (target, columns) = target_and_columns(engine, asked, select)?;
    let mut paths: Vec<&Path> = columns.paths().collect();
    if let Some(condition) = &condition {
        of_condition(condition, &mut paths);
    }
    check_key_paths(&target.table.schema, paths)?;
    let reads = Reads::of(condition, &target)?.ordered(&select.order, &target)?;
    let fetch_base = check_index(&target, &columns, &reads)?;
    let mut page = Page::default();
    if let Some(text) = &options.next_token {
        let token = NextToken::read(text, asked.request)?;
        (page.at, page.start) = (token.read, token.cursor);
    }
    Ok(Selecting {
        engine: (**engine).clone(),
        view: engine.snapshot()?,
        target,
        reads,
        columns,
        fetch_base,
        consistent: asked.consistent,
        request: asked.request,
        detail: options.detail,
        limit: options.limit,
        page,
    })
}

/// Checks that an index has what a SELECT needs; returns true if the items behind the entries of a
/// local one are needed.
fn check_index(target: &Target, columns: &Columns, reads: &Reads) -> Result<bool> {
    let Some(index) = target.index_name() else { return Ok(false) };
    let attributes = columns.attributes().into_iter();
    let missing: Vec<&str> = attributes.filter(|attribute| !target.holds(attribute)).collect();
    if target.global_index().is_some() && !missing.is_empty() {
        return Err(Error::validation(texts::not_projected(index, &missing)));
    }
    // Only a condition on the partition that stands beside the filter counts.
    if matches!(reads, Reads::Keyed(_, direction) if !direction.is_any) {
        let mut paths = Vec::new();
        for filter in reads.filters() {
            of_condition(filter, &mut paths);
        }
        let mut lacking: Vec<&str> = Vec::new();
        for path in paths {
            if !target.holds(&path.attribute) && !lacking.contains(&path.attribute.as_str()) {
                lacking.push(&path.attribute);
            }
        }
        if !lacking.is_empty() {
            return Err(Error::validation(texts::filter_not_projected(index, &lacking)));
        }
    }
    Ok(!missing.is_empty())
}

impl Reading for Selecting {
    fn go_on(&mut self, mut allowance: Allowance) -> Result<Option<Answered>> {
        let is_whole = allowance == Allowance::whole();
        let reads = std::mem::replace(&mut self.reads, Reads::Scan(None));
        let end = match &reads {
            // The thread that serves connections begins neither of these.
            Reads::Scan(_) if !is_whole => Ok(End::Allowance),
            Reads::Scan(filter) => self.scan(filter.clone()),
            Reads::Keyed(keyed, direction) => self.keyed(keyed, *direction, &mut allowance),
        };
        self.reads = reads;
        match end? {
            End::Allowance => Ok(None),
            End::All => self.encode(false).map(Some),
            End::Limit => self.encode(true).map(Some),
        }
    }
}

impl Selecting {
    fn index(&self) -> Option<String> {
        self.target.index_name().map(str::to_owned)
    }

    /// Returns how many items may still be read on this page.
    fn rows_left(&self, is_in: bool) -> Option<usize> {
        let most = if is_in { Some(IN_PAGE_ITEMS_MAX) } else { None };
        let most = match (self.limit, most) {
            (Some(limit), Some(most)) => Some(limit.min(most)),
            (limit, most) => limit.or(most),
        };
        most.map(|most| most.saturating_sub(self.page.evaluated))
    }

    fn scan(&mut self, filter: Option<shelfmark_model::Condition>) -> Result<End> {
        let scan = Scan {
            index: self.index(),
            limit: self.limit,
            bytes_max: Some(PAGE_SIZE_BYTES_MAX),
            start: self.page.start.take(),
            ..Scan::default()
        };
        let selected = Selected {
            projection: self.columns.projection(),
            count_only: false,
            fetch_base: self.fetch_base,
        };
        let page = scan::run(&self.engine, &self.target, scan, filter, selected);
        Ok(self.add(page.map_err(of_cursor)?))
    }

    /// Reads one range after the other.
    fn keyed(
        &mut self,
        reads: &[Read],
        direction: Direction,
        allowance: &mut Allowance,
    ) -> Result<End> {
        while let Some(read) = reads.get(self.page.at) {
            let rows = self.rows_left(direction.is_in);
            let bytes = PAGE_SIZE_BYTES_MAX.saturating_sub(self.page.bytes);
            if rows == Some(0) || bytes == 0 {
                return Ok(End::Limit);
            }
            if allowance.rows() == 0 {
                return Ok(End::Allowance);
            }
            if self.is_get(read) {
                let bytes = self.get(read)?;
                allowance.spend(1, bytes);
                self.page.at += 1;
                continue;
            }
            let mut query = self.query(read, direction);
            query.limit = Some(rows.unwrap_or(usize::MAX).min(allowance.rows()));
            query.bytes_max = Some(bytes.min(allowance.bytes()));
            let page = self.view.query(&self.target.table, &query).map_err(of_cursor)?;
            let read_bytes = usize::try_from(page.report.bytes_read()).unwrap_or(usize::MAX);
            let is_full = rows.is_some_and(|rows| page.evaluated >= rows) || read_bytes >= bytes;
            if page.cursor.is_some() && !is_full {
                // It is read again where there is more room: capacity is rounded once a read.
                return Ok(End::Allowance);
            }
            allowance.spend(page.evaluated, read_bytes);
            if let End::Limit = self.add(page) {
                return Ok(End::Limit);
            }
            self.page.at += 1;
        }
        Ok(End::All)
    }

    /// Returns true if a read is of one item of the table.
    fn is_get(&self, read: &Read) -> bool {
        let columns = self.target.sort().len();
        let is_point = matches!(&read.sort, SortCondition::Equal(equal) if equal.len() == columns);
        is_point && self.target.index_name().is_none()
    }

    /// Reads one item; returns its size.
    fn get(&mut self, read: &Read) -> Result<usize> {
        let mut key = vec![read.partition.clone()];
        if let SortCondition::Equal(equal) = &read.sort {
            key.extend(equal.iter().cloned());
        }
        let names = self.target.table.schema.key_names().map(str::to_owned);
        let position: Item = names.zip(key).collect();
        let key = table::read_key(&self.target.table, position.clone())?;
        let got = self.view.get(&self.target.table, &Get { key, projection: Projection::All })?;
        let bytes = usize::try_from(got.report.bytes_read()).unwrap_or(usize::MAX);
        self.page.bytes = self.page.bytes.saturating_add(bytes);
        self.page.report.extend(got.report);
        if got.item.is_some() {
            self.page.evaluated += 1;
            self.page.last_key = Some(position);
        }
        let holds = |item: &Item| read.filter.as_ref().is_none_or(|filter| filter.holds(item));
        if let Some(item) = got.item.filter(holds) {
            self.page.items.push(self.columns.apply(item));
        }
        Ok(bytes)
    }

    fn query(&mut self, read: &Read, direction: Direction) -> Query {
        Query {
            index: self.index(),
            partition: vec![read.partition.clone()],
            sort: read.sort.clone(),
            descending: direction.descending,
            filter: read.filter.clone(),
            projection: self.columns.projection(),
            start: self.page.start.clone(),
            fetch_base: self.fetch_base,
            ..Query::partition(Vec::new())
        }
    }

    /// Adds a page of a read to this one.
    fn add(&mut self, page: ResultPage) -> End {
        let own = &mut self.page;
        let bytes = usize::try_from(page.report.bytes_read()).unwrap_or(usize::MAX);
        own.bytes = own.bytes.saturating_add(bytes);
        own.evaluated += page.evaluated;
        own.items.extend(page.items.into_iter().map(|item| self.columns.apply(item)));
        own.report.extend(page.report);
        own.start = page.cursor;
        own.last_key = None;
        if own.start.is_some() { End::Limit } else { End::All }
    }

    fn encode(&mut self, is_cut: bool) -> Result<Answered> {
        let page = std::mem::take(&mut self.page);
        let index = self.target.index_name();
        let mut next = None;
        if is_cut {
            let key = match (&page.start, page.last_key) {
                (Some(cursor), _) => Some(self.target.table.cursor_key(index, cursor)?),
                (None, last) => last,
            };
            let token =
                NextToken { request: self.request, read: page.at, cursor: page.start.clone() };
            next = Some((token.text(), key));
        }
        let local = index.map(|_| self.target.local_index().is_some());
        Ok(Writer::answer(|out| {
            out.name("Items").list(|out| page.items.iter().for_each(|item| put_item(out, item)));
            if let Some((token, key)) = &next {
                out.name("NextToken").text(token);
                if let Some(key) = key {
                    out.name("LastEvaluatedKey");
                    put_item(out, key);
                }
            }
            if self.detail.is_wanted() {
                out.name("ConsumedCapacity");
                let consumed = Consumed::page(&page.report, local, self.consistent);
                consumed.put(out, &self.target.table.schema.name.name, self.detail);
            }
        })
        .reporting(page.report))
    }
}

/// Words a cursor that the read does not take.
fn of_cursor(error: shelfmark_engine::Error) -> Error {
    if error.kind() == shelfmark_engine::ErrorKind::Invalid {
        return Error::validation(texts::START_KEY_INVALID);
    }
    error.into()
}

//! DescribeContributorInsights, UpdateContributorInsights and ListContributorInsights.
//!
//! Whether insights are on is kept and shown; nothing is counted.

use std::sync::Arc;

use shelfmark_engine::Table;
use shelfmark_model::TableName;

use super::resource::change_meta;
use crate::auth::Access;
use crate::describe::put_seconds;
use crate::errors::{Error, Result, texts};
use crate::face::{Face, RequestHead};
use crate::json::{Reader, Writer};
use crate::limits::LIST_TABLES_MAX;
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{self, Insights, Meta};

const MODES: [&str; 2] = ["ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"];

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    index: Option<String>,
    action: Option<String>,
    mode: Option<String>,
}

/// Answers DescribeContributorInsights.
pub(super) fn describe(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, false)?;
    let table = find(face, &request)?;
    let index = request.index.unwrap_or_default();
    let insights = Meta::of(&table).tools.insights.remove(&index);
    Ok(Writer::answer(|out| {
        put_name(out, &table.schema.name.name, &index);
        let insights = insights.unwrap_or_default();
        if insights.enabled {
            let rules = rules(&table, &index, &insights);
            out.name("ContributorInsightsRuleList")
                .list(|out| rules.iter().for_each(|rule| out.text(rule)));
        }
        put_status(out, &insights, if insights.enabled { "ENABLED" } else { "DISABLED" });
        if insights.updated_ms > 0 {
            put_seconds(out.name("LastUpdateDateTime"), insights.updated_ms);
        }
    }))
}

/// Answers UpdateContributorInsights. Without a mode it is switched on for all keys, as on the
/// service.
pub(super) fn update(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, true)?;
    let table = find(face, &request)?;
    let index = request.index.unwrap_or_default();
    let before = Meta::of(&table).tools.insights.remove(&index).unwrap_or_default();
    let now_ms = face.now_ms();
    let enabled = request.action.as_deref() == Some("ENABLE");
    let throttled_only = match enabled {
        true => request.mode.as_deref() == Some("THROTTLED_KEYS"),
        false => before.throttled_only,
    };
    let created_ms = if before.enabled { before.created_ms } else { now_ms };
    let after = Insights { enabled, throttled_only, updated_ms: now_ms, created_ms };
    let status = match (before.enabled, enabled, before.throttled_only == throttled_only) {
        (true, true, true) => "ENABLED",
        (_, true, _) => "ENABLING",
        (true, false, _) => "DISABLING",
        (false, false, _) => "DISABLED",
    };
    let (name, kept) = (index.clone(), after.clone());
    change_meta(face, &table.schema.name.name, move |meta| {
        meta.tools.insights.insert(name, kept);
    })?;
    Ok(Writer::answer(|out| {
        put_name(out, &table.schema.name.name, &index);
        put_status(out, &after, status);
    }))
}

/// Answers ListContributorInsights with the tables and indexes that they were ever switched on for.
pub(super) fn list(face: &Face, head: &RequestHead<'_>, body: &[u8]) -> Result<Answered> {
    let (mut table, mut limit, mut token) = (None, None, None);
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => table = reader.text()?,
            "MaxResults" => limit = reader.integer()?,
            "NextToken" => token = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    if table.is_some() {
        shape.table("TableName", table.as_deref());
    }
    shape.range("MaxResults", limit, i64::MIN, i64::try_from(LIST_TABLES_MAX).ok());
    shape.check()?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(LIST_TABLES_MAX);
    let limit = limit.max(1);
    let start = token.as_deref().and_then(|token| token.split_once('/'));
    let mut found: Vec<Listed> = Vec::new();
    match &table {
        Some(name) => collect(table::find_own(&face.engine, name)?, start, &mut found),
        None => collect_all(face, head, start, limit, &mut found)?,
    }
    let has_more = found.len() > limit;
    found.truncate(limit);
    Ok(Writer::answer(|out| {
        out.name("ContributorInsightsSummaries").list(|out| {
            for (table, index, insights) in &found {
                out.object(|out| {
                    put_name(out, &table.schema.name.name, index);
                    put_status(out, insights, "ENABLED");
                });
            }
        });
        if let Some((table, index, _)) = found.last().filter(|_| has_more) {
            out.name("NextToken").text(&format!("{}/{index}", table.schema.name.name));
        }
    }))
}

/// A table or, by its name, one of its indexes, with its insights.
type Listed = (Arc<Table>, String, Insights);

/// Adds those of all tables behind a place, one more than a page has if there are so many.
fn collect_all(
    face: &Face,
    head: &RequestHead<'_>,
    start: Option<(&str, &str)>,
    limit: usize,
    found: &mut Vec<Listed>,
) -> Result<()> {
    let may = |name: &TableName| head.policy.is_none_or(|own| own.allows(Access::Read, &name.name));
    let mut after = start.map(|(name, _)| face.engine.table_name(name));
    // The table of the place itself may be gone by now.
    let own = after.as_ref().filter(|name| may(name));
    if let Some(Ok(table)) = own.map(|name| face.engine.table(name)) {
        collect(table, start, found);
    }
    while found.len() <= limit {
        let names = face.engine.table_names(Some(face.engine.set_name()), after.as_ref(), 1)?;
        let Some(name) = names.into_iter().next() else { break };
        if may(&name) {
            collect(face.engine.table(&name)?, None, found);
        }
        after = Some(name);
    }
    Ok(())
}

/// Adds those of a table, behind the index of a place; the table itself comes before its indexes.
fn collect(table: Arc<Table>, start: Option<(&str, &str)>, found: &mut Vec<Listed>) {
    let insights = Meta::of(&table).tools.insights.into_iter();
    let is_behind = |index: &str| start.is_none_or(|(_, last)| index > last);
    let listed = insights.filter(|(index, own)| own.enabled && is_behind(index));
    found.extend(listed.map(|(index, insights)| (Arc::clone(&table), index, insights)));
}

fn find(face: &Face, request: &Request) -> Result<Arc<Table>> {
    let table = table::find_own(&face.engine, request.table.as_deref().unwrap_or_default())?;
    match &request.index {
        Some(index) if table.schema.index(index).is_none() || Meta::is_local_in(&table, index) => {
            let text = texts::insights_of_no_index(index, &table.schema.name.name);
            Err(Error::new(crate::errors::Exception::ResourceNotFound, text))
        }
        _ => Ok(table),
    }
}

fn put_name(out: &mut Writer, table: &str, index: &str) {
    out.name("TableName").text(table);
    if !index.is_empty() {
        out.name("IndexName").text(index);
    }
}

fn put_status(out: &mut Writer, insights: &Insights, status: &str) {
    out.name("ContributorInsightsStatus").text(status);
    if insights.updated_ms > 0 {
        let mode = usize::from(insights.throttled_only);
        out.name("ContributorInsightsMode").text(MODES.get(mode).copied().unwrap_or_default());
    }
}

/// Returns the names of the rules that the service would have made.
fn rules(table: &Table, index: &str, insights: &Insights) -> Vec<String> {
    let has_sort = match table.schema.index(index) {
        Some(own) => !own.sort.is_empty(),
        None => !table.schema.sort.is_empty(),
    };
    let target = match index {
        "" => table.schema.name.name.clone(),
        index => format!("{}-{index}", table.schema.name.name),
    };
    let kinds =
        [("PKC", true, false), ("SKC", true, true), ("PKT", false, false), ("SKT", false, true)];
    let wanted = kinds.into_iter().filter(|(_, is_access, is_sort)| {
        !(*is_access && insights.throttled_only || *is_sort && !has_sort)
    });
    let created = insights.created_ms;
    wanted
        .map(|(kind, ..)| format!("DynamoDBContributorInsights-{kind}-{target}-{created}"))
        .collect()
}

fn parse(body: &[u8], updates: bool) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => request.table = reader.text()?,
            "IndexName" => request.index = reader.text()?,
            "ContributorInsightsAction" => request.action = reader.text()?,
            "ContributorInsightsMode" => request.mode = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.table("TableName", request.table.as_deref());
    shape.new_name("IndexName", request.index.as_deref());
    if updates {
        shape.required("ContributorInsightsAction", request.action.is_some());
        let action = request.action.as_deref();
        shape.one_of("ContributorInsightsAction", action, &["ENABLE", "DISABLE"]);
        shape.one_of("ContributorInsightsMode", request.mode.as_deref(), &MODES);
    }
    shape.check()?;
    Ok(request)
}

//! TagResource, UntagResource and ListTagsOfResource, for tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_engine::{Share, Table};

use super::table_request::{self, Tag};
use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::{NAME_CHARS_MIN, TAGS_MAX};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{self, Meta, SHARE_TAG};

#[derive(Debug, Default)]
struct Request {
    arn: Option<String>,
    tags: Option<Vec<Tag>>,
    keys: Option<Vec<String>>,
}

/// Answers TagResource.
pub(super) fn tag(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(face, "TagResource", body, |request, shape| {
        shape.required("Tags", request.tags.is_some());
        table_request::shape_tags(request.tags.as_deref().unwrap_or_default(), shape);
    })?;
    check_table_arn(request.arn.as_deref())?;
    if request.tags.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::validation(texts::TAGS_EMPTY));
    }
    let table = table::own(find(face, request.arn.as_deref())?)?;
    let tags = collect(request.tags.unwrap_or_default())?;
    let mut all = Meta::of(&table).tags;
    all.extend(tags.clone());
    check_count(&all)?;
    change(face, &table, move |meta| meta.tags.extend(tags))
}

/// Answers UntagResource.
pub(super) fn untag(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(face, "UntagResource", body, |request, shape| {
        shape.required("TagKeys", request.keys.is_some());
    })?;
    check_table_arn(request.arn.as_deref())?;
    if request.keys.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::validation(texts::TAG_KEYS_EMPTY));
    }
    let table = table::own(find(face, request.arn.as_deref())?)?;
    let keys = request.keys.unwrap_or_default();
    change(face, &table, move |meta| meta.tags.retain(|key, _| !keys.contains(key)))
}

/// Answers ListTagsOfResource.
pub(super) fn list(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(face, "ListTagsOfResource", body, |_, _| {})?;
    check_table_arn(request.arn.as_deref())?;
    let table = find(face, request.arn.as_deref())?;
    let meta = Meta::of(&table);
    Ok(Writer::answer(|out| {
        out.name("Tags").list(|out| {
            for (key, value) in &meta.tags {
                out.object(|out| {
                    out.name("Key").text(key);
                    out.name("Value").text(value);
                });
            }
        });
    }))
}

/// Collects tags in a map; none may stand twice.
pub(super) fn collect(given: Vec<Tag>) -> Result<BTreeMap<String, String>> {
    let mut tags = BTreeMap::new();
    for tag in given {
        let (key, value) = (tag.key.unwrap_or_default(), tag.value.unwrap_or_default());
        if tags.contains_key(&key) {
            return Err(Error::validation(texts::tag_twice(&key)));
        }
        if key.starts_with("aws:") {
            return Err(Error::validation(texts::TAG_RESERVED));
        }
        if !(is_tag_text(&key) && is_tag_text(&value)) {
            return Err(Error::validation(texts::TAG_LETTERS));
        }
        if key == SHARE_TAG && Share::of_word(&value).is_none() {
            return Err(Error::validation(texts::tag_of_share(&value)));
        }
        tags.insert(key, value);
    }
    check_count(&tags)?;
    Ok(tags)
}

fn check_count(tags: &BTreeMap<String, String>) -> Result<()> {
    if tags.len() > TAGS_MAX {
        return Err(Error::validation(texts::TAGS_TOO_MANY));
    }
    Ok(())
}

/// Returns true if a text has only characters that tags may have. Source: "Tag naming restrictions"
/// of the Developer Guide, read 2026-11: letters, white space and numbers, and these signs.
fn is_tag_text(text: &str) -> bool {
    text.chars().all(|letter| {
        letter.is_alphanumeric() || letter.is_whitespace() || "+-=._:/@".contains(letter)
    })
}

/// Reads a request. An ARN that is none at all is a matter of access, before anything else is said
/// about the request.
fn parse(
    face: &Face,
    operation: &str,
    body: &[u8],
    check: impl FnOnce(&Request, &mut Shape),
) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "ResourceArn" => request.arn = reader.text()?,
            "Tags" => request.tags = table_request::read_tags(reader)?,
            "TagKeys" => request.keys = reader.texts()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let Some(arn) = &request.arn else { return Err(Error::validation(texts::ARN_MISSING)) };
    if !is_arn(arn) {
        let text = texts::access_denied(&face.options.account, operation, arn);
        return Err(Error::new(Exception::AccessDenied, text));
    }
    let mut shape = Shape::default();
    check(&request, &mut shape);
    shape.check()?;
    Ok(request)
}

/// Returns true if a text has an ARN's form: six parts separated by colons, none empty, and a slash
/// inside the last.
fn is_arn(text: &str) -> bool {
    let mut parts = text.splitn(6, ':');
    let filled = parts.by_ref().take(5).filter(|part| !part.is_empty()).count();
    let path = parts.next().and_then(|last| last.split_once('/'));
    filled == 5 && path.is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty())
}

/// Refuses an ARN of something other than a table.
fn check_table_arn(arn: Option<&str>) -> Result<()> {
    let arn = arn.unwrap_or_default();
    let table = arn
        .strip_prefix("arn:aws:dynamodb:")
        .and_then(|rest| rest.splitn(3, ':').nth(2))
        .and_then(|resource| resource.strip_prefix("table/"));
    let fits =
        table.is_some_and(|name| name.chars().count() >= NAME_CHARS_MIN && !name.contains('/'));
    if fits { Ok(()) } else { Err(Error::validation(texts::invalid_arn(arn))) }
}

/// Finds the table of an ARN: one of DynamoDB's, or `keyspace.table` of another face.
fn find(face: &Face, arn: Option<&str>) -> Result<Arc<Table>> {
    let arn = arn.unwrap_or_default();
    table::find_or(&face.engine, arn, |_| texts::resource_not_found(arn))
}

fn change(face: &Face, table: &Table, change: impl FnOnce(&mut Meta)) -> Result<Answered> {
    face.engine.alter_options(&table.schema.name, |options| {
        let mut meta = Meta::read(&options.face);
        change(&mut meta);
        meta.put(&mut options.face);
    })?;
    // The service answers with nothing at all.
    Ok(Answered::default())
}

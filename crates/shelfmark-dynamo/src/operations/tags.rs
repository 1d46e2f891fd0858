//! TagResource, UntagResource and ListTagsOfResource, for tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_engine::{ErrorKind, Table};

use super::table_request::{self, Tag};
use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::TAGS_MAX;
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{Meta, name_of, table_name};

#[derive(Debug, Default)]
struct Request {
    arn: Option<String>,
    tags: Option<Vec<Tag>>,
    keys: Option<Vec<String>>,
}

/// Answers TagResource.
pub(super) fn tag(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, |request, shape| {
        shape.required("Tags", request.tags.is_some());
        table_request::shape_tags(request.tags.as_deref().unwrap_or_default(), shape);
    })?;
    let table = find(face, request.arn.as_deref())?;
    let tags = collect(request.tags.unwrap_or_default())?;
    let mut all = Meta::of(&table).tags;
    all.extend(tags.clone());
    check_count(&all)?;
    change(face, &table, move |meta| meta.tags.extend(tags))
}

/// Answers UntagResource.
pub(super) fn untag(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, |request, shape| {
        shape.required("TagKeys", request.keys.is_some());
    })?;
    let table = find(face, request.arn.as_deref())?;
    let keys = request.keys.unwrap_or_default();
    change(face, &table, move |meta| meta.tags.retain(|key, _| !keys.contains(key)))
}

/// Answers ListTagsOfResource.
pub(super) fn list(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, |_, _| {})?;
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

/// Puts tags into a map; none may stand there twice.
pub(super) fn collect(given: Vec<Tag>) -> Result<BTreeMap<String, String>> {
    let mut tags = BTreeMap::new();
    for tag in given {
        let (key, value) = (tag.key.unwrap_or_default(), tag.value.unwrap_or_default());
        if tags.contains_key(&key) {
            return Err(Error::validation(texts::tag_twice(&key)));
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

fn parse(body: &[u8], check: impl FnOnce(&Request, &mut Shape)) -> Result<Request> {
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
    let mut shape = Shape::default();
    shape.required("ResourceArn", request.arn.is_some());
    check(&request, &mut shape);
    shape.check()?;
    Ok(request)
}

fn find(face: &Face, arn: Option<&str>) -> Result<Arc<Table>> {
    let arn = arn.unwrap_or_default();
    if !arn.starts_with("arn:") || !arn.contains(":table/") {
        return Err(Error::validation(texts::invalid_arn(arn)));
    }
    face.engine.table(&table_name(name_of(arn))).map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            return Error::new(Exception::ResourceNotFound, texts::resource_not_found(arn));
        }
        error.into()
    })
}

fn change(face: &Face, table: &Table, change: impl FnOnce(&mut Meta)) -> Result<Answered> {
    face.engine.alter_options(&table.schema.name, |options| {
        let mut meta = Meta::read(&options.face);
        change(&mut meta);
        options.face = meta.to_face();
    })?;
    // The service answers with nothing at all.
    Ok(Answered::default())
}

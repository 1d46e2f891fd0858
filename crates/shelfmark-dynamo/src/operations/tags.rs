//! TagResource, UntagResource and ListTagsOfResource, for tables and for their streams.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use shelfmark_engine::{Share, Table};

use super::resource::{Place, Resource, access_denied};
use super::table_request::{self, Tag};
use crate::errors::{Error, Result, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::{TAG_KEY_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{self, Meta, SHARE_TAG};

#[derive(Debug, Default)]
struct Request {
    arn: String,
    tags: Option<Vec<Tag>>,
    keys: Option<Vec<String>>,
}

/// Answers TagResource.
pub(super) fn tag(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, |request, shape| {
        shape.required("Tags", request.tags.is_some());
    })?;
    let resource = named(&request.arn)?;
    if request.tags.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::validation(texts::TAGS_EMPTY));
    }
    let table = table::own(find(face, &resource, &request.arn)?)?;
    let tags = collect(request.tags.unwrap_or_default())?;
    let mut all = tags_of(&mut Meta::of(&table), &resource.label).clone();
    all.extend(tags.clone());
    check_count(&all)?;
    change(face, &resource, move |own| own.extend(tags))
}

/// Answers UntagResource.
pub(super) fn untag(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, |request, shape| {
        shape.required("TagKeys", request.keys.is_some());
    })?;
    let resource = named(&request.arn)?;
    if request.keys.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::validation(texts::TAG_KEYS_EMPTY));
    }
    let keys = request.keys.unwrap_or_default();
    if keys.len() > TAGS_MAX {
        return Err(Error::validation(texts::TAGS_TOO_MANY));
    }
    if keys.iter().any(String::is_empty) {
        return Err(Error::validation(texts::tag_key_invalid("")));
    }
    table::own(find(face, &resource, &request.arn)?)?;
    change(face, &resource, move |own| own.retain(|key, _| !keys.contains(key)))
}

/// Answers ListTagsOfResource.
pub(super) fn list(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, |_, _| {})?;
    let resource = named(&request.arn)?;
    let table = find(face, &resource, &request.arn)?;
    let mut meta = Meta::of(&table);
    Ok(Writer::answer(|out| {
        out.name("Tags").list(|out| {
            for (key, value) in tags_of(&mut meta, &resource.label) {
                out.object(|out| {
                    out.name("Key").text(key);
                    out.name("Value").text(value);
                });
            }
        });
    }))
}

/// Returns the tags of a table, or of its stream of this label.
fn tags_of<'m>(meta: &'m mut Meta, label: &str) -> &'m mut BTreeMap<String, String> {
    match label {
        "" => &mut meta.tags,
        label => meta.tools.stream_tags.entry(label.to_owned()).or_default(),
    }
}

/// Collects tags in a map; none may stand twice.
pub(super) fn collect(given: Vec<Tag>) -> Result<BTreeMap<String, String>> {
    let mut tags = BTreeMap::new();
    for Tag { key, value } in given {
        let key = tag_text(key, 1..=TAG_KEY_CHARS_MAX, texts::tag_key_invalid)?;
        let value = tag_text(value, 0..=TAG_VALUE_CHARS_MAX, texts::tag_value_invalid)?;
        if tags.contains_key(&key) {
            return Err(Error::validation(texts::tag_twice(&key)));
        }
        if key.starts_with("aws:") {
            return Err(Error::validation(texts::tag_reserved(&key)));
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

/// Returns a key or a value that has as many letters as it may, and none but those it may; `refused` words
/// one that has not.
fn tag_text(
    text: Option<String>,
    letters: RangeInclusive<usize>,
    refused: fn(&str) -> String,
) -> Result<String> {
    let refuse = |text: &str| Error::validation(refused(text));
    let text = text.ok_or_else(|| refuse("null"))?;
    match letters.contains(&text.chars().count()) && is_tag_text(&text) {
        true => Ok(text),
        false => Err(refuse(&text)),
    }
}

/// Returns true if a text has only characters that tags may have. Source: "Tag naming restrictions"
/// of the Developer Guide, read 2026-11: letters, white space and numbers, and these signs.
fn is_tag_text(text: &str) -> bool {
    text.chars().all(|letter| {
        letter.is_alphanumeric() || letter.is_whitespace() || "+-=._:/@".contains(letter)
    })
}

/// Reads a request; the ARN is looked at behind the shape of the rest.
fn parse(body: &[u8], check: impl FnOnce(&Request, &mut Shape)) -> Result<Request> {
    let mut request = Request::default();
    let mut has_arn = false;
    Reader::body(body, |reader, name| {
        match name {
            "ResourceArn" => {
                let arn = reader.text()?;
                has_arn = arn.is_some();
                request.arn = arn.unwrap_or_default();
            }
            "Tags" => request.tags = table_request::read_tags(reader)?,
            "TagKeys" => request.keys = reader.texts()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    if !has_arn {
        return Err(Error::validation(texts::ARN_MISSING));
    }
    let mut shape = Shape::default();
    check(&request, &mut shape);
    shape.check()?;
    Ok(request)
}

/// Reads the ARN of a resource; one of another service is as one of another account.
fn named(arn: &str) -> Result<Resource> {
    match Resource::of_arn(arn) {
        Err(_) if arn.starts_with("arn:aws:") && !arn.starts_with("arn:aws:dynamodb:") => {
            Err(access_denied())
        }
        named => named,
    }
}

fn find(face: &Face, resource: &Resource, arn: &str) -> Result<Arc<Table>> {
    match resource.place(face) {
        Place::Here => resource.find_or(face, texts::resource_not_found(arn)),
        Place::Region => Err(Error::validation(texts::tagged_elsewhere(arn))),
        Place::Account => Err(access_denied()),
    }
}

fn change(
    face: &Face,
    resource: &Resource,
    change: impl FnOnce(&mut BTreeMap<String, String>),
) -> Result<Answered> {
    resource.change(face, |meta| {
        change(tags_of(meta, &resource.label));
        meta.tools.stream_tags.retain(|_, tags| !tags.is_empty());
    })?;
    // The service answers with nothing at all.
    Ok(Answered::default())
}

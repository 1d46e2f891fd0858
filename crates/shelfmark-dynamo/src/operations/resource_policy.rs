//! PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy.
//!
//! A policy is kept and shown. Where the server checks who its clients are a policy would have to be
//! enforced, and it is not: there it is refused.

use std::sync::Arc;

use shelfmark_engine::Table;

use super::resource::{Place, Resource};
use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::{POLICY_BYTES_MAX, RESOURCE_ARN_CHARS_MAX, REVISION_CHARS_MAX};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{Meta, StoredPolicy};

/// The revision that a client expects where it expects no policy.
const NO_POLICY: &str = "NO_POLICY";

#[derive(Debug, Default)]
struct Request {
    arn: Option<String>,
    policy: Option<String>,
    expected: Option<String>,
}

/// Answers PutResourcePolicy.
pub(super) fn put(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, true)?;
    let arn = request.arn.as_deref().unwrap_or_default();
    let resource = Resource::of_arn(arn)?;
    let document = checked(face, request.policy.unwrap_or_default())?;
    let table = find(face, &resource, request.arn.as_deref().unwrap_or_default())?;
    let mut policies = Meta::of(&table).tools.policies;
    let current = policies.remove(&resource.label);
    check_expected(&resource, request.expected.as_deref(), current.as_ref())?;
    let policy = match current {
        // The same document again is no change.
        Some(current) if current.document == document => return Ok(revised(&current.revision)),
        current => StoredPolicy { document, revision: next_revision(face, current.as_ref()) },
    };
    let revision = policy.revision.clone();
    let label = resource.label.clone();
    resource.change(face, move |meta| drop(meta.tools.policies.insert(label, policy)))?;
    Ok(revised(&revision))
}

/// Answers GetResourcePolicy.
pub(super) fn get(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, false)?;
    let arn = request.arn.as_deref().unwrap_or_default();
    let resource = Resource::of_arn(arn)?;
    let table = find(face, &resource, request.arn.as_deref().unwrap_or_default())?;
    let Some(policy) = Meta::of(&table).tools.policies.remove(&resource.label) else {
        return Err(Error::new(Exception::PolicyNotFound, texts::policy_not_found(arn)));
    };
    Ok(Writer::answer(|out| {
        out.name("Policy").text(&policy.document);
        out.name("RevisionId").text(&policy.revision);
    }))
}

/// Answers DeleteResourcePolicy. That there is none is fine, unless a revision is expected.
pub(super) fn delete(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, false)?;
    let resource = Resource::of_arn(request.arn.as_deref().unwrap_or_default())?;
    let table = find(face, &resource, request.arn.as_deref().unwrap_or_default())?;
    let current = Meta::of(&table).tools.policies.remove(&resource.label);
    check_expected(&resource, request.expected.as_deref(), current.as_ref())?;
    let Some(current) = current else { return Ok(Writer::answer(|_| {})) };
    let label = resource.label.clone();
    resource.change(face, move |meta| drop(meta.tools.policies.remove(&label)))?;
    // The revision of that there is none.
    Ok(revised(&next_revision(face, Some(&current))))
}

/// Returns the policy that a new table is to have.
pub(super) fn of_new_table(face: &Face, document: String) -> Result<StoredPolicy> {
    Ok(StoredPolicy { document: checked(face, document)?, revision: next_revision(face, None) })
}

fn find(face: &Face, resource: &Resource, arn: &str) -> Result<Arc<Table>> {
    match resource.place(face) {
        Place::Region => Err(Error::validation(texts::arn_elsewhere(arn))),
        Place::Account => Err(Error::validation(texts::POLICY_OF_ANOTHER_ACCOUNT)),
        Place::Here => resource.find(face).map_err(|error| {
            match error.message == texts::stream_not_found(arn) {
                true => {
                    let text = texts::labelled_stream_not_found(&resource.label, &resource.table);
                    Error::new(Exception::ResourceNotFound, text)
                }
                false => error,
            }
        }),
    }
}

fn revised(revision: &str) -> Answered {
    Writer::answer(|out| out.name("RevisionId").text(revision))
}

/// Refuses a document that is none, and every document where it would have to be enforced.
fn checked(face: &Face, document: String) -> Result<String> {
    if face.asks_for_credentials() {
        return Err(Error::validation(texts::not_supported(
            "A resource policy beside `--credentials`, which would have to be enforced,",
        )));
    }
    if document.len() > POLICY_BYTES_MAX {
        return Err(Error::validation(texts::POLICY_TOO_LARGE));
    }
    check_document(&document)?;
    Ok(document)
}

/// Checks that a document is one; what it says is not looked at. Source of the words: answers of the service,
/// October 2026.
fn check_document(document: &str) -> Result<()> {
    let refuse = |why: &str| Err(Error::validation(texts::policy_is_none(why)));
    if document.trim() == "null" {
        return refuse("This text appears not to be a policy");
    }
    let mut has_member = false;
    let read = Reader::body(document.as_bytes(), |reader, _| {
        has_member = true;
        reader.skip()
    });
    match read {
        Err(_) => Err(Error::validation(texts::POLICY_IS_NO_JSON)),
        Ok(_) if !has_member => refuse("Syntax error at position (1,3)"),
        Ok(_) => Ok(()),
    }
}

/// Returns a revision that no earlier one of the resource was.
fn next_revision(face: &Face, current: Option<&StoredPolicy>) -> String {
    let last = current.and_then(|current| current.revision.parse::<i64>().ok());
    face.now_ms().max(last.map_or(0, |last| last + 1)).to_string()
}

fn check_expected(
    resource: &Resource,
    expected: Option<&str>,
    current: Option<&StoredPolicy>,
) -> Result<()> {
    let table = &resource.table;
    let text = match (expected, current) {
        (None, _) | (Some(NO_POLICY), None) => return Ok(()),
        (Some(expected), Some(current)) if expected == current.revision => return Ok(()),
        (Some(NO_POLICY), Some(current)) => texts::policy_is_there(table, &current.revision),
        (Some(expected), Some(current)) => {
            texts::policy_is_another(table, expected, &current.revision)
        }
        (Some(expected), None) => texts::policy_is_gone(table, expected),
    };
    Err(Error::new(Exception::PolicyNotFound, text))
}

fn parse(body: &[u8], has_policy: bool) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "ResourceArn" => request.arn = reader.text()?,
            "Policy" => request.policy = reader.text()?,
            "ExpectedRevisionId" => request.expected = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("ResourceArn", request.arn.is_some());
    let arn = request.arn.as_deref().unwrap_or("-");
    shape.text("ResourceArn", arn, 1, RESOURCE_ARN_CHARS_MAX);
    if has_policy {
        shape.required("Policy", request.policy.is_some());
    }
    let expected = request.expected.as_deref().unwrap_or("-");
    shape.text("ExpectedRevisionId", expected, 1, REVISION_CHARS_MAX);
    shape.check()?;
    Ok(request)
}

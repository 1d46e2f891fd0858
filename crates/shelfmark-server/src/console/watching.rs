//! Takes requests that ended, of both faces, into the metrics and into the notes of slow and refused ones.
//!
//! Invariant: nothing of a value is noted: of a refusal its kind, never its words.

use std::sync::Arc;
use std::time::Duration;

use shelfmark_admin::{ConnectionEntry, ConnectionList, Noted, Watch};
use shelfmark_cql::{EndedRequest, Ending, Watcher};
use shelfmark_engine::{AccessReport, Environment};

use super::metrics::{self, Class};
use crate::connection_slots::ConnectionSlots;

/// Bytes of a body that are searched for the table's name.
const NAME_SEARCH_BYTES_MAX: usize = 64 * 1024;

/// Returns the watcher of a CQL face, for [`shelfmark_cql::FaceOptions::watcher`].
#[must_use]
pub fn cql_watcher(watch: Watch, environment: Environment) -> Arc<dyn Watcher> {
    Arc::new(CqlWatcher { watch, environment })
}

struct CqlWatcher {
    watch: Watch,
    environment: Environment,
}

impl std::fmt::Debug for CqlWatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CqlWatcher").finish_non_exhaustive()
    }
}

impl Watcher for CqlWatcher {
    fn ended(&self, request: &EndedRequest<'_>) {
        let (class, refusal) = match request.ending {
            Ending::Done => (Class::Ok, None),
            Ending::Refused(error) => (Class::Refused, Some(format!("{:?}", error.code))),
            Ending::Failed(error) => (Class::Failed, Some(format!("{:?}", error.code))),
        };
        metrics::request("cql", request.operation, class, request.took);
        metrics::rows("cql", request.report);
        if let Some(error) = &refusal {
            metrics::refusal("cql", error);
        }
        if self.watch.wants(request.took, refusal.is_some()) {
            self.watch.note(&Noted {
                face: "cql",
                operation: request.operation,
                table: request.table.as_deref(),
                refusal: refusal.as_deref(),
                took: request.took,
                report: request.report,
                now_micros: self.environment.clock.now_micros(),
            });
        }
    }
}

/// A request of DynamoDB that ended.
pub(crate) struct EndedOperation<'r> {
    pub(crate) operation: &'static str,
    pub(crate) status: u16,
    pub(crate) took: Duration,
    /// The cost: rows and ranges read.
    pub(crate) report: &'r AccessReport,
    /// The body that it was sent, as far as it was read.
    pub(crate) asked: &'r [u8],
    /// The beginning of the body of a refusal.
    pub(crate) refused: Option<&'r [u8]>,
}

/// Takes a request of DynamoDB that ended.
pub(crate) fn ended(watch: Option<&(Watch, Environment)>, request: &EndedOperation<'_>) {
    let class = Class::of(request.status);
    metrics::request("dynamodb", request.operation, class, request.took);
    let Some((watch, environment)) = watch else { return };
    metrics::rows("dynamodb", request.report);
    let refusal = request.refused.map(|body| exception(body).unwrap_or("unknown"));
    if let Some(error) = refusal {
        metrics::refusal("dynamodb", error);
    }
    // A condition that does not hold is an answer like another.
    let is_refused = refusal.is_some_and(|error| error != "ConditionalCheckFailedException");
    if watch.wants(request.took, is_refused) {
        watch.note(&Noted {
            face: "dynamodb",
            operation: request.operation,
            table: table(request.asked),
            refusal,
            took: request.took,
            report: request.report,
            now_micros: environment.clock.now_micros(),
        });
    }
}

/// Returns the name of the exception that a refusal is: the part behind `#` of its `__type`.
fn exception(body: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(body.get(..body.len().min(256))?).ok()?;
    let (_, kind) = text.split_once("\"__type\":\"")?;
    let kind = kind.split('"').next()?;
    let name = kind.rsplit('#').next()?;
    name.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(name)
}

/// Returns the name of the first table that a body names, if it is one as clients write it.
fn table(body: &[u8]) -> Option<&str> {
    const NAME: &[u8] = b"\"TableName\"";
    let body = body.get(..body.len().min(NAME_SEARCH_BYTES_MAX))?;
    let at = body.windows(NAME.len()).position(|own| own == NAME)?;
    let rest = body.get(at + NAME.len()..)?.trim_ascii_start().strip_prefix(b":")?;
    let rest = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    let name = std::str::from_utf8(rest.get(..end)?).ok()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte);
    name.bytes().all(is_name).then_some(name)
}

impl ConnectionList for ConnectionSlots {
    fn list(&self, out: &mut Vec<ConnectionEntry>) {
        self.each(|face, address, busy, known, idle_ms| {
            let (face, address) = (face.to_owned(), address.to_string());
            out.push(ConnectionEntry { face, address, busy, known, idle_ms });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_values_are_not() {
        let refused =
            br#"{"__type":"com.amazonaws.dynamodb.v20120810#ResourceInUseException","m":"v"}"#;
        assert_eq!(exception(refused), Some("ResourceInUseException"));
        for odd in [&b""[..], b"{}", br#"{"__type":"a b"}"#, b"\xff"] {
            assert_eq!(exception(odd), None);
        }
        assert_eq!(table(br#"{"Key":1,"TableName" : "My.Table-1"}"#), Some("My.Table-1"));
        for odd in
            [&b""[..], br#"{"TableName":7}"#, br#"{"TableName":"a\"b"}"#, br#"{"TableName":"#]
        {
            assert_eq!(table(odd), None);
        }
    }
}

//! The answers of a server, read.

use std::sync::Arc;

use bytes::Bytes;

use crate::column::ColumnSpec;
use crate::error::ErrorCode;
use crate::frame::{Envelope, Opcode, Version, flag};
use crate::message::{Malformed, Read, Reader};

/// The answer of a server to one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Response {
    /// The connection is ready for statements.
    Ready,
    /// A login is required; the class of the authenticator.
    AuthenticationRequired(String),
    /// The login is accepted; the connection is ready for statements.
    Authenticated,
    /// The statement was run.
    Result(Result),
    /// The statement failed, or the connection is refused.
    Error(ServerError),
}

/// The result of a statement.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Result {
    /// The rows, if it is a statement that has some; may be none of them.
    pub page: Option<Page>,
    /// The keyspace of the connection from now on, if that changed.
    pub keyspace: Option<String>,
    /// The statement, if one was to be prepared.
    pub prepared: Option<Box<PreparedStatement>>,
    /// True if the schema is another now.
    pub schema_changed: bool,
    /// Sentences for whoever asked.
    pub warnings: Vec<String>,
    /// The id of the trace that was asked for.
    pub trace: Option<[u8; 16]>,
}

/// A statement that the server knows by an id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PreparedStatement {
    /// The id.
    pub id: Bytes,
    /// The id of the columns of its rows; empty before version 5.
    pub metadata_id: Bytes,
    /// Its markers, in order.
    pub markers: Vec<ColumnSpec>,
}

/// A page of rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// The columns.
    pub columns: Vec<ColumnSpec>,
    /// The values of each row as CQL serialises them.
    pub rows: Vec<Vec<Option<Bytes>>>,
    /// The paging state of the next page; `None` on the last page.
    pub paging: Option<Bytes>,
}

/// An error that a server answered to a statement or a connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ServerError {
    /// The number of the error's code.
    pub number: i32,
    /// The code, if it is one that is known here.
    pub code: Option<ErrorCode>,
    /// The server's words.
    pub message: String,
}

/// Reads an answer; events are none.
///
/// # Errors
///
/// * What is wrong with it.
pub(super) fn read(
    envelope: &Envelope,
    version: Version,
) -> std::result::Result<Option<Response>, String> {
    let opcode = Opcode::from_number(envelope.opcode)
        .ok_or_else(|| format!("unknown opcode {}", envelope.opcode))?;
    let body = || -> Read<Option<Response>> {
        let mut reader = Reader::new(envelope.body.clone());
        let trace = taken(envelope, flag::TRACING, || reader.uuid())?;
        let warnings = taken(envelope, flag::WARNING, || reader.strings())?;
        taken(envelope, flag::PAYLOAD, || reader.skip_payload())?;
        match opcode {
            Opcode::Ready => Ok(Some(Response::Ready)),
            Opcode::Authenticate => Ok(Some(Response::AuthenticationRequired(reader.string()?))),
            Opcode::AuthSuccess => Ok(Some(Response::Authenticated)),
            Opcode::Error => refusal(&mut reader).map(|refusal| Some(Response::Error(refusal))),
            Opcode::Event => Ok(None),
            Opcode::Result => {
                let mut result = result(&mut reader, version)?;
                result.trace = trace;
                result.warnings = warnings.unwrap_or_default();
                Ok(Some(Response::Result(result)))
            }
            Opcode::Startup
            | Opcode::Options
            | Opcode::Supported
            | Opcode::Query
            | Opcode::Prepare
            | Opcode::Execute
            | Opcode::Register
            | Opcode::Batch
            | Opcode::AuthChallenge
            | Opcode::AuthResponse => Err(Malformed::new("it answers nothing that was asked")),
        }
    };
    body().map_err(|Malformed(what)| format!("{opcode:?}: {what}"))
}

/// Reads what stands in front of a body if a flag says that it does.
fn taken<T>(envelope: &Envelope, bit: u8, read: impl FnOnce() -> Read<T>) -> Read<Option<T>> {
    if envelope.flags & bit == 0 { Ok(None) } else { read().map(Some) }
}

fn refusal(reader: &mut Reader) -> Read<ServerError> {
    let number = reader.int()?;
    let code = ErrorCode::ALL.into_iter().find(|code| code.number() == number);
    // What some codes carry behind the message means nothing to a person.
    Ok(ServerError { number, code, message: reader.string()? })
}

fn result(reader: &mut Reader, version: Version) -> Read<Result> {
    let mut result = Result::default();
    match reader.int()? {
        1 => {}
        2 => result.page = Some(page(reader)?),
        3 => result.keyspace = Some(reader.string()?),
        4 => result.prepared = Some(Box::new(prepared(reader, version)?)),
        5 => result.schema_changed = true,
        _ => return Err(Malformed::new("an unknown kind of result")),
    }
    Ok(result)
}

/// Reads a prepared statement; what follows its markers, the columns of its rows, comes with the rows again.
fn prepared(reader: &mut Reader, version: Version) -> Read<PreparedStatement> {
    let id = reader.short_bytes()?;
    let metadata_id = if version >= Version::V5 { reader.short_bytes()? } else { Bytes::new() };
    let flags = reader.int()?;
    let count = count(reader)?;
    if version >= Version::V4 {
        for _ in 0..self::count(reader)? {
            reader.short()?;
        }
    }
    let markers = specs(reader, count, flags & 0x01 != 0)?;
    Ok(PreparedStatement { id, metadata_id, markers })
}

fn page(reader: &mut Reader) -> Read<Page> {
    let flags = reader.int()?;
    let columns = count(reader)?;
    let mut page = Page::default();
    if flags & 0x02 != 0 {
        page.paging = reader.bytes()?;
    }
    if flags & 0x08 != 0 {
        reader.short_bytes()?;
    }
    if flags & 0x04 == 0 {
        page.columns = specs(reader, columns, flags & 0x01 != 0)?;
    }
    let rows = count(reader)?;
    if columns == 0 {
        // Rows of nothing: a row takes no bytes then, so their number could be any.
        return Ok(page);
    }
    for _ in 0..rows {
        page.rows.push((0..columns).map(|_| reader.bytes()).collect::<Read<_>>()?);
    }
    Ok(page)
}

fn specs(reader: &mut Reader, columns: usize, of_one_table: bool) -> Read<Vec<ColumnSpec>> {
    let place = |reader: &mut Reader| -> Read<(Arc<str>, Arc<str>)> {
        Ok((reader.string()?.into(), reader.string()?.into()))
    };
    let shared = if of_one_table { Some(place(reader)?) } else { None };
    let spec = |_| {
        let (keyspace, table) = match &shared {
            Some(place) => place.clone(),
            None => place(reader)?,
        };
        let name = reader.string()?.into();
        Ok(ColumnSpec { keyspace, table, name, kind: reader.type_option()? })
    };
    (0..columns).map(spec).collect()
}

fn count(reader: &mut Reader) -> Read<usize> {
    usize::try_from(reader.int()?).map_err(|_| Malformed::new("a count is negative"))
}

//! Errors.

use bytes::{BufMut as _, BytesMut};

use super::writer::Write as _;
use crate::consistency::Consistency;
use crate::error::{CqlError, ErrorCode, ErrorExtra, WriteKind};
use crate::frame::Version;

/// Appends the body of an ERROR.
pub fn error(error: &CqlError, version: Version, out: &mut BytesMut) {
    let code = spoken(error.code, version);
    out.put_i32(code.number());
    out.string(&error.message);
    match code {
        ErrorCode::Unavailable => {
            out.put_u16(level(&error.extra) as u16);
            // One replica was needed, and it is not there.
            out.put_i32(1);
            out.put_i32(0);
        }
        ErrorCode::ReadTimeout | ErrorCode::ReadFailure => {
            replies(level(&error.extra), code, version, out);
            let present = matches!(error.extra, ErrorExtra::Read { data_present: true, .. });
            out.put_u8(u8::from(present));
        }
        ErrorCode::WriteTimeout | ErrorCode::WriteFailure => {
            replies(level(&error.extra), code, version, out);
            let kind = match &error.extra {
                ErrorExtra::Write { kind, .. } => *kind,
                _ => WriteKind::Simple,
            };
            out.string(kind.name());
        }
        ErrorCode::CasWriteUnknown => {
            out.put_u16(level(&error.extra) as u16);
            out.put_i32(0);
            out.put_i32(1);
        }
        ErrorCode::FunctionFailure => {
            if let ErrorExtra::Function { keyspace, name, arguments } = &error.extra {
                out.string(keyspace);
                out.string(name);
                out.strings(arguments);
            } else {
                out.string("");
                out.string("");
                out.put_u16(0);
            }
        }
        ErrorCode::AlreadyExists => {
            let (keyspace, table) = match &error.extra {
                ErrorExtra::AlreadyExists { keyspace, table } => (&**keyspace, &**table),
                _ => ("", ""),
            };
            out.string(keyspace);
            out.string(table);
        }
        ErrorCode::Unprepared => {
            let id = match &error.extra {
                ErrorExtra::Unprepared(id) => &id[..],
                _ => &[],
            };
            out.short_bytes(id);
        }
        ErrorCode::Server
        | ErrorCode::Protocol
        | ErrorCode::BadCredentials
        | ErrorCode::Overloaded
        | ErrorCode::Bootstrapping
        | ErrorCode::Truncate
        | ErrorCode::CdcWriteFailure
        | ErrorCode::Syntax
        | ErrorCode::Unauthorized
        | ErrorCode::Invalid
        | ErrorCode::Configuration => {}
    }
}

/// Returns the code that a client of this version knows.
fn spoken(code: ErrorCode, version: Version) -> ErrorCode {
    match code {
        ErrorCode::CasWriteUnknown if version < Version::V5 => ErrorCode::WriteTimeout,
        ErrorCode::CdcWriteFailure if version < Version::V5 => ErrorCode::Server,
        ErrorCode::WriteFailure if version < Version::V4 => ErrorCode::WriteTimeout,
        ErrorCode::ReadFailure if version < Version::V4 => ErrorCode::ReadTimeout,
        ErrorCode::FunctionFailure if version < Version::V4 => ErrorCode::Invalid,
        code => code,
    }
}

fn level(extra: &ErrorExtra) -> Consistency {
    match extra {
        ErrorExtra::Unavailable { consistency }
        | ErrorExtra::Read { consistency, .. }
        | ErrorExtra::Write { consistency, .. } => *consistency,
        ErrorExtra::None
        | ErrorExtra::Function { .. }
        | ErrorExtra::AlreadyExists { .. }
        | ErrorExtra::Unprepared(_) => Consistency::One,
    }
}

/// Appends level, received and required, and of a failure who failed: the one store there is.
fn replies(level: Consistency, code: ErrorCode, version: Version, out: &mut BytesMut) {
    out.put_u16(level as u16);
    out.put_i32(0);
    out.put_i32(1);
    if matches!(code, ErrorCode::ReadFailure | ErrorCode::WriteFailure) {
        out.put_i32(1);
        if version >= Version::V5 {
            out.put_u8(4);
            out.put_slice(&[127, 0, 0, 1]);
            // Reason 0: unknown.
            out.put_u16(0);
        }
    }
}

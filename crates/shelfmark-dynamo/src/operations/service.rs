//! Answers operations on the service itself, and on features it lacks, which it calls `DISABLED`.
//!
//! The former are DescribeEndpoints and DescribeLimits, the latter is DescribeContinuousBackups.

use shelfmark_engine::ErrorKind;

use super::describe_table;
use crate::errors::{Error, Exception, Result, texts};
use crate::face::{Face, RequestHead};
use crate::json::{Reader, Writer};
use crate::reply::Answered;
use crate::table::{name_of, table_name};

/// Capacity limit of an account and of a table. Source: quotas of most regions, read 2026-11.
const ACCOUNT_UNITS_MAX: i64 = 80_000;
const TABLE_UNITS_MAX: i64 = 40_000;

/// Time for which clients may remember the endpoint, in minutes. Source: observed, one day.
const ENDPOINT_MINUTES: i64 = 1_440;

/// Answers DescribeEndpoints with the host name under which this client reached the server, since
/// another one may mean nothing where it is.
pub(super) fn describe_endpoints(
    face: &Face,
    head: &RequestHead<'_>,
    body: &[u8],
) -> Result<Answered> {
    Reader::body(body, |reader, _| reader.skip())?;
    Ok(Writer::answer(|out| {
        out.name("Endpoints").list(|out| {
            out.object(|out| {
                out.name("Address").text(head.host.unwrap_or(&face.options.endpoint));
                out.name("CachePeriodInMinutes").integer(ENDPOINT_MINUTES);
            });
        });
    }))
}

/// Answers DescribeLimits.
pub(super) fn describe_limits(body: &[u8]) -> Result<Answered> {
    Reader::body(body, |reader, _| reader.skip())?;
    Ok(Writer::answer(|out| {
        out.name("AccountMaxReadCapacityUnits").integer(ACCOUNT_UNITS_MAX);
        out.name("AccountMaxWriteCapacityUnits").integer(ACCOUNT_UNITS_MAX);
        out.name("TableMaxReadCapacityUnits").integer(TABLE_UNITS_MAX);
        out.name("TableMaxWriteCapacityUnits").integer(TABLE_UNITS_MAX);
    }))
}

/// Answers DescribeContinuousBackups.
pub(super) fn describe_continuous_backups(face: &Face, body: &[u8]) -> Result<Answered> {
    let name = describe_table::parse(body)?;
    let name = name_of(&name);
    face.engine.table(&table_name(name)).map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            return Error::new(Exception::TableNotFound, texts::backup_table_not_found(name));
        }
        error.into()
    })?;
    Ok(Writer::answer(|out| {
        out.name("ContinuousBackupsDescription").object(|out| {
            out.name("ContinuousBackupsStatus").text("DISABLED");
            out.name("PointInTimeRecoveryDescription").object(|out| {
                out.name("PointInTimeRecoveryStatus").text("DISABLED");
            });
        });
    }))
}

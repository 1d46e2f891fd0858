//! Answers operations on the service itself: DescribeEndpoints and DescribeLimits.

use crate::errors::Result;
use crate::face::{Face, RequestHead};
use crate::json::{Reader, Writer};
use crate::reply::Answered;

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

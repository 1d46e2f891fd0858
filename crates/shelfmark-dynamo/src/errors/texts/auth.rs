//! Signatures.

pub(crate) const MISSING_AUTHENTICATION: &str = "Request is missing Authentication Token";
pub(crate) const SIGNED_TWICE: &str = "Found both 'X-Amz-Algorithm' as a query-string param and \
                                       'Authorization' as HTTP header.";
pub(crate) const AUTHORIZATION_TOO_LONG: &str = "The Authorization header is too long.";
pub(crate) const DATE_HEADER_MISSING: &str =
    "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
pub(crate) const REEXAMINE_QUERY: &str = "Re-examine the query-string parameters.";
pub(crate) const UNKNOWN_KEY_ID: &str = "The security token included in the request is invalid.";
pub(crate) const WRONG_SIGNATURE: &str = "The request signature we calculated does not match the signature you provided. Check your AWS \
     Secret Access Key and signing method. Consult the service documentation for details.";

pub(crate) fn header_part_missing(name: &str) -> String {
    format!("Authorization header requires '{name}' parameter. ")
}

pub(crate) fn authorization_is(header: &str) -> String {
    format!("Authorization={header}")
}

pub(crate) fn query_part_missing(name: &str) -> String {
    format!("AWS query-string parameters must include '{name}'. ")
}

pub(crate) fn date_expected(found: &str) -> String {
    format!(
        "Date must be in ISO-8601 'basic format'. Got '{found}'. See \
         http://en.wikipedia.org/wiki/ISO_8601"
    )
}

pub(crate) fn signature_expired(time: &str, least: &str, now: &str, minutes: i64) -> String {
    format!("Signature expired: {time} is now earlier than {least} ({now} - {minutes} min.)")
}

pub(crate) fn signature_early(time: &str, most: &str, now: &str, minutes: i64) -> String {
    format!("Signature not yet current: {time} is still later than {most} ({now} + {minutes} min.)")
}

pub(crate) fn unsigned_header(name: &str) -> String {
    let shown = if name == "host" { "Host" } else { name };
    format!("'{shown}' must be a 'SignedHeader' in the AWS Authorization.")
}

pub(crate) fn unsupported_algorithm(found: &str) -> String {
    format!("Unsupported AWS 'algorithm': '{found}' (only AWS4-HMAC-SHA256 for now). ")
}

pub(crate) fn credential_parts(found: &str) -> String {
    format!(
        "Credential must have exactly 5 slash-delimited elements, e.g. \
         keyid/date/region/service/term, got '{found}'"
    )
}

pub(crate) fn scope_region(found: &str) -> String {
    format!("Credential should be scoped to a valid region, not '{found}'.")
}

pub(crate) fn scope_service(service: &str) -> String {
    format!("Credential should be scoped to correct service: '{service}'.")
}

pub(crate) fn scope_terminator(wanted: &str, found: &str) -> String {
    format!("Credential should be scoped with a valid terminator: '{wanted}', not '{found}'.")
}

pub(crate) fn scope_date(found: &str, date: &str, time: &str) -> String {
    format!(
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: \
         '{found}' != '{date}', from '{time}'."
    )
}

//! The handshake: STARTUP, and who the client is.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::CqlError;
use shelfmark_cql_protocol::frame::{Compression, Opcode, Version};
use shelfmark_cql_protocol::message::Write as _;
use shelfmark_engine::budget::Client;
use shelfmark_engine::weight::Weight;

use super::face::{Face, full};
use super::phase::{Phase, SharedPhase};
use super::reply::PendingRequest;
use crate::auth;

/// Reads the options of STARTUP.
///
/// # Errors
///
/// * `Protocol`: the version of CQL is missing, or the compression is not offered.
pub(super) fn compression(
    options: &[(String, String)],
    version: Version,
) -> Result<Option<Compression>, CqlError> {
    let option = |name: &str| {
        let mut found = options.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| &**value)
    };
    let Some(language) = option("CQL_VERSION") else {
        return Err(CqlError::protocol("Missing value CQL_VERSION in STARTUP message"));
    };
    check_language(language)?;
    let Some(name) = option("COMPRESSION") else { return Ok(None) };
    let compression = Compression::named(name)
        .ok_or_else(|| CqlError::protocol(format!("Unknown compression algorithm: {name}")))?;
    if version >= Version::V5 && compression == Compression::Snappy {
        return Err(CqlError::protocol("Snappy compression is not supported in protocol V5"));
    }
    Ok(Some(compression))
}

/// Refuses versions of the language before 3, and what is no version; newer ones are clients that
/// hope for the best.
fn check_language(version: &str) -> Result<(), CqlError> {
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<Option<u32>> = numbers.split('.').map(|part| part.parse().ok()).collect();
    match parts.as_slice() {
        [Some(major), Some(_), Some(_)] | [Some(major), Some(_)] if *major >= 3 => Ok(()),
        [Some(_), Some(_), Some(_)] | [Some(_), Some(_)] => Err(CqlError::protocol(format!(
            "CQL version {version} is not supported by the binary protocol (supported version are >= 3.0.0)"
        ))),
        _ => Err(CqlError::protocol(format!("Invalid version value: {version}"))),
    }
}

/// Checks a login where it may take its time, and answers.
pub(super) fn check(
    face: &Arc<Face>,
    phase: SharedPhase,
    token: Option<Bytes>,
    budget: Client,
    pending: PendingRequest,
) {
    phase.set(Phase::Checking);
    let face = Arc::clone(face);
    let pool = Arc::clone(&face.pool);
    let asker = Some(pending.client);
    let work = move |admitted: Result<(), _>| {
        if let Err(refused) = admitted {
            phase.set(Phase::Asked);
            return pending.refuse(&full(refused));
        }
        let Some(login) = &face.login else {
            return pending.refuse(&CqlError::protocol("This server asks nobody to log in"));
        };
        let checked = auth::plain(token.as_deref()).and_then(|claim| login.check(&claim));
        match checked {
            Ok(user) => {
                budget.admit();
                phase.set(Phase::Ready(Some(user)));
                pending.say(Opcode::AuthSuccess, |out| out.bytes(None));
            }
            Err(error) => {
                phase.set(Phase::Asked);
                pending.refuse(&error);
            }
        }
    };
    pool.run(asker, Weight::Login, Box::new(work));
}

//! Checks which changes of a table are asked for together: most of them stand alone in their request.
//!
//! Source: pairs of changes that were sent to the service, collected by others in October 2026; those of
//! a stream and vector indexes, tests that others run against the service, read 2026-11.

use crate::errors::{Error, Result, texts};

/// A change that UpdateTable may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Encryption,
    Class,
    Protection,
    Warm,
    OnDemand,
    Billing,
    Throughput,
    Stream,
    IndexCreate,
    IndexDelete,
    IndexUpdate,
    Vectors,
    SettingsReplication,
}

/// The changes that stand alone, the one that is told before the others first, and what is said.
const ALONE: [(Part, &str); 4] = [
    (Part::Encryption, texts::ENCRYPTION_BESIDE_OTHERS),
    (Part::Class, texts::TABLE_CLASS_BESIDE_OTHERS),
    (Part::Protection, texts::PROTECTION_BESIDE_OTHERS),
    (Part::Warm, texts::WARM_BESIDE_OTHERS),
];

/// Refuses a request that asks for nothing, and changes that the service does not make together.
pub(super) fn check_together(parts: &[Part]) -> Result<()> {
    let has = |part: Part| parts.contains(&part);
    let refuse = |text: &str| Err(Error::validation(text));
    if parts.is_empty() {
        return refuse(texts::NOTHING_TO_UPDATE);
    }
    let alone = ALONE.iter().find(|(part, _)| has(*part) && parts.len() > 1);
    match alone {
        Some((Part::Warm, _)) if has(Part::IndexCreate) => {
            return refuse(texts::INDEX_BESIDE_WARM);
        }
        Some((_, text)) => return refuse(text),
        None => {}
    }
    let is_of_on_demand = |part: &Part| matches!(part, Part::OnDemand | Part::Billing);
    if has(Part::OnDemand) && !parts.iter().all(is_of_on_demand) {
        return refuse(texts::ON_DEMAND_BESIDE_OTHERS);
    }
    let has_index = has(Part::IndexCreate) || has(Part::IndexDelete);
    if has(Part::Throughput) && has_index {
        return refuse(texts::INDEX_BESIDE_UNITS);
    }
    // Whatever the index and the stream are: one that is not there, one that is off already.
    if has(Part::Stream) && (has_index || has(Part::Vectors)) {
        return refuse(texts::STREAM_BESIDE_INDEXES);
    }
    Ok(())
}

/// Returns the state in which a table is shown that was changed so: some changes are made at once.
pub(super) fn status_beside(parts: &[Part]) -> &'static str {
    match parts {
        [Part::Protection | Part::Encryption | Part::OnDemand | Part::Warm] => "ACTIVE",
        _ => "UPDATING",
    }
}

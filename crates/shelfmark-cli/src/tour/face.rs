//! Opens the CQL face over the engine of the tour.

use std::sync::Arc;

use shelfmark_cql::{Face, FaceOptions, Inline};

use super::Stage;
use super::meter::Meter;

/// Opens a face whose work the meter counts.
pub(crate) fn open_face(stage: &Stage<'_>, meter: &Meter) -> anyhow::Result<Face> {
    let environment = stage.engine.environment().clone();
    let engine = meter.on(stage.engine);
    Ok(Face::open(engine, environment, FaceOptions::default(), None, Arc::new(Inline))?)
}

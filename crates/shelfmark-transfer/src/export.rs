//! Writes the rows of a source to an output, parts at once, and goes on where an earlier call ended.
//!
//! Invariant: a position is noted behind what is durable in the output, and marks, sums and output of one
//! position belong together.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::control::{Control, Progress};
use crate::error::Result;
use crate::output::{Output, Written, packed};
use crate::position::PositionFile;
use crate::sums::Sums;
use crate::walk::{Mark, Source, walk};

/// Time between two positions. Source: ours; each syncs the output.
const POSITION_PERIOD: Duration = Duration::from_secs(4);

/// The way that an export has come.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ExportPosition {
    /// The decision of the first call, such as the columns.
    pub(crate) note: String,
    marks: Vec<Mark>,
    sums: Sums,
    written: Option<Written>,
}

impl ExportPosition {
    /// Returns the position before the first row.
    pub(crate) fn new(note: String, parts: usize) -> Self {
        let marks = vec![Mark::Begin; parts.max(1)];
        Self { note, marks, sums: Sums::default(), written: None }
    }

    /// Returns the number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.marks.len()
    }

    /// Returns the rows of earlier calls.
    pub(crate) fn rows(&self) -> u64 {
        self.sums.rows
    }
}

/// Writes a row behind others and adds its fixed form to sums.
pub(crate) type Encode<'e, R> = dyn Fn(&R, &mut Vec<u8>, &mut Sums) -> Result<()> + Sync + 'e;

/// Writes all rows behind a position, packed or not; removes the position at the end.
pub(crate) fn export<'e, S: Source>(
    source: &S,
    encode: &'e Encode<'e, S::Row>,
    is_packed: bool,
    output: &mut dyn Output,
    (file, mut position): (&PositionFile, ExportPosition),
    control: &Control<'_>,
) -> Result<Sums> {
    output.open(position.written.as_ref())?;
    let marks = position.marks.clone();
    let mut noted_at = control.clock.monotonic();
    let outcome = walk(
        source,
        &marks,
        control,
        &move |_| {
            Ok(Box::new(move |rows: Vec<S::Row>| {
                let (mut chunk, mut sums) = (Vec::new(), Sums::default());
                rows.iter().try_for_each(|row| encode(row, &mut chunk, &mut sums))?;
                let chunk = if is_packed && !chunk.is_empty() { packed(&chunk) } else { chunk };
                Ok((chunk, sums))
            }))
        },
        &mut |part, (chunk, sums): (Vec<u8>, Sums), mark| {
            output.append(&chunk, sums.rows)?;
            position.sums.merge(sums);
            if let Some(own) = position.marks.get_mut(part) {
                *own = mark;
            }
            (control.progress)(Progress { rows: position.sums.rows, bytes: output.bytes() });
            let now = control.clock.monotonic();
            if file.path().is_some() && now.saturating_sub(noted_at) >= POSITION_PERIOD {
                noted_at = now;
                position.written = Some(output.sync()?);
                file.save(&position)?;
            }
            Ok(())
        },
    );
    match outcome {
        Ok(()) => {
            output.finish(&position.sums, control.clock.now_millis())?;
            file.forget()?;
            Ok(position.sums)
        }
        Err(error) => {
            // What failed may be the output; the reason that is told is the first one.
            if let Ok(written) = output.sync() {
                position.written = Some(written);
                file.save(&position)?;
            }
            Err(error)
        }
    }
}

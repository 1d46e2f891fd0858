//! The file in which a transfer notes how far it has come.
//!
//! Invariant: what a position says is done is durable before the position is.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shelfmark_store::vfs;

use crate::error::{Error, ErrorKind, Result};

/// The ending of a position's file.
const ENDING: &str = ".position";

/// A position as it stands in its file.
#[derive(Serialize, Deserialize)]
struct Noted<P> {
    /// The transfer, as a text; another one does not go on from here.
    of: String,
    position: P,
}

/// The place of a transfer's position; none if it cannot go on.
#[derive(Debug, Clone)]
pub struct PositionFile {
    path: Option<PathBuf>,
    of: String,
}

impl PositionFile {
    /// Names the position of a transfer beside the file or folder that it writes or reads.
    #[must_use]
    pub fn beside(path: &Path, of: impl Into<String>) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push(ENDING);
        Self { path: Some(PathBuf::from(name)), of: of.into() }
    }

    /// Returns the position of a transfer that keeps none.
    #[must_use]
    pub fn none() -> Self {
        Self { path: None, of: String::new() }
    }

    /// Returns the path, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Reads the position of an earlier call that did not end.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: it belongs to another transfer; the message says how to go on.
    /// * [`ErrorKind::Io`]: the file cannot be read.
    pub(crate) fn load<P: DeserializeOwned>(&self) -> Result<Option<P>> {
        let Some(path) = self.path.as_deref().filter(|path| path.exists()) else { return Ok(None) };
        let bytes = vfs::read(path).map_err(|error| Error::io("read", path, &error))?;
        let other = || {
            Error::invalid(format!(
                "{} is the position of another transfer than this one; call that again to go on with it, \
                 or remove the file to begin anew",
                path.display()
            ))
        };
        let noted: Noted<serde_json::Value> =
            serde_json::from_slice(&bytes).map_err(|_| other())?;
        if noted.of != self.of {
            return Err(other());
        }
        serde_json::from_value(noted.position).map(Some).map_err(|_| other())
    }

    pub(crate) fn save(&self, position: &impl Serialize) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let noted = Noted { of: self.of.clone(), position };
        let bytes = serde_json::to_vec(&noted)
            .map_err(|error| Error::new(ErrorKind::Io, format!("no position: {error}")))?;
        vfs::replace_shared(path, &bytes).map_err(|error| Error::io("write", path, &error))
    }

    /// Removes the file: the transfer is done.
    pub(crate) fn forget(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        vfs::remove(path).map_err(|error| Error::io("remove", path, &error))
    }
}

//! The ways in which a store's files are damaged.

use std::path::PathBuf;

use super::{Files, layout};
use crate::input::Input;

/// Most edits of one input.
const EDITS_MAX: usize = 12;

/// Largest file that edits leave behind, in bytes.
const FILE_BYTES_MAX: usize = 64 * 1024;

/// Applies edits until the input is used up: a byte for the file, a byte for the kind, then what
/// the kind needs. Files count from the front: the superblock last, the tree's only `with_tree`.
pub(super) fn apply(input: &mut Input<'_>, files: &mut Files, with_tree: bool) {
    for _ in 0..EDITS_MAX {
        if input.is_empty() {
            return;
        }
        let mut paths: Vec<PathBuf> = files.keys().cloned().collect();
        paths.retain(|path| with_tree || !layout::is_tree(path));
        let Some(path) = paths.get(input.below(paths.len())).cloned() else { return };
        match input.below(10) {
            0 => {
                files.remove(&path);
            }
            1 => rename(input, files, &path),
            2 => copy_from_other(input, files, &path, &paths),
            kind => {
                if let Some(bytes) = files.get_mut(&path) {
                    edit(input, kind, bytes);
                    bytes.truncate(FILE_BYTES_MAX);
                }
            }
        }
    }
}

/// Gives a log file another number.
fn rename(input: &mut Input<'_>, files: &mut Files, path: &PathBuf) {
    let number = input.u16();
    if let Some(bytes) = files.remove(path) {
        let name = if path.starts_with("log") {
            PathBuf::from(format!("log/{number:020}.log"))
        } else {
            path.with_extension("moved")
        };
        files.insert(name, bytes);
    }
}

/// Puts a piece of another file, or of the same, somewhere.
fn copy_from_other(input: &mut Input<'_>, files: &mut Files, path: &PathBuf, paths: &[PathBuf]) {
    let other = paths.get(input.below(paths.len())).and_then(|other| files.get(other)).cloned();
    let (from, length, to) = (place(input), place(input), place(input));
    let (Some(other), Some(bytes)) = (other, files.get_mut(path)) else { return };
    let from = from.min(other.len());
    let piece = other.get(from..from.saturating_add(length).min(other.len()));
    let to = to.min(bytes.len());
    bytes.splice(to..to, piece.unwrap_or_default().iter().copied());
    bytes.truncate(FILE_BYTES_MAX);
}

fn edit(input: &mut Input<'_>, kind: usize, bytes: &mut Vec<u8>) {
    let at = place(input).min(bytes.len());
    match kind {
        3 => {
            // Overwrite.
            let new = input.bytes();
            let end = at.saturating_add(new.len()).min(bytes.len());
            bytes.splice(at..end, new.iter().copied());
        }
        4 => {
            // Flip bits of one byte.
            let mask = input.byte();
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= mask;
            }
        }
        5 => bytes.truncate(at),
        6 => bytes.extend_from_slice(input.bytes()),
        7 => {
            let new = input.bytes();
            bytes.splice(at..at, new.iter().copied());
        }
        8 => {
            let end = at.saturating_add(place(input)).min(bytes.len());
            bytes.drain(at..end);
        }
        _ => {
            // A number of eight bytes, where such a number stands in headers and slots.
            let number = input.u64();
            if let Some(place) = bytes.get_mut(at..at.saturating_add(8)) {
                place.copy_from_slice(&number.to_be_bytes());
            }
        }
    }
}

/// Takes a place in a file: two bytes.
fn place(input: &mut Input<'_>) -> usize {
    usize::from(input.u16())
}

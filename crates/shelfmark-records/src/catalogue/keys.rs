//! Keys of the catalogue, and those of its second copy.
//!
//! `[catalogue][section]`, then what the section is by. The copy of a record has another first byte.

use bytes::Bytes;
use shelfmark_keycode::{Direction, put_ordered_varint, put_text, take_text};
use shelfmark_model::TableName;

use crate::error::{Error, Result};
use crate::keys::Tree;

/// Version of everything the engine writes into the store; a newer one is refused. Since 2 tables of
/// cells have high-water marks; since 3 the catalogue is kept twice and namespaces have owners. A store of
/// before becomes one of this format when it is opened.
pub const FORMAT: u64 = 3;

/// Sections of the catalogue: the second byte of a key.
pub mod section {
    /// The version of the format.
    pub const FORMAT: u8 = 0;
    /// The next id of a table or index.
    pub const NEXT_ID: u8 = 1;
    /// Tables, by name.
    pub const TABLES: u8 = 2;
    /// Ids whose keys are still to be removed.
    pub const DROPPED: u8 = 3;
    /// Namespaces, by name.
    pub const NAMESPACES: u8 = 4;
    /// The number that rises with every change.
    pub const VERSION: u8 = 5;
    /// The number of changes that other servers have to take over.
    pub const FORMS: u8 = 6;
    /// The server that changes the catalogue, where several share the store.
    pub const CHANGE_LOCK: u8 = 7;
    /// The mark of a store that is being copied from another.
    pub const MIGRATION: u8 = 8;
    /// Behind all others: parts the catalogue from what follows it.
    pub const SEPARATOR: u8 = 0xff;
}

/// Returns where the version of the format lies, and that of this build.
pub fn format_record() -> (Bytes, Bytes) {
    (catalogue_key(section::FORMAT).into(), Bytes::copy_from_slice(&FORMAT.to_be_bytes()))
}

/// Bytes of the separator: those of a block of the embedded driver.
const SEPARATOR_BYTES: usize = 4096;

/// The sections that are kept twice: all but the two that count changes, which a restart may lose.
/// The format comes last, so that a store of before is one until all its copies are there.
pub const SECTIONS: [u8; 5] =
    [section::NEXT_ID, section::TABLES, section::DROPPED, section::NAMESPACES, section::FORMAT];

/// Returns what the keys of a section begin with.
pub fn catalogue_key(section: u8) -> Vec<u8> {
    vec![Tree::Catalogue as u8, section]
}

/// Returns where the number lies that rises with every change.
pub fn version_key() -> Bytes {
    catalogue_key(section::VERSION).into()
}

/// Returns where the number of changes lies that other servers have to take over.
pub fn forms_key() -> Bytes {
    catalogue_key(section::FORMS).into()
}

/// Returns where it is noted which server changes the catalogue.
pub fn change_lock_key() -> Bytes {
    catalogue_key(section::CHANGE_LOCK).into()
}

/// Returns where the mark lies of a store that is being copied from another.
pub fn migration_key() -> Bytes {
    catalogue_key(section::MIGRATION).into()
}

/// Returns where the record of a table lies.
pub fn table_key(name: &TableName) -> Vec<u8> {
    let mut key = catalogue_key(section::TABLES);
    put_table_name(&mut key, name);
    key
}

/// Appends a table's name as a key component.
pub fn put_table_name(out: &mut Vec<u8>, name: &TableName) {
    put_text(out, Direction::Ascending, &name.namespace);
    put_text(out, Direction::Ascending, &name.name);
}

/// Reads a table's name back.
///
/// # Errors
///
/// * `Corrupt`: the bytes are no name.
pub fn take_table_name(mut rest: &[u8]) -> Result<TableName> {
    let damaged = || Error::corrupt("a table's name in the catalogue is damaged");
    let namespace = take_text(&mut rest, Direction::Ascending).map_err(|_| damaged())?;
    let name = take_text(&mut rest, Direction::Ascending).map_err(|_| damaged())?;
    Ok(TableName::new(namespace, name))
}

/// Returns where it is noted that the keys of an id are still to be removed.
pub fn dropped_key(id: u64) -> Vec<u8> {
    let mut key = catalogue_key(section::DROPPED);
    put_ordered_varint(&mut key, id);
    key
}

/// Returns where the record of a namespace lies.
pub fn namespace_key(name: &str) -> Bytes {
    let mut key = catalogue_key(section::NAMESPACES);
    put_text(&mut key, Direction::Ascending, name);
    key.into()
}

/// Returns the key of the copy of what lies at a key of the catalogue.
pub fn copy_key(key: &[u8]) -> Bytes {
    moved(key, Tree::CatalogueCopy)
}

/// Returns the key of what a copy is of.
pub fn original_key(key: &[u8]) -> Bytes {
    moved(key, Tree::Catalogue)
}

/// Returns a key with the first byte of another tree.
pub fn moved(key: &[u8], tree: Tree) -> Bytes {
    let mut moved = key.to_vec();
    if let Some(first) = moved.first_mut() {
        *first = tree as u8;
    }
    moved.into()
}

/// Returns true if what lies at a key of the catalogue is kept twice.
pub fn has_copy(key: &[u8]) -> bool {
    matches!(key, [tree, section, ..] if *tree == Tree::Catalogue as u8 && SECTIONS.contains(section))
}

/// Returns the record between the catalogue and everything else.
pub fn separator() -> (Bytes, Bytes) {
    let key = vec![Tree::Catalogue as u8, section::SEPARATOR];
    (key.into(), Bytes::from(vec![0; SEPARATOR_BYTES]))
}

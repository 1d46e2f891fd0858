//! The picture of everything there is, read from the engine's catalogue.
//!
//! What it is not: a repair. What cannot be read is left where it is and named in the picture.
//!
//! Invariant: one record that cannot be read is one keyspace, type or table that cannot be used; the
//! others can.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_cql_protocol::{Consistency, CqlError};
use shelfmark_engine::{Engine, ErrorKind};

use super::record::{decode_keyspace, decode_table};
use super::{Damage, Keyspace, Schema, Table, shared};
use crate::engine_error::from_engine;

/// The number of names read at a time.
const NAMES_PER_PAGE: usize = 1_000;

/// Builds the schema. Tables that did not change since `previous` are the same ones; those of another
/// face are read again if `previous` knows them.
///
/// # Errors
///
/// * Those of reading the catalogue.
pub(crate) fn load(
    engine: &Engine,
    system: &[Arc<Keyspace>],
    previous: &Schema,
) -> Result<Schema, CqlError> {
    let mut keyspaces: BTreeMap<String, Arc<Keyspace>> =
        system.iter().map(|own| (own.name.to_string(), Arc::clone(own))).collect();
    let mut hash = Fingerprint::default();
    for namespace in engine.namespaces().map_err(failed)? {
        let name = namespace.name;
        let mut keyspace = decode_keyspace(&name, &namespace.attachment)
            .unwrap_or_else(|_| unreadable_keyspace(&name));
        hash.add(name.as_bytes());
        hash.add(&namespace.attachment);
        let old = previous.keyspace(&name).filter(|old| old.types == keyspace.types);
        let is_readable = !keyspace.damage.record;
        let mut after = None;
        loop {
            let page =
                engine.table_names(Some(&name), after.as_ref(), NAMES_PER_PAGE).map_err(failed)?;
            for own in &page {
                hash.add(own.name.as_bytes());
                let stored = match engine.table(own) {
                    Ok(stored) if is_readable => stored,
                    Err(error) if error.kind() != ErrorKind::Corrupt => return Err(failed(error)),
                    _ => {
                        keyspace.damage.tables.insert(own.name.clone());
                        continue;
                    }
                };
                if let Some(cells) = &stored.schema.cells {
                    hash.add(&cells.attachment);
                    hash.add(&[u8::try_from(cells.indexes.len()).unwrap_or(u8::MAX)]);
                }
                let known = old.and_then(|old| old.tables.get(&own.name));
                let same = known.filter(|known| {
                    known.stored.as_ref().is_some_and(|own| Arc::ptr_eq(own, &stored))
                });
                let table: Option<Arc<Table>> = match same {
                    Some(table) => Some(Arc::clone(table)),
                    None => {
                        let schema = stored.schema.clone();
                        decode_table(&keyspace, &schema, Some(stored)).ok().map(Arc::new)
                    }
                };
                match table {
                    Some(table) => {
                        keyspace.tables.insert(own.name.clone(), table);
                    }
                    None => {
                        keyspace.damage.tables.insert(own.name.clone());
                    }
                }
            }
            if page.len() < NAMES_PER_PAGE {
                break;
            }
            after = page.into_iter().next_back();
        }
        keyspaces.insert(name, Arc::new(keyspace));
    }
    let version = hash.uuid();
    let fresh = Schema { version, keyspaces, own_version: version, shared_version: None };
    if previous.knows_shared() {
        return shared::with_shared(engine, &fresh, previous);
    }
    Ok(fresh)
}

pub(super) fn failed(error: shelfmark_engine::Error) -> CqlError {
    from_engine(&error, Consistency::One, None)
}

/// Returns a keyspace of which nothing is known but its name.
fn unreadable_keyspace(name: &str) -> Keyspace {
    Keyspace {
        name: name.into(),
        durable_writes: true,
        replication: Vec::new(),
        is_virtual: false,
        tables: BTreeMap::new(),
        types: BTreeMap::new(),
        functions: Vec::new(),
        aggregates: Vec::new(),
        damage: Damage { record: true, ..Damage::default() },
    }
}

/// A version that follows from what there is, so that a restart does not change it.
#[derive(Default)]
pub(super) struct Fingerprint {
    high: i64,
    low: i64,
}

impl Fingerprint {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let chained = |seed: i64| {
            let mut all = seed.to_be_bytes().to_vec();
            all.extend_from_slice(bytes);
            shelfmark_keycode::token(&all)
        };
        self.high = chained(self.high);
        self.low = chained(self.low.wrapping_add(1));
    }

    pub(super) fn uuid(&self) -> [u8; 16] {
        let mut out = [0; 16];
        let all = self.high.to_be_bytes().into_iter().chain(self.low.to_be_bytes());
        out.iter_mut().zip(all).for_each(|(place, byte)| *place = byte);
        out[6] = out[6] & 0x0F | 0x30;
        out[8] = out[8] & 0x3F | 0x80;
        out
    }
}

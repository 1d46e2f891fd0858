//! Writes counters, which can be added to only.
//!
//! What is there is read first, and the difference is added. Invariant: a row that is written twice has the
//! same counters as one that is written once, if nobody else adds to them meanwhile.

use bytes::Bytes;
use shelfmark_cql_protocol::BoundValue;
use shelfmark_cql_protocol::client::{Execute, PreparedStatement, Request};
use shelfmark_cql_protocol::types::CqlType;

use super::Row;
use super::peer::Peer;
use super::table::{Column, RowTable};
use crate::error::Result;

/// The statements of a table of counters.
pub(super) struct Counters {
    read: PreparedStatement,
    add: PreparedStatement,
    /// The places of the counters and of the key.
    counters: Vec<usize>,
    key: Vec<usize>,
}

impl Counters {
    pub(super) fn prepare(peer: &mut Peer<'_>, table: &RowTable) -> Result<Self> {
        let is_counter = |own: &Column| own.kind == CqlType::Counter;
        let places = |counter: bool| {
            let all = table.columns.iter().enumerate();
            all.filter(|(_, own)| is_counter(own) == counter).map(|(place, _)| place).collect()
        };
        let (counters, key) = (table.names(is_counter), table.names(|own| !is_counter(own)));
        let full = table.full_name();
        let is: Vec<String> = key.iter().map(|name| format!("{name} = ?")).collect();
        let is = is.join(" AND ");
        let added: Vec<String> =
            counters.iter().map(|name| format!("{name} = {name} + ?")).collect();
        Ok(Self {
            read: peer
                .prepare(&format!("SELECT {} FROM {full} WHERE {is}", counters.join(", ")))?,
            add: peer.prepare(&format!("UPDATE {full} SET {} WHERE {is}", added.join(", ")))?,
            counters: places(true),
            key: places(false),
        })
    }

    /// Writes a row; an inner error is the server's refusal.
    pub(super) fn put(
        &self,
        peer: &mut Peer<'_>,
        row: &Row,
    ) -> Result<std::result::Result<(), String>> {
        let cell = |place: &usize| row.cells.get(*place).cloned().flatten();
        let key: Vec<BoundValue> = self
            .key
            .iter()
            .map(|place| cell(place).map_or(BoundValue::Null, BoundValue::Bytes))
            .collect();
        let there = match run(peer, &self.read, &key)? {
            Ok(mut rows) => rows.pop().unwrap_or_default(),
            Err(why) => return Ok(Err(why)),
        };
        let mut values: Vec<BoundValue> = Vec::new();
        for (at, place) in self.counters.iter().enumerate() {
            let there = there.get(at).cloned().flatten();
            values.push(match (cell(place), there) {
                (None, _) => BoundValue::Unset,
                (Some(wanted), there) => {
                    let missing = number(&wanted).wrapping_sub(there.as_ref().map_or(0, number));
                    BoundValue::Bytes(Bytes::copy_from_slice(&missing.to_be_bytes()))
                }
            });
        }
        values.extend(key);
        Ok(run(peer, &self.add, &values)?.map(drop))
    }
}

fn number(bytes: &Bytes) -> i64 {
    (**bytes).try_into().map_or(0, i64::from_be_bytes)
}

type Rows = Vec<Vec<Option<Bytes>>>;

fn run(
    peer: &mut Peer<'_>,
    statement: &PreparedStatement,
    values: &[BoundValue],
) -> Result<std::result::Result<Rows, String>> {
    let consistency = peer.consistency;
    let execute = Execute { statement, values, consistency, page_size: None, paging: None };
    let answer = peer.ask(&Request::Execute(execute))?;
    Ok(answer.map(|own| own.page.unwrap_or_default().rows).map_err(|refusal| refusal.why))
}

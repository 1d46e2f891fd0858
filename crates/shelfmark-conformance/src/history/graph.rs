//! Builds the graph of dependencies between transactions, and finds cycles in it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use bytes::Bytes;

use super::TxnId;

/// The reason why one transaction comes before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependency {
    /// It wrote the version that the other replaced.
    WriteWrite,
    /// It wrote the version that the other read.
    WriteRead,
    /// It read the version that the other replaced.
    ReadWrite,
    /// It had ended when the other began.
    RealTime,
}

/// One transaction before another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The earlier one.
    pub from: TxnId,
    /// The later one.
    pub to: TxnId,
    /// Why.
    pub dependency: Dependency,
    /// Of which key; empty for [`Dependency::RealTime`].
    pub key: Bytes,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.dependency {
            Dependency::WriteWrite => "ww",
            Dependency::WriteRead => "wr",
            Dependency::ReadWrite => "rw",
            Dependency::RealTime => "real time",
        };
        let key = self.key.escape_ascii();
        write!(f, "{} -{why} {key}-> {}", self.from, self.to)
    }
}

/// The orders of a history.
#[derive(Debug, Default)]
pub(super) struct Graph {
    out: BTreeMap<TxnId, Vec<Edge>>,
}

impl Graph {
    /// Adds an order; one of a transaction to itself says nothing.
    pub(super) fn add(&mut self, edge: Edge) {
        if edge.from != edge.to {
            self.out.entry(edge.from).or_default().push(edge);
        }
    }

    pub(super) fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.out.values().flatten()
    }

    fn after(&self, txn: TxnId) -> &[Edge] {
        self.out.get(&txn).map_or(&[], Vec::as_slice)
    }

    /// Returns a shortest circle through one of the transactions that are on any, or `None`.
    pub(super) fn circle(&self) -> Option<Vec<Edge>> {
        let mut left = self.on_circles();
        // Whatever is left after the peeling lies on a circle or between two: try each.
        while let Some(start) = left.pop_first() {
            if let Some(circle) = self.way_back(start) {
                return Some(circle);
            }
        }
        None
    }

    /// Peels off every transaction that nothing comes before, again and again.
    fn on_circles(&self) -> BTreeSet<TxnId> {
        let mut before: BTreeMap<TxnId, usize> = BTreeMap::new();
        for edge in self.edges() {
            before.entry(edge.from).or_default();
            *before.entry(edge.to).or_default() += 1;
        }
        let first = before.iter().filter(|(_, count)| **count == 0).map(|(txn, _)| *txn);
        let mut free: Vec<TxnId> = first.collect();
        while let Some(txn) = free.pop() {
            before.remove(&txn);
            for edge in self.after(txn) {
                if let Some(count) = before.get_mut(&edge.to) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(edge.to);
                    }
                }
            }
        }
        before.into_keys().collect()
    }

    /// Returns a shortest way from `start` back to it.
    fn way_back(&self, start: TxnId) -> Option<Vec<Edge>> {
        let mut came_by: BTreeMap<TxnId, &Edge> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(txn) = queue.pop_front() {
            for edge in self.after(txn) {
                if came_by.contains_key(&edge.to) {
                    continue;
                }
                came_by.insert(edge.to, edge);
                if edge.to != start {
                    queue.push_back(edge.to);
                    continue;
                }
                let mut way = vec![edge.clone()];
                let mut at = edge.from;
                while at != start {
                    let edge = came_by.get(&at)?;
                    way.push((*edge).clone());
                    at = edge.from;
                }
                way.reverse();
                return Some(way);
            }
        }
        None
    }
}

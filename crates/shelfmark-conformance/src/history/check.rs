//! From a history to what is wrong with it.
//!
//! What a single read or list shows is looked at first, because it says more than a circle does;
//! the circle is searched for whatever came out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bytes::Bytes;

use super::graph::{Dependency, Edge, Graph};
use super::{History, Outcome, Record, TxnId, Version};

/// Something that transactions which ran one after the other could not have seen or left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Anomaly {
    /// A version was seen that nobody wrote, or whose writer was refused (Adya's G1a).
    AbortedRead {
        /// The transaction that saw it; `None` for the list at the end.
        reader: Option<TxnId>,
        /// Where.
        key: Bytes,
        /// What.
        version: Version,
    },
    /// A version was seen that its writer replaced before it committed (G1b).
    IntermediateRead {
        /// The transaction that saw it; `None` for the list at the end.
        reader: Option<TxnId>,
        /// Where.
        key: Bytes,
        /// What.
        version: Version,
    },
    /// Two transactions read the same version of a key, and both replaced it.
    LostUpdate {
        /// Where.
        key: Bytes,
        /// Who.
        writers: (TxnId, TxnId),
    },
    /// A write of a committed transaction is missing at the end, and so is all that builds on it.
    LostWrite {
        /// Where.
        key: Bytes,
        /// Who.
        writer: TxnId,
    },
    /// Some of what a transaction wrote is there, and some is not.
    Torn {
        /// Who.
        writer: TxnId,
        /// A key that shows it.
        there: Bytes,
        /// A key that does not.
        missing: Bytes,
    },
    /// A read listed versions in another order than the list at the end.
    Fork {
        /// The transaction that read.
        reader: TxnId,
        /// Where.
        key: Bytes,
    },
    /// A version is in a list twice.
    Repeated {
        /// Where.
        key: Bytes,
        /// What.
        version: Version,
    },
    /// A commit has a lower number than one it must come after.
    Misnumbered(Edge),
    /// Each transaction comes before the next, and the last one before the first.
    Circle(Vec<Edge>),
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = |reader: &Option<TxnId>| match reader {
            Some(reader) => format!("transaction {reader} saw"),
            None => "at the end there is".to_owned(),
        };
        let at = |key: &Bytes| key.escape_ascii().to_string();
        match self {
            Self::AbortedRead { reader, key, version } => {
                let (who, key, writer) = (who(reader), at(key), version.txn);
                write!(f, "{who} a write of {key} by {writer}, which was refused or never ran")
            }
            Self::IntermediateRead { reader, key, version } => {
                let (who, key, writer) = (who(reader), at(key), version.txn);
                write!(f, "{who} a write of {key} that {writer} itself had replaced")
            }
            Self::LostUpdate { key, writers: (one, other) } => {
                write!(f, "{one} and {other} both replaced the same version of {}", at(key))
            }
            Self::LostWrite { key, writer } => {
                write!(f, "the committed write of {} by {writer} is lost", at(key))
            }
            Self::Torn { writer, there, missing } => {
                let (there, missing) = (at(there), at(missing));
                write!(
                    f,
                    "of transaction {writer} the write of {there} is there, that of {missing} is not"
                )
            }
            Self::Fork { reader, key } => {
                write!(f, "transaction {reader} saw {} in another order than at the end", at(key))
            }
            Self::Repeated { key, version } => {
                write!(f, "the write of {} by {} is there twice", at(key), version.txn)
            }
            Self::Misnumbered(edge) => write!(f, "numbers of commits go against {edge}"),
            Self::Circle(edges) => {
                let edges: Vec<String> = edges.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "each is before the next, and the last before the first: {}",
                    edges.join(", ")
                )
            }
        }
    }
}

/// Returns what is wrong with `history`; nothing if one order of its transactions, true to real
/// time, explains all that was seen.
#[must_use]
pub fn check(history: &History) -> Vec<Anomaly> {
    let checker = Checker::new(history);
    let mut anomalies = checker.lists();
    anomalies.extend(checker.updates());
    anomalies.extend(checker.writes());
    let graph = checker.graph();
    if history.is_numbered_in_order {
        anomalies.extend(checker.numbers(&graph));
    }
    anomalies.extend(graph.circle().map(Anomaly::Circle));
    anomalies
}

struct Checker<'a> {
    history: &'a History,
    by_id: BTreeMap<TxnId, &'a Record>,
    /// Those that committed, as far as is known or was seen.
    committed: BTreeSet<TxnId>,
}

impl<'a> Checker<'a> {
    fn new(history: &'a History) -> Self {
        let by_id = history.records.iter().map(|record| (record.id, record)).collect();
        let seen: BTreeSet<TxnId> = history
            .records
            .iter()
            .flat_map(|record| &record.reads)
            .map(|(_, list)| list)
            .chain(history.finals.values())
            .flatten()
            .map(|version| version.txn)
            .collect();
        let committed = history
            .records
            .iter()
            .filter(|record| match record.outcome {
                Outcome::Committed(_) => true,
                Outcome::Aborted => false,
                Outcome::Unknown => seen.contains(&record.id),
            })
            .map(|record| record.id)
            .collect();
        Self { history, by_id, committed }
    }

    fn committed(&self) -> impl Iterator<Item = &'a Record> {
        self.history.records.iter().filter(|record| self.committed.contains(&record.id))
    }

    fn list(&self, key: &Bytes) -> &'a [Version] {
        self.history.finals.get(key).map_or(&[], Vec::as_slice)
    }

    /// Looks at each list that was read, and at those at the end.
    fn lists(&self) -> Vec<Anomaly> {
        let mut anomalies = Vec::new();
        for (key, list) in &self.history.finals {
            self.list_of(None, key, list, &mut anomalies);
        }
        // What a transaction saw must make sense even if it was refused in the end: it may have
        // told its client.
        for record in &self.history.records {
            for (key, list) in &record.reads {
                self.list_of(Some(record.id), key, list, &mut anomalies);
                if !self.list(key).starts_with(list) {
                    anomalies.push(Anomaly::Fork { reader: record.id, key: key.clone() });
                }
            }
        }
        anomalies
    }

    fn list_of(
        &self,
        reader: Option<TxnId>,
        key: &Bytes,
        list: &[Version],
        anomalies: &mut Vec<Anomaly>,
    ) {
        let mut met = BTreeSet::new();
        for version in list.iter().copied() {
            if !met.insert(version) {
                anomalies.push(Anomaly::Repeated { key: key.clone(), version });
            }
            let written = self.by_id.get(&version.txn).and_then(|writer| {
                writer.writes.iter().find(|(written, _)| written == key).map(|(_, last)| *last)
            });
            let key = key.clone();
            match written {
                Some(last) if last == version && self.committed.contains(&version.txn) => {}
                Some(last) if last != version && self.committed.contains(&version.txn) => {
                    anomalies.push(Anomaly::IntermediateRead { reader, key, version });
                }
                _ => anomalies.push(Anomaly::AbortedRead { reader, key, version }),
            }
        }
    }

    /// Looks for two that replaced the same version.
    fn updates(&self) -> Vec<Anomaly> {
        let mut anomalies = Vec::new();
        let mut replaced: BTreeMap<(&Bytes, Option<Version>), TxnId> = BTreeMap::new();
        for record in self.committed() {
            for (key, list) in &record.reads {
                if !record.writes.iter().any(|(written, _)| written == key) {
                    continue;
                }
                if let Some(other) = replaced.insert((key, list.last().copied()), record.id) {
                    let writers = (other, record.id);
                    anomalies.push(Anomaly::LostUpdate { key: key.clone(), writers });
                }
            }
        }
        anomalies
    }

    /// Looks for writes that should be there and are not.
    fn writes(&self) -> Vec<Anomaly> {
        let mut anomalies = Vec::new();
        for record in self.committed() {
            let (there, missing): (Vec<_>, Vec<_>) =
                record.writes.iter().partition(|(key, version)| self.list(key).contains(version));
            match (there.first(), missing.first()) {
                (Some((there, _)), Some((missing, _))) => anomalies.push(Anomaly::Torn {
                    writer: record.id,
                    there: there.clone(),
                    missing: missing.clone(),
                }),
                (None, Some((key, _))) => {
                    anomalies.push(Anomaly::LostWrite { key: key.clone(), writer: record.id });
                }
                _ => {}
            }
        }
        anomalies
    }

    /// Looks for numbers that go against the order of two commits that both wrote.
    fn numbers(&self, graph: &Graph) -> Vec<Anomaly> {
        let number = |txn: &TxnId| match self.by_id.get(txn)?.outcome {
            Outcome::Committed(number) => number,
            Outcome::Aborted | Outcome::Unknown => None,
        };
        graph
            .edges()
            .filter(|edge| match (number(&edge.from), number(&edge.to)) {
                (Some(from), Some(to)) => from >= to,
                _ => false,
            })
            .map(|edge| Anomaly::Misnumbered(edge.clone()))
            .collect()
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let mut add = |from, to, dependency, key: &Bytes| {
            graph.add(Edge { from, to, dependency, key: key.clone() });
        };
        for (key, list) in &self.history.finals {
            for (earlier, later) in list.iter().zip(list.iter().skip(1)) {
                add(earlier.txn, later.txn, Dependency::WriteWrite, key);
            }
        }
        // One that was refused counts as one that only read: what it saw was one moment.
        for record in &self.history.records {
            for (key, list) in &record.reads {
                if let Some(last) = list.last() {
                    add(last.txn, record.id, Dependency::WriteRead, key);
                }
                if let Some(next) = self.list(key).get(list.len()) {
                    add(record.id, next.txn, Dependency::ReadWrite, key);
                }
            }
        }
        self.real_time(&mut graph);
        graph
    }

    /// Adds who had ended when whom began. Each is only tied to those that ended last before it:
    /// the ones before those are before it by way of them.
    fn real_time(&self, graph: &mut Graph) {
        let ended: Vec<&Record> = self
            .committed()
            .filter(|record| matches!(record.outcome, Outcome::Committed(_)))
            .collect();
        for record in &self.history.records {
            let before = || ended.iter().filter(|earlier| earlier.ended < record.began);
            let last_began = before().map(|earlier| earlier.began).max().unwrap_or(0);
            for earlier in before().filter(|earlier| earlier.ended >= last_began) {
                let dependency = Dependency::RealTime;
                let (from, to) = (earlier.id, record.id);
                graph.add(Edge { from, to, dependency, key: Bytes::new() });
            }
        }
    }
}

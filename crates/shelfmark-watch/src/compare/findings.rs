//! Findings: what requests and data do that the model does not declare, each once with how often.
//!
//! Invariant: a finding has no value in it, and at most [`super::FINDINGS_MAX`] are kept.

use std::collections::BTreeMap;

use shelfmark_admin::{PatternEntry, SeenRequest, Spread, WatchFinding};

use super::FINDINGS_MAX;
use crate::items::Broken;
use crate::watched::Group;

/// The findings, by kind and what they are about.
#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: BTreeMap<(&'static str, String), WatchFinding>,
    /// Findings about further things, which were not kept.
    more: u64,
}

impl Findings {
    /// Notes what is wrong with data. Of a partition that grows the last count stays.
    pub(super) fn broken(&mut self, broken: Broken) {
        let Broken { kind, about, message } = broken;
        self.add(kind, about, message);
    }

    /// Notes a read that returned more rows than is declared.
    pub(super) fn of_read(&mut self, group: &Group, request: &SeenRequest) {
        let returned = request.rows_returned;
        let about = || group.patterns.join(", ");
        if group.unique && returned > 1 {
            let message = format!("returned {returned} rows and is declared unique");
            return self.add("unique", about(), message);
        }
        if let Some(most) = group.rows.max.filter(|most| returned as f64 > *most) {
            let message = format!("returned {returned} rows; at most {most} are declared");
            self.add("fan-out", about(), message);
        }
    }

    fn add(&mut self, kind: &'static str, about: String, message: String) {
        let key = (kind, about);
        if self.kept.len() >= FINDINGS_MAX && !self.kept.contains_key(&key) {
            self.more += 1;
            return;
        }
        let (kind, about) = (kind.to_owned(), key.1.clone());
        let own =
            self.kept.entry(key).or_insert(WatchFinding { kind, about, ..WatchFinding::default() });
        own.message = message;
        own.count += 1;
    }

    /// Returns the findings: first the reads that read more than they returned.
    pub(super) fn all(
        &self,
        patterns: &[PatternEntry],
        uncovered: impl Iterator<Item = (String, Spread, Spread)>,
    ) -> Vec<WatchFinding> {
        let covered = patterns
            .iter()
            .filter(|own| own.reads)
            .map(|own| (own.patterns.join(", "), own.rows_read, own.rows_returned));
        let reads = covered.chain(uncovered).filter_map(|(about, read, returned)| {
            (read.sum > returned.sum).then(|| WatchFinding {
                kind: "reads more".to_owned(),
                about,
                message: format!(
                    "read {} rows and returned {}: {} for each that was wanted",
                    read.sum,
                    returned.sum,
                    ratio(read.sum, returned.sum)
                ),
                count: 1,
            })
        });
        let mut all: Vec<WatchFinding> = reads.collect();
        all.extend(self.kept.values().cloned());
        if self.more > 0 {
            all.push(WatchFinding {
                kind: "more".to_owned(),
                about: "findings".to_owned(),
                message: format!("{FINDINGS_MAX} are kept; others were counted"),
                count: self.more,
            });
        }
        all
    }
}

fn ratio(read: u64, returned: u64) -> String {
    match returned {
        0 => "all of them".to_owned(),
        _ => format!("{:.1}", read as f64 / returned as f64),
    }
}

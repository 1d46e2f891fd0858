//! Tracks the acknowledgements in a program's output: the least that must survive it.
//!
//! The program says, one line each, `found THREAD INDEX` for what it finds when it opens the store,
//! `ack THREAD INDEX NUMBER` for what it was acknowledged, and other lines for people.

use std::collections::BTreeMap;

use shelfmark_store::Durability;

use crate::powercut::recording::Event;

/// Commits that must be there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Promise {
    /// Per thread, the index of the last one.
    pub last: BTreeMap<u64, u64>,
    /// The highest number of one.
    pub number: u64,
    /// The highest number that a synced superblock covers: its loss must be noticed.
    pub superblock_commit: u64,
}

impl Promise {
    /// Takes in a line that the program said.
    pub fn hear(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let is_ack = match words.next() {
            Some("ack") => true,
            Some("found") => false,
            _ => return,
        };
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        if let (Some(thread), Some(index)) = (number(), number()) {
            let last = self.last.entry(thread).or_default();
            *last = index.max(*last);
            if let (true, Some(number)) = (is_ack, number()) {
                self.number = number.max(self.number);
            }
        }
    }
}

/// The kind of a file, as it matters to a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Log,
    Superblock,
    Other,
}

/// Follows a recording and tells what is promised against a power cut at each point.
#[derive(Debug, Clone)]
pub struct Promises {
    durability: Durability,
    line: String,
    /// The acknowledgements so far.
    said: Promise,
    /// The data that a power cut must leave.
    promised: Promise,
    /// Syncs of log files and superblocks under way, and what was said when they began.
    syncs: BTreeMap<u32, (Kind, Promise)>,
    files: BTreeMap<u32, Kind>,
}

impl Promises {
    /// Begins before the first event.
    #[must_use]
    pub fn new(durability: Durability) -> Self {
        Self {
            durability,
            line: String::new(),
            said: Promise::default(),
            promised: Promise::default(),
            syncs: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    /// Returns what must be there now.
    #[must_use]
    pub fn now(&self) -> &Promise {
        &self.promised
    }

    /// Takes in an event.
    pub fn observe(&mut self, event: &Event) {
        match event {
            Event::Begin => {
                self.line.clear();
                self.syncs.clear();
                self.files.clear();
            }
            Event::Note(bytes) => self.hear(&String::from_utf8_lossy(bytes)),
            Event::Open { handle, path, .. } => {
                let kind = if path.extension().is_some_and(|extension| extension == "log") {
                    Kind::Log
                } else if path.file_name().is_some_and(|name| name == "mark") {
                    Kind::Superblock
                } else {
                    Kind::Other
                };
                self.files.insert(*handle, kind);
            }
            Event::SyncBegin { handle, number, .. } => {
                let kind = self.files.get(handle).copied().unwrap_or(Kind::Other);
                self.syncs.insert(*number, (kind, self.said.clone()));
            }
            Event::SyncEnd { number } => match self.syncs.remove(number) {
                // Under an interval, what was said before a sync of the log is safe after it.
                Some((Kind::Log, said)) => self.promise(said),
                Some((Kind::Superblock, said)) => self.promised.superblock_commit = said.number,
                Some((Kind::Other, _)) | None => {}
            },
            _ => {}
        }
    }

    fn hear(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                self.said.hear(&line);
                // What was found by an open was seen by a reader, whatever the mode.
                if self.durability == Durability::Sync || line.starts_with("found") {
                    self.promise(self.said.clone());
                }
            }
        }
    }

    fn promise(&mut self, said: Promise) {
        let superblock_commit = self.promised.superblock_commit;
        self.promised = Promise { superblock_commit, ..said };
    }
}

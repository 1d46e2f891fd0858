//! Runs commands of cassandra-cli one by one, and parses what they print.

use anyhow::{anyhow, bail};
use shelfmark_cassandra_cli::{Backend, Client, Local, Mode, parse, script};

use crate::tour::asker::Answer;
use crate::tour::meter::Meter;

/// A column of an answer, as it is printed.
pub(super) struct Column {
    /// Its name; the parts of a composite have colons between.
    pub(super) name: String,
    pub(super) value: String,
}

/// Runs commands that must succeed, and returns what they print.
pub(super) fn run(client: &mut Client<impl Backend>, text: &str) -> anyhow::Result<Vec<String>> {
    let script = script(text, Mode::Strict);
    if script.unfinished {
        bail!("the last command has no semicolon: {text}");
    }
    let mut lines = Vec::new();
    for piece in &script.pieces {
        let command = parse(piece, Mode::Strict, &mut Vec::new())?;
        let reply = client.run(&command).map_err(|refusal| anyhow!("{}: {refusal}", piece.text))?;
        lines.extend(reply.lines);
    }
    Ok(lines)
}

/// A session whose commands are measured.
pub(super) struct Session {
    pub(super) client: Client<Local>,
    pub(super) meter: Meter,
}

impl Session {
    /// Runs one command and returns the columns formatted by `show`, with its cost, or the refusal.
    pub(super) fn ask(
        &mut self,
        text: &str,
        show: impl Fn(&Column) -> String,
    ) -> anyhow::Result<Answer> {
        let script = script(text, Mode::Strict);
        let piece = script.pieces.first().ok_or_else(|| anyhow!("no command: {text}"))?;
        let command = parse(piece, Mode::Strict, &mut Vec::new())?;
        let shown = |line: &String| Some(show(&column(line)?));
        self.meter.answer(|| {
            Ok(match self.client.run(&command) {
                Ok(reply) => (reply.lines.iter().filter_map(shown).collect(), None),
                Err(refusal) => (Vec::new(), Some(refusal)),
            })
        })
    }

    /// Runs commands that must succeed and returns the result of `body`, with their costs together.
    pub(super) fn work(
        &mut self,
        body: impl FnOnce(&mut Client<Local>) -> anyhow::Result<Vec<String>>,
    ) -> anyhow::Result<Answer> {
        self.meter.answer(|| Ok((body(&mut self.client)?, None)))
    }
}

/// Parses `=> (column=…, value=…, timestamp=…)`.
pub(super) fn column(line: &str) -> Option<Column> {
    let rest = line.strip_prefix("=> (column=")?;
    let (rest, _) = rest.rsplit_once(", timestamp=")?;
    let (name, value) = rest.split_once(", value=")?;
    Some(Column { name: name.to_owned(), value: value.to_owned() })
}

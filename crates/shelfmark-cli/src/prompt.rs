//! A prompt on a terminal: editing over several lines, history, completion.
//!
//! What it is not: it knows no language; a [`Language`] says what is whole and what may come next.
//!
//! Invariant: no line with a password in it is remembered.

use std::path::PathBuf;

use anyhow::Context as _;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{FileHistory, History as _};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use shelfmark_store::vfs;

/// Limits the lines of history. Source: ours; cqlsh keeps as many.
const HISTORY_LINES_MAX: usize = 1_000;

/// The language of a prompt.
pub(crate) trait Language {
    /// Returns true if the text is complete, false if it continues in the next line.
    fn is_whole(&self, text: &str) -> bool;

    /// Returns completions for the end of a text, and the byte where the completed word begins.
    fn complete(&self, text: &str) -> (usize, Vec<String>);
}

/// The result of asking for a line.
pub(crate) enum Line {
    /// A complete text, of one or several lines.
    Text(String),
    /// The user discarded the input.
    Interrupted,
    /// The user left.
    End,
}

/// A prompt with its history.
pub(crate) struct Prompt<L: Language> {
    editor: Editor<Helping<L>, FileHistory>,
    history: Option<PathBuf>,
}

impl<L: Language> Prompt<L> {
    /// Creates a prompt; `name` names its history.
    pub(crate) fn new(language: L, name: &str) -> anyhow::Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY_LINES_MAX)?
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config).context("the terminal cannot be used")?;
        editor.set_helper(Some(Helping(language)));
        let history = history_file(name);
        if let Some(path) = history.as_ref().filter(|path| path.exists()) {
            // A history that cannot be read is no reason not to work.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }

    /// Returns the language, to update its knowledge.
    pub(crate) fn language(&mut self) -> Option<&mut L> {
        self.editor.helper_mut().map(|helping| &mut helping.0)
    }

    /// Asks for a complete text, and adds it to the history.
    pub(crate) fn read(&mut self, prompt: &str) -> anyhow::Result<Line> {
        match self.editor.readline(prompt) {
            Ok(text) => {
                self.remember(&text);
                Ok(Line::Text(text))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(error) => Err(error).context("the terminal cannot be read"),
        }
    }

    fn remember(&mut self, text: &str) {
        let text = text.trim_end();
        if text.is_empty() || text.to_ascii_lowercase().contains("password") {
            return;
        }
        // A history that cannot be written is no reason not to work.
        let _ = self.editor.add_history_entry(text);
        if let Some(path) = &self.history {
            let _ = self.editor.history_mut().append(path);
        }
    }
}

/// Asks whether to go on; the answer is not added to the history.
pub(crate) fn more(question: &str) -> anyhow::Result<Line> {
    let mut editor = rustyline::DefaultEditor::new().context("the terminal cannot be used")?;
    match editor.readline(question) {
        Ok(text) => Ok(Line::Text(text)),
        Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
        Err(ReadlineError::Eof) => Ok(Line::End),
        Err(error) => Err(error).context("the terminal cannot be read"),
    }
}

/// Returns the file of a history in the user's data folder, which is created.
fn history_file(name: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let state = match set("XDG_STATE_HOME") {
        Some(state) => PathBuf::from(state),
        None => PathBuf::from(set("HOME")?).join(".local/state"),
    };
    let folder = state.join("shelfmark");
    vfs::create_folder(&folder).ok()?;
    Some(folder.join(name))
}

/// Adapts a language to the line editor.
struct Helping<L>(L);

impl<L: Language> Helper for Helping<L> {}
impl<L: Language> Highlighter for Helping<L> {}

impl<L: Language> Hinter for Helping<L> {
    type Hint = String;
}

impl<L: Language> Validator for Helping<L> {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        if self.0.is_whole(context.input()) {
            Ok(ValidationResult::Valid(None))
        } else {
            Ok(ValidationResult::Incomplete)
        }
    }
}

impl<L: Language> Completer for Helping<L> {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.0.complete(line.get(..at).unwrap_or(line)))
    }
}

//! A model as callers use it: text in, findings, certificates and texts out.

use serde::Serialize;
use serde_json::Value as Json;

use shelfmark_design_language::catalogue::Severity;
use shelfmark_design_language::certificate::Certificate;
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::resolve::{resolve, resolve_rest};
use shelfmark_design_language::syntax::diagnostic::{Diagnostic, render, render_at};
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_language::syntax::tree::File;

/// One finding of `check`.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The lint, such as `K3`.
    pub id: String,
    /// The severity.
    pub severity: Severity,
    /// The schema it is in; empty for the model itself.
    pub schema: String,
    /// The file as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The defect.
    pub message: String,
    /// Evidence of the harm; never absent for an error.
    pub reproducer: Option<Json>,
    /// The remedy.
    #[serde(skip)]
    pub fix: String,
    /// The reason with which the model allows it.
    #[serde(skip)]
    pub allowed: Option<String>,
    /// The place in the text.
    #[serde(skip)]
    pub(crate) start: usize,
    #[serde(skip)]
    pub(crate) end: usize,
}

/// A parsed and resolved model.
#[derive(Debug, Clone)]
pub struct Document {
    name: String,
    source: String,
    pub(crate) file: File,
    pub(crate) model: Model,
    /// The start of each line.
    lines: Vec<usize>,
}

/// The errors of a text that is no model, formatted as a compiler does.
#[derive(Debug, Clone)]
pub struct Report {
    /// The messages, ready to print.
    pub text: String,
    /// Number of messages.
    pub count: usize,
}

impl std::fmt::Display for Report {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)
    }
}

impl std::error::Error for Report {}

impl Document {
    /// Parses and resolves a text, or the JSON form, which begins with a brace. `name` is what
    /// messages call it.
    ///
    /// Of the JSON form the document's text, and with it every place that is told, is what
    /// [`Document::text_of_json`] makes of it.
    ///
    /// Cost: linear in the text, but for names, which are looked up in lists.
    ///
    /// # Errors
    ///
    /// Every error of the text in one [`Report`]. Mend the text.
    pub fn parse(name: &str, source: &str) -> Result<Self, Report> {
        let text = crate::machine::text_of(name, source)?;
        let source = text.as_ref();
        let parsed = parse(source);
        let mut diagnostics = parsed.diagnostics;
        let mut model = Model::default();
        if diagnostics.is_empty() {
            let (resolved, more) = resolve(&parsed.file);
            model = resolved;
            diagnostics = more;
        } else {
            diagnostics.extend(resolve_rest(&parsed.file, parsed.broken));
            diagnostics.sort_by_key(|one| one.span.start);
            diagnostics.truncate(shelfmark_design_language::limits::DIAGNOSTICS_MAX);
        }
        if diagnostics.is_empty() {
            let breaks = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            let lines = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
            let source = source.to_owned();
            return Ok(Self { name: name.to_owned(), source, file: parsed.file, model, lines });
        }
        Err(report(name, source, &diagnostics))
    }

    /// Formats a text, or the JSON form. Names need not resolve.
    ///
    /// # Errors
    ///
    /// What keeps it from being parsed. Mend the text.
    pub fn format(name: &str, source: &str) -> Result<String, Report> {
        if let Some(json) = crate::machine::formatted(name, source)? {
            return Ok(json);
        }
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        let parsed = parse(source);
        if parsed.diagnostics.is_empty() {
            return Ok(shelfmark_design_language::syntax::print::format(
                source,
                &parsed.file,
                &parsed.comments,
            ));
        }
        Err(report(name, source, &parsed.diagnostics))
    }

    /// Proves every pattern in every schema, in the order of the model.
    #[must_use]
    pub fn prove(&self) -> Vec<Certificate> {
        let proofs = shelfmark_design_prove::prove(&self.model, &self.hash());
        proofs.into_iter().map(|proof| proof.certificate).collect()
    }

    /// Runs all lints.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        crate::lint::check(self)
    }

    /// Verifies a certificate by other code than the prover's, and returns how it was checked.
    ///
    /// Cost: some hundred small runs.
    ///
    /// # Errors
    ///
    /// What does not hold, or that the certificate is of another model. Prove the model anew.
    pub fn verify(&self, certificate: &Certificate) -> Result<String, String> {
        if certificate.model != self.hash() {
            return Err("it was made for another text".to_owned());
        }
        shelfmark_design_verify::verify(&self.model, certificate)
    }

    /// Returns the JSON form of the model.
    ///
    /// # Errors
    ///
    /// A message when it cannot be written, which no known model causes.
    pub fn to_json(&self) -> Result<Json, String> {
        serde_json::to_value(&self.file).map_err(|error| error.to_string())
    }

    /// Converts the JSON form to model text.
    ///
    /// # Errors
    ///
    /// What in the JSON is no model, and where. Compare it with [`Document::json_schema`].
    pub fn text_of_json(name: &str, json: &str) -> Result<String, Report> {
        crate::machine::text(name, json)
    }

    /// Returns the JSON Schema of the JSON form.
    #[must_use]
    pub fn json_schema() -> Json {
        serde_json::to_value(schemars::schema_for!(File)).unwrap_or(Json::Null)
    }

    /// Returns the resolved model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the names of the schemas.
    #[must_use]
    pub fn schemas(&self) -> Vec<String> {
        self.model.schemas.iter().map(|schema| schema.name.text.clone()).collect()
    }

    /// Returns the names of the reads and writes.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        let reads = self.model.reads.iter().map(|read| read.name.text.as_str());
        reads.chain(self.model.writes.iter().map(|write| write.name.text.as_str()))
    }

    /// Returns the text.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the name of the text in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a hash of the text, by which a certificate names its model.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut state = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.source.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("{state:016x}")
    }

    /// Formats a finding with its snippet.
    #[must_use]
    pub fn render(&self, finding: &Finding) -> String {
        let place = if finding.schema.is_empty() {
            String::new()
        } else {
            format!(" (in {})", finding.schema)
        };
        let head =
            format!("{}[{}]: {}{place}", finding.severity.word(), finding.id, finding.message);
        let help = (!finding.fix.is_empty()).then_some(finding.fix.as_str());
        // The line is known: a text with many findings is not searched for each of them.
        let begin = self.lines.get(finding.line.saturating_sub(1)).copied().unwrap_or(0);
        let text = self.source.get(begin..).and_then(|rest| rest.lines().next()).unwrap_or("");
        let before = self.source.get(begin..finding.start).unwrap_or("").chars().count();
        let marked = self.source.get(finding.start..finding.end).unwrap_or("");
        let place = (finding.line, before + 1);
        render_at(&self.name, place, text, marked, &head, (None, help))
    }

    pub(crate) fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }
}

/// Explains the id of a lint or of an obligation: a line, the harm, and the remedy.
#[must_use]
pub fn explain(id: &str) -> Option<String> {
    use shelfmark_design_language::catalogue;
    let Some(lint) = catalogue::find(id) else {
        let (id, name, text) = catalogue::OBLIGATIONS.iter().find(|(name, ..)| *name == id)?;
        return Some(format!("{id} (obligation of a certificate): {name}\n\n{text}\n"));
    };
    Some(format!(
        "{} ({}): {}\n\n{}\n\nWhat to do: {}.\n",
        lint.id,
        lint.severity.word(),
        lint.short,
        lint.long,
        lint.fix
    ))
}

/// Returns the known word that is nearest to what was written, if one is near.
#[must_use]
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    shelfmark_design_language::syntax::diagnostic::nearest(written, known)
}

/// Returns the ids of all lints.
#[must_use]
pub fn lints() -> Vec<&'static str> {
    shelfmark_design_language::catalogue::ALL.iter().map(|lint| lint.id).collect()
}

/// Returns a commented model to begin with.
#[must_use]
pub fn starter() -> &'static str {
    include_str!("starter.shelf")
}

pub(crate) fn report(name: &str, source: &str, diagnostics: &[Diagnostic]) -> Report {
    let shown = diagnostics.iter().map(|diagnostic| {
        render(
            name,
            source,
            diagnostic.span,
            &format!("error: {}", diagnostic.message),
            diagnostic.label.as_deref(),
            diagnostic.help.as_deref(),
        )
    });
    Report { text: shown.collect::<Vec<_>>().join("\n"), count: diagnostics.len() }
}

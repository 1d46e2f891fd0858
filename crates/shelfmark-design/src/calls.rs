//! The requests of a schema's certified plans, for people and for machines.
//!
//! What it is not: it words no request; `shelfmark-design-prove` does.
//!
//! Invariant: what stands here is certified, or stands among what is left out, with the reason.

use serde_json::{Value as Json, json};

use crate::Document;
use shelfmark_design_language::certificate::Status;
use shelfmark_design_prove::calls::Call;
use shelfmark_design_prove::{calls, prove};

/// The requests of one schema.
#[derive(Debug, Clone)]
pub struct Requests {
    /// The schema.
    pub schema: String,
    /// The target of the requests.
    pub target: String,
    /// The requests that create the tables.
    pub create: Vec<Json>,
    /// The requests, in the order of the patterns and of their steps.
    pub calls: Vec<Call>,
    /// The attributes that columns of the tables stand for, row type by row type.
    pub rows: Vec<Json>,
    /// Patterns without requests, each with the reason.
    pub left_out: Vec<(String, String)>,
}

impl Document {
    /// Returns the requests of a schema's certified plans, of one pattern or of all.
    ///
    /// Cost: that of [`Document::prove`].
    ///
    /// # Errors
    ///
    /// An unknown schema, or tables that the target does not make. Name another, or change it.
    pub fn calls(&self, schema: &str, pattern: Option<&str>) -> Result<Requests, String> {
        let place = self.model.schemas.iter().position(|one| one.name.text == schema);
        let place = place.ok_or_else(|| format!("there is no schema {schema}"))?;
        let found = self.model.schemas.get(place).ok_or("there is no such schema")?;
        let said = calls::Calls::new(&self.model, found).ok_or("there is no such target")?;
        let create = said.create().map_err(|refusal| refusal.to_string())?;
        let mut out = Requests {
            schema: schema.to_owned(),
            target: found.target.clone(),
            create,
            calls: Vec::new(),
            rows: said.rows(),
            left_out: Vec::new(),
        };
        for proof in prove(&self.model, &self.hash()) {
            let name = &proof.certificate.pattern;
            if proof.schema != place || pattern.is_some_and(|only| only != name) {
                continue;
            }
            if !matches!(proof.certificate.status, Status::Certified | Status::Multi) {
                let why =
                    format!("{}: {}", proof.certificate.status.word(), proof.certificate.reason);
                out.left_out.push((name.clone(), why));
                continue;
            }
            match said.of_proof(&proof) {
                Ok(found) => out.calls.extend(found),
                Err(refusal) => out.left_out.push((name.clone(), refusal.to_string())),
            }
        }
        Ok(out)
    }
}

impl Requests {
    /// Returns the machine form.
    #[must_use]
    pub fn json(&self) -> Json {
        let left_out = self.left_out.iter();
        json!({
            "schema": self.schema,
            "target": self.target,
            "create": self.create,
            "calls": self.calls.iter().map(Call::json).collect::<Vec<_>>(),
            "rows": self.rows,
            "left_out": left_out
                .map(|(pattern, why)| json!({ "pattern": pattern, "why": why }))
                .collect::<Vec<_>>(),
        })
    }

    /// Returns the text for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("schema {} for {}\n\n", self.schema, self.target);
        for one in &self.create {
            out.push_str(&shown(one));
            out.push('\n');
        }
        for call in &self.calls {
            let (pattern, step, operation) = (&call.pattern, call.step, &call.operation);
            out.push_str(&format!("\n{pattern}, step {step}: {operation}\n"));
            for (name, value) in &call.beside {
                out.push_str(&format!("  {name} {value}\n"));
            }
            let request = call.request.get("statement").unwrap_or(&call.request);
            out.push_str(&shown(request));
            for (word, member) in [("where", "values"), ("in pages of", "page_size")] {
                if let Some(more) = call.request.get(member) {
                    out.push_str(&format!("  {word} {more}\n"));
                }
            }
        }
        if !self.left_out.is_empty() {
            out.push('\n');
        }
        for (pattern, why) in &self.left_out {
            out.push_str(&format!("left out {pattern}: {why}\n"));
        }
        out
    }
}

/// Formats a statement, or a body with one field per line.
fn shown(request: &Json) -> String {
    match request {
        Json::String(statement) => format!("  {statement};\n"),
        other => {
            let text = serde_json::to_string_pretty(other).unwrap_or_default();
            text.lines().map(|line| format!("  {line}\n")).collect()
        }
    }
}

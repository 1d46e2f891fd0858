//! Draws pictures of a model: entities, tables, sample rows, and the range of each read, as SVG;
//! and one page of HTML with all of it, the findings and the certificates.
//!
//! What it is not: it writes no file and judges nothing; it shows what `prove` and `lint` say.
//! A model is not trusted: its texts become character data, never markup.
//!
//! Invariant: output is a function of the model; it loads nothing, runs no script, and follows
//! the reader's light or dark scheme. What exceeds a limit is left out and counted.

mod aggregate;
mod boxes;
mod chebotko;
mod entities;
mod layers;
mod metrics;
mod page;
mod printed;
mod ranges;
mod reach;
mod sample;
mod style;
mod svg;

#[cfg(test)]
mod tests;

use crate::document::Document;
use sample::Short;
use shelfmark_design_language::certificate::shown::counted;
use shelfmark_design_language::limits::DRAWN_SCHEMAS_MAX;
use shelfmark_design_language::model::schema::Schema;
use shelfmark_design_language::model::{Model, Value};
use shelfmark_design_prove::eval::rows::{Rows, rows};
use shelfmark_design_prove::eval::state::State;
use shelfmark_design_prove::{Proof, prove};
use svg::{MARGIN, SOFT, Svg, TITLE};

/// The view that a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Sample rows of each table in key order, and the interval of each read on them.
    Ranges,
    /// Partitions with their sample rows and attributes.
    Aggregate,
    /// Tables with key columns and directions, and the queries that reach them.
    Chebotko,
    /// Entities and links with their attributes; the same for all schemas.
    Entities,
}

impl View {
    /// All of them, the most telling first.
    pub const ALL: [Self; 4] = [Self::Ranges, Self::Aggregate, Self::Chebotko, Self::Entities];

    /// Returns the word on command lines and in file names.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ranges => "ranges",
            Self::Aggregate => "aggregate",
            Self::Chebotko => "chebotko",
            Self::Entities => "entities",
        }
    }

    /// Returns the title of the picture on pages.
    fn title(self) -> &'static str {
        match self {
            Self::Ranges => "Ranges on the key line",
            Self::Aggregate => "Partitions and rows",
            Self::Chebotko => "Tables and queries",
            Self::Entities => "Entities and links",
        }
    }
}

impl Document {
    /// Draws one view as a stand-alone SVG document: of one schema, or of all below each other.
    ///
    /// Cost: as [`Document::prove`], and some small runs of each read.
    ///
    /// # Errors
    ///
    /// A message that names the known schemas when there is none of this name.
    pub fn draw(&self, view: View, schema: Option<&str>) -> Result<String, String> {
        let scene = Scene::of(self);
        let mut numbers: Vec<usize> = (0..self.model.schemas.len()).collect();
        if let Some(name) = schema {
            numbers.retain(|at| self.model.schemas.get(*at).is_some_and(|s| s.name.text == name));
            if numbers.is_empty() {
                let known = self.schemas().join(", ");
                return Err(format!("no schema is called {name}; known: {known}"));
            }
        }
        let title = format!("{}: {}", self.name(), view.title());
        if view == View::Entities {
            return Ok(entities::draw(&scene).finish(&title, true));
        }
        let mut svg = Svg::default();
        let mut y = MARGIN;
        let more = numbers.len().saturating_sub(DRAWN_SCHEMAS_MAX);
        for number in numbers.into_iter().take(DRAWN_SCHEMAS_MAX) {
            let Some(found) = self.model.schemas.get(number) else { continue };
            let end = svg.text(MARGIN, y + 16.0, TITLE, &found.name.text);
            svg.text(end + 10.0, y + 16.0, SOFT, &format!("target {}", found.target));
            let picture = scene.picture(view, number);
            svg.place(0.0, y + 26.0, &picture);
            y = svg.size().1 + 30.0;
        }
        if more > 0 {
            svg.text(MARGIN, y + 12.0, SOFT, &left_out(more, "schema"));
        }
        Ok(svg.finish(&title, true))
    }

    /// Returns one self-contained HTML page: proofs and findings in a table, the pictures of each schema,
    /// every certificate, and the text of the model.
    ///
    /// Cost: as [`Document::check`] and [`Document::draw`] together.
    #[must_use]
    pub fn page(&self) -> String {
        page::page(self)
    }
}

/// Returns the note below a picture that would be too large.
fn left_out(more: usize, noun: &str) -> String {
    let verb = if more == 1 { "is" } else { "are" };
    format!("{} {verb} not drawn", counted(more, &format!("more {noun}")))
}

/// The context that all pictures of a model share.
struct Scene<'a> {
    model: &'a Model,
    proofs: Vec<Proof>,
    state: State,
    short: Short,
    /// Inputs of each read for which the sample has something to show.
    inputs: Vec<Vec<Value>>,
}

impl<'a> Scene<'a> {
    fn of(document: &'a Document) -> Self {
        let model = &document.model;
        let state = sample::state(model);
        let short = Short::of(model, &state);
        let inputs = model.reads.iter().map(|read| reach::inputs(model, &state, read)).collect();
        Self { model, proofs: prove(model, &document.hash()), state, short, inputs }
    }

    fn picture(&self, view: View, schema: usize) -> Svg {
        match (view, self.model.schemas.get(schema)) {
            (View::Entities, _) => entities::draw(self),
            (_, None) => Svg::default(),
            (View::Ranges, Some(found)) => ranges::draw(self, schema, found),
            (View::Aggregate, Some(found)) => aggregate::draw(self, found),
            (View::Chebotko, Some(found)) => chebotko::draw(self, schema, found),
        }
    }

    fn rows(&self, schema: &Schema) -> Rows {
        rows(self.model, schema, &self.state)
    }

    fn inputs_of(&self, proof: &Proof) -> &[Value] {
        self.inputs.get(proof.pattern).map_or(&[], Vec::as_slice)
    }

    /// Returns the proofs of one schema.
    fn proofs_of(&self, schema: usize) -> impl Iterator<Item = &Proof> {
        self.proofs.iter().filter(move |proof| proof.schema == schema)
    }
}

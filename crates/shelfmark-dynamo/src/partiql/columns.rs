//! The columns of a SELECT: paths, each under the name of its last step.

use shelfmark_model::{Item, Path, Projection, Step as PathStep};

use super::ast::{ExprKind, Select, SelectItem, Step};
use super::condition::refused;
use crate::errors::{Error, Result, texts};
use crate::expression::Placeholders;
use crate::limits::VALUE_DEPTH_MAX;

/// The columns; all attributes without any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns(Option<Vec<Column>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    name: String,
    path: Path,
}

impl Columns {
    /// Translates the projection of a SELECT.
    ///
    /// # Errors
    ///
    /// * ValidationException: an element is no path, has an alias, or the name of another one.
    pub(crate) fn of(select: &Select) -> Result<Self> {
        let Some(items) = &select.items else { return Ok(Self(None)) };
        let mut columns: Vec<Column> = Vec::with_capacity(items.len());
        for item in items {
            let column = column(item)?;
            if columns.iter().any(|own| own.name == column.name) {
                return Err(Error::validation(texts::duplicate_column(&column.name)));
            }
            columns.push(column);
        }
        let paths: Vec<Path> = columns.iter().rev().map(|column| column.path.clone()).collect();
        Placeholders::check_apart(&paths)?;
        Ok(Self(Some(columns)))
    }

    /// Returns the paths, in the order of the statement.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().flatten().map(|column| &column.path)
    }

    /// Returns the attributes that are needed, each once, in the order of the statement.
    pub(crate) fn attributes(&self) -> Vec<&str> {
        let mut attributes: Vec<&str> = Vec::new();
        for path in self.paths() {
            if !attributes.contains(&path.attribute.as_str()) {
                attributes.push(&path.attribute);
            }
        }
        attributes
    }

    /// Returns the projection of what is read.
    pub(crate) fn projection(&self) -> Projection {
        match &self.0 {
            None => Projection::All,
            Some(_) => {
                Projection::Paths(self.attributes().into_iter().map(Path::attribute).collect())
            }
        }
    }

    /// Makes the answered item out of one that was read; what an item lacks is left out.
    pub(crate) fn apply(&self, item: Item) -> Item {
        let Some(columns) = &self.0 else { return item };
        let found = columns
            .iter()
            .filter_map(|column| Some((column.name.clone(), column.path.find(&item)?.clone())));
        found.collect()
    }
}

fn column(item: &SelectItem) -> Result<Column> {
    if item.is_aliased {
        return Err(Error::validation(texts::ALIAS));
    }
    let ExprKind::Path(written) = &item.expr.kind else {
        return Err(Error::validation(texts::unexpected_component(&item.expr.place)));
    };
    if written.iter().any(|step| matches!(step, Step::Star)) {
        return Err(Error::validation(texts::HIERARCHY));
    }
    if written.len() > VALUE_DEPTH_MAX {
        return Err(Error::validation(texts::path_too_deep(written.len())));
    }
    let mut name = String::new();
    let mut attribute = None;
    let mut steps = Vec::with_capacity(written.len());
    for step in written {
        match step {
            Step::Index(index) => {
                name.push_str(&format!("[{index}]"));
                steps.push(PathStep::Index(*index));
                continue;
            }
            Step::Name(own) => name.clone_from(own),
            Step::Beyond(..) | Step::Star | Step::Other(_) => {
                return Err(refused(step, &item.expr));
            }
        }
        match attribute {
            None => attribute = Some(name.clone()),
            Some(_) => steps.push(PathStep::Name(name.clone())),
        }
    }
    Ok(Column { name, path: Path { attribute: attribute.unwrap_or_default(), steps } })
}

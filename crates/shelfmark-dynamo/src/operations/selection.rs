//! Selects which attributes of a page's items come back, and which a filter may name.

use shelfmark_model::{Path, Projection};

use super::paging::Prepared;
use crate::errors::{Error, Result, texts};
use crate::table::{Target, check_key_paths, of_condition, projected};

/// The attributes of an item that come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Select {
    /// All that is read, or those of the projection.
    Default,
    /// The whole item, also from an index that holds less.
    AllAttributes,
    Count,
}

/// The options that a page is read with.
pub(super) struct Selected {
    pub(super) projection: Projection,
    pub(super) count_only: bool,
    /// True if the table's items are fetched behind the entries of a local index.
    pub(super) fetch_base: bool,
}

impl Select {
    /// Parses `Select`, which must fit the parameter that names attributes, if there is one.
    pub(super) fn of(select: Option<&str>, projection: Option<&str>, index: bool) -> Result<Self> {
        if let (Some(select), Some(parameter)) = (select, projection)
            && select != "SPECIFIC_ATTRIBUTES"
        {
            return Err(Error::validation(texts::select_forbids_projection(parameter, select)));
        }
        match select {
            Some("SPECIFIC_ATTRIBUTES") if projection.is_none() => {
                Err(Error::validation(texts::SELECT_NEEDS_PROJECTION))
            }
            Some("ALL_PROJECTED_ATTRIBUTES") if !index => {
                Err(Error::validation(texts::SELECT_NEEDS_INDEX))
            }
            Some("COUNT") => Ok(Self::Count),
            Some("ALL_ATTRIBUTES") => Ok(Self::AllAttributes),
            _ => Ok(Self::Default),
        }
    }
}

impl Prepared {
    /// Fits the selection to the table or index that is read.
    pub(super) fn select(&self, target: &Target, consistent: bool) -> Result<Selected> {
        let mut paths: Vec<&Path> = projected(&self.projection).iter().collect();
        if let Some(filter) = &self.filter {
            of_condition(filter, &mut paths);
        }
        check_key_paths(&target.table.schema, paths)?;
        let missing: Vec<&str> = match &self.projection {
            Projection::All => Vec::new(),
            Projection::Paths(paths) => paths
                .iter()
                .map(|path| path.attribute.as_str())
                .filter(|attribute| !target.holds(attribute))
                .collect(),
        };
        if let Some(index) = target.global_index() {
            if consistent {
                return Err(Error::validation(texts::CONSISTENT_GLOBAL_INDEX));
            }
            if self.select == Select::AllAttributes && !target.holds_all() {
                return Err(Error::validation(texts::select_all_attributes(&index.name)));
            }
            if !missing.is_empty() {
                return Err(Error::validation(texts::not_projected(&index.name, &missing)));
            }
        }
        let wants_more =
            !missing.is_empty() || (self.select == Select::AllAttributes && !target.holds_all());
        Ok(Selected {
            projection: self.projection.clone(),
            count_only: self.select == Select::Count,
            fetch_base: wants_more && target.local_index().is_some(),
        })
    }

    /// Refuses a filter on attributes of the queried key, and on attributes that the index does not
    /// hold. A Scan has neither rule.
    pub(super) fn check_filter(&self, target: &Target) -> Result<()> {
        let Some(filter) = &self.filter else { return Ok(()) };
        let mut paths = Vec::new();
        of_condition(filter, &mut paths);
        if let Some(path) = paths.iter().find(|path| target.is_key(&path.attribute)) {
            let text = texts::filter_on_key(self.filter_member, &path.attribute);
            return Err(Error::validation(text));
        }
        let mut missing: Vec<&str> = Vec::new();
        for path in &paths {
            if !target.holds(&path.attribute) && !missing.contains(&path.attribute.as_str()) {
                missing.push(&path.attribute);
            }
        }
        match target.index_name() {
            Some(index) if !missing.is_empty() => {
                Err(Error::validation(texts::filter_not_projected(index, &missing)))
            }
            Some(_) | None => Ok(()),
        }
    }
}

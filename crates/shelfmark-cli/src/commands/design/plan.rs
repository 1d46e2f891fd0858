//! `shelfmark design plan`: derives a schema from patterns, as text to append to the model.

use super::{NoModel, document, print};
use crate::arguments::DesignPlan;

pub(super) fn run(run: &DesignPlan) -> anyhow::Result<()> {
    let document = document(&run.file)?;
    if document.patterns().next().is_none() {
        let message = format!("{} has no read and no write to plan for", document.name());
        return Err(NoModel::call(message));
    }
    let plan = document.plan(&run.target, &run.name).map_err(NoModel::call)?;
    if run.whole {
        return print(&document.with_only(&plan.schema));
    }
    // A line between it and what it is appended to.
    print(&format!("\n{}", plan.schema))
}

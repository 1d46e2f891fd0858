//! `shelfmark design plan`: derives a schema from patterns, as text to append to the model; or says
//! what it costs, beside another and for each choice.

use super::{NoModel, document, known_schema, print};
use crate::arguments::DesignPlan;

pub(super) fn run(run: &DesignPlan) -> anyhow::Result<()> {
    let document = document(&run.file)?;
    if document.patterns().next().is_none() {
        let message = format!("{} has no read and no write to plan for", document.name());
        return Err(NoModel::call(message));
    }
    if let Some(schema) = &run.beside {
        known_schema(&document, Some(schema))?;
        let beside = document.plan_beside(schema, &run.name).map_err(NoModel::call)?;
        return print(&beside.to_string());
    }
    if run.explain {
        return print(&document.plan_explained(&run.target).map_err(NoModel::call)?);
    }
    if run.pareto {
        return print(&document.plan_front(&run.target).map_err(NoModel::call)?);
    }
    let plan = document.plan(&run.target, &run.name).map_err(NoModel::call)?;
    if run.whole {
        return print(&document.with_only(&plan.schema));
    }
    // A line between it and what it is appended to.
    print(&format!("\n{}", plan.schema))
}

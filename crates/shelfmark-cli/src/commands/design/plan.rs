//! `shelfmark design plan`: derives a schema from patterns, as text to append to the model; or says
//! what it costs, beside another and for each choice.

use super::{NoModel, document, known_schema, print};
use crate::arguments::DesignPlan;
use shelfmark_design::Document;

pub(super) fn run(run: &DesignPlan) -> anyhow::Result<()> {
    let document = document(&run.file)?;
    if document.patterns().next().is_none() {
        let message = format!("{} has no read and no write to plan for", document.name());
        return Err(NoModel::call(message));
    }
    if let Some(schema) = &run.beside {
        known_schema(&document, Some(schema))?;
        for_target(&document, schema, run.target.as_deref())?;
        let beside = document.plan_beside(schema, &run.name).map_err(NoModel::call)?;
        return print(&beside.to_string());
    }
    let target = run.target.as_deref().unwrap_or("shelfmark");
    if run.explain {
        return print(&document.plan_explained(target).map_err(NoModel::call)?);
    }
    if run.pareto {
        return print(&document.plan_front(target).map_err(NoModel::call)?);
    }
    let plan = document.plan(target, &run.name).map_err(NoModel::call)?;
    if run.whole {
        return print(&document.with_only(&plan.schema));
    }
    // A line between it and what it is appended to.
    print(&format!("\n{}", plan.schema))
}

/// Fails if a schema is one for another target than the one that is asked for.
fn for_target(document: &Document, schema: &str, target: Option<&str>) -> anyhow::Result<()> {
    match (target, document.target_of(schema)) {
        (Some(target), Some(own)) if target != own && (target, own) != ("native", "shelfmark") => {
            Err(NoModel::call(format!(
                "{schema} is a schema for {own}, not for {target}; without --target the plan is for {own}"
            )))
        }
        _ => Ok(()),
    }
}

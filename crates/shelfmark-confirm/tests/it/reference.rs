//! The reference models, published and corrected: one scale in the short mode, several and other
//! seeds in the long one.

use shelfmark_confirm::{Options, confirm};
use shelfmark_design::Status;

use crate::{REFERENCE, SEEDS, long, reference, seed};

/// Runs a model; what went otherwise than proven, and what was certified and never run.
fn trouble(name: &str, document: &shelfmark_design::Document, options: &Options) -> Vec<String> {
    let report = match confirm(document, options) {
        Ok(report) => report,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let mut found = Vec::new();
    for one in &report.verdicts {
        let run = matches!(one.status, Status::Certified | Status::Multi);
        let place = format!("{name} {}.{} (seed {})", one.schema, one.pattern, options.seed);
        if !one.ok {
            found.push(format!("{place}: {}", one.note));
        } else if run && one.calls == 0 {
            found.push(format!("{place}: not run"));
        }
    }
    found
}

#[test]
fn the_engine_does_what_the_proofs_say_of_the_reference_models() {
    let options = Options { scales: vec![3, 12], ..Options::default() };
    let wrong: Vec<String> =
        REFERENCE.into_iter().flat_map(|name| trouble(name, &reference(name), &options)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn all_models_hold_at_other_scales_and_seeds() {
    if !long() {
        return;
    }
    let mut wrong = Vec::new();
    for seed_number in [1, 3, 99] {
        let options =
            Options { seed: seed_number, scales: vec![1, 3, 40, 90, 200], ..Options::default() };
        for name in SEEDS {
            wrong.extend(trouble(name, &seed(name), &options));
        }
        for name in REFERENCE {
            wrong.extend(trouble(name, &reference(name), &options));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

//! Random models with everything that plans can do: loops, follow-up reads, filters, sorts, counts,
//! unions, copies, indexes, named write plans. Each schema is right by construction, and stands
//! beside mutations of itself: swapped components, a dropped completion column, a changed codec, an
//! ambiguous prefix, a missing step of a write, a sentinel, a lost limit.
//!
//! What is certified never differs from brute force; what is refused has a witness that does.

use super::longer;
use super::random_models::{Tally, agree_in, writes_agree};
use crate::write_case::WriteCase;
use crate::{decisive, prove_read, write::prove_write, write_certificate, write_witness};
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_language::target::profile;

/// Proves one model and checks every claim; what is counted is added to the tally.
pub(super) fn one(seed: u64, tally: &mut Tally) {
    let text = super::texts::rich(seed);
    let parsed = parse(&text);
    assert!(parsed.diagnostics.is_empty(), "seed {seed}: {:?}\n{text}", parsed.diagnostics);
    let (model, diagnostics) = resolve(&parsed.file);
    assert!(diagnostics.is_empty(), "seed {seed}: {diagnostics:?}\n{text}");
    for (number, schema) in model.schemas.iter().enumerate() {
        let target = profile(&schema.target).expect("a known target");
        for (index, read) in model.reads.iter().enumerate() {
            let proof = prove_read(&model, schema, target, index, read);
            let Some(serve) = proof.serve.as_ref() else { continue };
            let Some(failure) = decisive(&proof.analysis) else {
                tally.certified += 1;
                agree_in(seed, &model, number, index, serve, proof.analysis.multi, &text);
                continue;
            };
            if failure.call || matches!(failure.obligation, 8 | 9) {
                continue;
            }
            tally.refused += 1;
            if !longer::read(&model, number, index, serve, seed) {
                tally.without(format!(
                    "seed {seed} {}.{}: O{} {}",
                    schema.name.text, read.name.text, failure.obligation, failure.reason
                ));
            }
        }
        for case in WriteCase::all(&model, schema, target) {
            let write = case.write;
            let plan = write_certificate::plan(case);
            let analysis = prove_write(case, &plan);
            match decisive(&analysis) {
                None => {
                    tally.writes += 1;
                    writes_agree(seed, case, &plan, &text);
                }
                Some(failure) if failure.call => {}
                Some(failure) => {
                    tally.refused += 1;
                    if write_witness::find(case, &plan).is_none() {
                        tally.without(format!(
                            "seed {seed} {}.{}: O{} {}",
                            schema.name.text, write.name.text, failure.obligation, failure.reason
                        ));
                    }
                }
            }
        }
    }
}

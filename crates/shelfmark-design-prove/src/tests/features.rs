//! Checks abilities one by one: the proof of each, and that running it agrees.

use super::random_models::{agree_in, writes_agree};
use crate::write_case::WriteCase;
use crate::{prove, prove_read};
use shelfmark_design_language::certificate::Status;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_language::target::profile;

#[test]
fn abilities_are_proven_as_expected() {
    let text = include_str!("features.shelf");
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let (model, diagnostics) = resolve(&parsed.file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let wanted = [
        ("s", "open", Status::Certified, ""),
        ("s", "any_status", Status::Refused, "O4"),
        ("s", "all_by_title", Status::Multi, ""),
        ("s", "of_users", Status::Multi, ""),
        ("s", "with_owner", Status::Multi, ""),
        ("s", "due_between", Status::Certified, ""),
        ("s", "by_status", Status::Refused, "O6"),
        ("s", "how_many", Status::Certified, ""),
        ("s", "page", Status::Certified, ""),
        ("s", "begins", Status::Certified, ""),
        ("s", "dated", Status::Certified, ""),
        ("s", "undate", Status::Certified, ""),
        ("s", "close", Status::Certified, ""),
        ("ranks", "rerank", Status::Certified, ""),
        ("titles", "titles", Status::Certified, ""),
    ];
    let proofs = prove(&model, "");
    for (schema, pattern, status, obligation) in wanted {
        let one = proofs
            .iter()
            .map(|proof| &proof.certificate)
            .find(|one| one.schema == schema && one.pattern == pattern)
            .expect("proven");
        assert_eq!(
            (one.status, one.obligation.as_deref().unwrap_or("")),
            (status, obligation),
            "{schema}.{pattern}: {}",
            one.reason
        );
    }
    for (number, schema) in model.schemas.iter().enumerate() {
        let target = profile(&schema.target).expect("a known target");
        for (index, read) in model.reads.iter().enumerate() {
            let proof = prove_read(&model, schema, target, index, read);
            if let (Some(serve), true) = (&proof.serve, proof.analysis.failures.is_empty()) {
                agree_in(7, &model, number, index, serve, proof.analysis.multi, text);
            }
        }
    }
    let certified = proofs
        .iter()
        .filter(|proof| proof.certificate.write && proof.certificate.status == Status::Certified)
        .map(|proof| {
            let plan = proof.plan.as_ref().expect("a write has a plan");
            writes_agree(7, WriteCase::of(&model, proof).expect("a case"), plan, text);
        })
        .count();
    assert!(certified >= 7, "{certified} writes are certified");
}

//! Every obligation is needed: with one of them switched off in the prover, something wrong is
//! certified, and brute force or the verifier says so.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::random_models::{self, Tally};
use super::random_rich;
use crate::certificate::Status;
use crate::model::resolve::resolve;
use crate::prove::prove;
use crate::syntax::parser::parse;
use crate::verify::verify;

/// Seeds at most until the first contradiction.
const SEEDS: u64 = 60;

thread_local! {
    static OFF: Cell<u8> = const { Cell::new(0) };
}

/// Whether the prover's failures of this obligation are dropped in this thread.
pub(crate) fn is_off(obligation: u8) -> bool {
    OFF.get() == obligation
}

fn without<T>(obligation: u8, run: impl FnOnce() -> T) -> T {
    OFF.set(obligation);
    let found = catch_unwind(AssertUnwindSafe(run));
    OFF.set(0);
    found.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The first seed on which something certified differs from brute force.
fn contradicted(obligation: u8) -> Option<u64> {
    (0..SEEDS).find(|seed| {
        let run = || {
            without(obligation, || {
                random_rich::one(*seed, &mut Tally::default());
                random_models::one(*seed, &mut Tally::default());
            });
        };
        catch_unwind(AssertUnwindSafe(run)).is_err()
    })
}

#[test]
fn without_one_of_o1_to_o7_brute_force_differs() {
    for obligation in 1..=7 {
        let seed = contradicted(obligation);
        println!("without O{obligation}: contradicted by seed {seed:?}");
        assert!(seed.is_some(), "O{obligation} can be left out unnoticed");
    }
}

const STATED: &str = r#"
entity User { key id: uuid name: text(max 9) }
link Follow from User as user to User as follower { at: timestamp }
read strongly(u) = Follow where user = u order by at strong
read of(us: list of uuid) = Follow where user in us
schema s target cql {
  table follows from Follow key (user; follower) store all index by_time key (user; at)
  serve strongly(u) by query by_time (u)
  serve of(us) by each u in us query follows (u)
}
"#;

/// Staleness and cost are stated; no state shows them, so the verifier's own rules must.
#[test]
fn without_o8_or_o9_the_verifier_differs() {
    let parsed = parse(STATED);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let (model, diagnostics) = resolve(&parsed.file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    for (obligation, pattern) in [(8, "strongly"), (9, "of")] {
        let find = || {
            let proofs = prove(&model, "");
            let found = proofs.into_iter().find(|proof| proof.certificate.pattern == pattern);
            found.expect("proven").certificate
        };
        let right = find();
        assert_eq!(right.status, Status::Refused, "{pattern}: {}", right.reason);
        assert_eq!(right.obligation, Some(format!("O{obligation}")), "{}", right.reason);
        verify(&model, &right).expect("the refusal is believed");
        let wrong = without(obligation, find);
        assert_ne!(wrong.status, Status::Refused);
        let said = verify(&model, &wrong).expect_err("the verifier notices");
        assert!(said.contains(&format!("O{obligation}")), "{said}");
    }
}

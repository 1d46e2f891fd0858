//! The cases of the contract, each in a space of the cluster.

use shelfmark_conformance::{HISTORIES, contract, every_case};

use crate::lanes::Space;

/// Makes a test of each case, which needs a cluster.
macro_rules! tests {
    ($($group:ident { $($case:ident,)* })*) => {
        mod tikv {
            $($(
                #[test]
                #[ignore = "needs a cluster: cargo xtask tikv"]
                fn $case() {
                    super::contract(stringify!($case)).run(&super::Space::new(stringify!($case)), 0);
                }
            )*)*
        }
    };
}

every_case!(tests);

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn histories_are_in_one_order() {
    for case in HISTORIES {
        case.run(&Space::new(case.name), 1);
    }
}

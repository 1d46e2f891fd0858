//! The cases of the contract, on every driver of this crate.

use shelfmark_conformance::{contract, every_case};

use crate::lanes::OwnLane;

/// Makes a test of each case for one driver.
macro_rules! on {
    ($lane:ident { $($group:ident { $($case:ident,)* })* }) => {
        mod $lane {
            $($(
                #[test]
                fn $case() {
                    super::contract(stringify!($case)).run(&super::OwnLane::$lane(), 0);
                }
            )*)*
        }
    };
}

/// Makes a test of each case for every driver.
macro_rules! on_each {
    ($($cases:tt)*) => {
        on!(memory { $($cases)* });
        on!(meanest { $($cases)* });
        on!(embedded { $($cases)* });
    };
}

every_case!(on_each);

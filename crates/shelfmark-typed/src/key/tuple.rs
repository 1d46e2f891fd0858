//! Tuples of two to eight parts as keys, and their prefixes.

use shelfmark_model::{SortColumn, Value};

use super::{KeyPart, KeyPrefix, OrderedKey, Parts, column};
use crate::error::Result;

macro_rules! tuple_key {
    ($($part:ident $index:tt $name:literal),*) => {
        impl<$($part: KeyPart),*> OrderedKey for ($($part,)*) {
            fn columns() -> Vec<SortColumn> {
                vec![$(column::<$part>($name)),*]
            }

            fn to_values(&self) -> Vec<Value> {
                vec![$(self.$index.to_value()),*]
            }

            fn from_values(values: Vec<Value>) -> Result<Self> {
                let mut parts = Parts::new(values);
                let key = ($(parts.take::<$part>()?,)*);
                parts.end()?;
                Ok(key)
            }
        }
    };
}

/// One prefix length of tuples of one length: `[A 0, B 1] of (A, B, C)`.
macro_rules! tuple_prefix {
    ([$($part:ident $index:tt),*] of ($($all:ident),*)) => {
        impl<$($all: KeyPart),*> KeyPrefix<($($all,)*)> for ($($part,)*) {
            fn to_prefix(&self) -> Vec<Value> {
                vec![$(self.$index.to_value()),*]
            }
        }
    };
}

/// The first part alone, as itself and, for text, as a borrowed text.
macro_rules! first_part {
    ($first:ident $(, $rest:ident)*) => {
        impl<$first: KeyPart $(, $rest: KeyPart)*> KeyPrefix<($first, $($rest,)*)> for $first {
            fn to_prefix(&self) -> Vec<Value> {
                vec![self.to_value()]
            }
        }

        impl<$($rest: KeyPart),*> KeyPrefix<(String, $($rest,)*)> for &str {
            fn to_prefix(&self) -> Vec<Value> {
                vec![Value::text(*self)]
            }
        }
    };
}

tuple_key!(A 0 "key1", B 1 "key2");
tuple_key!(A 0 "key1", B 1 "key2", C 2 "key3");
tuple_key!(A 0 "key1", B 1 "key2", C 2 "key3", D 3 "key4");
tuple_key!(A 0 "key1", B 1 "key2", C 2 "key3", D 3 "key4", E 4 "key5");
tuple_key!(A 0 "key1", B 1 "key2", C 2 "key3", D 3 "key4", E 4 "key5", F 5 "key6");
tuple_key!(A 0 "key1", B 1 "key2", C 2 "key3", D 3 "key4", E 4 "key5", F 5 "key6", G 6 "key7");
tuple_key!(
    A 0 "key1", B 1 "key2", C 2 "key3", D 3 "key4", E 4 "key5", F 5 "key6", G 6 "key7", H 7 "key8"
);

first_part!(A, B);
first_part!(A, B, C);
first_part!(A, B, C, D);
first_part!(A, B, C, D, E);
first_part!(A, B, C, D, E, F);
first_part!(A, B, C, D, E, F, G);
first_part!(A, B, C, D, E, F, G, H);

tuple_prefix!([A 0] of (A, B));
tuple_prefix!([A 0] of (A, B, C));
tuple_prefix!([A 0, B 1] of (A, B, C));
tuple_prefix!([A 0] of (A, B, C, D));
tuple_prefix!([A 0, B 1] of (A, B, C, D));
tuple_prefix!([A 0, B 1, C 2] of (A, B, C, D));
tuple_prefix!([A 0] of (A, B, C, D, E));
tuple_prefix!([A 0, B 1] of (A, B, C, D, E));
tuple_prefix!([A 0, B 1, C 2] of (A, B, C, D, E));
tuple_prefix!([A 0, B 1, C 2, D 3] of (A, B, C, D, E));
tuple_prefix!([A 0] of (A, B, C, D, E, F));
tuple_prefix!([A 0, B 1] of (A, B, C, D, E, F));
tuple_prefix!([A 0, B 1, C 2] of (A, B, C, D, E, F));
tuple_prefix!([A 0, B 1, C 2, D 3] of (A, B, C, D, E, F));
tuple_prefix!([A 0, B 1, C 2, D 3, E 4] of (A, B, C, D, E, F));
tuple_prefix!([A 0] of (A, B, C, D, E, F, G));
tuple_prefix!([A 0, B 1] of (A, B, C, D, E, F, G));
tuple_prefix!([A 0, B 1, C 2] of (A, B, C, D, E, F, G));
tuple_prefix!([A 0, B 1, C 2, D 3] of (A, B, C, D, E, F, G));
tuple_prefix!([A 0, B 1, C 2, D 3, E 4] of (A, B, C, D, E, F, G));
tuple_prefix!([A 0, B 1, C 2, D 3, E 4, F 5] of (A, B, C, D, E, F, G));
tuple_prefix!([A 0] of (A, B, C, D, E, F, G, H));
tuple_prefix!([A 0, B 1] of (A, B, C, D, E, F, G, H));
tuple_prefix!([A 0, B 1, C 2] of (A, B, C, D, E, F, G, H));
tuple_prefix!([A 0, B 1, C 2, D 3] of (A, B, C, D, E, F, G, H));
tuple_prefix!([A 0, B 1, C 2, D 3, E 4] of (A, B, C, D, E, F, G, H));
tuple_prefix!([A 0, B 1, C 2, D 3, E 4, F 5] of (A, B, C, D, E, F, G, H));
tuple_prefix!([A 0, B 1, C 2, D 3, E 4, F 5, G 6] of (A, B, C, D, E, F, G, H));

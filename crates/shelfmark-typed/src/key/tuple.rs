//! Tuples of two to eight keys as keys, their prefixes, and references to them.

use shelfmark_model::{SortColumn, Value};

use super::{KeyPart, KeyPrefix, KeyRef, OrderedKey, Parts};
use crate::error::Result;

macro_rules! tuple_key {
    ($($part:ident $reference:ident $index:tt $name:literal),*) => {
        impl<$($part: OrderedKey),*> OrderedKey for ($($part,)*) {
            fn columns() -> Vec<SortColumn> {
                let mut columns = Vec::new();
                $(columns.extend($part::columns_within($name));)*
                columns
            }

            fn put_values(&self, values: &mut Vec<Value>) {
                $(self.$index.put_values(values);)*
            }

            fn take_values(parts: &mut Parts) -> Result<Self> {
                Ok(($(parts.take::<$part>()?,)*))
            }
        }

        impl<$($part: OrderedKey,)* $($reference: KeyRef<$part>),*> KeyRef<($($part,)*)>
            for ($($reference,)*)
        {
            fn put_key_values(&self, values: &mut Vec<Value>) {
                $(self.$index.put_key_values(values);)*
            }
        }
    };
}

/// Implements one prefix length of tuples of one length: `[S 0, T 1] of (A, B, C)`, the whole tuple
/// included.
macro_rules! tuple_prefix {
    ([$($reference:ident $part:ident $index:tt),*] of ($($all:ident),*)) => {
        impl<$($all: OrderedKey,)* $($reference: KeyRef<$part>),*> KeyPrefix<($($all,)*)>
            for ($($reference,)*)
        {
            fn to_prefix(&self) -> Vec<Value> {
                let mut values = Vec::new();
                $(self.$index.put_key_values(&mut values);)*
                values
            }
        }
    };
}

/// Implements the first part alone as a prefix, as itself and, for text, as a borrowed text.
macro_rules! first_part {
    ($first:ident $(, $rest:ident)*) => {
        impl<$first: KeyPart $(, $rest: OrderedKey)*> KeyPrefix<($first, $($rest,)*)> for $first {
            fn to_prefix(&self) -> Vec<Value> {
                vec![self.to_value()]
            }
        }

        impl<$($rest: OrderedKey),*> KeyPrefix<(String, $($rest,)*)> for &str {
            fn to_prefix(&self) -> Vec<Value> {
                vec![Value::text(*self)]
            }
        }
    };
}

tuple_key!(A S 0 "key1", B T 1 "key2");
tuple_key!(A S 0 "key1", B T 1 "key2", C U 2 "key3");
tuple_key!(A S 0 "key1", B T 1 "key2", C U 2 "key3", D V 3 "key4");
tuple_key!(A S 0 "key1", B T 1 "key2", C U 2 "key3", D V 3 "key4", E W 4 "key5");
tuple_key!(A S 0 "key1", B T 1 "key2", C U 2 "key3", D V 3 "key4", E W 4 "key5", F X 5 "key6");
tuple_key!(A S 0 "key1", B T 1 "key2", C U 2 "key3", D V 3 "key4", E W 4 "key5", F X 5 "key6", G Y 6 "key7");
tuple_key!(A S 0 "key1", B T 1 "key2", C U 2 "key3", D V 3 "key4", E W 4 "key5", F X 5 "key6", G Y 6 "key7", H Z 7 "key8");

first_part!(A, B);
first_part!(A, B, C);
first_part!(A, B, C, D);
first_part!(A, B, C, D, E);
first_part!(A, B, C, D, E, F);
first_part!(A, B, C, D, E, F, G);
first_part!(A, B, C, D, E, F, G, H);

tuple_prefix!([S A 0] of (A, B));
tuple_prefix!([S A 0, T B 1] of (A, B));
tuple_prefix!([S A 0] of (A, B, C));
tuple_prefix!([S A 0, T B 1] of (A, B, C));
tuple_prefix!([S A 0, T B 1, U C 2] of (A, B, C));
tuple_prefix!([S A 0] of (A, B, C, D));
tuple_prefix!([S A 0, T B 1] of (A, B, C, D));
tuple_prefix!([S A 0, T B 1, U C 2] of (A, B, C, D));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3] of (A, B, C, D));
tuple_prefix!([S A 0] of (A, B, C, D, E));
tuple_prefix!([S A 0, T B 1] of (A, B, C, D, E));
tuple_prefix!([S A 0, T B 1, U C 2] of (A, B, C, D, E));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3] of (A, B, C, D, E));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3, W E 4] of (A, B, C, D, E));
tuple_prefix!([S A 0] of (A, B, C, D, E, F));
tuple_prefix!([S A 0, T B 1] of (A, B, C, D, E, F));
tuple_prefix!([S A 0, T B 1, U C 2] of (A, B, C, D, E, F));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3] of (A, B, C, D, E, F));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3, W E 4] of (A, B, C, D, E, F));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3, W E 4, X F 5] of (A, B, C, D, E, F));
tuple_prefix!([S A 0] of (A, B, C, D, E, F, G));
tuple_prefix!([S A 0, T B 1] of (A, B, C, D, E, F, G));
tuple_prefix!([S A 0, T B 1, U C 2] of (A, B, C, D, E, F, G));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3] of (A, B, C, D, E, F, G));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3, W E 4] of (A, B, C, D, E, F, G));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3, W E 4, X F 5] of (A, B, C, D, E, F, G));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3, W E 4, X F 5, Y G 6] of (A, B, C, D, E, F, G));
tuple_prefix!([S A 0] of (A, B, C, D, E, F, G, H));
tuple_prefix!([S A 0, T B 1] of (A, B, C, D, E, F, G, H));
tuple_prefix!([S A 0, T B 1, U C 2] of (A, B, C, D, E, F, G, H));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3] of (A, B, C, D, E, F, G, H));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3, W E 4] of (A, B, C, D, E, F, G, H));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3, W E 4, X F 5] of (A, B, C, D, E, F, G, H));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3, W E 4, X F 5, Y G 6] of (A, B, C, D, E, F, G, H));
tuple_prefix!([S A 0, T B 1, U C 2, V D 3, W E 4, X F 5, Y G 6, Z H 7] of (A, B, C, D, E, F, G, H));

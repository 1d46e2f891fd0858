//! One ordered store in your program: typed tables, entities, and the engine underneath.
//!
//! [`Shelfmark::open`] opens a folder, [`Shelfmark::memory`] a store that is forgotten. In it are
//! [databases](Database) with [ordered tables](OrderedTable) and [entity tables](EntityTable);
//! [`Database::transact`] reads and writes any of them at one moment.
//!
//! What it is not: a server. `shelfmark serve` puts the same tables behind other faces.
//!
//! ```
//! use shelfmark::{OrderedTable, Shelfmark, Timestamp};
//!
//! let shelfmark = Shelfmark::memory()?;
//! let blog = shelfmark.database("blog")?;
//! let posts: OrderedTable<(String, Timestamp), String> = OrderedTable::named(&blog, "posts")?;
//! posts.write(&("Alice".into(), Timestamp(1)), &"Hello".into())?;
//! posts.write(&("Alice".into(), Timestamp(2)), &"Hello again".into())?;
//! for title in posts.prefix("Alice")?.descending().limit(10).values() {
//!     println!("{}", title?);
//! }
//! shelfmark.close()?;
//! # Ok::<(), shelfmark::Error>(())
//! ```

mod open;
mod random;

pub use open::{Options, Shelfmark};
pub use shelfmark_engine as engine;
pub use shelfmark_keycode as keycode;
pub use shelfmark_model as model;
pub use shelfmark_store::Durability;
pub use shelfmark_typed::*;

/// Compiles and runs the code of the README as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

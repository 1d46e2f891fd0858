//! The limits of the modeller, each with its source.
//!
//! Invariant: every loop and every recursion over input is bounded by one of these.

/// Longest model text in bytes.
///
/// Ours: some 10,000 patterns of 200 bytes each; more than any published model by a factor of 20.
pub const SOURCE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Deepest nesting of types, expressions and blocks.
///
/// Ours: written models need three.
pub const DEPTH_MAX: usize = 32;

/// Most diagnostics that one run reports; the rest are counted.
///
/// Ours: nobody reads more.
pub const DIAGNOSTICS_MAX: usize = 200;

/// Most states that the search for a witness tries.
///
/// Source: the model language, which counts a refusal without one after 1,000 tries as false.
pub const WITNESS_TRIES_MAX: usize = 1_000;

/// Largest model, in reads and writes, in which a witness is looked for wherever one is due.
///
/// Ours: five times the largest published model.
pub const SEARCHED_PATTERNS_MAX: usize = 250;

/// Most searches for witnesses in a larger model, each counted by the attributes of the entities
/// that it makes up and by the row families in which it writes them.
///
/// Ours: some tenths of a second; who has more to mend begins with these.
pub const SEARCHED_CELLS_MAX: usize = 1_000;

/// Most states that the search for one witness tries in a larger model.
///
/// Ours: what goes wrong mostly does so among the first ten; a search in vain costs all of them.
pub const SEARCHED_TRIES_MAX: usize = 100;

/// Most plans that are tried for a read of such a model, the more telling first.
///
/// Ours.
pub const CANDIDATES_MAX: usize = 16;

/// Most reads and writes in one model.
///
/// Ours: above it a model is refused, because answering is promised within seconds.
pub const PATTERNS_MAX: usize = 10_000;

/// Most proofs in one model: patterns times schemas.
///
/// Ours: two schemas, one beside the other, for the largest model.
pub const PROOFS_MAX: usize = 20_000;

/// Most rows that the writes of one model are proven to keep, one for each write and row family.
///
/// Ours: a second's work; ten tables for each of 10,000 writes.
pub const WRITTEN_FAMILIES_MAX: usize = 100_000;

/// Most row families that are tried for reads without a named plan, one for each read.
///
/// Ours: a second's work; twenty for each of 10,000 reads.
pub const PLANS_TRIED_MAX: usize = 200_000;

/// Most row families in one schema.
///
/// Ours: two for each pattern of the largest model.
pub const FAMILIES_MAX: usize = 20_000;

/// Most row families in one table, because pairs of them are compared.
///
/// Ours: twice what a model of 10,000 patterns puts there, ten patterns for each entity; the
/// largest published table holds some 40 row types.
pub const ROW_TYPES_MAX: usize = 4_000;

/// Most comparisons of row types whose keys begin alike, with each other and with reads.
///
/// Ours: two seconds' work; seven hundred row types in one table of which no key begins with a text
/// of its own.
pub const ALIKE_MAX: usize = 1_200_000;

/// Most schemas in one picture and on one page.
///
/// Ours: a page with more is not read.
pub const DRAWN_SCHEMAS_MAX: usize = 12;

/// Most tables, indexes or entities in one picture.
///
/// Ours.
pub const DRAWN_TABLES_MAX: usize = 60;

/// Most sample rows of one table in a picture.
///
/// Ours.
pub const DRAWN_ROWS_MAX: usize = 40;

/// Most attributes of one row or box in a picture.
///
/// Ours.
pub const DRAWN_ATTRIBUTES_MAX: usize = 24;

/// Most row types of one table that a picture names.
///
/// Ours.
pub const DRAWN_TYPES_MAX: usize = 16;

/// Most reads that a picture shows at one table.
///
/// Ours.
pub const DRAWN_PATTERNS_MAX: usize = 40;

/// Most patterns and findings on one page, each; the rest are counted.
///
/// Ours.
pub const PAGE_LINES_MAX: usize = 1_000;

/// Most sample tuples of one entity or link in pictures.
///
/// Ours: enough for two partitions of a few rows.
pub const DRAWN_TUPLES_MAX: usize = 6;

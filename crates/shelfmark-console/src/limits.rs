//! Limits of the pages. All of them are ours: what a person can look at.

/// Most bytes of a request's body: a model, a request or an item, with what JSON adds.
pub const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Most bytes of a request's query.
pub const QUERY_BYTES_MAX: usize = 16 * 1024;
/// Most fields of a query.
pub const FIELDS_MAX: usize = 64;
/// Tables of one page of the list.
pub const TABLES_PAGE: usize = 50;
/// Names of tables looked at for one page of the list, where few of them are wanted.
pub const NAMES_MAX: usize = 20_000;
/// Names of tables that are read at once.
pub const NAMES_AT_ONCE: usize = 100;
/// Tables looked at for one page of the list, where few of them are wanted.
pub const TABLES_LOOKED_MAX: usize = 500;
/// Names of tables looked at for a name that is being typed, in whatever case it is.
pub const NAMES_LOOKED_MAX: usize = 1_000;
/// Words of a request that are taken for names of tables.
pub const WORDS_LOOKED_MAX: usize = 64;
/// Namespaces that a typed name is looked for in.
pub const NAMESPACES_LOOKED_MAX: usize = 64;
/// Namespaces that the table of an answer is looked for in.
pub const NAMESPACES_MAX: usize = 1_000;
/// Rows of one page.
pub const ROWS_PAGE: usize = 50;
/// Bytes of rows of one page, before their form for reading.
pub const ROWS_PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Characters of a value in a row of the table; the whole value is shown when the row is opened.
pub const SHOWN_CHARS_MAX: usize = 120;
/// Characters of an opened row.
pub const DOCUMENT_CHARS_MAX: usize = 400_000;
/// Most bytes of a typed key.
pub const KEY_TEXT_BYTES_MAX: usize = 2_048;
/// Rows of the answer to a request.
pub const ANSWER_ROWS_MAX: usize = 200;
/// Ranges of an answer that are drawn.
pub const ANSWER_RANGES_MAX: usize = 200;
/// Steps of an answer that are drawn, each on a key line of its own.
pub const ANSWER_LINES_MAX: usize = 4;
/// Names that are offered while a request is typed.
pub const NAMES_OFFERED_MAX: usize = 20;
/// Entities and links of each kind in a drawn sample.
pub const SAMPLE_SCALE_MAX: usize = 200;

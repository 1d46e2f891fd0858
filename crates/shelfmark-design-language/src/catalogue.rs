//! The catalogue of lints: ids, short and long texts, and remedies.
//!
//! Source: the reference catalogue of query-driven modelling; words are ours.

use serde::Serialize;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Advice.
    Note,
    /// A risk under numbers that are not declared.
    Warning,
    /// A wrong answer, a refused call, lost information or an unbounded cost.
    Error,
}

impl Severity {
    /// Returns the word in machine forms.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One lint.
pub struct Lint {
    /// The id, such as `K3`.
    pub id: &'static str,
    /// The usual severity; a finding may be milder.
    pub severity: Severity,
    /// A line on the defect.
    pub short: &'static str,
    /// A paragraph on its harm.
    pub long: &'static str,
    /// The remedy.
    pub fix: &'static str,
}

const fn lint(
    id: &'static str,
    severity: Severity,
    short: &'static str,
    long: &'static str,
    fix: &'static str,
) -> Lint {
    Lint { id, severity, short, long, fix }
}

use Severity::{Error, Note, Warning};

/// Lists every lint.
pub const ALL: [Lint; 52] = [
    lint(
        "K1",
        Error,
        "a number or time is stored so that it does not sort",
        "Text keys sort byte by byte: \"20\" comes before \"5\", and a millisecond count changes its place when it gains a digit. A range or an order over such a part gives wrong rows, silently and only for some values.",
        "use a typed column, or a codec that keeps order: pad(n) within a declared range, lexint, iso, or a ulid",
    ),
    lint(
        "K2",
        Error,
        "what follows a value may occur inside it",
        "A key that is glued together must come apart again in one way only. When a text may contain the delimiter, a prefix for one value also fits longer values, and two different sources can have one key.",
        "declare the domain (`without \"#\"`), write the part with `esc`, or use a typed key",
    ),
    lint(
        "K3",
        Error,
        "the range is empty for every input",
        "The lower end lies above the upper end, or both are one text that no row ends with. The call succeeds and never returns anything.",
        "begin both ends with the same prefix; best of all use `begins`",
    ),
    lint(
        "K4",
        Note,
        "two prefixes differ by a letter or a plural",
        "`chat#` and `chats#` sort apart, which may be what was meant; but they are easy to mix up in a bound, and the mistake is an empty range, not an error message.",
        "give row types names that differ at the first letter",
    ),
    lint(
        "K5",
        Error,
        "a sentinel ends the range",
        "`~` is only the last printable ASCII character. Every text that begins with a byte at or above it, all non-ASCII ones among them, lies behind the sentinel and is missed. Where the part can hold none of them it is a note.",
        "end the range at the prefix's successor: `begins`, or `through`",
    ),
    lint(
        "K6",
        Error,
        "rows of another type lie in the range",
        "Row types that share a prefix come back together. The caller gets rows it did not ask for, a limit counts them, and a filter that drops them is paid for on every call.",
        "give each row type a prefix that is no beginning of another's",
    ),
    lint(
        "K7",
        Error,
        "rows come in another order than the pattern asks",
        "A limit makes it worse than a matter of taste: the first n of an ascending range are the oldest, not the newest.",
        "read the range backwards, declare the column descending, or put the ordering attribute next in the key",
    ),
    lint(
        "K8",
        Warning,
        "one key part holds texts in different forms",
        "Dates with and without zones, or times in seconds and in milliseconds, sort by their form first.",
        "write all of them in one form",
    ),
    lint(
        "K9",
        Error,
        "a key part cannot be written, or the key is too long",
        "A codec refuses values outside its range, and every store has a longest key; some take no empty text and no truth value in one. Writes of such values fail.",
        "declare the range, the shortest or the longest text, or use another form",
    ),
    lint(
        "K10",
        Note,
        "a key part says nothing",
        "A constant column, or an attribute that an earlier part of the same key already fixes, makes keys longer and nothing else.",
        "drop it",
    ),
    lint(
        "A1",
        Error,
        "the partition key is not known",
        "A query names one partition. What the pattern's inputs do not give has to be found by reading everything.",
        "lead the key with what the pattern knows, or add an index that does",
    ),
    lint(
        "A2",
        Error,
        "a point read lacks a part of the key",
        "A get needs the whole key. With less the call is refused; of a key that is glued from texts it finds nothing.",
        "query the prefix instead, or take the unknown part out of the key",
    ),
    lint(
        "A3",
        Error,
        "a condition is not on the key's next part",
        "One contiguous range is made by equality on leading parts and at most one range on the next. A condition further back leaves other rows in between.",
        "move the part forward, or add an index in that order",
    ),
    lint(
        "A4",
        Error,
        "the plan does not ask what the pattern asks",
        "The range is narrower than the pattern, so rows are missed: an instant instead of everything up to it, a constant that the pattern does not fix, a limit that it does not have.",
        "widen the range to the pattern's own condition",
    ),
    lint(
        "A5",
        Warning,
        "many follow-up reads",
        "Rows that hold only ids cost one more read each. Told from ten of them in one call on (`A5.reads`).",
        "store in the row what the pattern shows, if it seldom changes",
    ),
    lint(
        "A6",
        Error,
        "no key range can serve this",
        "Suffixes, full text, geography, offsets and aggregates over rows are no intervals of any key order.",
        "keep a counter or a top list as a row, use a cursor, or an engine made for it",
    ),
    lint(
        "A8",
        Error,
        "the target takes no such request",
        "A step is a request of the target, not only a range of keys: how many conditions it takes, which texts may be empty, what an index may be keyed by, how often one transaction may name an item. The message has the rule and where it is written.",
        "declare what the inputs cannot be (`read near(g: text(min 1))`), say which inputs of a write differ (`if s != t`), or change the key or the plan as the rule says; a counter of CQL is a number that rows keep (`store { sum amount of Payment }`)",
    ),
    lint(
        "A7",
        Warning,
        "a scan of a whole table",
        "It costs as much as everything that is stored, and more each day.",
        "give the pattern a key; or mark it `admin`",
    ),
    lint(
        "F1",
        Error,
        "rows are read and thrown away",
        "A filter or a sort outside the store runs after the rows were read and paid for.",
        "move what it tests into the key, or into the condition of a sparse index",
    ),
    lint(
        "F2",
        Error,
        "the limit counts rows before the filter",
        "Pages come back short or empty although more rows fit.",
        "make the condition part of the range",
    ),
    lint(
        "O7",
        Error,
        "the rows do not hold what the pattern shows",
        "The plan cannot build the answer from what it reads.",
        "store the attribute, or add a follow-up read",
    ),
    lint(
        "U1",
        Error,
        "two sources have one row",
        "The key does not determine its source. The second write silently overwrites the first, and a delete of one removes the other.",
        "append the source's key to the end of the row's key",
    ),
    lint(
        "U2",
        Error,
        "uniqueness rests on a time",
        "Two events in one instant overwrite each other. Clocks are coarse and batches are fast.",
        "append the id, or use a ulid instead of the time",
    ),
    lint(
        "U3",
        Warning,
        "a unique attribute is not guarded",
        "Nothing in this schema makes a second writer with the same value fail.",
        "add a row keyed by the attribute and put it on condition that it is absent, in the same transaction",
    ),
    lint(
        "U4",
        Warning,
        "an index is taken to be unique",
        "Nothing keeps two rows from having the same index key; the first of them is as good as any.",
        "declare the attribute unique and guard it, or expect several",
    ),
    lint(
        "W1",
        Error,
        "a row cannot be reached to change it",
        "The caller of the write does not know a part of the row's key, and no row that it can read tells it. The row stays for ever. Of a link whose key its ends do not determine it is a warning, as nobody declared the write yet.",
        "keep the part in a row that is keyed by what the caller knows, or let the engine maintain an index",
    ),
    lint(
        "W2",
        Warning,
        "a read and the writes that depend on it are not one transaction",
        "Between the read and the write somebody else may write: a row comes back, stays behind or is lost.",
        "one serializable transaction with point reads, or a condition on what was read",
    ),
    lint(
        "W3",
        Warning,
        "one write touches many rows",
        "The largest fan-out does not fit into one transaction (`W3.rows`, else what the target takes), and takes long even when it does.",
        "let the readers of the few large ones pull, and push to the rest",
    ),
    lint(
        "W4",
        Note,
        "an attribute that changes is part of a key",
        "Each change is a delete and a put of every row and index entry with that key.",
        "keep it out of the key, or declare it `immutable`",
    ),
    lint(
        "W5",
        Error,
        "a copy is not kept up",
        "The write changes something that other rows hold a copy of, and the plan does not touch them; or it touches rows that the write does not concern.",
        "add the missing steps, or let the engine maintain an index",
    ),
    lint(
        "W6",
        Warning,
        "a counter is one hot row",
        "Every increment waits for the one before it.",
        "spread the counter over several rows and add them up",
    ),
    lint(
        "W7",
        Note,
        "nothing reads this",
        "A table or an index that no pattern and no write uses, or whose rows another one gives as well, costs storage and writes. One whose conditions hold of nothing never has a row (a warning).",
        "drop it, or name the pattern that needs it",
    ),
    lint(
        "P1",
        Warning,
        "a partition grows past its limit",
        "At the declared counts and growth the partition reaches the target's limit within three years (`P1.horizon`); `shelfmark design size` says when.",
        "put a period or a bucket into the partition key",
    ),
    lint(
        "P2",
        Warning,
        "a hot partition",
        "One partition takes all the traffic: its key is a constant, or its leading part grows with time so that all inserts go to one end, or a declared rate is more than one partition takes.",
        "spread it over buckets, or argue in an `allow` why it stays small",
    ),
    lint(
        "P3",
        Warning,
        "few values in the partition key",
        "Few partitions share all the data and all the load. Told below 100 values (`P3.values`), and where one value has more than a tenth of the rows (`P3.share`).",
        "add an attribute with more values",
    ),
    lint(
        "P4",
        Warning,
        "the rows of one read lie in many partitions",
        "Each partition is a request of its own. Told from 100 of them in one call on (`P4.partitions`).",
        "bound the number, or key by what the rows have in common",
    ),
    lint(
        "P5",
        Note,
        "a queue",
        "Rows are read from the front and deleted there; what was deleted is read over again and again.",
        "remember the last position, or bucket by time",
    ),
    lint(
        "X1",
        Note,
        "an index on what hardly ever or nearly always repeats",
        "A near-unique attribute makes entries of one row, spread over all partitions; a two-valued one makes two of half the table.",
        "use a table keyed by it",
    ),
    lint(
        "X2",
        Error,
        "the index cannot serve the condition",
        "An index that finds equal values has no order to take a range from, and rows that are equal in \
         its own columns come in no order that is promised.",
        "put the attribute into the sort key of an index",
    ),
    lint(
        "X3",
        Error,
        "a strong read over an index that may lag",
        "The entry may not be there yet when the writer has its answer.",
        "read the table itself, or ask for less",
    ),
    lint(
        "X4",
        Error,
        "more indexes than the target allows",
        "The table cannot be created.",
        "let row types share an index, or drop some",
    ),
    lint(
        "V1",
        Error,
        "an unbounded collection in one value",
        "The value grows with every element, is rewritten whole, and locks all of it for one change. With a declared maximum a list of other tuples is a warning, and a list attribute is none.",
        "one row for each element",
    ),
    lint(
        "V2",
        Error,
        "an item reaches the size limit",
        "At the declared numbers the item comes near what the target takes (80 %, `V2.share`) or over it; from then on writes fail.",
        "split it into rows",
    ),
    lint(
        "V3",
        Note,
        "a wide copy in an index",
        "Large attributes are written once more for each index that holds them.",
        "store only what the pattern shows",
    ),
    lint(
        "D1",
        Warning,
        "a sample row looks wrong",
        "A value is outside its domain, has another number of digits than its neighbours, it repeats another row's key, or a template was left unexpanded.",
        "mend the sample, or the code that made it",
    ),
    lint(
        "T1",
        Warning,
        "an expiry in the wrong unit",
        "Stores count seconds since 1970 in a number. Milliseconds expire in fifty thousand years; a text never does.",
        "store whole seconds",
    ),
    lint(
        "T2",
        Warning,
        "security rests on expiry",
        "Stores delete what has expired when they come to it; until then, hours later at times, it is still answered.",
        "compare the time when reading",
    ),
    lint(
        "M1",
        Warning,
        "a fan-out has no maximum",
        "Without one the number of rows that a call reads or writes is unbounded, and nothing can be promised about it.",
        "declare `fanout … max n`, or limit the pattern",
    ),
    lint(
        "M2",
        Warning,
        "a pattern is not served",
        "No plan is named and none was found.",
        "add a row family or an index for it",
    ),
    lint(
        "M3",
        Note,
        "numbers are missing",
        "Without counts and rates nothing can be said about growth and heat.",
        "declare `count`, `rate` and fan-outs",
    ),
    lint(
        "M4",
        Warning,
        "an allowance allows nothing",
        "No finding has this id here any more.",
        "remove the `allow`",
    ),
    lint(
        "M5",
        Note,
        "a type is declared and not used",
        "What it promises of a value, such as that no id reaches a delimiter, no proof relies on: the attribute that was meant has another type.",
        "give the attribute this type, or remove the type",
    ),
];

/// Returns the lint of an id.
pub fn find(id: &str) -> Option<&'static Lint> {
    ALL.iter().find(|lint| lint.id == id)
}

/// The obligations of a certificate with their texts; those that are lints too are explained as
/// lints.
pub const OBLIGATIONS: [(&str, &str, &str); 10] = [
    (
        "O1",
        "bound",
        "Every column of the partition key is an input, a constant, or known from an earlier step. Where one is not, the call cannot be formed (A1, A2).",
    ),
    (
        "O2",
        "contiguous",
        "What the pattern asks is equality on leading columns of the key and at most one range on the next, in an encoding that keeps order: one interval of bytes.",
    ),
    (
        "O3",
        "sound",
        "Every row in the interval is wanted: no condition is left unsaid (A3), and no row of another type falls in (K6).",
    ),
    (
        "O4",
        "complete",
        "Every wanted entity has exactly one row there: the key determines it (U1, U2), the range misses none (A4, K3), and each write keeps its rows up (W1, W5).",
    ),
    (
        "O5",
        "ordered",
        "Behind what is fixed the key goes on with the order asked for, or with its exact reverse (K1, K7).",
    ),
    ("O6", "no waste", "As many rows are read as returned; a limit is the range's own (F1, F2)."),
    (
        "O7",
        "covered",
        "What the pattern shows is in the rows, or in rows that are read for each of them.",
    ),
    (
        "O8",
        "consistent",
        "The level that is asked for exists on this path (X3). Time is stated, not proven.",
    ),
    ("O9", "bounded", "The number of ranges and follow-up reads has a maximum (A5, P4)."),
    (
        "O10",
        "askable",
        "For every input that the types admit, each step is a request that the target takes and does not refuse (A8). `shelfmark design calls` prints them.",
    ),
];

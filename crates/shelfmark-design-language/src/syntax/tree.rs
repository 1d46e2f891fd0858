//! The syntax tree of a model; its serialized form is the JSON form of models.
//!
//! What it is not: names are not resolved and types not checked here.
//!
//! Invariant: every node that a message may point at has a span. Spans are left out of JSON.

#![expect(
    missing_docs,
    reason = "fields are the words of the language, which docs/modelling.md explains; a comment here \
              becomes text of the published JSON Schema"
)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::name::{Field, Name};
use super::span::Span;

/// A whole model.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub items: Vec<Item>,
}

/// An item at the top of a model.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Item {
    Type(TypeItem),
    Entity(Relation),
    Link(Relation),
    Read(Box<Read>),
    Write(Box<Write>),
    Schema(Box<Schema>),
    Target(Settings),
    Allow(Allow),
}

/// `type title = text(max 200)`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypeItem {
    pub name: Name,
    pub ty: Type,
    #[serde(skip)]
    pub span: Span,
}

/// A type as written.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Type {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<TypeOption>,
    /// Of `list of` and `set of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<Box<Type>>,
    /// Of `record`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Attribute>,
    /// Of `one of`: the entities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub among: Vec<Name>,
    #[serde(skip)]
    pub span: Span,
}

/// `max 200`, `without "#"`, `0..9`, `"open"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TypeOption {
    Max(u64),
    Min(u64),
    Without(String),
    Only(String),
    Range(i64, i64),
    Variant(String),
}

/// An entity or a link.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Relation {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<End>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Member>,
    #[serde(skip)]
    pub span: Span,
}

/// `User as followee`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    pub entity: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Name>,
}

/// A member of an entity or a link.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Member {
    Attribute(Attribute),
    Key(Names),
    Unique(Names),
    /// `together (a, b)`: all of them are there, or none.
    Together(Names),
    Fd(Fd),
    Fanout(Fanout),
    Fact(Fact),
}

/// `name: type facts`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    pub name: Name,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub key: bool,
    pub ty: Type,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    #[serde(skip)]
    pub span: Span,
}

/// `key (a, b)`, `unique (a, b)`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Names {
    pub names: Vec<Name>,
    #[serde(skip)]
    pub span: Span,
}

/// `fd a, b -> c`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fd {
    pub from: Vec<Name>,
    pub to: Vec<Name>,
    #[serde(skip)]
    pub span: Span,
}

/// `fanout followee -> follower avg 120 max 40M`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fanout {
    pub from: Vec<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    #[serde(skip)]
    pub span: Span,
}

/// A word, perhaps with a quantity: `immutable`, `rate 300/s`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    pub name: Name,
    /// The quantity as written, such as `2M`, `300/s`, `3%/mo`, `64MiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// `u: User`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Param {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ty: Option<Type>,
}

/// A path such as `author.name`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Path {
    pub parts: Vec<Name>,
}

impl Path {
    pub fn span(&self) -> Span {
        let first = self.parts.first().map(|name| name.span).unwrap_or_default();
        self.parts.last().map_or(first, |last| first.to(last.span))
    }

    pub fn text(&self) -> String {
        let parts: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        parts.join(".")
    }
}

/// A value as written.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expr {
    pub kind: ExprKind,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExprKind {
    Path(Path),
    Text(String),
    Int(i64),
    Bool(bool),
    Call {
        name: Name,
        args: Vec<Expr>,
    },
    /// A text with holes; in schemas only.
    Template(Template),
}

/// A text with holes: `chats#<c>#message#<id:ulid>`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Template {
    pub raw: String,
    pub segments: Vec<Segment>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum Segment {
    Literal(String),
    Hole { expr: Expr, codec: Option<Codec> },
}

/// `pad(4)`.
#[derive(Debug, Clone)]
pub struct Codec {
    pub name: Name,
    pub width: Option<u64>,
}

impl From<String> for Template {
    fn from(raw: String) -> Self {
        let span = Span::new(0, raw.len());
        let segments = super::parser::segments(&raw, 0, &mut Vec::new());
        Self { raw, segments, span }
    }
}

impl From<Template> for String {
    fn from(template: Template) -> Self {
        template.raw
    }
}

/// A predicate.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cond {
    pub path: Path,
    /// The attribute of other row types, behind the name of each: `(Post.author, Comment.by)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Path>,
    pub op: CondOp,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Expr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CondOp {
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
    Between,
    Begins,
    In,
    Contains,
    Ends,
    Matches,
    Near,
    Present,
    Absent,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub path: Path,
    /// The attribute of other row types, behind the name of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Path>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desc: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Aggregate {
    Count,
    Sum,
    Min,
    Max,
}

/// `read name(params) = …`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Read {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<(Aggregate, Option<Path>)>,
    pub sources: Vec<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<Path>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
    /// Nothing means: everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<Vec<Path>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conds: Vec<Cond>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Order>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Expr>,
    /// Limits of single row types: `limit 25 of Issue`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<OwnLimit>,
    /// True if the limit is the size of a result page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub page: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Expr>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unique: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    #[serde(skip)]
    pub span: Span,
}

/// `25 of Issue`: the limit of one row type in a read of several.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnLimit {
    pub count: Expr,
    pub of: Name,
}

/// `write name(params) = effect and effect`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<Param>,
    pub effects: Vec<Effect>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EffectKind {
    Insert,
    Link,
    Update,
    Delete,
    Unlink,
    Increment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Existing {
    /// The caller promises that the key is new.
    #[default]
    Fresh,
    /// Nothing happens when the key exists.
    Unless,
    /// Replaces an existing tuple.
    Replace,
    /// Of an increment: what is not there begins to be, from zero.
    Insert,
}

/// One change of the state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    pub kind: EffectKind,
    pub relation: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<(Field, Expr)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(Field, Expr)>,
    #[serde(default)]
    pub existing: Existing,
    /// `if stock >= n, version = v`; all must hold, or the write changes nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conds: Vec<Cond>,
    /// `if s != t`; where two inputs are equal that differ, the whole write changes nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differ: Vec<Differ>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Each>,
    #[serde(skip)]
    pub span: Span,
}

/// `s != t`, or `(a, b) != (c, d)`: inputs of which at least one pair differs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Differ {
    pub left: Vec<Path>,
    pub right: Vec<Path>,
    #[serde(skip)]
    pub span: Span,
}

/// `for each Member as m where chat = c`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Each {
    pub source: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conds: Vec<Cond>,
}

/// `schema published target candb "…" { … }`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    pub name: Name,
    pub target: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serves: Vec<Serve>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<WritePlan>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<SampleRow>,
    #[serde(skip)]
    pub sample_span: Option<Span>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub name: Name,
    /// True if it was written as one line: `table t from Source key (…)`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub short: bool,
    /// Names of text key columns, as `pk text  sk text` declares them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Name>,
    pub rows: Vec<Row>,
    #[serde(skip)]
    pub span: Span,
}

/// A row family.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub name: Name,
    pub sources: Vec<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Cond>,
    pub key: Key,
    pub store: Store,
    /// The longest time that its rows may be behind what they stem from, such as `10s`: no write
    /// keeps them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<Index>,
    #[serde(skip)]
    pub span: Span,
}

/// `index by_title pk "…" sk "…"`, `index open when state = "open" key (…)`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Index {
    pub name: Name,
    /// True if it lies beside its rows, in their partition, and shows a write at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// The conditions of an index that holds some of the rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Cond>,
    pub key: Key,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Store>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Key {
    /// `pk "…" sk "…"`.
    Text { pk: Template, sk: Option<Template> },
    /// `key (a, b; c desc)`.
    Tuple { partition: Option<Vec<Component>>, sort: Vec<Component> },
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Component {
    pub expr: Expr,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desc: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Store {
    All,
    Items(Vec<StoreItem>),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StoreItem {
    Path(Path),
    Collect {
        path: Path,
        /// The reference that leads to the row's source; needed where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Name>,
        alias: Option<Name>,
    },
    /// `count Message by sender as sent`.
    Count {
        source: Name,
        /// The reference that leads to the row's source; needed where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Name>,
        /// Nothing means: all that refer to the row's source.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conds: Vec<Cond>,
        alias: Option<Name>,
    },
    /// `sum amount of Line where state = "paid" as paid`.
    Sum {
        path: Path,
        source: Name,
        /// The reference that leads to the row's source; needed where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Name>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conds: Vec<Cond>,
        alias: Option<Name>,
    },
    /// `max at of Reading where state = "ok" as newest`, or `min`.
    Extreme {
        largest: bool,
        path: Path,
        source: Name,
        /// The reference that leads to the row's source; needed where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Name>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conds: Vec<Cond>,
        alias: Option<Name>,
    },
}

/// `serve pattern(params) by step then step`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Serve {
    pub pattern: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<Name>>,
    pub steps: Vec<Step>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub kind: StepKind,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StepKind {
    /// A read of the store.
    Read(Box<ReadStep>),
    /// `and …`: one more read beside the first, for other row types.
    Also(Box<ReadStep>),
    Filter(Vec<Cond>),
    Sort(Vec<Order>),
    Take(Expr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Verb {
    Get,
    Query,
    Scan,
    Range,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadStep {
    /// `each x in xs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<(Name, EachOf)>,
    pub verb: Verb,
    pub table: Name,
    pub bind: Bind,
    pub bounds: Vec<Bound>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desc: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Expr>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EachOf {
    Param(Name),
    Numbers(i64, i64),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Bind {
    /// The whole table.
    Nothing,
    /// `pk "…" sk "…"`, the sort key only when it is one value.
    Text { pk: Option<Template>, sk: Option<Template> },
    /// `(a, b)`.
    Tuple(Vec<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BoundKind {
    /// All that begins with it.
    Begins,
    /// `>=`
    From,
    /// Above everything that begins with it.
    After,
    /// `<=`
    To,
    /// `<`
    Before,
    /// Up to the end of everything that begins with it.
    Through,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    pub kind: BoundKind,
    pub value: Expr,
}

/// `write name { … }` in a schema.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WritePlan {
    pub pattern: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<Name>>,
    pub steps: Vec<WriteStep>,
    #[serde(skip)]
    pub span: Span,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WriteStep {
    Transaction(Vec<WriteStep>),
    Read { row: Name, conds: Vec<Cond>, alias: Option<Name> },
    Put { row: Name, each: Option<Name> },
    Delete { row: Name, each: Option<Name> },
    Patch { row: Name, each: Option<Name> },
}

/// A row as a document prints it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleRow {
    pub row: Name,
    /// True if the document's script writes the row; else the document prints it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub script: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(Name, Expr)>,
    #[serde(skip)]
    pub span: Span,
}

/// `target shelfmark { partition.max 64MiB }`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub target: Name,
    pub values: Vec<(Path, String)>,
    #[serde(skip)]
    pub span: Span,
}

/// `allow K4 in published because "…"`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allow {
    pub lints: Vec<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Name>,
    pub reason: String,
    #[serde(skip)]
    pub span: Span,
}

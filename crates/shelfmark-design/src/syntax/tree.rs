//! The syntax tree of a model; its serialized form is the JSON form of models.
//!
//! What it is not: names are not resolved and types not checked here.
//!
//! Invariant: every node that a message may point at has a span. Spans are left out of JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::span::Span;

/// A name and where it stands.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

impl Name {
    /// A name that stands nowhere and need not be one that can be written.
    pub(crate) fn plain(text: String) -> Self {
        Self { text, span: Span::default() }
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let good = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_alphanumeric() || c == '_');
        if good {
            return Ok(Self::plain(text));
        }
        Err(format!("{text:?} is no name: a letter or `_`, then letters, digits and `_`"))
    }
}

impl JsonSchema for Name {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Name".into()
    }

    fn inline_schema() -> bool {
        true
    }

    /// Beyond ASCII the pattern lets through more than letters and digits.
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": r"^[^\x00-@\[-\^`{-\x7f][^\x00-/:-@\[-\^`{-\x7f]*$",
        })
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.text
    }
}

/// A whole model.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) items: Vec<Item>,
}

/// What stands at the top of a model.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Item {
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
pub(crate) struct TypeItem {
    pub(crate) name: Name,
    pub(crate) ty: Type,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// A type as written.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Type {
    pub(crate) name: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) options: Vec<TypeOption>,
    /// Of `list of` and `set of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) element: Option<Box<Type>>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// `max 200`, `without "#"`, `0..9`, `"open"`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum TypeOption {
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
pub(crate) struct Relation {
    pub(crate) name: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ends: Vec<End>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) members: Vec<Member>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// `User as followee`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    pub(crate) entity: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<Name>,
}

/// What stands in an entity or a link.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Member {
    Attribute(Attribute),
    Key(Names),
    Unique(Names),
    Fd(Fd),
    Fanout(Fanout),
    Fact(Fact),
}

/// `name: type facts`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attribute {
    pub(crate) name: Name,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) key: bool,
    pub(crate) ty: Type,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) facts: Vec<Fact>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// `key (a, b)`, `unique (a, b)`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Names {
    pub(crate) names: Vec<Name>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// `fd a, b -> c`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fd {
    pub(crate) from: Vec<Name>,
    pub(crate) to: Vec<Name>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// `fanout followee -> follower avg 120 max 40M`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fanout {
    pub(crate) from: Vec<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) facts: Vec<Fact>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// A word, perhaps with a quantity: `immutable`, `rate 300/s`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fact {
    pub(crate) name: Name,
    /// The quantity as written, such as `2M`, `300/s`, `3%/mo`, `64MiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
}

/// `u: User`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Param {
    pub(crate) name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ty: Option<Type>,
}

/// A path such as `author.name`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Path {
    pub(crate) parts: Vec<Name>,
}

impl Path {
    pub(crate) fn span(&self) -> Span {
        let first = self.parts.first().map(|name| name.span).unwrap_or_default();
        self.parts.last().map_or(first, |last| first.to(last.span))
    }

    pub(crate) fn text(&self) -> String {
        let parts: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        parts.join(".")
    }
}

/// A value as written.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    #[serde(skip)]
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ExprKind {
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
pub(crate) struct Template {
    pub(crate) raw: String,
    pub(crate) segments: Vec<Segment>,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum Segment {
    Literal(String),
    Hole { expr: Expr, codec: Option<Codec> },
}

/// `pad(4)`.
#[derive(Debug, Clone)]
pub(crate) struct Codec {
    pub(crate) name: Name,
    pub(crate) width: Option<u64>,
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
pub(crate) struct Cond {
    pub(crate) path: Path,
    pub(crate) op: CondOp,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) values: Vec<Expr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<u64>,
    #[serde(skip)]
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum CondOp {
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
pub(crate) struct Order {
    pub(crate) path: Path,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) desc: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Aggregate {
    Count,
    Sum,
    Min,
    Max,
}

/// `read name(params) = …`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    pub(crate) name: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) params: Vec<Param>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) aggregate: Option<(Aggregate, Option<Path>)>,
    pub(crate) sources: Vec<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) with: Vec<Path>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) distinct: bool,
    /// Nothing means: everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) select: Option<Vec<Path>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) conds: Vec<Cond>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) order: Vec<Order>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<Expr>,
    /// Whether the limit is the size of a result page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) page: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) offset: Option<Expr>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unique: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) facts: Vec<Fact>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// `write name(params) = effect and effect`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    pub(crate) name: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) params: Vec<Param>,
    pub(crate) effects: Vec<Effect>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) facts: Vec<Fact>,
    #[serde(skip)]
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum EffectKind {
    Insert,
    Link,
    Update,
    Delete,
    Unlink,
    Increment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Existing {
    /// The caller promises that the key is new.
    #[default]
    Fresh,
    /// Nothing happens when the key is taken.
    Unless,
    /// What is there is replaced.
    Replace,
}

/// One change of the state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Effect {
    pub(crate) kind: EffectKind,
    pub(crate) relation: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) key: Vec<(Name, Expr)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) set: Vec<(Name, Expr)>,
    #[serde(default)]
    pub(crate) existing: Existing,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) each: Option<Each>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// `for each Member as m where chat = c`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Each {
    pub(crate) source: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) alias: Option<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) conds: Vec<Cond>,
}

/// `schema published target candb "…" { … }`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Schema {
    pub(crate) name: Name,
    pub(crate) target: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) doc: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tables: Vec<Table>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) serves: Vec<Serve>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) writes: Vec<WritePlan>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) samples: Vec<SampleRow>,
    #[serde(skip)]
    pub(crate) sample_span: Option<Span>,
    #[serde(skip)]
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) name: Name,
    /// Whether it was written as one line: `table t from Source key (…)`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) short: bool,
    /// Names of text key columns, as `pk text  sk text` declares them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) columns: Vec<Name>,
    pub(crate) rows: Vec<Row>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// A row family.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) name: Name,
    pub(crate) sources: Vec<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) when: Vec<Cond>,
    pub(crate) key: Key,
    pub(crate) store: Store,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) indexes: Vec<Index>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// `index by_title pk "…" sk "…"`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Index {
    pub(crate) name: Name,
    pub(crate) key: Key,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) store: Option<Store>,
    #[serde(skip)]
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Key {
    /// `pk "…" sk "…"`.
    Text { pk: Template, sk: Option<Template> },
    /// `key (a, b; c desc)`.
    Tuple { partition: Option<Vec<Component>>, sort: Vec<Component> },
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Component {
    pub(crate) expr: Expr,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) desc: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Store {
    All,
    Items(Vec<StoreItem>),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum StoreItem {
    Path(Path),
    Collect { path: Path, alias: Option<Name> },
    Count { source: Name, alias: Option<Name> },
}

/// `serve pattern(params) by step then step`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Serve {
    pub(crate) pattern: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) params: Option<Vec<Name>>,
    pub(crate) steps: Vec<Step>,
    #[serde(skip)]
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum StepKind {
    /// A read of the store.
    Read(Box<ReadStep>),
    Filter(Vec<Cond>),
    Sort(Vec<Order>),
    Take(Expr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Verb {
    Get,
    Query,
    Scan,
    Range,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadStep {
    /// `each x in xs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) each: Option<(Name, EachOf)>,
    pub(crate) verb: Verb,
    pub(crate) table: Name,
    pub(crate) bind: Bind,
    pub(crate) bounds: Vec<Bound>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) desc: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<Expr>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum EachOf {
    Param(Name),
    Numbers(i64, i64),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Bind {
    /// The whole table.
    Nothing,
    /// `pk "…" sk "…"`, the sort key only when it is one value.
    Text { pk: Option<Template>, sk: Option<Template> },
    /// `(a, b)`.
    Tuple(Vec<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum BoundKind {
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
pub(crate) struct Bound {
    pub(crate) kind: BoundKind,
    pub(crate) value: Expr,
}

/// `write name { … }` in a schema.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WritePlan {
    pub(crate) pattern: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) params: Option<Vec<Name>>,
    pub(crate) steps: Vec<WriteStep>,
    #[serde(skip)]
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum WriteStep {
    Transaction(Vec<WriteStep>),
    Read { row: Name, conds: Vec<Cond>, alias: Option<Name> },
    Put { row: Name, each: Option<Name> },
    Delete { row: Name, each: Option<Name> },
    Patch { row: Name, each: Option<Name> },
}

/// A row as a document prints it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SampleRow {
    pub(crate) row: Name,
    /// Whether the document's script writes the row; else the document prints it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) script: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) keys: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) values: Vec<(Name, Expr)>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// `target shelfmark { partition.max 64MiB }`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) target: Name,
    pub(crate) values: Vec<(Path, String)>,
    #[serde(skip)]
    pub(crate) span: Span,
}

/// `allow K4 in published because "…"`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allow {
    pub(crate) lints: Vec<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) on: Option<Name>,
    pub(crate) reason: String,
    #[serde(skip)]
    pub(crate) span: Span,
}

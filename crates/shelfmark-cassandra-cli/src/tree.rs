//! The syntax tree of one command.

use super::source::Place;

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `connect host/port [user 'password']`
    Connect {
        /// The host.
        host: String,
        /// The port.
        port: String,
        /// User and password.
        login: Option<(String, String)>,
    },
    /// `use keyspace [user 'password']`
    Use {
        /// The keyspace; matched whatever its case.
        keyspace: String,
        /// User and password.
        login: Option<(String, Option<String>)>,
    },
    /// `create keyspace …`
    CreateKeyspace(Definition),
    /// `update keyspace …`
    UpdateKeyspace(Definition),
    /// `drop keyspace …`
    DropKeyspace(String),
    /// `create column family …`
    CreateColumnFamily(Definition),
    /// `update column family …`
    UpdateColumnFamily(Definition),
    /// `drop column family …`
    DropColumnFamily(String),
    /// `drop index on family.column`
    DropIndex {
        /// The column family.
        family: String,
        /// The column.
        column: String,
    },
    /// `set family[key][column] = value [with ttl = n]`
    Set {
        /// The cell that is set.
        cell: Access,
        /// The value.
        value: Value,
        /// Seconds to live.
        ttl: Option<String>,
    },
    /// `get family[key]…`
    Get {
        /// The cell that is read.
        cell: Access,
        /// `as type`
        as_type: Option<String>,
        /// `limit n`
        limit: Option<String>,
    },
    /// `get family where …`
    GetWhere {
        /// The column family.
        family: String,
        /// The conditions; at least one.
        conditions: Vec<Condition>,
        /// `limit n`
        limit: Option<String>,
    },
    /// `list family…`
    List {
        /// The column family.
        family: String,
        /// `[start:end]`; either may be missing.
        range: Option<(Option<String>, Option<String>)>,
        /// `limit n`
        limit: Option<String>,
        /// `columns n`: how many columns of each row.
        columns: Option<String>,
        /// `reversed`: the last columns first.
        reversed: bool,
    },
    /// `count family[key]…`
    Count(Access),
    /// `del family[key]…`
    Delete(Access),
    /// `truncate family`
    Truncate(String),
    /// `incr` and `decr`
    Increment {
        /// The counter.
        cell: Access,
        /// `by n`; 1 when it is not said. A minus sign belongs to it.
        by: Option<String>,
        /// True of `decr`.
        down: bool,
    },
    /// `assume family element as type`
    Assume {
        /// The column family.
        family: String,
        /// `keys`, `comparator`, `sub_comparator` or `validator`.
        element: String,
        /// The type.
        as_type: String,
    },
    /// `consistencylevel as level`
    ConsistencyLevel(String),
    /// `describe [keyspace or column family]`
    Describe(Option<String>),
    /// `describe cluster`
    DescribeCluster,
    /// `describe ring [keyspace]`
    DescribeRing(Option<String>),
    /// `show keyspaces`
    ShowKeyspaces,
    /// `show schema [keyspace]`
    ShowSchema(Option<String>),
    /// `show cluster name`
    ShowClusterName,
    /// `show api version`
    ShowApiVersion,
    /// `help …` and `?`: the words behind it.
    Help(String),
    /// `quit` and `exit`
    Exit,
    /// Nothing but a semicolon.
    Nothing,
}

/// A keyspace or column family with its attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The attributes in the order of the text.
    pub attributes: Vec<Attribute>,
}

/// `name = value`. Two are equal when they say the same, wherever they stand.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name as written.
    pub name: String,
    /// The value.
    pub value: AttributeValue,
    /// The place of the name.
    pub place: Place,
}

impl PartialEq for Attribute {
    fn eq(&self, other: &Attribute) -> bool {
        self.name == other.name && self.value == other.value
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// A word, a number or a string.
    Text(String),
    /// `{a: b, …}`
    Hash(Vec<(Value, HashValue)>),
    /// `[{…} {…}]`
    Array(Vec<Vec<(Value, HashValue)>>),
}

/// The value right of a colon.
#[derive(Clone, Debug, PartialEq)]
pub enum HashValue {
    /// A value.
    Value(Value),
    /// Another hash.
    Hash(Vec<(Value, HashValue)>),
}

/// `family[key][column][sub column]`
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The column family.
    pub family: String,
    /// The row key.
    pub key: Value,
    /// The column, or the super column.
    pub column: Option<Value>,
    /// The column inside of a super column.
    pub sub_column: Option<Value>,
}

/// A row key, a column name or a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A bare word or number.
    Word(String),
    /// A quoted text, without quotes and escapes.
    Text(String),
    /// `function(argument)`
    Call {
        /// The function as written.
        function: String,
        /// The argument.
        argument: Option<String>,
    },
}

impl Value {
    /// Returns the text of a word or a quoted text; of a call its function's name.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Value::Word(text) | Value::Text(text) => text,
            Value::Call { function, .. } => function,
        }
    }
}

/// `column operator value`
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The column.
    pub column: Value,
    /// The operator.
    pub operator: Comparison,
    /// The value.
    pub value: Value,
}

/// An operator of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `>`
    Greater,
    /// `<`
    Less,
    /// `>=`
    GreaterOrEqual,
    /// `<=`
    LessOrEqual,
}

//! The kinds of tokens, and which keywords may be names.

use crate::ast::NativeType;

/// The uses of a keyword beside itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nothing else: the word must be quoted to be a name.
    Reserved,
    /// Any name, of a user type and a function too.
    Plain,
    /// Any name but that of a user type; it is a type itself.
    Type(NativeType),
    /// A name, but never that of a type or a function.
    NotFunction,
    /// A name and a function, never a type.
    Count,
    /// A name and a user type, never a function.
    Key,
    /// A function only.
    Token,
}

macro_rules! kinds {
    (
        tokens { $($token:ident = $shown:literal,)* }
        words { $($word:ident $text:literal $(| $other:literal)* $shown_word:literal $class:expr,)* }
    ) => {
        /// The kind of a token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Kind {
            $($token,)*
            $($word,)*
        }

        impl Kind {
            /// Returns the kind as messages of the original name it when it was expected.
            pub(crate) fn shown(self) -> &'static str {
                match self {
                    $(Kind::$token => $shown,)*
                    $(Kind::$word => $shown_word,)*
                }
            }

            /// Returns the other uses of a keyword; `None` for what is no keyword.
            #[inline]
            pub(crate) fn class(self) -> Option<Class> {
                match self {
                    $(Kind::$token)|* => None,
                    $(Kind::$word => Some($class),)*
                }
            }
        }

        /// Every keyword in lower case.
        pub(crate) const WORDS: &[(&str, Kind)] = &[
            $(($text, Kind::$word), $(($other, Kind::$word),)*)*
        ];
    };
}

kinds! {
    tokens {
        End = "EOF",
        Broken = "<invalid>",
        Ident = "IDENT",
        Quoted = "QUOTED_NAME",
        EmptyQuoted = "EMPTY_QUOTED_NAME",
        String = "STRING_LITERAL",
        Integer = "INTEGER",
        Float = "FLOAT",
        Boolean = "BOOLEAN",
        Duration = "DURATION",
        Uuid = "UUID",
        Hex = "HEXNUMBER",
        NegativeNan = "K_NEGATIVE_NAN",
        NegativeInfinity = "K_NEGATIVE_INFINITY",
        Question = "QMARK",
        Range = "RANGE",
        Semicolon = "';'",
        LeftParen = "'('",
        RightParen = "')'",
        Comma = "','",
        Dot = "'.'",
        Star = "'\\*'",
        Equal = "'='",
        NotEqual = "'!='",
        Less = "'<'",
        LessOrEqual = "'<='",
        Greater = "'>'",
        GreaterOrEqual = "'>='",
        LeftBracket = "'['",
        RightBracket = "']'",
        LeftBrace = "'{'",
        RightBrace = "'}'",
        Colon = "':'",
        Plus = "'+'",
        PlusEqual = "'+='",
        Minus = "'-'",
        MinusEqual = "'-='",
        Slash = "'/'",
        Percent = "'%'",
        ExprParen = "'expr('",
    }
    words {
        Add "add" "K_ADD" Class::Reserved,
        Allow "allow" "K_ALLOW" Class::Reserved,
        Alter "alter" "K_ALTER" Class::Reserved,
        And "and" "K_AND" Class::Reserved,
        Apply "apply" "K_APPLY" Class::Reserved,
        Asc "asc" "K_ASC" Class::Reserved,
        Authorize "authorize" "K_AUTHORIZE" Class::Reserved,
        Batch "batch" "K_BATCH" Class::Reserved,
        Begin "begin" "K_BEGIN" Class::Reserved,
        By "by" "K_BY" Class::Reserved,
        Table "table" | "columnfamily" "K_COLUMNFAMILY" Class::Reserved,
        Create "create" "K_CREATE" Class::Reserved,
        Delete "delete" "K_DELETE" Class::Reserved,
        Desc "desc" "K_DESC" Class::Reserved,
        Describe "describe" "K_DESCRIBE" Class::Reserved,
        Drop "drop" "K_DROP" Class::Reserved,
        Entries "entries" "K_ENTRIES" Class::Reserved,
        Execute "execute" "K_EXECUTE" Class::Reserved,
        From "from" "K_FROM" Class::Reserved,
        Full "full" "K_FULL" Class::Reserved,
        Grant "grant" "K_GRANT" Class::Reserved,
        If "if" "K_IF" Class::Reserved,
        In "in" "K_IN" Class::Reserved,
        Index "index" "K_INDEX" Class::Reserved,
        Infinity "infinity" "K_POSITIVE_INFINITY" Class::Reserved,
        Insert "insert" "K_INSERT" Class::Reserved,
        Into "into" "K_INTO" Class::Reserved,
        Is "is" "K_IS" Class::Reserved,
        Keyspace "keyspace" "K_KEYSPACE" Class::Reserved,
        Limit "limit" "K_LIMIT" Class::Reserved,
        Materialized "materialized" "K_MATERIALIZED" Class::Reserved,
        Modify "modify" "K_MODIFY" Class::Reserved,
        Nan "nan" "K_POSITIVE_NAN" Class::Reserved,
        Norecursive "norecursive" "K_NORECURSIVE" Class::Reserved,
        Not "not" "K_NOT" Class::Reserved,
        Null "null" "K_NULL" Class::Reserved,
        Of "of" "K_OF" Class::Reserved,
        On "on" "K_ON" Class::Reserved,
        Or "or" "K_OR" Class::Reserved,
        Order "order" "K_ORDER" Class::Reserved,
        Primary "primary" "K_PRIMARY" Class::Reserved,
        Rename "rename" "K_RENAME" Class::Reserved,
        Revoke "revoke" "K_REVOKE" Class::Reserved,
        Schema "schema" "K_SCHEMA" Class::Reserved,
        Select "select" "K_SELECT" Class::Reserved,
        Set "set" "K_SET" Class::Reserved,
        To "to" "K_TO" Class::Reserved,
        Truncate "truncate" "K_TRUNCATE" Class::Reserved,
        Unlogged "unlogged" "K_UNLOGGED" Class::Reserved,
        Update "update" "K_UPDATE" Class::Reserved,
        Use "use" "K_USE" Class::Reserved,
        Using "using" "K_USING" Class::Reserved,
        View "view" "K_VIEW" Class::Reserved,
        Where "where" "K_WHERE" Class::Reserved,
        With "with" "K_WITH" Class::Reserved,
        Access "access" "K_ACCESS" Class::Plain,
        Aggregate "aggregate" "K_AGGREGATE" Class::Plain,
        Aggregates "aggregates" "K_AGGREGATES" Class::Plain,
        All "all" "K_ALL" Class::Plain,
        Ann "ann" "K_ANN" Class::Plain,
        As "as" "K_AS" Class::Plain,
        Called "called" "K_CALLED" Class::Plain,
        Cidrs "cidrs" "K_CIDRS" Class::Plain,
        Cluster "cluster" "K_CLUSTER" Class::Plain,
        Clustering "clustering" "K_CLUSTERING" Class::Plain,
        Compact "compact" "K_COMPACT" Class::Plain,
        Contains "contains" "K_CONTAINS" Class::Plain,
        Custom "custom" "K_CUSTOM" Class::Plain,
        Datacenters "datacenters" "K_DATACENTERS" Class::Plain,
        Default "default" "K_DEFAULT" Class::Plain,
        Exists "exists" "K_EXISTS" Class::Plain,
        Filtering "filtering" "K_FILTERING" Class::Plain,
        Finalfunc "finalfunc" "K_FINALFUNC" Class::Plain,
        Frozen "frozen" "K_FROZEN" Class::Plain,
        Function "function" "K_FUNCTION" Class::Plain,
        Functions "functions" "K_FUNCTIONS" Class::Plain,
        Group "group" "K_GROUP" Class::Plain,
        Hashed "hashed" "K_HASHED" Class::Plain,
        Identity "identity" "K_IDENTITY" Class::Plain,
        Initcond "initcond" "K_INITCOND" Class::Plain,
        Input "input" "K_INPUT" Class::Plain,
        Internals "internals" "K_INTERNALS" Class::Plain,
        Keys "keys" "K_KEYS" Class::Plain,
        Keyspaces "keyspaces" "K_KEYSPACES" Class::Plain,
        Language "language" "K_LANGUAGE" Class::Plain,
        Like "like" "K_LIKE" Class::Plain,
        List "list" "K_LIST" Class::Plain,
        Login "login" "K_LOGIN" Class::Plain,
        Map "map" "K_MAP" Class::Plain,
        Masked "masked" "K_MASKED" Class::Plain,
        Mbean "mbean" "K_MBEAN" Class::Plain,
        Mbeans "mbeans" "K_MBEANS" Class::Plain,
        Nologin "nologin" "K_NOLOGIN" Class::Plain,
        Nosuperuser "nosuperuser" "K_NOSUPERUSER" Class::Plain,
        Only "only" "K_ONLY" Class::Plain,
        Options "options" "K_OPTIONS" Class::Plain,
        Partition "partition" "K_PARTITION" Class::Plain,
        Password "password" "K_PASSWORD" Class::Plain,
        Per "per" "K_PER" Class::Plain,
        Permission "permission" "K_PERMISSION" Class::Plain,
        Permissions "permissions" "K_PERMISSIONS" Class::Plain,
        Replace "replace" "K_REPLACE" Class::Plain,
        Returns "returns" "K_RETURNS" Class::Plain,
        Role "role" "K_ROLE" Class::Plain,
        Roles "roles" "K_ROLES" Class::Plain,
        SelectMasked "select_masked" "K_SELECT_MASKED" Class::Plain,
        Sfunc "sfunc" "K_SFUNC" Class::Plain,
        Static "static" "K_STATIC" Class::Plain,
        Storage "storage" "K_STORAGE" Class::Plain,
        Stype "stype" "K_STYPE" Class::Plain,
        Superuser "superuser" "K_SUPERUSER" Class::Plain,
        Tables "tables" | "columnfamilies" "K_TABLES" Class::Plain,
        Trigger "trigger" "K_TRIGGER" Class::Plain,
        Tuple "tuple" "K_TUPLE" Class::Plain,
        Type "type" "K_TYPE" Class::Plain,
        Types "types" "K_TYPES" Class::Plain,
        Unmask "unmask" "K_UNMASK" Class::Plain,
        Unset "unset" "K_UNSET" Class::Plain,
        User "user" "K_USER" Class::Plain,
        Users "users" "K_USERS" Class::Plain,
        Values "values" "K_VALUES" Class::Plain,
        Vector "vector" "K_VECTOR" Class::Plain,
        Ascii "ascii" "K_ASCII" Class::Type(NativeType::Ascii),
        Bigint "bigint" "K_BIGINT" Class::Type(NativeType::BigInt),
        Blob "blob" "K_BLOB" Class::Type(NativeType::Blob),
        BooleanType "boolean" "K_BOOLEAN" Class::Type(NativeType::Boolean),
        Counter "counter" "K_COUNTER" Class::Type(NativeType::Counter),
        Date "date" "K_DATE" Class::Type(NativeType::Date),
        Decimal "decimal" "K_DECIMAL" Class::Type(NativeType::Decimal),
        Double "double" "K_DOUBLE" Class::Type(NativeType::Double),
        DurationType "duration" "K_DURATION" Class::Type(NativeType::Duration),
        FloatType "float" "K_FLOAT" Class::Type(NativeType::Float),
        Inet "inet" "K_INET" Class::Type(NativeType::Inet),
        Int "int" "K_INT" Class::Type(NativeType::Int),
        Smallint "smallint" "K_SMALLINT" Class::Type(NativeType::SmallInt),
        Text "text" "K_TEXT" Class::Type(NativeType::Text),
        Time "time" "K_TIME" Class::Type(NativeType::Time),
        Timestamp "timestamp" "K_TIMESTAMP" Class::Type(NativeType::Timestamp),
        Timeuuid "timeuuid" "K_TIMEUUID" Class::Type(NativeType::TimeUuid),
        Tinyint "tinyint" "K_TINYINT" Class::Type(NativeType::TinyInt),
        UuidType "uuid" "K_UUID" Class::Type(NativeType::Uuid),
        Varchar "varchar" "K_VARCHAR" Class::Type(NativeType::Varchar),
        Varint "varint" "K_VARINT" Class::Type(NativeType::Varint),
        Cast "cast" "K_CAST" Class::NotFunction,
        Distinct "distinct" "K_DISTINCT" Class::NotFunction,
        Json "json" "K_JSON" Class::NotFunction,
        Maxwritetime "maxwritetime" "K_MAXWRITETIME" Class::NotFunction,
        Ttl "ttl" "K_TTL" Class::NotFunction,
        Writetime "writetime" "K_WRITETIME" Class::NotFunction,
        Count "count" "K_COUNT" Class::Count,
        Key "key" "K_KEY" Class::Key,
        Token "token" "K_TOKEN" Class::Token,
    }
}

impl Kind {
    /// Tells whether the token can be the name of a column.
    #[inline]
    pub(crate) fn is_name(self) -> bool {
        match self {
            Kind::Ident | Kind::Quoted => true,
            _ => !matches!(self.class(), None | Some(Class::Reserved | Class::Token)),
        }
    }

    /// Tells whether the token can be the name of a function.
    #[inline]
    pub(crate) fn is_function(self) -> bool {
        match self {
            Kind::Ident | Kind::Quoted => true,
            _ => matches!(
                self.class(),
                Some(Class::Plain | Class::Type(_) | Class::Count | Class::Token)
            ),
        }
    }

    /// Tells whether the token can be the name of a user type.
    #[inline]
    pub(crate) fn is_user_type(self) -> bool {
        match self {
            Kind::Ident | Kind::Quoted => true,
            _ => matches!(self.class(), Some(Class::Plain | Class::Key)),
        }
    }

    /// Tells whether the token is a name and never a function.
    #[inline]
    pub(crate) fn is_name_only(self) -> bool {
        matches!(self.class(), Some(Class::NotFunction | Class::Key))
    }

    /// Tells whether the token is a constant.
    #[inline]
    pub(crate) fn is_constant(self) -> bool {
        matches!(
            self,
            Kind::String
                | Kind::Integer
                | Kind::Float
                | Kind::Boolean
                | Kind::Duration
                | Kind::Uuid
                | Kind::Hex
                | Kind::Nan
                | Kind::NegativeNan
                | Kind::Infinity
                | Kind::NegativeInfinity
        )
    }
}

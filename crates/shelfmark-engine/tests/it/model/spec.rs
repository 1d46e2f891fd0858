//! The tables of the model test: every shape of key, and pools of few values, so that random steps
//! meet again and again.

use bytes::Bytes;
use num_bigint::BigInt;
use shelfmark_keycode::{Decimal, Direction, KeyType};
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, KeyColumn, Placement, Projected, SortColumn, TableName,
    TableSchema, TtlSource, Value,
};

/// A table, and the values that its keys are drawn from.
pub(super) struct Spec {
    pub(super) schema: TableSchema,
    pub(super) partitions: Vec<Vec<Value>>,
    pub(super) sorts: Vec<Vec<Value>>,
    /// Indexes that are added and dropped; those of the schema among them.
    pub(super) indexes: Vec<IndexSpec>,
    /// Its items may need several chunks.
    pub(super) has_large: bool,
}

/// An index, and the values that its keys are looked up with.
pub(super) struct IndexSpec {
    pub(super) schema: IndexSchema,
    pub(super) partitions: Vec<Vec<Value>>,
    pub(super) sorts: Vec<Vec<Value>>,
}

fn column(name: &str, key_type: KeyType) -> KeyColumn {
    KeyColumn::new(name, key_type)
}

fn up(name: &str, key_type: KeyType) -> SortColumn {
    SortColumn::new(name, key_type, Direction::Ascending)
}

fn down(name: &str, key_type: KeyType) -> SortColumn {
    SortColumn::new(name, key_type, Direction::Descending)
}

pub(super) fn decimal(unscaled: i64, scale: i32) -> Value {
    Value::Number(Decimal::new(BigInt::from(unscaled), scale).unwrap())
}

fn bytes(bytes: &'static [u8]) -> Value {
    Value::Bytes(Bytes::from_static(bytes))
}

fn texts(texts: &[&str]) -> Vec<Vec<Value>> {
    texts.iter().map(|text| vec![Value::text(*text)]).collect()
}

fn table(
    name: &str,
    placement: Placement,
    partition: Vec<KeyColumn>,
    sort: Vec<SortColumn>,
) -> TableSchema {
    let first = column("unused", KeyType::Text);
    let schema = TableSchema::new(TableName::new("model", name), first);
    TableSchema { partition, sort, placement, ..schema }
}

fn index(name: &str, kind: IndexKind, key: &[SortColumn], projected: Projected) -> IndexSpec {
    let (first, sort) = key.split_first().unwrap();
    let schema = IndexSchema {
        name: name.to_owned(),
        kind,
        partition: vec![column(&first.name, first.key_type.clone())],
        sort: sort.to_vec(),
        projected,
        state: IndexState::Public,
    };
    let pool = |name: &str| match name {
        "tag" => texts(&["red", "blue", "", "none"]),
        "email" => texts(&["e0", "e1", "e2", "e3"]),
        "org" => texts(&["a", "a\0", "b"]),
        "score" => vec![vec![decimal(5, 1)], vec![decimal(1, 0)], vec![decimal(-25, 1)]],
        _ => (-1..4).map(|n| vec![Value::number(n)]).collect(),
    };
    let partitions = pool(&first.name);
    let sorts = sort.first().map_or_else(|| vec![Vec::new()], |column| pool(&column.name));
    IndexSpec { schema, partitions, sorts }
}

/// By tag, the highest score first.
fn by_tag(projected: Projected) -> IndexSpec {
    let key = [up("tag", KeyType::Text), down("score", KeyType::Decimal)];
    index("by_tag", IndexKind::Secondary, &key, projected)
}

fn by_email() -> IndexSpec {
    index("one", IndexKind::Unique, &[up("email", KeyType::Text)], Projected::KeysOnly)
}

/// All tables. The first `n` indexes of a schema are there from the start.
pub(super) fn all() -> Vec<Spec> {
    vec![events(), members(), measures(), blobs(), spelled(), sessions()]
}

/// Hashed, text keys with hostile spellings, change log, counts, a sparse and a unique index.
fn events() -> Spec {
    let mut schema = table(
        "events",
        Placement::Hashed,
        vec![column("pk", KeyType::Text)],
        vec![up("sk", KeyType::Text)],
    );
    schema.options.change_log = true;
    schema.options.exact_counts = true;
    schema.options.shard_bytes_max = Some(200);
    let indexes = vec![by_tag(Projected::All), by_email()];
    schema.indexes = indexes.iter().map(|index| index.schema.clone()).collect();
    Spec {
        schema,
        partitions: texts(&["u", "u\0", "", "ü"]),
        sorts: texts(&["", "a", "a\0", "a\0b", "ab", "b#1", "b#10", "b#2", "é", "~"]),
        indexes,
        has_large: false,
    }
}

/// Ordered, a partition key of two columns and no sort key.
fn members() -> Spec {
    let mut schema = table(
        "members",
        Placement::Ordered,
        vec![column("org", KeyType::Text), column("no", KeyType::I64)],
        Vec::new(),
    );
    schema.options.exact_counts = true;
    let include = Projected::Include(vec!["tag".to_owned()]);
    let key = [up("n", KeyType::Decimal), up("org", KeyType::Text)];
    let partitions = ["a", "a\0", "b"].into_iter().flat_map(|org| {
        [i64::MIN, -1, 0, 7].into_iter().map(move |no| vec![Value::text(org), Value::Int(no)])
    });
    Spec {
        schema,
        partitions: partitions.collect(),
        sorts: vec![Vec::new()],
        indexes: vec![index("by_n", IndexKind::Secondary, &key, include), by_email()],
        has_large: false,
    }
}

/// Hashed, a partition key of two columns and three sort columns in both directions. Its plain puts
/// look at nothing.
fn measures() -> Spec {
    let schema = table(
        "measures",
        Placement::Hashed,
        vec![column("site", KeyType::Text), column("line", KeyType::Decimal)],
        vec![up("at", KeyType::I64), down("name", KeyType::Text), up("size", KeyType::Decimal)],
    );
    let sorts = [-1, 0, 5].into_iter().flat_map(|at| {
        ["", "x", "xy"].into_iter().flat_map(move |name| {
            [decimal(-25, 1), decimal(1, 0), decimal(1, -20)]
                .map(|size| vec![Value::Int(at), Value::text(name), size])
        })
    });
    Spec {
        schema,
        partitions: vec![
            vec!["s".into(), Value::number(1)],
            vec!["s".into(), Value::number(-1)],
            vec!["".into(), decimal(5, 1)],
        ],
        sorts: sorts.collect(),
        indexes: vec![by_tag(Projected::KeysOnly)],
        has_large: true,
    }
}

/// Ordered, bytes, two sort columns that both descend.
fn blobs() -> Spec {
    let schema = table(
        "blobs",
        Placement::Ordered,
        vec![column("pk", KeyType::Bytes)],
        vec![down("part", KeyType::Bytes), down("no", KeyType::I64)],
    );
    let parts: [&'static [u8]; 4] = [b"", b"\0", b"\0\xff", b"\xff\xff"];
    let sorts = parts.into_iter().flat_map(|part| {
        [i64::MAX, 0, -3].into_iter().map(move |no| vec![bytes(part), Value::Int(no)])
    });
    Spec {
        schema,
        partitions: vec![vec![bytes(b"")], vec![bytes(b"\xff\xff")], vec![bytes(b"\xff\0")]],
        sorts: sorts.collect(),
        indexes: Vec::new(),
        has_large: true,
    }
}

/// Hashed, partitions that differ in spelling alone, items that expire by an attribute, an index
/// inside of the partition.
fn spelled() -> Spec {
    let mut schema = table(
        "spelled",
        Placement::Hashed,
        vec![column("pk", KeyType::Decimal)],
        vec![down("sk", KeyType::Decimal)],
    );
    schema.options.ttl = Some(TtlSource::Attribute("until".to_owned()));
    let pks = vec![decimal(1, 0), decimal(10, 1), decimal(100, 2), decimal(0, 0)];
    let pks: Vec<Vec<Value>> = pks.into_iter().map(|pk| vec![pk]).collect();
    let local = IndexSpec {
        schema: IndexSchema {
            name: "local".to_owned(),
            kind: IndexKind::Secondary,
            partition: schema.partition.clone(),
            sort: vec![up("n", KeyType::Decimal)],
            projected: Projected::All,
            state: IndexState::Public,
        },
        partitions: pks.clone(),
        sorts: (-1..4).map(|n| vec![Value::number(n)]).collect(),
    };
    schema.indexes = vec![local.schema.clone()];
    Spec {
        schema,
        partitions: pks,
        sorts: [(-5, 0), (0, 0), (5, 1), (1, -2), (1, 2)]
            .map(|(unscaled, scale)| vec![decimal(unscaled, scale)])
            .to_vec(),
        indexes: vec![local],
        has_large: false,
    }
}

/// Ordered, two sort columns that both ascend, items that expire one by one, a unique index.
fn sessions() -> Spec {
    let mut schema = table(
        "sessions",
        Placement::Ordered,
        vec![column("user", KeyType::Text)],
        vec![up("app", KeyType::Text), up("no", KeyType::I64)],
    );
    schema.options.ttl = Some(TtlSource::PerItem);
    schema.options.exact_counts = true;
    schema.options.shard_bytes_max = Some(300);
    schema.options.shard_items_max = Some(3);
    schema.options.change_log = true;
    let indexes = vec![by_email(), by_tag(Projected::KeysOnly)];
    schema.indexes = vec![indexes[0].schema.clone()];
    let sorts = ["a", "ab", "b"].into_iter().flat_map(|app| {
        [-2, 0, 9].into_iter().map(move |no| vec![Value::text(app), Value::Int(no)])
    });
    Spec {
        schema,
        partitions: texts(&["x", "xy", "z"]),
        sorts: sorts.collect(),
        indexes,
        has_large: false,
    }
}

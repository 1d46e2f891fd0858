//! Creates the tables: as the document's reader had them, as the document answers, and in two other
//! ways.

use super::data::{Follow, Follows};
use crate::tour::cql::Cql;

/// The reader's two tables.
pub(super) const ASKED: &str = "followers_asked";
/// The document's answer, with the time in both tables.
pub(super) const ANSWERED: &str = "followers_answered";
/// One table and a view of it.
pub(super) const VIEWED: &str = "followers_viewed";
/// One table and an index on it.
pub(super) const INDEXED: &str = "followers_indexed";

const BY_TIME: &str = "(user_id uuid, f_time timestamp, f_user_id uuid, \
                       PRIMARY KEY ((user_id), f_time, f_user_id)) \
                       WITH CLUSTERING ORDER BY (f_time DESC, f_user_id DESC)";
const WITH_TIME: &str = "(user_id uuid, f_user_id uuid, f_time timestamp, \
                         PRIMARY KEY ((user_id), f_user_id))";

/// Creates and fills all of them.
pub(super) fn create(cql: &mut Cql, follows: &Follows) -> anyhow::Result<()> {
    for name in [ASKED, ANSWERED, VIEWED, INDEXED] {
        cql.keyspace(name)?;
    }
    for statement in [
        format!(
            "CREATE TABLE {ASKED}.followers (user_id uuid, f_user_id uuid, \
             PRIMARY KEY ((user_id), f_user_id))"
        ),
        format!("CREATE TABLE {ASKED}.followers_by_time {BY_TIME}"),
        format!("CREATE TABLE {ANSWERED}.followers {WITH_TIME}"),
        format!("CREATE TABLE {ANSWERED}.followers_by_time {BY_TIME}"),
        format!(
            "CREATE TABLE {ANSWERED}.followers_by_instant (user_id uuid, f_time timestamp, \
             f_user_id uuid, PRIMARY KEY ((user_id), f_time)) \
             WITH CLUSTERING ORDER BY (f_time DESC)"
        ),
        format!(
            "CREATE TABLE {ANSWERED}.followers_by_name (user_id uuid, f_name text, \
             f_user_id uuid, PRIMARY KEY ((user_id), f_name, f_user_id))"
        ),
        format!("CREATE TABLE {VIEWED}.followers {WITH_TIME}"),
        format!(
            "CREATE MATERIALIZED VIEW {VIEWED}.followers_by_time AS SELECT * \
             FROM {VIEWED}.followers WHERE user_id IS NOT NULL AND f_time IS NOT NULL \
             AND f_user_id IS NOT NULL PRIMARY KEY ((user_id), f_time, f_user_id) \
             WITH CLUSTERING ORDER BY (f_time DESC, f_user_id DESC)"
        ),
        format!("CREATE TABLE {INDEXED}.followers_by_time {BY_TIME}"),
        format!("CREATE INDEX by_follower ON {INDEXED}.followers_by_time (f_user_id)"),
    ] {
        cql.must(&statement)?;
    }
    let all = || follows.own.iter().chain(&follows.others);
    cql.load(&all().flat_map(everywhere).collect::<Vec<_>>())?;
    cql.load(&follows.own.iter().flat_map(of_example).collect::<Vec<_>>())
}

fn with_time(table: &str, follow: &Follow) -> String {
    let Follow { user, follower, at_ms, .. } = follow;
    format!("INSERT INTO {table} (user_id, f_user_id, f_time) VALUES ({user}, {follower}, {at_ms})")
}

fn everywhere(follow: &Follow) -> Vec<String> {
    let Follow { user, follower, .. } = follow;
    let tables = [
        (ASKED, "followers_by_time"),
        (ANSWERED, "followers"),
        (ANSWERED, "followers_by_time"),
        (VIEWED, "followers"),
    ];
    let with_time =
        tables.map(|(keyspace, table)| with_time(&format!("{keyspace}.{table}"), follow));
    let mut all = Vec::from(with_time);
    all.push(format!(
        "INSERT INTO {ASKED}.followers (user_id, f_user_id) VALUES ({user}, {follower})"
    ));
    all
}

fn of_example(follow: &Follow) -> Vec<String> {
    let Follow { user, follower, name, .. } = follow;
    vec![
        with_time(&format!("{ANSWERED}.followers_by_instant"), follow),
        with_time(&format!("{INDEXED}.followers_by_time"), follow),
        format!(
            "INSERT INTO {ANSWERED}.followers_by_name (user_id, f_name, f_user_id) \
             VALUES ({user}, '{name}', {follower})"
        ),
    ]
}

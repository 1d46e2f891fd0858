//! Names of tables and columns as targets accept them.

/// Returns a name as CQL spells it, by the rules of the printer of CQL: reserved words in quotes.
pub(super) fn cql(name: &str) -> String {
    shelfmark_cql_syntax::quoted_name(name).into_owned()
}

/// Returns true if DynamoDB accepts the name for a table or an index.
pub(super) fn is_dynamo(name: &str) -> bool {
    (3..=255).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// Returns true if CQL accepts the name for a table or a view.
pub(super) fn is_cql_table(name: &str) -> bool {
    (1..=48).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::cql;

    /// The words that Apache Cassandra 5.0 reserves.
    ///
    /// Source: `reserved_keywords.txt` among its resources, read 2026-11.
    const RESERVED: &str = "add allow alter and apply asc authorize batch begin by columnfamily create \
        delete desc describe drop entries execute from full grant if in index infinity insert into is \
        keyspace limit materialized modify nan norecursive not null of on or order primary rename \
        revoke schema select set table to token truncate unlogged update use using view where with";

    #[test]
    fn every_reserved_word_of_cassandra_is_quoted() {
        for name in RESERVED.split_whitespace() {
            assert_eq!(cql(name), format!("\"{name}\""));
        }
    }

    #[test]
    fn reserved_words_are_quoted_in_cql() {
        for name in ["orders", "key", "ttl", "order_2"] {
            assert_eq!(cql(name), name);
        }
        for name in ["order", "select", "with", "materialized", "Order", "2nd", "a b"] {
            assert_eq!(cql(name), format!("\"{name}\""));
        }
        assert_eq!(cql("a\"b"), "\"a\"\"b\"");
    }
}

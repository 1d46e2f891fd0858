//! Takes the statement out of what DESCRIBE says of a table of COMPACT STORAGE.
//!
//! What it is not: a way to make tables of which DESCRIBE says the same for another reason, such as
//! virtual ones. These stay comments.
//!
//! Source: Cassandra 5.0, `TableMetadata.toCqlString`.

const REASON: &str = "(was created via legacy API)";
const END: &str = "*/";

/// Returns the statement that makes what a description describes: the description itself, or of a table of
/// COMPACT STORAGE the statement in its comment. It makes the same table where such are taken.
#[must_use]
pub fn recreating(description: &str) -> &str {
    let inner = description.trim().strip_prefix("/*").and_then(|text| text.strip_suffix(END));
    let Some(inner) = inner.filter(|text| text.contains(REASON)) else { return description };
    match inner.find("CREATE TABLE ") {
        Some(at) if inner.contains("COMPACT STORAGE") => inner.get(at..).unwrap_or_default().trim(),
        _ => description,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compact_table_is_taken_out_of_its_comment_and_nothing_else_is() {
        let table = "CREATE TABLE k.t (\n    a int PRIMARY KEY\n) WITH COMPACT STORAGE\n    AND gc_grace_seconds = 1;";
        let described = format!(
            "/*\nWarning: Table k.t omitted because it has constructs not compatible with CQL (was created \
             via legacy API).\nApproximate structure, for reference:\n(this should not be used to \
             reproduce this schema)\n\n{table}\n*/"
        );
        assert_eq!(recreating(&described), table);
        assert_eq!(recreating(table), table);
        let is_virtual = described.replace("was created via legacy API", "is a virtual table");
        assert_eq!(recreating(&is_virtual), is_virtual);
        let cannot = described.replace("COMPACT STORAGE", "ID = 1");
        assert_eq!(recreating(&cannot), cannot);
    }
}

//! Amazon resource names: `arn:aws:dynamodb:<region>:<account>:table/<name>`.

use crate::options::FaceOptions;

/// Returns a table's ARN.
pub(crate) fn table_arn(options: &FaceOptions, table: &str) -> String {
    format!("arn:aws:dynamodb:{}:{}:table/{table}", options.region, options.account)
}

/// Returns an index's ARN.
pub(crate) fn index_arn(options: &FaceOptions, table: &str, index: &str) -> String {
    format!("{}/index/{index}", table_arn(options, table))
}

/// Returns the ARN of a key for encryption, named by its ARN, its id or its alias; without a name it is the
/// account's own for tables.
pub(crate) fn encryption_key_arn(options: &FaceOptions, name: Option<&str>) -> String {
    let path = match name {
        Some(arn) if arn.starts_with("arn:") => return arn.to_owned(),
        Some(alias) if alias.starts_with("alias/") => alias.to_owned(),
        Some(id) => format!("key/{id}"),
        None => "alias/aws/dynamodb".to_owned(),
    };
    format!("arn:aws:kms:{}:{}:{path}", options.region, options.account)
}

/// Returns the name of the table in a name or an ARN; whether region and account fit is for the scope to
/// say. What stands behind the name stays there, so that the ARN of something else,
/// or a mistyped one, means no table.
pub(crate) fn name_of(name_or_arn: &str) -> &str {
    if !name_or_arn.starts_with("arn:") {
        return name_or_arn;
    }
    name_or_arn.split_once(":table/").map_or(name_or_arn, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn names_and_arns_mean_the_same_table() {
        let cases = [
            ("Music", "Music"),
            ("arn:aws:dynamodb:eu-west-1:123456789012:table/Music", "Music"),
            ("arn:aws:dynamodb:x:1:table/Music/index/by_year", "Music/index/by_year"),
            ("arn:aws:dynamodb:x:1:table/Music/../Other", "Music/../Other"),
            ("arn:aws:s3:::bucket", "arn:aws:s3:::bucket"),
        ];
        for (given, expected) in cases {
            assert_eq!(name_of(given), expected);
        }
    }
}

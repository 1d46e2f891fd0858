//! Checks a request against its key's policy: an action on each table that its body names, before
//! the operation runs.
//!
//! What it is not: a look at anything that is stored. Whether a refused table is there cannot be
//! told from the answer.
//!
//! Invariant: every table that an operation can come to use is named here. A member that stands there
//! twice is looked at twice, though only the last counts.
//!
//! Source: Service Authorization Reference, "Actions, resources, and condition keys for Amazon
//! DynamoDB", read 2026-11.

use super::write_request::Verb;
use crate::auth::{Access, Policy};
use crate::errors::{Error, Exception, Result, texts};
use crate::json::Reader;
use crate::limits::{NAME_CHARS_MAX, STATEMENT_CHARS_MAX};
use crate::options::FaceOptions;
use crate::partiql::{self, Named};
use crate::streams::{StreamName, stream_arn};
use crate::table::{index_arn, name_of, table_arn};

/// An action on a table.
struct Use {
    action: &'static str,
    access: Access,
    table: String,
    /// The index that a statement reads.
    index: Option<String>,
}

/// The members in which an operation names its tables.
#[derive(Clone, Copy)]
enum Naming {
    /// `TableName`, and `IndexName` where there is one.
    Table,
    /// `ResourceArn`.
    Resource,
    /// `StreamArn`, or the ARN in `ShardIterator`.
    Stream,
    /// The names of the map `RequestItems`.
    Requests,
    /// `TransactItems`, each with an action of its own.
    Transaction,
    /// The text of `Statement`, with an action of its own.
    Statement,
    /// The texts of `TransactStatements`, each with an action of its own.
    Statements,
    /// A table by its name, its ARN or the ARN of a backup of it: `SourceTableName` and the like; what is
    /// made of it is a new table, `TargetTableName`.
    Backup,
    /// No names: all tables are meant.
    All,
    /// No names: no table is.
    Nothing,
}

/// Returns the action, the kind of access and the naming of an operation; `None` if there is no
/// such operation.
fn of(operation: &str) -> Option<(&'static str, Access, Naming)> {
    use Access::{Manage, Read, Write};
    use Naming::{
        All, Backup, Nothing, Requests, Resource, Statement, Statements, Stream, Table, Transaction,
    };
    Some(match operation {
        // Each statement that is refused is one fault of the batch: `check_statement` tells them.
        "BatchExecuteStatement" => ("PartiQLSelect", Read, Nothing),
        "BatchGetItem" => ("BatchGetItem", Read, Requests),
        "BatchWriteItem" => ("BatchWriteItem", Write, Requests),
        "CreateBackup" => ("CreateBackup", Manage, Table),
        "DeleteBackup" => ("DeleteBackup", Manage, Backup),
        "DescribeBackup" => ("DescribeBackup", Read, Backup),
        "DescribeExport" => ("DescribeExport", Read, Backup),
        "DescribeImport" => ("DescribeImport", Read, Backup),
        "ExportTableToPointInTime" => ("ExportTableToPointInTime", Read, Backup),
        "ImportTable" => ("ImportTable", Manage, Backup),
        "ListExports" => ("ListExports", Read, All),
        "ListImports" => ("ListImports", Read, All),
        "ListBackups" => ("ListBackups", Read, All),
        "RestoreTableFromBackup" => ("RestoreTableFromBackup", Read, Backup),
        "RestoreTableToPointInTime" => ("RestoreTableToPointInTime", Read, Backup),
        "UpdateContinuousBackups" => ("UpdateContinuousBackups", Manage, Table),
        "CreateTable" => ("CreateTable", Manage, Table),
        "DeleteItem" => ("DeleteItem", Write, Table),
        "DeleteTable" => ("DeleteTable", Manage, Table),
        "DescribeContinuousBackups" => ("DescribeContinuousBackups", Read, Table),
        "DescribeEndpoints" => ("DescribeEndpoints", Read, Nothing),
        "DescribeLimits" => ("DescribeLimits", Read, Nothing),
        "DescribeStream" => ("DescribeStream", Read, Stream),
        "DescribeTable" => ("DescribeTable", Read, Table),
        "DescribeTimeToLive" => ("DescribeTimeToLive", Read, Table),
        "ExecuteStatement" => ("PartiQLSelect", Read, Statement),
        "ExecuteTransaction" => ("PartiQLSelect", Read, Statements),
        "GetItem" => ("GetItem", Read, Table),
        "GetRecords" => ("GetRecords", Read, Stream),
        "GetShardIterator" => ("GetShardIterator", Read, Stream),
        "ListStreams" => ("ListStreams", Read, All),
        "ListTables" => ("ListTables", Read, All),
        "ListTagsOfResource" => ("ListTagsOfResource", Read, Resource),
        "PutItem" => ("PutItem", Write, Table),
        "Query" => ("Query", Read, Table),
        "Scan" => ("Scan", Read, Table),
        "SearchVectors" => ("SearchVectors", Read, Table),
        "TagResource" => ("TagResource", Manage, Resource),
        "TransactGetItems" => ("GetItem", Read, Transaction),
        "TransactWriteItems" => ("PutItem", Write, Transaction),
        "UntagResource" => ("UntagResource", Manage, Resource),
        "DeleteResourcePolicy" => ("DeleteResourcePolicy", Manage, Resource),
        "GetResourcePolicy" => ("GetResourcePolicy", Read, Resource),
        "PutResourcePolicy" => ("PutResourcePolicy", Manage, Resource),
        "DescribeContributorInsights" => ("DescribeContributorInsights", Read, Table),
        "ListContributorInsights" => ("ListContributorInsights", Read, All),
        "UpdateContributorInsights" => ("UpdateContributorInsights", Manage, Table),
        "DescribeKinesisStreamingDestination" => {
            ("DescribeKinesisStreamingDestination", Read, Table)
        }
        "DisableKinesisStreamingDestination" => {
            ("DisableKinesisStreamingDestination", Manage, Table)
        }
        "EnableKinesisStreamingDestination" => ("EnableKinesisStreamingDestination", Manage, Table),
        "UpdateKinesisStreamingDestination" => ("UpdateKinesisStreamingDestination", Manage, Table),
        "DescribeTableReplicaAutoScaling" => ("DescribeTableReplicaAutoScaling", Read, Table),
        "UpdateItem" => ("UpdateItem", Write, Table),
        "UpdateTable" => ("UpdateTable", Manage, Table),
        "UpdateTimeToLive" => ("UpdateTimeToLive", Manage, Table),
        other => return of_global_tables(other),
    })
}

/// Returns the same of the operations on global tables: there are none, whoever asks.
fn of_global_tables(operation: &str) -> Option<(&'static str, Access, Naming)> {
    use Access::{Manage, Read};
    let (action, access) = match operation {
        "DescribeGlobalTable" => ("DescribeGlobalTable", Read),
        "DescribeGlobalTableSettings" => ("DescribeGlobalTableSettings", Read),
        "ListGlobalTables" => ("ListGlobalTables", Read),
        "CreateGlobalTable" => ("CreateGlobalTable", Manage),
        "UpdateGlobalTable" => ("UpdateGlobalTable", Manage),
        "UpdateGlobalTableSettings" => ("UpdateGlobalTableSettings", Manage),
        _ => return None,
    };
    Some((action, access, Naming::Nothing))
}

/// Refuses an action.
fn refused(options: &FaceOptions, policy: &Policy, action: &str, resource: &str) -> Result<()> {
    let text = texts::not_authorized(&options.account, policy.user(), action, resource);
    Err(Error::new(Exception::AccessDenied, text))
}

/// Allows a request if its key's policy allows all of its actions.
pub(super) fn check(
    options: &FaceOptions,
    policy: &Policy,
    operation: &str,
    body: &[u8],
) -> Result<()> {
    // What is no operation is refused as such.
    let Some((action, access, naming)) = of(operation) else { return Ok(()) };
    let mut found = Found::default();
    match naming {
        Naming::Nothing => return Ok(()),
        Naming::All if policy.grants(access) => return Ok(()),
        Naming::All => return refused(options, policy, action, &table_arn(options, "*")),
        Naming::Table => found.read_table(action, access, body)?,
        Naming::Resource => found.read_resource(action, access, body)?,
        Naming::Backup => found.read_backup(action, access, body)?,
        Naming::Stream => found.read_stream(action, access, body)?,
        Naming::Requests => found.read_requests(action, access, body)?,
        Naming::Transaction => found.read_transaction(body)?,
        Naming::Statement => found.read_statement(body)?,
        Naming::Statements => found.read_statements(body)?,
    }
    found.check(options, policy)
}

/// Allows a statement if its key's policy allows its action.
pub(super) fn check_statement(
    options: &FaceOptions,
    policy: &Policy,
    statement: &partiql::Statement,
    named: &Named,
) -> Result<()> {
    let mut found = Found::default();
    found.add_statement(statement, named);
    found.check(options, policy)
}

/// Returns the action of a statement, and the kind of access.
const fn of_statement(statement: &partiql::Statement) -> (&'static str, Access) {
    match statement {
        partiql::Statement::Insert(_) => ("PartiQLInsert", Access::Write),
        partiql::Statement::Update(_) => ("PartiQLUpdate", Access::Write),
        partiql::Statement::Delete(_) => ("PartiQLDelete", Access::Write),
        partiql::Statement::Select(_)
        | partiql::Statement::Exists(_)
        | partiql::Statement::Other(_) => ("PartiQLSelect", Access::Read),
    }
}

/// The actions that a body asks for.
#[derive(Default)]
struct Found {
    uses: Vec<Use>,
    index: Option<String>,
    /// The label of the stream that is read.
    stream: Option<String>,
}

impl Found {
    /// Allows the actions if a policy allows all of them.
    fn check(&self, options: &FaceOptions, policy: &Policy) -> Result<()> {
        // No table has a longer name: the operation refuses it, and nobody compares it with
        // patterns.
        for own in self.uses.iter().filter(|own| own.table.len() <= NAME_CHARS_MAX) {
            if !policy.allows(own.access, &own.table) {
                let arn = match (own.index.as_ref().or(self.index.as_ref()), &self.stream) {
                    (Some(index), _) => index_arn(options, &own.table, index),
                    (None, Some(label)) => stream_arn(options, &own.table, label),
                    (None, None) => table_arn(options, &own.table),
                };
                return refused(options, policy, own.action, &arn);
            }
        }
        Ok(())
    }

    /// Adds the action of a statement.
    fn add_statement(&mut self, statement: &partiql::Statement, named: &Named) {
        let (action, access) = of_statement(statement);
        let table = name_of(&named.table).to_owned();
        self.uses.push(Use { action, access, table, index: named.index.clone() });
    }

    /// Adds the action of a statement's text; what is no statement is refused as such.
    fn add_text(&mut self, text: Option<String>) {
        let parsed = text.filter(|text| text.len() <= 4 * STATEMENT_CHARS_MAX);
        let parsed = parsed.and_then(|text| partiql::parse(&text).ok());
        if let Some((statement, _)) = parsed
            && let Ok(named) = statement.named()
        {
            self.add_statement(&statement, &named);
        }
    }

    fn read_statement(&mut self, body: &[u8]) -> Result<()> {
        Reader::body(body, |reader, name| {
            match name {
                "Statement" => {
                    let text = reader.text()?;
                    self.add_text(text);
                }
                _ => reader.skip()?,
            }
            Ok(())
        })
    }

    fn read_statements(&mut self, body: &[u8]) -> Result<()> {
        Reader::body(body, |reader, name| {
            if name != "TransactStatements" {
                return reader.skip();
            }
            let statements = reader.list(|reader| {
                reader.structure(|reader, name| {
                    match name {
                        "Statement" => {
                            let text = reader.text()?;
                            self.add_text(text);
                        }
                        _ => reader.skip()?,
                    }
                    Ok(())
                })?;
                Ok(None::<()>)
            });
            statements.map(drop)
        })
    }

    fn add(&mut self, action: &'static str, access: Access, name: Option<String>) {
        if let Some(name) = name {
            self.uses.push(Use { action, access, table: name_of(&name).to_owned(), index: None });
        }
    }

    fn read_table(&mut self, action: &'static str, access: Access, body: &[u8]) -> Result<()> {
        Reader::body(body, |reader, name| {
            match name {
                "TableName" => self.add(action, access, reader.text()?),
                "IndexName" => self.index = reader.text()?,
                _ => reader.skip()?,
            }
            Ok(())
        })
    }

    fn read_resource(&mut self, action: &'static str, access: Access, body: &[u8]) -> Result<()> {
        Reader::body(body, |reader, name| {
            match name {
                "ResourceArn" => {
                    let text = reader.text()?;
                    let stream = text.as_deref().and_then(StreamName::of_arn);
                    match stream {
                        Some(StreamName { table, label }) => {
                            self.add(action, access, Some(table));
                            self.stream = Some(label);
                        }
                        None => self.add(action, access, text),
                    }
                }
                _ => reader.skip()?,
            }
            Ok(())
        })
    }

    fn read_backup(&mut self, action: &'static str, access: Access, body: &[u8]) -> Result<()> {
        Reader::body(body, |reader, name| {
            match name {
                "BackupArn" | "ExportArn" | "ImportArn" | "SourceTableName" | "SourceTableArn"
                | "TableArn" => {
                    // Behind the name of the table there may be that of the backup.
                    let text = reader.text()?;
                    let table = text.as_deref().map(name_of).and_then(|own| own.split('/').next());
                    self.add(action, access, table.map(str::to_owned));
                }
                "TargetTableName" => self.add(action, Access::Manage, reader.text()?),
                "TableCreationParameters" => {
                    reader.structure(|reader, name| {
                        match name {
                            "TableName" => self.add(action, access, reader.text()?),
                            _ => reader.skip()?,
                        }
                        Ok(())
                    })?;
                }
                _ => reader.skip()?,
            }
            Ok(())
        })
    }

    fn read_stream(&mut self, action: &'static str, access: Access, body: &[u8]) -> Result<()> {
        Reader::body(body, |reader, name| {
            match name {
                "StreamArn" | "ShardIterator" => {
                    // What is no ARN names no stream: the operation refuses it.
                    let text = reader.text()?.unwrap_or_default();
                    let arn = text.split('|').next().and_then(StreamName::of_arn);
                    if let Some(StreamName { table, label }) = arn {
                        self.add(action, access, Some(table));
                        self.stream = Some(label);
                    }
                }
                _ => reader.skip()?,
            }
            Ok(())
        })
    }

    fn read_requests(&mut self, action: &'static str, access: Access, body: &[u8]) -> Result<()> {
        Reader::body(body, |reader, name| {
            if name != "RequestItems" {
                return reader.skip();
            }
            let present = reader.map(|reader, name| {
                self.add(action, access, Some(name.to_owned()));
                reader.skip().map(|()| None::<()>)
            });
            present.map(drop)
        })
    }

    fn read_transaction(&mut self, body: &[u8]) -> Result<()> {
        Reader::body(body, |reader, name| {
            if name != "TransactItems" {
                return reader.skip();
            }
            let items = reader.list(|reader| {
                reader.structure(|reader, verb| self.read_action(reader, verb))?;
                Ok(None::<()>)
            });
            items.map(drop)
        })
    }

    fn read_action(&mut self, reader: &mut Reader<'_>, verb: &str) -> Result<()> {
        let (action, access) = match Verb::ALL.into_iter().find(|own| own.member() == verb) {
            Some(Verb::Put) => ("PutItem", Access::Write),
            Some(Verb::Update) => ("UpdateItem", Access::Write),
            Some(Verb::Delete) => ("DeleteItem", Access::Write),
            Some(Verb::Check) => ("ConditionCheckItem", Access::Read),
            None if verb == "Get" => ("GetItem", Access::Read),
            None => return reader.skip(),
        };
        let present = reader.structure(|reader, name| {
            match name {
                "TableName" => self.add(action, access, reader.text()?),
                _ => reader.skip()?,
            }
            Ok(())
        });
        present.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::OPERATIONS;

    #[test]
    fn every_operation_says_what_it_needs() {
        for operation in OPERATIONS {
            assert!(of(operation).is_some(), "{operation}");
        }
    }

    fn check_refused(operation: &str, body: &str, expected: &str) {
        let options = FaceOptions::default();
        let policy = Policy::of_user("ann").on_tables(["mine"]).unwrap();
        let refused = check(&options, &policy, operation, body.as_bytes()).unwrap_err();
        assert_eq!(refused.exception, Exception::AccessDenied, "{body}");
        assert!(refused.message.contains(expected), "{}", refused.message);
    }

    #[test]
    fn a_table_that_is_named_twice_or_by_its_arn_is_seen() {
        let twice = r#"{"TableName": "other", "TableName": "mine"}"#;
        check_refused("GetItem", twice, "dynamodb:GetItem on resource: arn:aws:dynamodb:local:");
        let arn = r#"{"TableName": "arn:aws:dynamodb:x:1:table/other/index/mine"}"#;
        check_refused("Query", arn, ":table/other/index/mine because");
        let index = r#"{"TableName": "other", "IndexName": "i"}"#;
        check_refused("Query", index, ":table/other/index/i because");
        let twice = r#"{"RequestItems": {"other": []}, "RequestItems": {"mine": []}}"#;
        check_refused("BatchWriteItem", twice, ":table/other because");
        let second = r#"{"TransactItems": [{"Put": {"TableName": "mine"}},
            {"ConditionCheck": {"TableName": "other"}, "Put": {"TableName": "mine"}}]}"#;
        check_refused("TransactWriteItems", second, "dynamodb:ConditionCheckItem on");
        let resource = r#"{"ResourceArn": "arn:aws:dynamodb:x:1:table/other"}"#;
        check_refused("TagResource", resource, "dynamodb:TagResource on");
    }
}

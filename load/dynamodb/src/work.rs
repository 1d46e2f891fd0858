//! One request of each kind, and what its answer must hold.

use shelfmark_load_measure::{Random, Requester, Result};

use crate::connection::Connection;
use crate::items::{ALONE, distinct, item, key, partition, single};
use crate::{Operation, Options};

/// Asks for one kind of work over a connection of its own.
pub struct Work {
    options: Options,
    connection: Connection,
}

/// A request, and a text that only the right answer has.
struct Request {
    operation: &'static str,
    body: String,
    expected: &'static str,
}

impl Work {
    pub fn new(options: &Options) -> Self {
        Self { options: options.clone(), connection: Connection::new(&options.endpoint) }
    }

    fn request(&self, random: &mut Random) -> Request {
        let table = &self.options.table;
        let one = random.below(self.options.items);
        let of = partition(random.below(self.options.partitions));
        let (operation, expected, body) = match self.options.operation {
            Operation::Get => {
                let body = format!(r#"{{"TableName":"{table}","ConsistentRead":true,"Key":{}}}"#, key(one));
                ("GetItem", r#""Item""#, body)
            }
            Operation::Query => {
                let body = format!(
                    r#"{{"TableName":"{table}","ConsistentRead":true,"KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{{":p":{{"S":"{of}"}}}}}}"#
                );
                ("Query", r#""Count":100"#, body)
            }
            Operation::Update => {
                let body = format!(
                    r#"{{"TableName":"{table}","Key":{},"UpdateExpression":"ADD n :one","ExpressionAttributeValues":{{":one":{{"N":"1"}}}}}}"#,
                    key(one)
                );
                ("UpdateItem", "{", body)
            }
            Operation::Transact => {
                let puts = puts(random, 4, self.options.items, |item| {
                    format!(r#"{{"Put":{{"TableName":"{table}","Item":{item}}}}}"#)
                });
                ("TransactWriteItems", "{", format!(r#"{{"TransactItems":[{puts}]}}"#))
            }
            Operation::Batch => {
                let puts = puts(random, 25, self.options.items, |item| {
                    format!(r#"{{"PutRequest":{{"Item":{item}}}}}"#)
                });
                let body = format!(r#"{{"RequestItems":{{"{table}":[{puts}]}}}}"#);
                ("BatchWriteItem", r#""UnprocessedItems":{}"#, body)
            }
            Operation::BatchGet => {
                let numbers = distinct(random, 25, self.options.items);
                let keys: Vec<String> = numbers.into_iter().map(key).collect();
                let body = format!(
                    r#"{{"RequestItems":{{"{table}":{{"ConsistentRead":true,"Keys":[{}]}}}}}}"#,
                    keys.join(",")
                );
                ("BatchGetItem", r#""UnprocessedKeys":{}"#, body)
            }
            Operation::Put | Operation::Setup | Operation::Follow => {
                let item = item(random, &single(one), ALONE);
                ("PutItem", "{", format!(r#"{{"TableName":"{table}","Item":{item}}}"#))
            }
        };
        Request { operation, body, expected }
    }
}

/// Returns different single items, each as `form` writes it, with commas between.
fn puts(random: &mut Random, count: usize, end: u64, form: impl Fn(String) -> String) -> String {
    let numbers = distinct(random, count, end);
    let items = numbers.into_iter().map(|number| form(item(random, &single(number), ALONE)));
    items.collect::<Vec<_>>().join(",")
}

impl Requester for Work {
    async fn once(&mut self, random: &mut Random) -> Result<()> {
        let Request { operation, body, expected } = self.request(random);
        let answer = self.connection.ask(operation, &body).await?;
        if answer.status == 200 && answer.contains(expected) {
            return Ok(());
        }
        Err(format!("{operation}: {} {}", answer.status, answer.start()).into())
    }
}

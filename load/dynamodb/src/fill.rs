//! The table, made and filled.

use std::time::Duration;

use shelfmark_load_measure::{Random, Result};

use crate::Options;
use crate::connection::Connection;
use crate::items::{ALONE, item, partition, single};

/// Writers that fill the table.
const FILLERS: u64 = 8;
/// Items of one request.
const BATCH_ITEMS: u64 = 25;
/// Requests for one partition of 100 items.
const PARTITION_BATCHES: u64 = 4;

/// Makes the table and fills it.
pub async fn fill(options: &Options) -> Result<()> {
    create(options).await?;
    let mut fillers = Vec::new();
    for filler in 0..FILLERS {
        let options = options.clone();
        fillers.push(tokio::spawn(async move { fill_part(&options, filler).await }));
    }
    for filler in fillers {
        filler.await??;
    }
    Ok(())
}

async fn create(options: &Options) -> Result<()> {
    let mut connection = Connection::new(&options.endpoint);
    let table = &options.table;
    let stream = if options.stream {
        r#","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}"#
    } else {
        ""
    };
    let body = format!(
        r#"{{"TableName":"{table}","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{{"AttributeName":"pk","AttributeType":"S"}},{{"AttributeName":"sk","AttributeType":"S"}}],"KeySchema":[{{"AttributeName":"pk","KeyType":"HASH"}},{{"AttributeName":"sk","KeyType":"RANGE"}}]{stream}}}"#
    );
    let answer = connection.ask("CreateTable", &body).await?;
    if answer.status != 200 {
        return Err(format!("CreateTable: {} {}", answer.status, answer.start()).into());
    }
    let body = format!(r#"{{"TableName":"{table}"}}"#);
    while !connection.ask("DescribeTable", &body).await?.contains("ACTIVE") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Writes every eighth batch: first those of single items, then those of partitions.
async fn fill_part(options: &Options, filler: u64) -> Result<()> {
    let (mut connection, mut random) = (Connection::new(&options.endpoint), Random::new(filler));
    let singles = options.items.div_ceil(BATCH_ITEMS);
    let batches = singles + options.partitions * PARTITION_BATCHES;
    for batch in (filler..batches).step_by(usize::try_from(FILLERS)?) {
        let mut puts = Vec::new();
        for place in 0..BATCH_ITEMS {
            let item = match batch.checked_sub(singles) {
                None => item(&mut random, &single(batch * BATCH_ITEMS + place), ALONE),
                Some(batch) => {
                    let sort = batch % PARTITION_BATCHES * BATCH_ITEMS + place;
                    item(&mut random, &partition(batch / PARTITION_BATCHES), sort)
                }
            };
            puts.push(format!(r#"{{"PutRequest":{{"Item":{item}}}}}"#));
        }
        let table = &options.table;
        let body = format!(r#"{{"RequestItems":{{"{table}":[{}]}}}}"#, puts.join(","));
        let answer = connection.ask("BatchWriteItem", &body).await?;
        if answer.status != 200 || !answer.contains(r#""UnprocessedItems":{}"#) {
            return Err(format!("BatchWriteItem: {} {}", answer.status, answer.start()).into());
        }
    }
    Ok(())
}

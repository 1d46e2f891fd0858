// The AWS SDK for JavaScript, version 3, against a running server: client, documents, waiters, pages.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import {
  CreateTableCommand, DeleteTableCommand, DescribeTableCommand, DynamoDBClient,
  TransactionCanceledException, paginateScan, waitUntilTableExists, waitUntilTableNotExists,
} from "@aws-sdk/client-dynamodb";
import {
  BatchExecuteStatementCommand, BatchWriteCommand, DynamoDBDocumentClient, ExecuteStatementCommand,
  ExecuteTransactionCommand, GetCommand, PutCommand, QueryCommand,
  TransactWriteCommand, UpdateCommand, paginateQuery,
} from "@aws-sdk/lib-dynamodb";

// This SDK knows the region by another name than the others do.
const client = new DynamoDBClient({ region: process.env.AWS_DEFAULT_REGION });
const documents = DynamoDBDocumentClient.from(client);
const TableName = `js-${randomUUID()}`;

before(async () => {
  await client.send(new CreateTableCommand({
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [
      { AttributeName: "pk", AttributeType: "S" },
      { AttributeName: "sk", AttributeType: "N" },
    ],
    KeySchema: [
      { AttributeName: "pk", KeyType: "HASH" },
      { AttributeName: "sk", KeyType: "RANGE" },
    ],
  }));
  await waitUntilTableExists({ client, maxWaitTime: 30 }, { TableName });
});

after(async () => {
  await client.send(new DeleteTableCommand({ TableName }));
  await waitUntilTableNotExists({ client, maxWaitTime: 30 }, { TableName });
});

test("values come back as they were", async () => {
  const Item = {
    pk: "types", sk: -1.5, text: "é", flag: false, nothing: null, list: [1, "x", [], {}],
    map: { a: { b: [true] } }, texts: new Set(["a", "b"]), bytes: new Uint8Array([0, 255]),
  };
  await documents.send(new PutCommand({ TableName, Item }));
  const got = await documents.send(new GetCommand({ TableName, Key: { pk: "types", sk: -1.5 } }));
  assert.deepEqual(got.Item, Item);
  const described = await client.send(new DescribeTableCommand({ TableName }));
  assert.equal(described.Table.TableStatus, "ACTIVE");
  assert.ok(described.Table.CreationDateTime instanceof Date);
});

test("batches and pages", async () => {
  for (let start = 0; start < 50; start += 25) {
    const puts = [...Array(25).keys()].map((n) => ({
      PutRequest: { Item: { pk: "pages", sk: start + n } },
    }));
    await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }));
  }
  const seen = [];
  const query = {
    TableName,
    KeyConditionExpression: "pk = :p AND sk BETWEEN :a AND :b",
    ExpressionAttributeValues: { ":p": "pages", ":a": 5, ":b": 44 },
    ScanIndexForward: false,
  };
  for await (const page of paginateQuery({ client: documents, pageSize: 7 }, query)) {
    seen.push(...page.Items.map((item) => item.sk));
  }
  assert.deepEqual(seen, [...Array(40).keys()].map((n) => 44 - n));
  let scanned = 0;
  for await (const page of paginateScan({ client, pageSize: 9 }, { TableName })) {
    scanned += page.Items.length;
  }
  assert.ok(scanned >= 50);
});

test("conditions and transactions", async () => {
  const Key = { pk: "cond", sk: 1 };
  const update = new UpdateCommand({
    TableName, Key, UpdateExpression: "SET #n = if_not_exists(#n, :zero) + :one",
    ConditionExpression: "attribute_not_exists(#n) OR #n < :two",
    ExpressionAttributeNames: { "#n": "count" },
    ExpressionAttributeValues: { ":zero": 0, ":one": 1, ":two": 2 },
    ReturnValues: "ALL_NEW", ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  await documents.send(update);
  assert.equal((await documents.send(update)).Attributes.count, 2);
  await assert.rejects(documents.send(update), (error) => {
    assert.equal(error.name, "ConditionalCheckFailedException");
    assert.equal(error.$metadata.httpStatusCode, 400);
    assert.deepEqual(error.Item.count, { N: "2" });
    return true;
  });
  const put = (sk, more) => ({ Put: { TableName, Item: { pk: "tx", sk }, ...more } });
  await documents.send(new TransactWriteCommand({ TransactItems: [put(1), put(2)] }));
  const again = [put(3), put(1, { ConditionExpression: "attribute_not_exists(pk)" })];
  await assert.rejects(
    documents.send(new TransactWriteCommand({ TransactItems: again })),
    (error) => {
      assert.ok(error instanceof TransactionCanceledException);
      assert.deepEqual(error.CancellationReasons.map((reason) => reason.Code),
        ["None", "ConditionalCheckFailed"]);
      return true;
    },
  );
  const found = await documents.send(new QueryCommand({
    TableName, KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": "tx" },
  }));
  assert.equal(found.Count, 2);
});

test("PartiQL", async () => {
  const insert = (sk) => ({
    Statement: `INSERT INTO "${TableName}" VALUE {'pk': ?, 'sk': ?, 'm': ?}`,
    Parameters: ["partiql", sk, { list: [1, "x", null], yes: true }],
  });
  await documents.send(new ExecuteStatementCommand(insert(0)));
  await assert.rejects(documents.send(new ExecuteStatementCommand(insert(0))),
    { name: "DuplicateItemException" });
  const batch = await documents.send(new BatchExecuteStatementCommand({
    Statements: [insert(0), insert(1), insert(2)],
  }));
  assert.deepEqual(batch.Responses.map((one) => one.Error?.Code), ["DuplicateItem", undefined, undefined]);
  await documents.send(new ExecuteTransactionCommand({ TransactStatements: [insert(3), insert(4)] }));
  const found = [];
  let NextToken;
  do {
    const page = await documents.send(new ExecuteStatementCommand({
      Statement: `SELECT sk, m."list"[1] FROM "${TableName}" WHERE pk = ? ORDER BY sk DESC`,
      Parameters: ["partiql"], Limit: 2, NextToken,
    }));
    found.push(...page.Items);
    NextToken = page.NextToken;
  } while (NextToken);
  assert.deepEqual(found, [4, 3, 2, 1, 0].map((sk) => ({ sk, "list[1]": "x" })));
  const updated = await documents.send(new ExecuteStatementCommand({
    Statement: `UPDATE "${TableName}" SET n = ? REMOVE m WHERE pk = ? AND sk = ? RETURNING ALL NEW *`,
    Parameters: [1.5, "partiql", 4],
  }));
  assert.deepEqual(updated.Items, [{ pk: "partiql", sk: 4, n: 1.5 }]);
});

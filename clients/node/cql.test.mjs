// cassandra-driver of npm against a running server: metadata, prepared statements, pages, batches.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import cassandra from "cassandra-driver";

const [host, port] = process.env.SHELFMARK_CQL.split(":");
const keyspace = `node_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
const client = new cassandra.Client({
  contactPoints: [`${host}:${port}`],
  localDataCenter: "datacenter1",
});

before(async () => {
  await client.connect();
  await client.execute(
    `CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
  );
  await client.execute(
    `CREATE TABLE ${keyspace}.t (k int, c int, v text, PRIMARY KEY (k, c))`,
  );
});

after(() => client.shutdown());

test("metadata", async () => {
  const table = await client.metadata.getTable(keyspace, "t");
  assert.deepEqual(table.partitionKeys.map((column) => column.name), ["k"]);
  assert.deepEqual(table.clusteringKeys.map((column) => column.name), ["c"]);
});

test("prepared writes and pages", async () => {
  const insert = `INSERT INTO ${keyspace}.t (k, c, v) VALUES (?, ?, ?)`;
  for (let c = 0; c < 100; c++) {
    await client.execute(insert, [1, c, `v${c}`], { prepare: true });
  }
  const seen = [];
  const select = `SELECT c FROM ${keyspace}.t WHERE k = ?`;
  let pageState;
  do {
    const page = await client.execute(select, [1], { prepare: true, fetchSize: 7, pageState });
    seen.push(...page.rows.map((row) => row.c));
    pageState = page.pageState;
  } while (pageState);
  assert.deepEqual(seen, [...Array(100).keys()]);
});

test("batches and conditions", async () => {
  const insert = `INSERT INTO ${keyspace}.t (k, c, v) VALUES (?, ?, ?)`;
  await client.batch(
    [{ query: insert, params: [2, 1, "a"] }, { query: insert, params: [2, 2, "b"] }],
    { prepare: true },
  );
  const rows = await client.execute(`SELECT * FROM ${keyspace}.t WHERE k = 2`);
  assert.equal(rows.rowLength, 2);
  const again = await client.execute(`${insert} IF NOT EXISTS`, [2, 1, "x"], { prepare: true });
  assert.equal(again.wasApplied(), false);
});

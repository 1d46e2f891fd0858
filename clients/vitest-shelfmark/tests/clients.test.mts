// The helpers with the real clients of both faces. Also compiled, so that the types are tried.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import cassandra from 'cassandra-driver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start, type Server } from 'vitest-shelfmark';
import { sharedShelfmark, useShelfmark } from 'vitest-shelfmark/vitest';

const shelfmark = useShelfmark({ before: 'reset' });

const MUSIC = {
  TableName: 'Music',
  KeySchema: [
    { AttributeName: 'Artist', KeyType: 'HASH' as const },
    { AttributeName: 'SongTitle', KeyType: 'RANGE' as const },
  ],
  AttributeDefinitions: [
    { AttributeName: 'Artist', AttributeType: 'S' as const },
    { AttributeName: 'SongTitle', AttributeType: 'S' as const },
  ],
  BillingMode: 'PAY_PER_REQUEST' as const,
};
const KEYSPACE = "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

let dynamodb: DynamoDB;
let cql: cassandra.Client;
beforeAll(async () => {
  dynamodb = new DynamoDB(shelfmark.dynamodb);
  cql = new cassandra.Client(shelfmark.cassandra);
  await cql.connect();
});
afterAll(async () => {
  dynamodb.destroy();
  await cql.shutdown();
});

test('the AWS SDK reads what it wrote', async () => {
  await dynamodb.createTable(MUSIC);
  await dynamodb.putItem({ TableName: 'Music', Item: { Artist: { S: 'Acme' }, SongTitle: { S: 'Happy' } } });
  const { Count } = await dynamodb.scan({ TableName: 'Music' });
  expect(Count).toBe(1);
});

test('a driver reads what it wrote', async () => {
  await cql.execute(KEYSPACE);
  await cql.execute('CREATE TABLE shop.orders (customer text, at int, total int, PRIMARY KEY (customer, at))');
  await cql.execute("INSERT INTO shop.orders (customer, at, total) VALUES ('ann', 1, 5)");
  const answer = await cql.execute("SELECT total FROM shop.orders WHERE customer = 'ann'");
  expect(answer.first().total).toBe(5);
});

test('emptying leaves the tables of both faces and no row', async () => {
  await dynamodb.createTable(MUSIC);
  for (let number = 0; number < 30; number += 1) {
    const Item = { Artist: { S: `a${number % 7}` }, SongTitle: { S: String(number) } };
    await dynamodb.putItem({ TableName: 'Music', Item });
  }
  await cql.execute(KEYSPACE);
  await cql.execute('CREATE TABLE shop."Mixed" (id text PRIMARY KEY)');
  await cql.execute(`INSERT INTO shop."Mixed" (id) VALUES ('1')`);
  await shelfmark.empty();
  expect((await dynamodb.scan({ TableName: 'Music' })).Count).toBe(0);
  expect((await cql.execute('SELECT * FROM shop."Mixed"')).rowLength).toBe(0);
});

test('the tables of the test before are gone', async () => {
  expect((await dynamodb.listTables({})).TableNames).toEqual([]);
  await expect(cql.execute('SELECT * FROM shop."Mixed"')).rejects.toThrow(/does not exist/);
});

test('the shared server is another one, and the environment leads to it', async () => {
  const shared = sharedShelfmark();
  expect(shared.endpoint).not.toBe(shelfmark.endpoint);
  expect(process.env.CQL_PORT).toBe(String(shared.cqlPort));
  const found = new DynamoDB({});
  await found.createTable({ ...MUSIC, TableName: 'Shared' });
  expect((await new DynamoDB(shared.dynamodb).listTables({})).TableNames).toEqual(['Shared']);
  await shared.reset();
  found.destroy();
});

test('a server that asks for signatures says so when it is emptied', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'shelfmark-keys-'));
  const keys = path.join(folder, 'keys');
  await writeFile(keys, '[a]\naws_access_key_id = local\naws_secret_access_key = local\n');
  const server: Server = await start({ args: ['--credentials', keys] });
  await expect(server.empty()).rejects.toThrow(/ListTables was refused: .*MissingAuthenticationToken/);
  await server.stop();
  await rm(folder, { recursive: true });
});

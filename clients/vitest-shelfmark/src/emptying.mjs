// Empties or drops all tables of a server: those of DynamoDB over HTTP, those of CQL by the command.
//
// No client library is needed. Requests carry no signature, so a server that asks for logins refuses them.

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

// BatchWriteItem takes so many (Amazon DynamoDB API Reference, read 2026-11).
const WRITES_MAX = 25;
// Keyspaces with these names belong to the server, as do those that begin with `system_`.
const NOT_OURS = ['dynamodb', 'system'];

/** Removes the rows of all tables. The tables stay. */
export async function empty({ endpoint, binary, contactPoint }) {
  for (const table of await tables(endpoint)) await emptyTable(endpoint, table);
  const rows = await cql(binary, contactPoint, 'SELECT keyspace_name, table_name FROM system_schema.tables');
  const own = rows.filter((row) => isOwn(row.keyspace_name));
  const truncated = own.map((row) => `TRUNCATE ${quoted(row.keyspace_name)}.${quoted(row.table_name)}`);
  if (truncated.length > 0) await cql(binary, contactPoint, truncated.join('; '));
}

/** Drops all tables and keyspaces. */
export async function drop({ endpoint, binary, contactPoint }) {
  for (const table of await tables(endpoint)) await dynamodb(endpoint, 'DeleteTable', { TableName: table });
  const rows = await cql(binary, contactPoint, 'SELECT keyspace_name FROM system_schema.keyspaces');
  const own = rows.map((row) => row.keyspace_name).filter(isOwn);
  if (own.length > 0) await cql(binary, contactPoint, own.map((name) => `DROP KEYSPACE ${quoted(name)}`).join('; '));
}

async function tables(endpoint) {
  const names = [];
  let from;
  do {
    const answer = await dynamodb(endpoint, 'ListTables', from ? { ExclusiveStartTableName: from } : {});
    names.push(...answer.TableNames);
    from = answer.LastEvaluatedTableName;
  } while (from !== undefined);
  return names;
}

async function emptyTable(endpoint, table) {
  const { Table: described } = await dynamodb(endpoint, 'DescribeTable', { TableName: table });
  const names = Object.fromEntries(described.KeySchema.map((part, at) => [`#k${at}`, part.AttributeName]));
  const scan = {
    TableName: table,
    ProjectionExpression: Object.keys(names).join(', '),
    ExpressionAttributeNames: names,
    ConsistentRead: true,
  };
  do {
    const page = await dynamodb(endpoint, 'Scan', scan);
    for (let first = 0; first < page.Items.length; first += WRITES_MAX) {
      const keys = page.Items.slice(first, first + WRITES_MAX);
      let asked = { [table]: keys.map((key) => ({ DeleteRequest: { Key: key } })) };
      while (Object.keys(asked).length > 0) {
        const answer = await dynamodb(endpoint, 'BatchWriteItem', { RequestItems: asked });
        asked = answer.UnprocessedItems ?? {};
      }
    }
    scan.ExclusiveStartKey = page.LastEvaluatedKey;
  } while (scan.ExclusiveStartKey !== undefined);
}

async function dynamodb(endpoint, operation, request) {
  let answer;
  try {
    answer = await fetch(endpoint, {
      method: 'POST',
      headers: { 'X-Amz-Target': `DynamoDB_20120810.${operation}`, 'Content-Type': 'application/x-amz-json-1.0' },
      body: JSON.stringify(request),
    });
  } catch (cause) {
    throw new Error(`${operation} was not answered: does the server still run?`, { cause });
  }
  if (!answer.ok) throw new Error(`${operation} was refused: ${await answer.text()}`);
  return answer.json();
}

async function cql(binary, contactPoint, statements) {
  const shell = spawn(binary, ['cql', '--server', contactPoint, '--json', '-f', '-']);
  shell.stdin.on('error', () => {}).end(statements);
  const ended = new Promise((resolve, reject) => shell.on('error', reject).on('close', resolve));
  const [code, rows, complaints] = await Promise.all([ended, text(shell.stdout), text(shell.stderr)]);
  if (code !== 0) throw new Error(`\`shelfmark cql\` was refused: ${complaints.trim()}`);
  return rows.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
}

const isOwn = (keyspace) => !NOT_OURS.includes(keyspace) && !keyspace.startsWith('system_');
const quoted = (name) => `"${name.replaceAll('"', '""')}"`;

// Logins and TLS by cassandra-driver of npm, against the server at SHELFMARK_SECURED.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import cassandra from "cassandra-driver";

const {
  SHELFMARK_SECURED: address,
  SHELFMARK_SECURED_AUTHORITY: authority,
  SHELFMARK_SECURED_USER: user,
  SHELFMARK_SECURED_PASSWORD: password,
} = process.env;

function client(login, file = authority) {
  return new cassandra.Client({
    contactPoints: [address],
    localDataCenter: "datacenter1",
    sslOptions: file && { ca: [readFileSync(file)], host: "localhost", rejectUnauthorized: true },
    authProvider: login && new cassandra.auth.PlainTextAuthProvider(...login),
    // A connection that ended without an answer is waited for all the same, and a heartbeat that is
    // left over keeps the process alive.
    socketOptions: { readTimeout: 3000 },
    pooling: { heartBeatInterval: 0 },
  });
}

async function connected(login, work) {
  const opened = client(login);
  try {
    await opened.connect();
    return await work(opened);
  } finally {
    await opened.shutdown();
  }
}

async function refused(login, file) {
  const opened = client(login, file);
  try {
    await opened.connect();
  } catch (error) {
    return error.innerErrors ? Object.values(error.innerErrors)[0] : error;
  } finally {
    await opened.shutdown();
  }
  return assert.fail("was let in");
}

test("right login, wrong login, no login", async () => {
  await connected([user, password], async (opened) => {
    const rows = await opened.execute("SELECT key FROM system.local");
    assert.equal(rows.first().key, "local");
  });
  for (const login of [[user, "wrong"], ["nobody", "x"]]) {
    const error = await refused(login);
    assert.equal(error.name, "AuthenticationError");
    assert.match(error.message, new RegExp(`username ${login[0]} and/or password are incorrect`));
  }
  assert.equal((await refused(undefined)).name, "AuthenticationError");
});

test("roles are made and log in", async () => {
  const role = `node_${process.pid}`;
  await connected([user, password], async (first) => {
    await first.execute(`CREATE ROLE ${role} WITH PASSWORD = 'p' AND LOGIN = true`);
    await connected([role, "p"], async (opened) => {
      await assert.rejects(opened.execute("CREATE ROLE other"), {
        code: cassandra.types.responseErrorCodes.unauthorized,
        message: `User ${role} does not have sufficient privileges to perform the requested operation`,
      });
    });
    await first.execute(`ALTER ROLE ${role} WITH PASSWORD = 'q'`);
    await refused([role, "p"]);
    await connected([role, "q"], () => {});
    await first.execute(`DROP ROLE ${role}`);
    await refused([role, "q"]);
  });
});

test("certificates and plain connections", async () => {
  const other = authority.replace("authority.pem", "other.pem");
  assert.match(String((await refused([user, password], other)).message), /certificate|signature/);
  await refused([user, password], null);
  await connected([user, password], () => {});
});

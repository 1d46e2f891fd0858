"""Permissions: what a role may do changes under an open session, outlives a restart, and can be off."""

import unittest

from cassandra import InvalidRequest, Unauthorized
from cassandra.query import BatchStatement, SimpleStatement

from served import PASSWORD, USER, Served
from test_logins import Bed

REPLICATION = "{'class': 'SimpleStrategy', 'replication_factor': 1}"


class Permissions(Bed):
    @classmethod
    def setUpClass(cls):
        cls.served = Served(logins=True)
        cls.addClassCleanup(cls.served.close)

    def setUp(self):
        self.first = self.session(USER, PASSWORD)
        for text in (f"CREATE KEYSPACE perms WITH replication = {REPLICATION}",
                     "CREATE TABLE perms.t (k int PRIMARY KEY, v int)",
                     "CREATE TABLE perms.u (k int PRIMARY KEY, v int)",
                     "INSERT INTO perms.t (k, v) VALUES (1, 1)",
                     "CREATE ROLE hal WITH PASSWORD = 'h' AND LOGIN = true"):
            self.first.execute(text)
        self.hal = self.session("hal", "h")

    def tearDown(self):
        again = self.session(USER, PASSWORD)
        again.execute("DROP ROLE IF EXISTS hal")
        again.execute("DROP KEYSPACE IF EXISTS perms")

    def refused(self, permission, resource, run, *arguments):
        with self.assertRaises(Unauthorized) as caught:
            run(*arguments)
        self.assertIn(
            f'message="User hal has no {permission} permission on {resource} or any of its parents"',
            str(caught.exception))

    def test_a_new_role_connects_and_reads_what_drivers_need(self):
        metadata = self.hal.cluster.metadata
        self.assertIn("t", metadata.keyspaces["perms"].tables)
        self.hal.execute("USE perms")
        self.refused("SELECT", "<table perms.t>", self.hal.execute, "SELECT * FROM t")
        self.refused("SELECT", "<table system_auth.roles>", self.hal.execute,
                     "SELECT role FROM system_auth.roles")

    def test_prepared_statements_of_an_open_session(self):
        read = self.hal.prepare("SELECT v FROM perms.t WHERE k = ?")
        write = self.hal.prepare("UPDATE perms.t SET v = ? WHERE k = ?")
        check = self.hal.prepare("UPDATE perms.t SET v = ? WHERE k = ? IF v = ?")
        self.refused("SELECT", "<table perms.t>", self.hal.execute, read, (1,))
        self.first.execute("GRANT MODIFY ON perms.t TO hal")
        self.hal.execute(write, (2, 1))
        self.refused("SELECT", "<table perms.t>", self.hal.execute, check, (3, 1, 2))
        self.first.execute("GRANT SELECT ON KEYSPACE perms TO hal")
        self.assertEqual(self.hal.execute(read, (1,)).one().v, 2)
        self.assertTrue(self.hal.execute(check, (3, 1, 2)).was_applied)
        self.first.execute("REVOKE SELECT ON KEYSPACE perms FROM hal")
        self.refused("SELECT", "<table perms.t>", self.hal.execute, read, (1,))
        self.first.execute("CREATE MATERIALIZED VIEW perms.seen AS SELECT k, v FROM perms.t "
                           "WHERE k IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k)")
        # What the view needs beside the write, though the statement was prepared before.
        self.refused("SELECT", "<table perms.t>", self.hal.execute, write, (4, 1))

    def test_batches(self):
        self.first.execute("GRANT MODIFY ON perms.t TO hal")
        prepared = self.hal.prepare("INSERT INTO perms.u (k, v) VALUES (?, ?)")
        batch = BatchStatement()
        batch.add(SimpleStatement("INSERT INTO perms.t (k, v) VALUES (7, 7)"))
        batch.add(prepared, (7, 7))
        self.refused("MODIFY", "<table perms.u>", self.hal.execute, batch)
        text = ("BEGIN BATCH INSERT INTO perms.t (k, v) VALUES (7, 7); "
                "INSERT INTO perms.u (k, v) VALUES (7, 7); APPLY BATCH")
        self.refused("MODIFY", "<table perms.u>", self.hal.execute, text)
        self.assertIsNone(self.first.execute("SELECT k FROM perms.t WHERE k = 7").one())
        self.first.execute("GRANT MODIFY ON ALL TABLES IN KEYSPACE perms TO hal")
        self.hal.execute(batch)
        self.assertEqual(self.first.execute("SELECT k FROM perms.u WHERE k = 7").one().k, 7)

    def test_they_outlive_a_restart_and_can_be_off(self):
        self.first.execute("GRANT SELECT ON perms.t TO hal")
        rows = list(self.first.execute("LIST ALL PERMISSIONS OF hal"))
        for flags in ([], ["--cql-authorizer", "AllowAllAuthorizer"], []):
            for session in (self.first, self.hal):
                session.cluster.shutdown()
            self.served.stop()
            is_off = bool(flags)
            kept = list(self.served.flags)
            self.served.flags += flags
            self.served.start()
            self.served.flags = kept
            self.first, self.hal = self.session(USER, PASSWORD), self.session("hal", "h")
            self.assertEqual(len(list(self.hal.execute("SELECT * FROM perms.t"))), 1)
            if is_off:
                self.hal.execute("SELECT * FROM perms.u")
                with self.assertRaisesRegex(InvalidRequest, "not supported by AllowAllAuthorizer"):
                    self.first.execute("GRANT SELECT ON perms.u TO hal")
                continue
            self.assertEqual(list(self.first.execute("LIST ALL PERMISSIONS OF hal")), rows)
            self.refused("SELECT", "<table perms.u>", self.hal.execute, "SELECT * FROM perms.u")

    def test_the_role_of_the_start(self):
        with self.assertRaisesRegex(InvalidRequest, "is the one that this server is started with"):
            self.first.execute(f"ALTER ROLE {USER} WITH PASSWORD = 'x'")
        self.first.execute(f"ALTER ROLE {USER} WITH LOGIN = true")
        self.session(USER, PASSWORD)


if __name__ == "__main__":
    unittest.main()

"""What clients keep over a restart of the server: their sessions, prepared statements, pages."""

import time
import unittest

from cassandra import OperationTimedOut
from cassandra.cluster import Cluster, EXEC_PROFILE_DEFAULT, ExecutionProfile, NoHostAvailable
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.connection import ConnectionException
from cassandra.policies import ConstantReconnectionPolicy, WhiteListRoundRobinPolicy
from cassandra.query import SimpleStatement

from bed import new_keyspace
from served import Served

AGAIN_SECONDS_MAX = 60


class Restart(unittest.TestCase):
    def setUp(self):
        self.served = Served()
        self.addCleanup(self.served.close)
        profile = ExecutionProfile(
            load_balancing_policy=WhiteListRoundRobinPolicy([self.served.host]), request_timeout=60)
        self.cluster = Cluster(
            [self.served.host], port=self.served.port, connect_timeout=30,
            reconnection_policy=ConstantReconnectionPolicy(0.2, None),
            execution_profiles={EXEC_PROFILE_DEFAULT: profile})
        self.addCleanup(self.cluster.shutdown)
        self.session = self.cluster.connect()
        self.keyspace = new_keyspace(self.session)
        self.session.execute(
            f"CREATE TABLE {self.keyspace}.t (k int, c int, v text, PRIMARY KEY (k, c))")
        insert = self.session.prepare(
            f"INSERT INTO {self.keyspace}.t (k, c, v) VALUES (?, ?, ?)")
        rows = [(k, c, f"v{c}") for k in range(20) for c in range(10)]
        execute_concurrent_with_args(self.session, insert, rows, concurrency=50)

    def restart(self, kill):
        if kill:
            self.served.kill()
        else:
            self.served.stop()
        self.served.start()

    def again(self, *statement, **options):
        """Runs a statement once the driver has found the server again."""
        deadline = time.monotonic() + AGAIN_SECONDS_MAX
        while True:
            try:
                return self.session.execute(*statement, **options)
            except (NoHostAvailable, OperationTimedOut, ConnectionException):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def test_pages_go_on_where_they_stopped(self):
        for kill in (False, True):
            for what in ("SELECT token(k) AS t, k, c FROM {}.t",
                         "SELECT k, c FROM {}.t WHERE k IN (3, 1, 2)",
                         "SELECT k, c FROM {}.t WHERE k = 7 ORDER BY c DESC"):
                with self.subTest(kill=kill, what=what):
                    statement = SimpleStatement(what.format(self.keyspace), fetch_size=7)
                    whole = [tuple(row) for row in self.session.execute(statement)]
                    page = self.session.execute(statement)
                    seen = [tuple(row) for row in page.current_rows]
                    self.assertLess(len(seen), len(whole))
                    self.restart(kill)
                    page = self.again(statement, paging_state=page.paging_state)
                    seen += [tuple(row) for row in page]
                    self.assertEqual(seen, whole)

    def test_prepared_statements_and_metadata(self):
        select = self.session.prepare(
            f"SELECT v FROM {self.keyspace}.t WHERE k = ? AND c = ?")
        schema = self.session.execute("SELECT schema_version FROM system.local").one()
        host = self.session.execute("SELECT host_id FROM system.local").one()
        for kill in (False, True):
            with self.subTest(kill=kill):
                self.restart(kill)
                self.assertEqual(self.again(select, (3, 4)).one().v, "v4")
                row = self.session.execute("SELECT schema_version, host_id FROM system.local").one()
                self.assertEqual(row.schema_version, schema.schema_version)
                self.assertEqual(row.host_id, host.host_id)
        self.session.execute(f"CREATE TABLE {self.keyspace}.later (k int PRIMARY KEY)")
        deadline = time.monotonic() + AGAIN_SECONDS_MAX
        tables = lambda: self.cluster.metadata.keyspaces[self.keyspace].tables
        while "later" not in tables() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertIn("later", tables())


if __name__ == "__main__":
    unittest.main()

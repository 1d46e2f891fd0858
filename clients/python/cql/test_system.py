"""The tables that clients, connectors and operators read of the server itself."""

import ssl
import time
import unittest

from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.auth import PlainTextAuthProvider
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.policies import WhiteListRoundRobinPolicy

from bed import Bed
from served import PASSWORD, USER, Served


class System(Bed):
    def test_whoever_waits_for_an_index_finds_it(self):
        name = self.table("k int PRIMARY KEY, v int")
        self.session.execute(f"CREATE INDEX {name}_v ON {name} (v)")
        # What ORMs and migration tools ask until it answers.
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            row = self.session.execute(
                'SELECT * FROM system."IndexInfo" WHERE table_name = %s AND index_name = %s',
                (self.keyspace, f"{name}_v")).one()
            if row is not None:
                break
            time.sleep(0.1)
        self.assertEqual((row.table_name, row.index_name), (self.keyspace, f"{name}_v"))

    def test_splits_of_a_connector_read_every_row_once(self):
        """As Spark's connector plans: ranges of size_estimates, grouped by size, each read by token."""
        name = self.table("k int PRIMARY KEY, v text")
        insert = self.session.prepare(f"INSERT INTO {name} (k, v) VALUES (?, ?)")
        execute_concurrent_with_args(
            self.session, insert, [(k, "v" * 100) for k in range(3000)], concurrency=100)
        estimates = list(self.session.execute(
            "SELECT range_start, range_end, partitions_count, mean_partition_size "
            "FROM system.size_estimates WHERE keyspace_name = %s AND table_name = %s",
            (self.keyspace, name)))
        least = -(2 ** 63)
        ring = 2 ** 64
        widths = [(int(row.range_end) - int(row.range_start)) % ring or ring for row in estimates]
        self.assertEqual(sum(widths), ring)
        partitions = sum(row.partitions_count for row in estimates)
        self.assertTrue(2000 < partitions < 4500, partitions)
        for row in estimates:
            self.assertTrue(100 <= row.mean_partition_size < 1000, row)
        seen = []
        for row in estimates:
            start, end = int(row.range_start), int(row.range_end)
            upper = "" if end == least else f" AND token(k) <= {end}"
            lower = ">=" if start == least else ">"
            seen += [found.k for found in self.session.execute(
                f"SELECT k FROM {name} WHERE token(k) {lower} {start}{upper}")]
        self.assertEqual(sorted(seen), list(range(3000)))

    def test_prepared_statements_are_listed(self):
        name = self.table("k int PRIMARY KEY")
        prepared = self.session.prepare(f"SELECT k FROM {self.keyspace}.{name} WHERE k = ?")
        row = self.session.execute(
            "SELECT * FROM system.prepared_statements WHERE prepared_id = %s",
            (bytearray(prepared.query_id),)).one()
        self.assertEqual(row.query_string, prepared.query_string)
        self.assertEqual(row.logged_keyspace, self.keyspace)


class Clients(unittest.TestCase):
    def test_a_connection_shows_who_it_is(self):
        served = Served(logins=True, tls=True)
        self.addCleanup(served.close)
        context = ssl.create_default_context(cafile=served.authority)
        profile = ExecutionProfile(
            load_balancing_policy=WhiteListRoundRobinPolicy([served.host]), request_timeout=60)
        cluster = Cluster(
            [served.host], port=served.port, auth_provider=PlainTextAuthProvider(USER, PASSWORD),
            ssl_context=context, ssl_options={"server_hostname": "127.0.0.1"}, connect_timeout=30,
            execution_profiles={EXEC_PROFILE_DEFAULT: profile})
        self.addCleanup(cluster.shutdown)
        session = cluster.connect()
        session.execute("CREATE KEYSPACE k WITH replication = "
                        "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("USE k")
        rows = list(session.execute("SELECT * FROM system_views.clients"))
        # The control connection and the one of the pool.
        self.assertEqual(len(rows), 2, rows)
        for row in rows:
            self.assertEqual((row.address, row.username), ("127.0.0.1", USER))
            self.assertIn("Driver", row.driver_name)
            self.assertEqual(row.client_options["DRIVER_VERSION"], row.driver_version)
            self.assertEqual((row.ssl_enabled, row.connection_stage), (True, "ready"))
            self.assertTrue(row.ssl_protocol.startswith("TLSv1."), row)
            self.assertTrue(row.ssl_cipher_suite.startswith("TLS_"), row)
            self.assertGreater(row.request_count, 1)
        self.assertEqual({row.keyspace_name for row in rows}, {None, "k"})

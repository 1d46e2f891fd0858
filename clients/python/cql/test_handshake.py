"""What a driver does before anybody sends a statement, in every version of the protocol."""

import unittest

from cassandra import ProtocolVersion
from cassandra.cluster import Cluster
from cassandra.protocol import ProtocolException
from cassandra.query import SimpleStatement

from bed import HOST, PORT, connect


class Handshake(unittest.TestCase):
    def test_negotiation_ends_at_the_highest_version(self):
        cluster, session = connect()
        self.addCleanup(cluster.shutdown)
        self.assertIn(cluster.protocol_version, (ProtocolVersion.V4, ProtocolVersion.V5))
        row = session.execute("SELECT release_version, cql_version FROM system.local").one()
        self.assertTrue(row.release_version.startswith("5.0."))
        self.assertEqual(row.cql_version, "3.4.7")

    def test_every_version_with_and_without_compression(self):
        for version in (3, 4, 5):
            for compression in (False, True):
                with self.subTest(version=version, compression=compression):
                    cluster, session = connect(protocol_version=version, compression=compression)
                    try:
                        rows = list(session.execute("SELECT * FROM system_schema.columns"))
                        self.assertGreater(len(rows), 100)
                    finally:
                        cluster.shutdown()

    def test_the_system_tables_are_in_the_metadata(self):
        cluster, _ = connect()
        self.addCleanup(cluster.shutdown)
        keyspaces = cluster.metadata.keyspaces
        self.assertIn("local", keyspaces["system"].tables)
        self.assertIn("columns", keyspaces["system_schema"].tables)
        key = keyspaces["system_schema"].tables["columns"].primary_key
        self.assertEqual([column.name for column in key],
                         ["keyspace_name", "table_name", "column_name"])
        self.assertFalse([name for name in keyspaces["system"].tables if "scylla" in name])
        self.assertEqual(len(cluster.metadata.all_hosts()), 1)

    def test_pages_and_a_paging_state_that_is_none_of_ours(self):
        cluster, session = connect()
        self.addCleanup(cluster.shutdown)
        statement = SimpleStatement("SELECT * FROM system_schema.columns", fetch_size=10)
        page = session.execute(statement)
        self.assertTrue(page.has_more_pages)
        first = {tuple(row) for row in page.current_rows}
        later = session.execute(statement, paging_state=page.paging_state)
        self.assertFalse(first & {tuple(row) for row in later.current_rows})
        # Last: the driver takes a protocol error as the end of the host.
        with self.assertRaises(ProtocolException):
            session.execute(statement, paging_state=b"garbage")


class Port(unittest.TestCase):
    def test_the_server_says_where_it_listens(self):
        cluster = Cluster([HOST], port=int(PORT))
        self.addCleanup(cluster.shutdown)
        row = cluster.connect().execute("SELECT * FROM system.local WHERE key='local'").one()
        self.assertEqual(row.rpc_port, int(PORT))


if __name__ == "__main__":
    unittest.main()

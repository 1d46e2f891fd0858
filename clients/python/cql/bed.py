"""Where the server is, and sessions to it. The same for cassandra-driver and scylla-driver.

SHELFMARK_CQL is the server's address. With SHELFMARK_USER and SHELFMARK_PASSWORD the tests log in, so
that they can be run against Apache Cassandra too.
"""

import os
import unittest
import uuid

from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import WhiteListRoundRobinPolicy

HOST, _, PORT = os.environ["SHELFMARK_CQL"].rpartition(":")


def connect(keyspace=None, profile=None, **options):
    """Returns a cluster and a session. The caller shuts the cluster down."""
    profile = profile or ExecutionProfile(
        load_balancing_policy=WhiteListRoundRobinPolicy([HOST]), request_timeout=60
    )
    user, password = os.environ.get("SHELFMARK_USER"), os.environ.get("SHELFMARK_PASSWORD")
    cluster = Cluster(
        [HOST],
        port=int(PORT),
        auth_provider=PlainTextAuthProvider(user, password) if user else None,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        connect_timeout=30,
        control_connection_timeout=30,
        **options,
    )
    return cluster, cluster.connect(keyspace)


def new_keyspace(session):
    """Creates a keyspace of its own for a test, as set-up scripts do."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    center = session.execute("SELECT data_center FROM system.local").one().data_center
    session.execute(
        f"CREATE KEYSPACE {name} WITH replication = "
        f"{{'class': 'NetworkTopologyStrategy', '{center}': 1}}"
    )
    return name


class Bed(unittest.TestCase):
    """Cases that share one session and one keyspace; has none itself."""

    @classmethod
    def setUpClass(cls):
        cls.cluster, cls.session = connect()
        cls.addClassCleanup(cls.cluster.shutdown)
        cls.keyspace = new_keyspace(cls.session)
        cls.session.set_keyspace(cls.keyspace)

    def table(self, definition):
        """Creates a table with these columns and returns its name."""
        name = f"t_{uuid.uuid4().hex[:12]}"
        self.session.execute(f"CREATE TABLE {name} ({definition})")
        return name

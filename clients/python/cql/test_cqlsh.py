"""cqlsh as people use it: DESCRIBE, COPY, paging, tracing."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import uuid

HOST, _, PORT = os.environ["SHELFMARK_CQL"].rpartition(":")
CQLSH = pathlib.Path(sys.executable).parent / "cqlsh"


def cqlsh(script, *more):
    """Runs statements and returns what cqlsh prints; fails on errors."""
    done = subprocess.run(
        [CQLSH, "--no-color", "--request-timeout=60", "--connect-timeout=30", HOST, PORT,
         "-e", script, *more],
        capture_output=True, text=True, timeout=180, check=False,
    )
    if done.returncode != 0 or "Error" in done.stderr:
        raise AssertionError(f"{script}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Cqlsh(unittest.TestCase):
    def setUp(self):
        self.keyspace = f"sh_{uuid.uuid4().hex[:12]}"
        cqlsh(
            f"CREATE KEYSPACE {self.keyspace} WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 1};"
            f"CREATE TABLE {self.keyspace}.t (k int, c text, v text, PRIMARY KEY (k, c)) "
            "WITH CLUSTERING ORDER BY (c DESC);"
        )

    def test_describe(self):
        self.assertIn("system_schema", cqlsh("DESCRIBE KEYSPACES"))
        self.assertIn(self.keyspace, cqlsh("DESCRIBE KEYSPACES"))
        self.assertEqual(cqlsh(f"USE {self.keyspace}; DESCRIBE TABLES").split(), ["t"])
        text = cqlsh(f"DESCRIBE TABLE {self.keyspace}.t")
        self.assertIn("CLUSTERING ORDER BY (c DESC)", text)
        self.assertIn("CREATE KEYSPACE", cqlsh(f"DESCRIBE KEYSPACE {self.keyspace}"))
        self.assertIn("Murmur3Partitioner", cqlsh("DESCRIBE CLUSTER"))

    def test_select_and_tracing(self):
        out = cqlsh(f"INSERT INTO {self.keyspace}.t (k, c, v) VALUES (1, 'a', 'x');"
                    f"SELECT * FROM {self.keyspace}.t;")
        self.assertIn("(1 rows)", out)
        self.assertIn("Tracing session:", cqlsh("TRACING ON; SELECT key FROM system.local;"))

    def test_copy_to_and_from(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "in.csv"
            source.write_text("".join(f"{n % 10},{n:04},v{n}\n" for n in range(500)))
            cqlsh(f"COPY {self.keyspace}.t (k, c, v) FROM '{source}'")
            target = pathlib.Path(folder) / "out.csv"
            cqlsh(f"COPY {self.keyspace}.t (k, c, v) TO '{target}'")
            self.assertEqual(sorted(source.read_text().splitlines()),
                             sorted(target.read_text().splitlines()))


if __name__ == "__main__":
    unittest.main()

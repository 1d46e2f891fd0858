package shelfmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.Version;
import com.datastax.oss.driver.api.core.metadata.Node;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the driver does before anybody sends a statement. */
class HandshakeTest {
  @Test
  void negotiationEndsAtTheHighestVersion() {
    try (CqlSession session = Bed.session(null, null)) {
      assertEquals(5, session.getContext().getProtocolVersion().getCode());
      Node node = session.getMetadata().getNodes().values().iterator().next();
      assertEquals(1, session.getMetadata().getNodes().size());
      assertEquals(Bed.DATACENTER, node.getDatacenter());
      assertEquals("rack1", node.getRack());
      assertEquals(5, node.getCassandraVersion().getMajor());
      assertTrue(node.getCassandraVersion().compareTo(Version.V4_0_0) > 0);
      assertTrue(node.getSchemaVersion() != null && node.getHostId() != null);
      assertTrue(session.checkSchemaAgreement());
      assertTrue(session.getMetadata().getTokenMap().isPresent());
      assertTrue(session.getMetadata().getClusterName().isPresent());
    }
  }

  @ParameterizedTest
  @CsvSource({"V3,none", "V3,lz4", "V3,snappy", "V4,none", "V4,lz4", "V4,snappy", "V5,none", "V5,lz4"})
  void everyVersionWithEveryCompression(String version, String compression) {
    try (CqlSession session = Bed.session(version, compression)) {
      assertEquals(version, session.getContext().getProtocolVersion().name());
      int rows = session.execute("SELECT * FROM system_schema.columns").all().size();
      assertTrue(rows > 100, "rows: " + rows);
      // More than one frame of version 5 holds.
      String large = "x".repeat(300_000);
      String keyspace = Bed.keyspace(session);
      session.execute("CREATE TABLE " + keyspace + ".t (k int PRIMARY KEY, v text)");
      session.execute("INSERT INTO " + keyspace + ".t (k, v) VALUES (1, ?)", large);
      assertEquals(large, session.execute("SELECT v FROM " + keyspace + ".t").one().getString(0));
    }
  }

  @Test
  void theDriverFindsNoOtherCompressionInVersion5() {
    assertThrows(AllNodesFailedException.class, () -> Bed.session("V5", "snappy").close());
  }

  @Test
  void systemTablesAreInTheMetadata() {
    try (CqlSession session = Bed.session(null, null)) {
      // The driver leaves these out unless asked: they are read by statements.
      assertFalse(session.execute("SELECT * FROM system.peers_v2").iterator().hasNext());
      assertEquals(
          "Murmur3Partitioner",
          session
              .execute("SELECT partitioner FROM system.local")
              .one()
              .getString(0)
              .replaceAll(".*\\.", ""));
      assertTrue(session.getKeyspace().isEmpty());
      session.execute("USE system");
      assertEquals("system", session.getKeyspace().get().asInternal());
    }
  }
}

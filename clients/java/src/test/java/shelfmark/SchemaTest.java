package shelfmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.metadata.schema.ClusteringOrder;
import com.datastax.oss.driver.api.core.metadata.schema.ColumnMetadata;
import com.datastax.oss.driver.api.core.metadata.schema.IndexKind;
import com.datastax.oss.driver.api.core.metadata.schema.KeyspaceMetadata;
import com.datastax.oss.driver.api.core.metadata.schema.SchemaChangeListenerBase;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import com.datastax.oss.driver.api.core.metadata.schema.ViewMetadata;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What the driver knows of the schema, how it hears of changes, and that everybody agrees. */
class SchemaTest {
  private static List<String> names(Collection<ColumnMetadata> columns) {
    return columns.stream().map(column -> column.getName().asInternal()).toList();
  }

  @Test
  void everythingIsInTheMetadata() {
    try (CqlSession session = Bed.session(null, null)) {
      String name = Bed.keyspace(session);
      session.execute("USE " + name);
      session.execute("CREATE TYPE point (x int, y frozen<list<int>>)");
      session.execute(
          "CREATE TABLE base (a int, b text, c int, \"Case\" text static, p frozen<point>, "
              + "m map<text, int>, v vector<float, 2>, PRIMARY KEY ((a, b), c)) "
              + "WITH CLUSTERING ORDER BY (c DESC) AND comment = 'it''s'");
      session.execute("CREATE INDEX by_p ON base (p)");
      session.execute("CREATE INDEX by_m ON base (ENTRIES(m))");
      session.execute("CREATE CUSTOM INDEX by_c ON base (c) USING 'StorageAttachedIndex'");
      session.execute(
          "CREATE MATERIALIZED VIEW seen AS SELECT a, b, c, p FROM base WHERE a IS NOT NULL "
              + "AND b IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, a, b)");
      session.execute("CREATE TABLE counts (k int PRIMARY KEY, n counter)");
      KeyspaceMetadata keyspace = session.getMetadata().getKeyspace(name).orElseThrow();
      assertTrue(keyspace.getReplication().get("class").endsWith("NetworkTopologyStrategy"));
      TableMetadata base = keyspace.getTable("base").orElseThrow();
      assertEquals(List.of("a", "b"), names(base.getPartitionKey()));
      assertEquals(List.of("c"), names(base.getClusteringColumns().keySet()));
      assertEquals(List.of(ClusteringOrder.DESC), List.copyOf(base.getClusteringColumns().values()));
      ColumnMetadata cased = base.getColumn(CqlIdentifier.fromInternal("Case")).orElseThrow();
      assertTrue(cased.isStatic());
      assertEquals("vector<float, 2>", base.getColumn("v").get().getType().asCql(false, true).toLowerCase());
      assertEquals("it's", base.getOptions().get(CqlIdentifier.fromInternal("comment")));
      assertEquals(3, base.getIndexes().size());
      assertEquals("entries(m)", base.getIndex("by_m").orElseThrow().getTarget());
      assertEquals(IndexKind.CUSTOM, base.getIndex("by_c").orElseThrow().getKind());
      UserDefinedType point = keyspace.getUserDefinedType("point").orElseThrow();
      assertEquals(point.copy(true), base.getColumn("p").get().getType());
      ViewMetadata view = keyspace.getView("seen").orElseThrow();
      assertEquals("base", view.getBaseTable().asInternal());
      assertEquals(List.of("c"), names(view.getPartitionKey()));
      assertEquals(1, keyspace.getViewsOnTable(CqlIdentifier.fromCql("base")).size());
      assertTrue(keyspace.getTable("counts").isPresent());
      // The driver's own script makes the same schema again. It forgets the semicolon behind indexes
      // of other classes.
      String copy = name + "_copy";
      String script = keyspace.describeWithChildren(true).replace(name, copy);
      for (String statement : script.split("\n(?=CREATE )")) {
        session.execute(statement.strip().replaceAll(";$", ""));
      }
      KeyspaceMetadata again = session.getMetadata().getKeyspace(copy).orElseThrow();
      assertEquals(script, again.describeWithChildren(true));
    }
  }

  @Test
  void changesOfOthersAreHeardOfAndAgreedOn() throws Exception {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    SchemaChangeListenerBase listener =
        new SchemaChangeListenerBase() {
          @Override
          public void onKeyspaceCreated(KeyspaceMetadata keyspace) {
            heard.add("made " + keyspace.getName().asInternal());
          }

          @Override
          public void onKeyspaceDropped(KeyspaceMetadata keyspace) {
            heard.add("dropped " + keyspace.getName().asInternal());
          }

          @Override
          public void onTableCreated(TableMetadata table) {
            heard.add("made " + table.getKeyspace().asInternal() + "." + table.getName().asInternal());
          }

          @Override
          public void onTableUpdated(TableMetadata now, TableMetadata before) {
            heard.add("changed " + now.getName().asInternal() + " " + names(now.getColumns().values()));
          }

          @Override
          public void onTableDropped(TableMetadata table) {
            heard.add("dropped " + table.getName().asInternal());
          }

          @Override
          public void onUserDefinedTypeCreated(UserDefinedType type) {
            heard.add("made type " + type.getName().asInternal());
          }

          @Override
          public void onViewCreated(ViewMetadata view) {
            heard.add("made view " + view.getName().asInternal());
          }
        };
    try (CqlSession listening =
            Bed.builder(Bed.options()).withSchemaChangeListener(listener).build();
        CqlSession session = Bed.session(null, null)) {
      heard.clear();
      String name = Bed.keyspace(session);
      await(heard, "made " + name);
      ResultSet made = session.execute("CREATE TABLE " + name + ".t (k int PRIMARY KEY, v int)");
      assertTrue(made.getExecutionInfo().isSchemaInAgreement());
      await(heard, "made " + name + ".t");
      session.execute("ALTER TABLE " + name + ".t ADD w int");
      await(heard, "changed t [k, v, w]");
      session.execute("CREATE TYPE " + name + ".u (x int)");
      await(heard, "made type u");
      session.execute(
          "CREATE MATERIALIZED VIEW " + name + ".seen AS SELECT * FROM " + name
              + ".t WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, k)");
      await(heard, "made view seen");
      session.execute("DROP MATERIALIZED VIEW " + name + ".seen");
      session.execute("DROP TABLE " + name + ".t");
      await(heard, "dropped t");
      session.execute("DROP KEYSPACE " + name);
      await(heard, "dropped " + name);
      assertTrue(listening.checkSchemaAgreement());
    }
  }

  /** Other tests of this run change the schema too: what they do is passed over. */
  private static void await(BlockingQueue<String> heard, String wanted) throws Exception {
    String last = null;
    do {
      last = heard.poll(30, TimeUnit.SECONDS);
    } while (last != null && !last.equals(wanted));
    assertEquals(wanted, last);
  }
}

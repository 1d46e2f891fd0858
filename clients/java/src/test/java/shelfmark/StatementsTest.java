package shelfmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.ColumnDefinition;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.cql.PagingState;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.QueryTrace;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.token.Token;
import com.datastax.oss.driver.api.core.servererrors.AlreadyExistsException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Prepared statements, pages, conditions, batches, counters, traces, errors. */
class StatementsTest {
  private static CqlSession session;
  private static String keyspace;
  private static int tables;

  @BeforeAll
  static void connect() {
    session = Bed.session(null, "lz4");
    keyspace = Bed.keyspace(session);
    session.execute("USE " + keyspace);
  }

  @AfterAll
  static void close() {
    session.close();
  }

  private static String table(String definition) {
    String name = "t" + tables++;
    session.execute("CREATE TABLE " + name + " (" + definition + ")");
    return name;
  }

  private static List<Integer> numbers(int end) {
    return IntStream.range(0, end).boxed().collect(Collectors.toList());
  }

  private static String filled(int rows) {
    String name = table("k int, c int, v text, PRIMARY KEY (k, c)");
    PreparedStatement insert =
        session.prepare("INSERT INTO " + name + " (k, c, v) VALUES (?, ?, ?)");
    List<CompletionStage<AsyncResultSet>> under = new ArrayList<>();
    for (int c = 0; c < rows; c++) {
      under.add(session.executeAsync(insert.bind(1, c, "v" + c)));
    }
    under.forEach(stage -> stage.toCompletableFuture().join());
    return name;
  }

  @Test
  void preparedStatementsKnowTheirMarkers() {
    String name = table("a int, b text, c int, v list<text>, PRIMARY KEY ((a, b), c)");
    PreparedStatement insert =
        session.prepare("INSERT INTO " + name + " (c, b, v, a) VALUES (?, :beta, ?, ?)");
    assertEquals(List.of(3, 1), insert.getPartitionKeyIndices());
    assertEquals("list<text>", insert.getVariableDefinitions().get(2).getType().asCql(false, true));
    assertEquals("beta", insert.getVariableDefinitions().get(1).getName().asInternal());
    assertEquals(0, insert.getResultSetDefinitions().size());
    session.execute(
        insert.boundStatementBuilder().setInt("a", 1).setString("beta", "b").setInt("c", 2).build());
    PreparedStatement select =
        session.prepare("SELECT * FROM " + name + " WHERE a = ? AND b = ? AND c IN ? LIMIT ?");
    List<String> columns = new ArrayList<>();
    for (ColumnDefinition column : select.getResultSetDefinitions()) {
      columns.add(column.getName().asInternal());
    }
    assertEquals(List.of("a", "b", "c", "v"), columns);
    BoundStatement bound = select.bind(1, "b", List.of(1, 2, 3), 10);
    Row row = session.execute(bound).one();
    assertEquals(2, row.getInt("c"));
    assertTrue(row.isNull("v"));
    assertEquals(List.of(), row.getList("v", String.class));
    // The driver works the token out by itself; the server has to agree.
    Token token = session.getMetadata().getTokenMap().get().newToken(
        ByteBuffer.wrap(new byte[] {0, 4, 0, 0, 0, 1, 0, 0, 1, 'b', 0}));
    assertEquals(token, session.execute("SELECT token(a, b) FROM " + name).one().getToken(0));
    assertNotNull(bound.getRoutingKey());
    assertEquals(
        1, session.getMetadata().getTokenMap().get().getReplicas(keyspace, bound.getRoutingKey()).size());
  }

  @Test
  void unsetLeavesAloneAndNullDeletes() {
    String name = table("k int PRIMARY KEY, a text, b text");
    PreparedStatement insert =
        session.prepare("INSERT INTO " + name + " (k, a, b) VALUES (?, ?, ?)");
    session.execute(insert.bind(1, "a", "b"));
    session.execute(insert.boundStatementBuilder().setInt(0, 1).setToNull(2).build());
    Row row = session.execute("SELECT a, b FROM " + name).one();
    assertEquals("a", row.getString("a"));
    assertNull(row.getString("b"));
  }

  @Test
  void pages() {
    String name = filled(100);
    SimpleStatement statement =
        SimpleStatement.newInstance("SELECT c FROM " + name + " WHERE k = 1").setPageSize(7);
    List<Integer> seen =
        session.execute(statement).all().stream().map(row -> row.getInt(0)).collect(Collectors.toList());
    assertEquals(numbers(100), seen);
    // By hand, with a state that is kept as text in between.
    List<Integer> byHand = new ArrayList<>();
    String kept = null;
    do {
      SimpleStatement next = statement;
      if (kept != null) {
        next = next.setPagingState(PagingState.fromString(kept));
      }
      ResultSet page = session.execute(next);
      int there = page.getAvailableWithoutFetching();
      assertTrue(there <= 7);
      for (int n = 0; n < there; n++) {
        byHand.add(page.one().getInt(0));
      }
      PagingState state = page.getExecutionInfo().getSafePagingState();
      kept = state == null ? null : state.toString();
    } while (kept != null);
    assertEquals(numbers(100), byHand);
  }

  @Test
  void pagesOneAfterTheOther() {
    String name = filled(50);
    PreparedStatement select = session.prepare("SELECT c FROM " + name + " WHERE k = ?");
    AsyncResultSet page =
        session.executeAsync(select.bind(1).setPageSize(8)).toCompletableFuture().join();
    List<Integer> seen = new ArrayList<>();
    while (true) {
      page.currentPage().forEach(row -> seen.add(row.getInt(0)));
      if (!page.hasMorePages()) {
        break;
      }
      page = page.fetchNextPage().toCompletableFuture().join();
    }
    assertEquals(numbers(50), seen);
  }

  @Test
  void conditions() {
    String name = table("k int PRIMARY KEY, v text, n int");
    String insert = "INSERT INTO " + name + " (k, v, n) VALUES (1, 'a', 1) IF NOT EXISTS";
    assertTrue(session.execute(insert).wasApplied());
    ResultSet again = session.execute(insert);
    assertFalse(again.wasApplied());
    Row row = again.one();
    assertEquals("a", row.getString("v"));
    PreparedStatement update =
        session.prepare("UPDATE " + name + " SET v = ? WHERE k = ? IF n = ? AND v IN ?");
    assertTrue(session.execute(update.bind("b", 1, 1, List.of("a", "x"))).wasApplied());
    ResultSet refused = session.execute(update.bind("c", 1, 2, List.of("b")));
    assertFalse(refused.wasApplied());
    assertEquals(1, refused.one().getInt("n"));
    SimpleStatement serial =
        SimpleStatement.newInstance("DELETE FROM " + name + " WHERE k = 1 IF EXISTS")
            .setSerialConsistencyLevel(DefaultConsistencyLevel.LOCAL_SERIAL)
            .setConsistencyLevel(DefaultConsistencyLevel.LOCAL_QUORUM);
    assertTrue(session.execute(serial).wasApplied());
    assertFalse(session.execute(serial).wasApplied());
  }

  @Test
  void batches() {
    String name = table("k int, c int, v text, PRIMARY KEY (k, c)");
    PreparedStatement insert =
        session.prepare("INSERT INTO " + name + " (k, c, v) VALUES (?, ?, ?)");
    for (BatchType type : List.of(DefaultBatchType.LOGGED, DefaultBatchType.UNLOGGED)) {
      BatchStatementBuilder batch = BatchStatement.builder(type);
      for (int c = 0; c < 10; c++) {
        batch.addStatement(insert.bind(1, c, type.toString()));
      }
      batch.addStatement(SimpleStatement.newInstance("DELETE FROM " + name + " WHERE k = 1 AND c = 3"));
      session.execute(batch.build());
    }
    assertEquals(9, session.execute("SELECT count(*) FROM " + name).one().getLong(0));
    BatchStatement conditional =
        BatchStatement.newInstance(
            DefaultBatchType.LOGGED,
            SimpleStatement.newInstance(
                "INSERT INTO " + name + " (k, c, v) VALUES (1, 3, 'x') IF NOT EXISTS"),
            SimpleStatement.newInstance("UPDATE " + name + " SET v = 'y' WHERE k = 1 AND c = 4"));
    assertTrue(session.execute(conditional).wasApplied());
    assertFalse(session.execute(conditional).wasApplied());
    BatchStatement early =
        BatchStatement.builder(DefaultBatchType.LOGGED)
            .addStatement(insert.bind(1, 4, "early"))
            .setQueryTimestamp(1)
            .build();
    session.execute(early);
    assertEquals(
        "y", session.execute("SELECT v FROM " + name + " WHERE k = 1 AND c = 4").one().getString(0));
  }

  @Test
  void counters() {
    String name = table("k text PRIMARY KEY, n counter");
    PreparedStatement add = session.prepare("UPDATE " + name + " SET n = n + ? WHERE k = ?");
    BatchStatementBuilder batch = BatchStatement.builder(DefaultBatchType.COUNTER);
    for (int n = 1; n <= 4; n++) {
      batch.addStatement(add.bind((long) n, "a"));
    }
    session.execute(batch.build());
    session.execute("UPDATE " + name + " SET n -= 3 WHERE k = 'a'");
    assertEquals(7, session.execute("SELECT n FROM " + name).one().getLong("n"));
    assertThrows(
        InvalidQueryException.class,
        () -> session.execute("INSERT INTO " + name + " (k, n) VALUES ('b', 1)"));
  }

  @Test
  void traces() {
    String name = filled(3);
    ExecutionInfo info =
        session
            .execute(SimpleStatement.newInstance("SELECT * FROM " + name).setTracing(true))
            .getExecutionInfo();
    assertNotNull(info.getTracingId());
    QueryTrace trace = info.getQueryTrace();
    assertEquals("Execute CQL3 query", trace.getRequestType());
    assertEquals("SELECT * FROM " + name, trace.getParameters().get("query"));
    assertTrue(trace.getEvents().size() > 1);
    assertTrue(trace.getDurationMicros() > 0);
    assertEquals("127.0.0.1", trace.getCoordinatorAddress().getAddress().getHostAddress());
  }

  @Test
  void warningsAndPayloads() {
    String name = filled(3);
    Map<String, ByteBuffer> payload =
        Map.of("any", ByteBuffer.wrap("thing".getBytes(StandardCharsets.UTF_8)));
    ExecutionInfo info =
        session
            .execute(
                SimpleStatement.newInstance("SELECT sum(c) FROM " + name).setCustomPayload(payload))
            .getExecutionInfo();
    assertEquals(List.of("Aggregation query used without partition key"), info.getWarnings());
    assertEquals(Map.of(), info.getIncomingPayload());
  }

  @Test
  void keyspacesAndMomentsOfOneStatement() {
    String name = table("k int PRIMARY KEY, v text");
    try (CqlSession other = Bed.session("V5", null)) {
      other.execute(
          SimpleStatement.newInstance("INSERT INTO " + name + " (k, v) VALUES (1, 'a') USING TTL 100")
              .setKeyspace(keyspace));
      SimpleStatement later =
          SimpleStatement.newInstance("SELECT ttl(v) FROM " + name)
              .setKeyspace(keyspace)
              .setNowInSeconds((int) (System.currentTimeMillis() / 1000) + 40);
      int left = other.execute(later).one().getInt(0);
      assertTrue(left > 40 && left <= 61, "left: " + left);
      PreparedStatement select =
          other.prepare(SimpleStatement.newInstance("SELECT v FROM " + name).setKeyspace(keyspace));
      assertEquals("a", other.execute(select.bind()).one().getString(0));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"V4", "V5"})
  void preparedStatementsAfterTheTableWasChanged(String version) {
    String name = table("k int PRIMARY KEY, v text");
    session.execute("INSERT INTO " + name + " (k, v) VALUES (1, 'a')");
    try (CqlSession other = Bed.session(version, null)) {
      PreparedStatement select =
          other.prepare("SELECT * FROM " + keyspace + "." + name + " WHERE k = ?");
      assertEquals(2, other.execute(select.bind(1)).one().size());
      session.execute("ALTER TABLE " + name + " ADD a int");
      Row row = other.execute(select.bind(1)).one();
      assertEquals(3, row.size());
      assertTrue(row.isNull("a"));
      assertEquals("a", row.getString("v"));
      session.execute("ALTER TABLE " + name + " DROP v");
      assertEquals(2, other.execute(select.bind(1)).one().size());
    }
  }

  @Test
  void errors() {
    String name = table("k int, c int, v int, PRIMARY KEY (k, c)");
    assertThrows(SyntaxError.class, () -> session.execute("SELEKT 1"));
    assertThrows(
        AlreadyExistsException.class,
        () -> session.execute("CREATE TABLE " + name + " (k int PRIMARY KEY)"));
    InvalidQueryException filtered =
        assertThrows(
            InvalidQueryException.class,
            () -> session.execute("SELECT * FROM " + name + " WHERE v = 1"));
    assertTrue(filtered.getMessage().contains("use ALLOW FILTERING"), filtered.getMessage());
    InvalidQueryException missing =
        assertThrows(InvalidQueryException.class, () -> session.prepare("SELECT * FROM nothing"));
    assertEquals("table nothing does not exist", missing.getMessage());
  }
}

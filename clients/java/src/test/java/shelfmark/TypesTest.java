package shelfmark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.data.CqlDuration;
import com.datastax.oss.driver.api.core.data.CqlVector;
import com.datastax.oss.driver.api.core.data.TupleValue;
import com.datastax.oss.driver.api.core.data.UdtValue;
import com.datastax.oss.driver.api.core.type.DataTypes;
import com.datastax.oss.driver.api.core.type.TupleType;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import com.datastax.oss.driver.api.core.uuid.Uuids;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values of every type, there and back, in both versions of the protocol. */
class TypesTest {
  @ParameterizedTest
  @ValueSource(strings = {"V4", "V5"})
  void simpleValues(String version) throws Exception {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("ascii", "abc");
    values.put("bigint", Long.MIN_VALUE);
    values.put("blob", ByteBuffer.wrap(new byte[] {0, -1}));
    values.put("boolean", true);
    values.put("date", LocalDate.of(-5000, 1, 31));
    values.put("decimal", new BigDecimal("-1.500"));
    values.put("double", Double.NEGATIVE_INFINITY);
    values.put("duration", CqlDuration.newInstance(-1, -2, -3_000_000_000_000L));
    values.put("float", Float.NaN);
    values.put("inet", InetAddress.getByName("2001:db8::1"));
    values.put("int", 7);
    values.put("smallint", (short) -3);
    values.put("text", "ä€𝄞");
    values.put("time", LocalTime.of(23, 59, 59, 999_999_999));
    values.put("timestamp", Instant.parse("1969-12-31T23:59:59.999Z"));
    values.put("timeuuid", Uuids.timeBased());
    values.put("tinyint", (byte) -128);
    values.put("uuid", Uuids.random());
    values.put("varint", BigInteger.TEN.pow(40).negate());
    try (CqlSession session = Bed.session(version, null)) {
      String keyspace = Bed.keyspace(session);
      StringBuilder columns = new StringBuilder();
      StringBuilder marks = new StringBuilder();
      for (String type : values.keySet()) {
        columns.append(", c_").append(type).append(' ').append(type);
        marks.append(", ?");
      }
      String names = columns.toString().replaceAll("(c_\\w+) \\w+", "$1");
      session.execute(
          "CREATE TABLE " + keyspace + ".t (k int PRIMARY KEY" + columns + ")");
      PreparedStatement insert =
          session.prepare(
              "INSERT INTO " + keyspace + ".t (k" + names + ") VALUES (1" + marks + ")");
      session.execute(insert.bind(values.values().toArray()));
      Row row = session.execute("SELECT * FROM " + keyspace + ".t").one();
      values.forEach((type, value) -> assertEquals(value, row.getObject("c_" + type), type));
      // What the driver writes as text is read back the same.
      for (String type : values.keySet()) {
        if (!type.equals("float")) {
          String text = row.getFormattedContents().replaceAll("^\\[|\\]$", "");
          assertTrue(text.contains("c_" + type), text);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"V4", "V5"})
  void collections(String version) {
    try (CqlSession session = Bed.session(version, null)) {
      String table = Bed.keyspace(session) + ".t";
      session.execute(
          "CREATE TABLE "
              + table
              + " (k int PRIMARY KEY, l list<int>, s set<text>, m map<text, int>, "
              + "n map<int, frozen<list<frozen<set<text>>>>>, f frozen<list<int>>, "
              + "t tuple<int, text, list<int>>)");
      PreparedStatement insert =
          session.prepare("INSERT INTO " + table + " (k, l, s, m, n, f, t) VALUES (1, ?, ?, ?, ?, ?, ?)");
      TupleType type = (TupleType) insert.getVariableDefinitions().get(5).getType();
      assertEquals(
          DataTypes.tupleOf(DataTypes.INT, DataTypes.TEXT, DataTypes.listOf(DataTypes.INT)), type);
      session.execute(
          insert.bind(
              List.of(3, 1, 3),
              Set.of("b", "a"),
              Map.of("x", 1),
              Map.of(5, List.of(Set.of("p", "q"), Set.of("r"))),
              List.of(),
              type.newValue(1, null, List.of(2))));
      session.execute("UPDATE " + table + " SET l = l + [9], s = s - {'b'}, m['y'] = 2 WHERE k = 1");
      Row row = session.execute("SELECT * FROM " + table).one();
      assertEquals(List.of(3, 1, 3, 9), row.getList("l", Integer.class));
      assertEquals(Set.of("a"), row.getSet("s", String.class));
      assertEquals(Map.of("x", 1, "y", 2), row.getMap("m", String.class, Integer.class));
      assertEquals(Map.of(5, List.of(Set.of("p", "q"), Set.of("r"))), row.getObject("n"));
      assertEquals(List.of(), row.getList("f", Integer.class));
      TupleValue tuple = row.getTupleValue("t");
      assertEquals(1, tuple.getInt(0));
      assertNull(tuple.getString(1));
      assertEquals(List.of(2), tuple.getList(2, Integer.class));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"V4", "V5"})
  void userTypes(String version) {
    try (CqlSession session = Bed.session(version, null)) {
      String keyspace = Bed.keyspace(session);
      session.execute("CREATE TYPE " + keyspace + ".phone (country int, number text)");
      session.execute(
          "CREATE TYPE "
              + keyspace
              + ".address (street text, phones frozen<map<text, frozen<phone>>>)");
      session.execute(
          "CREATE TABLE "
              + keyspace
              + ".t (k int PRIMARY KEY, home frozen<address>, live address, all_of list<frozen<address>>)");
      UserDefinedType address =
          session
              .getMetadata()
              .getKeyspace(keyspace)
              .flatMap(known -> known.getUserDefinedType("address"))
              .orElseThrow();
      UserDefinedType phone =
          session.getMetadata().getKeyspace(keyspace).get().getUserDefinedType("phone").get();
      UdtValue home =
          address.newValue("Street", Map.of("m", phone.newValue(49, "1"), "w", phone.newValue(null, "2")));
      PreparedStatement insert =
          session.prepare("INSERT INTO " + keyspace + ".t (k, home, live, all_of) VALUES (1, ?, ?, ?)");
      session.execute(insert.bind(home, home, List.of(home, address.newValue())));
      session.execute("UPDATE " + keyspace + ".t SET live.street = 'New' WHERE k = 1");
      Row row = session.execute("SELECT home, live, all_of, live.street FROM " + keyspace + ".t").one();
      assertEquals(home, row.getUdtValue("home"));
      assertEquals("New", row.getUdtValue("live").getString("street"));
      assertEquals("New", row.getString(3));
      assertEquals(2, row.getList("all_of", UdtValue.class).size());
      assertTrue(row.getList("all_of", UdtValue.class).get(1).isNull("street"));
      session.execute("ALTER TYPE " + keyspace + ".phone ADD more blob");
      Row grown = session.execute("SELECT home FROM " + keyspace + ".t").one();
      assertEquals(
          List.of("country", "number", "more"),
          grown
              .getUdtValue(0)
              .getMap("phones", String.class, UdtValue.class)
              .get("m")
              .getType()
              .getFieldNames()
              .stream()
              .map(name -> name.asInternal())
              .toList());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"V4", "V5"})
  void vectors(String version) {
    try (CqlSession session = Bed.session(version, null)) {
      String table = Bed.keyspace(session) + ".t";
      session.execute("CREATE TABLE " + table + " (k int PRIMARY KEY, v vector<float, 3>, w vector<text, 2>)");
      PreparedStatement insert =
          session.prepare("INSERT INTO " + table + " (k, v, w) VALUES (?, ?, ?)");
      assertEquals(
          DataTypes.vectorOf(DataTypes.FLOAT, 3), insert.getVariableDefinitions().get(1).getType());
      CqlVector<Float> first = CqlVector.newInstance(1f, 2.5f, -3f);
      session.execute(insert.bind(1, first, CqlVector.newInstance("a", "äöü")));
      session.execute(insert.bind(2, CqlVector.newInstance(0f, 1f, 0f), null));
      PreparedStatement select =
          session.prepare(
              "SELECT v, w, similarity_euclidean(v, ?) AS s FROM " + table + " WHERE k = ?");
      Row row = session.execute(select.bind(first, 1)).one();
      assertEquals(first, row.getVector("v", Float.class));
      assertEquals(CqlVector.newInstance("a", "äöü"), row.getVector("w", String.class));
      assertEquals(1f, row.getFloat("s"));
      assertNull(session.execute(select.bind(first, 2)).one().getVector("w", String.class));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"V4", "V5"})
  void emptyValues(String version) {
    try (CqlSession session = Bed.session(version, null)) {
      String table = Bed.keyspace(session) + ".t";
      session.execute("CREATE TABLE " + table + " (k text PRIMARY KEY, b blob, t text, n int)");
      PreparedStatement insert =
          session.prepare("INSERT INTO " + table + " (k, b, t, n) VALUES (?, ?, ?, ?)");
      session.execute(
          insert
              .boundStatementBuilder("x", ByteBuffer.allocate(0), "")
              .setBytesUnsafe(3, ByteBuffer.allocate(0))
              .build());
      Row row = session.execute("SELECT * FROM " + table).one();
      assertEquals(0, row.getByteBuffer("b").remaining());
      assertEquals("", row.getString("t"));
      assertArrayEquals(new byte[0], row.getBytesUnsafe("n").array());
    }
  }
}

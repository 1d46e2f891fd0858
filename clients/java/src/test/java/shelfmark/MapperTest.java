package shelfmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The object mapper: it checks each entity against the metadata, and each query by preparing it. */
class MapperTest {
  @Test
  void entitiesInOrdinaryUse() {
    try (CqlSession session = Bed.session(null, null)) {
      String name = Bed.keyspace(session);
      session.execute("CREATE TYPE " + name + ".address (street text, zip int)");
      session.execute(
          "CREATE TABLE " + name + ".person (town text, name text, age int, "
              + "homes list<frozen<address>>, PRIMARY KEY (town, name))");
      session.execute("CREATE TABLE " + name + ".visits (page text PRIMARY KEY, count counter)");
      Mapped.Access access = new Mapped_AccessBuilder(session).build();
      CqlIdentifier keyspace = CqlIdentifier.fromCql(name);
      Mapped.People people = access.people(keyspace);
      Mapped.Person ann =
          new Mapped.Person("Ulm", "Ann", 40, List.of(new Mapped.Address("S", 1)));
      people.save(ann);
      assertEquals(List.of(new Mapped.Address("S", 1)), people.find("Ulm", "Ann").getHomes());
      assertEquals(40, people.saveNew(ann).getAge());
      assertNull(people.saveNew(new Mapped.Person("Ulm", "Bob", 41, null)));
      assertEquals(
          List.of("Ann", "Bob"),
          people.ofTown("Ulm", 5).map(Mapped.Person::getName).all());
      assertEquals(1, people.ofTown("Ulm", 1).all().size());
      assertTrue(
          people.ofTownLater("Ulm").toCompletableFuture().join().currentPage().iterator().hasNext());
      ann.setAge(50);
      assertTrue(people.changeIf(ann, 40));
      assertFalse(people.changeIf(ann, 40));
      people.saveFor(new Mapped.Person("Ulm", "Ann", null, null), 100);
      assertEquals(50, people.find("Ulm", "Ann").getAge());
      assertTrue(people.delete(ann));
      assertFalse(people.delete(ann));
      assertEquals(1, people.count("Ulm"));
      Mapped.Pages pages = access.pages(keyspace);
      pages.add("/", 3);
      pages.add("/", -1);
      assertEquals(2, pages.find("/").getCount());
    }
  }
}

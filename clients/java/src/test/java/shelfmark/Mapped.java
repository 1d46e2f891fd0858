package shelfmark;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.MappedAsyncPagingIterable;
import com.datastax.oss.driver.api.core.PagingIterable;
import com.datastax.oss.driver.api.mapper.annotations.ClusteringColumn;
import com.datastax.oss.driver.api.mapper.annotations.CqlName;
import com.datastax.oss.driver.api.mapper.annotations.Dao;
import com.datastax.oss.driver.api.mapper.annotations.DaoFactory;
import com.datastax.oss.driver.api.mapper.annotations.DaoKeyspace;
import com.datastax.oss.driver.api.mapper.annotations.Delete;
import com.datastax.oss.driver.api.mapper.annotations.Entity;
import com.datastax.oss.driver.api.mapper.annotations.Increment;
import com.datastax.oss.driver.api.mapper.annotations.Insert;
import com.datastax.oss.driver.api.mapper.annotations.Mapper;
import com.datastax.oss.driver.api.mapper.annotations.PartitionKey;
import com.datastax.oss.driver.api.mapper.annotations.Query;
import com.datastax.oss.driver.api.mapper.annotations.Select;
import com.datastax.oss.driver.api.mapper.annotations.Update;
import com.datastax.oss.driver.api.mapper.entity.saving.NullSavingStrategy;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

/** Entities and their access objects, for MapperTest. */
final class Mapped {
  private Mapped() {}

  @Entity
  @CqlName("address")
  public static class Address {
    private String street;
    private int zip;

    public Address() {}

    public Address(String street, int zip) {
      this.street = street;
      this.zip = zip;
    }

    public String getStreet() {
      return street;
    }

    public void setStreet(String street) {
      this.street = street;
    }

    public int getZip() {
      return zip;
    }

    public void setZip(int zip) {
      this.zip = zip;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Address a && Objects.equals(street, a.street) && zip == a.zip;
    }

    @Override
    public int hashCode() {
      return Objects.hash(street, zip);
    }
  }

  @Entity
  @CqlName("person")
  public static class Person {
    @PartitionKey private String town;
    @ClusteringColumn private String name;
    private Integer age;
    private List<Address> homes;

    public Person() {}

    public Person(String town, String name, Integer age, List<Address> homes) {
      this.town = town;
      this.name = name;
      this.age = age;
      this.homes = homes;
    }

    public String getTown() {
      return town;
    }

    public void setTown(String town) {
      this.town = town;
    }

    public String getName() {
      return name;
    }

    public void setName(String name) {
      this.name = name;
    }

    public Integer getAge() {
      return age;
    }

    public void setAge(Integer age) {
      this.age = age;
    }

    public List<Address> getHomes() {
      return homes;
    }

    public void setHomes(List<Address> homes) {
      this.homes = homes;
    }
  }

  @Entity
  @CqlName("visits")
  public static class Visits {
    @PartitionKey private String page;
    private long count;

    public String getPage() {
      return page;
    }

    public void setPage(String page) {
      this.page = page;
    }

    public long getCount() {
      return count;
    }

    public void setCount(long count) {
      this.count = count;
    }
  }

  @Dao
  public interface People {
    @Insert
    void save(Person person);

    @Insert(ifNotExists = true)
    Person saveNew(Person person);

    @Insert(ttl = ":seconds", nullSavingStrategy = NullSavingStrategy.DO_NOT_SET)
    void saveFor(Person person, int seconds);

    @Select
    Person find(String town, String name);

    @Select(customWhereClause = "town = :town", limit = ":most")
    PagingIterable<Person> ofTown(String town, int most);

    @Select
    CompletionStage<MappedAsyncPagingIterable<Person>> ofTownLater(String town);

    @Update(customIfClause = "age = :before")
    boolean changeIf(Person person, int before);

    @Delete(ifExists = true)
    boolean delete(Person person);

    @Query("SELECT count(*) FROM ${keyspaceId}.person WHERE town = :town")
    long count(String town);
  }

  @Dao
  public interface Pages {
    @Increment(entityClass = Visits.class)
    void add(String page, long count);

    @Select
    Visits find(String page);
  }

  @Mapper
  public interface Access {
    @DaoFactory
    People people(@DaoKeyspace CqlIdentifier keyspace);

    @DaoFactory
    Pages pages(@DaoKeyspace CqlIdentifier keyspace);
  }
}

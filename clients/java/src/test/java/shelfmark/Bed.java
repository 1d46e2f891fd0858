package shelfmark;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.UUID;

/** Where the server is, and sessions to it. SHELFMARK_CQL is its address. */
final class Bed {
  static final String DATACENTER = "datacenter1";

  private Bed() {}

  static InetSocketAddress address(String variable) {
    String address = System.getenv(variable);
    int colon = address.lastIndexOf(':');
    return new InetSocketAddress(
        address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
  }

  static ProgrammaticDriverConfigLoaderBuilder options() {
    Duration patience = Duration.ofSeconds(60);
    return DriverConfigLoader.programmaticBuilder()
        .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, patience)
        .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, patience)
        .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, patience)
        .withDuration(DefaultDriverOption.METADATA_SCHEMA_REQUEST_TIMEOUT, patience)
        .withDuration(DefaultDriverOption.METADATA_SCHEMA_WINDOW, Duration.ofMillis(100))
        // Closing a session waits two seconds otherwise.
        .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 0)
        .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 0);
  }

  static CqlSessionBuilder builder(ProgrammaticDriverConfigLoaderBuilder options) {
    // Logins are there for Apache Cassandra, against which these tests can be run too.
    String user = System.getenv("SHELFMARK_USER");
    CqlSessionBuilder builder =
        CqlSession.builder()
            .addContactPoint(address("SHELFMARK_CQL"))
            .withLocalDatacenter(DATACENTER)
            .withConfigLoader(options.build());
    return user == null
        ? builder
        : builder.withAuthCredentials(user, System.getenv("SHELFMARK_PASSWORD"));
  }

  static CqlSession session(String version, String compression) {
    ProgrammaticDriverConfigLoaderBuilder options = options();
    if (version != null) {
      options.withString(DefaultDriverOption.PROTOCOL_VERSION, version);
    }
    if (compression != null) {
      options.withString(DefaultDriverOption.PROTOCOL_COMPRESSION, compression);
    }
    return builder(options).build();
  }

  /** Creates a keyspace of its own for a test. */
  static String keyspace(CqlSession session) {
    String name = "java_" + UUID.randomUUID().toString().replace("-", "").substring(0, 12);
    session.execute(
        "CREATE KEYSPACE "
            + name
            + " WITH replication = {'class': 'NetworkTopologyStrategy', '"
            + DATACENTER
            + "': 1}");
    return name;
  }
}

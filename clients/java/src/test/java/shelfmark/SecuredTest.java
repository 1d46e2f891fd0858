package shelfmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.auth.AuthenticationException;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import java.io.FileInputStream;
import java.io.InputStream;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.UUID;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Logins and TLS, against the server at SHELFMARK_SECURED. */
@EnabledIfEnvironmentVariable(named = "SHELFMARK_SECURED", matches = ".+")
class SecuredTest {
  private static SSLContext trusting(String file) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream bytes = new FileInputStream(file)) {
      store.setCertificateEntry(
          "authority", CertificateFactory.getInstance("X.509").generateCertificate(bytes));
    }
    TrustManagerFactory managers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }

  private static CqlSessionBuilder encrypted() throws Exception {
    return CqlSession.builder()
        .addContactPoint(Bed.address("SHELFMARK_SECURED"))
        .withLocalDatacenter(Bed.DATACENTER)
        .withConfigLoader(Bed.options().build())
        .withSslContext(trusting(System.getenv("SHELFMARK_SECURED_AUTHORITY")));
  }

  private static CqlSession login(String user, String password) throws Exception {
    return encrypted().withAuthCredentials(user, password).build();
  }

  private static Throwable refused(CqlSessionBuilder builder) {
    AllNodesFailedException failed =
        assertThrows(AllNodesFailedException.class, () -> builder.build().close());
    return failed.getAllErrors().values().iterator().next().get(0);
  }

  private static void refusedLogin(String user, String password) throws Exception {
    Throwable error = refused(encrypted().withAuthCredentials(user, password));
    assertInstanceOf(AuthenticationException.class, error);
    assertTrue(
        error.getMessage().contains(
            "server replied with 'Provided username " + user + " and/or password are incorrect'"),
        error.getMessage());
  }

  @Test
  void rightLoginWrongLoginNoLogin() throws Exception {
    String user = System.getenv("SHELFMARK_SECURED_USER");
    try (CqlSession session = login(user, System.getenv("SHELFMARK_SECURED_PASSWORD"))) {
      assertEquals("local", session.execute("SELECT key FROM system.local").one().getString(0));
    }
    refusedLogin(user, "wrong");
    refusedLogin("nobody", "x");
    assertInstanceOf(AuthenticationException.class, refused(encrypted()));
  }

  @Test
  void rolesAreMadeAndLogIn() throws Exception {
    String role = "java_" + UUID.randomUUID().toString().substring(0, 8);
    try (CqlSession first =
        login(System.getenv("SHELFMARK_SECURED_USER"), System.getenv("SHELFMARK_SECURED_PASSWORD"))) {
      first.execute("CREATE ROLE \"" + role + "\" WITH PASSWORD = 'p' AND LOGIN = true");
      try (CqlSession session = login(role, "p")) {
        UnauthorizedException refused =
            assertThrows(UnauthorizedException.class, () -> session.execute("CREATE ROLE other"));
        assertTrue(refused.getMessage().contains("does not have sufficient privileges"));
      }
      first.execute("ALTER ROLE \"" + role + "\" WITH PASSWORD = 'q'");
      refusedLogin(role, "p");
      login(role, "q").close();
      first.execute("DROP ROLE \"" + role + "\"");
      refusedLogin(role, "q");
    }
  }

  @Test
  void certificatesAndPlainConnections() throws Exception {
    String other = System.getenv("SHELFMARK_SECURED_AUTHORITY").replace("authority.pem", "other.pem");
    CqlSessionBuilder distrusting = encrypted().withSslContext(trusting(other));
    String said = String.valueOf(refused(distrusting));
    assertTrue(said.contains("PKIX") || said.contains("closed") || said.contains("init"), said);
    refused(
        CqlSession.builder()
            .addContactPoint(Bed.address("SHELFMARK_SECURED"))
            .withLocalDatacenter(Bed.DATACENTER)
            .withConfigLoader(Bed.options().build()));
    login(System.getenv("SHELFMARK_SECURED_USER"), System.getenv("SHELFMARK_SECURED_PASSWORD")).close();
  }
}

package clients

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// secured opens a session with the server at SHELFMARK_SECURED.
func secured(t *testing.T, user, password, authority string, version int) (*gocql.Session, error) {
	t.Helper()
	host, port, err := net.SplitHostPort(os.Getenv("SHELFMARK_SECURED"))
	if err != nil {
		t.Skip("no server with logins and TLS")
	}
	cluster := gocql.NewCluster(host)
	cluster.Port, _ = strconv.Atoi(port)
	cluster.ProtoVersion = version
	cluster.Timeout, cluster.ConnectTimeout = 30*time.Second, 30*time.Second
	cluster.Consistency = gocql.One
	if user != "" {
		cluster.Authenticator = gocql.PasswordAuthenticator{Username: user, Password: password}
	}
	if authority != "" {
		cluster.SslOpts = &gocql.SslOptions{CaPath: authority, EnableHostVerification: true}
	}
	opened, err := cluster.CreateSession()
	if err == nil {
		t.Cleanup(opened.Close)
	}
	return opened, err
}

func refused(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Fatalf("%q is not in %v", text, err)
	}
}

func TestLoginsAndTLS(t *testing.T) {
	user, password := os.Getenv("SHELFMARK_SECURED_USER"), os.Getenv("SHELFMARK_SECURED_PASSWORD")
	authority := os.Getenv("SHELFMARK_SECURED_AUTHORITY")
	first, err := secured(t, user, password, authority, 4)
	if err != nil {
		t.Fatal(err)
	}
	_, err = secured(t, user, "wrong", authority, 4)
	refused(t, err, fmt.Sprintf("Provided username %s and/or password are incorrect", user))
	_, err = secured(t, "", "", authority, 4)
	refused(t, err, "authentication required")
	_, err = secured(t, user, password, strings.Replace(authority, "authority.pem", "other.pem", 1), 4)
	refused(t, err, "certificate")
	if _, err = secured(t, user, password, "", 4); err == nil {
		t.Fatal("let in without TLS")
	}
	role := fmt.Sprintf("go_%d", time.Now().UnixNano())
	if err := first.Query("CREATE ROLE " + role + " WITH PASSWORD = 'p' AND LOGIN = true").Exec(); err != nil {
		t.Fatal(err)
	}
	second, err := secured(t, role, "p", authority, 4)
	if err != nil {
		t.Fatal(err)
	}
	err = second.Query("DROP ROLE " + role).Exec()
	refused(t, err, "does not have sufficient privileges")
	if err := first.Query("DROP ROLE " + role).Exec(); err != nil {
		t.Fatal(err)
	}
	_, err = secured(t, role, "p", authority, 4)
	refused(t, err, "are incorrect")
}

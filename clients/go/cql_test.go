// Package clients runs gocql against a running server: it prepares every statement and decodes rows
// by the metadata of PREPARED alone.
package clients

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

func session(t *testing.T, version int) *gocql.Session {
	t.Helper()
	host, port, err := net.SplitHostPort(os.Getenv("SHELFMARK_CQL"))
	if err != nil {
		t.Fatal(err)
	}
	cluster := gocql.NewCluster(host)
	cluster.Port, _ = strconv.Atoi(port)
	cluster.ProtoVersion = version
	cluster.Timeout, cluster.ConnectTimeout = 30*time.Second, 30*time.Second
	cluster.Consistency = gocql.One
	opened, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	return opened
}

func TestWritesReadsAndPages(t *testing.T) {
	s := session(t, 4)
	keyspace := fmt.Sprintf("go_%d", time.Now().UnixNano())
	for _, statement := range []string{
		"CREATE KEYSPACE " + keyspace +
			" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE " + keyspace + ".t (k int, c int, v text, m map<text, int>, PRIMARY KEY (k, c))",
	} {
		if err := s.Query(statement).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	metadata, err := s.KeyspaceMetadata(keyspace)
	if err != nil || len(metadata.Tables["t"].Columns) != 4 {
		t.Fatal(err, metadata)
	}
	for c := 0; c < 50; c++ {
		err := s.Query("INSERT INTO "+keyspace+".t (k, c, v, m) VALUES (?, ?, ?, ?)",
			1, c, fmt.Sprint(c), map[string]int{"x": c}).Exec()
		if err != nil {
			t.Fatal(err)
		}
	}
	rows := s.Query("SELECT c, v, m FROM "+keyspace+".t WHERE k = ?", 1).PageSize(7).Iter()
	var c, seen int
	var v string
	var m map[string]int
	for rows.Scan(&c, &v, &m) {
		if c != seen || v != fmt.Sprint(c) || m["x"] != c {
			t.Fatal(c, seen, v, m)
		}
		seen++
	}
	if err := rows.Close(); err != nil || seen != 50 {
		t.Fatal(err, seen)
	}
	applied, err := s.Query("INSERT INTO "+keyspace+".t (k, c, v) VALUES (1, 1, 'z') IF NOT EXISTS").
		MapScanCAS(map[string]interface{}{})
	if err != nil || applied {
		t.Fatal(err, applied)
	}
}

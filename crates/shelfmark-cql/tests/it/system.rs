//! The tables that describe the server: what is listed is so, and what is gone is not.

use crate::wire::{SCHEMA, Wire, face};

fn sum(rows: &[Vec<String>], column: usize) -> i64 {
    rows.iter().map(|row| row[column].parse::<i64>().unwrap()).sum()
}

fn number(text: &str) -> i64 {
    text.trim_matches('\'').parse().unwrap()
}

#[test]
fn indexes_and_views_are_listed_once_they_are_built() {
    let mut wire = Wire::started(&face(), 1);
    let info = "SELECT table_name, index_name, value FROM system.\"IndexInfo\"";
    assert!(wire.rows(info).is_empty());
    SCHEMA.iter().for_each(|text| drop(wire.run(text)));
    assert_eq!(wire.rows(info), [["'k'", "'by_s'", "null"], ["'k'", "'by_v'", "null"]]);
    let one = format!("{info} WHERE table_name = 'k' AND index_name = 'by_v'");
    assert_eq!(wire.rows(&one).len(), 1);
    assert!(wire.rows(&format!("{info} WHERE table_name = 'other'")).is_empty());
    let built = "SELECT * FROM system.built_views";
    assert_eq!(wire.rows(built), [["'k'", "'m'", "true"]]);
    assert!(wire.rows("SELECT * FROM system.view_builds_in_progress").is_empty());
    let status =
        "SELECT keyspace_name, view_name, status FROM system_distributed.view_build_status";
    assert_eq!(wire.rows(status), [["'k'", "'m'", "'SUCCESS'"]]);
    let sai = "SELECT index_name, column_name, is_building, is_queryable, is_string, table_name \
               FROM system_views.sai_column_indexes";
    assert_eq!(wire.rows(sai), [["'by_s'", "'s'", "false", "true", "true", "'t'"]]);
    wire.run("DROP INDEX k.by_v");
    wire.run("DROP MATERIALIZED VIEW k.m");
    assert_eq!(wire.rows(info), [["'k'", "'by_s'", "null"]]);
    assert!(wire.rows(built).is_empty());
}

#[test]
fn size_estimates_cover_the_ring_and_count_partitions() {
    let mut wire = Wire::started(&face(), 1);
    SCHEMA.iter().for_each(|text| drop(wire.run(text)));
    let of_t = "SELECT range_start, range_end, mean_partition_size, partitions_count FROM \
                system.size_estimates WHERE keyspace_name = 'k' AND table_name = 't'";
    let empty = wire.rows(of_t);
    assert_eq!((sum(&empty, 2), sum(&empty, 3)), (0, 0));
    for a in 0..300 {
        wire.run(&format!("INSERT INTO k.t (a, b, v) VALUES ({a}, 1, 1)"));
    }
    let rows = wire.rows(of_t);
    let mut ranges: Vec<(i64, i64)> =
        rows.iter().map(|row| (number(&row[0]), number(&row[1]))).collect();
    let texts: Vec<&String> = rows.iter().map(|row| &row[0]).collect();
    assert!(texts.is_sorted(), "clustered by the text of the token");
    ranges.sort_unstable();
    let mut reached = i64::MIN;
    for (start, end) in ranges {
        assert_eq!(start, reached);
        reached = end;
    }
    assert_eq!((reached, rows.len()), (i64::MIN, 17), "around the ring and back to its start");
    assert_eq!(sum(&rows, 3), 300, "few enough in each range to be counted");
    assert!(rows.iter().all(|row| (10..1_000).contains(&number(&row[2]))), "{rows:?}");
    let of_view = of_t.replace("'t'", "'m'");
    assert_eq!(sum(&wire.rows(&of_view), 3), 1, "all rows of the view lie in one partition");
    let both = "SELECT range_type, partitions_count FROM system.table_estimates WHERE \
                keyspace_name = 'k' AND table_name = 't'";
    let both = wire.rows(both);
    assert_eq!((both.len(), sum(&both, 1)), (34, 600), "as primary and as local ranges");
    let one = "SELECT * FROM system.table_estimates WHERE keyspace_name = 'k' AND table_name = 't' \
               AND range_type = 'primary'";
    assert_eq!(wire.rows(one).len(), 17);
    assert!(wire.rows("SELECT * FROM system.size_estimates WHERE keyspace_name = 'x'").is_empty());
    wire.run("DROP MATERIALIZED VIEW k.m");
    wire.run("DROP TABLE k.t");
    assert!(wire.rows("SELECT * FROM system.size_estimates").is_empty());
}

#[test]
fn open_connections_are_listed_with_what_they_said() {
    let face = face();
    let mut wire = Wire::started(&face, 50_001);
    let other = Wire::started(&face, 50_000);
    let _silent = Wire::new(&face, 50_002);
    wire.run(SCHEMA[0]);
    wire.run("USE k");
    other.connection.encrypted("TLSv1.3", "TLS_AES_128_GCM_SHA256");
    let clients = "SELECT address, port, connection_stage, driver_name, keyspace_name, \
                   protocol_version, ssl_enabled, ssl_protocol, ssl_cipher_suite, username, hostname \
                   FROM system_views.clients";
    let rows = wire.rows(clients);
    let end = ["'anonymous'", "'localhost'"];
    let plain = ["false", "null", "null"];
    let tls = ["true", "'TLSv1.3'", "'TLS_AES_128_GCM_SHA256'"];
    let expected = [
        [&["'127.0.0.1'", "50000", "'ready'", "'test'", "null", "5"][..], &tls, &end].concat(),
        [&["'127.0.0.1'", "50001", "'ready'", "'test'", "'k'", "5"][..], &plain, &end].concat(),
        [&["'127.0.0.1'", "50002", "'established'", "null", "null", "5"][..], &plain, &end]
            .concat(),
    ];
    assert_eq!(rows, expected);
    let counted = "SELECT request_count, client_options['DRIVER_NAME'] FROM system_views.clients \
                   WHERE address = '127.0.0.1' AND port = 50001";
    assert_eq!(wire.rows(counted), [["5", "'test'"]], "STARTUP and four statements");
    drop(other);
    let ports = wire.rows("SELECT port FROM system_views.clients");
    assert_eq!(ports, [["50001"], ["50002"]]);
    let totals = "SELECT name, value FROM system_views.cql_metrics";
    let totals = wire.rows(totals);
    assert!(
        totals.contains(&vec!["'regular_statements_executed'".into(), "6.0".into()]),
        "{totals:?}"
    );
    let pools = wire.rows("SELECT name, active_tasks FROM system_views.thread_pools");
    assert!(pools.contains(&vec!["'Native-Transport-Requests'".into(), "1".into()]), "{pools:?}");
}

#[test]
fn what_a_connection_says_of_itself_is_kept_within_bounds() {
    use bytes::{BufMut as _, BytesMut};
    let face = face();
    let stranger = face.account([127, 0, 0, 1].into());
    let mut connection = shelfmark_cql::Connection::with_account(
        std::sync::Arc::clone(&face),
        ([127, 0, 0, 1], 7).into(),
        Box::new(|| ()),
        stranger,
    );
    let mut body = BytesMut::new();
    let options = [("CQL_VERSION", "3.0.0".to_owned()), ("X", "x".repeat(60_000))];
    body.put_u16(2);
    for (name, value) in options {
        for text in [name, &value] {
            body.put_u16(u16::try_from(text.len()).unwrap());
            body.put_slice(text.as_bytes());
        }
    }
    let mut startup = BytesMut::new();
    startup.put_slice(&[4, 0, 0, 0, 1]);
    startup.put_u32(u32::try_from(body.len()).unwrap());
    startup.put_slice(&body);
    connection.feed(&mut startup);
    let mut wire = Wire::started(&face, 8);
    let kept = wire.rows(
        "SELECT client_options FROM system_views.clients WHERE port = 7 AND address = '127.0.0.1'",
    );
    assert_eq!(kept, [["{'CQL_VERSION': '3.0.0'}"]]);
}

#[test]
fn tables_of_the_machine_say_what_is_known() {
    let mut wire = Wire::started(&face(), 1);
    let properties = wire.rows("SELECT name FROM system_views.system_properties");
    assert_eq!(properties, [["'os.arch'"], ["'os.name'"]]);
    let settings = "SELECT name, value FROM system_views.settings WHERE name IN \
                    ('batch_size_fail_threshold', 'commitlog_sync', 'num_tokens')";
    let settings = wire.rows(settings);
    for (name, value) in
        [("batch_size_fail_threshold", "50KiB"), ("commitlog_sync", "batch"), ("num_tokens", "16")]
    {
        let row = vec![format!("'{name}'"), format!("'{value}'")];
        assert!(settings.contains(&row), "{settings:?}");
    }
    let caches = "SELECT name, capacity_bytes, hit_ratio FROM system_views.caches";
    assert_eq!(wire.rows(caches)[0], ["'counters'", "0", "NaN"]);
    assert!(wire.rows("SELECT * FROM system_views.sstable_tasks").is_empty());
    assert!(wire.rows("SELECT * FROM system.prepared_statements").is_empty());
}

//! The scylla driver: it checks bound values against the types in PREPARED, and pages.

use scylla::client::session_builder::SessionBuilder;

#[tokio::test]
async fn writes_reads_and_pages() {
    let address = std::env::var("SHELFMARK_CQL").unwrap();
    let session = SessionBuilder::new().known_node(address).build().await.unwrap();
    let keyspace = format!("rust_{}", std::process::id());
    for statement in [
        format!(
            "CREATE KEYSPACE {keyspace} WITH replication = \
             {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
        ),
        format!("CREATE TABLE {keyspace}.t (k int, c int, v text, PRIMARY KEY (k, c))"),
    ] {
        session.query_unpaged(statement, ()).await.unwrap();
    }
    let insert = format!("INSERT INTO {keyspace}.t (k, c, v) VALUES (?, ?, ?)");
    let insert = session.prepare(insert).await.unwrap();
    for c in 0..100_i32 {
        session.execute_unpaged(&insert, (1_i32, c, format!("v{c}"))).await.unwrap();
    }
    let mut select =
        session.prepare(format!("SELECT c, v FROM {keyspace}.t WHERE k = ?")).await.unwrap();
    select.set_page_size(7);
    let mut state = scylla::response::PagingState::start();
    let mut seen = Vec::new();
    loop {
        let (page, next) =
            session.execute_single_page(&select, (1_i32,), state).await.unwrap();
        let page = page.into_rows_result().unwrap();
        for row in page.rows::<(i32, String)>().unwrap() {
            let (c, v) = row.unwrap();
            assert_eq!(v, format!("v{c}"));
            seen.push(c);
        }
        match next.into_paging_control_flow() {
            std::ops::ControlFlow::Continue(next) => state = next,
            std::ops::ControlFlow::Break(()) => break,
        }
    }
    assert_eq!(seen, (0..100).collect::<Vec<_>>());
    let wrong = session.execute_unpaged(&insert, ("text", 1_i32, "v")).await;
    assert!(wrong.is_err(), "the driver was told the types");
}

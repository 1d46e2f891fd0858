//! What may be asked of a store, and what needs leave. The store itself is the command's, and tested
//! there; this one only writes down what it was asked.

use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use shelfmark_mcp::{Answered, Store};

use crate::Client;

#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

impl Asked {
    fn note(&self, what: &str) -> Answered {
        self.0.lock().unwrap().push(what.to_owned());
        Answered { text: "[1]".to_owned(), read: "1 range".to_owned() }
    }
}

impl Store for Asked {
    fn tables(&self) -> Result<Json, String> {
        Ok(json!([]))
    }

    fn dynamodb(&self, operation: &str, _: &Json) -> Result<Answered, String> {
        Ok(self.note(operation))
    }

    fn cql(&self, statement: &str) -> Result<Answered, String> {
        Ok(match statement {
            "SELECT long" => Answered { text: "é".repeat(300_000), read: String::new() },
            _ => self.note(statement),
        })
    }
}

#[tokio::test]
async fn what_changes_a_store_needs_leave() {
    let asked = Arc::new(Asked::default());
    let store: Arc<dyn Store> = Arc::<Asked>::clone(&asked);
    let client = Client::connect(Some(Arc::clone(&store)), false).await;
    assert_eq!(client.tools().await.len(), 12);
    let insert = json!({"operation": "ExecuteStatement", "request": {"Statement": "INSERT INTO t VALUE {}"}});
    let put = json!({"operation": "PutItem", "request": {}});
    for (tool, arguments) in [
        ("dynamodb", put.clone()),
        ("dynamodb", insert),
        ("dynamodb", json!({"operation": "ExecuteTransaction", "request": {}})),
        ("dynamodb", json!({"operation": "Nonsense", "request": {}})),
        ("cql", json!({"statement": "/* SELECT */ DELETE FROM t"})),
        ("cql", json!({"statement": "BEGIN BATCH APPLY BATCH"})),
        ("cql", json!({"statement": ""})),
    ] {
        let said = client.refused(tool, arguments).await;
        assert!(said.contains("--allow-writes"), "{said}");
    }
    assert!(asked.0.lock().unwrap().is_empty());
    let select =
        json!({"operation": "ExecuteStatement", "request": "{\"Statement\": \"select * from t\"}"});
    let answered = client.call("dynamodb", select).await;
    assert_eq!(answered, json!({"answer": [1], "read": "1 range"}));
    client.call("cql", json!({"statement": "select * from t"})).await;
    let long = client.call("cql", json!({"statement": "SELECT long"})).await;
    assert!(long["cut"].is_string());
    client.end().await;

    let client = Client::connect(Some(store), true).await;
    client.call("dynamodb", put).await;
    client.call("cql", json!({"statement": "DELETE FROM t"})).await;
    client.end().await;
    let asked = asked.0.lock().unwrap().clone();
    assert_eq!(asked, ["ExecuteStatement", "select * from t", "PutItem", "DELETE FROM t"]);
}

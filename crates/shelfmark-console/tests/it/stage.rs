//! A console over a store in memory, and what tests ask of it.

use std::sync::Arc;

use serde_json::{Value, json};
use shelfmark_admin::http::Request;
use shelfmark_console::{Console, Response};
use shelfmark_cql as cql;
use shelfmark_dynamo::{Face, FaceOptions, RequestHead};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::Store;
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;

pub(crate) struct Stage {
    pub(crate) console: Console,
    pub(crate) dynamodb: Arc<Face>,
    pub(crate) cql: Arc<cql::Face>,
    engine: Engine,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::over(|clock| (Arc::new(MemoryStore::new(clock)), ())).0
    }

    /// Returns a console over a store of one's own, and what comes with that.
    pub(crate) fn over<S: Store + 'static, T>(
        store: impl FnOnce(Arc<dyn Clock>) -> (Arc<S>, T),
    ) -> (Self, T) {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let random = Arc::new(SeededRandom::new(7));
        let environment = Environment { clock: Arc::clone(&clock), random };
        let (store, beside) = store(clock);
        let engine = Engine::open(store, environment.clone()).unwrap();
        let own = engine.of_owner(shelfmark_engine::Owner::DynamoDb);
        let options = FaceOptions::default();
        let dynamodb = Arc::new(Face::new(engine.clone(), environment.clone(), options));
        let pool = Arc::new(cql::Inline);
        let options = cql::FaceOptions::default();
        let cql = cql::Face::open(engine.clone(), environment, options, None, pool);
        let cql = Arc::new(cql.map_err(|error| error.message).unwrap());
        let console = Console::new(engine, Arc::clone(&dynamodb), Arc::clone(&cql));
        (Self { console, dynamodb, cql, engine: own }, beside)
    }

    /// Returns the engine as the DynamoDB face uses it.
    pub(crate) fn dynamodb_engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn operation(&self, operation: &str, body: &Value) -> Value {
        let head = RequestHead::operation(operation);
        let reply = self.dynamodb.call(&head, body.to_string().as_bytes());
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert_eq!(reply.status, 200, "{operation}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) fn statement(&self, text: &str) {
        let asked = self.cql.ask(text, cql::RequestOptions::default());
        asked.map_err(|error| format!("{text}: {}", error.message)).unwrap();
    }

    /// Creates a table of items with a text key `pk`, a sort key `sk`, and an index by `email`.
    pub(crate) fn items(&self, name: &str) {
        self.operation(
            "CreateTable",
            &json!({
                "TableName": name,
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [
                    { "AttributeName": "pk", "AttributeType": "S" },
                    { "AttributeName": "sk", "AttributeType": "S" },
                    { "AttributeName": "email", "AttributeType": "S" },
                ],
                "KeySchema": [
                    { "AttributeName": "pk", "KeyType": "HASH" },
                    { "AttributeName": "sk", "KeyType": "RANGE" },
                ],
                "GlobalSecondaryIndexes": [{
                    "IndexName": "by_email",
                    "KeySchema": [{ "AttributeName": "email", "KeyType": "HASH" }],
                    "Projection": { "ProjectionType": "KEYS_ONLY" },
                }],
            }),
        );
    }

    pub(crate) fn put(&self, table: &str, item: &Value) {
        self.operation("PutItem", &json!({ "TableName": table, "Item": item }));
    }

    pub(crate) fn get(&self, target: &str) -> Response {
        self.console.answer(&Request::get(target))
    }

    /// Returns a page that must be there, as text.
    pub(crate) fn page(&self, target: &str) -> String {
        let response = self.get(target);
        let text = text(&response);
        assert_eq!(response.status, 200, "{target}: {text}");
        text
    }

    pub(crate) fn post(&self, target: &str, body: &Value) -> Response {
        self.console.answer(&Request::post(target, body.to_string()))
    }

    /// Returns the JSON of an answer that must be a success.
    pub(crate) fn done(&self, target: &str, body: &Value) -> Value {
        let response = self.post(target, body);
        let text = text(&response);
        assert_eq!(response.status, 200, "{target}: {text}");
        serde_json::from_str(&text).unwrap()
    }
}

pub(crate) fn text(response: &Response) -> String {
    String::from_utf8(response.body.to_vec()).unwrap()
}

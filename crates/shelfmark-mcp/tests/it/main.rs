//! Sessions of a client of the protocol, as its official SDK speaks it.

#![expect(clippy::unwrap_used, reason = "an answer of another form fails the test")]

mod modelling;
mod store;

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use serde_json::Value as Json;
use shelfmark_mcp::{Settings, Store, serve_streams};

/// A client that is connected to a server of its own.
struct Client {
    service: RunningService<RoleClient, ()>,
    server: tokio::task::JoinHandle<Result<(), String>>,
}

impl Client {
    async fn connect(store: Option<Arc<dyn Store>>, allow_writes: bool) -> Self {
        let (own, other) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(other);
        let settings = Settings { store, allow_writes };
        let server = tokio::spawn(serve_streams(settings, input, output));
        let service = ().serve(tokio::io::split(own)).await.unwrap();
        Self { service, server }
    }

    /// Returns the names of the tools.
    async fn tools(&self) -> Vec<String> {
        let tools = self.service.list_all_tools().await.unwrap();
        tools.iter().map(|tool| tool.name.to_string()).collect()
    }

    async fn ask(&self, tool: &str, arguments: Json) -> CallToolResult {
        let Json::Object(arguments) = arguments else { panic!("arguments are an object") };
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.service.call_tool(request).await.unwrap()
    }

    /// Calls a tool that must succeed.
    async fn call(&self, tool: &str, arguments: Json) -> Json {
        let result = self.ask(tool, arguments).await;
        assert_ne!(result.is_error, Some(true), "{tool}: {result:?}");
        result.structured_content.unwrap()
    }

    /// Calls a tool that must refuse, and returns its words.
    async fn refused(&self, tool: &str, arguments: Json) -> String {
        let result = self.ask(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{tool}: {result:?}");
        result.content.iter().filter_map(|part| part.as_text()).map(|part| &*part.text).collect()
    }

    /// Ends the connection; the server must end with it.
    async fn end(self) {
        self.service.cancel().await.unwrap();
        self.server.await.unwrap().unwrap();
    }
}

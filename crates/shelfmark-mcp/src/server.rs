//! Speaks the protocol over standard streams, or any two streams.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, serve_server};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

use crate::arguments::Arguments;
use crate::data::Store;
use crate::tools;

/// Calls that run at once; others wait.
const CALLS_AT_ONCE: usize = 2;

const INSTRUCTIONS: &str = "Shelfmark designs keys for ordered stores (DynamoDB, Cassandra, its own) \
    from access patterns, and proves each pattern. To design: read `language`, write entities and \
    patterns from the requirements, `check`, `plan` for the target, `prove`, mend what is refused \
    by its witness, then `calls` gives tables and requests. A refusal is a fact about the schema, \
    not an opinion: change the model or the schema, do not argue with it.";

/// The settings of a server: which tools it offers.
#[derive(Clone, Default)]
pub struct Settings {
    /// The store; without one there are the tools on models alone.
    pub store: Option<Arc<dyn Store>>,
    /// True if tools may change the store.
    pub allow_writes: bool,
}

/// The handler of one client.
struct Handler {
    settings: Settings,
    places: Arc<Semaphore>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut config = ServerConfig::new(capabilities);
        config.server_info = Implementation::new("shelfmark", env!("CARGO_PKG_VERSION"));
        config.instructions = Some(INSTRUCTIONS.to_owned());
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list(&self.settings)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let stopped = || ErrorData::internal_error("the server stops", None);
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| stopped())?;
        let settings = self.settings.clone();
        let name = request.name.into_owned();
        let arguments = Arguments::new(request.arguments.unwrap_or_default());
        let known = name.clone();
        let ran = tokio::task::spawn_blocking(move || {
            let ran = tools::run(&settings, &name, &arguments);
            drop(place);
            ran
        });
        // A tool that panics is one call that fails.
        let failed = |_| ErrorData::internal_error("the tool failed; please report it", None);
        let ran = ran.await.map_err(failed)?;
        let Some(ran) = ran else {
            return Err(ErrorData::invalid_params(format!("there is no tool {known}"), None));
        };
        Ok(match ran {
            Ok(value) => CallToolResult::structured(value).into(),
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]).into(),
        })
    }
}

/// Serves one client over standard input and output, until it goes.
///
/// # Errors
///
/// The client did not begin as the protocol says.
pub async fn serve(settings: Settings) -> Result<(), String> {
    let (input, output) = rmcp::transport::stdio();
    serve_streams(settings, input, output).await
}

/// Works as [`serve`], over two streams.
///
/// # Errors
///
/// Those of [`serve`].
pub async fn serve_streams(
    settings: Settings,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let handler = Handler { settings, places: Arc::new(Semaphore::new(CALLS_AT_ONCE)) };
    let running = serve_server(handler, (input, output));
    let running = running.await.map_err(|error| error.to_string())?;
    running.waiting().await.map_err(|error| error.to_string())?;
    Ok(())
}

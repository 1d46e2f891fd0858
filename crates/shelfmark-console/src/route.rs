//! Finds the page of a request.
//!
//! Invariant: reading a page changes nothing; what changes something is a POST.
use shelfmark_admin::http::{Method, Request};

use crate::fault::{Fault, Result};
use crate::fields::decode;
use crate::response::Response;
use crate::{Console, ask, assets, layout, models, rows, server, tables, watch};

/// Answers a request.
pub(crate) fn answer(console: &Console, request: &Request) -> Response {
    let answered = match request.method {
        Method::Get => get(console, request),
        Method::Post => post(console, request),
    };
    let for_script = request.method == Method::Post || request.path.ends_with("/part");
    answered.unwrap_or_else(|fault| match for_script {
        true => {
            let told = serde_json::json!({ "error": fault.message });
            Response::json(fault.status, &told)
        }
        false => layout::fault_page(&fault),
    })
}

/// Returns the decoded parts of a path.
fn parts(path: &str) -> Result<Vec<String>> {
    path.split('/').skip(1).map(|part| decode(part, false)).collect()
}

fn get(console: &Console, request: &Request) -> Result<Response> {
    if let Some(found) = request.path.strip_prefix("/assets/").and_then(assets::find) {
        return Ok(found);
    }
    let parts = parts(&request.path)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        [""] | ["tables", ""] => Ok(Response::to("/tables")),
        ["tables"] => tables::list(console, request),
        ["tables", namespace, name] => tables::page(console, (namespace, name), request),
        ["tables", namespace, name, "key"] => tables::find_key(console, (namespace, name), request),
        ["tables", namespace, name, "rows"] => rows::page(console, (namespace, name), request),
        ["tables", namespace, name, "rows", "part"] => {
            rows::part(console, (namespace, name), request)
        }
        ["ask"] => ask::page(console, request),
        ["models"] => Ok(models::page()),
        ["watch"] => watch::page(console),
        ["watch", "part"] => watch::part(console),
        ["watch", "report"] => watch::download(console, false),
        ["watch", "report.txt"] => watch::download(console, true),
        ["server"] => server::page(console),
        ["sign-in"] => Ok(layout::sign_in()),
        _ => Err(absent(&request.path)),
    }
}

fn post(console: &Console, request: &Request) -> Result<Response> {
    let parts = parts(&request.path)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["tables", namespace, name, "row", what] => {
            rows::act(console, (namespace, name), what, request)
        }
        ["ask", "run"] => ask::run(console, request),
        ["ask", "names"] => ask::names(console, request),
        ["watch", what] => watch::act(console, what, request),
        ["models", what] => models::act(console, what, request),
        _ => Err(absent(&request.path)),
    }
}

fn absent(path: &str) -> Fault {
    Fault::absent(format!("there is no page {path}"))
}

//! The frame of every page: head, navigation, keys.

use maud::{DOCTYPE, Markup, html};

use crate::assets;
use crate::fault::Fault;
use crate::response::Response;

/// The parts of the console, as its navigation lists them: word, address, and key behind `g`.
const PARTS: [(&str, &str, &str); 5] = [
    ("Tables", "/tables", "t"),
    ("Ask", "/ask", "a"),
    ("Models", "/models", "m"),
    ("Watch", "/watch", "w"),
    ("Server", "/server", "s"),
];

/// A page to be shown.
pub(crate) struct Page<'a> {
    /// Its title, before the name of the product.
    pub(crate) title: &'a str,
    /// The part of the console that it belongs to: its address.
    pub(crate) part: &'a str,
    /// The module of its own that it loads, if any.
    pub(crate) script: Option<&'a str>,
}

impl Page<'_> {
    /// Returns the page around its content.
    pub(crate) fn around(&self, content: Markup) -> Response {
        self.with_status(200, content)
    }

    fn with_status(&self, status: u16, content: Markup) -> Response {
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " – Shelfmark" }
                    link rel="icon" type="image/svg+xml" href=(assets::address("icon.svg"));
                    link rel="stylesheet" href=(assets::address("console.css"));
                    script type="module" src=(assets::address("console.js")) {}
                    @if let Some(script) = self.script {
                        script type="module" src=(assets::address(script)) {}
                    }
                }
                body {
                    a class="skip" href="#content" { "Skip to the content" }
                    header {
                        a class="brand" href="/tables" {
                            img src=(assets::address("icon.svg")) alt="" width="20" height="20";
                            "Shelfmark"
                        }
                        nav aria-label="Parts of the console" {
                            @for (word, address, key) in PARTS {
                                a href=(address) data-key=(key)
                                    aria-current=[(address == self.part).then_some("page")] { (word) }
                            }
                        }
                        button type="button" id="keys-button" class="quiet" aria-haspopup="dialog" {
                            "Keys " kbd { "?" }
                        }
                    }
                    main id="content" tabindex="-1" { (content) }
                    (keys())
                    div id="told" role="status" aria-live="polite" {}
                }
            }
        };
        Response::html(status, markup)
    }
}

fn keys() -> Markup {
    let rows = [
        ("/", "to the filter, or to the key"),
        ("g t", "tables"),
        ("g a", "ask"),
        ("g m", "models"),
        ("g w", "watch"),
        ("g s", "server"),
        ("j, k", "next and previous row of a list"),
        ("Enter", "open the row"),
        ("n, p", "next and previous page"),
        ("Ctrl Enter", "run a request, check a model, save a row"),
        ("Esc", "close"),
    ];
    html! {
        dialog id="keys" aria-labelledby="keys-title" {
            h2 id="keys-title" { "Keys" }
            dl class="keys" {
                @for (key, what) in rows { div { dt { kbd { (key) } } dd { (what) } } }
            }
            form method="dialog" { button { "Close" } }
        }
    }
}

/// Returns the page of an error.
pub(crate) fn fault_page(fault: &Fault) -> Response {
    let page = Page { title: "Not shown", part: "", script: None };
    page.with_status(
        fault.status,
        html! {
            h1 { "This cannot be shown" }
            p class="fault" role="alert" { (fault.message) }
            p { a href="/tables" { "All tables" } }
        },
    )
}

/// Returns the page that asks a browser for the console's token.
pub(crate) fn sign_in() -> Response {
    let page = Page { title: "Sign in", part: "", script: Some("sign-in.js") };
    page.around(html! {
        h1 { "Sign in" }
        p { "The server asks for the token of its console: the content of the file that "
            code { "--console-token-file" } " names." }
        form id="sign-in" class="bar" {
            label { "Token "
                input type="password" name="token" required autocomplete="current-password"
                    maxlength="1024" data-focus="filter"; }
            button class="primary" { "Sign in" }
        }
        p id="sign-in-refusal" class="fault" role="alert" hidden {}
    })
}

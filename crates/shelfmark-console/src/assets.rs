//! Files that are part of the command: the style sheet, the scripts, the icon.
//!
//! Invariant: the address of a file changes with its content, so that a browser may keep it.

use std::sync::LazyLock;

use crate::response::Response;

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Names, kinds and contents.
const FILES: [(&str, &str, &str); 9] = [
    ("console.css", "text/css; charset=utf-8", include_str!("../assets/console.css")),
    ("icon.svg", "image/svg+xml", include_str!("../assets/icon.svg")),
    ("console.js", SCRIPT, include_str!("../assets/console.js")),
    ("rows.js", SCRIPT, include_str!("../assets/rows.js")),
    ("ask.js", SCRIPT, include_str!("../assets/ask.js")),
    ("models.js", SCRIPT, include_str!("../assets/models.js")),
    ("server.js", SCRIPT, include_str!("../assets/server.js")),
    ("watch.js", SCRIPT, include_str!("../assets/watch.js")),
    ("sign-in.js", SCRIPT, include_str!("../assets/sign-in.js")),
];

/// A hash of all contents: scripts import each other, so they change together.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in FILES.iter().flat_map(|(_, _, text)| text.bytes()) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{state:016x}")
});

/// Returns the address of a file.
pub(crate) fn address(name: &str) -> String {
    format!("/assets/{}/{name}", *VERSION)
}

/// Returns the file at the end of an address, whichever version was asked for.
pub(crate) fn find(rest: &str) -> Option<Response> {
    let name = rest.split_once('/').map_or(rest, |(_, name)| name);
    let (_, kind, text) = FILES.iter().find(|(own, ..)| *own == name)?;
    Some(Response::asset(kind, text))
}

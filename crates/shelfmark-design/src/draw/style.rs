//! Colours and fonts: one style sheet for pictures and pages, light and dark.
//!
//! Invariant: every class has a colour in both schemes; nothing is loaded from elsewhere.

use std::fmt::Write as _;

/// Number of colours of row types before they repeat.
pub(super) const HUES: usize = 8;

/// A class, its coloured property, and the colour on light and on dark paper.
type Rule = (&'static str, &'static str, &'static str, &'static str);

const RULES: [Rule; 38] = [
    (".paper", "fill", "#ffffff", "#11151b"),
    (".shelf text", "fill", "#1b2430", "#e7ebf0"),
    (".shelf .soft,.shelf .tiny", "fill", "#5d6876", "#9ba7b5"),
    (".card", "fill", "#ffffff", "#181d25"),
    (".card", "stroke", "#c9d1db", "#36404d"),
    (".band", "fill", "#f0f3f7", "#202732"),
    (".rule", "stroke", "#dce2e9", "#2c3541"),
    (".axis", "stroke", "#8e99a7", "#667382"),
    (".lead", "stroke", "#b4bdc8", "#4a5563"),
    (".edge", "stroke", "#7d8998", "#7b8897"),
    (".tip", "fill", "#7d8998", "#7b8897"),
    (".keyed", "fill", "#fff6e0", "#2e2818"),
    (".shelf .certified", "fill", "#1c8a55", "#4cc38a"),
    (".shelf .multi", "fill", "#2b6cc4", "#6ea8fe"),
    (".shelf .refused", "fill", "#c63d33", "#ff7b70"),
    (".shelf .unservable", "fill", "#97721b", "#e0b84c"),
    (".refused-line", "stroke", "#c63d33", "#ff7b70"),
    (".wanted", "fill", "#1c8a55", "#4cc38a"),
    (".foreign", "fill", "#c63d33", "#ff7b70"),
    (".dropped", "fill", "#d08a17", "#e8b04a"),
    (".missed", "stroke", "#c63d33", "#ff7b70"),
    (".missed", "fill", "#ffffff", "#11151b"),
    (".shelf .t0", "fill", "#2f6fb7", "#7ab3f5"),
    (".shelf .t1", "fill", "#2f8f6b", "#66cfa5"),
    (".shelf .t2", "fill", "#a8581f", "#f0a868"),
    (".shelf .t3", "fill", "#7a4fb5", "#bd9bf2"),
    (".shelf .t4", "fill", "#b23a6d", "#f28bb4"),
    (".shelf .t5", "fill", "#5c7a1e", "#b4d468"),
    (".shelf .t6", "fill", "#1f8390", "#67cfdb"),
    (".shelf .t7", "fill", "#80632b", "#d9bd83"),
    (".shelf .on", "fill", "#ffffff", "#11151b"),
    (".shelf .dim", "fill", "#8a94a2", "#78848f"),
    (".link", "fill", "#f4effb", "#251f31"),
    (".shelf .note", "fill", "#5d6876", "#9ba7b5"),
    (".shelf .good", "fill", "#1c8a55", "#4cc38a"),
    (".shelf .bad", "fill", "#c63d33", "#ff7b70"),
    (".shelf .warn", "fill", "#97721b", "#e0b84c"),
    (".shelf .calm", "fill", "#2b6cc4", "#6ea8fe"),
];

const FIXED: &str = "\
.shelf{font-family:ui-sans-serif,system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;max-width:100%;height:auto}\
.shelf .title{font-size:16px;font-weight:600}\
.shelf .head{font-size:13px;font-weight:600}\
.shelf .body{font-size:12px}\
.shelf .soft{font-size:11px}\
.shelf .tiny{font-size:9.5px}\
.shelf .mono{font-size:11.5px}\
.shelf .code{font-size:10.5px}\
.shelf .mono,.shelf .code{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}\
.rule,.axis,.lead,.edge,.refused-line{fill:none;stroke-width:1}\
.axis,.edge{stroke-width:1.4}\
.thick{stroke-width:2}\
.dash{stroke-dasharray:4 3}\
.missed{stroke-width:1.6}\
.wash{fill-opacity:.12}\
.fade{fill-opacity:.3}";

/// Returns the style sheet of pictures.
pub(super) fn sheet() -> String {
    let mut light = String::new();
    let mut dark = String::new();
    for (class, what, on_light, on_dark) in RULES {
        let _ = write!(light, "{class}{{{what}:{on_light}}}");
        let _ = write!(dark, "{class}{{{what}:{on_dark}}}");
    }
    format!("{FIXED}{light}@media (prefers-color-scheme:dark){{{dark}}}")
}

/// Returns the class of a row type.
pub(super) fn hue(number: usize) -> &'static str {
    const NAMES: [&str; HUES] = ["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"];
    NAMES.get(number % HUES).copied().unwrap_or("t0")
}

//! Writes one HTML page for a model: proofs, findings, pictures, certificates, the text.
//!
//! Invariant: the page loads nothing and runs nothing, which its own policy also forbids; every
//! text of the model is escaped.

use std::fmt::Write as _;

use super::svg::escape;
use super::{Scene, View, ranges, style};
use crate::document::{Document, Finding};
use shelfmark_design_language::certificate::Status;
use shelfmark_design_language::certificate::shown::{self, counted};
use shelfmark_design_language::limits::{DRAWN_SCHEMAS_MAX, PAGE_LINES_MAX};
use shelfmark_design_prove::Proof;

const SHEET: &str = "\
:root{color-scheme:light dark;--ink:#1b2430;--soft:#5d6876;--line:#dce2e9;--paper:#fff;--band:#f4f6f9;\
--certified:#1c8a55;--multi:#2b6cc4;--refused:#c63d33;--unservable:#97721b;--error:#c63d33;--warning:#97721b;--note:#2b6cc4}\
@media (prefers-color-scheme:dark){:root{--ink:#e7ebf0;--soft:#9ba7b5;--line:#2c3541;--paper:#11151b;--band:#181d25;\
--certified:#4cc38a;--multi:#6ea8fe;--refused:#ff7b70;--unservable:#e0b84c;--error:#ff7b70;--warning:#e0b84c;--note:#6ea8fe}}\
*{box-sizing:border-box}\
body{margin:0 auto;padding:2rem 1.5rem 5rem;max-width:82rem;background:var(--paper);color:var(--ink);\
font:15px/1.5 ui-sans-serif,system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}\
h1{font-size:1.7rem;margin:0 0 .2rem}h2{font-size:1.25rem;margin:2.6rem 0 .6rem;padding-top:1rem;border-top:1px solid var(--line)}\
h3{font-size:1rem;margin:1.6rem 0 .5rem}p{margin:.4rem 0;max-width:60rem}.soft{color:var(--soft)}\
a{color:inherit;text-underline-offset:.15em}\
table{border-collapse:collapse;font-size:14px}th,td{text-align:left;padding:.28rem .8rem .28rem 0;border-bottom:1px solid var(--line);vertical-align:top}\
th{font-weight:600;color:var(--soft)}\
.scroll{overflow-x:auto}\
.chip{display:inline-block;padding:0 .55em;border-radius:1em;font-size:12.5px;line-height:1.6;border:1px solid currentColor;text-decoration:none;white-space:nowrap}\
.certified{color:var(--certified)}.multi{color:var(--multi)}.refused{color:var(--refused)}.unservable{color:var(--unservable)}\
.error{color:var(--error)}.warning{color:var(--warning)}.note{color:var(--note)}\
code,pre{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:12.5px}\
pre{margin:.5rem 0;padding:.7rem .9rem;background:var(--band);border-radius:6px;overflow-x:auto;max-height:32rem}\
details{margin:.35rem 0}summary{cursor:pointer}details>summary:hover{color:var(--soft)}\
.open{margin:.2rem 0 1rem 1.1rem;scroll-margin-top:4rem}\
figure{margin:.8rem 0 1.6rem;padding:.2rem;border:1px solid var(--line);border-radius:8px;overflow-x:auto}\
figure svg.shelf{display:block;max-width:none}\
figcaption{padding:.5rem .9rem .4rem;color:var(--soft);font-size:13px}\
nav{margin:.8rem 0}nav a{margin-right:1rem}";

pub(super) fn page(document: &Document) -> String {
    let scene = Scene::of(document);
    let findings = document.check();
    let name = escape(document.name());
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <title>{name}</title>\n<style>{SHEET}\n{}</style>\n</head>\n<body>\n",
        style::sheet()
    );
    head(&mut out, document, &scene, &findings);
    matrix(&mut out, &scene);
    let _ = writeln!(out, "<h2 id=\"entities\">{}</h2>", View::Entities.title());
    figure(&mut out, &scene, View::Entities, 0);
    for number in 0..scene.model.schemas.len().min(DRAWN_SCHEMAS_MAX) {
        schema(&mut out, &scene, number, &findings);
    }
    not_shown(&mut out, scene.model.schemas.len(), DRAWN_SCHEMAS_MAX, "schema");
    let general: Vec<&Finding> =
        findings.iter().filter(|finding| finding.schema.is_empty()).collect();
    if !general.is_empty() {
        out.push_str("<h2>Findings in the model itself</h2>\n");
        list(&mut out, &general);
    }
    let _ = writeln!(
        out,
        "<h2 id=\"text\">The model</h2>\n<details><summary>Its text</summary><pre>{}</pre></details>",
        escape(document.source())
    );
    out.push_str("</body>\n</html>\n");
    out
}

/// Writes how many of a list are beyond its limit.
fn not_shown(out: &mut String, total: usize, most: usize, noun: &str) {
    let more = total.saturating_sub(most);
    if more > 0 {
        let _ = writeln!(out, "<p class=\"soft\">{}.</p>", super::left_out(more, noun));
    }
}

fn head(out: &mut String, document: &Document, scene: &Scene<'_>, findings: &[Finding]) {
    let _ = writeln!(out, "<h1>{}</h1>", escape(document.name()));
    // A comment at the head of the text says what the model is of.
    let intro: Vec<&str> =
        document.source().lines().map_while(|line| line.strip_prefix('#')).map(str::trim).collect();
    if !intro.is_empty() {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(&intro.join(" ")));
    }
    let live = findings.iter().filter(|finding| finding.allowed.is_none());
    let count = |word: &str| {
        counted(live.clone().filter(|finding| finding.severity.word() == word).count(), word)
    };
    let _ = writeln!(
        out,
        "<p>{} entities and links, {}, {}, {}. <span class=\"error\">{}</span>, \
         <span class=\"warning\">{}</span>, <span class=\"note\">{}</span>.</p>",
        scene.model.relations.len(),
        counted(scene.model.reads.len(), "read"),
        counted(scene.model.writes.len(), "write"),
        counted(scene.model.schemas.len(), "schema"),
        count("error"),
        count("warning"),
        count("note")
    );
    out.push_str("<nav><a href=\"#entities\">Entities</a>");
    for (number, schema) in scene.model.schemas.iter().enumerate().take(DRAWN_SCHEMAS_MAX) {
        let _ = write!(out, "<a href=\"#s{number}\">{}</a>", escape(&schema.name.text));
    }
    out.push_str("<a href=\"#text\">Text</a></nav>\n");
}

/// Writes a matrix of patterns and schemas, with a chip each.
fn matrix(out: &mut String, scene: &Scene<'_>) {
    let schemas = scene.model.schemas.len().min(DRAWN_SCHEMAS_MAX);
    out.push_str("<div class=\"scroll\"><table>\n<tr><th>pattern</th>");
    for schema in scene.model.schemas.iter().take(schemas) {
        let _ = write!(out, "<th>{}</th>", escape(&schema.name.text));
    }
    out.push_str("</tr>\n");
    let total = scene.model.reads.len() + scene.model.writes.len();
    let of_first: Vec<(usize, &Proof)> =
        scene.proofs.iter().enumerate().filter(|(_, proof)| proof.schema == 0).collect();
    let per_schema = of_first.len();
    for (at, proof) in of_first.into_iter().take(PAGE_LINES_MAX) {
        let kind = if proof.certificate.write { "write" } else { "read" };
        let call = escape(&ranges::call(scene, proof));
        let _ = write!(out, "<tr><td><code>{call}</code> <span class=\"soft\">{kind}</span></td>");
        for number in 0..schemas {
            match scene.proofs.get(at + number * per_schema) {
                Some(other) => {
                    let word = other.certificate.status.word();
                    let failed = other.certificate.obligation.as_deref().unwrap_or("");
                    let _ = write!(
                        out,
                        "<td><a class=\"chip {word}\" href=\"#c{}\">{word}{}{failed}</a></td>",
                        at + number * per_schema,
                        if failed.is_empty() { "" } else { " " }
                    );
                }
                None => out.push_str("<td></td>"),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    not_shown(out, total, PAGE_LINES_MAX, "pattern");
}

fn schema(out: &mut String, scene: &Scene<'_>, number: usize, findings: &[Finding]) {
    let Some(schema) = scene.model.schemas.get(number) else { return };
    let name = escape(&schema.name.text);
    let _ = writeln!(
        out,
        "<h2 id=\"s{number}\">{name} <span class=\"soft\">for {}</span></h2>",
        escape(&schema.target)
    );
    let mut own: Vec<&Finding> =
        findings.iter().filter(|finding| finding.schema == schema.name.text).collect();
    own.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    if own.is_empty() {
        out.push_str("<p class=\"soft\">Nothing was found in this schema.</p>\n");
    } else {
        let _ = writeln!(out, "<h3>Findings</h3>");
        list(out, &own);
    }
    for view in [View::Ranges, View::Aggregate, View::Chebotko] {
        let _ = writeln!(out, "<h3>{}</h3>", view.title());
        figure(out, scene, view, number);
    }
    out.push_str("<h3>Certificates</h3>\n");
    for (at, proof) in scene
        .proofs
        .iter()
        .enumerate()
        .filter(|(_, proof)| proof.schema == number)
        .take(PAGE_LINES_MAX)
    {
        certificate(out, scene, at, proof);
    }
}

fn figure(out: &mut String, scene: &Scene<'_>, view: View, number: usize) {
    let picture = scene.picture(view, number).finish(view.title(), false);
    let caption = match view {
        View::Ranges => {
            "Sample rows in key order; each bar is what one call of a read touches. \
             The rows are made up, the ranges are those of the plan."
        }
        View::Aggregate => "Partitions with their rows, coloured by row type; made up.",
        View::Chebotko => "Key columns are tinted; an arrow leads the reads into their table.",
        View::Entities => "A line ends with a crow's foot at the attribute that refers.",
    };
    let _ = writeln!(out, "<figure><figcaption>{caption}</figcaption>{picture}</figure>");
}

fn list(out: &mut String, findings: &[&Finding]) {
    for finding in findings.iter().take(PAGE_LINES_MAX) {
        let word = finding.severity.word();
        let allowed = match &finding.allowed {
            Some(reason) => format!(" <span class=\"soft\">allowed: {}</span>", escape(reason)),
            None => String::new(),
        };
        let _ = writeln!(
            out,
            "<details><summary><span class=\"chip {word}\">{} {word}</span> {} \
             <span class=\"soft\">line {}</span>{allowed}</summary><div class=\"open\">",
            escape(&finding.id),
            escape(&finding.message),
            finding.line
        );
        if let Some(text) = crate::document::explain(&finding.id) {
            for part in text.split("\n\n").skip(1) {
                let _ = writeln!(out, "<p>{}</p>", escape(part.trim()));
            }
        }
        if let Some(reproducer) = &finding.reproducer {
            let _ = writeln!(
                out,
                "<p class=\"soft\">Shown by</p><pre>{}</pre>",
                escape(&shown::text(reproducer, &finding.message, 0))
            );
        }
        out.push_str("</div></details>\n");
    }
    not_shown(out, findings.len(), PAGE_LINES_MAX, "finding");
}

fn certificate(out: &mut String, scene: &Scene<'_>, at: usize, proof: &Proof) {
    let found = &proof.certificate;
    let word = found.status.word();
    let failed = found.obligation.as_deref().unwrap_or("");
    let _ = writeln!(
        out,
        "<details><summary><span class=\"chip {word}\">{word}{}{failed}</span> \
         <code>{}</code> <span class=\"soft\">{}</span></summary><div class=\"open\" id=\"c{at}\">",
        if failed.is_empty() { "" } else { " " },
        escape(&ranges::call(scene, proof)),
        escape(&found.reason)
    );
    if !found.steps.is_empty() {
        let _ = writeln!(out, "<pre>{}</pre>", escape(&found.steps.join("\n")));
    }
    if found.status != Status::Unservable && !found.write {
        let _ = writeln!(
            out,
            "<p class=\"soft\">Rows by one call: {}</p>",
            escape(&found.rows_max.to_string())
        );
    }
    out.push_str("<div class=\"scroll\"><table>\n");
    for obligation in &found.obligations {
        let (class, mark) =
            if obligation.holds { ("certified", "holds") } else { ("refused", "fails") };
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"{class}\">{mark}</td><td>{}</td></tr>",
            escape(&obligation.id),
            escape(&obligation.evidence)
        );
    }
    out.push_str("</table></div>\n");
    if let Some(witness) = &found.witness {
        let _ = writeln!(
            out,
            "<p class=\"soft\">Witness</p><pre>{}</pre>",
            escape(&shown::text(witness, &found.reason, 0))
        );
    }
    out.push_str("</div></details>\n");
}

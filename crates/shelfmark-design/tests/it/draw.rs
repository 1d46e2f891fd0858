//! Pictures and pages from outside: well formed, self-contained, and safe whatever a model says.

use std::path::PathBuf;

use roxmltree::{Document as Xml, ParsingOptions};
use shelfmark_design::{Document, View};

use super::root;

fn models() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["seeds", "reference"] {
        let path = root().join("../../models").join(folder);
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

fn load(path: &PathBuf) -> Document {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}"));
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("model");
    Document::parse(name, &text).unwrap_or_else(|report| panic!("{report}"))
}

/// Every text that a browser or a viewer would open.
fn outputs(document: &Document) -> Vec<String> {
    let mut all: Vec<String> = View::ALL
        .iter()
        .map(|view| document.draw(*view, None).unwrap_or_else(|why| panic!("{why}")))
        .collect();
    all.push(document.page());
    all
}

const ELEMENTS: [&str; 32] = [
    "svg",
    "style",
    "title",
    "g",
    "rect",
    "line",
    "circle",
    "path",
    "polygon",
    "text",
    "html",
    "head",
    "meta",
    "body",
    "h1",
    "h2",
    "h3",
    "p",
    "span",
    "nav",
    "a",
    "div",
    "table",
    "tr",
    "th",
    "td",
    "code",
    "figure",
    "figcaption",
    "details",
    "summary",
    "pre",
];

const ATTRIBUTES: [&str; 26] = [
    "viewBox",
    "width",
    "height",
    "role",
    "class",
    "x",
    "y",
    "rx",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "d",
    "points",
    "transform",
    "text-anchor",
    "lang",
    "charset",
    "name",
    "content",
    "http-equiv",
    "id",
    "href",
];

/// Elements and attributes are ours only; numbers are numbers; nothing is loaded or run.
fn check(name: &str, text: &str) {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let xml =
        Xml::parse_with_options(text, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    for node in xml.descendants().filter(roxmltree::Node::is_element) {
        let tag = node.tag_name().name();
        assert!(ELEMENTS.contains(&tag), "{name}: an element {tag}");
        for attribute in node.attributes() {
            let (key, value) = (attribute.name(), attribute.value());
            assert!(ATTRIBUTES.contains(&key), "{name}: an attribute {key} of {tag}");
            if key == "href" {
                assert!(value.starts_with('#'), "{name}: a link to {value}");
            }
            if ["x", "y", "width", "height", "points", "d", "viewBox", "cx", "cy"].contains(&key) {
                let bad = value.contains("NaN") || value.contains("inf");
                assert!(!bad, "{name}: {key}={value}");
            }
        }
    }
    for style in xml.descendants().filter(|node| node.tag_name().name() == "style") {
        let sheet = style.text().unwrap_or("");
        assert!(!sheet.contains("url(") && !sheet.contains("@import"), "{name}");
        assert!(sheet.contains("prefers-color-scheme"), "{name}: one scheme only");
    }
}

#[test]
fn pages_are_well_formed_and_self_contained() {
    for path in models() {
        let document = load(&path);
        let page = document.page();
        check(&path.display().to_string(), &page);
        let rest = page.replace("http-equiv", "");
        assert!(!rest.contains("http:") && !rest.contains("https:"), "{}", path.display());
        for schema in document.schemas() {
            assert!(page.contains(&schema));
        }
        for one in document.prove() {
            assert!(page.contains(&one.pattern), "{} is not on the page", one.pattern);
        }
    }
}

#[test]
fn pictures_alone_are_well_formed_and_bring_their_style() {
    let document = load(&root().join("../../models/seeds/reddit.shelf"));
    for view in View::ALL {
        let text = document.draw(view, None).expect("a picture of all schemas");
        check(view.word(), &text);
        assert!(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{}", view.word());
        assert!(text.contains("prefers-color-scheme:dark"), "{}", view.word());
    }
    let one = document.draw(View::Ranges, Some("corrected")).expect("one schema");
    assert!(!one.contains("published") && one.contains("comments_of_post("));
}

#[test]
fn an_unknown_schema_is_an_error_that_names_the_known() {
    let path = root().join("../../models/seeds/followers.shelf");
    let error = load(&path).draw(View::Ranges, Some("nothing")).expect_err("no such schema");
    assert!(error.contains("corrected"), "{error}");
}

/// A model is data: whatever it says, it says as text.
#[test]
fn hostile_texts_stay_texts() {
    let hostile =
        r#"</style></svg><script>alert(1)</script><img src=x onerror="alert(2)">&#x3c;]]>"#;
    let inner = hostile.replace('<', "<<").replace('"', "'");
    let quoted = hostile.replace('"', "'");
    let text = format!(
        "# {hostile}\n\
         entity A {{ key id: text(max 40)  kind: enum(\"{quoted}\", \"b\") count 5 }}\n\
         read all_of(k) = A where kind = k order by id\n\
         write add(i, k) = insert A(id i, kind k)\n\
         schema s target dynamodb \"{quoted}\" {{\n\
           table t {{ pk text sk text row R from A pk \"{inner}#<kind>\" sk \"\u{202e}<id>\" }}\n\
           serve all_of(k) by query t pk \"{inner}#<k>\" sk begins \"\u{202e}\"\n\
         }}\n\
         allow K2 in s because \"{quoted}\"\n"
    );
    let name = format!("{hostile}\u{1}\u{7f}");
    let document = Document::parse(&name, &text).unwrap_or_else(|report| panic!("{report}"));
    let outputs = outputs(&document);
    for text in &outputs {
        check("hostile", text);
        assert!(!text.contains("<script") && !text.contains("<img"), "markup got through");
        assert!(!text.contains('\u{202e}'), "a mark that turns the text got through");
    }
    assert!(outputs.iter().any(|text| text.contains("&lt;script&gt;")), "the texts are shown");
}

/// What is too much is left out and counted, and said so.
#[test]
fn large_models_are_cut() {
    let mut text =
        String::from("entity A { key id: uuid count 5 }\nread one(i) = A where id = i\n");
    for schema in 0..20 {
        text.push_str(&format!("schema s{schema} target shelfmark {{\n"));
        for table in 0..80 {
            text.push_str(&format!("  table t{table} from A key (id;)\n"));
        }
        text.push_str("}\n");
    }
    let document = Document::parse("large", &text).unwrap_or_else(|report| panic!("{report}"));
    let picture = document.draw(View::Chebotko, None).expect("a picture");
    assert!(picture.contains("20 more tables are not drawn"));
    assert!(picture.contains("8 more schemas are not drawn"));
    assert!(picture.contains(">t59<") && !picture.contains(">t60<"), "sixty tables are drawn");
    assert!(picture.contains(">s11<") && !picture.contains(">s12<"), "twelve schemas are drawn");
    let page = document.page();
    assert!(page.contains("8 more schemas are not drawn"));
    assert!(page.len() < 8_000_000, "{} bytes", page.len());
}

//! Two entities and a third, with keys put together at random.

use super::Random;

const TEXTS: [&str; 5] = [
    "text",
    "text(max 20)",
    "text(min 1, max 20, without \"#\")",
    "text(min 1, max 20, only \"a-z\")",
    "text(min 2, max 2, only \"a-z\")",
];
const NUMBERS: [&str; 5] = ["int", "int(0..99)", "int(10..99)", "timestamp", "date"];

/// Returns the model; each key is a random choice of columns, tags, delimiters and codecs.
#[expect(clippy::too_many_lines, reason = "one model from top to bottom")]
pub(super) fn text(random: &mut Random) -> String {
    let mut pick = |items: &[&str]| (*random.pick(items).expect("items")).to_owned();
    let (name, number, id) = (pick(&TEXTS), pick(&NUMBERS), pick(&["uuid", "ulid"]));
    let number_type = number.split('(').next().unwrap_or("").to_owned();
    let key = pick(&[
        "key (id)",
        "key (name, number)",
        "key (parent, name)",
        "key (id)",
        "key (parent, number, name)",
    ]);
    let mut out = format!(
        "entity Parent {{ key id: {id} label: text(max 20) }}\nentity Item {{ parent: Parent name: {name} number: {number} id: uuid kind: enum(\"a\", \"b\", \"ab\") {key} }}\nentity Other {{ key id: {id} name: {name} }}\n"
    );
    for index in 0..3 {
        let wheres = pick(&[
            "",
            "where parent = p",
            "where name = n",
            "where parent = p and name = n",
            "where kind = k",
            "where parent = p and number >= low",
            "where parent = p and number between low and high",
            "where parent = p and name begins n",
            "where parent = p and kind = k and number < high",
            "where number > low",
        ]);
        let order = pick(&[
            "",
            "",
            "order by number",
            "order by number desc",
            "order by name, number",
            "order by name desc",
            "order by kind, number",
        ]);
        let limit = pick(&["", "", "limit 2"]);
        let mut params: Vec<&str> = Vec::new();
        for (param, used) in [
            ("p", "= p"),
            ("n", "name = n"),
            ("n", "begins n"),
            ("k", "= k"),
            ("low", "low"),
            ("high", "high"),
        ] {
            if wheres.contains(used) && !params.contains(&param) {
                params.push(param);
            }
        }
        out.push_str(&format!(
            "read r{index}({}) = Item {wheres} {order} {limit}\n",
            params.join(", ")
        ));
    }
    out.push_str(
        "write add(p, n, m, i, k) = insert Item(parent p, name n, number m, id i, kind k)\n",
    );
    let selects = if key == "key (id)" {
        "id i"
    } else if key.contains("parent, name") {
        "parent p, name n"
    } else if key.contains("parent") {
        "parent p, number m, name n"
    } else {
        "name n, number m"
    };
    let mut params: Vec<&str> = Vec::new();
    for (param, used) in [("p", "parent"), ("n", "name"), ("m", "number"), ("i", "id ")] {
        if selects.contains(used) {
            params.push(param);
        }
    }
    out.push_str(&format!("write drop({}) = delete Item({selects})\n", params.join(", ")));
    out.push_str(&format!(
        "write change({}, k) = update Item({selects}) set kind = k\n",
        params.join(", ")
    ));
    out.push_str("write relabel(p, l) = update Parent(id p) set label = l\n");
    out.push_str("schema s target shelfmark {\n");
    let typed = random.below(3) == 0;
    let tables = 1 + random.below(2);
    for table in 0..tables {
        out.push_str(&if typed {
            typed_table(table, random)
        } else {
            text_table(table, &number_type, random)
        });
    }
    out.push_str("  table parents from Parent key (id;) store all\n}\n");
    out
}

fn shuffled<'a>(items: &[&'a str], random: &mut Random) -> Vec<&'a str> {
    let mut items = items.to_vec();
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at + 1));
    }
    items.truncate(2 + random.below(items.len() - 1));
    items
}

fn typed_table(table: usize, random: &mut Random) -> String {
    let parts = shuffled(&["parent", "name", "number", "id", "kind"], random);
    let (head, rest) = parts.split_at(1);
    let rest: Vec<String> = rest
        .iter()
        .map(|part| if random.below(3) == 0 { format!("{part} desc") } else { (*part).to_owned() })
        .collect();
    let store = if random.below(4) == 0 { "store { parent.label, kind }" } else { "store all" };
    let index = if random.below(3) == 0 {
        let parts = shuffled(&["parent", "name", "number", "kind"], random);
        format!(" index x{table} key ({}; {})", parts[0], parts[1..].join(", "))
    } else {
        String::new()
    };
    format!(
        "  table t{table} from Item key ({}; {}) {store}{index}\n",
        head.join(", "),
        rest.join(", ")
    )
}

fn text_table(table: usize, number: &str, random: &mut Random) -> String {
    let hole = |part: &str, random: &mut Random| {
        let codecs: &[&str] = match (part, number) {
            ("number", "int") => &["", ":pad(2)", ":pad(4)"],
            ("number", "timestamp") => &["", ":iso"],
            ("number", _) => &[""],
            ("name", _) => &["", ":esc"],
            _ => &[""],
        };
        format!("<{part}{}>", random.pick(codecs).expect("codecs"))
    };
    let separators = ["#", "#", "", "~", "#x#"];
    let row = |name: &str, source: &str, columns: &[&str], store: &str, random: &mut Random| {
        let parts = shuffled(columns, random);
        let tag = ["", "i#", "it#", "i"][random.below(4)];
        let mut sk = tag.to_owned();
        for (index, part) in parts.iter().skip(1).enumerate() {
            if index > 0 {
                sk.push_str(separators[random.below(5)]);
            }
            sk.push_str(&hole(part, random));
        }
        let pk = ["p#", ""][random.below(2)];
        format!(
            "    row {name}{table} from {source} pk \"{pk}<{}>\" sk \"{sk}\" {store}\n",
            parts[0]
        )
    };
    let mut out = format!("  table t{table} {{\n");
    out.push_str(&row(
        "a",
        "Item",
        &["parent", "name", "number", "id", "kind"],
        "store all",
        random,
    ));
    if random.below(2) == 0 {
        out.push_str(&row("b", "Other", &["id", "name"], "store all", random));
    }
    out.push_str("  }\n");
    out
}

//! Reads of a parent and its children, or of two kinds of children, with a limit for each row type.
//!
//! Keys are typed columns of a table each, or texts of one collection; plans are one range or a request
//! for each row type, right or changed in something, or are not named.
//!
//! Invariant: a text is a model.

use super::Random;

/// The row types of a read, with what orders each.
struct Asked {
    /// `P`, `C` and `D`, in the order of the read.
    types: Vec<&'static str>,
    /// The attribute of `D` that is called `n` in `C`.
    other: &'static str,
    /// Rows come type by type, and whether types descend; none for a common order.
    by_kind: Option<bool>,
    /// True where children descend.
    desc: bool,
    limits: Vec<Option<String>>,
    /// True if children refer to their parent, and do not only hold its key.
    refers: bool,
    /// An end of what is asked of `C`.
    end: &'static str,
}

pub(super) fn text(random: &mut Random) -> String {
    let target = ["shelfmark", "dynamodb", "cql", "candb"][random.below(4)];
    let texts = target == "candb" || target != "cql" && random.below(2) == 0;
    let asked = asked(random);
    let mut out = entities(&asked);
    out.push_str(&asked.read());
    out.push_str(&format!("schema s target {target} {{\n"));
    out.push_str(&if texts { collection(&asked, random) } else { tables(&asked, random) });
    if random.below(3) > 0 {
        out.push_str(&asked.plan(texts, random));
    }
    out + "}\n"
}

fn asked(random: &mut Random) -> Asked {
    let mut types = vec!["C", "D"];
    if random.below(4) > 0 {
        types = [vec!["P", "C"], vec!["P", "C", "D"], vec!["C", "P"]][random.below(3)].clone();
    }
    let parent = types.contains(&"P");
    let other = if random.below(2) == 0 { "n" } else { "m" };
    let common = !parent && random.below(2) == 0;
    let limits = types.iter().map(|_| match random.below(5) {
        0 => None,
        1 => Some(["k", "l"][random.below(2)].to_owned()),
        _ => Some((1 + random.below(3)).to_string()),
    });
    let mut limits: Vec<Option<String>> = limits.collect();
    if limits.iter().all(Option::is_none) {
        *limits.last_mut().expect("a row type") = Some("2".to_owned());
    }
    Asked {
        types,
        other,
        by_kind: (!common).then(|| random.below(5) == 0),
        desc: random.below(2) == 0,
        limits,
        refers: random.below(4) > 0,
        end: if random.below(6) == 0 { " and C.n < b" } else { "" },
    }
}

fn entities(asked: &Asked) -> String {
    let parent = if asked.refers { "P" } else { "text(min 1, max 5, only \"a-z\")" };
    let other = asked.other;
    format!(
        "entity P {{ key id: text(min 1, max 5, only \"a-z\")  w: int(0..9) }}\n\
         entity C {{ key (p, n)  p: {parent}  n: int(0..9)  v: int(0..9) }}\n\
         entity D {{ key (p, {other})  p: {parent}  {other}: int(0..9)  v: int(0..9) }}\n"
    )
}

impl Asked {
    /// Returns the attribute that orders a type's rows; the parent has none.
    fn order_of(&self, name: &str) -> Option<&'static str> {
        match name {
            "C" => Some("n"),
            "D" => Some(self.other),
            _ => None,
        }
    }

    fn read(&self) -> String {
        let mut inputs = vec!["x"];
        let named = self.limits.iter().flatten();
        for name in ["k", "l"] {
            if named.clone().any(|limit| limit == name) {
                inputs.push(name);
            }
        }
        if !self.end.is_empty() {
            inputs.push("b");
        }
        let desc = if self.desc { " desc" } else { "" };
        let mut order: Vec<String> = Vec::new();
        if let Some(down) = self.by_kind {
            order.push(format!("kind{}", if down { " desc" } else { "" }));
        }
        order.push(match self.by_kind {
            None if self.other != "n" => format!("(C.n, D.m){desc}"),
            _ => format!("n{desc}"),
        });
        if self.by_kind.is_some() && self.other != "n" && self.types.contains(&"D") {
            order.push(format!("D.m{desc}"));
        }
        let keys: Vec<String> =
            self.types.iter().map(|name| format!("{name}.{}", key(name))).collect();
        let limits = self.types.iter().zip(&self.limits);
        let limits: Vec<String> = limits
            .filter_map(|(name, limit)| Some(format!("{} of {name}", limit.as_ref()?)))
            .collect();
        format!(
            "read r({}) = {} where ({}) = x{} order by {} limit {}\n",
            inputs.join(", "),
            self.types.join(" + "),
            keys.join(", "),
            self.end,
            order.join(", "),
            limits.join(", ")
        )
    }

    /// Returns a plan: one range where keys are texts, or a request for each type.
    fn plan(&self, texts: bool, random: &mut Random) -> String {
        if texts && random.below(2) == 0 {
            let desc = if random.below(4) > 0 { " desc" } else { "" };
            let own = self.limits.iter().flatten().find_map(|limit| limit.parse::<usize>().ok());
            let more =
                [self.types.len() - 1, 0, self.types.len()][random.below(8).saturating_sub(5)];
            let limit = own.map_or(" limit k".to_owned(), |own| format!(" limit {}", own + more));
            let limit = if limit.ends_with('k') && !self.limits.contains(&Some("k".to_owned())) {
                String::new()
            } else {
                limit
            };
            return format!("  serve r by query data pk \"p#<x>\"{desc}{limit}\n");
        }
        let mut requests: Vec<String> = self
            .types
            .iter()
            .zip(&self.limits)
            .map(|(name, limit)| self.request(name, limit.as_deref(), texts, random))
            .collect();
        let down = self.by_kind == Some(true);
        if down != (random.below(12) == 0) {
            requests.reverse();
        }
        let sorts = self.by_kind.is_none() && random.below(8) > 0;
        let desc = if self.desc != (random.below(12) == 0) { " desc" } else { "" };
        let name = if self.other == "n" { "n" } else { "(C.n, D.m)" };
        let sort = if sorts { format!(" sort {name}{desc}") } else { String::new() };
        format!("  serve r by {}{sort}\n", requests.join(" and "))
    }

    fn request(&self, name: &str, limit: Option<&str>, texts: bool, random: &mut Random) -> String {
        let limit = limit.filter(|_| random.below(10) > 0);
        let limit = limit.map_or(String::new(), |limit| format!(" limit {limit}"));
        let desc = if self.desc != (random.below(10) == 0) { " desc" } else { "" };
        let end =
            if name == "C" && !self.end.is_empty() && random.below(6) > 0 { " before" } else { "" };
        match (name, texts, end.is_empty()) {
            ("P", true, _) => format!("get data pk \"p#<x>\" sk \"P\"{limit}"),
            (name, true, true) => {
                format!("query data pk \"p#<x>\" sk begins \"{name}#\"{desc}{limit}")
            }
            (name, true, false) => {
                format!(
                    "query data pk \"p#<x>\" sk from \"{name}#\" before \"{name}#<b:pad(1)>\"{desc}{limit}"
                )
            }
            ("P", false, _) => format!("get rows_p (x){limit}"),
            (name, false, true) => format!("query rows_{} (x){desc}{limit}", name.to_lowercase()),
            (name, false, false) => {
                format!("query rows_{} (x) before b{desc}{limit}", name.to_lowercase())
            }
        }
    }
}

fn key(name: &str) -> &'static str {
    if name == "P" { "id" } else { "p" }
}

fn tables(asked: &Asked, random: &mut Random) -> String {
    let mut out = "  table rows_p from P key (id;) store all\n".to_owned();
    for name in ["C", "D"] {
        let order = asked.order_of(name).unwrap_or("n");
        let desc = if random.below(4) == 0 { " desc" } else { "" };
        let table = name.to_lowercase();
        out.push_str(&format!(
            "  table rows_{table} from {name} key (p; {order}{desc}) store all\n"
        ));
    }
    out
}

fn collection(asked: &Asked, random: &mut Random) -> String {
    let mut out = "  table data {\n    pk text  sk text\n".to_owned();
    out.push_str("    row PRow from P pk \"p#<id>\" sk \"P\" store all\n");
    let strange = random.below(6) == 0;
    for name in ["C", "D"] {
        let order = asked.order_of(name).unwrap_or("n");
        let head = if name == "D" && strange { "C#x" } else { name };
        out.push_str(&format!(
            "    row {name}Row from {name} pk \"p#<p>\" sk \"{head}#<{order}:pad(1)>\" store all\n"
        ));
    }
    out + "  }\n"
}

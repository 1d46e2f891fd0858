//! Schemas that use all that plans can do, each beside two mutations of itself.

use super::Random;

/// A replacement in a schema's text, and what it is.
struct Mutation {
    from: &'static str,
    to: &'static str,
}

const TYPED: [Mutation; 15] = [
    // Swapped components.
    Mutation { from: "(owner; at desc, id)", to: "(owner; id, at desc)" },
    Mutation { from: "(doc; fan)", to: "(fan; doc)" },
    Mutation { from: "(owner; title, id)", to: "(title; owner, id)" },
    // A dropped completion column.
    Mutation { from: "(owner; at desc, id)", to: "(owner; at desc)" },
    Mutation { from: "(owner; title, id)", to: "(owner; title)" },
    Mutation { from: "(bucket(hash(id), 3); title, id)", to: "(bucket(hash(id), 3); title)" },
    // A missing step of a write.
    Mutation { from: " ; delete by_owner }", to: " }" },
    Mutation { from: " ; put shards }", to: " }" },
    Mutation { from: "put by_owner ; ", to: "" },
    Mutation { from: " ; delete fans }", to: " }" },
    // A lost limit, a wrong direction, a loop that ends too early.
    Mutation { from: "query by_owner (o) limit n", to: "query by_owner (o)" },
    Mutation { from: "query by_owner (o) limit n", to: "query by_owner (o) desc limit n" },
    Mutation { from: "each b in 0..2", to: "each b in 0..1" },
    Mutation { from: "limit n then sort by title", to: "limit n" },
    Mutation { from: "get docs (i) then sort by title", to: "get docs (i)" },
];

const TEXTUAL: [Mutation; 12] = [
    // A changed codec.
    Mutation { from: "d#<title:esc>#<id>", to: "d#<title>#<id>" },
    Mutation { from: "n#<title:esc>#<id>", to: "n#<title>#<id>" },
    Mutation { from: "t#<at:pad(4)>#<id>", to: "t#<at>#<id>" },
    Mutation { from: "t#<at:pad(4)>#<id>", to: "t#<at:pad(2)>#<id>" },
    // An ambiguous prefix.
    Mutation { from: "\"n#<title", to: "\"d<title" },
    Mutation { from: "\"n#<title", to: "\"d#<title" },
    Mutation { from: "sk begins \"d#\"", to: "sk begins \"d\"" },
    // A dropped completion column, swapped components.
    Mutation { from: "t#<at:pad(4)>#<id>", to: "t#<at:pad(4)>" },
    Mutation { from: "t#<at:pad(4)>#<id>", to: "t#<id>#<at:pad(4)>" },
    // A sentinel in the place of the successor.
    Mutation { from: "sk begins \"d#<t:esc>\"", to: "sk from \"d#<t:esc>\" to \"d#<t:esc>~\"" },
    Mutation { from: "sk begins \"d#\"", to: "sk from \"d#\" to \"d#~\"" },
    Mutation { from: " filter state = s", to: " filter state = \"open\"" },
];

pub(super) fn text(random: &mut Random) -> String {
    let pick = |items: &[&'static str], random: &mut Random| *random.pick(items).expect("items");
    let name = pick(
        &["text", "text(max 20)", "text(min 1, max 9, without \"#\")", "text(max 9, only \"a-z\")"],
        random,
    );
    let at = pick(&["int(0..9999)", "int(1000..9999)", "int(0..9999)"], random);
    let id = pick(&["uuid", "ulid"], random);
    let fanout = pick(&["", "  fanout owner max 4\n"], random);
    let mut out = format!(
        "entity Owner {{ key id: {id} label: {name} }}\n\
         entity Doc {{\n  key id: {id}\n  owner: Owner immutable\n  title: {name}\n  at: {at}\n  state: enum(\"open\", \"done\")\n{fanout}}}\n\
         entity Note {{\n  key id: {id}\n  owner: Owner immutable\n  title: {name}\n}}\n\
         link Fan from Doc to Owner as fan {{ since: {at} }}\n\
         read newest(o, n) = Doc where owner = o order by at desc limit n\n\
         read labelled(o, n) = Doc with owner.label where owner = o order by at desc limit n\n\
         read owned(o) = Doc where owner = o\n\
         read by_state(o, s) = Doc where owner = o and state = s\n\
         read of_owners(os: list of {id} (max 3)) = Doc where owner in os max 3\n\
         read picked(ids: list of {id} (max 3)) = Doc where id in ids max 3 order by title\n\
         read fans_of(ds: list of {id} (max 3)) = Fan select distinct fan where doc in ds max 3\n\
         read by_title(n) = Doc order by title limit n\n\
         read how_many(o) = count of Doc where owner = o\n\
         read page(o) = Doc + Note where owner = o order by kind, title\n\
         read starting(o, t) = Doc where owner = o and title begins t order by title\n\
         read between_times(o, a, b) = Doc where owner = o and at between a and b order by at\n\
         read fans(d) = Fan where doc = d\n\
         read is_fan(d, f) = Fan where doc = d and fan = f unique\n\
         read liked(f) = Fan with doc.title where fan = f order by doc\n\
         write add(i, o, t, a) = insert Doc(id i, owner o, title t, at a, state \"open\")\n\
         write remove(i) = delete Doc(id i)\n\
         write finish(i) = update Doc(id i) set state = \"done\"\n\
         write move(i, a) = update Doc(id i) set at = a\n\
         write like(d, f, a) = link Fan(doc d, fan f) set since = a\n\
         write unlike(d, f) = unlink Fan(doc d, fan f)\n\
         write relabel(o, l) = update Owner(id o) set label = l\n\
         write move_own(i, o, a) = update Doc(id i, owner o) set at = a\n\
         write end(i, s) = update Doc(id i, state \"open\") set state = \"done\" and delete Doc(id i, state s)\n\
         write post_liked(i, o, t, a, f) = link Fan(doc i, fan f) set since = a and insert Doc(id i, owner o, title t, at a, state \"open\") unless exists\n\
         write renew(o, l) = delete Owner(id o) and insert Owner(id o, label l)\n\
         write flash(d, f, a) = link Fan(doc d, fan f) set since = a or replace and unlink Fan(doc d, fan f)\n\
         write note(i, o, t) = insert Note(id i, owner o, title t) unless exists\n"
    );
    let (base, mutations): (String, &[Mutation]) =
        if random.below(2) == 0 { (typed(random), &TYPED) } else { (textual(random), &TEXTUAL) };
    out.push_str(&format!("schema right {base}"));
    let fitting: Vec<&Mutation> =
        mutations.iter().filter(|mutation| base.contains(mutation.from)).collect();
    for number in 0..2 {
        if let Some(mutation) = random.pick(&fitting) {
            let mutated = base.replacen(mutation.from, mutation.to, 1);
            out.push_str(&format!("schema mutated{number} {mutated}"));
        }
    }
    out
}

fn typed(random: &mut Random) -> String {
    let target = ["shelfmark", "shelfmark", "cql", "dynamodb"][random.below(4)];
    let copies = random.below(2) == 0;
    let label = if copies { "store { title, state, owner.label }" } else { "store all" };
    let liked = if random.below(2) == 0 {
        "  table liked from Fan key (fan; doc) store { doc.title, since }\n"
    } else {
        "  table liked from Fan key (fan; doc) store { since }\n"
    };
    let writes = if random.below(2) == 0 || copies {
        String::new()
    } else {
        "  write add { transaction { put docs ; put by_owner ; put titles ; put shards } }\n  \
           write remove { transaction { read docs ; delete docs ; delete titles ; delete shards ; delete by_owner } }\n  \
           write unlike { transaction { delete liked ; delete fans } }\n"
            .to_owned()
    };
    let how = if random.below(2) == 0 { "  serve how_many(o) by get owners (o)\n" } else { "" };
    let count = if how.is_empty() { "all" } else { "{ label, count Doc as docs }" };
    format!(
        "target {target} {{\n  \
         table owners from Owner key (id;) store {count}\n  \
         table docs from Doc key (id;) store all\n  \
         table by_owner from Doc key (owner; at desc, id) {label}\n  \
         table titles from Doc key (owner; title, id) store {{ at, state }}\n  \
         table shards from Doc key (bucket(hash(id), 3); title, id) store {{ owner, at, state }}\n  \
         table notes from Note key (owner; title, id)\n  \
         table fans from Fan key (doc; fan) store all\n{liked}  \
         serve newest(o, n) by query by_owner (o) limit n\n  \
         serve labelled(o, n) by query by_owner (o) limit n then get owners (row.owner)\n  \
         serve by_state(o, s) by query by_owner (o) then filter state = s\n  \
         serve of_owners(os) by each u in os query titles (u)\n  \
         serve picked(ids) by each i in ids get docs (i) then sort by title\n  \
         serve fans_of(ds) by each d in ds query fans (d)\n  \
         serve by_title(n) by each b in 0..2 query shards (b) limit n then sort by title then take n\n\
         {how}{writes}}}\n"
    )
}

fn textual(random: &mut Random) -> String {
    let target = ["candb", "dynamodb", "shelfmark"][random.below(3)];
    let serves = if random.below(2) == 0 {
        "  serve starting(o, t) by query data pk \"o#<o>\" sk begins \"d#<t:esc>\"\n  \
         serve owned(o) by query data pk \"o#<o>\" sk begins \"d#\"\n  \
         serve page(o) by query data pk \"o#<o>\"\n"
    } else {
        "  serve owned(o) by query data pk \"o#<o>\" sk begins \"d#\"\n  \
         serve by_state(o, s) by query data pk \"o#<o>\" sk begins \"d#\" then filter state = s\n"
    };
    format!(
        "target {target} {{\n  \
         table data {{\n    \
         pk text  sk text\n    \
         row DocRow from Doc pk \"o#<owner>\" sk \"d#<title:esc>#<id>\" store all\n    \
         row NoteRow from Note pk \"o#<owner>\" sk \"n#<title:esc>#<id>\" store all\n  }}\n  \
         table times {{\n    \
         pk text  sk text\n    \
         row TimeRow from Doc pk \"o#<owner>\" sk \"t#<at:pad(4)>#<id>\" store all\n    \
         row FanRow from Fan pk \"d#<doc>\" sk \"f#<fan>\" store all\n  }}\n\
         {serves}}}\n"
    )
}

//! Commands of our own with every quirk that the forgiving mode knows, and the document they come
//! from, where it is there.

use std::path::Path;

use super::{
    AttributeValue, CliError, Command, Mode, Script, Value, Warning, document, parse, script,
};

fn read(script: &Script, mode: Mode) -> (Vec<Command>, Vec<Warning>, Vec<CliError>) {
    let (mut commands, mut warnings, mut errors) =
        (Vec::new(), script.warnings.clone(), Vec::new());
    for piece in &script.pieces {
        match parse(piece, mode, &mut warnings) {
            Ok(command) => commands.push(command),
            Err(error) => errors.push(error),
        }
    }
    (commands, warnings, errors)
}

fn one(text: &str, mode: Mode) -> Result<(Command, Vec<Warning>), CliError> {
    let script = script(text, mode);
    assert_eq!(script.pieces.len(), 1, "{text}");
    let mut warnings = script.warnings.clone();
    let command = parse(&script.pieces[0], mode, &mut warnings)?;
    Ok((command, warnings))
}

/// Reads a text that both modes read alike, without a warning.
#[track_caller]
fn plain(text: &str) -> Command {
    let strict = one(text, Mode::Strict).unwrap();
    assert_eq!(strict, one(text, Mode::Forgiving).unwrap());
    assert_eq!(strict.1, []);
    strict.0
}

#[track_caller]
fn refused(text: &str, message: &str) {
    assert_eq!(one(text, Mode::Strict).unwrap_err().text(), message);
}

/// Reads a text that forgiving mode alone reads; returns its warnings.
#[track_caller]
fn mended(text: &str, as_if: &str) -> Vec<String> {
    assert!(one(text, Mode::Strict).is_err(), "strict mode reads {text}");
    let (command, warnings) = one(text, Mode::Forgiving).unwrap();
    assert_eq!(command, plain(as_if));
    assert!(!warnings.is_empty());
    warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn every_command_is_read() {
    assert_eq!(
        plain("SET Wall['k'][c] = 'v' WITH TTL = 60;"),
        plain("set Wall['k'][c]\n= 'v'\n  with ttl = 60;"),
    );
    for text in [
        "connect localhost/9160;",
        "connect 127.0.0.1/9160 ann 'secret';",
        "use Pinboard;",
        "use Pinboard ann 'secret';",
        "create keyspace Pinboard;",
        "create keyspace P with placement_strategy = 'org.x.SimpleStrategy' and strategy_options = {replication_factor:1};",
        "create keyspace P with strategy_options = [{replication_factor:1}] and durable_writes = false;",
        "update keyspace P with replication_factor = 3;",
        "drop keyspace P;",
        "create column family Wall with comparator = LongType and read_repair_chance = 0.5;",
        "create column family W with column_metadata = [{column_name: a, validation_class: LongType}, {column_name: b, validation_class: UTF8Type, index_type: KEYS}];",
        "create column family W with compression_options = {sstable_compression: x, deep: {a: 1}};",
        "update column family Wall with comment = 'x';",
        "drop column family Wall;",
        "drop index on Wall.author;",
        "set Wall[utf8('k')][timeuuid()] = long(5);",
        "set Wall['k'][-5] = 'it\\'s \\x41\\u00e9';",
        "set Wall['k']['super']['sub'] = 1;",
        "get Wall['k'];",
        "get Wall['k']['c'] as UTF8Type limit 5;",
        "get Wall where author = 'ann' and at >= 5 limit 7;",
        "list Wall;",
        "list Wall['a':'b'] limit 10;",
        "list Wall[:];",
        "list Wall[a:];",
        "count Wall['k'];",
        "del Wall['k']['c'];",
        "truncate Wall;",
        "incr Hits['k']['c'] by -3;",
        "decr Hits['k']['c'];",
        "assume Wall keys as utf8;",
        "consistencylevel as QUORUM;",
        "describe;",
        "describe Wall;",
        "describe cluster;",
        "describe ring P;",
        "show keyspaces;",
        "show schema;",
        "show cluster name;",
        "show api version;",
        "help;",
        "help create column family;",
        "?;",
        "quit;",
        "exit;",
        ";",
    ] {
        plain(text);
    }
}

#[test]
fn texts_and_escapes_keep_their_meaning() {
    let Command::Set { value, cell, .. } = plain("set W['a\\n']['b'] = 'it\\'s \\x41\\u00e9\\0';")
    else {
        panic!()
    };
    assert_eq!(value, Value::Text("it's A\u{e9}\0".to_owned()));
    assert_eq!(cell.key, Value::Text("a\n".to_owned()));
}

#[test]
fn commas_between_hashes_may_be_missing() {
    let with = "create column family W with column_metadata = [{a: b}, {c: d, e: f}];";
    assert_eq!(plain(with), plain(&with.replace("},", "}")));
}

#[test]
fn a_command_ends_where_a_line_ends_with_a_semicolon() {
    let text = "-- a remark; it says nothing\nset W['a']['b']\n   = 'x; y';\n/* and\n this; */\nget W['a'];\nlist W";
    let script = script(text, Mode::Strict);
    let texts: Vec<&str> = script.pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(texts, ["set W['a']['b'] = 'x; y';", "get W['a'];", "list W"]);
    assert!(script.unfinished);
    assert_eq!(script.pieces[0].last_line, 3);
    let place = script.pieces[0].place(16);
    assert_eq!((place.line, place.column), (3, 4));
}

#[test]
fn strict_mode_speaks_like_the_original() {
    refused("sing a song;", "Command not found: `sing a song;`. Type 'help;' or '?' for help.");
    refused("set W['a' = 'b';", "Syntax error at position 10: mismatched input '=' expecting ']'");
    refused(
        "set W[\u{2018}a\u{2019}]['b'] = 'c';",
        "Syntax error at position 6: unexpected \"\u{2018}\" for `set W[\u{2018}a\u{2019}]['b'] = 'c'`.",
    );
    refused(
        "get W['a'] limit x;",
        "Syntax error at position 17: mismatched input 'x' expecting IntegerPositiveLiteral",
    );
}

#[test]
fn curly_quotes_are_mended() {
    let as_if = "set W['k']['c'] = 'v';";
    assert_eq!(
        mended("set W[\u{2018}k\u{2019}][\u{201c}c\u{201d}] = \u{2018}v';", as_if),
        [
            "1:7: curly quotes read as straight ones",
            "1:12: curly quotes read as straight ones",
            "1:19: curly quotes read as straight ones"
        ],
    );
    assert_eq!(
        mended("set W['k']['c'] = 'v\u{2019};", as_if),
        ["1:19: a quote opened straight and closed curly"],
    );
}

#[test]
fn quotes_that_are_never_closed_end_at_a_bracket_or_the_semicolon() {
    let as_if = "set W['k']['12'] = 'v';";
    assert_eq!(
        mended("set W[\u{2018}k\u{2019}][\u{2018}12]\n   = \u{2018}v;", as_if),
        [
            "1:7: curly quotes read as straight ones",
            "1:12: the quote is never closed; it ends before the bracket",
            "2:6: the quote is never closed; it ends before the semicolon"
        ],
    );
    let text = "set W['k']['c'] = \u{2018}see [1] or [2], or not\u{2019};";
    let Command::Set { value, .. } = one(text, Mode::Forgiving).unwrap().0 else { panic!() };
    assert_eq!(value, Value::Text("see [1] or [2], or not".to_owned()));
}

#[test]
fn wide_spaces_are_spaces() {
    let text = "create column family W\n\u{a0}with\u{a0}comparator = UTF8Type\u{a0}\u{3000};\u{a0}";
    let warnings = mended(text, "create column family W with comparator = UTF8Type;");
    assert_eq!(warnings, ["2:6: 3 no-break or other wide spaces read as plain ones"]);
}

#[test]
fn of_two_types_the_last_one_counts() {
    let text = "create column family W with comparator = UTF8Type LongType and comment = x;";
    let warnings =
        mended(text, "create column family W with comparator = LongType and comment = x;");
    assert_eq!(warnings, ["1:51: two values, UTF8Type and LongType; LongType counts"]);
}

#[test]
fn foreign_comments_are_left_out() {
    let script = script("// one; two;\nget W['a'];", Mode::Forgiving);
    assert_eq!(script.pieces.len(), 1);
    assert_eq!(script.warnings[0].place().line, 1);
    let strict = super::script("// one; two;\nget W['a'];", Mode::Strict);
    assert_eq!(read(&strict, Mode::Strict).2.len(), 1);
}

#[test]
fn hashes_end_at_a_depth() {
    let text = format!("create keyspace K with a = {}1{};", "{a:".repeat(5000), "}".repeat(5000));
    assert!(one(&text, Mode::Strict).unwrap_err().text().contains("nested deeper"));
}

#[test]
fn commands_are_taken_out_of_a_document() {
    let text = "How to keep a wall\n\nWe create the keyspace first; then use it.\n\
                create keyspace Pinboard\n\nwith strategy_options = [{replication_factor:1}];\n\
                create column family Wall\u{a0} with comparator = UTF8Type \u{a0}LongType\n\
                and column_metadata = [{column_name: a, validation_class: UTF8Type}\n\
                {column_name: b, validation_class: LongType, index_type: KEYS}\n];\n\
                // the first note\nset WALL[\u{2018}ann\u{2019}][\u{2018}1\u{2019}]\n   = \u{2018}hello;\n\
                select * from Wall;\nset the table\nlist the guests, please;\nlist Wall;\n";
    let script = document(text);
    let (commands, warnings, errors) = read(&script, Mode::Forgiving);
    assert_eq!(errors, []);
    let names: Vec<&str> = commands
        .iter()
        .map(|command| match command {
            Command::CreateKeyspace(_) => "keyspace",
            Command::CreateColumnFamily(_) => "family",
            Command::Set { .. } => "set",
            Command::List { .. } => "list",
            _ => "other",
        })
        .collect();
    assert_eq!(names, ["keyspace", "family", "set", "list"]);
    assert_eq!(script.prose_lines, 5);
    assert_eq!(warnings.len(), 6, "{warnings:#?}");
}

/// The scripts that the forgiving mode was made for, exactly as they stand in their document.
#[test]
fn the_document_itself_is_read() {
    let Some(text) = seed_document() else {
        eprintln!("../shared/seeds/002* is not there: its scripts were not read");
        return;
    };
    let script = document(&text);
    let (commands, warnings, errors) = read(&script, Mode::Forgiving);
    assert_eq!(errors, []);
    let count = |wanted: fn(&Command) -> bool| commands.iter().filter(|c| wanted(c)).count();
    assert_eq!(count(|command| matches!(command, Command::CreateKeyspace(_))), 1);
    assert_eq!(count(|command| matches!(command, Command::CreateColumnFamily(_))), 5);
    assert_eq!(count(|command| matches!(command, Command::Set { .. })), 26);
    assert_eq!(commands.len(), 32);
    assert!(script.prose_lines > 100);
    let said = |part: &str| warnings.iter().filter(|warning| warning.text().contains(part)).count();
    assert_eq!(said("never closed"), 6);
    assert_eq!(said("LongType counts"), 3);
    assert_eq!(said("begins no comment"), 2);
    let long = commands.iter().filter(|command| match command {
        Command::CreateColumnFamily(family) => family.attributes.iter().any(|attribute| {
            attribute.name == "comparator"
                && attribute.value == AttributeValue::Text("LongType".to_owned())
        }),
        _ => false,
    });
    assert_eq!(long.count(), 3);
}

/// Returns the document, where it is there.
pub(super) fn seed_document() -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    #[expect(clippy::disallowed_methods, reason = "a test reads a file that may not be there")]
    let mut entries = std::fs::read_dir(folder).ok()?;
    let path = entries.find_map(|entry| {
        let entry = entry.ok()?;
        entry.file_name().to_str()?.starts_with("002").then(|| entry.path())
    })?;
    #[expect(clippy::disallowed_methods, reason = "a test reads a file that may not be there")]
    String::from_utf8(std::fs::read(path).ok()?).ok()
}

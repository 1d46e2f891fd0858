//! Bodies, what they compute, and what they are refused for.

use std::sync::Arc;

use super::{CompileError, DataType, Fields, Host, Program, Value};

struct Nothing;

impl Host for Nothing {
    fn find_type(&self, _text: &str) -> Option<DataType> {
        None
    }

    fn now_milliseconds(&self) -> i64 {
        0
    }

    fn random(&self) -> u128 {
        0
    }
}

/// Compiles a body of `Integer a`, `String s`, `List<Integer> l`, `Map<String, Integer> m`.
fn compiled(returns: DataType, body: &str) -> Result<Program, CompileError> {
    let list = DataType::List(Box::new(DataType::Int));
    let map = DataType::Map(Box::new(DataType::Text), Box::new(DataType::Int));
    let named = [("a", DataType::Int), ("s", DataType::Text), ("l", list), ("m", map)];
    let parameters = named.map(|(name, ty)| (name.to_owned(), ty)).to_vec();
    Program::compile(parameters, returns, false, body)
}

fn called(program: &Program) -> Result<String, String> {
    let arguments = vec![
        Value::Int(10),
        Value::text("abc"),
        Value::list(vec![Value::Int(1), Value::Int(2), Value::Int(3)]),
        Value::map(vec![(Value::text("x"), Value::Int(1))]),
    ];
    let found = program.call(arguments, &Nothing).map_err(|failure| failure.text)?;
    Ok(match found {
        Value::Text(own) => String::from_utf16_lossy(&own),
        Value::Int(own) => own.to_string(),
        other => format!("{other:?}"),
    })
}

/// Runs the expression of a text.
fn check(body: &str, wanted: &str) {
    let program = compiled(DataType::Text, body).unwrap_or_else(|error| panic!("{body}: {error}"));
    assert_eq!(called(&program).as_deref(), Ok(wanted), "{body}");
}

fn fails(body: &str, wanted: &str) {
    let program = compiled(DataType::Text, body).unwrap_or_else(|error| panic!("{body}: {error}"));
    assert_eq!(called(&program), Err(wanted.to_owned()), "{body}");
}

fn refused(body: &str, wanted: &str) {
    let error = compiled(DataType::Int, body).expect_err(body).to_string();
    let message = error.strip_prefix("Java source compilation failed:\n").unwrap_or(&error);
    assert_eq!(message.trim_end(), wanted, "{body}");
}

#[test]
fn operators_are_those_of_java() {
    check("return \"\" + (a / 3) + (a % 3) + (-a / 3) + (-a % 3) + a / 4.0;", "31-3-12.5");
    check(
        "return \"\" + (Integer.MAX_VALUE + 1) + (long) Integer.MIN_VALUE;",
        "-2147483648-2147483648",
    );
    check("return \"\" + (1 << 33) + (-1 >>> 28) + (-1L >>> 60) + (-8 >> 1);", "21515-4");
    check("return 1 + 2 + \"x\" + 1 + 2 + 'c' + (char) ('c' + 1) + ('c' + 1);", "3x12cd100");
    check("int i = 5; return \"\" + i++ + ++i + (i -= 3) + (i <<= 2) + i;", "5741616");
    check("byte b = (byte) 200; b += 100; short t = 5; t++; return \"\" + b + t;", "446");
    check(
        "int[] r = {1, 2, 3}; r[1] += 5; r[2]++; return r[0] + \",\" + r[1] + \",\" + r[2];",
        "1,7,4",
    );
    check(
        "return \"\" + (0.1 + 0.2) + 1e10 + 1e-5 + 100.0 + 1.0f / 3;",
        "0.300000000000000041.0E101.0E-5100.00.33333334",
    );
    check(
        "return \"\" + (int) 3.99 + (int) 1e20 + (long) -2.5 + (byte) 300 + (int) Double.NaN;",
        "32147483647-2440",
    );
    check(
        "Integer x = 1000; Integer y = 1000; return \"\" + (x == y) + x.equals(y) + (x <= y);",
        "falsetruetrue",
    );
    check("return \"\" + (a > 5 ? 1 : 2.5) + (a > 5 ? 'x' : 0);", "1.0x");
    check("boolean b = a > 3 & a < 20 ^ false; b |= false; return \"\" + b + !b;", "truefalse");
}

#[test]
fn statements_are_those_of_java() {
    check("int q = 0; for (int x : l) q += x; return \"\" + q;", "6");
    check("int i = 0; do { i++; if (i == 3) continue; } while (i < a); return \"\" + i;", "10");
    check(
        "String r = \"\"; o: for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) { if (j == 2) continue o; if (i == 2) break o; r += i + j; } return r;",
        "0112",
    );
    check(
        "switch (a) { case 1: return \"one\"; case 10: case 11: s += \"!\"; default: s += \"?\"; } return s;",
        "abc!?",
    );
    check("switch (s) { case \"abc\": return \"yes\"; } return \"no\";", "yes");
    check(
        "try { Integer.parseInt(s); return \"a\"; } catch (NumberFormatException e) { return e.getMessage(); } finally { a = 1; }",
        "For input string: \"abc\"",
    );
    check(
        "String r = \"\"; try { try { r += 1; throw new IllegalStateException(\"x\"); } finally { r += 2; } } catch (RuntimeException e) { r += e; } return r;",
        "12java.lang.IllegalStateException: x",
    );
    check(
        "for (Map.Entry<String, Integer> e : m.entrySet()) return e.getKey() + e.getValue(); return null;",
        "x1",
    );
    check("var q = new ArrayList<String>(); q.add(s); for (var z : q) s += z; return s;", "abcabc");
    check(
        "StringBuilder b = new StringBuilder(); b.append(1).append('c').append(2.5).insert(0, \"<\").reverse(); return b.toString();",
        "5.2c1<",
    );
    check("int x; if (a > 3) x = 1; else x = 2; return \"\" + x;", "1");
    check("for (;;) { if (a > 12) break; a++; } return \"\" + a;", "13");
}

#[test]
fn classes_do_what_they_do_in_java() {
    check(
        "return s.toUpperCase() + s.indexOf(\"c\") + s.substring(1, 2) + s.replace('a', 'z') + s.hashCode() + s.compareTo(\"abd\");",
        "ABC2bzbc96354-1",
    );
    check(
        "return String.format(\"%s-%05d-%.2f\", s, 42, 1.5) + String.join(\",\", \"p\", \"q\");",
        "abc-00042-1.50p,q",
    );
    check(
        "return new java.math.BigDecimal(\"1.10\").add(java.math.BigDecimal.ONE).toString();",
        "2.10",
    );
    check(
        "return new java.math.BigDecimal(\"10\").divide(new java.math.BigDecimal(\"4\")).toString();",
        "2.5",
    );
    check("return java.math.BigInteger.valueOf(2).pow(70).toString();", "1180591620717411303424");
    check(
        "Map<String, Integer> r = new TreeMap<>(); r.put(\"b\", 1); r.put(\"a\", 2); return r.toString() + r.get(\"z\");",
        "{a=2, b=1}null",
    );
    check(
        "Set<Integer> r = new HashSet<>(l); r.add(1); r.remove(2); return r.toString();",
        "[1, 3]",
    );
    check(
        "Collections.sort(l); Collections.reverse(l); return l.toString() + l.contains(2) + l.indexOf(1);",
        "[3, 2, 1]true2",
    );
    check(
        "return \"\" + Math.max(a, 11) + Math.round(2.5) + Math.abs(-3L) + Math.pow(2, 3);",
        "11338.0",
    );
    check(
        "ByteBuffer b = ByteBuffer.allocate(8); b.putInt(7).putInt(8); b.flip(); return \"\" + b.getInt() + b.remaining() + b.getInt(4);",
        "748",
    );
    check(
        "return UUID.fromString(\"550e8400-e29b-41d4-a716-446655440000\").toString();",
        "550e8400-e29b-41d4-a716-446655440000",
    );
    check("return new Date(1000).toString();", "Thu Jan 01 00:00:01 UTC 1970");
    check(
        "Iterator<Integer> i = l.iterator(); int n = 0; while (i.hasNext()) n += i.next(); return \"\" + n;",
        "6",
    );
}

#[test]
fn failures_have_javas_words() {
    fails(
        "String q = null; return q.trim();",
        "java.lang.NullPointerException: Cannot invoke \"String.trim()\" because \"<local5>\" is null",
    );
    fails("return \"\" + (1 / (a - 10));", "java.lang.ArithmeticException: / by zero");
    fails(
        "return \"\" + l.get(7);",
        "java.lang.IndexOutOfBoundsException: Index 7 out of bounds for length 3",
    );
    fails(
        "int q = m.get(\"y\"); return \"\";",
        "java.lang.NullPointerException: Cannot invoke \"java.lang.Integer.intValue()\" because the return value of \"java.util.Map.get(Object)\" is null",
    );
    fails("throw new RuntimeException(\"x\" + a);", "java.lang.RuntimeException: x10");
    fails("throw new Error(\"e\");", "java.lang.RuntimeException: java.lang.Error: e");
    fails(
        "Object o = s; return \"\" + (Integer) o;",
        "java.lang.ClassCastException: class java.lang.String cannot be cast to class java.lang.Integer (java.lang.String and java.lang.Integer are in module java.base of loader 'bootstrap')",
    );
    fails(
        "int[] r = new int[2]; return \"\" + r[2];",
        "java.lang.ArrayIndexOutOfBoundsException: Index 2 out of bounds for length 2",
    );
}

#[test]
fn what_is_wrong_is_said_line_by_line() {
    refused("return x.foo();", "Line 1: x cannot be resolved");
    refused("return a.foo();", "Line 1: The method foo() is undefined for the type Integer");
    refused("return \"x\";", "Line 1: Type mismatch: cannot convert from String to Integer");
    refused("return y;", "Line 1: y cannot be resolved to a variable");
    refused(
        "\nFoo y = null;\nreturn z;",
        "Line 2: Foo cannot be resolved to a type\nLine 3: z cannot be resolved to a variable",
    );
    refused("int y; return y;", "Line 1: The local variable y may not have been initialized");
    refused("return 1; return 2;", "Line 1: Unreachable code");
    refused("throw new Exception(\"x\");", "Line 1: Unhandled exception type Exception");
    refused("if (a > 3) return 1;", "This method must return a result of type Integer");
    refused("return 1L;", "Line 1: Type mismatch: cannot convert from long to Integer");
    refused(
        "Runnable r = () -> {}; return 1;",
        "Line 1: Syntax error on token \")\", delete this token",
    );
    refused(
        "class X { } return 1;",
        "Line 1: Syntax error on token \"class\": classes are not in the part of Java that functions are written in here",
    );
}

/// Neither time, nor memory, nor the stack can be used up.
#[test]
fn every_call_ends() {
    let too_long = "java.util.concurrent.TimeoutException";
    fails("while (true) { }", too_long);
    fails(
        "try { for (;;) a++; } catch (Throwable e) { return \"caught\"; } finally { a = 1; }",
        too_long,
    );
    fails(
        "String q = \"abc\"; while (true) q += q;",
        "java.lang.RuntimeException: java.lang.OutOfMemoryError: Java heap space",
    );
    fails(
        "List<Object> q = new ArrayList<>(); q.add(q); return q.toString();",
        "java.lang.RuntimeException: java.lang.StackOverflowError",
    );
    fails(
        "Object o = null; for (;;) { List<Object> q = new ArrayList<>(); q.add(o); o = q; }",
        "java.lang.RuntimeException: java.lang.OutOfMemoryError: Java heap space",
    );
    fails(
        "java.math.BigInteger q = java.math.BigInteger.TEN; for (;;) q = q.multiply(q);",
        too_long,
    );
    fails("return java.math.BigInteger.TEN.pow(1000000).toString();", too_long);
    let wide = "List<Object> q = new ArrayList<>(); for (int i = 0; i < 60; i++) { List<Object> r = new ArrayList<>(); r.add(q); r.add(q); q = r; } return \"\" + q.equals(new ArrayList<Object>());";
    check(wide, "false");
    let deep = format!("return {}1{} + \"\";", "(".repeat(5_000), ")".repeat(5_000));
    assert!(compiled(DataType::Text, &deep).is_err());
    let long = format!("return \"\"{};", " + a".repeat(5_000));
    assert!(compiled(DataType::Text, &long).is_err());
    let chain = format!("return s{};", ".trim()".repeat(5_000));
    assert!(compiled(DataType::Text, &chain).is_err());
}

/// Work on long values takes steps, and memory for all that is made of them.
#[test]
fn long_values_are_paid_for() {
    let too_long = "java.util.concurrent.TimeoutException";
    let no_memory = "java.lang.RuntimeException: java.lang.OutOfMemoryError: Java heap space";
    let long = "String t = \"a\"; for (int k = 0; k < 20; k++) t += t; String u = t + \"b\";";
    for body in [
        "while (true) if (u.equals(t + \"c\")) a++;",
        "String w = u.substring(500000); while (true) a += t.indexOf(w);",
        "while (true) a += t.hashCode();",
        "StringBuilder b = new StringBuilder(t); while (true) if (s.contains(b)) a++;",
        "while (true) try { Integer.parseInt(t); } catch (RuntimeException e) { a++; }",
    ] {
        let program = compiled(DataType::Text, &format!("{long} {body}")).unwrap();
        let failure = called(&program).unwrap_err();
        assert!([too_long, no_memory].contains(&failure.as_str()), "{body}: {failure}");
    }
    let all = "List<Object> q = new ArrayList<>(); for (int k = 0; k < 50000; k++) q.add(t);";
    for body in [
        "return \"\" + q.hashCode();",
        "return q.toString();",
        "return \"\" + q.equals(new ArrayList<Object>(q));",
        "Set<Object> w = new HashSet<>(); w.add(q); return \"\";",
    ] {
        let program = compiled(DataType::Text, &format!("{long} {all} {body}")).unwrap();
        let failure = called(&program).unwrap_err();
        assert!([too_long, no_memory].contains(&failure.as_str()), "{body}: {failure}");
    }
    fails(
        &format!("{long} return t.toCharArray().length + \"\" + t.split(\"a\").length;"),
        no_memory,
    );
    fails(
        &format!(
            "{long} List<Object> q = new ArrayList<>(); while (true) q.add(new RuntimeException(t));"
        ),
        no_memory,
    );
    fails(
        "java.math.BigInteger q = java.math.BigInteger.TEN.pow(100000); while (true) s = \"\" + q;",
        too_long,
    );
    fails(
        "TreeSet<Integer> q = new TreeSet<>(); for (int k = 0; k < 100000; k++) q.add(k); while (true) a += q.first();",
        too_long,
    );
    // One text many times is one here and many where it is stored.
    let list = DataType::List(Box::new(DataType::Text));
    let body = format!(
        "{long} List<String> q = new ArrayList<>(); for (int k = 0; k < 100; k++) q.add(t); return q;"
    );
    let failure = called(&compiled(list, &body).unwrap()).unwrap_err();
    assert!([too_long, no_memory].contains(&failure.as_str()), "{failure}");
}

/// Texts that are long are found as short ones are.
#[test]
fn long_texts_are_found() {
    let wanted = "\"abcabcabcabcabcabd\"";
    check(
        &format!(
            "String t = \"x\" + \"abcabc\" + {wanted} + \"y\" + {wanted}; return t.indexOf({wanted}) + \",\" + t.lastIndexOf({wanted}) + \",\" + t.indexOf({wanted}, 8) + t.contains(\"abcabcabcabcabcabcabcabcabd\");"
        ),
        "7,26,26false",
    );
    check(
        &format!(
            "String t = {wanted} + {wanted}; return t.replace({wanted}, \"-\") + (t + 1).split({wanted}).length;"
        ),
        "--3",
    );
    check(
        "String t = \"aaaaaaaaaaaaaaaaaaaaaaaa\"; return \"\" + t.indexOf(\"aaaaaaaaaaaaaaaaaaaaa\") + t.lastIndexOf(\"aaaaaaaaaaaaaaaaaaaaa\");",
        "03",
    );
}

/// A host that has so many steps and so much memory left.
struct Meagre {
    steps: u64,
    bytes: usize,
    taken: std::cell::Cell<u64>,
}

impl Host for Meagre {
    fn find_type(&self, _text: &str) -> Option<DataType> {
        None
    }

    fn now_milliseconds(&self) -> i64 {
        0
    }

    fn random(&self) -> u128 {
        0
    }

    fn steps_left(&self) -> u64 {
        self.steps
    }

    fn took(&self, steps: u64) {
        self.taken.set(self.taken.get() + steps);
    }

    fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.bytes
    }
}

#[test]
fn a_call_takes_what_its_host_has_left() {
    let host = |steps, bytes| Meagre { steps, bytes, taken: std::cell::Cell::new(0) };
    let program = compiled(DataType::Int, "int q = 0; while (q < 1000) q++; return q;").unwrap();
    let plenty = host(u64::MAX, usize::MAX);
    assert!(program.call(Vec::new(), &plenty).is_ok());
    assert!((2_000..20_000).contains(&plenty.taken.get()), "{}", plenty.taken.get());
    let short = host(500, usize::MAX);
    let failure = program.call(Vec::new(), &short).unwrap_err();
    assert!(failure.is_too_long && !failure.is_refused);
    assert_eq!(short.taken.get(), 500, "all of it is gone");
    let program = compiled(DataType::Int, "return new int[100000].length;").unwrap();
    let failure = program.call(Vec::new(), &host(u64::MAX, 1 << 20)).unwrap_err();
    assert!(failure.is_refused);
    assert!(program.call(Vec::new(), &host(u64::MAX, 8 << 20)).is_ok());
}

/// Bodies that nest as deep as the parser lets them are checked and run on a small stack.
#[test]
fn the_deepest_bodies_fit_the_stack() {
    let nested = |count: usize, open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(count), close.repeat(count))
    };
    for count in [10, 20, 30, 60, 61, 62, 63, 64, 2_000] {
        let bodies = [
            format!("return \"\" + {};", nested(count, "(1 + ", "1", ")")),
            format!("return \"\" + {};", nested(count, "Math.abs(", "1", ")")),
            format!("return \"\" + {};", nested(count, "(a > 1 ? ", "1", " : 2)")),
            format!("return \"\"{};", " + a".repeat(count)),
            format!("return s{};", ".trim()".repeat(count)),
            format!("return \"\" + {}true;", "!".repeat(count)),
            nested(count, "if (a > 3) { ", "return s;", " }") + " return s;",
            nested(count, "for (;;) { ", "return s;", " }"),
            nested(count, "try { ", "return s;", " } finally { a = 1; }"),
        ];
        for body in bodies {
            if let Ok(program) = compiled(DataType::Text, &body) {
                assert!(called(&program).is_ok(), "{body}");
            }
        }
    }
}

#[test]
fn fields_are_read_and_written() {
    let shape = Arc::new(Fields {
        name: "pt".to_owned(),
        fields: vec![("x".to_owned(), DataType::Int), ("y".to_owned(), DataType::Text)],
    });
    let ty = DataType::User(Arc::clone(&shape));
    let run = |body: &str| {
        let parameters = vec![("p".to_owned(), ty.clone())];
        let program = Program::compile(parameters, DataType::Text, false, body);
        let program = program.unwrap_or_else(|error| panic!("{body}: {error}"));
        called_with(&program, Value::fields(&shape, true, vec![Value::Int(5), Value::text("q")]))
    };
    assert_eq!(run("return p.getString(\"y\") + p.getInt(\"x\") + p;"), "q5{x:5,y:'q'}");
    assert_eq!(run("p.setInt(\"x\", 7).setToNull(\"y\"); return \"\" + p;"), "{x:7,y:NULL}");
    assert_eq!(
        run(
            "UDTValue v = udfContext.newArgUDTValue(\"p\"); return v.getInt(\"x\") + \"\" + v.isNull(0);"
        ),
        "0true"
    );
    assert_eq!(
        run("return \"\" + p.getLong(\"x\");"),
        "org.apache.cassandra.cql3.functions.types.exceptions.CodecNotFoundException: Codec not found for requested operation: [int <-> java.lang.Long]"
    );
}

fn called_with(program: &Program, own: Value) -> String {
    match program.call(vec![own], &Nothing) {
        Ok(Value::Text(own)) => String::from_utf16_lossy(&own),
        Ok(other) => format!("{other:?}"),
        Err(failure) => failure.text,
    }
}

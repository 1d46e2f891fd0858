//! What users' functions may take: the steps of one statement together, the memory of its client, the
//! bodies of a keyspace; and the setting that switches them off.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use shelfmark_cql::{ErrorCode, Executor, RequestOptions};
use shelfmark_engine::budget::Budget;
use shelfmark_engine::weight::Weight;

use crate::statements::World;

/// A call that takes some seven million steps and little time: they are those of a long product.
const COSTLY: &str = "return java.math.BigInteger.TEN.pow(120000).signum();";

fn world(rows: usize) -> World {
    let mut world = World::new();
    let mut run = |text: &str| world.run(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    run(
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    run("USE k");
    run("CREATE TABLE t (a int, b int, v text, PRIMARY KEY (a, b))");
    for row in 0..rows {
        run(&format!("INSERT INTO t (a, b, v) VALUES (1, {row}, 'x')"));
    }
    world
}

fn function(world: &mut World, name: &str, returns: &str, body: &str) {
    let text = format!(
        "CREATE OR REPLACE FUNCTION {name} (i int) CALLED ON NULL INPUT RETURNS {returns} LANGUAGE java AS $${body}$$"
    );
    world.run(&text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
}

#[test]
fn calls_of_one_statement_are_counted_together_and_those_of_two_are_not() {
    let mut world = world(40);
    function(&mut world, "costly", "int", COSTLY);
    for row in 0..40 {
        world.run(&format!("SELECT costly(b) FROM t WHERE a = 1 AND b = {row}")).unwrap();
    }
    let statements = [
        "SELECT costly(b) FROM t WHERE a = 1".to_owned(),
        "SELECT max(costly(b)) FROM t WHERE a = 1".to_owned(),
        format!("SELECT {} FROM t WHERE a = 1 AND b = 1", ["costly(b)"; 40].join(", ")),
        format!("SELECT b FROM t WHERE a = 1 AND b IN ({})", ["costly(1)"; 40].join(", ")),
        format!(
            "BEGIN UNLOGGED BATCH {} APPLY BATCH",
            "UPDATE t SET v = 'y' WHERE a = 1 AND b = costly(2);".repeat(40)
        ),
    ];
    for text in statements {
        let error = world.run(&text).unwrap_err();
        assert_eq!(error.code, ErrorCode::FunctionFailure, "{text}");
        assert!(error.message.contains("ran longer than 10000ms together"), "{}", error.message);
    }
}

#[test]
fn an_aggregate_counts_its_calls_together() {
    let mut world = world(40);
    let body = COSTLY.replace("return ", "return s + ");
    let text = format!(
        "CREATE FUNCTION plus (s int, i int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $${body}$$"
    );
    world.run(&text).unwrap();
    world.run("CREATE AGGREGATE added (int) SFUNC plus STYPE int INITCOND 0").unwrap();
    let error = world.run("SELECT added(b) FROM t WHERE a = 1").unwrap_err();
    assert!(error.message.contains("together"), "{}", error.message);
    world.run("SELECT added(b) FROM t WHERE a = 1 AND b < 20").unwrap();
}

/// A function in a condition, or in what is written behind one, is called once, before the partition is
/// locked.
#[test]
fn conditions_and_writes_call_a_function_once() {
    let mut world = world(2);
    function(&mut world, "costly", "int", COSTLY);
    function(&mut world, "name", "text", "return \"n\" + i;");
    let list: Vec<String> = (0..200).map(|own| own.to_string()).collect();
    let text =
        format!("UPDATE t SET v = name(costly(1)) WHERE a = 1 AND b IN ({})", list.join(", "));
    world.run(&text).unwrap();
    let text = "UPDATE t SET v = name(2) WHERE a = 1 AND b = 0 IF v = name(costly(1))";
    assert!(world.run(text).unwrap().contains("true"));
    assert!(world.run("SELECT v FROM t WHERE a = 1 AND b = 0").unwrap().contains("n2"));
    let text = "UPDATE t SET v = name(3) WHERE a = 1 AND b = 0 IF v IN (name(7), name(8))";
    assert!(world.run(text).unwrap().contains("false"));
}

#[test]
fn statements_that_call_functions_run_on_the_pool() {
    let mut world = world(1);
    function(&mut world, "costly", "int", COSTLY);
    for text in [
        "SELECT costly(b) FROM t WHERE a = 1 AND b = 0",
        "SELECT b FROM t WHERE a = 1 AND b = costly(0)",
        "INSERT INTO t (a, b) VALUES (1, costly(1))",
        "UPDATE t SET v = 'x' WHERE a = 1 AND b = 0 IF b = costly(1)",
        "DELETE FROM t WHERE a = costly(1)",
    ] {
        // A condition on a key is refused; what is prepared is heavy.
        if let Ok(prepared) = world.prepare(text) {
            assert!(prepared.weight >= Weight::Heavy, "{text}");
        }
    }
}

#[test]
fn results_draw_from_the_client() {
    let mut world = world(1);
    let long = "String s = \"x\"; for (int k = 0; k < 20; k++) s += s; return s;";
    function(&mut world, "long_text", "text", long);
    let all = ["long_text(b)"; 40].join(", ");
    let statement = world.prepare(&format!("SELECT {all} FROM t WHERE a = 1")).unwrap();
    let run = |bytes: usize| {
        let budget = Arc::new(Budget::new(bytes));
        let client = Some(budget.client(IpAddr::V4(Ipv4Addr::LOCALHOST), true));
        let answered = world.execute(&statement, RequestOptions { client, ..Default::default() });
        answered.map(|_| ()).map_err(|error| (error.code, budget.taken()))
    };
    assert_eq!(run(32 << 20), Err((ErrorCode::Overloaded, 0)));
    assert_eq!(run(1 << 30), Ok(()));
}

#[test]
fn the_bodies_of_a_keyspace_have_an_end() {
    let mut world = world(0);
    let body = format!("/* {} */ return 1;", "x".repeat(60_000));
    let refused = (0..100).find_map(|number| {
        let text = format!(
            "CREATE FUNCTION f{number} (i int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $${body}$$"
        );
        world.run(&text).err().map(|error| (number, error))
    });
    let (number, error) = refused.unwrap();
    assert!(number == 17 && error.message.contains("1048576 bytes"), "{number}: {error:?}");
}

#[test]
fn functions_that_are_switched_off_are_neither_made_nor_called() {
    let mut world = world(1);
    function(&mut world, "one", "int", "return 1;");
    let executor = Executor::open(world.engine().clone(), Vec::new()).unwrap();
    let executor = executor.with_user_functions(false);
    let off = "User-defined functions are disabled in cassandra.yaml - set user_defined_functions_enabled=true to enable; here, start the server with --cql-functions on";
    let ask = |text: &str| {
        let statement = executor.prepare(text, Some("k"))?;
        let (sender, receiver) = std::sync::mpsc::channel();
        let answer = Box::new(move |answered| sender.send(answered).unwrap());
        executor.execute(&statement, RequestOptions::default(), answer);
        receiver.recv().unwrap().map(|_| ())
    };
    for text in [
        "CREATE FUNCTION two (i int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 2;'",
        "CREATE AGGREGATE three (int) SFUNC one STYPE int",
        "SELECT one(b) FROM t WHERE a = 1",
        "INSERT INTO t (a, b) VALUES (1, one(1))",
    ] {
        assert_eq!(ask(text).unwrap_err().message, off, "{text}");
    }
    ask("SELECT b FROM t WHERE a = 1").unwrap();
    ask("DROP FUNCTION one").unwrap();
}

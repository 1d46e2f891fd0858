//! Functions on values given as text.

use shelfmark_cql_protocol::CqlError;

use super::*;
use crate::value::{CqlType, from_text, to_text};

struct Known(CqlType);

impl Argument for Known {
    fn known_type(&self) -> Option<CqlType> {
        Some(self.0.clone())
    }
    fn test(&self, ty: &CqlType) -> Assignability {
        if *ty == self.0 { Assignability::Exact } else { Assignability::No }
    }
    fn text(&self) -> String {
        "x".to_owned()
    }
}

/// A clock that stands still, and randomness that repeats.
struct Still;

impl FunctionContext for Still {
    fn now_micros(&self) -> u64 {
        1_431_000_000_000_000
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

fn run(scalar: &Scalar, arguments: &[(CqlType, &str)]) -> Result<String, CqlError> {
    let values: Vec<Vec<u8>> =
        arguments.iter().map(|(ty, text)| from_text(ty, text).unwrap()).collect();
    let values: Vec<Option<&[u8]>> = values.iter().map(|value| Some(value.as_slice())).collect();
    let value = scalar.call(&Still, &values)?;
    Ok(value.map_or("null".to_owned(), |value| to_text(&scalar.returns, &value)))
}

fn call(name: &str, arguments: &[(CqlType, &str)]) -> Result<String, CqlError> {
    let known: Vec<Known> = arguments.iter().map(|(ty, _)| Known(ty.clone())).collect();
    let known: Vec<&dyn Argument> = known.iter().map(|own| own as &dyn Argument).collect();
    match resolve(name, &known, None)? {
        Some(Resolved::Scalar(scalar)) => run(&scalar, arguments),
        _ => panic!("{name} is no scalar function"),
    }
}

#[test]
fn numbers_add_up_in_the_wider_type() {
    let check = |symbol, left: (CqlType, &str), right: (CqlType, &str), shown: &str| {
        let scalar = operate(symbol, &left.0, &right.0).unwrap();
        assert_eq!(run(&scalar, &[left, right]).unwrap(), shown);
    };
    check('+', (CqlType::Int, "2147483647"), (CqlType::Int, "1"), "-2147483648");
    check('+', (CqlType::Int, "1"), (CqlType::Bigint, "2"), "3");
    check('+', (CqlType::Int, "1"), (CqlType::Float, "0.5"), "1.5");
    check('/', (CqlType::Decimal, "1"), (CqlType::Int, "3"), "0.33333333333333333333333333333333");
    check('/', (CqlType::Decimal, "1"), (CqlType::Int, "8"), "0.125");
    check('%', (CqlType::Int, "-7"), (CqlType::Int, "3"), "-1");
    check(
        '*',
        (CqlType::Varint, "99999999999999999999"),
        (CqlType::Int, "10"),
        "999999999999999999990",
    );
    check(
        '+',
        (CqlType::Timestamp, "2016-01-31"),
        (CqlType::Duration, "1mo"),
        "2016-02-29T00:00:00.000Z",
    );
    check('-', (CqlType::Date, "2016-03-01"), (CqlType::Duration, "1d"), "2016-02-29");
    let division = operate('/', &CqlType::Int, &CqlType::Int).unwrap();
    let error = run(&division, &[(CqlType::Int, "1"), (CqlType::Int, "0")]).unwrap_err();
    assert_eq!(error.message, "the operation 'int / int' failed: / by zero");
    assert!(operate('+', &CqlType::Boolean, &CqlType::Int).is_none());
}

#[test]
fn casts_narrow_as_java_does() {
    let check = |from: CqlType, text: &str, to: CqlType, shown: &str| {
        let scalar = cast(&from, &to).unwrap();
        assert_eq!(run(&scalar, &[(from, text)]).unwrap(), shown);
    };
    check(CqlType::Int, "300", CqlType::Tinyint, "44");
    check(CqlType::Double, "1e20", CqlType::Int, "2147483647");
    check(CqlType::Double, "-2.9", CqlType::Bigint, "-2");
    check(CqlType::Double, "1e30", CqlType::Bigint, "9223372036854775807");
    check(CqlType::Decimal, "2.5", CqlType::Int, "2");
    check(CqlType::Int, "7", CqlType::Decimal, "7");
    check(CqlType::Timestamp, "2015-05-21 11:03:02", CqlType::Text, "2015-05-21T11:03:02.000Z");
    check(CqlType::Date, "2015-05-21", CqlType::Timestamp, "2015-05-21T00:00:00.000Z");
    assert!(cast(&CqlType::Text, &CqlType::Int).is_none());
}

#[test]
fn functions_by_name() {
    assert_eq!(call("abs", &[(CqlType::Int, "-4")]).unwrap(), "4");
    assert_eq!(call("round", &[(CqlType::Decimal, "-2.5")]).unwrap(), "-3");
    assert_eq!(call("intasblob", &[(CqlType::Int, "1")]).unwrap(), "00000001");
    assert_eq!(call("blob_as_bigint", &[(CqlType::Blob, "0000000000000005")]).unwrap(), "5");
    assert_eq!(
        call("blobasint", &[(CqlType::Blob, "00")]).unwrap_err().message,
        "In call to function system.blobasint, value 0x00 is not a valid binary representation for type int"
    );
    let now = call("now", &[]).unwrap();
    assert_eq!(call("todate", &[(CqlType::Timeuuid, &now)]).unwrap(), "2015-05-07");
    assert_eq!(call("to_unix_timestamp", &[(CqlType::Timeuuid, &now)]).unwrap(), "1431000000000");
    assert_eq!(
        call("floor", &[(CqlType::Timestamp, "2016-02-17 10:35:00"), (CqlType::Duration, "1h")])
            .unwrap(),
        "2016-02-17T10:00:00.000Z"
    );
    assert_eq!(
        call("floor", &[(CqlType::Timestamp, "2016-02-17 10:35:00"), (CqlType::Duration, "1mo")])
            .unwrap(),
        "2016-02-01T00:00:00.000Z"
    );
    assert_eq!(call("to_json", &[(CqlType::Text, "a\"b")]).unwrap(), "\"a\\\"b\"");
    let error = call("abs", &[(CqlType::Text, "x")]).unwrap_err().message;
    assert!(
        error.starts_with("Invalid call to function abs, none of its type signatures match"),
        "{error}"
    );
    let min = call("mintimeuuid", &[(CqlType::Timestamp, "2013-01-01 00:05+0000")]).unwrap();
    let max = call("maxtimeuuid", &[(CqlType::Timestamp, "2013-01-01 00:05+0000")]).unwrap();
    assert!(min < max && min.ends_with("8080-808080808080"), "{min} {max}");
}

#[test]
fn aggregates() {
    let run = |aggregate: &Aggregate, texts: &[&str]| {
        let ty = aggregate.arguments.first().cloned().unwrap();
        let mut all = aggregate.start();
        for text in texts {
            let value = from_text(&ty, text).unwrap();
            all.add(&Still, &[Some(&value)]).unwrap();
        }
        all.add(&Still, &[None]).unwrap();
        all.finish(&Still)
            .unwrap()
            .map_or("null".to_owned(), |value| to_text(&aggregate.returns, &value))
    };
    assert_eq!(run(&Aggregate::sum(&CqlType::Int).unwrap(), &["2", "3"]), "5");
    assert_eq!(run(&Aggregate::average(&CqlType::Int).unwrap(), &["2", "3"]), "2");
    assert_eq!(run(&Aggregate::average(&CqlType::Decimal).unwrap(), &["1", "2"]), "1");
    let average = Aggregate::average(&CqlType::Decimal).unwrap();
    assert_eq!(run(&average, &["1.0", "2.0", "2.0"]), "1.7");
    assert_eq!(run(&Aggregate::sum(&CqlType::Int).unwrap(), &[]), "0");
    let found = aggregate::candidates("max", &[Some(CqlType::Text)], &[]).unwrap().unwrap();
    assert_eq!(run(found.first().unwrap(), &["b", "a"]), "b");
    assert_eq!(run(found.first().unwrap(), &[]), "null");
}

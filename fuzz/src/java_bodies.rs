//! Bodies of users' functions from nowhere: compiled, and run if they are Java.
//!
//! Input: the body, of a function of a number, a text, a list, a map and a tuple. Whatever it says, it
//! ends, and what it gives can be read.

use std::sync::Arc;

use shelfmark_java_subset::{DataType, Fields, Host, Program, Value};

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

/// Runs one input.
pub fn run(data: &[u8]) {
    let body = String::from_utf8_lossy(data);
    let list = DataType::List(Box::new(DataType::Int));
    let map = DataType::Map(Box::new(DataType::Text), Box::new(DataType::Int));
    let fields = vec![(String::new(), DataType::Int), (String::new(), DataType::Text)];
    let shape = Arc::new(Fields { name: String::new(), fields });
    let tuple = DataType::Tuple(Arc::clone(&shape));
    let named =
        [("a", DataType::Int), ("s", DataType::Text), ("l", list), ("m", map), ("t", tuple)];
    let parameters: Vec<(String, DataType)> =
        named.into_iter().map(|(name, ty)| (name.to_owned(), ty)).collect();
    for is_strict in [false, true] {
        let compiled = Program::compile(parameters.clone(), DataType::Int, is_strict, &body);
        let program = match compiled {
            Ok(program) => program,
            Err(error) => {
                assert!(!error.to_string().is_empty(), "{body}");
                continue;
            }
        };
        let arguments = vec![
            Value::Int(7),
            Value::text("text"),
            Value::list(vec![Value::Int(1), Value::Int(2)]),
            Value::map(vec![(Value::text("k"), Value::Int(1))]),
            Value::fields(&shape, false, vec![Value::Int(1), Value::text("x")]),
        ];
        match program.call(arguments, &Nothing) {
            // Collections without types let values of other types through, which the caller refuses.
            Ok(_) => {}
            Err(failure) => assert!(!failure.text.is_empty(), "{body}"),
        }
    }
}

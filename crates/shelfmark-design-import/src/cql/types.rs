//! Converts CQL's types to types of a model.

use shelfmark_cql_syntax::ast::{NativeType, Type};

/// A type, and what it loses of the original.
pub(super) struct Typed {
    pub(super) text: String,
    pub(super) remark: Option<String>,
}

/// Returns the model's type of a column; one in a key is never a list or bytes.
pub(super) fn typed(ty: &Type, in_key: bool) -> Typed {
    let plain = |text: &str| Typed { text: text.to_owned(), remark: None };
    let with = |text: &str, remark: &str| Typed {
        text: text.to_owned(),
        remark: Some(format!("{ty} in CQL{remark}")),
    };
    match ty {
        Type::Native(native) => match native {
            NativeType::Text | NativeType::Varchar => plain("text"),
            NativeType::Ascii => with("text", ""),
            NativeType::Uuid => plain("uuid"),
            NativeType::TimeUuid => with("uuid", ": sorts by its time, then by its bytes"),
            NativeType::Boolean => plain("bool"),
            NativeType::Timestamp => plain("timestamp"),
            NativeType::Date => plain("date"),
            NativeType::TinyInt => plain("int(-128..127)"),
            NativeType::SmallInt => plain("int(-32768..32767)"),
            NativeType::Int => plain("int(-2147483648..2147483647)"),
            NativeType::BigInt => plain("int"),
            NativeType::Counter => with("int", ": only counted up and down"),
            NativeType::Varint | NativeType::Decimal | NativeType::Double | NativeType::Float => {
                with("decimal", "")
            }
            NativeType::Time => with("int", ": nanoseconds since midnight"),
            NativeType::Inet => with("text(max 45)", ""),
            NativeType::Blob | NativeType::Duration => opaque(ty, in_key),
        },
        Type::Frozen(inner) if !in_key => {
            let inner = typed(inner, in_key);
            Typed { remark: Some(format!("{ty} in CQL")), ..inner }
        }
        Type::List(element) | Type::Set(element) if !in_key && is_plain(element) => {
            let word = if matches!(ty, Type::Set(_)) { "set" } else { "list" };
            // How many elements is not said, and asked: a list without a maximum is a finding.
            let text = format!("{word} of {}", typed(element, false).text);
            Typed { text, remark: Some("? how many elements at most: (max …)".to_owned()) }
        }
        _ => opaque(ty, in_key),
    }
}

/// Returns true if a column outside the key is kept as bytes, which no key may have.
pub(super) fn has_no_type(ty: &Type) -> bool {
    typed(ty, false).text == "bytes"
}

/// Returns the substitute for a type that models do not have.
fn opaque(ty: &Type, in_key: bool) -> Typed {
    let text = if in_key { "text" } else { "bytes" };
    Typed { text: text.to_owned(), remark: Some(format!("{ty} in CQL")) }
}

/// Returns true if lists of the type can be written.
fn is_plain(ty: &Type) -> bool {
    matches!(ty, Type::Native(native)
        if !matches!(native, NativeType::Blob | NativeType::Duration | NativeType::Counter))
}

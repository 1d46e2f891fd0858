//! Types as class names, the form of the 2012 tools, of custom types on the wire and in old DDL.

use std::sync::Arc;

use super::limit::{check_limits, too_deep};
use super::{CqlType, MarshalError, Native, Result, TYPE_DEPTH_MAX, UserType};

/// Levels of parentheses: each level of a type may be frozen, which is no level of its own.
const LEVELS_MAX: usize = 2 * TYPE_DEPTH_MAX;

const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

const CLASSES: [(Native, &str); 21] = [
    (Native::Ascii, "AsciiType"),
    (Native::Bigint, "LongType"),
    (Native::Blob, "BytesType"),
    (Native::Boolean, "BooleanType"),
    (Native::Counter, "CounterColumnType"),
    (Native::Date, "SimpleDateType"),
    (Native::Decimal, "DecimalType"),
    (Native::Double, "DoubleType"),
    (Native::Duration, "DurationType"),
    (Native::Empty, "EmptyType"),
    (Native::Float, "FloatType"),
    (Native::Inet, "InetAddressType"),
    (Native::Int, "Int32Type"),
    (Native::Smallint, "ShortType"),
    (Native::Text, "UTF8Type"),
    (Native::Time, "TimeType"),
    (Native::Timestamp, "TimestampType"),
    (Native::Timeuuid, "TimeUUIDType"),
    (Native::Tinyint, "ByteType"),
    (Native::Uuid, "UUIDType"),
    (Native::Varint, "IntegerType"),
];

/// Returns the full class name of a type, parameters included.
#[must_use]
pub fn class_name(ty: &CqlType) -> String {
    let simple =
        |name: &str, parameters: &[String]| format!("{PACKAGE}{name}({})", parameters.join(","));
    let frozen_form = |frozen: bool, inner: String| {
        if frozen { format!("{PACKAGE}FrozenType({inner})") } else { inner }
    };
    match ty {
        CqlType::Native(native) => {
            let class =
                CLASSES.iter().find(|(own, _)| own == native).map_or("", |(_, class)| class);
            format!("{PACKAGE}{class}")
        }
        CqlType::List { element, frozen } => {
            frozen_form(*frozen, simple("ListType", &[class_name(element)]))
        }
        CqlType::Set { element, frozen } => {
            frozen_form(*frozen, simple("SetType", &[class_name(element)]))
        }
        CqlType::Map { key, value, frozen } => {
            frozen_form(*frozen, simple("MapType", &[class_name(key), class_name(value)]))
        }
        CqlType::Tuple(fields) => {
            simple("TupleType", &fields.iter().map(class_name).collect::<Vec<_>>())
        }
        CqlType::User { definition: udt, frozen } => {
            let mut parameters = vec![udt.keyspace.to_string(), hex::encode(udt.name.as_bytes())];
            parameters.extend(
                udt.fields.iter().map(|(name, ty)| {
                    format!("{}:{}", hex::encode(name.as_bytes()), class_name(ty))
                }),
            );
            frozen_form(*frozen, simple("UserType", &parameters))
        }
        CqlType::Vector { element, dimension } => {
            format!("{PACKAGE}VectorType({} , {dimension})", class_name(element))
        }
        CqlType::Custom(class) => class.to_string(),
    }
}

/// Reads a class name, short or full. Returns the type and whether it was `ReversedType(…)`.
///
/// # Errors
///
/// A name that is no class of the package, or that does not parse. Tell the client.
pub fn parse_class_name(text: &str) -> Result<(CqlType, bool)> {
    let text = text.trim();
    let short = text.strip_prefix(PACKAGE).unwrap_or(text);
    if let Some(inner) = short.strip_prefix("ReversedType(").and_then(|rest| rest.strip_suffix(')'))
    {
        let mut parser = Parser { rest: inner };
        let ty = parser.whole()?;
        return Ok((ty, true));
    }
    let mut parser = Parser { rest: text };
    Ok((parser.whole()?, false))
}

struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    /// Reads a type that is all of the text.
    fn whole(&mut self) -> Result<CqlType> {
        let ty = self.parse(0)?;
        self.skip_blank();
        if !self.rest.is_empty() {
            return Err(self.error());
        }
        check_limits(&ty)?;
        Ok(ty)
    }

    fn error(&self) -> MarshalError {
        MarshalError::new(format!("Syntax error parsing the class name at '{}'", self.rest))
    }

    fn skip_blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn word(&mut self) -> &'t str {
        self.skip_blank();
        let end = self
            .rest
            .find(|c: char| {
                !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | '&'))
            })
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_blank();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        if self.take(wanted) { Ok(()) } else { Err(self.error()) }
    }

    fn parse(&mut self, depth: usize) -> Result<CqlType> {
        if depth >= LEVELS_MAX {
            return Err(too_deep());
        }
        let start = self.rest;
        let full = self.word();
        let name = full.strip_prefix(PACKAGE).unwrap_or(full);
        if let Some((native, _)) = CLASSES.iter().find(|(_, class)| *class == name) {
            return Ok(CqlType::Native(*native));
        }
        match name {
            "DateType" => Ok(CqlType::Timestamp),
            "LexicalUUIDType" => Ok(CqlType::Uuid),
            "LegacyTimeUUIDType" => Ok(CqlType::Timeuuid),
            "ListType" => Ok(CqlType::list(self.one(depth)?)),
            "SetType" => Ok(CqlType::set(self.one(depth)?)),
            "FrozenType" => Ok(self.one(depth)?.freeze()),
            "ReversedType" => self.one(depth),
            "MapType" => {
                let mut parameters = self.parameters(depth)?.into_iter();
                match (parameters.next(), parameters.next(), parameters.next()) {
                    (Some(key), Some(value), None) => Ok(CqlType::map(key, value)),
                    _ => Err(self.error()),
                }
            }
            "TupleType" => {
                Ok(CqlType::tuple(self.parameters(depth)?.iter().map(CqlType::freeze).collect()))
            }
            "UserType" => self.user_type(depth),
            "VectorType" => {
                self.expect('(')?;
                let element = self.parse(depth + 1)?;
                self.expect(',')?;
                let dimension = self.word().parse().map_err(|_| self.error())?;
                self.expect(')')?;
                Ok(CqlType::vector(element.freeze(), dimension))
            }
            "CompositeType" => {
                let parameters = self.parameters(depth)?;
                let classes: Vec<String> = parameters.iter().map(class_name).collect();
                Ok(CqlType::Custom(Arc::from(format!("{PACKAGE}{name}({})", classes.join(",")))))
            }
            "DynamicCompositeType" | "ColumnToCollectionType" => {
                if self.rest.trim_start().starts_with('(') {
                    self.skip_group()?;
                }
                let taken = start.get(..start.len() - self.rest.len()).unwrap_or_default();
                let text: String = taken.split_whitespace().collect();
                let text = text.strip_prefix(PACKAGE).unwrap_or(&text);
                Ok(CqlType::Custom(Arc::from(format!("{PACKAGE}{text}"))))
            }
            "PartitionerDefinedOrder" => Ok(CqlType::Custom(Arc::from(format!("{PACKAGE}{name}")))),
            _ => Err(MarshalError::new(format!(
                "Unable to find abstract-type class '{}'",
                if full.contains('.') { full.to_owned() } else { format!("{PACKAGE}{full}") }
            ))),
        }
    }

    fn skip_group(&mut self) -> Result<()> {
        self.skip_blank();
        let mut depth = 0_usize;
        for (at, c) in self.rest.char_indices() {
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => {
                    self.rest = self.rest.get(at + 1..).unwrap_or_default();
                    return Ok(());
                }
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        Err(self.error())
    }

    fn one(&mut self, depth: usize) -> Result<CqlType> {
        let mut parameters = self.parameters(depth)?.into_iter();
        match (parameters.next(), parameters.next()) {
            (Some(one), None) => Ok(one),
            _ => Err(self.error()),
        }
    }

    fn parameters(&mut self, depth: usize) -> Result<Vec<CqlType>> {
        self.expect('(')?;
        let mut out = Vec::new();
        loop {
            out.push(self.parse(depth + 1)?);
            if self.take(')') {
                return Ok(out);
            }
            self.expect(',')?;
        }
    }

    fn user_type(&mut self, depth: usize) -> Result<CqlType> {
        self.expect('(')?;
        let keyspace = Arc::from(self.word());
        self.expect(',')?;
        let name = Arc::from(self.hex_word()?);
        let mut fields = Vec::new();
        while self.take(',') {
            let field = self.hex_word()?;
            self.expect(':')?;
            fields.push((Arc::from(field), self.parse(depth + 1)?));
        }
        self.expect(')')?;
        Ok(CqlType::User {
            definition: Arc::new(UserType { keyspace, name, fields }),
            frozen: false,
        })
    }

    fn hex_word(&mut self) -> Result<String> {
        let bytes = hex::decode(self.word()).ok().ok_or_else(|| self.error())?;
        String::from_utf8(bytes).map_err(|_| self.error())
    }
}

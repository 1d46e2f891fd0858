//! Skips components without building their values.

use super::{KeyType, check_depth, check_kinded, check_record};
use crate::component as c;
use crate::component::Kind;
use crate::direction::Direction;
use crate::error::Result;

/// Moves `input` behind one component.
///
/// Ends where [`decode`](crate::decode) would, but checks only what it needs to find that place:
/// not whether text is UTF-8, nor whether a set ascends. Allocates nothing. On an error `input` is
/// as before.
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`](crate::KeyErrorKind::Truncated),
///   [`KeyErrorKind::NonCanonical`](crate::KeyErrorKind::NonCanonical): no encoder wrote this.
///   Treat the key as damaged.
/// * [`KeyErrorKind::TooDeep`](crate::KeyErrorKind::TooDeep): see
///   [`KEY_DEPTH_MAX`](crate::KEY_DEPTH_MAX). Flatten the type.
pub fn skip(key_type: &KeyType, direction: Direction, input: &mut &[u8]) -> Result<()> {
    let mut cursor = *input;
    match skip_at(key_type, direction, &mut cursor, 0) {
        Ok(()) => {
            *input = cursor;
            Ok(())
        }
        Err(error) => Err(error.moved(input.len() - cursor.len())),
    }
}

fn skip_at(
    key_type: &KeyType,
    direction: Direction,
    input: &mut &[u8],
    depth: usize,
) -> Result<()> {
    check_depth(depth)?;
    match key_type {
        KeyType::Text | KeyType::Bytes => c::skip_bytes(input, direction),
        KeyType::Bool | KeyType::I8 | KeyType::U8 => c::skip_fixed(input, 1),
        KeyType::I16 | KeyType::U16 => c::skip_fixed(input, 2),
        KeyType::I32 | KeyType::U32 | KeyType::F32 | KeyType::Date => c::skip_fixed(input, 4),
        KeyType::I64 | KeyType::U64 | KeyType::F64 | KeyType::Time | KeyType::Timestamp => {
            c::skip_fixed(input, 8)
        }
        KeyType::I128 | KeyType::U128 | KeyType::Uuid | KeyType::CqlUuid | KeyType::CqlTimeUuid => {
            c::skip_fixed(input, 16)
        }
        KeyType::Integer => c::skip_integer(input, direction),
        KeyType::Decimal => c::skip_decimal(input, direction),
        KeyType::Inet => c::take_inet(input, direction).map(drop),
        KeyType::Tuple(fields) => {
            fields.iter().try_for_each(|field| skip_at(field, direction, input, depth + 1))
        }
        KeyType::Record(fields) => {
            check_record(fields)?;
            for field in fields {
                if !c::take_more(input, direction)? {
                    return Ok(());
                }
                skip_at(field, direction, input, depth + 1)?;
            }
            super::decode::take_record_end(input, direction)
        }
        KeyType::List(element) | KeyType::Set(element) => {
            while c::take_more(input, direction)? {
                skip_at(element, direction, input, depth + 1)?;
            }
            Ok(())
        }
        KeyType::Map(key, value) => {
            while c::take_more(input, direction)? {
                skip_at(key, direction, input, depth + 1)?;
                skip_at(value, direction, input, depth + 1)?;
            }
            Ok(())
        }
        KeyType::Kinded(inner) => {
            check_kinded(inner)?;
            match c::take_kind(input, direction)? {
                Kind::Value => skip_at(inner, direction, input, depth),
                Kind::Null | Kind::Empty => Ok(()),
            }
        }
    }
}

//! Encodes internet addresses in the order of their bytes, an IPv4 address before the IPv6 ones
//! that begin with it.
//!
//! Four bytes, then `00` and the end, or `01` and the other twelve. That is lexicographic order of
//! the raw bytes with the shorter first, which is how Cassandra compares `inet`.
//!
//! What it is not: an IPv4 address and its IPv4-mapped IPv6 form are two values.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::cursor::{take_array, take_byte};
use crate::direction::Direction;
use crate::error::{KeyError, KeyErrorKind, Result};

const V4: u8 = 0x00;
const V6: u8 = 0x01;

/// Appends an address: 5 bytes for IPv4, 17 for IPv6.
pub fn put_inet(out: &mut Vec<u8>, direction: Direction, value: IpAddr) {
    let mask = direction.mask();
    match value {
        IpAddr::V4(address) => {
            out.extend(address.octets().iter().map(|byte| byte ^ mask));
            out.push(V4 ^ mask);
        }
        IpAddr::V6(address) => {
            let octets = address.octets();
            let (head, tail) = octets.split_at(4);
            out.extend(head.iter().map(|byte| byte ^ mask));
            out.push(V6 ^ mask);
            out.extend(tail.iter().map(|byte| byte ^ mask));
        }
    }
}

/// Decodes the output of [`put_inet`].
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`]: the bytes end inside the address. Treat the key as damaged.
/// * [`KeyErrorKind::NonCanonical`]: the fifth byte is neither `00` nor `01`. As above.
pub fn take_inet(input: &mut &[u8], direction: Direction) -> Result<IpAddr> {
    let mask = direction.mask();
    let mut cursor = *input;
    let passed = |rest: &[u8]| input.len() - rest.len();
    let head = take_array::<4>(&mut cursor)?.map(|byte| byte ^ mask);
    let marker = take_byte(&mut cursor).map_err(|error| error.moved(passed(cursor)))? ^ mask;
    let address = match marker {
        V4 => IpAddr::V4(Ipv4Addr::from(head)),
        V6 => {
            let tail = take_array::<12>(&mut cursor)
                .map_err(|error| error.moved(passed(cursor)))?
                .map(|byte| byte ^ mask);
            let mut octets = [0; 16];
            let (first, last) = octets.split_at_mut(4);
            first.copy_from_slice(&head);
            last.copy_from_slice(&tail);
            IpAddr::V6(Ipv6Addr::from(octets))
        }
        _ => {
            let message = "the fifth byte of an address is 00 or 01";
            return Err(KeyError::at(KeyErrorKind::NonCanonical, 4, message));
        }
    };
    *input = cursor;
    Ok(address)
}

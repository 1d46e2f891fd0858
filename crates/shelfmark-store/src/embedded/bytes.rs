//! Reads big-endian integers out of byte slices without panicking.

/// Returns the `N` bytes at `offset`, if they are there.
pub(super) fn array<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    let end = offset.checked_add(N)?;
    bytes.get(offset..end)?.try_into().ok()
}

/// Reads 2 bytes at `offset`.
pub(super) fn be_u16(bytes: &[u8], offset: usize) -> Option<u16> {
    array(bytes, offset).map(u16::from_be_bytes)
}

/// Reads 4 bytes at `offset`.
pub(super) fn be_u32(bytes: &[u8], offset: usize) -> Option<u32> {
    array(bytes, offset).map(u32::from_be_bytes)
}

/// Reads 8 bytes at `offset`.
pub(super) fn be_u64(bytes: &[u8], offset: usize) -> Option<u64> {
    array(bytes, offset).map(u64::from_be_bytes)
}

/// Reads 16 bytes at `offset`.
pub(super) fn be_u128(bytes: &[u8], offset: usize) -> Option<u128> {
    array(bytes, offset).map(u128::from_be_bytes)
}

/// Widens a length to 64 bits, which hold every platform's memory sizes.
pub(super) fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

//! The two checksums of version 5's frames.

/// Start value and polynomial of the header's checksum.
///
/// Source: native protocol specification v5, section 2.2, read 2026-11.
const CRC24_START: u32 = 0x0087_5060;
const CRC24_POLYNOMIAL: u32 = 0x0197_4F0B;

/// The bytes that the payload's checksum begins with, as if they stood before the payload. The
/// specification does not name them; every driver requires them.
const CRC32_SEED: [u8; 4] = [0xFA, 0x2D, 0x55, 0xCA];

/// Returns the checksum of a frame's header: 24 bits.
pub(super) fn crc24(header: &[u8]) -> u32 {
    let mut crc = CRC24_START;
    for byte in header {
        crc ^= u32::from(*byte) << 16;
        for _ in 0..8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= CRC24_POLYNOMIAL;
            }
        }
    }
    crc
}

/// Returns the checksum of a frame's payload.
pub(super) fn crc32(payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&CRC32_SEED);
    hasher.update(payload);
    hasher.finalize()
}

//! `shelfmark key`: codecs for people who build text keys by hand.

use std::io::Write as _;

use anyhow::{Context as _, anyhow};
use shelfmark_cql_types::{CqlType, Native, to_text};
use shelfmark_engine::Random as _;
use shelfmark_keycode::{Overflow, Ulid, UlidGenerator, lexint, token};
use shelfmark_store::clock::{Clock as _, SystemClock};

use crate::arguments::{Key, KeyCodec};
use crate::random::SystemRandom;

pub(crate) fn run(key: &Key) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    match &key.codec {
        KeyCodec::Lexint { values, decode: false } => {
            for value in values {
                let number: u64 = value
                    .parse()
                    .map_err(|_| anyhow!("{value:?} is no whole number from 0 to {}", u64::MAX))?;
                writeln!(out, "{}", lexint::to_hex(number))?;
            }
        }
        KeyCodec::Lexint { values, decode: true } => {
            for value in values {
                let number = lexint::from_hex(value)
                    .with_context(|| format!("{value:?} is no lexicographic integer"))?;
                writeln!(out, "{number}")?;
            }
        }
        KeyCodec::Ulid { values, count } if values.is_empty() => {
            let mut generator = UlidGenerator::new(Overflow::Refuse);
            let clock = SystemClock::new();
            for _ in 0..*count {
                let ulid =
                    generator.next(clock.now_millis(), &mut |bytes| SystemRandom.fill(bytes))?;
                writeln!(out, "{ulid}")?;
            }
        }
        KeyCodec::Ulid { values, .. } => {
            for value in values {
                let ulid: Ulid = value.parse().with_context(|| format!("{value:?} is no ULID"))?;
                let ms = ulid.timestamp_ms();
                let at = to_text(&CqlType::Native(Native::Timestamp), &ms.to_be_bytes());
                writeln!(out, "{at} ({ms} ms since 1970)")?;
            }
        }
        KeyCodec::Token { values } => {
            for value in values {
                writeln!(out, "{}", token(value.as_bytes()))?;
            }
        }
    }
    Ok(())
}

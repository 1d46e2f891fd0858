//! `shelfmark config`: the settings that `serve` would have here, and why.

use std::io::Write as _;

use shelfmark_admin::{HiddenSetting, SettingEntry};

use super::settings::{self, Setting};
use crate::arguments::ConfigCommand;
use crate::table::print;

pub(crate) fn run(config: &ConfigCommand) -> anyhow::Result<()> {
    let settings = settings::of(&config.serve)?;
    if config.json {
        let all: Vec<_> = settings.each.iter().map(entry).collect();
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&all)?)?;
    } else {
        let rows = settings.each.into_iter().map(|own| {
            let loses = own.hidden.iter().map(|(source, value)| format!("not {value} of {source}"));
            let from = std::iter::once(own.source.to_string()).chain(loses);
            [own.name.to_owned(), own.value, from.collect::<Vec<_>>().join("; ")]
        });
        print(["setting", "value", "from"], rows, config.csv)?;
    }
    for name in settings.unknown {
        anstream::eprintln!("{name} is the name of no setting");
    }
    Ok(())
}

/// Returns a setting as a running server tells it.
pub(crate) fn entry(own: &Setting) -> SettingEntry {
    let hidden = own
        .hidden
        .iter()
        .map(|(source, value)| HiddenSetting { value: value.clone(), from: source.to_string() });
    SettingEntry {
        setting: own.name.to_owned(),
        value: own.value.clone(),
        from: own.source.to_string(),
        hidden: hidden.collect(),
    }
}

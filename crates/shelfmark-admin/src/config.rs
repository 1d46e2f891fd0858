//! `config`: the settings that hold in a running server, and the place that each comes from.
//!
//! Invariant: no setting is a secret; those that concern secrets name files.

use serde::{Deserialize, Serialize};

/// Asks for the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigAnswer {
    /// Every setting, in the order of the help.
    pub settings: Vec<SettingEntry>,
}

/// A setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingEntry {
    /// Its name.
    pub setting: String,
    /// The value that holds; empty for none.
    pub value: String,
    /// The place that it comes from.
    pub from: String,
    /// The places where it is set as well and loses.
    pub hidden: Vec<HiddenSetting>,
}

/// A value of a setting that another place overrides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenSetting {
    /// The value.
    pub value: String,
    /// The place.
    pub from: String,
}

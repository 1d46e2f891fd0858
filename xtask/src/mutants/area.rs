//! The code that guards something: where it lies, and how much of its mutants must be noticed.

/// One area of the code, tested by the tests of its own crate and of those that it names.
pub(crate) struct Area {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    /// Other packages whose tests must notice its mutants, too.
    pub(crate) tested_by: &'static [&'static str],
    /// Files, as globs from the root.
    files: &'static [&'static str],
    /// Percentage of mutants that must be noticed.
    pub(crate) percent_min: usize,
}

/// Every area. The verifier judges what everybody else may believe: it misses nothing.
pub(crate) const AREAS: [Area; 7] = [
    Area {
        name: "keycode",
        package: "shelfmark-keycode",
        tested_by: &[],
        files: &["crates/shelfmark-keycode/src/**/*.rs"],
        percent_min: 95,
    },
    Area {
        name: "store",
        package: "shelfmark-store",
        tested_by: &[],
        files: &["crates/shelfmark-store/src/embedded/**/*.rs"],
        percent_min: 95,
    },
    Area {
        name: "tables",
        package: "shelfmark-tables",
        tested_by: &["shelfmark-engine"],
        files: &[
            "crates/shelfmark-tables/src/commit/*.rs",
            "crates/shelfmark-tables/src/items/*.rs",
            "crates/shelfmark-tables/src/cells/apply.rs",
            "crates/shelfmark-tables/src/cells/blind.rs",
            "crates/shelfmark-tables/src/cells/tombstones.rs",
        ],
        percent_min: 95,
    },
    Area {
        name: "records",
        package: "shelfmark-records",
        tested_by: &["shelfmark-engine"],
        files: &["crates/shelfmark-records/src/cells/merge.rs"],
        percent_min: 95,
    },
    Area {
        name: "verifier",
        package: "shelfmark-design-verify",
        tested_by: &[],
        files: &["crates/shelfmark-design-verify/src/**/*.rs"],
        percent_min: 100,
    },
    Area {
        name: "cql",
        package: "shelfmark-cql",
        tested_by: &[],
        files: &["crates/shelfmark-cql/src/statement/**/*.rs"],
        percent_min: 95,
    },
    Area {
        name: "cql-types",
        package: "shelfmark-cql-types",
        tested_by: &["shelfmark-cql"],
        files: &["crates/shelfmark-cql-types/src/value/**/*.rs"],
        percent_min: 95,
    },
];

impl Area {
    /// Returns the words of a command of cargo's that concerns this area's mutants.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut words = vec!["mutants".to_owned(), "--package".to_owned(), self.package.to_owned()];
        for file in self.files {
            words.extend(["--file".to_owned(), (*file).to_owned()]);
        }
        words
    }

    /// Tells whether a mutant of this name is of this area's crate.
    pub(crate) fn is_of_crate(&self, name: &str) -> bool {
        name.starts_with(&format!("crates/{}/", self.package))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::root;

    #[test]
    fn the_files_of_areas_exist() {
        for area in &AREAS {
            for file in area.files {
                let fixed = file.split('*').next().unwrap_or_default();
                assert!(root().join(fixed).exists(), "{}: {file}", area.name);
            }
        }
    }
}

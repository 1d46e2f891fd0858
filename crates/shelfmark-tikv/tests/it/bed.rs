//! A test bed of one's own, to kill.

use std::path::PathBuf;
use std::process::Command;

/// A cluster of a few placement drivers and a store, which ends with the test.
pub(crate) struct Bed {
    folder: tempfile::TempDir,
    pub(crate) placement: Vec<String>,
}

impl Bed {
    pub(crate) fn start(drivers: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let told = run(&["start", folder.path().to_str().unwrap(), "--pds", &drivers.to_string()]);
        let last = told.lines().last().unwrap();
        let places = last.strip_prefix("{\"pd\": \"").unwrap().strip_suffix("\"}").unwrap();
        Self { placement: places.split(',').map(str::to_owned).collect(), folder }
    }

    pub(crate) fn kill(&self, what: &str) {
        self.run("kill", &[what]);
    }

    pub(crate) fn again(&self, what: &str) {
        self.run("again", &[what]);
    }

    fn run(&self, verb: &str, rest: &[&str]) {
        run(&[&[verb, self.folder.path().to_str().unwrap()], rest].concat());
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.run("stop", &[]);
    }
}

fn run(arguments: &[&str]) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../test-bed/tikv/bed");
    let output = Command::new(script).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "bed {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

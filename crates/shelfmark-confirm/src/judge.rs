//! Runs the patterns of one schema and compares the engine's results with the proofs.
//!
//! Invariant: a verdict is `ok` only when every call that was run went as its certificate says.

use std::time::Duration;

use serde_json::Value as Json;
use shelfmark_design::shown::{self, counted};
use shelfmark_design::trial::{Call, Image, KeyValue, Layout, Scene, Trial, Value};
use shelfmark_design::{Certificate, Status};

use shelfmark_store::clock::Clock;

use crate::Options;
use crate::bench::{Access, Bench, sorted};
use crate::claim;
use crate::report::{Shown, Verdict};

/// States and calls on which a refused write is tried before its refusal counts as unfounded.
const TRIES_MAX: usize = 40;

/// Draws of a write's inputs until one is defined on the state.
const DRAWS_MAX: u64 = 16;

/// Judges every pattern of a schema.
///
/// Adds up the time of a pattern's calls where a clock is handed in.
pub(crate) fn judge(
    trial: &Trial<'_>,
    options: &Options,
    clock: Option<&dyn Clock>,
) -> Result<Vec<Verdict>, String> {
    let now = || clock.map_or(Duration::ZERO, Clock::monotonic);
    let layout = trial.layout()?;
    let mut verdicts: Vec<Verdict> = trial.certificates().map(|one| open(trial, one)).collect();
    for (number, scale) in options.scales.iter().enumerate() {
        let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
        let stage = Stage::new(trial, &layout, trial.scene(seed, *scale), seed)?;
        for (pattern, certificate) in trial.certificates().enumerate() {
            let Some(verdict) = verdicts.get_mut(pattern).filter(|verdict| verdict.ok) else {
                continue;
            };
            if !matches!(certificate.status, Status::Certified | Status::Multi) {
                continue;
            }
            for call in 0..options.calls {
                let seed = seed.wrapping_add(((pattern * 1_000 + call) as u64) << 32);
                let call = stage.call(pattern, seed);
                let began = now();
                let done = if certificate.write {
                    stage.write(pattern, &call, verdict)
                } else {
                    stage.read(pattern, certificate.status, &call, verdict)
                };
                verdict.took += now().saturating_sub(began);
                if let Err(wrong) = done {
                    contradict(trial, &stage.scene, pattern, &call, *wrong, verdict);
                    break;
                }
                let call = trial.undefined_call(pattern, &stage.scene, seed);
                if let Err(wrong) = stage.undefined(pattern, &call, verdict) {
                    contradict(trial, &stage.scene, pattern, &call, *wrong, verdict);
                    break;
                }
            }
        }
    }
    for (pattern, certificate) in trial.certificates().enumerate() {
        let Some(verdict) = verdicts.get_mut(pattern) else { continue };
        match certificate.status {
            Status::Certified | Status::Multi if verdict.ok => verdict.note = praise(verdict),
            Status::Certified | Status::Multi => {}
            Status::Unservable => verdict.note = certificate.reason.clone(),
            Status::Refused => {
                let began = now();
                refused(trial, &layout, pattern, certificate, options, verdict)?;
                verdict.took += now().saturating_sub(began);
            }
        }
    }
    Ok(verdicts)
}

pub(crate) fn open(trial: &Trial<'_>, certificate: &Certificate) -> Verdict {
    Verdict {
        schema: trial.schema().to_owned(),
        target: trial.target().to_owned(),
        pattern: certificate.pattern.clone(),
        write: certificate.write,
        status: certificate.status,
        ok: true,
        unshown: false,
        calls: 0,
        undefined: 0,
        left_out: 0,
        races: 0,
        took: Duration::ZERO,
        rows_read: 0,
        rows_returned: 0,
        rows_handed_on: 0,
        ranges: 0,
        note: String::new(),
        shown: None,
    }
}

/// Describes a confirmed pattern.
fn praise(verdict: &Verdict) -> String {
    let calls = counted(verdict.calls, "call");
    if verdict.write {
        let beside = verdict.beside();
        return format!("{calls}, each left the rows of the changed state{beside}");
    }
    format!(
        "{calls}, {} rows read, {} returned, {} as claimed",
        verdict.rows_read,
        verdict.rows_returned,
        counted(verdict.ranges, "range")
    )
}

/// A contradiction to the proof.
pub(crate) struct Wrong {
    why: String,
    right: Json,
    plan: Json,
}

impl Wrong {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), right: Json::Null, plan: Json::Null }
    }
}

impl From<String> for Box<Wrong> {
    fn from(why: String) -> Self {
        Self::new(Wrong::new(why))
    }
}

fn contradict(
    trial: &Trial<'_>,
    scene: &Scene,
    pattern: usize,
    call: &Call,
    wrong: Wrong,
    verdict: &mut Verdict,
) {
    verdict.ok = false;
    verdict.note = wrong.why;
    verdict.shown = Some(Shown {
        state: trial.scene_json(scene),
        call: trial.call_json(pattern, call),
        right: wrong.right,
        plan: wrong.plan,
    });
}

/// A state, its rows, and an engine that holds them.
pub(crate) struct Stage<'t> {
    trial: &'t Trial<'t>,
    pub(crate) scene: Scene,
    pub(crate) images: Vec<Image>,
    pub(crate) bench: Bench,
}

impl<'t> Stage<'t> {
    pub(crate) fn new(
        trial: &'t Trial<'_>,
        layout: &Layout,
        scene: Scene,
        seed: u64,
    ) -> Result<Self, String> {
        let images = sorted(trial.images(&scene)?);
        let bench = Bench::new(layout.clone(), seed)?;
        bench.load(&images)?;
        let stage = Self { trial, scene, images, bench };
        stage.holds(&stage.images)?;
        Ok(stage)
    }

    /// Returns inputs of a call; of a write ones that are defined here, if a few draws find them.
    fn call(&self, pattern: usize, seed: u64) -> Call {
        let drawn = |number: u64| {
            self.trial.call(pattern, &self.scene, seed.wrapping_add(number.wrapping_mul(0x1_0001)))
        };
        let defined = |call: &Call| self.trial.after(pattern, &self.scene, call).is_some();
        (0..DRAWS_MAX).map(drawn).find(defined).unwrap_or_else(|| drawn(0))
    }

    /// Checks that the engine holds exactly these rows, and its indexes exactly their entries.
    pub(crate) fn holds(&self, images: &[Image]) -> Result<(), String> {
        let found = self.bench.dump()?;
        if found != images {
            return Err("the engine holds other rows than the state asks for".to_owned());
        }
        self.counts(images)
    }

    /// Checks that each index has as many entries as rows that belong in it.
    pub(crate) fn counts(&self, images: &[Image]) -> Result<(), String> {
        let entries = self.bench.entries()?;
        for (index, count) in entries.iter().enumerate() {
            let wanted = images.iter().filter(|image| image.entries.contains_key(&index)).count();
            if *count != wanted {
                return Err(format!("an index has {count} entries, {wanted} rows belong in it"));
            }
        }
        Ok(())
    }

    pub(crate) fn read(
        &self,
        pattern: usize,
        status: Status,
        call: &Call,
        verdict: &mut Verdict,
    ) -> Result<(), Box<Wrong>> {
        let session = self.bench.session();
        let run = self.trial.read(pattern, &self.scene, call, &session)?;
        let log = session.log();
        let read: u64 = log.iter().map(|access| access.report.rows_read()).sum();
        verdict.calls += 1;
        verdict.rows_read += read;
        verdict.rows_returned += run.items as u64;
        verdict.rows_handed_on +=
            log.iter().map(|access| access.report.rows_returned()).sum::<u64>();
        let wrong = |why: String| {
            Box::new(Wrong { why, right: run.right.clone(), plan: run.found.clone() })
        };
        if !run.agrees {
            return Err(wrong("the plan's answer is not the right one".to_owned()));
        }
        let peeked: u64 =
            log.iter().flat_map(|access| &access.report.steps).map(|step| step.keys_peeked).sum();
        let most = if status == Status::Certified {
            Some(run.items as u64)
        } else {
            self.trial.bound(pattern, call).map(|rows| rows as u64)
        };
        if peeked > 0 || most.is_some_and(|most| read > most) {
            let most = most.unwrap_or(0);
            return Err(wrong(format!("{read} rows were read, {most} are stated")));
        }
        if status == Status::Certified && log.len() != 1 {
            return Err(wrong(format!("{} ranges were read, one is stated", log.len())));
        }
        for access in &log {
            self.claimed(pattern, access).map_err(wrong)?;
            verdict.ranges += 1;
        }
        Ok(())
    }

    /// Checks that the engine touched the range that the certificate claims.
    pub(crate) fn claimed(&self, pattern: usize, access: &Access) -> Result<(), String> {
        let ask = &access.ask;
        let range = self.trial.range(pattern, ask.step).ok_or("the certificate has no range")?;
        let prefix = self.bench.prefix(ask.table)?;
        let claimed = claim::bytes(&self.bench.layout, ask.table, &prefix, range, &ask.holes)?;
        let touched: Vec<_> =
            access.report.steps.iter().flat_map(|step| step.ranges.iter()).collect();
        match touched.as_slice() {
            [one] if claim::same(&claimed, one) => Ok(()),
            [one] => Err(format!(
                "touched was {}, claimed is {}",
                claim::show(one),
                claim::show(&claimed)
            )),
            _ => Err(format!("{} ranges were touched, one is claimed", touched.len())),
        }
    }

    pub(crate) fn write(
        &self,
        pattern: usize,
        call: &Call,
        verdict: &mut Verdict,
    ) -> Result<(), Box<Wrong>> {
        let Some(after) = self.trial.after(pattern, &self.scene, call) else {
            verdict.left_out += 1;
            return Ok(());
        };
        let right = sorted(self.trial.images_after(&self.scene, &after)?);
        verdict.calls += 1;
        let done = self.bench.transact(|session| self.trial.write(pattern, call, session));
        let held = done.and_then(|()| self.holds(&right));
        let found = self.bench.dump()?;
        self.restore(&found)?;
        held.map_err(|why| self.difference(why, &right, &found))
    }

    /// Runs a write where it is not defined.
    pub(crate) fn undefined(
        &self,
        pattern: usize,
        call: &Call,
        verdict: &mut Verdict,
    ) -> Result<(), Box<Wrong>> {
        let Some(outcomes) = self.trial.outcomes(pattern, &self.scene, call) else {
            return Ok(());
        };
        verdict.undefined += 1;
        let done = self.bench.transact(|session| self.trial.write(pattern, call, session));
        let found = self.bench.dump()?;
        let counts = self.counts(&found);
        self.restore(&found)?;
        done.and(counts)?;
        for after in &outcomes {
            if found == sorted(self.trial.images_after(&self.scene, after)?) {
                return Ok(());
            }
        }
        let why = "the write is not defined here, and its plan changes rows".to_owned();
        Err(self.difference(why, &self.images, &found))
    }

    /// Describes which rows exist and should not, and which are missing.
    fn difference(&self, why: String, right: &[Image], found: &[Image]) -> Box<Wrong> {
        let layout = &self.bench.layout;
        let only = |these: &[Image], those: &[Image]| {
            Json::Array(
                these
                    .iter()
                    .filter(|one| !those.contains(one))
                    .map(|one| row(layout, one))
                    .collect(),
            )
        };
        Box::new(Wrong { why, right: only(right, found), plan: only(found, right) })
    }

    /// Undoes a write, so that the next call finds the state again.
    fn restore(&self, found: &[Image]) -> Result<(), String> {
        self.bench.transact(|session| {
            use shelfmark_design::trial::Shelf as _;
            for image in found.iter().filter(|image| !self.images.contains(image)) {
                session.remove(image.table, &image.key)?;
            }
            for image in self.images.iter().filter(|image| !found.contains(image)) {
                session.put(image)?;
            }
            Ok(())
        })
    }

    /// Runs a refused write, and returns evidence of its harm.
    pub(crate) fn harm(
        &self,
        pattern: usize,
        call: &Call,
    ) -> Result<Option<(String, Shown)>, String> {
        let Some(after) = self.trial.after(pattern, &self.scene, call) else { return Ok(None) };
        let right = sorted(self.trial.images_after(&self.scene, &after)?);
        let done = self.bench.transact(|session| self.trial.write(pattern, call, session));
        let found = self.bench.dump()?;
        self.restore(&found)?;
        let shown = |right: Json, plan: Json| Shown {
            state: self.trial.scene_json(&self.scene),
            call: self.trial.call_json(pattern, call),
            right,
            plan,
        };
        if let Err(error) = done {
            let rows = self.difference(String::new(), &right, &found).right;
            return Ok(Some((
                format!("the call cannot be formed: {error}"),
                shown(rows, Json::from(error)),
            )));
        }
        if found != right {
            let wrong = self.difference(String::new(), &right, &found);
            let why = "the plan leaves other rows than the changed state has".to_owned();
            return Ok(Some((why, shown(wrong.right, wrong.plan))));
        }
        // Two sources under one key: the state asks for both rows, the store can hold one.
        let wanted = self.trial.wanted(&self.scene, &after)?;
        let lost = wanted.len().saturating_sub(found.len());
        if lost == 0 {
            return Ok(None);
        }
        let layout = &self.bench.layout;
        let place = |image: &Image| (image.table, image.key.clone());
        let shared =
            |image: &&Image| wanted.iter().filter(|other| place(other) == place(image)).count() > 1;
        let rows = |images: &[Image]| -> Json {
            images.iter().filter(shared).map(|image| row(layout, image)).collect()
        };
        let why = format!("{lost} of the rows lie under another's key and are lost");
        Ok(Some((why, shown(rows(&wanted), rows(&found)))))
    }
}

/// Formats a row for people: its table, key and attributes.
fn row(layout: &Layout, image: &Image) -> Json {
    let name = layout.tables.get(image.table).map_or("", |form| form.name.as_str());
    let key: Vec<Json> = image
        .key
        .iter()
        .map(|value| match value {
            KeyValue::Text(text) => Json::from(text.clone()),
            KeyValue::Native(value) => value_json(value),
        })
        .collect();
    let values = image.values.iter().chain(&image.kept);
    shown::row(name, key, values.map(|(name, value)| (name.clone(), value_json(value))).collect())
}

fn value_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(bit) => Json::from(*bit),
        Value::Int(n) => Json::from(*n),
        Value::Id(id) => {
            let hex = format!("{id:032x}");
            let part = |from: usize, to: usize| hex.get(from..to).unwrap_or("");
            let parts = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)];
            Json::from(parts.join("-"))
        }
        Value::Text(text) => Json::from(text.clone()),
        Value::List(items) => items.iter().map(value_json).collect(),
    }
}

/// Runs a refused pattern: its harm must show.
fn refused(
    trial: &Trial<'_>,
    layout: &Layout,
    pattern: usize,
    certificate: &Certificate,
    options: &Options,
    verdict: &mut Verdict,
) -> Result<(), String> {
    if !trial.has_plan(pattern) {
        verdict.note = format!("cannot be called: {}", certificate.reason);
        return Ok(());
    }
    if trial.is_lost(pattern) {
        verdict.note = format!("no store shows it: {}", certificate.reason);
        return Ok(());
    }
    // The engine takes what the target does not.
    if certificate.obligation.as_deref() == Some("O10") {
        verdict.note = format!("its target is not asked so: {}", certificate.reason);
        return Ok(());
    }
    let witness = trial.witness(pattern)?;
    let kind = certificate.witness.as_ref().and_then(|one| one.get("kind")).and_then(Json::as_str);
    let found = match witness {
        Some((scene, call)) => {
            verdict.calls += 1;
            let stage = Stage::new(trial, layout, scene, options.seed)?;
            let found = if certificate.write {
                stage.harm(pattern, &call)?
            } else {
                wrong_read(&stage, pattern, &call, verdict)?
            };
            match found {
                // Where rows lie by a hash, those of the witness may lie in the wanted order.
                None if certificate.obligation.as_deref() == Some("O5") => {
                    search(trial, layout, pattern, certificate, options, verdict)?
                }
                found => found,
            }
        }
        None if kind == Some("excess") => {
            verdict.note = format!("stated, not run: {}", certificate.reason);
            return Ok(());
        }
        None if certificate.witness.as_ref().is_some_and(|one| one.get("found").is_some()) => None,
        None => {
            let found = search(trial, layout, pattern, certificate, options, verdict)?;
            // The call is the witness; any state will do, and nothing comes of it.
            found.map(|(why, shown)| (why, Shown { right: Json::Null, ..shown }))
        }
    };
    match found {
        Some((why, shown)) => {
            verdict.note = format!("{why} ({})", certificate.reason);
            verdict.shown = Some(shown);
        }
        None => {
            (verdict.ok, verdict.unshown) = (false, true);
            verdict.note =
                format!("refused, and nothing went wrong on the engine: {}", certificate.reason);
        }
    }
    Ok(())
}

/// Searches small states for a call that cannot be formed, or goes wrong.
fn search(
    trial: &Trial<'_>,
    layout: &Layout,
    pattern: usize,
    certificate: &Certificate,
    options: &Options,
    verdict: &mut Verdict,
) -> Result<Option<(String, Shown)>, String> {
    for number in 0..TRIES_MAX as u64 {
        let seed = options.seed.wrapping_add(number << 16);
        let stage = Stage::new(trial, layout, trial.scene(seed, 3), seed)?;
        for call in 0..options.calls as u64 {
            let call = trial.call(pattern, &stage.scene, seed.wrapping_add(call << 40));
            verdict.calls += 1;
            let found = if certificate.write {
                stage.harm(pattern, &call)?
            } else {
                wrong_read(&stage, pattern, &call, verdict)?
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }
    Ok(None)
}

/// Runs a refused read on one state, and returns evidence of its harm.
fn wrong_read(
    stage: &Stage<'_>,
    pattern: usize,
    call: &Call,
    verdict: &mut Verdict,
) -> Result<Option<(String, Shown)>, String> {
    let session = stage.bench.session();
    let run = stage.trial.read(pattern, &stage.scene, call, &session);
    let log = session.log();
    let read: u64 = log.iter().map(|access| access.report.rows_read()).sum();
    if let Ok(run) = &run {
        verdict.rows_handed_on = log.iter().map(|access| access.report.rows_returned()).sum();
        verdict.rows_read = read;
        verdict.rows_returned = run.found.as_array().map_or(0, |rows| rows.len() as u64);
    }
    let shown = |right: Json, plan: Json| Shown {
        state: stage.trial.scene_json(&stage.scene),
        call: stage.trial.call_json(pattern, call),
        right,
        plan,
    };
    Ok(match run {
        Err(error) => Some((
            format!("the call cannot be formed: {error}"),
            shown(Json::Null, Json::from(error)),
        )),
        Ok(run) if !run.agrees => {
            Some(("the answer is wrong".to_owned(), shown(run.right, run.found)))
        }
        Ok(run) if read > run.items as u64 => Some((
            format!("{read} rows are read, {} returned", run.items),
            shown(run.right, run.found),
        )),
        Ok(_) => None,
    })
}

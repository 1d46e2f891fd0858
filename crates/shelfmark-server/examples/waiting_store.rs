//! Both faces over a store in memory whose reads wait, to be measured by the programs of `load`.
//!
//! `waiting_store [DYNAMODB_PORT] [CQL_PORT] [WAIT_MICROS]` serves until it is killed. A read waits for
//! so many microseconds (2,000 if nothing is said), and one of a key that holds `a-second` for a second.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_server::{CqlSettings, Faces, Pool, PoolSize, Server, Settings};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_testkit::waiting::WaitingStore;

const SLOW: &[u8] = b"a-second";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |usual: u64| arguments.next().map_or(Ok(usual), |text| text.parse());
    let (dynamodb, cql, micros) = (number(8000)?, number(9042)?, number(2_000)?);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let random = Arc::new(SeededRandom::new(1));
    let environment = Environment { clock: Arc::clone(&clock), random };
    let wait = move |key: &[u8]| {
        let is_slow = key.windows(SLOW.len()).any(|own| own == SLOW);
        let micros = if is_slow { 1_000_000 } else { micros };
        ThreadSleeper.sleep(Duration::from_micros(micros));
    };
    let store = WaitingStore::new(Arc::new(MemoryStore::new(clock)), Arc::new(wait));
    let engine = Engine::open(Arc::new(store), environment.clone())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let processors = std::thread::available_parallelism()?.get();
    let size = PoolSize::of(&engine.store().caps(), processors, 16);
    let pool = Arc::new(Pool::new(size, runtime.handle().clone()));
    let own = Arc::clone(&pool);
    let options = shelfmark_cql::FaceOptions::default();
    let cql_face =
        shelfmark_cql::Face::open(engine.clone(), environment.clone(), options, None, own)?;
    let options = shelfmark_dynamo::FaceOptions::default();
    let dynamodb_face = shelfmark_dynamo::Face::new(engine, environment, options);
    let faces = Faces {
        dynamodb: Some(Arc::new(dynamodb_face.with_pool(pool))),
        cql: Some(Arc::new(cql_face)),
    };
    let address = format!("127.0.0.1:{cql}").parse()?;
    let settings = Settings {
        dynamodb: Some(format!("127.0.0.1:{dynamodb}").parse()?),
        cql: Some(CqlSettings { address, optional: false, tls: None }),
        ..Settings::default()
    };
    runtime.block_on(async {
        let server = Server::bind(settings, faces).await?;
        writeln!(std::io::stdout(), "{:?}", server.addresses())?;
        server.run(std::future::pending()).await;
        Ok(())
    })
}

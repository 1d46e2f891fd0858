// Included by documentation tests as an expression: a registry over a store in memory.
(|| -> shelfmark_typed::Result<shelfmark_typed::Registry> {
    use shelfmark_engine::{Engine, Environment, SeededRandom};
    use shelfmark_store::{clock::SystemClock, memory::MemoryStore};
    use std::sync::Arc;

    let clock = Arc::new(SystemClock::new());
    let random = Arc::new(SeededRandom::new(1));
    let environment = Environment { clock: clock.clone(), random };
    let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment)?;
    shelfmark_typed::Registry::open(&engine)
})()

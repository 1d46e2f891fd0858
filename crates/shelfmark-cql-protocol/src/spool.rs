//! Files that hold answers too long for memory; a server brings them.

/// A file that holds the beginning of a long answer; gone when it is dropped.
pub trait Spool: Send + Sync + std::fmt::Debug {
    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// * The operating system's error, or that there is no room; the answer is given up.
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()>;

    /// Reads bytes at `offset`; fewer than fit only at the end.
    ///
    /// # Errors
    ///
    /// * The operating system's error; the connection is given up.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize>;
}

/// A place for [`Spool`]s.
pub trait Spools: Send + Sync + std::fmt::Debug {
    /// Creates an empty one.
    ///
    /// # Errors
    ///
    /// * The operating system's error; the answer is given up.
    fn create(&self) -> std::io::Result<Box<dyn Spool>>;
}

/// The beginning of a long answer.
#[derive(Debug)]
pub struct Spooled {
    /// The file.
    pub file: Box<dyn Spool>,
    /// The number of bytes in it.
    pub bytes: u64,
}

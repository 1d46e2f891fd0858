//! The options of the face.

use std::sync::Arc;

use shelfmark_engine::Share;

use crate::auth::Credentials;
use crate::scope::Scopes;

/// A listener to refused signatures, for a log; it gets the answer's words, which show no secret.
/// It must not block.
pub type RefusalListener = Arc<dyn Fn(&str) + Send + Sync>;

/// The identity and settings of the face; region and account show in ARNs.
#[derive(Clone)]
pub struct FaceOptions {
    /// The region, such as `eu-central-1`.
    pub region: String,
    /// The account, twelve digits.
    pub account: String,
    /// The endpoint that DescribeEndpoints returns to a request that names no host of its own.
    pub endpoint: String,
    /// The credentials that are accepted; without them, requests need no signature.
    pub credentials: Option<Credentials>,
    /// A listener that is called for every request whose signature is refused.
    pub refusals: Option<RefusalListener>,
    /// The default grant on tables of other faces, where they set none themselves.
    pub share: Share,
    /// The tables that requests signed for different regions and accounts see.
    pub scopes: Scopes,
    /// The memory that imports may take to look back in objects packed with Zstandard, all together.
    pub import_window_bytes: usize,
}

impl Default for FaceOptions {
    fn default() -> Self {
        Self {
            region: "local".to_owned(),
            account: "000000000000".to_owned(),
            endpoint: "localhost:8000".to_owned(),
            credentials: None,
            refusals: None,
            share: Share::default(),
            scopes: Scopes::default(),
            import_window_bytes: 512 * 1024 * 1024,
        }
    }
}

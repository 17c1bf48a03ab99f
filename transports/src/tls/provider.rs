//! The algorithms of TLS.

use std::sync::{Arc, LazyLock};

use rustls::crypto::{CryptoProvider, ring};

/// The algorithms of ring.
pub(super) static PROVIDER: LazyLock<Arc<CryptoProvider>> =
    LazyLock::new(|| Arc::new(ring::default_provider()));

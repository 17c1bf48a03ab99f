//! The way to a target: from this node over jump hosts and a proxy to the device.

use devgate_transports::Hop;
use serde_json::{Value as Json, json};

use super::pool::HostPool;

/// The way to a target. Nothing was sent to find it out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    /// The ways to the proxies. One of them is used.
    proxies: Vec<(String, Vec<Hop>)>,
    /// From the proxy, or from this node: jump hosts, then the device.
    device: Vec<Hop>,
}

/// A hop of a way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayHop<'w> {
    /// What it is: `jump host`, `proxy` or `device`.
    pub(crate) role: &'static str,
    /// The name of the proxy to which it leads.
    pub(crate) proxy: Option<&'w str>,
    /// Where it is, and how it is recognised.
    pub(crate) hop: &'w Hop,
}

impl Way {
    /// Creates the way through one of these proxies, if there are any.
    pub(crate) fn new(proxies: Option<&HostPool<'_>>, device: Vec<Hop>) -> Self {
        Self {
            proxies: proxies.map(HostPool::hops).unwrap_or_default(),
            device,
        }
    }

    /// Whether one of several proxies is used.
    pub(crate) fn is_pool(&self) -> bool {
        self.proxies.len() > 1
    }

    /// Returns the hops in their order. Those of several proxies follow each other.
    pub(crate) fn hops(&self) -> impl Iterator<Item = WayHop<'_>> {
        let proxies = self.proxies.iter().flat_map(|(name, hops)| {
            let last = hops.len().saturating_sub(1);
            hops.iter().enumerate().map(move |(at, hop)| WayHop {
                role: if at == last { "proxy" } else { "jump host" },
                proxy: Some(name.as_str()),
                hop,
            })
        });
        let last = self.device.len().saturating_sub(1);
        let device = self.device.iter().enumerate();
        proxies.chain(device.map(move |(at, hop)| WayHop {
            role: if at == last { "device" } else { "jump host" },
            proxy: None,
            hop,
        }))
    }

    /// Returns the way as JSON.
    pub(crate) fn to_json(&self) -> Json {
        self.hops().map(|hop| hop.to_json()).collect()
    }
}

impl WayHop<'_> {
    /// Returns the hop as JSON.
    pub(crate) fn to_json(self) -> Json {
        let mut json = json!({ "role": self.role, "address": self.hop.peer });
        if let Some(proxy) = self.proxy {
            json["proxy"] = proxy.into();
        }
        if let Some(user) = &self.hop.user {
            json["user"] = user.as_str().into();
        }
        json["trust"] = self.hop.trust.as_str().into();
        json
    }
}

/// Shows the hop in one line.
impl std::fmt::Display for WayHop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.role)?;
        if let Some(proxy) = self.proxy {
            match self.role {
                "proxy" => write!(f, " {proxy}")?,
                _ => write!(f, " to {proxy}")?,
            }
        }
        write!(f, ", ")?;
        if let Some(user) = &self.hop.user {
            write!(f, "{user}@")?;
        }
        write!(f, "{} ({})", self.hop.peer, self.hop.trust)
    }
}

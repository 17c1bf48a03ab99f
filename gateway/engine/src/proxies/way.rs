//! The way to a target: from this node over jump hosts and a proxy to the device.

use devgate_core::failure::Failure;
use devgate_transports::Hop;
use serde_json::{Value as Json, json};

use super::pool::HostPool;

/// The way to a target. Nothing was sent to find it out.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// The ways to the proxies. One of them is used.
    pub(crate) proxies: Vec<ProxyWay>,
    /// From the proxy, or from this node: jump hosts, then the target.
    target: Vec<Hop>,
    /// What the target is: `device` or `host`.
    target_role: &'static str,
}

/// The way to a proxy.
#[derive(Clone, Debug)]
pub(crate) struct ProxyWay {
    /// The name of the proxy.
    pub(crate) name: String,
    /// Jump hosts, then the proxy.
    pub(super) hops: Vec<Hop>,
    /// Why the proxy cannot be used, as far as that is known.
    pub(crate) fault: Option<Failure>,
    /// Whether a connection to the proxy is being opened.
    pub(crate) is_opening: bool,
    /// Whether there are others in its place.
    pub(super) is_alternative: bool,
}

/// A hop of a way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayHop<'w> {
    /// What it is: `jump host`, `proxy`, `device` or `host`.
    pub(crate) role: &'static str,
    /// The name of the proxy to which it leads.
    pub(crate) proxy: Option<&'w str>,
    /// Whether this proxy is one of several.
    pub(crate) is_alternative: bool,
    /// Where it is, and how it is recognised.
    pub(crate) hop: &'w Hop,
}

impl Way {
    /// Creates the way to a device, through one of these proxies if there are any.
    pub(crate) fn to_device(proxies: Option<&HostPool<'_>>, device: Vec<Hop>) -> Self {
        Self {
            proxies: proxies.map(HostPool::ways).unwrap_or_default(),
            target: device,
            target_role: "device",
        }
    }

    /// Creates the way to the only host of a pool.
    pub(crate) fn to_host(host: &HostPool<'_>) -> Self {
        Self {
            proxies: Vec::new(),
            target: host.ways().into_iter().flat_map(|way| way.hops).collect(),
            target_role: "host",
        }
    }

    /// Returns the hops in their order. Those of several proxies follow each other.
    pub(crate) fn hops(&self) -> impl Iterator<Item = WayHop<'_>> {
        let proxies = self.proxies.iter().flat_map(ProxyWay::hops);
        proxies.chain(self.target_hops())
    }

    /// Returns the hops behind the proxy.
    pub(crate) fn target_hops(&self) -> impl Iterator<Item = WayHop<'_>> {
        way_hops(&self.target, self.target_role, None, false)
    }

    /// Returns the way as JSON.
    pub(crate) fn to_json(&self) -> Json {
        self.hops().map(|hop| hop.to_json()).collect()
    }
}

impl ProxyWay {
    /// Returns the hops in their order.
    pub(crate) fn hops(&self) -> impl Iterator<Item = WayHop<'_>> {
        way_hops(&self.hops, "proxy", Some(&self.name), self.is_alternative)
    }
}

/// Returns hops of which the last has this role.
fn way_hops<'w>(
    hops: &'w [Hop],
    last_role: &'static str,
    proxy: Option<&'w str>,
    is_alternative: bool,
) -> impl Iterator<Item = WayHop<'w>> {
    let last = hops.len().saturating_sub(1);
    hops.iter().enumerate().map(move |(at, hop)| WayHop {
        role: if at == last { last_role } else { "jump host" },
        proxy,
        is_alternative,
        hop,
    })
}

impl WayHop<'_> {
    /// Returns the hop as JSON.
    pub(crate) fn to_json(self) -> Json {
        let mut json = json!({ "role": self.role, "address": self.hop.peer });
        if let Some(proxy) = self.proxy {
            json["proxy"] = proxy.into();
            if self.is_alternative {
                json["alternative"] = true.into();
            }
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

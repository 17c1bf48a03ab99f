//! Canonical forms of addresses, prefixes, masks, MAC addresses, interface names and number ranges.

use std::net::{IpAddr, Ipv4Addr};

/// An address with a prefix length; the host bits are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prefix {
    pub(super) address: IpAddr,
    pub(super) length: u8,
}

impl Prefix {
    /// Parses `192.0.2.1/24` or `2001:db8::1/64`. An address without a length is a host.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let invalid = || format!("`{text}` is no address and length, such as 192.0.2.0/24");
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            Some(length) => length.parse().map_err(|_| invalid())?,
            None => bits,
        };
        if length > bits {
            return Err(format!("`{text}` has a length beyond {bits}"));
        }
        Ok(Self { address, length })
    }

    /// Parses an IPv4 address and its mask. A wildcard mask is not valid.
    pub(super) fn with_mask(address: &str, mask: &str) -> Result<Self, String> {
        let bits: Ipv4Addr = mask
            .parse()
            .map_err(|_| format!("`{mask}` is no mask, such as 255.255.255.0"))?;
        let length = bits.to_bits().leading_ones();
        if bits.to_bits().checked_shl(length).unwrap_or(0) != 0 {
            return Err(format!(
                "`{mask}` is no mask: its ones are not all on the left"
            ));
        }
        Self::parse(&format!("{address}/{length}"))
    }

    /// Returns the network: the prefix with its host bits cleared.
    pub(super) fn network(self) -> Self {
        let address = match self.address {
            IpAddr::V4(address) => {
                let bits = address.to_bits() & self.mask_bits() as u32;
                IpAddr::V4(bits.into())
            }
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() & self.mask_bits()).into()),
        };
        Self { address, ..self }
    }

    /// Returns the network mask as an address.
    pub(super) fn netmask(self) -> IpAddr {
        match self.address {
            IpAddr::V4(_) => IpAddr::V4((self.mask_bits() as u32).into()),
            IpAddr::V6(_) => IpAddr::V6(self.mask_bits().into()),
        }
    }

    /// Returns the bits of the mask. For IPv4, they are the lower 32 bits.
    fn mask_bits(self) -> u128 {
        let bits: u32 = if self.address.is_ipv4() { 32 } else { 128 };
        let host = bits - u32::from(self.length);
        (u128::MAX >> (128 - bits)) & u128::MAX.checked_shl(host).unwrap_or(0)
    }
}

impl std::fmt::Display for Prefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

/// Converts a MAC address in any notation to `aa:bb:cc:dd:ee:ff`.
pub(super) fn mac(text: &str) -> Result<String, String> {
    let digits: String = text
        .chars()
        .filter(|character| !":-. ".contains(*character))
        .collect();
    if digits.len() != 12 || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(format!("`{text}` is no MAC address"));
    }
    let digits = digits.to_ascii_lowercase();
    let pairs: Vec<&str> = (0..12).step_by(2).map(|at| &digits[at..at + 2]).collect();
    Ok(pairs.join(":"))
}

/// Converts a list of numbers and ranges to its canonical form: `3,1-2, 7` is `1-3,7`.
pub(super) fn ranges(text: &str) -> Result<String, String> {
    let number = |text: &str| {
        text.trim()
            .parse::<u32>()
            .map_err(|_| format!("`{text}` is no number or range"))
    };
    let mut spans = Vec::new();
    for item in text.split(',').filter(|item| !item.trim().is_empty()) {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("`{}` runs backwards", item.trim()));
        }
        spans.push((first, last));
    }
    spans.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (first, last) in spans {
        match joined.last_mut() {
            Some(span) if first <= span.1.saturating_add(1) => span.1 = span.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    let texts: Vec<String> = joined
        .into_iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            _ => format!("{first}-{last}"),
        })
        .collect();
    Ok(texts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Result<String, String> {
        Prefix::parse(text).map(|prefix| prefix.network().to_string())
    }

    #[test]
    fn a_network_has_no_host_bits() {
        assert_eq!(network("10.1.2.3/16").as_deref(), Ok("10.1.0.0/16"));
        assert_eq!(network("0.0.0.0/0").as_deref(), Ok("0.0.0.0/0"));
        assert_eq!(network("192.0.2.7").as_deref(), Ok("192.0.2.7/32"));
        assert_eq!(
            network("2001:DB8:0:0::1/48").as_deref(),
            Ok("2001:db8::/48")
        );
        assert_eq!(network("::/0").as_deref(), Ok("::/0"));
        assert!(network("10.0.0.0/33").is_err());
        assert!(network("10.0.0/8").is_err());
    }

    #[test]
    fn masks_and_lengths_are_the_same() {
        let mask = |text| Prefix::parse(text).map(|prefix| prefix.netmask().to_string());
        assert_eq!(mask("10.0.0.0/22").as_deref(), Ok("255.255.252.0"));
        assert_eq!(mask("0.0.0.0/0").as_deref(), Ok("0.0.0.0"));
        let prefix = |address, mask| Prefix::with_mask(address, mask).map(|it| it.to_string());
        assert_eq!(
            prefix("10.0.0.1", "255.255.252.0").as_deref(),
            Ok("10.0.0.1/22")
        );
        assert_eq!(prefix("0.0.0.0", "0.0.0.0").as_deref(), Ok("0.0.0.0/0"));
        assert_eq!(
            prefix("10.0.0.1", "255.255.255.255").as_deref(),
            Ok("10.0.0.1/32")
        );
        assert!(prefix("10.0.0.1", "255.0.255.0").is_err());
    }

    #[test]
    fn mac_addresses_are_written_in_one_way() {
        for text in ["0200.5E10.0000", "02-00-5e-10-00-00", "02:00:5E:10:00:00"] {
            assert_eq!(mac(text).as_deref(), Ok("02:00:5e:10:00:00"));
        }
        assert!(mac("0200.5e10").is_err());
    }

    #[test]
    fn number_ranges_are_sorted_and_joined() {
        assert_eq!(ranges("30,10-12, 13,20").as_deref(), Ok("10-13,20,30"));
        assert_eq!(ranges("5").as_deref(), Ok("5"));
        assert!(ranges("all").is_err());
        assert!(ranges("9-3").is_err());
    }
}

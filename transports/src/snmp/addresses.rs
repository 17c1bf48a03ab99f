//! The IPv4 addresses of interfaces, from the table that the agent has: `ipAddrTable` (RFC 1213, 6), or
//! its successor `ipAddressTable` (RFC 4293).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use devgate_schemas::{Hash, Value as Fact};

use super::oid::Oid;
use super::pdu::{Object, Value};
use super::session::SnmpSession;
use crate::{Context, Result};

/// `ipAdEntIfIndex` and `ipAdEntNetMask`, both indexed by an address.
const IF_INDEX: &[u32] = &[1, 3, 6, 1, 2, 1, 4, 20, 1, 2];
const NET_MASK: &[u32] = &[1, 3, 6, 1, 2, 1, 4, 20, 1, 3];
/// `ipAddressIfIndex` and `ipAddressPrefix`, both indexed by an address type, a length and an address; here IPv4.
const ADDRESS_IF_INDEX: &[u32] = &[1, 3, 6, 1, 2, 1, 4, 34, 1, 3, 1, 4];
const ADDRESS_PREFIX: &[u32] = &[1, 3, 6, 1, 2, 1, 4, 34, 1, 5, 1, 4];

/// An interface's address, with its mask if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    address: Ipv4Addr,
    mask: Option<Ipv4Addr>,
}

/// Reads the addresses of all interfaces, by interface number (`ifIndex`).
///
/// # Errors
/// Fails when a table could not be read.
pub(super) async fn read(
    session: &SnmpSession,
    ctx: &Context<'_>,
) -> Result<BTreeMap<u32, Vec<Address>>> {
    for (index, mask) in [(IF_INDEX, NET_MASK), (ADDRESS_IF_INDEX, ADDRESS_PREFIX)] {
        let (index, mask) = (Oid::new(index), Oid::new(mask));
        let interfaces = session.walk(ctx, &index).await?;
        if !interfaces.is_empty() {
            let masks = session.walk(ctx, &mask).await?;
            return Ok(by_interface((&index, &interfaces), (&mask, &masks)));
        }
    }
    Ok(BTreeMap::new())
}

/// Combines two columns of a table: the interface of each address, and its mask.
fn by_interface(
    (index, interfaces): (&Oid, &[Object]),
    (column, masks): (&Oid, &[Object]),
) -> BTreeMap<u32, Vec<Address>> {
    let masks: BTreeMap<Ipv4Addr, Ipv4Addr> = masks
        .iter()
        .filter_map(|object| Some((address_of(object, column)?, mask(&object.value)?)))
        .collect();
    let mut found: BTreeMap<u32, Vec<Address>> = BTreeMap::new();
    for object in interfaces {
        let number = object.value.number().and_then(|n| u32::try_from(n).ok());
        if let (Some(number), Some(address)) = (number, address_of(object, index)) {
            let mask = masks.get(&address).copied();
            found
                .entry(number)
                .or_default()
                .push(Address { address, mask });
        }
    }
    found
}

/// Returns the address in the index of an object's row.
fn address_of(object: &Object, column: &Oid) -> Option<Ipv4Addr> {
    let arcs: &[u32; 4] = object.oid.below(column)?.try_into().ok()?;
    let bytes = arcs.map(u8::try_from);
    let [Ok(a), Ok(b), Ok(c), Ok(d)] = bytes else {
        return None;
    };
    Some(Ipv4Addr::new(a, b, c, d))
}

/// Returns a mask from an address, or from the name of a prefix, which ends with its length.
fn mask(value: &Value) -> Option<Ipv4Addr> {
    match value {
        Value::IpAddress(bytes) => Some(Ipv4Addr::from(*bytes)),
        Value::Oid(prefix) => {
            // `zeroDotZero` means no prefix.
            let length = prefix.last_of(&[1, 3, 6, 1, 2, 1, 4, 32, 1])?;
            let length = length.min(32);
            Some(Ipv4Addr::from_bits(
                u32::MAX.checked_shl(32 - length).unwrap_or(0),
            ))
        }
        _ => None,
    }
}

/// Returns the facts of an interface's addresses.
pub(super) fn facts(addresses: &[Address]) -> Vec<(&'static str, Fact)> {
    let Some(first) = addresses.first() else {
        return Vec::new();
    };
    let mut facts = vec![("ip", Fact::from(first.address.to_string()))];
    facts.extend(
        first
            .mask
            .map(|mask| ("netmask", Fact::from(mask.to_string()))),
    );
    let bindings = addresses.iter().map(|Address { address, mask }| {
        let mut binding = Hash::new();
        binding.insert("address", address.to_string().into());
        if let Some(mask) = mask {
            let network = Ipv4Addr::from_bits(address.to_bits() & mask.to_bits());
            binding.insert("netmask", mask.to_string().into());
            binding.insert("network", network.to_string().into());
        }
        Fact::Hash(binding)
    });
    facts.push(("bindings", Fact::Array(bindings.collect())));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(oid: &str, value: Value) -> Object {
        let oid = Oid::parse(oid).expect("an identifier");
        Object { oid, value }
    }

    #[test]
    fn addresses_are_read_from_either_table() {
        let expected = Address {
            address: Ipv4Addr::new(192, 0, 2, 9),
            mask: Some(Ipv4Addr::new(255, 255, 255, 128)),
        };
        let old = by_interface(
            (
                &Oid::new(IF_INDEX),
                &[
                    object("1.3.6.1.2.1.4.20.1.2.192.0.2.9", Value::Integer(7)),
                    object("1.3.6.1.2.1.4.20.1.2.999.0.2.9", Value::Integer(7)),
                ],
            ),
            (
                &Oid::new(NET_MASK),
                &[object(
                    "1.3.6.1.2.1.4.20.1.3.192.0.2.9",
                    Value::IpAddress([255, 255, 255, 128]),
                )],
            ),
        );
        let prefix = Oid::parse("1.3.6.1.2.1.4.32.1.5.7.1.4.192.0.2.0.25").expect("an identifier");
        let new = by_interface(
            (
                &Oid::new(ADDRESS_IF_INDEX),
                &[
                    object("1.3.6.1.2.1.4.34.1.3.1.4.192.0.2.9", Value::Integer(7)),
                    object("1.3.6.1.2.1.4.34.1.3.1.4.10.0.0.1", Value::Integer(8)),
                ],
            ),
            (
                &Oid::new(ADDRESS_PREFIX),
                &[
                    object("1.3.6.1.2.1.4.34.1.5.1.4.192.0.2.9", Value::Oid(prefix)),
                    object(
                        "1.3.6.1.2.1.4.34.1.5.1.4.10.0.0.1",
                        Value::Oid(Oid::new(&[0, 0])),
                    ),
                ],
            ),
        );
        assert_eq!(old, BTreeMap::from([(7, vec![expected])]));
        assert_eq!(new[&7], [expected]);
        assert_eq!(new[&8][0].mask, None);
    }

    #[test]
    fn an_interface_tells_its_first_address_and_all() {
        let address = |last, mask| Address {
            address: Ipv4Addr::new(192, 0, 2, last),
            mask,
        };
        let mask = Some(Ipv4Addr::new(255, 255, 255, 0));
        let facts: Hash = facts(&[address(1, mask), address(2, None)])
            .into_iter()
            .collect();
        let expected = serde_json::json!({
            "ip": "192.0.2.1", "netmask": "255.255.255.0",
            "bindings": [
                {"address": "192.0.2.1", "netmask": "255.255.255.0", "network": "192.0.2.0"},
                {"address": "192.0.2.2"},
            ],
        });
        assert_eq!(Fact::Hash(facts), Fact::from(expected));
        assert_eq!(super::facts(&[]), []);
    }
}

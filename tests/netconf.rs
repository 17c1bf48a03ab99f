//! NETCONF with real servers: the devices that `tests/lab/netconf.sh` starts.

#[path = "netconf/change.rs"]
mod change;
#[path = "netconf/device.rs"]
mod device;
#[path = "netconf/faults.rs"]
mod faults;

//! The system: `show version` and `show inventory`.

use crate::clock;
use crate::interface::{InterfaceName, PORTS};
use crate::switch::Switch;

const SERIAL: &str = "DEV2647G001";

/// `show version`
pub(crate) fn version(switch: &Switch) -> String {
    let hostname = &switch.running.hostname;
    let up = clock::uptime(
        switch
            .now()
            .duration_since(switch.booted)
            .unwrap_or_default(),
    );
    let names = switch.running.interfaces.keys();
    let virtuals = names
        .filter(|name| matches!(name, InterfaceName::Vlan(_)))
        .count();
    let plural = if virtuals == 1 { "" } else { "s" };
    format!(
        "\
Cisco IOS Software, Practice Software (PRACTICE-UNIVERSALK9-M), Version 15.2(7)E4, RELEASE SOFTWARE (fc2)
This is the practice switch of devgate: it speaks a small part of IOS and forwards nothing.

ROM: Bootstrap program is practice boot loader
BOOTLDR: Practice Boot Loader (PRACTICE-HBOOT-M) Version 15.2(7r)E, RELEASE SOFTWARE (fc1)

{hostname} uptime is {up}
System returned to ROM by power-on
System image file is \"flash:practice-universalk9-mz.152-7.E4.bin\"
Last reload reason: power-on

cisco PRACTICE-4T (virtual) processor (revision A0) with 65536K bytes of memory.
Processor board ID {SERIAL}
Last reset from power-on
{virtuals} Virtual Ethernet interface{plural}
{PORTS} Gigabit Ethernet interfaces
The password-recovery mechanism is enabled.

64K bytes of flash-simulated non-volatile configuration memory.
Base ethernet MAC Address       : 02:00:5E:10:00:00
Model number                    : PRACTICE-4T
System serial number            : {SERIAL}

Configuration register is 0xF
"
    )
}

/// `show inventory`
pub(crate) fn inventory() -> String {
    format!(
        "NAME: \"1\", DESCR: \"PRACTICE-4T\"\nPID: {:<18}, VID: V01  , SN: {SERIAL}\n\n",
        "PRACTICE-4T"
    )
}

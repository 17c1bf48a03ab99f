//! The exec commands: `show`, saving, the terminal, and changing the mode.

use crate::clock;
use crate::grammar::{Arguments, Rule};
use crate::show::{interface, interfaces, routes, running, system, vlans};
use crate::switch::Switch;
use crate::vty::{Mode, Question, Reply, Vty};

/// Commands for all users.
pub(super) const USER: &[Rule] = &[
    Rule::new("enable", enable),
    Rule::new("exit", |_, _, _| Reply::Close),
    Rule::new("logout", |_, _, _| Reply::Close),
    Rule::new("quit", |_, _, _| Reply::Close),
    Rule::new("show", |_, _, _| Reply::line(SUBCOMMANDS)),
    Rule::new("show clock", show_clock),
    Rule::new("show interfaces", |s, _, _| {
        text(interface::all(&s.running))
    }),
    Rule::new("show interfaces INTERFACE", show_interface),
    Rule::new("show interfaces description", |s, _, _| {
        text(interfaces::description(s))
    }),
    Rule::new("show interfaces status", |s, _, _| {
        text(interfaces::status(s))
    }),
    Rule::new("show inventory", |_, _, _| text(system::inventory())),
    Rule::new("show ip interface brief", |s, _, _| {
        text(interfaces::ip_brief(s))
    }),
    Rule::new("show ip route", |s, _, _| {
        text(routes::table(&s.running, false))
    }),
    Rule::new("show ip route static", |s, _, _| {
        text(routes::table(&s.running, true))
    }),
    Rule::new("show privilege", show_privilege),
    Rule::new("show version", |s, _, _| text(system::version(s))),
    Rule::new("show vlan", |s, _, _| text(vlans::brief(&s.running))),
    Rule::new("show vlan brief", |s, _, _| text(vlans::brief(&s.running))),
    Rule::new("terminal length <0-512>", terminal_length),
    Rule::new("terminal width <0-512>", terminal_width),
];

/// Commands that need `enable`.
pub(super) const PRIVILEGED: &[Rule] = &[
    Rule::new("configure", |_, _, _| Reply::Ask(Question::ConfigureFrom)),
    Rule::new("configure terminal", configure),
    Rule::new("copy running-config startup-config", |_, _, _| {
        Reply::Ask(Question::CopyTo)
    }),
    Rule::new("disable", disable),
    Rule::new("erase startup-config", |_, _, _| {
        Reply::Ask(Question::Erase)
    }),
    Rule::new("show running-config", |s, _, _| text(running::full(s))),
    Rule::new(
        "show running-config interface INTERFACE",
        show_running_interface,
    ),
    Rule::new("show startup-config", |s, _, _| text(running::startup(s))),
    Rule::new("write", save),
    Rule::new("write erase", |_, _, _| Reply::Ask(Question::Erase)),
    Rule::new("write memory", save),
    Rule::new("write terminal", |s, _, _| text(running::full(s))),
];

const SUBCOMMANDS: &str = "% Type \"show ?\" for a list of subcommands";

/// Acts on the answer to a question.
pub(crate) fn answer(
    question: Question,
    switch: &mut Switch,
    vty: &mut Vty,
    answer: &str,
) -> Reply {
    let answer = answer.trim();
    match question {
        Question::ConfigureFrom if "terminal".starts_with(answer) => {
            configure(switch, vty, &Arguments::default())
        }
        Question::ConfigureFrom => Reply::line("?Must be \"terminal\", \"memory\" or \"network\""),
        Question::CopyTo if answer.is_empty() || answer == "startup-config" => {
            save(switch, vty, &Arguments::default())
        }
        Question::CopyTo => Reply::line(format!("%Error opening nvram:{answer} (No such file)")),
        Question::Erase if answer.is_empty() || answer.eq_ignore_ascii_case("y") => {
            switch.startup = None;
            Reply::line("[OK]\nErase of nvram: complete")
        }
        Question::Erase => Reply::empty(),
    }
}

fn text(text: String) -> Reply {
    Reply::Text(text)
}

fn enable(_: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    if vty.mode == Mode::User {
        Reply::Password
    } else {
        Reply::empty()
    }
}

fn disable(_: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    vty.mode = Mode::User;
    Reply::empty()
}

fn configure(_: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    vty.mode = Mode::Config;
    Reply::line("Enter configuration commands, one per line.  End with CNTL/Z.")
}

fn save(switch: &mut Switch, _: &mut Vty, _: &Arguments) -> Reply {
    switch.save();
    Reply::line("Building configuration...\n[OK]")
}

fn show_clock(switch: &mut Switch, _: &mut Vty, _: &Arguments) -> Reply {
    // The asterisk means that the time is not synchronized.
    Reply::line(format!("*{}", clock::to_the_millisecond(switch.now())))
}

fn show_privilege(_: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    let level = if vty.mode == Mode::User { 1 } else { 15 };
    Reply::line(format!("Current privilege level is {level}"))
}

fn show_interface(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    Reply::Text(interface::one(&switch.running, arguments.interface))
}

fn show_running_interface(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    Reply::Text(running::of_interface(&switch.running, arguments.interface))
}

fn terminal_length(_: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    vty.rows = usize::from(arguments.number);
    Reply::empty()
}

fn terminal_width(_: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    vty.width = usize::from(arguments.number);
    Reply::empty()
}

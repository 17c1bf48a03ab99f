//! Random states of many resources: written and read back, from an empty and from a full configuration.

use serde_json::{Value, json};

use crate::candidate::Vendor;
use crate::dice::Dice;
use crate::fleet::Setup;
use crate::wishes::{Wish, interface_lines, interface_name, route_line, wish};

/// The number of resources of each type.
const COUNT: usize = 200;

/// Characters of texts, beside letters and digits.
const ODD: &[char] = &[
    ' ', '-', '_', '.', ':', '/', '#', '!', '\'', ',', ';', '(', ')', '[', ']', '{', '}', '%', '&',
    '*', '+', '=', '@', '~', '^', '<', '>', '$',
];

/// Returns a text without blanks at its ends.
fn text(dice: &mut Dice) -> String {
    let length = dice.between(1, 40);
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".chars();
    let letters: Vec<char> = letters.collect();
    let mut text: String = (0..length)
        .map(|_| {
            if dice.chance(30) {
                *dice.pick(ODD)
            } else {
                *dice.pick(&letters)
            }
        })
        .collect();
    while text.contains("  ") {
        text = text.replace("  ", " ");
    }
    let text = text.trim().to_owned();
    // A number alone is also text, and a text of two letters cannot be a word that ends something.
    if text.is_empty() {
        "x".to_owned()
    } else {
        text
    }
}

/// Returns random wishes, and what the configuration holds of them now.
fn draw(vendor: Vendor, dice: &mut Dice, held: &[Vec<String>]) -> Vec<Wish> {
    let mut wishes = vec![];
    for number in 0..COUNT {
        let name = interface_name(vendor, number + 20);
        let (description, mtu) = (text(dice), 1000 + dice.between(0, 8000) as u32);
        let lines = interface_lines(vendor, &name, &description, mtu);
        let wanted = json!({ "description": description, "mtu": mtu });
        wishes.push(("interface", name, wanted, lines.to_vec()));
    }
    for number in 0..COUNT {
        let prefix = format!("10.{}.{}.0/24", 100 + number / 100, number % 100);
        let hop = format!("192.0.2.{}", dice.between(100, 250));
        let line = route_line(vendor, &prefix, &hop);
        wishes.push(("route", prefix, json!({ "next_hop": hop }), vec![line]));
    }
    let before = |at: usize| held.get(at).cloned().unwrap_or_default();
    let wishes = wishes
        .into_iter()
        .enumerate()
        .map(|(at, (kind, title, wanted, lines))| {
            let is_absent = dice.chance(15);
            let (wanted, after): (Value, Vec<String>) = if is_absent {
                (json!({ "ensure": "absent" }), vec![])
            } else {
                (wanted, lines)
            };
            wish(vendor, kind, &title, wanted, &before(at), &after)
        });
    wishes.collect()
}

/// Applies random states twice, on one device: to an empty configuration, and to the one that it has then.
pub(crate) fn check(vendor: Vendor, seed: u64) {
    let mut dice = Dice::of(seed, &format!("{vendor:?}"));
    let mut setup = Setup::new(vendor, draw(vendor, &mut dice, &[]));
    let fleet = setup.one();
    for round in ["empty", "full"] {
        fleet.wish(&setup.wishes);
        let report = fleet.run("");
        assert!(
            report.succeeded,
            "{vendor:?}, {round}, seed {seed}: {report}"
        );
        let running = fleet.devices[0].device().running().clone();
        for wish in &setup.wishes {
            assert!(
                wish.is_done(&running),
                "{vendor:?}, {round}, seed {seed}: {wish:?}"
            );
        }
        fleet.devices[0].device().plan(&[]);
        let report = fleet.run("");
        let received = fleet.received(0);
        let configures = received.iter().any(|line| line.contains(": configure"));
        assert!(
            !configures && report.succeeded,
            "{vendor:?}, {round}, seed {seed}: {report}"
        );
        let held: Vec<Vec<String>> = setup.wishes.iter().map(|wish| wish.after.clone()).collect();
        setup.wishes = draw(vendor, &mut dice, &held);
    }
}

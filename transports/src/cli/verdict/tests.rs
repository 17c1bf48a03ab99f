//! Tests of proven ends, and of output that looks like one.

use super::*;

fn judged(proof: &Proof, screen: &Screen, manner: Option<Manner>) -> Verdict {
    let log = [Pattern::new("^%SYS-").expect("a pattern")];
    proof.judge(
        screen,
        |line| line.trim_end() == "r1#",
        manner.as_ref(),
        &log,
    )
}

fn manner(blanks: Blanks) -> Manner {
    Manner {
        blanks,
        gap: String::new(),
        lead: false,
    }
}

fn asked(text: &str) -> (Screen, Proof) {
    let (mut screen, mut proof) = (Screen::default(), Proof::default());
    screen.push(text.as_bytes());
    proof.ask(&screen, 5, true);
    (screen, proof)
}

#[test]
fn a_prompt_is_proven_by_the_one_that_was_asked_for() {
    let mut screen = Screen::default();
    screen.push(b"out\r\nr1# ");
    assert_eq!(judged(&Proof::default(), &screen, None), Verdict::Ask);
    for (blanks, shown) in [("     ", Blanks::Shown), ("", Blanks::Hidden)] {
        let (mut screen, proof) = asked("out\r\nr1# ");
        assert_eq!(judged(&proof, &screen, None), Verdict::Wait);
        screen.push(format!("{blanks}\r\nr1# ").as_bytes());
        assert_eq!(
            judged(&proof, &screen, None),
            Verdict::Proven(4, manner(shown))
        );
    }
}

#[test]
fn a_blank_of_the_prompt_that_comes_late_is_none_of_those_that_were_typed() {
    let prompt = Prompt::learn("r1# ", "r1# ").expect("a prompt");
    let (mut screen, mut proof) = (Screen::default(), Proof::default());
    let judged = |proof: &Proof, screen: &Screen| {
        proof.judge_shown(screen, &prompt, &manner(Blanks::Shown), &[])
    };
    screen.push(b"out\r\nr1#");
    proof.ask(&screen, 4, false);
    screen.push(b"    ");
    assert_eq!(judged(&proof, &screen), Verdict::Wait);
    screen.push(b" ");
    assert_eq!(judged(&proof, &screen), Verdict::Ask);
}

#[test]
fn where_blanks_are_shown_a_prompt_without_them_proves_nothing() {
    let (mut screen, proof) = asked("out\r\nr1#");
    screen.push(b"\r\nr1#");
    assert_eq!(
        judged(&proof, &screen, Some(manner(Blanks::Shown))),
        Verdict::Wait
    );
    screen.push(b"\r\nr1#\r\nmore\r\nr1#     \r\nr1#");
    assert_eq!(
        judged(&proof, &screen, Some(manner(Blanks::Shown))),
        Verdict::Proven(21, manner(Blanks::Shown))
    );
}

#[test]
fn a_prompt_whose_blanks_are_still_being_shown_is_not_another_one() {
    let (mut screen, proof) = asked("Hello\r\nr1#\r\n\r\nr1#");
    screen.push(b"  ");
    assert_eq!(judged(&proof, &screen, None), Verdict::Wait);
    screen.push(b"   \r\nr1#");
    let proven = Verdict::Proven(11, manner(Blanks::Shown));
    assert_eq!(judged(&proof, &screen, None), proven);
}

#[test]
fn a_log_message_in_between_is_not_the_output_going_on() {
    for blanks in ["     ", ""] {
        let (mut screen, proof) = asked("out\r\nr1#");
        screen.push(format!("{blanks}\r\n%SYS-5-CONFIG_I: by admin\r\nr1#").as_bytes());
        let verdict = judged(&proof, &screen, None);
        assert!(matches!(verdict, Verdict::Proven(4, _)), "{verdict:?}");
    }
}

#[test]
fn a_gap_that_was_learnt_from_a_greeting_is_learnt_anew() {
    let wrong = || {
        let gap = "\n".to_owned();
        Some(Manner {
            blanks: Blanks::Hidden,
            gap,
            lead: false,
        })
    };
    let (mut screen, proof) = asked("out\r\nr1#");
    screen.push(b"     \r\nr1#");
    let right = Verdict::Proven(4, manner(Blanks::Shown));
    assert_eq!(judged(&proof, &screen, wrong()), right);

    let (mut screen, mut proof) = asked("out\r\nr1#");
    screen.push(b"\r\nr1#");
    assert_eq!(judged(&proof, &screen, wrong()), Verdict::Wait);
    proof.ask(&screen, 6, true);
    screen.push(b"\r\nr1#");
    let right = Verdict::Proven(4, manner(Blanks::Hidden));
    assert_eq!(judged(&proof, &screen, wrong()), right);
}

#[test]
fn a_line_that_only_looked_like_the_prompt_is_output() {
    let (mut screen, proof) = asked("one\r\nr1#");
    screen.push(b"\r\ntwo\r\nr1#");
    assert_eq!(
        judged(&proof, &screen, Some(manner(Blanks::Hidden))),
        Verdict::Wait
    );
    screen.push(b"\r\nr1#");
    assert_eq!(
        judged(&proof, &screen, Some(manner(Blanks::Hidden))),
        Verdict::Proven(12, manner(Blanks::Hidden))
    );
    assert_eq!(&screen.text()[..12], "one\nr1#\ntwo\n");
}

#[test]
fn blanks_that_were_shown_too_early_are_taken_out() {
    let (mut screen, proof) = asked("one\r\nr1#");
    screen.push(b"     \r\n\r\ntwo\r\n");
    let mut output = screen.text().to_owned();
    proof.without_blanks(&mut output, 0, false);
    assert_eq!(output, "one\nr1#\ntwo\n");
}

#[test]
fn what_stands_between_prompts_is_learnt_and_nothing_else_may() {
    let (mut screen, proof) = asked("out\r\n\r\n[edit]\r\nr1#");
    screen.push(b"     \r\n\r\n[edit]\r\nr1#");
    let gap = "\n[edit]\n".to_owned();
    let junos = Manner {
        blanks: Blanks::Shown,
        gap,
        lead: false,
    };
    assert_eq!(
        judged(&proof, &screen, None),
        Verdict::Proven(12, junos.clone())
    );
    assert_eq!(
        judged(&proof, &screen, Some(junos)),
        Verdict::Proven(12, junos_again())
    );
    assert_eq!(
        judged(&proof, &screen, Some(manner(Blanks::Shown))),
        Verdict::Wait
    );
}

fn junos_again() -> Manner {
    Manner {
        blanks: Blanks::Shown,
        gap: "\n[edit]\n".to_owned(),
        lead: false,
    }
}

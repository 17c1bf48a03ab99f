//! Tests of proven ends, and of output that looks like one.

use super::*;

fn judged(
    proof: &PromptProof,
    screen: &Screen,
    prompt_behaviour: Option<PromptBehaviour>,
) -> PromptVerdict {
    let log = [Pattern::new("^%SYS-").expect("a pattern")];
    proof.judge(
        screen,
        |line| line.trim_end() == "r1#",
        prompt_behaviour.as_ref(),
        &log,
    )
}

fn prompt_behaviour(blanks: BlankDisplay) -> PromptBehaviour {
    PromptBehaviour {
        blanks,
        gap: String::new(),
        lead: false,
    }
}

fn screen_and_proof(text: &str) -> (Screen, PromptProof) {
    let (mut screen, mut proof) = (Screen::default(), PromptProof::default());
    screen.push(text.as_bytes());
    proof.record_probe(&screen, 5, true);
    (screen, proof)
}

#[test]
fn a_prompt_is_proven_by_the_one_that_was_asked_for() {
    let mut screen = Screen::default();
    screen.push(b"out\r\nr1# ");
    assert_eq!(
        judged(&PromptProof::default(), &screen, None),
        PromptVerdict::Ask
    );
    for (blanks, shown) in [("     ", BlankDisplay::Shown), ("", BlankDisplay::Hidden)] {
        let (mut screen, proof) = screen_and_proof("out\r\nr1# ");
        assert_eq!(judged(&proof, &screen, None), PromptVerdict::AnswerWait);
        screen.push(format!("{blanks}\r\nr1# ").as_bytes());
        assert_eq!(
            judged(&proof, &screen, None),
            PromptVerdict::Proven(4, prompt_behaviour(shown))
        );
    }
}

#[test]
fn a_blank_of_the_prompt_that_comes_late_is_none_of_those_that_were_typed() {
    let prompt = Prompt::learn("r1# ", "r1# ").expect("a prompt");
    let (mut screen, mut proof) = (Screen::default(), PromptProof::default());
    let judged = |proof: &PromptProof, screen: &Screen| {
        proof.judge_shown(screen, &prompt, &prompt_behaviour(BlankDisplay::Shown), &[])
    };
    screen.push(b"out\r\nr1#");
    proof.record_probe(&screen, 4, false);
    screen.push(b"    ");
    assert_eq!(judged(&proof, &screen), PromptVerdict::AnswerWait);
    screen.push(b" ");
    assert_eq!(judged(&proof, &screen), PromptVerdict::Ask);
}

#[test]
fn where_blanks_are_shown_a_prompt_without_them_proves_nothing() {
    let (mut screen, proof) = screen_and_proof("out\r\nr1#");
    screen.push(b"\r\nr1#");
    assert_eq!(
        judged(&proof, &screen, Some(prompt_behaviour(BlankDisplay::Shown))),
        PromptVerdict::AnswerWait
    );
    screen.push(b"\r\nr1#\r\nmore\r\nr1#     \r\nr1#");
    assert_eq!(
        judged(&proof, &screen, Some(prompt_behaviour(BlankDisplay::Shown))),
        PromptVerdict::Proven(21, prompt_behaviour(BlankDisplay::Shown))
    );
}

#[test]
fn a_prompt_whose_blanks_are_still_being_shown_is_not_another_one() {
    let (mut screen, proof) = screen_and_proof("Hello\r\nr1#\r\n\r\nr1#");
    screen.push(b"  ");
    assert_eq!(judged(&proof, &screen, None), PromptVerdict::AnswerWait);
    screen.push(b"   \r\nr1#");
    let proven = PromptVerdict::Proven(11, prompt_behaviour(BlankDisplay::Shown));
    assert_eq!(judged(&proof, &screen, None), proven);
}

#[test]
fn a_log_message_in_between_is_not_the_output_going_on() {
    for blanks in ["     ", ""] {
        let (mut screen, proof) = screen_and_proof("out\r\nr1#");
        screen.push(format!("{blanks}\r\n%SYS-5-CONFIG_I: by admin\r\nr1#").as_bytes());
        let verdict = judged(&proof, &screen, None);
        assert!(
            matches!(verdict, PromptVerdict::Proven(4, _)),
            "{verdict:?}"
        );
    }
}

#[test]
fn a_gap_that_was_learnt_from_a_greeting_is_learnt_again() {
    let wrong = || {
        let gap = "\n".to_owned();
        Some(PromptBehaviour {
            blanks: BlankDisplay::Hidden,
            gap,
            lead: false,
        })
    };
    let (mut screen, proof) = screen_and_proof("out\r\nr1#");
    screen.push(b"     \r\nr1#");
    let right = PromptVerdict::Proven(4, prompt_behaviour(BlankDisplay::Shown));
    assert_eq!(judged(&proof, &screen, wrong()), right);

    let (mut screen, mut proof) = screen_and_proof("out\r\nr1#");
    screen.push(b"\r\nr1#");
    assert_eq!(judged(&proof, &screen, wrong()), PromptVerdict::AnswerWait);
    proof.record_probe(&screen, 6, true);
    screen.push(b"\r\nr1#");
    let right = PromptVerdict::Proven(4, prompt_behaviour(BlankDisplay::Hidden));
    assert_eq!(judged(&proof, &screen, wrong()), right);
}

#[test]
fn a_line_that_only_looked_like_the_prompt_is_output() {
    let (mut screen, proof) = screen_and_proof("one\r\nr1#");
    screen.push(b"\r\ntwo\r\nr1#");
    assert_eq!(
        judged(
            &proof,
            &screen,
            Some(prompt_behaviour(BlankDisplay::Hidden))
        ),
        PromptVerdict::AnswerWait
    );
    screen.push(b"\r\nr1#");
    assert_eq!(
        judged(
            &proof,
            &screen,
            Some(prompt_behaviour(BlankDisplay::Hidden))
        ),
        PromptVerdict::Proven(12, prompt_behaviour(BlankDisplay::Hidden))
    );
    assert_eq!(&screen.text()[..12], "one\nr1#\ntwo\n");
}

#[test]
fn blanks_that_were_shown_too_early_are_taken_out() {
    let (mut screen, proof) = screen_and_proof("one\r\nr1#");
    screen.push(b"     \r\n\r\ntwo\r\n");
    let mut output = screen.text().to_owned();
    proof.remove_blanks(&mut output, 0, false);
    assert_eq!(output, "one\nr1#\ntwo\n");
}

#[test]
fn what_stands_between_prompts_is_learnt_and_nothing_else_may() {
    let (mut screen, proof) = screen_and_proof("out\r\n\r\n[edit]\r\nr1#");
    screen.push(b"     \r\n\r\n[edit]\r\nr1#");
    let gap = "\n[edit]\n".to_owned();
    let junos = PromptBehaviour {
        blanks: BlankDisplay::Shown,
        gap,
        lead: false,
    };
    assert_eq!(
        judged(&proof, &screen, None),
        PromptVerdict::Proven(12, junos.clone())
    );
    assert_eq!(
        judged(&proof, &screen, Some(junos)),
        PromptVerdict::Proven(12, junos_again())
    );
    assert_eq!(
        judged(&proof, &screen, Some(prompt_behaviour(BlankDisplay::Shown))),
        PromptVerdict::AnswerWait
    );
}

fn junos_again() -> PromptBehaviour {
    PromptBehaviour {
        blanks: BlankDisplay::Shown,
        gap: "\n[edit]\n".to_owned(),
        lead: false,
    }
}

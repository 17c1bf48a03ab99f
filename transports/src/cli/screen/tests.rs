//! Tests of the screen with output as devices send it.

use super::*;

fn shown(chunks: &[&[u8]]) -> String {
    let mut screen = Screen::default();
    chunks.iter().for_each(|chunk| screen.push(chunk));
    screen.text().to_owned()
}

/// Returns the text for these bytes, which must not depend on how they are split into chunks.
fn shown_however_split(bytes: &[u8]) -> String {
    let whole = shown(&[bytes]);
    assert_eq!(shown(&bytes.chunks(1).collect::<Vec<_>>()), whole);
    for cut in 1..bytes.len() {
        assert_eq!(
            shown(&[&bytes[..cut], &bytes[cut..]]),
            whole,
            "cut at {cut}"
        );
    }
    whole
}

#[test]
fn line_ends_and_control_bytes_are_normalised() {
    assert_eq!(shown_however_split(b"a\r\nb\r\r\nc\0\x07d\n"), "a\nb\ncd\n");
}

#[test]
fn escape_sequences_vanish() {
    assert_eq!(
        shown_however_split(
            b"\x1b[?2004h\x1b[1;31mr1\x1b[0m# \x1b]0;title\x07x\x1b(B\x1b=y\x1b]2;t\x1b\\z"
        ),
        "r1# xyz"
    );
}

#[test]
fn a_stray_escape_swallows_no_line() {
    assert_eq!(shown_however_split(b"a\x1b[12\nb\x1b]x\nc"), "a\nb\nc");
}

#[test]
fn overwritten_text_is_gone() {
    assert_eq!(shown_however_split(b"ab\x08c\n"), "ac\n");
    assert_eq!(shown_however_split(b"10%\r20%\r100%\n"), "100%\n");
    assert_eq!(
        shown_however_split(b"shwo\x08\x08\x1b[Kow run\n"),
        "show run\n"
    );
    assert_eq!(shown_however_split(b"abcdef\x1b[3D\x1b[2PX\n"), "abcX\n");
    assert_eq!(shown_however_split(b"abc\x1b[2K\rx\n"), "x\n");
}

#[test]
fn a_wiped_out_pager_leaves_no_trace() {
    let erased = b"one\r\n --More-- \x08\x08\x08\x08\x08\x08\x08\x08\x08\x08          \x08\x08\x08\x08\x08\x08\x08\x08\x08\x08two\r\n";
    assert_eq!(shown_however_split(erased), "one\ntwo\n");
    assert_eq!(
        shown_however_split(b"--More--\r        \rab  cd\r\n"),
        "ab  cd\n"
    );
    let wider = b"---(more)---\r                                        \rab\r\n";
    assert_eq!(shown_however_split(wider), "ab\n");
    let prompt = b" --More-- \x08\x08\x08\x08\x08\x08\x08\x08\x08\x08          \x08\x08\x08\x08\x08\x08\x08\x08\x08\x08r1#    ";
    assert_eq!(shown_however_split(prompt), "r1#    ");
}

#[test]
fn blanks_behind_a_prompt_are_seen_where_a_line_was_erased() {
    for erased_output in ["\r\x1b[2K", "\x1b[2K\r", "\r\x1b[K"] {
        let drawn = format!("Press any key{erased_output}r1#    ");
        assert_eq!(
            shown_however_split(drawn.as_bytes()),
            "r1#    ",
            "{erased_output:?}"
        );
    }
}

#[test]
fn blanks_where_others_were_taken_back_are_blanks() {
    assert_eq!(
        shown_however_split(b"r1#^K  \x08 \x08\x08 \x08   \r\n"),
        "r1#^K   \n"
    );
}

#[test]
fn the_first_and_the_last_content_of_redrawn_lines_are_kept() {
    let mut screen = Screen::default();
    screen.mark();
    let last = 100_000;
    for number in 0..=last {
        screen.push(format!("{number:06}\rx\n").as_bytes());
    }
    assert_eq!(screen.redrawn_lines().count(), MAX_KEPT);
    // The line is `x`, the digits that it has not overwritten, and the line end.
    let begin = |number| number * "000000\n".len();
    assert_eq!(screen.before_redraw(begin(0)), Some("000000"));
    assert_eq!(screen.before_redraw(begin(last)), Some("100000"));
    assert_eq!(screen.before_redraw(begin(last / 2)), None);
}

#[test]
fn characters_may_be_split_and_wrong_bytes_are_replaced() {
    assert_eq!(
        shown_however_split("Zürich → €\n".as_bytes()),
        "Zürich → €\n"
    );
    assert_eq!(shown_however_split(b"Z\xfcrich\n"), "Z\u{fffd}rich\n");
}

#[test]
fn an_empty_line_is_erased_to_an_empty_line() {
    for erased in ["\x1b[2K", "\x1b[1K", "\x1b[1J", "\x1b[P"] {
        let mut screen = Screen::default();
        screen.push(format!("one\r\n{erased}two").as_bytes());
        assert_eq!(screen.text(), "one\ntwo");
    }
}

#[test]
fn the_last_line_continues_when_the_rest_is_removed() {
    let mut screen = Screen::default();
    screen.push(b"old\r\nr1# ");
    screen.keep_last_line();
    screen.push(b"show\r\n");
    assert_eq!(screen.text(), "r1# show\n");
    assert_eq!(screen.last_line(), "");
}

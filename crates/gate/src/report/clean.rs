//! Text from documents on its way into a report: shown, and obeyed by nothing that reads reports.

use quorum_schemas::one_line;

use crate::limits;

/// A message: one line of bounded length that no terminal, runner or renderer obeys, and that holds no picture.
pub(super) fn message(text: &str) -> String {
    clip(&guard(&one_line(text)), limits::REPORT_MESSAGE_CHARS)
}

/// An id, a name or a path: as [`message`], shorter.
pub(super) fn name(text: &str) -> String {
    clip(&guard(&one_line(text)), limits::REPORT_NAME_CHARS)
}

/// A line of ours that quotes documents: its length is bounded where its parts were made.
pub(super) fn line(text: &str) -> String {
    guard(&one_line(text))
}

/// Takes away what is obeyed or believed outside a sentence: pictures (a check mark is no result), characters that XML
/// forbids, and the two signs that begin a command of a CI runner anywhere in a line (`##[`, `##vso[`, `##teamcity[`).
fn guard(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut last = ' ';
    for character in text.chars() {
        let shown = match character {
            '\u{fe00}'..='\u{fe0f}' | '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{feff}' => continue,
            _ if picture(character) => '?',
            _ if never_in_xml(character) => ' ',
            other => other,
        };
        if shown == '#' && last == '#' {
            out.push(' ');
        }
        out.push(shown);
        last = shown;
    }
    out
}

/// Symbols, dingbats and emoji, among them every check mark, cross and traffic light.
fn picture(character: char) -> bool {
    matches!(character, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' | '\u{e0000}'..='\u{e007f}')
}

/// XML 1.0 has no way to write these; control characters are gone already.
fn never_in_xml(character: char) -> bool {
    u32::from(character) & 0xfffe == 0xfffe || matches!(character, '\u{fdd0}'..='\u{fdef}')
}

/// At most `most` characters; what is cut says so.
pub(super) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} [cut]", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_obeyed_elsewhere_is_only_shown() {
        for (hostile, shown) in [
            ("a\n::error::b", "a ::error::b"),
            ("##[error]x ###[group]", "# #[error]x # # #[group]"),
            ("##vso[task.complete result=Succeeded;]", "# #vso[task.complete result=Succeeded;]"),
            ("#\u{200b}#[error]", "# #[error]"),
            ("\u{2705}\u{fe0f} ok \u{1f7e2}\u{2714}", "? ok ??"),
            ("\u{fffe}\u{ffff}\u{fdd0}\u{1b}[2J", "    [2J"),
            ("gr\u{fc}n \u{2265} 3", "gr\u{fc}n \u{2265} 3"),
        ] {
            assert_eq!(message(hostile), shown, "{hostile:?}");
        }
    }

    #[test]
    fn long_text_is_cut_at_a_character_and_says_so() {
        let long = "\u{fc}".repeat(limits::REPORT_MESSAGE_CHARS + 1);
        let cut = message(&long);
        assert_eq!(cut.chars().count(), limits::REPORT_MESSAGE_CHARS + " [cut]".len());
        assert!(cut.ends_with(" [cut]"));
        assert_eq!(message(&cut[..cut.len() - " [cut]".len()]).chars().count(), limits::REPORT_MESSAGE_CHARS);
    }
}

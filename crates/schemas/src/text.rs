//! Text from documents, on its way to a person.

/// The text on one line, for a terminal, a log or a report: without characters that start another line, that a terminal
/// obeys, or that reorder what is read. Each becomes a space, so that nothing a document says can look like our own line.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.chars().map(|character| if obeyed(character) { ' ' } else { character }).collect()
}

/// Control characters, line and paragraph separators, and the marks and overrides of bidirectional text.
fn obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A number and its noun: `1 file`, `2 files`. Nouns whose plural is another word write their own sentence.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The reason of a reader that names an unknown key and those it knows, with the nearest of them in the end. Any other
/// reason stays as it is.
#[must_use]
pub fn with_nearest_key(reason: &str) -> String {
    let nearest = || {
        let (key, known) = reason.split_once("unknown field `")?.1.split_once("`, expected ")?;
        let names = known.split('`').skip(1).step_by(2);
        let near = names.map(|name| (strsim::damerau_levenshtein(key, name), name)).min()?;
        // Further away it is another word and no slip.
        (near.0 <= key.len().div_ceil(3)).then_some(near.1)
    };
    nearest().map_or_else(|| reason.to_owned(), |name| format!("{}; did you mean `{name}`?", reason.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_starts_a_line_or_moves_a_terminal() {
        let hostile = "a\nb\r\u{1b}[31m\u{85}\u{2028}\u{2029}\u{202e}\u{2066}\u{2069}\u{200f}\u{61c}\u{7f}z";
        assert_eq!(one_line(hostile), "a b  [31m         z");
        assert_eq!(one_line("gr\u{fc}n \u{2705} \u{200d}"), "gr\u{fc}n \u{2705} \u{200d}", "harmless text stays");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!(counted(0, "file"), "0 files");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(2, "file"), "2 files");
    }

    #[test]
    fn the_nearest_key_is_suggested() {
        for (reason, expected) in [
            ("unknown field `trsut`, expected one of `key`, `trust`, `nats`", Some("trust")),
            ("at 1: unknown field `ke`, expected `key` or `trust`\n", Some("key")),
            ("unknown field `zzzzzz`, expected one of `key`, `trust`", None),
            ("unknown field `x`, there are no fields", None),
            ("missing field `key`", None),
        ] {
            let found = with_nearest_key(reason);
            let hint = expected.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            assert_eq!(found, if hint.is_empty() { reason.to_owned() } else { format!("{}{hint}", reason.trim_end()) });
        }
    }
}

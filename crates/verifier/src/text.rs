//! Texts that reach documents.

/// The first `most` characters, marked when there was more.
pub(crate) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{} [cut]", &text[..at]),
    }
}

//! Where in a document a byte offset is, for refusals by the grammar, which the library places by line and column only.

/// JSON Pointer of the value that the byte at `offset` belongs to. Everything before it follows the grammar.
/// Stops at `depth` steps, so that a hostile document cannot make the place longer than itself.
pub(crate) fn pointer_at(text: &str, offset: usize, depth: usize) -> String {
    let mut stack: Vec<Step> = Vec::new();
    let mut at = 0;
    while at < offset {
        match text.as_bytes()[at] {
            b'[' => stack.push(Step::Item(0)),
            b'{' => stack.push(Step::Member(None)),
            b']' | b'}' => drop(stack.pop()),
            b',' => match stack.last_mut() {
                Some(Step::Item(index)) => *index += 1,
                Some(Step::Member(key)) => *key = None,
                None => {}
            },
            b'"' => {
                let end = string_end(text, at);
                if end > offset {
                    break;
                }
                if let Some(Step::Member(key @ None)) = stack.last_mut() {
                    *key = text.get(at..end).and_then(|token| serde_json::from_str(token).ok());
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    stack.iter().take(depth).map(Step::text).collect()
}

enum Step {
    Item(usize),
    Member(Option<String>),
}

impl Step {
    fn text(&self) -> String {
        match self {
            Self::Item(index) => format!("/{index}"),
            Self::Member(None) => String::new(),
            Self::Member(Some(key)) => format!("/{}", escape(key)),
        }
    }
}

/// One step of a JSON Pointer (RFC 6901).
pub(crate) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// One past the closing quote of the string that opens at `start`, or past the end where it is not closed.
fn string_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len() + 1
}

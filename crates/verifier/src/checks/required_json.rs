//! `required_json`: a JSON file of the candidate equals the plan's value.

use quorum_schemas::{Digest, Value, limits::Limits, parse_with};

use super::observed::Observed;
use super::{Context, files};
use crate::report::CheckStatus;

pub(super) fn run(context: &Context<'_>, required: &Value, file: Option<&str>, max_bytes: u64) -> Observed {
    let (name, bytes) = match files::read(context, file, max_bytes) {
        Ok(read) => read,
        Err(observed) => return *observed,
    };
    let value = match parse(&bytes) {
        Ok(value) => value,
        Err(why) => {
            return Observed::new(CheckStatus::Failed, format!("`{name}` is not JSON with one meaning: {why}"))
                .fact("file", name.as_str())
                .finding("correctness", format!("`{name}` is not JSON"), Some(&name));
        }
    };
    let (expected, found) = (Digest::c1(required), Digest::c1(&value));
    let (status, summary) = match expected == found {
        true => (CheckStatus::Passed, format!("`{name}` equals the required JSON")),
        false => (CheckStatus::Failed, format!("`{name}` differs from the required JSON{}", place(required, &value))),
    };
    let observed = Observed::new(status, summary.as_str())
        .fact("file", name.as_str())
        .fact("required", expected)
        .fact("observed", found);
    if status == CheckStatus::Passed { observed } else { observed.finding("correctness", summary, Some(&name)) }
}

/// Reads a candidate's JSON under the same rules as every document.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, String> {
    let bounds = Limits { bytes: bytes.len(), depth: 64 };
    parse_with(bytes, bounds).map_err(|error| error.to_string())
}

/// Where the two first differ, without showing what would be right.
fn place(required: &Value, found: &Value) -> String {
    let (Some(required), Some(found)) = (required.as_object(), found.as_object()) else { return String::new() };
    let keys: std::collections::BTreeSet<&String> = required.keys().chain(found.keys()).collect();
    let differs = |key: &&&String| required.get(**key).map(Digest::c1) != found.get(**key).map(Digest::c1);
    keys.iter().find(differs).map_or_else(String::new, |key| format!(" at `/{key}`"))
}

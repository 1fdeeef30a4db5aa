//! `schema`: a document follows a schema of ours.

use quorum_schemas::{Value, validate};

use super::observed::Observed;
use super::{Context, files, required_json};
use crate::plan::{SchemaCheck, SchemaOf};
use crate::report::CheckStatus;

pub(super) fn run(context: &Context<'_>, spec: &SchemaCheck) -> Observed {
    let (SchemaOf::Candidate, Some(schema)) = (spec.of, spec.schema) else {
        // Without a schema-valid manifest there is no handoff, and without a handoff no check.
        let mut observed = Observed::new(CheckStatus::Passed, "the intake found the manifest valid")
            .fact("result_manifest_digest", context.request.binding.result_manifest_digest())
            .fact("read_manifest", true);
        observed.read_manifest = true;
        return observed;
    };
    let (name, bytes) = match files::read(context, spec.file.as_deref(), spec.max_bytes) {
        Ok(read) => read,
        Err(observed) => return *observed,
    };
    let violations = match required_json::parse(&bytes) {
        Err(why) => vec![why],
        Ok(value) => match validate(schema, &value) {
            Ok(()) => {
                let summary = format!("`{name}` follows {}", schema.as_str());
                return Observed::new(CheckStatus::Passed, summary)
                    .fact("file", name.as_str())
                    .fact("schema", schema.as_str());
            }
            Err(violations) => violations.iter().map(ToString::to_string).collect(),
        },
    };
    let summary = format!("`{name}` does not follow {}: {}", schema.as_str(), violations[0]);
    let mut observed =
        Observed::new(CheckStatus::Failed, summary).fact("file", name.as_str()).fact("schema", schema.as_str());
    for violation in violations.iter().take(10) {
        observed = observed.finding("correctness", violation.as_str(), Some(&name));
    }
    observed.fact("violations", Value::from(violations.len() as u64))
}

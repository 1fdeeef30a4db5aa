//! The handoff itself: upstream's VerificationHandoff v0.1.

use quorum_schemas::{C1Digest, Digest, Object, SchemaName, SchemaViolation, Value};

use crate::error::shown;
use crate::read::{conforms, countable, is_blank, items, number, text, texts};
use crate::{DerivationRule, Document, HandoffError, Strategy};

/// The exact binding of work unit, manifest, candidate and requirements. It names no verifier and no verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Handoff {
    value: Value,
    id: C1Digest,
    work_unit_digest: C1Digest,
    manifest_digest: C1Digest,
    candidate_digest: Digest,
    required: Vec<String>,
    strategy: Strategy,
}

impl Handoff {
    /// Checks a parsed handoff: first the rules H44 to H47, then the schema.
    ///
    /// # Errors
    /// [`HandoffError::Derivation`] with H44 to H47, [`HandoffError::Schema`] or [`HandoffError::OutOfRange`].
    pub fn parse(value: &Value) -> Result<Self, HandoffError> {
        constructor_rules(value)?;
        conforms(Document::Handoff, SchemaName::VerificationHandoff, value)?;
        Self::reread(value)
    }

    /// Takes back a value that [`Handoff::parse`] admitted in the process that handed it over; no schema is compiled for
    /// it. Never for a document from outside: a shape that the schema refuses may pass here.
    ///
    /// # Errors
    /// [`HandoffError::OutOfRange`], [`HandoffError::Schema`] for a member that cannot be read at all.
    pub fn reread(value: &Value) -> Result<Self, HandoffError> {
        let counted: [&[&str]; 4] =
            [&["work_unit_version"], &["attempt"], &["minimum_independent_verifiers"], &["quorum"]];
        countable(Document::Handoff, value, &counted)?;
        let unreadable = |name: &str| HandoffError::Schema {
            document: Document::Handoff,
            violations: vec![SchemaViolation {
                pointer: format!("/{name}"),
                message: format!("cannot be read, found {}", shown(value.get(name))),
            }],
        };
        Ok(Self {
            id: Digest::c1(value),
            work_unit_digest: digest(value, "work_unit_digest").map_err(unreadable)?,
            manifest_digest: digest(value, "result_manifest_digest").map_err(unreadable)?,
            candidate_digest: digest(value, "candidate_artifact_digest").map_err(unreadable)?,
            required: texts(value, &["required_validator_ids"]).into_iter().map(str::to_owned).collect(),
            strategy: Strategy::from_word(text(value, &["verification_strategy"]))
                .ok_or_else(|| unreadable("verification_strategy"))?,
            value: value.clone(),
        })
    }

    /// The exact upstream object.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The handoff's id: the C1 digest of [`Handoff::value`].
    #[must_use]
    pub fn id(&self) -> C1Digest {
        self.id
    }

    /// The work unit's id.
    #[must_use]
    pub fn work_unit_id(&self) -> &str {
        text(&self.value, &["work_unit_id"])
    }

    /// The work unit's version.
    #[must_use]
    pub fn work_unit_version(&self) -> u64 {
        number(&self.value, &["work_unit_version"]).unwrap_or(1)
    }

    /// The work unit's C1 digest.
    #[must_use]
    pub fn work_unit_digest(&self) -> C1Digest {
        self.work_unit_digest
    }

    /// The source revision that work unit and manifest share.
    #[must_use]
    pub fn source_revision(&self) -> &str {
        text(&self.value, &["source_revision"])
    }

    /// The manifest's id.
    #[must_use]
    pub fn result_manifest_id(&self) -> &str {
        text(&self.value, &["result_manifest_id"])
    }

    /// The manifest's C1 digest.
    #[must_use]
    pub fn result_manifest_digest(&self) -> C1Digest {
        self.manifest_digest
    }

    /// The worker's attempt, from 1.
    #[must_use]
    pub fn attempt(&self) -> u64 {
        number(&self.value, &["attempt"]).unwrap_or(1)
    }

    /// The worker's id.
    #[must_use]
    pub fn worker_id(&self) -> &str {
        text(&self.value, &["worker_id"])
    }

    /// The id of the candidate among the manifest's artifacts.
    #[must_use]
    pub fn candidate_artifact_id(&self) -> &str {
        text(&self.value, &["candidate_artifact_id"])
    }

    /// The declared digest of the candidate (of its reference, in the C6 profile).
    #[must_use]
    pub fn candidate_artifact_digest(&self) -> Digest {
        self.candidate_digest
    }

    /// The validators that every evidence must cover, in the work unit's order.
    #[must_use]
    pub fn required_validator_ids(&self) -> &[String] {
        &self.required
    }

    /// The verification strategy.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Whether verifiers must be independent from the worker.
    #[must_use]
    pub fn independent_from_worker(&self) -> bool {
        self.value.get("independent_from_worker").and_then(Value::as_bool).unwrap_or(true)
    }

    /// How many independent verifiers the work unit asks for.
    #[must_use]
    pub fn minimum_independent_verifiers(&self) -> u64 {
        number(&self.value, &["minimum_independent_verifiers"]).unwrap_or(1)
    }

    /// The count of supports that the work unit asks for, if it states one.
    #[must_use]
    pub fn quorum(&self) -> Option<u64> {
        number(&self.value, &["quorum"])
    }

    /// The `binding` block that a verifier's plan must carry.
    #[must_use]
    pub fn evaluator_binding(&self) -> Value {
        let names = ["work_unit_id", "work_unit_version", "work_unit_digest", "source_revision"];
        let members = names.iter().filter_map(|name| Some(((*name).to_owned(), self.value.get(name)?.clone())));
        Value::Object(members.collect::<Object>())
    }
}

/// The digest in a member, of the form that the caller's field names; else the member's name.
fn digest<'a, F>(value: &Value, name: &'a str) -> Result<Digest<F>, &'a str> {
    text(value, &[name]).parse().map_err(|_| name)
}

/// H44 to H47: what the handoff refuses to be, whoever builds it.
fn constructor_rules(value: &Value) -> Result<(), HandoffError> {
    let refuse = |rule, pointer: &str, message: String| {
        Err(HandoffError::Derivation { rule, document: Document::Handoff, pointer: pointer.to_owned(), message })
    };
    let version = value.get("schema_version");
    if version.and_then(Value::as_str) != Some("0.1") {
        let message = format!("unsupported schema_version {}; it must be \"0.1\"", shown(version));
        return refuse(DerivationRule::H44, "/schema_version", message);
    }
    let independent = value.get("independent_from_worker").and_then(Value::as_bool) == Some(true);
    if independent && number(value, &["minimum_independent_verifiers"]) == Some(0) {
        let message = "independent verification requires at least one independent verifier, found 0";
        return refuse(DerivationRule::H45, "/minimum_independent_verifiers", message.to_owned());
    }
    let items = items(value, &["required_validator_ids"]);
    if items.is_empty() {
        let found = shown(value.get("required_validator_ids"));
        let message = format!("at least one required validator id is needed, found {found}");
        return refuse(DerivationRule::H46, "/required_validator_ids", message);
    }
    for (index, item) in items.iter().enumerate() {
        let blank = item.as_str().is_none_or(is_blank);
        if blank || items[..index].contains(item) {
            let fault = if blank { "is not a non-empty string" } else { "appears twice" };
            let message = format!("the required validator id {} {fault}", shown(Some(item)));
            return refuse(DerivationRule::H46, &format!("/required_validator_ids/{index}"), message);
        }
    }
    let quorum_strategy = value.get("verification_strategy").and_then(Value::as_str) == Some("quorum");
    if quorum_strategy && value.get("quorum").is_none() {
        let message = "the quorum strategy requires a quorum, found none; state an integer of at least 1";
        return refuse(DerivationRule::H47, "/quorum", message.to_owned());
    }
    Ok(())
}

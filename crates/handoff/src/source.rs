//! The source binding: one work unit tied to the exact git revision that its work starts from (B1 to B13).

use quorum_schemas::{C1Digest, Digest, Value};

use crate::SourceRule::{self, *};
use crate::error::shown_text;
use crate::read::{
    git_revision, nonblank, not_count, not_digest, not_object, not_revision, not_text, object, object_in, positive,
};
use crate::{Document, HandoffError};

/// The members of the document, which has no others.
const MEMBERS: [&str; 4] = ["source_revision", "work_unit_digest", "work_unit_id", "work_unit_version"];

/// A work unit's identity and content, and the revision that somebody trusted says the work starts from.
///
/// The revision is lower-case, whatever case it came in; revisions compare without regard to case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkUnitSourceBinding {
    work_unit_id: String,
    work_unit_version: u64,
    work_unit_digest: C1Digest,
    source_revision: String,
}

impl WorkUnitSourceBinding {
    /// Binds a work unit to the revision that the caller trusts, such as the merge base of a pull request.
    ///
    /// A work unit that declares no revision is bound to any; one that declares a revision only to that one. An
    /// explicit `null` counts as declared.
    ///
    /// # Errors
    /// [`HandoffError::Source`] with B1 to B7.
    pub fn bind(work_unit: &Value, trusted_revision: &str) -> Result<Self, HandoffError> {
        let (id, version) = identity(work_unit)?;
        let trusted = revision(B4, Document::SourceBinding, "/source_revision", &trusted_revision.into())?;
        let provenance = object_in(work_unit, "provenance")
            .ok_or_else(|| in_work_unit(B5, "/provenance", not_object(work_unit.get("provenance"))))?;
        if let Some(declared) = provenance.get("source_revision") {
            const PLACE: &str = "/provenance/source_revision";
            let declared = revision(B6, Document::WorkUnit, PLACE, declared)?;
            if declared != trusted {
                let message = format!("the work unit declares {declared}, the trusted revision is {trusted}");
                return Err(in_work_unit(B7, PLACE, message));
            }
        }
        Ok(Self {
            work_unit_id: id.to_owned(),
            work_unit_version: version,
            work_unit_digest: Digest::c1(work_unit),
            source_revision: trusted,
        })
    }

    /// Reads the document back.
    ///
    /// # Errors
    /// [`HandoffError::Source`] with B8 for anything but an object of the four members, else with the rule of the
    /// member that is unusable: B2, B3, B4 or B13.
    pub fn parse(value: &Value) -> Result<Self, HandoffError> {
        let members = value.as_object().ok_or_else(|| in_binding(B8, "", not_object(Some(value))))?;
        if let Some(missing) = MEMBERS.iter().find(|name| !members.contains_key(**name)) {
            return Err(in_binding(B8, &format!("/{missing}"), format!("the member \"{missing}\" is missing")));
        }
        if let Some(extra) = members.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
            let message = format!("a source binding has no member {}", shown_text(extra));
            return Err(in_binding(B8, "", message));
        }
        let at = |name: &str| value.get(name);
        Ok(Self {
            work_unit_id: nonblank(at("work_unit_id"))
                .ok_or_else(|| in_binding(B2, "/work_unit_id", not_text(at("work_unit_id"))))?
                .to_owned(),
            work_unit_version: positive(at("work_unit_version"))
                .ok_or_else(|| in_binding(B3, "/work_unit_version", not_count(at("work_unit_version"), 1)))?,
            work_unit_digest: at("work_unit_digest")
                .and_then(Value::as_str)
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| in_binding(B13, "/work_unit_digest", not_digest(at("work_unit_digest"))))?,
            source_revision: git_revision(at("source_revision"))
                .ok_or_else(|| in_binding(B4, "/source_revision", not_revision(at("source_revision"))))?,
        })
    }

    /// Whether a retained binding still speaks of this work unit and, where one was observed, of this revision.
    ///
    /// # Errors
    /// [`HandoffError::Source`] with B1 to B4 and B9 to B12.
    pub fn validate(&self, work_unit: &Value, observed_revision: Option<&str>) -> Result<(), HandoffError> {
        let (id, version) = identity(work_unit)?;
        if id != self.work_unit_id {
            let message = format!("{} is bound, the work unit is {}", shown_text(&self.work_unit_id), shown_text(id));
            return Err(in_binding(B9, "/work_unit_id", message));
        }
        if version != self.work_unit_version {
            let message = format!("version {} is bound, the work unit is version {version}", self.work_unit_version);
            return Err(in_binding(B10, "/work_unit_version", message));
        }
        let digest = Digest::c1(work_unit);
        if digest != self.work_unit_digest {
            let message = format!("{} is bound, the work unit is {digest}", self.work_unit_digest);
            return Err(in_binding(B11, "/work_unit_digest", message));
        }
        let Some(observed) = observed_revision else { return Ok(()) };
        let observed = revision(B4, Document::SourceBinding, "/source_revision", &observed.into())?;
        if observed != self.source_revision {
            let message = format!("{} is bound, {observed} is observed", self.source_revision);
            return Err(in_binding(B12, "/source_revision", message));
        }
        Ok(())
    }

    /// The document: the four members that a verifier's plan also carries as its `binding`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        object([
            ("work_unit_id", self.work_unit_id.as_str().into()),
            ("work_unit_version", self.work_unit_version.into()),
            ("work_unit_digest", self.work_unit_digest.into()),
            ("source_revision", self.source_revision.as_str().into()),
        ])
    }

    /// The work unit's id.
    #[must_use]
    pub fn work_unit_id(&self) -> &str {
        &self.work_unit_id
    }

    /// The work unit's version, from 1.
    #[must_use]
    pub fn work_unit_version(&self) -> u64 {
        self.work_unit_version
    }

    /// The C1 digest of the work unit's content.
    #[must_use]
    pub fn work_unit_digest(&self) -> C1Digest {
        self.work_unit_digest
    }

    /// 40 or 64 lower-case hex digits.
    #[must_use]
    pub fn source_revision(&self) -> &str {
        &self.source_revision
    }
}

/// B1 to B3.
fn identity(work_unit: &Value) -> Result<(&str, u64), HandoffError> {
    if work_unit.as_object().is_none() {
        return Err(in_work_unit(B1, "", not_object(Some(work_unit))));
    }
    let id = nonblank(work_unit.get("id")).ok_or_else(|| in_work_unit(B2, "/id", not_text(work_unit.get("id"))))?;
    let version = positive(work_unit.get("version"))
        .ok_or_else(|| in_work_unit(B3, "/version", not_count(work_unit.get("version"), 1)))?;
    Ok((id, version))
}

fn revision(rule: SourceRule, document: Document, pointer: &str, value: &Value) -> Result<String, HandoffError> {
    git_revision(Some(value)).ok_or_else(|| refused(rule, document, pointer, not_revision(Some(value))))
}

fn in_work_unit(rule: SourceRule, pointer: &str, message: String) -> HandoffError {
    refused(rule, Document::WorkUnit, pointer, message)
}

fn in_binding(rule: SourceRule, pointer: &str, message: String) -> HandoffError {
    refused(rule, Document::SourceBinding, pointer, message)
}

fn refused(rule: SourceRule, document: Document, pointer: &str, message: String) -> HandoffError {
    HandoffError::Source { rule, document, pointer: pointer.to_owned(), message }
}

//! "Bundle checked": every digest of an evidence recomputed from its bundle.

use quorum_schemas::{Digest, Value};

use crate::VerifierError;

/// Recomputes the bundle's SHA-256 and every digest in the result's `evidence` from the bundle's bytes. `predicate` is the
/// predicate of the signed evidence.
///
/// # Errors
/// [`VerifierError::BundleDiffers`], [`VerifierError::BundleIncomplete`], and everything that [`super::read()`] refuses.
pub fn check(bundle: &[u8], predicate: &Value) -> Result<(), VerifierError> {
    let claimed = predicate.get("bundle_digest").and_then(Value::as_str).unwrap_or("absent");
    same("the bundle", claimed, Digest::of(bundle))?;
    let files = super::read(bundle)?;
    let evidence = predicate.at(&["result", "evidence"]).and_then(Value::as_array).unwrap_or_default();
    for item in evidence {
        let text = |key| item.get(key).and_then(Value::as_str).unwrap_or_default();
        let (id, locator) = (text("id"), text("locator"));
        let file = locator
            .strip_prefix("bundle:")
            .and_then(|path| files.get(path))
            .ok_or_else(|| VerifierError::BundleIncomplete { id: id.to_owned(), locator: locator.to_owned() })?;
        same(locator, text("digest"), Digest::of(file))?;
    }
    if let Some(plan) = files.get("plan.json") {
        let claimed = predicate.get("plan_digest").and_then(Value::as_str).unwrap_or("absent");
        same("plan.json", claimed, Digest::of(plan))?;
    }
    Ok(())
}

fn same(what: &str, expected: &str, found: Digest) -> Result<(), VerifierError> {
    let found = found.to_string();
    if expected == found {
        return Ok(());
    }
    Err(VerifierError::BundleDiffers { what: what.to_owned(), expected: expected.to_owned(), found })
}

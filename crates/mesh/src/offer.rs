//! Work offered to one verifier.

use quorum_schemas::{Object, Value, c1, limits::Limits, parse_with};

use crate::{BlobRef, MeshError, limits};

/// The body of an offer: C1 of {handoff, work_unit: envelopes; candidate, baseline?, seat, try}.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Bytes of the signed handoff's envelope.
    pub handoff: Vec<u8>,
    /// Bytes of the signed WorkUnit's envelope.
    pub work_unit: Vec<u8>,
    /// The candidate.
    pub candidate: BlobRef,
    /// The baseline, where the WorkUnit has one.
    pub baseline: Option<BlobRef>,
    /// The seat.
    pub seat: u32,
    /// The try.
    pub try_no: u32,
}

/// Two envelopes and a little; see [`limits::MESSAGE_BYTES`].
const OFFER: Limits = Limits { bytes: limits::MESSAGE_BYTES as usize, depth: 64 };

fn malformed(reason: impl Into<String>) -> MeshError {
    MeshError::MessageMalformed { place: "offer".into(), reason: reason.into() }
}

impl Offer {
    /// The body.
    ///
    /// # Errors
    /// `message_malformed` if an envelope is not C1 JSON (it could not be given back byte for byte).
    pub fn to_bytes(&self) -> Result<Vec<u8>, MeshError> {
        let mut members = Object::from([
            ("handoff".to_owned(), envelope("handoff", &self.handoff)?),
            ("work_unit".to_owned(), envelope("work_unit", &self.work_unit)?),
            ("candidate".to_owned(), self.candidate.to_value()),
            ("seat".to_owned(), u64::from(self.seat).into()),
            ("try".to_owned(), u64::from(self.try_no).into()),
        ]);
        if let Some(baseline) = &self.baseline {
            members.insert("baseline".to_owned(), baseline.to_value());
        }
        Ok(c1(&Value::Object(members)))
    }

    /// Reads a body strictly.
    ///
    /// # Errors
    /// `message_malformed`.
    pub fn parse(body: &[u8]) -> Result<Self, MeshError> {
        let value = parse_with(body, OFFER).map_err(|error| malformed(error.to_string()))?;
        let members = value.as_object().ok_or_else(|| malformed("not an object"))?;
        let known = ["handoff", "work_unit", "candidate", "baseline", "seat", "try"];
        if let Some(unknown) = members.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(malformed(format!("unknown key `{unknown}`")));
        }
        let member = |key: &str| members.get(key).ok_or_else(|| malformed(format!("`{key}` is missing")));
        let number = |key: &str| {
            let number = member(key)?.as_u64().and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| malformed(format!("`{key}` is not a small number")))
        };
        Ok(Self {
            handoff: c1(member("handoff")?),
            work_unit: c1(member("work_unit")?),
            candidate: BlobRef::parse(member("candidate")?)?,
            baseline: members.get("baseline").map(BlobRef::parse).transpose()?,
            seat: number("seat")?,
            try_no: number("try")?,
        })
    }
}

fn envelope(key: &str, bytes: &[u8]) -> Result<Value, MeshError> {
    let value = parse_with(bytes, OFFER).map_err(|error| malformed(format!("`{key}`: {error}")))?;
    if c1(&value) == bytes { Ok(value) } else { Err(malformed(format!("`{key}` is not in canonical form"))) }
}

#[cfg(test)]
mod tests {
    use quorum_schemas::Digest;

    use super::*;
    use crate::BlobRole;

    fn offer() -> Offer {
        let blob =
            |role, publisher: &str| BlobRef { role, publisher: publisher.into(), sha256: Digest::of(b"x"), bytes: 1 };
        Offer {
            handoff: br#"{"payload":"a","x":1.0}"#.to_vec(),
            work_unit: br#"{"payload":"b"}"#.to_vec(),
            candidate: blob(BlobRole::Worker, "w"),
            baseline: Some(blob(BlobRole::Author, "a")),
            seat: 2,
            try_no: 1,
        }
    }

    #[test]
    fn design_6_offer_gives_envelopes_back_byte_for_byte() {
        let mut wanted = offer();
        assert_eq!(Offer::parse(&wanted.to_bytes().unwrap()).unwrap(), wanted);
        wanted.baseline = None;
        assert_eq!(Offer::parse(&wanted.to_bytes().unwrap()).unwrap(), wanted);
        wanted.handoff = br#"{ "payload":"a"}"#.to_vec();
        assert_eq!(wanted.to_bytes().unwrap_err().code(), "message_malformed");
    }

    #[test]
    fn design_6_offer_refuses_unknown_missing_and_ill_typed_members() {
        let text = String::from_utf8(offer().to_bytes().unwrap()).unwrap();
        for (from, to) in [
            ("\"seat\":2", "\"seat\":2.0"),
            ("\"seat\":2", "\"seat\":-1"),
            ("\"seat\":2", "\"sea\":2"),
            ("\"try\":1", "\"try\":4294967296"),
            ("\"role\":\"worker\"", "\"role\":\"gate\""),
            ("\"bytes\":1", "\"bytes\":999999999999"),
        ] {
            assert!(text.contains(from), "{from}");
            assert!(Offer::parse(text.replace(from, to).as_bytes()).is_err(), "{to}");
        }
    }
}

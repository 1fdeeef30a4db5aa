//! The durable part of a state: what is written by compare-and-set.

use quorum_schemas::{Object, Timestamp, Value, c1, parse};

use crate::{TasksError, limits};

/// A lease as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldRecord {
    /// The holder's id.
    pub verifier: String,
    /// The try that it holds.
    pub try_no: u32,
    /// The fencing token; `None` where this very write grants the lease, so that its revision is the token.
    pub epoch: Option<u64>,
    /// The lease runs up to here.
    pub until: Timestamp,
}

/// A seat as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatRecord {
    /// The current try, from 1.
    pub try_no: u32,
    /// The last lease, running or not.
    pub hold: Option<HoldRecord>,
}

/// All seats of a handoff as stored. One key holds them all, so that one compare-and-set guards every rule that speaks
/// about two seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// By seat number.
    pub seats: Vec<SeatRecord>,
}

impl Record {
    /// The C1 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let seats: Vec<Value> = self.seats.iter().map(seat_value).collect();
        c1(&Value::Object(Object::from([("seats".into(), Value::Array(seats))])))
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`TasksError::RecordMalformed`] with the place.
    pub fn parse(bytes: &[u8]) -> Result<Self, TasksError> {
        if bytes.len() > limits::RECORD_BYTES {
            return Err(malformed("", format!("{} bytes, more than {}", bytes.len(), limits::RECORD_BYTES)));
        }
        let value = parse(bytes).map_err(|e| malformed("", e.to_string()))?;
        let seats = value.get("seats").and_then(Value::as_array).ok_or_else(|| malformed("/seats", "no array"))?;
        let seats = seats.iter().enumerate().map(|(n, seat)| read_seat(n, seat)).collect::<Result<_, _>>()?;
        Ok(Self { seats })
    }
}

fn seat_value(seat: &SeatRecord) -> Value {
    let mut members = Object::from([("try".into(), u64::from(seat.try_no).into())]);
    if let Some(hold) = &seat.hold {
        let mut lease = Object::from([
            ("verifier".into(), hold.verifier.as_str().into()),
            ("try".into(), u64::from(hold.try_no).into()),
            ("until".into(), hold.until.into()),
        ]);
        if let Some(epoch) = hold.epoch {
            lease.insert("epoch".into(), epoch.into());
        }
        members.insert("hold".into(), Value::Object(lease));
    }
    Value::Object(members)
}

fn read_seat(n: usize, seat: &Value) -> Result<SeatRecord, TasksError> {
    let hold = seat.get("hold").map(|hold| read_hold(n, hold)).transpose()?;
    Ok(SeatRecord { try_no: number(seat, &format!("/seats/{n}/try"))?, hold })
}

fn read_hold(n: usize, hold: &Value) -> Result<HoldRecord, TasksError> {
    let at = |key: &str| format!("/seats/{n}/hold/{key}");
    let verifier =
        hold.get("verifier").and_then(Value::as_str).ok_or_else(|| malformed(&at("verifier"), "no string"))?.to_owned();
    let until = hold
        .get("until")
        .and_then(Value::as_str)
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| malformed(&at("until"), "no timestamp"))?;
    let epoch = match hold.get("epoch") {
        None => None,
        Some(epoch) => Some(epoch.as_u64().ok_or_else(|| malformed(&at("epoch"), "no integer"))?),
    };
    Ok(HoldRecord { verifier, try_no: number(hold, &at("try"))?, epoch, until })
}

fn number(object: &Value, place: &str) -> Result<u32, TasksError> {
    object
        .get("try")
        .and_then(Value::as_u64)
        .and_then(|n| u32::try_from(n).ok())
        .ok_or_else(|| malformed(place, "no try number"))
}

fn malformed(place: &str, reason: impl Into<String>) -> TasksError {
    TasksError::RecordMalformed { place: place.to_owned(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let record = Record {
            seats: vec![
                SeatRecord { try_no: 1, hold: None },
                SeatRecord {
                    try_no: 2,
                    hold: Some(HoldRecord {
                        verifier: "v".into(),
                        try_no: 1,
                        epoch: Some(7),
                        until: Timestamp::from_micros(1_000_000),
                    }),
                },
            ],
        };
        assert_eq!(Record::parse(&record.to_bytes()), Ok(record));
    }

    #[test]
    fn malformed_records_are_refused_with_their_place() {
        for (bytes, place) in [
            (&b"{}"[..], "/seats"),
            (br#"{"seats":[{}]}"#, "/seats/0/try"),
            (br#"{"seats":[{"try":1,"hold":{}}]}"#, "/seats/0/hold/verifier"),
            (br#"{"seats":[{"try":1,"hold":{"verifier":"v","until":"x"}}]}"#, "/seats/0/hold/until"),
            (b"x", ""),
        ] {
            let Err(TasksError::RecordMalformed { place: found, .. }) = Record::parse(bytes) else {
                panic!("{} was read", String::from_utf8_lossy(bytes));
            };
            assert_eq!(found, place);
        }
    }
}

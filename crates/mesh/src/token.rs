//! Identities as subject tokens: `[a-z0-9-]` as is, every other byte `=xx` in lower-case hex.

use crate::{MeshError, limits};

/// The token of an identity. Injective: two identities never share a token.
///
/// # Errors
/// `id_empty`, `id_too_long` (over 96 bytes).
pub fn encode(id: &str) -> Result<String, MeshError> {
    if id.is_empty() {
        return Err(MeshError::IdEmpty);
    }
    if id.len() > limits::ID_BYTES {
        let shown = id.chars().take(32).collect();
        return Err(MeshError::IdTooLong { id: shown, found: id.len(), limit: limits::ID_BYTES });
    }
    let mut token = String::with_capacity(id.len());
    for byte in id.bytes() {
        if plain(byte) {
            token.push(char::from(byte));
        } else {
            token.push_str(&format!("={byte:02x}"));
        }
    }
    Ok(token)
}

/// The identity of a token; refuses every token that [`encode`] does not write.
///
/// # Errors
/// `token_malformed`, and the errors of [`encode`] for an identity out of bounds.
pub fn decode(token: &str) -> Result<String, MeshError> {
    let malformed = || MeshError::TokenMalformed(token.chars().take(limits::ID_BYTES * 3).collect());
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first == b'=' {
            let (pair, tail) = rest.split_at_checked(2).ok_or_else(malformed)?;
            let pair = std::str::from_utf8(pair).map_err(|_| malformed())?;
            bytes.push(u8::from_str_radix(pair, 16).map_err(|_| malformed())?);
            rest = tail;
        } else {
            bytes.push(first);
        }
    }
    let id = String::from_utf8(bytes).map_err(|_| malformed())?;
    if encode(&id)? == token { Ok(id) } else { Err(malformed()) }
}

fn plain(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn design_6_tokens_keep_plain_bytes_and_escape_the_rest() {
        for (id, token) in [
            ("worker-1", "worker-1"),
            ("acme/json.answer", "acme=2fjson=2eanswer"),
            ("Upper", "=55pper"),
            ("a=b", "a=3db"),
            ("ü", "=c3=bc"),
            ("*>", "=2a=3e"),
        ] {
            assert_eq!(encode(id).unwrap(), token);
            assert_eq!(decode(token).unwrap(), id);
        }
    }

    #[test]
    fn design_6_tokens_refuse_what_encode_never_writes() {
        for token in ["", "=", "=2", "=2F", "=61", "A", "a.b", "a b", "*", ">", "=c3", "=+1"] {
            assert!(decode(token).is_err(), "{token}");
        }
        assert_eq!(encode(&"x".repeat(96)).unwrap().len(), 96);
        assert_eq!(encode(&"x".repeat(97)).unwrap_err().code(), "id_too_long");
        assert_eq!(encode("").unwrap_err().code(), "id_empty");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn design_6_tokens_are_injective(a in "[ab=./\\-é2f]{1,6}", b in "[ab=./\\-é2f]{1,6}") {
            let (ta, tb) = (encode(&a).unwrap(), encode(&b).unwrap());
            prop_assert_eq!(a == b, ta == tb);
            prop_assert_eq!(decode(&ta).unwrap(), a);
            prop_assert!(ta.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-' || c == b'='));
        }
        #[test]
        fn design_6_tokens_round_trip_any_text(id in any::<String>().prop_filter("bounds", |s| !s.is_empty() && s.len() <= 96)) {
            prop_assert_eq!(decode(&encode(&id).unwrap()).unwrap(), id);
        }
    }
}

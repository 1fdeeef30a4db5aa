//! Which root a holder takes next (TUF's rules for roots), one table or test a rule.

use std::collections::BTreeMap;

use quorum_attest::{AttestError, PublicKey, TrustDraft, TrustHistory, TrustRoot, limits};
use quorum_schemas::{Digest, Timestamp};

use crate::support::{DAY, draft, key, load, sign_draft, time, trust};

fn publics(seeds: &[u8]) -> Vec<PublicKey> {
    seeds.iter().map(|seed| key(*seed).public()).collect()
}

/// The version after `root`, made different by a policy.
fn after(root: &TrustRoot, policy: &[u8], signers: &[u8]) -> TrustRoot {
    let mut draft = TrustDraft::from(root);
    draft.next_version(time(DAY), time(400 * DAY));
    draft.admit_policy(Digest::of(policy)).unwrap();
    root.accept_successor(&sign_draft(&draft, signers).unwrap()).unwrap()
}

/// Versions 1 to `count`; number n is at n - 1.
fn chain(count: u8) -> Vec<TrustRoot> {
    let mut versions = vec![trust()];
    for n in 2..=count {
        let next = after(versions.last().unwrap(), &[n], &[1]);
        versions.push(next);
    }
    versions
}

/// What a publisher has beside the newest version.
fn shelf<'a>(roots: impl IntoIterator<Item = &'a TrustRoot>) -> BTreeMap<u64, Vec<u8>> {
    roots.into_iter().map(|root| (root.version(), root.bytes().to_vec())).collect()
}

fn follow(
    history: &TrustHistory,
    offered: &TrustRoot,
    shelf: &BTreeMap<u64, Vec<u8>>,
    at: Timestamp,
) -> Result<TrustRoot, AttestError> {
    history.follow(offered, at, |version| Ok(shelf.get(&version).cloned()))
}

fn code(result: &Result<TrustRoot, AttestError>) -> &'static str {
    result.as_ref().map_or_else(AttestError::code, |_| "followed")
}

const NOW: i64 = 2 * DAY;

#[test]
fn tuf_versions_advance_by_exactly_one_through_a_chain_of_any_length() {
    let roots = chain(6);
    let all = shelf(&roots);
    for known in 1..=6_usize {
        for offered in known..=6 {
            let history = TrustHistory::new(None, Some(roots[known - 1].clone()));
            let found = follow(&history, &roots[offered - 1], &all, time(NOW));
            assert_eq!(found.unwrap(), roots[offered - 1], "{known} to {offered}");
            for missing in known + 1..offered {
                let mut holed = all.clone();
                holed.remove(&(missing as u64));
                let found = follow(&history, &roots[offered - 1], &holed, time(NOW));
                let expected =
                    AttestError::TrustGap { found: offered as u64, known: missing as u64 - 1, missing: missing as u64 };
                assert_eq!(found.unwrap_err(), expected, "{known} to {offered} without {missing}");
            }
        }
    }
}

#[test]
fn tuf_a_version_in_between_must_follow_from_the_one_before_it() {
    let roots = chain(4);
    let known = TrustHistory::new(None, Some(roots[0].clone()));
    let offer = |two: &[u8]| {
        let mut all = shelf(&roots);
        all.insert(2, two.to_vec());
        code(&follow(&known, &roots[3], &all, time(NOW)))
    };
    assert_eq!(offer(roots[1].bytes()), "followed");
    assert_eq!(offer(roots[2].bytes()), "version_not_successor", "another version under its name");
    assert_eq!(offer(b"{}"), "malformed");
    let mut usurper = TrustDraft::new(time(0), time(DAY), 1, publics(&[9]));
    usurper.next_version(time(0), time(400 * DAY));
    assert_eq!(offer(&sign_draft(&usurper, &[9]).unwrap()), "threshold_not_met", "signed by strangers");
    let mut flipped = roots[1].bytes().to_vec();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    assert_ne!(offer(&flipped), "followed");
}

#[test]
fn tuf_rollback_and_freeze_an_older_version_is_refused_however_valid_it_still_is() {
    let roots = chain(3);
    let all = shelf(&roots);
    let history = TrustHistory::new(None, Some(roots[2].clone()));
    for offered in &roots[..2] {
        assert!(offered.check_current(time(NOW)).is_ok(), "it has not expired");
        let found = follow(&history, offered, &all, time(NOW)).unwrap_err();
        assert_eq!(found, AttestError::TrustRollback { found: offered.version(), known: 3 });
    }
    assert_eq!(follow(&history, &roots[2], &all, time(NOW)).unwrap(), roots[2]);
}

/// Somebody who once holds a threshold of keys must not lock everybody out with a version that nothing can follow.
#[test]
fn tuf_fast_forward_is_refused() {
    let roots = chain(2);
    let history = TrustHistory::new(None, Some(roots[0].clone()));
    for version in [3, 4, 1 << 32, limits::TRUST_VERSION] {
        let jumped = jump(&roots[0], version);
        let found = follow(&history, &jumped, &shelf([&jumped]), time(NOW));
        assert_eq!(code(&found), "trust_gap", "version {version}");
        let direct = roots[0].accept_successor(jumped.bytes());
        assert_eq!(code(&direct), "version_not_successor", "version {version}");
        assert_eq!(
            follow(&history, &roots[1], &shelf(&roots), time(NOW)).unwrap(),
            roots[1],
            "the true one comes after"
        );
    }
    let largest = TrustHistory::new(None, Some(jump(&roots[0], limits::TRUST_VERSION)));
    assert_eq!(code(&follow(&largest, &roots[1], &shelf(&roots), time(NOW))), "trust_rollback");
}

/// The same content under any version, signed by the same root keys.
fn jump(root: &TrustRoot, version: u64) -> TrustRoot {
    use base64::Engine as _;
    let file: serde_json::Value = serde_json::from_slice(root.bytes()).unwrap();
    let payload = base64::engine::general_purpose::STANDARD.decode(file["payload"].as_str().unwrap()).unwrap();
    let mut payload: serde_json::Value = serde_json::from_slice(&payload).unwrap();
    payload["version"] = version.into();
    let bytes = quorum_schemas::c1(&quorum_schemas::Value::from_serde(payload));
    TrustRoot::load(&quorum_attest::sign(quorum_attest::TRUST_PAYLOAD_TYPE, &bytes, &key(1))).unwrap()
}

#[test]
fn tuf_a_bounded_number_of_versions_is_followed_at_once() {
    let mut versions = vec![load(&draft(), &[1])];
    for n in 0..=limits::TRUST_STEPS {
        let next = after(versions.last().unwrap(), &n.to_le_bytes()[..1], &[1]);
        versions.push(next);
    }
    let all = shelf(&versions);
    let history = TrustHistory::new(None, Some(versions[0].clone()));
    let (most, one_more) = (&versions[limits::TRUST_STEPS as usize], &versions[limits::TRUST_STEPS as usize + 1]);
    assert_eq!(follow(&history, most, &all, time(NOW)).unwrap(), *most);
    assert_eq!(code(&follow(&history, one_more, &all, time(NOW))), "too_many");
    let further = TrustHistory::new(None, Some(most.clone()));
    assert_eq!(follow(&further, one_more, &all, time(NOW)).unwrap(), *one_more);
}

/// Only the last version must be current, at the one time at which following it began.
#[test]
fn tuf_expiry_is_judged_at_a_fixed_start_time_and_only_for_the_last_version() {
    let first = trust();
    let step = |root: &TrustRoot, issued: i64, expires: i64| {
        let mut draft = TrustDraft::from(root);
        draft.next_version(time(issued), time(expires));
        root.accept_successor(&sign_draft(&draft, &[1]).unwrap()).unwrap()
    };
    let second = step(&first, DAY, 10 * DAY);
    let third = step(&second, 9 * DAY, 30 * DAY);
    let all = shelf([&first, &second, &third]);
    let history = TrustHistory::new(None, Some(first.clone()));
    let micro = |time: Timestamp, micros: i64| Timestamp::from_micros(time.micros() + micros);
    let cases = [
        ("the second has expired, the third has not", &third, time(20 * DAY), "followed"),
        ("last instant", &third, micro(time(30 * DAY), -1), "followed"),
        ("the third has expired", &third, time(30 * DAY), "trust_root_expired"),
        ("the third is of the future", &third, micro(time(9 * DAY), -1), "trust_root_not_yet_valid"),
        ("the second is offered", &second, time(5 * DAY), "followed"),
        ("the second is offered too late", &second, time(10 * DAY), "trust_root_expired"),
        ("the known one has expired", &first, time(365 * DAY), "trust_root_expired"),
    ];
    for (name, offered, at, should) in cases {
        assert_eq!(code(&follow(&history, offered, &all, at)), should, "{name}");
    }
}

#[test]
fn tuf_the_first_version_is_pinned_and_every_later_one_follows_from_it() {
    let roots = chain(4);
    let all = shelf(&roots);
    let pinned = TrustHistory::new(Some(roots[0].digest()), None);
    for offered in &roots {
        assert_eq!(follow(&pinned, offered, &all, time(NOW)).unwrap(), *offered);
    }
    let mut holed = all.clone();
    holed.remove(&1);
    let gap = AttestError::TrustGap { found: 4, known: 0, missing: 1 };
    assert_eq!(follow(&pinned, &roots[3], &holed, time(NOW)).unwrap_err(), gap);
    let other = TrustHistory::new(Some(Digest::of(b"another")), None);
    for offered in &roots {
        assert_eq!(code(&follow(&other, offered, &all, time(NOW))), "trust_forked", "version {}", offered.version());
    }
    let second_as_first = TrustHistory::new(Some(roots[1].digest()), None);
    let mut renamed = all.clone();
    renamed.insert(1, roots[1].bytes().to_vec());
    assert_eq!(code(&follow(&second_as_first, &roots[3], &renamed, time(NOW))), "trust_forked", "it is no version 1");
    let contradicting = TrustHistory::new(Some(Digest::of(b"another")), Some(roots[0].clone()));
    assert_eq!(
        code(&follow(&contradicting, &roots[1], &all, time(NOW))),
        "trust_forked",
        "the known one is not pinned"
    );
    let later = TrustHistory::new(Some(roots[0].digest()), Some(roots[2].clone()));
    assert_eq!(follow(&later, &roots[3], &all, time(NOW)).unwrap(), roots[3]);
}

#[test]
fn without_pin_and_memory_the_first_one_seen_is_believed() {
    let roots = chain(3);
    for offered in &roots {
        let found = follow(&TrustHistory::default(), offered, &BTreeMap::new(), time(NOW)).unwrap();
        assert_eq!(found, *offered);
    }
    let usurper = load(&TrustDraft::new(time(0), time(400 * DAY), 1, publics(&[9])), &[9]);
    let history = TrustHistory::new(None, Some(roots[0].clone()));
    assert_eq!(code(&follow(&history, &usurper, &BTreeMap::new(), time(NOW))), "trust_forked");
}

/// Two contents under one version number are a fork; one content signed by other holders is the same version.
#[test]
fn a_fork_is_another_content_and_not_another_set_of_signatures() {
    let first = load(&TrustDraft::new(time(0), time(9 * DAY), 2, publics(&[1, 2, 3])), &[1, 2]);
    let mut draft = TrustDraft::from(&first);
    draft.next_version(time(DAY), time(400 * DAY));
    let by = |signers: &[u8]| first.accept_successor(&sign_draft(&draft, signers).unwrap()).unwrap();
    let (one, other) = (by(&[1, 2]), by(&[2, 3]));
    assert_ne!(one.digest(), other.digest());
    let history = TrustHistory::new(None, Some(one.clone()));
    let found = follow(&history, &other, &BTreeMap::new(), time(NOW)).unwrap();
    assert_eq!(found.digest(), one.digest(), "what was used stays in use");
    let fork = after(&first, b"fork", &[1, 2]);
    let error = follow(&history, &fork, &BTreeMap::new(), time(NOW)).unwrap_err();
    assert_eq!(error, AttestError::TrustForked { version: 2, found: fork.digest(), known: one.digest() });
}

/// Root keys hand over again and again; who knows only the first follows all the way, and who lost the keys is stuck.
#[test]
fn tuf_root_keys_rotate_through_a_chain_and_below_the_threshold_nothing_follows() {
    let first = load(&TrustDraft::new(time(0), time(9 * DAY), 2, publics(&[1, 2, 3])), &[1, 2]);
    let hand_over = |root: &TrustRoot, threshold, to: &[u8], signers: &[u8]| {
        let mut draft = TrustDraft::from(root);
        draft.next_version(time(DAY), time(400 * DAY));
        draft.set_root_keys(threshold, publics(to)).unwrap();
        sign_draft(&draft, signers).and_then(|bytes| root.accept_successor(&bytes))
    };
    let second = hand_over(&first, 2, &[3, 4, 5], &[2, 3, 4]).unwrap();
    let third = hand_over(&second, 3, &[5, 6, 7, 8], &[3, 5, 6, 7]).unwrap();
    let fourth = hand_over(&third, 1, &[9], &[5, 6, 7, 9]).unwrap();
    let all = shelf([&first, &second, &third, &fourth]);
    let pinned = TrustHistory::new(Some(first.digest()), None);
    assert_eq!(follow(&pinned, &fourth, &all, time(NOW)).unwrap().root_keys(), publics(&[9]));
    // Two of the three keys of version 1 are lost: neither the last holder nor strangers can go on.
    for signers in [&[1][..], &[1, 4, 5], &[4, 5]] {
        assert_eq!(code(&hand_over(&first, 2, &[1, 4, 5], signers)), "threshold_not_met", "{signers:?}");
    }
    // Lost below the threshold is not lost: the others hand over.
    assert_eq!(code(&hand_over(&first, 2, &[2, 3, 4], &[2, 3])), "followed");
}

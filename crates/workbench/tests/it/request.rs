//! W-020 to W-022, W-061 and W-062: what is asked, and what is admitted.

use quorum_schemas::JcsDigest;
use quorum_workbench::{Admitted, RefusalCode, Request, Retry, Stage, WorkbenchError, admit};
use serde_json::{Value as Json, json};

use crate::support::{bytes, edited, host, profile, request};

fn ask(profile: &Json, request: &Json) -> Result<Admitted, WorkbenchError> {
    admit(&Request::read(&bytes(request))?, &host(profile))
}

fn code(profile: &Json, request: &Json) -> &'static str {
    ask(profile, request).map_or_else(|error| error.code(), |_| "taken")
}

#[test]
fn w_020_an_observation_needs_a_plain_grant_and_a_mutation_a_confirmed_one() {
    let mutation = edited(&profile(), "/effect~1mode", json!(null));
    let table = [
        (profile(), "grant:plain", "taken"),
        (profile(), "grant:confirmed", "taken"),
        (profile(), "grant:none", "grant-required"),
        (mutation.clone(), "grant:plain", "operator-confirmation-required"),
        (mutation.clone(), "grant:confirmed", "taken"),
        (mutation, "grant:none", "grant-required"),
    ];
    for (profile, grant, expected) in table {
        assert_eq!(code(&profile, &edited(&request(&profile), "/grant~1ref", json!(grant))), expected, "{grant}");
    }
}

#[test]
fn w_021_a_wrong_pin_is_refused_before_anything_else() {
    // The profile names a credential, the key is missing, the grant is unknown: the pin speaks first.
    let other = edited(&profile(), "/env/keys", json!(["API_KEY"]));
    let mut wrong = request(&profile());
    wrong["command/profile"] = other.clone();
    wrong["grant/ref"] = json!("grant:none");
    wrong.as_object_mut().unwrap().remove("idempotency/key");
    assert_eq!(code(&profile(), &wrong), "command-profile-digest-mismatch");
    let right = request(&other);
    assert_eq!(code(&other, &right), "credential-env-denied");
    // Admitted by the owner is another question than pinned.
    assert_eq!(code(&other, &request(&profile())), "command-profile-missing");
}

#[test]
fn w_022_a_caller_names_no_observation_roots() {
    let narrowed = edited(&request(&profile()), "/observation~1roots", json!(["src"]));
    assert_eq!(code(&profile(), &narrowed), "workbench_schema_invalid");
}

#[test]
fn roots_are_the_hosts_and_the_profiles() {
    for (root, expected) in
        [("root:repo", "taken"), ("root:other", "command-profile-denied"), ("root:x", "workspace-root-unknown")]
    {
        let asked = edited(&request(&profile()), "/address/root~1ref", json!(root));
        assert_eq!(code(&profile(), &asked), expected, "{root}");
    }
    let elsewhere = edited(&request(&profile()), "/address/workspace~1ref", json!("workspace:x"));
    assert_eq!(code(&profile(), &elsewhere), "workspace-root-unknown");
}

#[test]
fn an_admitted_run_is_wholly_described() {
    let asked = edited(&request(&profile()), "/env~1overrides", json!({"COLOR": "no"}));
    let admitted = ask(&profile(), &asked).unwrap();
    assert_eq!(admitted.argv, ["/usr/bin/ls", "-1", "--", "src/lib.rs"]);
    assert_eq!(admitted.env.keys().collect::<Vec<_>>(), ["COLOR", "EMPTY", "LANG"]);
    assert_eq!(admitted.timeout_ms, 2000);
}

#[test]
fn w_061_the_key_is_bound_to_everything_that_is_asked() {
    let digest = |request: &Json, policy| Request::read(&bytes(request)).unwrap().digest(JcsDigest::from_bytes(policy));
    let base = digest(&request(&profile()), [7; 32]).unwrap();
    let edits = [
        ("/address/relative~1path", json!("src")),
        ("/address/root~1ref", json!("root:other")),
        ("/arguments", json!(["src/main.rs"])),
        ("/arguments", json!([])),
        ("/timeout~1ms", json!(2001)),
        ("/timeout~1ms", json!(null)),
        ("/env~1overrides", json!({"LANG": "C"})),
        ("/source~1generation-ref", json!("generation:2")),
        ("/grant~1ref", json!("grant:confirmed")),
    ];
    for (place, value) in edits {
        assert_ne!(digest(&edited(&request(&profile()), place, value), [7; 32]).unwrap(), base, "{place}");
    }
    let limits = edited(&profile(), "/limits/stdout_bytes", json!(1));
    assert_ne!(digest(&request(&limits), [7; 32]).unwrap(), base);
    assert_ne!(digest(&request(&profile()), [8; 32]).unwrap(), base);
    assert_eq!(digest(&request(&profile()), [7; 32]).unwrap(), base);
}

#[test]
fn w_062_a_missing_and_a_malformed_key_have_codes_of_their_own() {
    assert_eq!(
        code(&profile(), &edited(&request(&profile()), "/idempotency~1key", json!(null))),
        "idempotency-key-required"
    );
    for key in ["", "-x", "a b", "a\n", "ä", &"a".repeat(129)] {
        let asked = edited(&request(&profile()), "/idempotency~1key", json!(key));
        assert_eq!(code(&profile(), &asked), "idempotency-key-invalid", "{key:?}");
    }
}

#[test]
fn w_090_every_code_has_stage_and_retry_class() {
    assert_eq!(RefusalCode::IdempotencyKeyConflict.class(), (Stage::Replay, Retry::Terminal));
    assert_eq!(RefusalCode::ObservationEffectDetected.class(), (Stage::Run, Retry::Terminal));
    assert_eq!(RefusalCode::ObservationTimeoutQuiesced.class(), (Stage::Run, Retry::Transient));
    for entry in RefusalCode::ENTRIES {
        assert!(quorum_workbench::Code::new(entry.code).is_ok(), "{}", entry.code);
    }
}

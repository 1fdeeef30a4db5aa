//! Documents that the tests start from.

use quorum_schemas::{JcsDigest, Value};
use quorum_workbench::{
    Address, CommandProfile, ContentDigest, Grant, Host, Outcome, Ref, RelativePath, RunResult, WorkbenchError,
};
use serde_json::{Value as Json, json};

pub(crate) fn bytes(document: &Json) -> Vec<u8> {
    serde_json::to_vec(document).unwrap()
}

pub(crate) fn name(text: &str) -> Ref {
    Ref::new(text).unwrap()
}

pub(crate) fn profile() -> Json {
    json!({
        "schema": "sensorium-command-profile.v1", "schema/v": 1, "command.profile/ref": "command-profile:list",
        "executable": "/usr/bin/ls", "fixed_args": ["-1", "--"], "allowed_arg_prefixes": ["src/", "--only="],
        "allowed_workspace_roots": ["root:repo"],
        "env": {"mode": "allowlisted", "keys": ["LANG", "COLOR"], "defaults": {"LANG": "C", "EMPTY": ""}},
        "limits": {"default_timeout_ms": 5000, "max_timeout_ms": 400_000, "stdout_bytes": 65536, "stderr_bytes": 16384},
        "effect/mode": "observation"
    })
}

pub(crate) fn read(profile: &Json) -> Result<CommandProfile, WorkbenchError> {
    CommandProfile::read(&bytes(profile))
}

/// What an edit of a document is; `null` removes the member.
pub(crate) fn edited(document: &Json, pointer: &str, value: Json) -> Json {
    let mut document = document.clone();
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    let last = last.replace("~1", "/");
    let members = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    if value.is_null() {
        members.remove(&last);
    } else {
        members.insert(last, value);
    }
    document
}

pub(crate) fn digest_of(profile: &Json) -> String {
    ContentDigest::of(&Value::from_serde(profile.clone())).unwrap().to_string()
}

pub(crate) fn request(profile: &Json) -> Json {
    json!({
        "schema": "quorum-process-run-request.v1", "schema/v": 1,
        "address": {"workspace/ref": "workspace:demo", "root/ref": "root:repo", "relative/path": "."},
        "command/profile": profile, "command-profile/digest": digest_of(profile), "arguments": ["src/lib.rs"],
        "timeout/ms": 2000, "source/generation-ref": "generation:1", "grant/ref": "grant:plain",
        "idempotency/key": "check-1"
    })
}

pub(crate) fn host(profile: &Json) -> Host {
    Host {
        workspace: name("workspace:demo"),
        roots: [name("root:repo"), name("root:other")].into(),
        profiles: [digest_of(profile).parse().unwrap()].into(),
        grants: [(name("grant:plain"), Grant::Plain), (name("grant:confirmed"), Grant::OperatorConfirmed)].into(),
        policy: JcsDigest::from_bytes([7; 32]),
    }
}

pub(crate) fn result(outcome: Outcome) -> RunResult {
    RunResult {
        reference: name("process-run:1"),
        address: Address { workspace: name("workspace:demo"), root: name("root:repo"), path: RelativePath::root() },
        profile: name("command-profile:list"),
        profile_digest: digest_of(&profile()).parse().unwrap(),
        generation: name("generation:1"),
        outcome,
    }
}

//! W-001 to W-014: what a profile admits, and its digest.

use std::collections::BTreeMap;

use quorum_schemas::upstream;
use quorum_workbench::{CommandProfile, ContentDigest, EffectMode, same_digest};
use serde_json::json;

use crate::support::{bytes, edited, profile, read};

fn code(profile: &serde_json::Value) -> &'static str {
    read(profile).map_or_else(|error| error.code(), |_| "taken")
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn one(name: &str, value: &str) -> BTreeMap<String, String> {
    [(name.to_owned(), value.to_owned())].into()
}

#[test]
fn w_001_argv_is_executable_fixed_and_admitted_arguments() {
    let profile = read(&profile()).unwrap();
    let argv = |arguments: &[&str]| profile.argv(&strings(arguments));
    assert_eq!(argv(&[]).unwrap(), ["/usr/bin/ls", "-1", "--"]);
    assert_eq!(argv(&["src/a b;$(x)", "--only=y"]).unwrap()[3..], ["src/a b;$(x)", "--only=y"]);
    for refused in ["", "lib", "-1", "src", "src/\n", "src/\r", "src/\0", " src/"] {
        assert_eq!(argv(&[refused]).unwrap_err().code.code(), "argv-invalid", "{refused:?}");
    }
    let long = format!("src/{}", "x".repeat(4096));
    assert_eq!(argv(&[&long]).unwrap_err().code.code(), "argv-invalid");
    assert!(argv(&vec!["src/x"; 61]).is_ok());
    assert_eq!(argv(&vec!["src/x"; 62]).unwrap_err().code.code(), "argv-invalid");
}

#[test]
fn w_001_no_prefixes_admit_no_arguments() {
    for prefixes in [json!([]), json!(null)] {
        let profile = read(&edited(&profile(), "/allowed_arg_prefixes", prefixes)).unwrap();
        assert!(profile.argv(&[]).is_ok());
        assert!(profile.argv(&strings(&["src/lib.rs"])).is_err());
    }
}

#[test]
fn w_002_unknown_fields_are_refused_before_anything_is_read() {
    for place in ["/shell", "/env/inherit", "/limits/memory_bytes"] {
        assert_eq!(code(&edited(&profile(), place, json!(true))), "workbench_schema_invalid", "{place}");
    }
    // A credential beside an unknown field: the schema speaks first.
    let both = edited(&edited(&profile(), "/env/keys", json!(["API_KEY"])), "/shell", json!(true));
    assert_eq!(code(&both), "workbench_schema_invalid");
}

#[test]
fn w_002_network_spellings() {
    for none in [json!(false), json!(""), json!("none"), json!("disabled"), json!("deny"), json!("denied")] {
        assert_eq!(code(&edited(&profile(), "/network", none.clone())), "taken", "{none}");
    }
    let nested = json!({"mode": "local-only", "policy": {"egress": "blocked", "mode": null}, "egress": "block"});
    assert_eq!(code(&edited(&profile(), "/network", nested)), "taken");
    let mut null = profile();
    null["network"] = json!(null);
    assert_eq!(code(&null), "taken");
    for some in [
        json!(true),
        json!("internet"),
        json!("None"),
        json!({"mode": "none", "egress": "internet"}),
        json!({"dns": "none"}),
        json!([]),
    ] {
        assert_eq!(code(&edited(&profile(), "/network", some.clone())), "workbench_schema_invalid", "{some}");
    }
}

#[test]
fn w_003_the_environment_is_the_profile_and_admitted_overrides() {
    let listed = read(&profile()).unwrap();
    let env = |overrides: &BTreeMap<String, String>| listed.environment(overrides);
    assert_eq!(env(&BTreeMap::new()).unwrap(), [("EMPTY".into(), String::new()), ("LANG".into(), "C".into())].into());
    assert_eq!(env(&one("LANG", "")).unwrap()["LANG"], "");
    assert_eq!(env(&one("COLOR", "no")).unwrap().len(), 3);
    for name in ["PATH", "EMPTY", "lang", "LD_PRELOAD", ""] {
        assert_eq!(env(&one(name, "x")).unwrap_err().code.code(), "env-override-denied", "{name}");
    }
    assert_eq!(env(&one("LANG", "a\0b")).unwrap_err().code.code(), "env-override-denied");
    let bare = read(&edited(&profile(), "/env", json!({"mode": "profile-defaults-only"}))).unwrap();
    assert_eq!(bare.environment(&BTreeMap::new()).unwrap(), BTreeMap::new());
    assert!(bare.environment(&one("LANG", "C")).is_err());
}

#[test]
fn w_003_names_like_credentials_are_refused_wherever_they_stand() {
    let credentials = [
        "GITHUB_TOKEN",
        "token",
        "NPMTOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DbPassword",
        "SSH_AUTH_SOCK",
        "MYSQL_PWD",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SSH_ASKPASS",
        "OPENAI_API_KEY",
        "apikey",
        "KUBECONFIG",
        "X-Auth",
        "PAT",
    ];
    let listed = read(&profile()).unwrap();
    for name in credentials {
        assert_eq!(code(&edited(&profile(), "/env/keys", json!([name]))), "credential-env-denied", "{name}");
        assert_eq!(code(&edited(&profile(), "/env/defaults", json!({name: "x"}))), "credential-env-denied", "{name}");
        assert_eq!(listed.environment(&one(name, "x")).unwrap_err().code.code(), "credential-env-denied", "{name}");
    }
    let plain = ["LANG", "PATH", "PWD", "TOKENIZERS_PARALLELISM", "KEYBOARD", "AUTHOR", "PATTERN", "MONKEY"];
    assert_eq!(code(&edited(&profile(), "/env/keys", json!(plain))), "taken");
}

#[test]
fn w_004_a_timeout_is_refused_and_never_shortened() {
    let profile_ = read(&profile()).unwrap();
    assert_eq!(profile_.timeout_ms(None).unwrap(), 5000);
    assert_eq!(profile_.timeout_ms(Some(300_000)).unwrap(), 300_000);
    assert_eq!(profile_.timeout_ms(Some(300_001)).unwrap_err().code.code(), "timeout-above-channel");
    assert_eq!(profile_.timeout_ms(Some(400_001)).unwrap_err().code.code(), "timeout-above-profile");
    let backwards = edited(&profile(), "/limits/default_timeout_ms", json!(400_001));
    assert_eq!(code(&backwards), "command-profile-denied");
}

#[test]
fn w_035_a_profile_whose_output_fits_no_result_is_refused() {
    let most = edited(&profile(), "/limits/stdout_bytes", json!(524_288 - 16_384));
    assert_eq!(code(&most), "taken");
    let more = edited(&profile(), "/limits/stdout_bytes", json!(524_288 - 16_383));
    assert_eq!(code(&more), "command-profile-denied");
}

#[test]
fn w_010_each_field_has_one_spelling() {
    let good = "sha256:hH7Dw1n7aFpA8sPq3m5r1C0mYw8sI0bJq1l0pQz9y7A";
    assert_eq!(good.parse::<ContentDigest>().unwrap().to_string(), good);
    let hex = format!("sha256:{}", "1".repeat(64));
    let refused = [
        "sha256:x".to_owned(),
        hex,
        good.replace("sha256", "SHA256"),
        format!("{good}="),
        format!("{good}\n"),
        // The spare bits of the last character are set.
        good.replace("y7A", "y7B"),
        good[..49].to_owned(),
        good.replace("_", "/").replace("hH7D", "+H7D"),
    ];
    for text in refused {
        assert_eq!(text.parse::<ContentDigest>().unwrap_err().code(), "content_digest_malformed", "{text}");
    }
}

#[test]
fn w_011_digests_are_compared_as_bytes() {
    let digest: ContentDigest = "sha256:hH7Dw1n7aFpA8sPq3m5r1C0mYw8sI0bJq1l0pQz9y7A".parse().unwrap();
    let hex: String = digest.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(same_digest(&digest.to_string(), &format!("sha256:{hex}")).unwrap());
    assert!(!same_digest(&digest.to_string(), &format!("sha256:{}", "0".repeat(64))).unwrap());
    assert!(same_digest(&digest.to_string(), "sha256:x").is_err());
}

#[test]
fn w_012_the_digest_is_that_of_the_rfc_8785_form() {
    // Sorted by UTF-16 units, U+10000 comes before U+E000; by code points after it.
    let env = json!({"mode": "allowlisted", "keys": [], "defaults": {"\u{e000}": "1", "\u{10000}": "2"}});
    let document = edited(&profile(), "/env", env);
    let form = String::from_utf8(quorum_schemas::jcs(&quorum_schemas::Value::from_serde(document.clone())).unwrap());
    assert!(form.unwrap().contains("{\"\u{10000}\":\"2\",\"\u{e000}\":\"1\"}"));
    let digest = read(&document).unwrap().digest();
    let pretty = serde_json::to_vec_pretty(&document).unwrap();
    assert_eq!(CommandProfile::read(&pretty).unwrap().digest(), digest);
    let twice = bytes(&profile());
    let twice = [&twice[..twice.len() - 1], br#","schema/v":1}"#].concat();
    assert_eq!(CommandProfile::read(&twice).unwrap_err().code(), "json_duplicate_key");
}

#[test]
fn w_013_absent_and_default_are_two_documents() {
    let absent = edited(&profile(), "/effect~1mode", json!(null));
    let stated = edited(&profile(), "/effect~1mode", json!("mutation"));
    let (absent, stated) = (read(&absent).unwrap(), read(&stated).unwrap());
    assert_eq!((absent.effect(), stated.effect()), (EffectMode::Mutation, EffectMode::Mutation));
    assert_ne!(absent.digest(), stated.digest());
    let network = read(&edited(&profile(), "/network", json!("none"))).unwrap();
    assert_ne!(network.digest(), read(&profile()).unwrap().digest());
}

#[test]
fn w_014_a_document_has_no_place_for_its_own_digest() {
    let own = edited(&profile(), "/command-profile~1digest", json!("sha256:x"));
    assert_eq!(code(&own), "workbench_schema_invalid");
}

#[test]
fn upstream_profiles_are_read_and_its_negatives_refused() {
    let Some(folder) = upstream::path() else { return };
    let mut seen = [0, 0];
    for (at, kind) in ["sensorium/examples", "sensorium/examples/invalid"].iter().enumerate() {
        for entry in std::fs::read_dir(folder.join(kind)).unwrap() {
            let path = entry.unwrap().path();
            if path.to_str().unwrap().ends_with(".sensorium-command-profile.json") {
                let read = CommandProfile::read(&std::fs::read(&path).unwrap());
                assert_eq!(read.is_ok(), at == 0, "{}: {read:?}", path.display());
                seen[at] += 1;
            }
        }
    }
    assert_eq!(seen, [2, 2]);
}

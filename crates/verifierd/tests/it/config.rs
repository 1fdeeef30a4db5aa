//! What `--check-config` finds.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use quorum_verifierd::Config;

use crate::setting::Setting;

#[tokio::test(flavor = "multi_thread")]
async fn design_4_configuration_errors_each_have_a_code() {
    let setting = Setting::start().await;
    let dir = setting.world.dir().to_owned();
    let path = dir.join("verifier-verifier-a.toml");
    let good = fs::read_to_string(&path).unwrap();
    Config::load(&path).unwrap().check().unwrap();
    let broken = dir.join("broken.toml");
    for (from, to, code) in [
        ("verifier = ", "verifyer = ", "config_malformed"),
        ("verifier = \"verifier-a\"", "verifier = \"verifier-b\"", "key_not_verifier"),
        ("verifier-verifier-a.pem", "verifier-verifier-b.pem", "key_not_verifier"),
        ("verifier-verifier-a.pem", "nowhere.pem", "file_unreadable"),
        ("plan-verifier-a.toml", "plan-verifier-b.toml", "plan_wrong_verifier"),
        ("process-sandbox", "hope", "config_malformed"),
        (
            "trust = ",
            "trust_pin = \"sha256:0000000000000000000000000000000000000000000000000000000000000000\"\ntrust = ",
            "trust_forked",
        ),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(&broken, good.replace(from, to)).unwrap();
        let error = Config::load(&broken).and_then(|config| config.check().map(drop)).unwrap_err();
        assert_eq!(error.code(), code, "{to}: {error}");
        assert!(error.is_control_file(), "{error}");
    }
    // An imported plan runs under this verifier's name; one that judges the worker's own words is not for the mesh.
    let plans = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/evaluator-plans");
    for (plan, code) in [("json/plan-v0.1.json", None), ("patch/plan-v0.4.json", Some("plan_needs_manifest"))] {
        fs::copy(plans.join(plan), dir.join("imported.json")).unwrap();
        fs::write(&broken, good.replace("plan-verifier-a.toml", "imported.json")).unwrap();
        let found = Config::load(&broken).and_then(|config| config.check().map(drop));
        assert!(found.as_ref().err().is_none_or(quorum_verifierd::VerifierdError::is_control_file));
        assert_eq!(found.err().map(|error| error.code()), code, "{plan}");
    }
    let key = dir.join("verifier-verifier-a.pem");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(Config::load(&path).unwrap().check().unwrap_err().code(), "file_exposed");
}

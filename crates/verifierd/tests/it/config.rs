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
    let key = dir.join("verifier-verifier-a.pem");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(Config::load(&path).unwrap().check().unwrap_err().code(), "file_exposed");
}

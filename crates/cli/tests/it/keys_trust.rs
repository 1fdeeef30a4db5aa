//! `keys`, `trust` and `sign`, each as a process.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use quorum_attest::{Envelope, PredicateType, Role, SigningKey, Statement, Subject, TrustRoot, authenticate};
use quorum_schemas::{Digest, Timestamp, Value};
use serde_json::json;
use tempfile::TempDir;

/// A folder in which `quorum` runs.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with the root key `root.pem` and version 1 in `trust.json`.
    fn with_trust() -> Self {
        let desk = Self::new();
        desk.ok("keys new root.pem");
        desk.ok("trust init trust.json --root-key root.pem");
        desk
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, line: &str) -> Output {
        let arguments = line.split(' ');
        Command::new(env!("CARGO_BIN_EXE_quorum")).args(arguments).current_dir(self.path()).output().unwrap()
    }

    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.ok(&format!("{line} --json"))).unwrap()
    }

    /// The command fails with this exit code, its last line names this error code, and stdout is empty.
    fn fails(&self, line: &str, status: i32, code: &str) -> String {
        let output = self.run(line);
        let talk = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}: {talk}");
        assert!(talk.lines().last().unwrap_or_default().starts_with(&format!("error[{code}]: ")), "{line}: {talk}");
        assert_eq!(output.stdout, b"", "{line}");
        talk
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }

    fn trust(&self) -> TrustRoot {
        TrustRoot::load(&self.bytes("trust.json")).unwrap()
    }

    fn key(&self, name: &str) -> SigningKey {
        SigningKey::from_pkcs8_pem(&fs::read_to_string(self.path().join(name)).unwrap()).unwrap()
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path().join(name)).unwrap().permissions().mode() & 0o7777
    }

    fn names(&self) -> BTreeSet<String> {
        fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

#[test]
fn keys_new_is_private_new_and_says_nothing_secret() {
    let desk = Desk::new();
    let output = desk.run("keys new a.pem");
    assert_eq!(desk.mode("a.pem"), 0o600);
    let pem = fs::read_to_string(desk.path().join("a.pem")).unwrap();
    let secret = pem.lines().nth(1).unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(!String::from_utf8(said).unwrap().contains(&secret[20..]), "the secret was printed");
    desk.fails("keys new a.pem", 2, "key_exists");
    assert_eq!(desk.bytes("a.pem"), pem.as_bytes(), "an existing key is untouched");
    desk.ok("keys new b.pem");
    assert_ne!(desk.bytes("b.pem"), pem.as_bytes());
    desk.fails("keys new no/such/folder.pem", 5, "cannot_write");
    assert_eq!(desk.names(), BTreeSet::from(["a.pem".to_owned(), "b.pem".to_owned()]));
}

#[test]
fn keys_new_seat_secret() {
    let desk = Desk::new();
    assert_eq!(desk.ok("keys new a --seat-secret"), "");
    assert_eq!((desk.mode("a"), desk.bytes("a").len()), (0o600, 32));
    assert_eq!(desk.json("keys new b --seat-secret")["bytes"], 32);
    assert_ne!(desk.bytes("a"), desk.bytes("b"));
    desk.fails("keys new a --seat-secret", 2, "key_exists");
}

#[test]
fn keys_show_prints_the_same_of_every_form_of_a_key() {
    let desk = Desk::new();
    let made = desk.json("keys new a.pem");
    let public = desk.key("a.pem").public();
    assert_eq!(made["key_id"], public.key_id().to_string());
    assert_eq!(made["public_key"], public.spki_base64());
    let text = desk.ok("keys show a.pem");
    assert_eq!(text, format!("key id      {}\npublic key  {}\n", public.key_id(), public.spki_base64()));
    let pem = desk.ok("keys show a.pem --pem");
    assert_eq!(pem, public.spki_pem());
    fs::write(desk.path().join("public.pem"), &pem).unwrap();
    assert_eq!(desk.ok("keys show public.pem"), text);
    assert_eq!(desk.ok(&format!("keys show {}", public.spki_base64())), text);
    let shown = desk.json("keys show public.pem");
    assert_eq!(shown, json!({"key_id": public.key_id().to_string(), "public_key": public.spki_base64()}));
    fs::write(desk.path().join("bad.pem"), "hello").unwrap();
    desk.fails("keys show bad.pem", 2, "key_malformed");
    desk.fails("keys show none.pem", 2, "cannot_read");
}

/// The life of a trust root: every version is the successor of the one before, and says what was asked.
#[test]
fn trust_versions_follow_each_other() {
    let desk = Desk::with_trust();
    for name in ["v1", "v2", "w1"] {
        desk.ok(&format!("keys new {name}.pem"));
    }
    fs::write(desk.path().join("v2.pub"), desk.key("v2.pem").public().spki_pem()).unwrap();
    let w1 = desk.key("w1.pem").public().spki_base64();
    let policy = Digest::of(b"a policy").to_string();
    let steps = [
        "add trust.json --root-key root.pem --role verifier --id v1 --public-key v1.pem --attribute operator=acme \
         --attribute host=h1 --valid-until 2099-01-01T00:00:00Z"
            .to_owned(),
        "add trust.json --root-key root.pem --role verifier --id v2 --public-key v2.pub --policy two-of-three"
            .to_owned(),
        format!("add trust.json --root-key root.pem --role worker --id w1 --public-key {w1} --valid-until 7d"),
        format!("admit-policy trust.json --root-key root.pem {policy} local"),
        "withdraw-policy trust.json --root-key root.pem local --expires 730d".to_owned(),
        "retire trust.json --root-key root.pem --role worker --id w1 --at 1h".to_owned(),
        "revoke trust.json --root-key root.pem --role verifier --id v1 --at 2030-01-01T00:00:00Z --compromised-since \
         2029-12-01T00:00:00Z"
            .to_owned(),
    ];
    let first = desk.trust();
    assert_eq!((first.version(), first.threshold(), first.entries().len()), (1, 1, 0));
    let mut present = first;
    for (index, step) in steps.iter().enumerate() {
        let said = desk.json(&format!("trust {step}"));
        let next =
            present.accept_successor(&desk.bytes("trust.json")).unwrap_or_else(|error| panic!("{step}: {error}"));
        assert_eq!(next.version(), index as u64 + 2);
        assert_eq!((&said["version"], &said["digest"]), (&json!(next.version()), &json!(next.digest())));
        present = next;
    }
    let v1 = present.by_id(Role::Verifier, "v1").unwrap();
    assert_eq!(v1.public_key, desk.key("v1.pem").public());
    assert_eq!(
        v1.attributes.clone().into_iter().collect::<Vec<_>>(),
        [("host".to_owned(), "h1".to_owned()), ("operator".to_owned(), "acme".to_owned())]
    );
    assert_eq!(v1.valid_until.to_string(), "2099-01-01T00:00:00Z");
    assert_eq!(v1.revoked_at.unwrap().to_string(), "2030-01-01T00:00:00Z");
    assert_eq!(v1.compromised_since.unwrap().to_string(), "2029-12-01T00:00:00Z");
    let w1 = present.by_id(Role::Worker, "w1").unwrap();
    assert_eq!(w1.valid_until.micros_since(w1.valid_from), 7 * 86_400 * 1_000_000);
    assert!(w1.retired_at.is_some());
    assert!(present.admits_policy(&policy.parse().unwrap()));
    assert_eq!(present.policies().len(), 2, "two-of-three and the digest");
    let mut names: BTreeSet<String> =
        ["root.pem", "trust.json", "v1.pem", "v2.pem", "v2.pub", "w1.pem"].map(str::to_owned).into();
    names.extend((1..present.version()).map(|version| format!("trust.{version}.json")));
    assert_eq!(desk.names(), names, "every version, and nothing else is left");
    for version in 1..present.version() {
        assert_eq!(TrustRoot::load(&desk.bytes(&format!("trust.{version}.json"))).unwrap().version(), version);
    }
}

#[test]
fn trust_show_as_text_and_json() {
    let desk = Desk::with_trust();
    desk.ok("keys new v.pem");
    desk.ok(
        "trust add trust.json --root-key root.pem --role verifier --id v --public-key v.pem --attribute operator=acme",
    );
    desk.ok("trust revoke trust.json --root-key root.pem --role verifier --id v");
    let (root, key) = (desk.trust(), desk.key("v.pem").public());
    let shown = desk.json("trust show trust.json");
    assert_eq!(shown["version"], 3);
    assert_eq!(shown["digest"], root.digest().to_string());
    assert_eq!(shown["state"], "current");
    assert_eq!(shown["entries"][0]["key_id"], key.key_id().to_string());
    assert_eq!(shown["entries"][0]["attributes"], json!({"operator": "acme"}));
    assert_eq!(shown["entries"][0]["state"], "revoked");
    assert_eq!(shown["root_keys"][0]["key_id"], desk.key("root.pem").public().key_id().to_string());
    let text = desk.ok("trust show trust.json");
    for part in [root.digest().to_string(), key.key_id().to_string(), "operator = acme".into(), "revoked 2".into()] {
        assert!(text.contains(&part), "{part} is not in:\n{text}");
    }
    let mut spoiled = desk.bytes("trust.json");
    spoiled[20] ^= 1;
    fs::write(desk.path().join("spoiled.json"), spoiled).unwrap();
    assert_eq!(desk.run("trust show spoiled.json").status.code(), Some(2));
}

/// What is refused leaves the file as it was.
#[test]
fn trust_refusals_change_nothing() {
    let desk = Desk::with_trust();
    for name in ["v", "w", "stranger"] {
        desk.ok(&format!("keys new {name}.pem"));
    }
    desk.ok("trust add trust.json --root-key root.pem --role verifier --id v --public-key v.pem");
    let before = desk.bytes("trust.json");
    let cases = [
        ("init trust.json --root-key root.pem", "trust_root_exists"),
        ("add trust.json --root-key root.pem --role verifier --id v2 --public-key v.pem", "duplicate_public_key"),
        ("add trust.json --root-key root.pem --role worker --id v --public-key v.pem", "duplicate_public_key"),
        ("add trust.json --root-key root.pem --role worker --id w --public-key root.pem", "duplicate_public_key"),
        ("add trust.json --root-key root.pem --role verifier --id v --public-key w.pem", "duplicate_id"),
        ("add trust.json --root-key stranger.pem --role worker --id w --public-key w.pem", "unknown_signer"),
        ("add trust.json --root-key v.pem --role worker --id w --public-key w.pem", "unknown_signer"),
        (
            "add trust.json --root-key root.pem --role worker --id w --public-key w.pem --attribute Op=x",
            "attribute_invalid",
        ),
        (
            "add trust.json --root-key root.pem --role worker --id w --public-key w.pem --attribute a=x --attribute a=y",
            "attribute_invalid",
        ),
        (
            "add trust.json --root-key root.pem --role worker --id w --public-key w.pem --valid-until 2000-01-01T00:00:00Z",
            "times_inconsistent",
        ),
        ("add trust.json --root-key root.pem --policy no-such-policy", "cannot_read"),
        ("revoke trust.json --root-key root.pem --role verifier --id u", "entry_unknown"),
        ("revoke trust.json --root-key root.pem --role worker --id v", "entry_unknown"),
        ("admit-policy trust.json --root-key root.pem sha256:12", "digest_malformed"),
        ("withdraw-policy trust.json --root-key root.pem local", "policy_not_admitted"),
        ("rotate trust.json --root-key root.pem --new-root stranger.pem --threshold 1", "threshold_not_met"),
        ("rotate trust.json --root-key root.pem --new-root stranger.pem --threshold 2", "threshold_invalid"),
        ("add none.json --root-key root.pem --policy local", "cannot_read"),
    ];
    for (line, code) in cases {
        desk.fails(&format!("trust {line}"), 2, code);
        assert_eq!(desk.bytes("trust.json"), before, "{line}");
    }
    for line in [
        "add trust.json --root-key root.pem",
        "add trust.json --root-key root.pem --role verifer --id a --public-key w.pem",
        "add trust.json --root-key root.pem --role verifier --id a",
        "add trust.json --policy local",
    ] {
        assert_eq!(desk.run(&format!("trust {line}")).status.code(), Some(2), "{line}");
        assert_eq!(desk.bytes("trust.json"), before, "{line}");
    }
}

#[test]
fn a_key_that_others_may_read_signs_nothing() {
    let desk = Desk::with_trust();
    fs::set_permissions(desk.path().join("root.pem"), fs::Permissions::from_mode(0o640)).unwrap();
    let talk = desk.fails("trust add trust.json --root-key root.pem --policy local", 2, "key_permissions");
    assert!(talk.contains("chmod 600 root.pem"), "{talk}");
}

#[test]
fn a_threshold_of_two_needs_two_people_and_rotates() {
    let desk = Desk::new();
    for name in ["a", "b", "c"] {
        desk.ok(&format!("keys new {name}.pem"));
    }
    let alone = "trust init trust.json --root-key a.pem --root-public b.pem --threshold 2";
    desk.fails(alone, 2, "threshold_not_met");
    desk.fails("trust init trust.json --root-key a.pem --root-key a.pem --threshold 2", 2, "duplicate_public_key");
    assert!(!desk.names().contains("trust.json"));
    desk.ok("trust init trust.json --root-key a.pem --root-key b.pem --threshold 2");
    let talk = desk.fails("trust admit-policy trust.json --root-key a.pem local", 2, "threshold_not_met");
    assert!(talk.contains("--propose FILE"), "says how to go on: {talk}");
    desk.fails("trust admit-policy trust.json --root-key a.pem --root-key a.pem local", 2, "threshold_not_met");
    desk.ok("trust admit-policy trust.json --root-key a.pem --root-key b.pem local");
    let before = desk.trust();
    let rotate = "--new-root b.pem --new-root c.pem --threshold 2";
    desk.fails(&format!("trust rotate trust.json --root-key a.pem --root-key b.pem {rotate}"), 2, "threshold_not_met");
    desk.fails(&format!("trust rotate trust.json --root-key b.pem --root-key c.pem {rotate}"), 2, "threshold_not_met");
    desk.ok(&format!("trust rotate trust.json --root-key a.pem --root-key b.pem --root-key c.pem {rotate}"));
    let after = before.accept_successor(&desk.bytes("trust.json")).unwrap();
    let keys = BTreeSet::from(["b.pem", "c.pem"].map(|name| *desk.key(name).public().as_bytes()));
    assert_eq!(after.root_keys().iter().map(|key| *key.as_bytes()).collect::<BTreeSet<_>>(), keys);
    desk.fails("trust admit-policy trust.json --root-key a.pem --root-key b.pem local", 2, "unknown_signer");
}

/// Three holders, each with a folder of their own and a key that never leaves it; only the proposal travels.
#[test]
fn holders_sign_one_after_the_other_on_machines_of_their_own() {
    let holders = [Desk::new(), Desk::new(), Desk::new()];
    let publics: Vec<String> = holders
        .iter()
        .map(|desk| {
            desk.ok("keys new own.pem");
            desk.key("own.pem").public().spki_base64()
        })
        .collect();
    let pass = |from: &Desk, to: &Desk, name: &str| fs::write(to.path().join(name), from.bytes(name)).unwrap();
    let [first, second, third] = &holders;
    let init = format!(
        "trust init trust.json --root-key own.pem --root-public {} --root-public {} --threshold 2",
        publics[1], publics[2]
    );
    first.fails(&init, 2, "threshold_not_met");
    let proposed = first.json(&format!("{init} --propose first.json"));
    assert_eq!((&proposed["missing"]["own"], &proposed["missing"]["previous"]), (&json!(1), &json!(0)));
    assert_eq!(first.names(), ["own.pem", "first.json"].map(str::to_owned).into());
    let talk = first.fails("trust show first.json", 2, "threshold_not_met");
    assert!(talk.contains("1 signature is missing"), "{talk}");
    first.fails("trust accept trust.json first.json", 2, "threshold_not_met");
    pass(first, second, "first.json");
    let content = proposed["content"].as_str().unwrap();
    let other = Digest::of(b"something else");
    second.fails(&format!("trust sign first.json --root-key own.pem --content {other}"), 2, "proposal_differs");
    assert_eq!(second.bytes("first.json"), first.bytes("first.json"), "nothing was signed");
    let signed = second.json(&format!("trust sign first.json --root-key own.pem --content {content}"));
    assert_eq!((&signed["missing"]["own"], &signed["content"]), (&json!(0), &proposed["content"]));
    for desk in [first, third] {
        pass(second, desk, "first.json");
        desk.ok("trust accept trust.json first.json");
        assert_eq!((desk.trust().version(), desk.trust().threshold()), (1, 2));
    }

    // The next version: the third proposes, the first signs, anybody may put it in its place.
    third.ok("trust admit-policy trust.json --root-key own.pem local --propose next.json");
    third.fails("trust admit-policy trust.json --root-key own.pem local --propose next.json", 2, "trust_file_exists");
    pass(third, first, "next.json");
    let diff = first.ok("trust diff trust.json next.json");
    assert!(diff.contains("+ trust root: policy sha256:") && diff.contains("missing     1 of the previous"), "{diff}");
    first.fails("trust sign next.json --root-key own.pem", 2, "version_not_successor");
    first.ok("keys new stranger.pem");
    first.fails("trust sign next.json --trust trust.json --root-key stranger.pem", 2, "unknown_signer");
    first.ok("trust sign next.json --trust trust.json --root-key own.pem -o signed.json");
    assert_eq!(first.bytes("next.json"), third.bytes("next.json"), "-o leaves the proposal");
    first.ok("trust accept trust.json signed.json");
    assert_eq!(first.trust().version(), 2);
    assert_eq!(TrustRoot::load(&first.bytes("trust.1.json")).unwrap().version(), 1);
    first.fails("trust accept trust.json signed.json", 2, "version_not_successor");

    // Whoever changes it on the way spoils the signatures that are there.
    let mut changed: serde_json::Value = serde_json::from_slice(&third.bytes("next.json")).unwrap();
    let payload = changed["payload"].as_str().unwrap().replacen('A', "B", 1);
    changed["payload"] = payload.into();
    fs::write(third.path().join("changed.json"), quorum_schemas::c1(&Value::from_serde(changed))).unwrap();
    let refused = third.run("trust sign changed.json --trust trust.json --root-key own.pem");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn verify_follows_every_version_from_a_pin_or_from_a_known_one() {
    let desk = Desk::with_trust();
    let pin = desk.trust().digest();
    for policy in ["local", "one-verifier", "two-of-three"] {
        desk.ok(&format!("trust admit-policy trust.json --root-key root.pem {policy}"));
    }
    let said = desk.json(&format!("trust verify trust.json --pin {pin} --min-version 4"));
    assert_eq!((&said["version"], &said["digest"]), (&json!(4), &json!(desk.trust().digest())));
    desk.ok("trust verify .");
    desk.ok("trust verify trust.json --known trust.2.json");
    desk.fails("trust verify trust.json --min-version 5", 2, "trust_version_too_old");
    desk.fails(&format!("trust verify trust.json --pin {}", Digest::of(b"x")), 2, "trust_forked");
    desk.fails("trust verify trust.2.json --known trust.json", 2, "trust_rollback");
    // The gate follows the same versions; the next file that it wants is not there.
    let decide = "decide --work-unit none.json --result none.json --trust trust.json --policy one-verifier";
    desk.fails(&format!("{decide} --trust-pin {pin} --trust-min-version 4"), 2, "cannot_read");
    desk.fails(&format!("{decide} --trust-pin {}", Digest::of(b"x")), 2, "trust_forked");
    fs::remove_file(desk.path().join("trust.3.json")).unwrap();
    desk.fails(&format!("{decide} --trust-pin {pin}"), 2, "trust_gap");
    let talk = desk.fails(&format!("trust verify trust.json --pin {pin}"), 2, "trust_gap");
    assert!(talk.contains("trust.3.json"), "{talk}");
    desk.ok("trust verify trust.json");
}

#[test]
fn a_key_is_replaced_in_one_version_and_the_old_one_can_be_revoked_later() {
    let desk = Desk::with_trust();
    for name in ["old", "new"] {
        desk.ok(&format!("keys new {name}.pem"));
    }
    desk.ok(
        "trust add trust.json --root-key root.pem --role verifier --id v --public-key old.pem --attribute operator=acme",
    );
    let replace = "trust replace-key trust.json --root-key root.pem --role verifier --id v --public-key new.pem";
    desk.fails(&replace.replace("--id v", "--id w"), 2, "entry_unknown");
    desk.fails(&replace.replace("new.pem", "old.pem"), 2, "duplicate_public_key");
    desk.fails(
        "trust add trust.json --root-key root.pem --role verifier --id v --public-key new.pem",
        2,
        "duplicate_id",
    );
    desk.ok(replace);
    let root = desk.trust();
    let [old, new] = root.all_by_id(Role::Verifier, "v") else { panic!("two keys") };
    assert_eq!((old.public_key, new.public_key), (desk.key("old.pem").public(), desk.key("new.pem").public()));
    assert_eq!(old.retired_at, Some(new.valid_from));
    assert_eq!(old.attributes, new.attributes);
    let key_id = desk.key("old.pem").public().key_id();
    desk.ok(&format!("trust revoke trust.json --root-key root.pem --role verifier --id v --key-id {key_id}"));
    let root = desk.trust();
    let [old, new] = root.all_by_id(Role::Verifier, "v") else { panic!("two keys") };
    assert!(old.revoked_at.is_some() && new.revoked_at.is_none(), "the key that was named");
    let diff = desk.ok("trust diff trust.3.json trust.json");
    assert!(diff.contains("revoked_at") && diff.contains("version 3 -> 4"), "{diff}");
}

#[test]
fn no_file_is_overwritten_unless_it_is_the_trust_root_that_is_changed() {
    let desk = Desk::with_trust();
    let before = desk.bytes("trust.json");
    fs::write(desk.path().join("mine.json"), b"mine").unwrap();
    fs::write(desk.path().join("trust.1.json"), b"mine").unwrap();
    let admit = "trust admit-policy trust.json --root-key root.pem local";
    desk.fails(&format!("{admit} -o mine.json"), 2, "trust_file_exists");
    desk.fails(&format!("{admit} --propose mine.json"), 2, "trust_file_exists");
    desk.fails(admit, 2, "trust_version_exists");
    for name in ["mine.json", "trust.1.json"] {
        assert_eq!(desk.bytes(name), b"mine");
    }
    assert_eq!(desk.bytes("trust.json"), before);
    assert_eq!(desk.names(), ["mine.json", "root.pem", "trust.1.json", "trust.json"].map(str::to_owned).into());
}

#[test]
fn output_leaves_the_present_version() {
    let desk = Desk::with_trust();
    let before = desk.trust();
    desk.ok("trust admit-policy trust.json --root-key root.pem local -o next.json");
    assert_eq!(desk.trust(), before);
    before.accept_successor(&desk.bytes("next.json")).unwrap();
}

/// Eight people add a key to one file at once: eight versions, no key lost.
#[test]
fn changes_at_the_same_time_are_all_kept() {
    let desk = Desk::with_trust();
    for n in 0..8 {
        desk.ok(&format!("keys new v{n}.pem"));
    }
    let children: Vec<_> = (0..8)
        .map(|n| {
            let line =
                format!("trust add trust.json --root-key root.pem --role verifier --id v{n} --public-key v{n}.pem");
            Command::new(env!("CARGO_BIN_EXE_quorum"))
                .args(line.split(' '))
                .current_dir(desk.path())
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let root = desk.trust();
    assert_eq!((root.version(), root.entries().len()), (9, 8));
}

fn manifest_statement() -> Option<Statement> {
    let bytes = quorum_schemas::upstream::read("idkmesh/examples/results/phase0-smoke.result-manifest.json")?;
    let predicate: Value = quorum_schemas::parse(&bytes).unwrap();
    let subject = vec![Subject::sha256("candidate", Digest::of(b"candidate"))];
    Some(Statement { subject, predicate_type: PredicateType::ResultManifest, predicate })
}

#[test]
fn sign_signs_the_bytes_as_given_after_checking_role_id_and_dates() {
    let Some(statement) = manifest_statement() else { return };
    let desk = Desk::with_trust();
    for (name, role, id) in [
        ("good", "worker", "phase0-local-worker"),
        ("other", "worker", "other"),
        ("verifier", "verifier", "phase0-local-worker"),
    ] {
        desk.ok(&format!("keys new {name}.pem"));
        desk.ok(&format!("trust add trust.json --root-key root.pem --role {role} --id {id} --public-key {name}.pem"));
    }
    desk.ok("keys new stranger.pem");
    fs::write(desk.path().join("s.json"), statement.to_bytes()).unwrap();
    let said = desk.json("sign --key good.pem --trust trust.json s.json -o s.dsse.json");
    let envelope = Envelope::parse(&desk.bytes("s.dsse.json")).unwrap();
    assert_eq!(said["envelope"], envelope.digest().to_string());
    assert_eq!(envelope.payload(), statement.to_bytes());
    let root = desk.trust();
    let received_at: Timestamp = root.issued_at();
    let authentic = authenticate(&envelope, &root, PredicateType::ResultManifest, received_at).unwrap();
    assert_eq!(authentic.signer().id, "phase0-local-worker");
    fs::write(desk.path().join("spaced.json"), [&statement.to_bytes()[..], b"\n"].concat()).unwrap();
    for (key, file, code) in [
        ("other", "s.json", "id_mismatch"),
        ("verifier", "s.json", "wrong_role"),
        ("stranger", "s.json", "unknown_signer"),
        ("root", "s.json", "unknown_signer"),
        ("good", "spaced.json", "malformed"),
        ("good", "trust.json", "malformed"),
        ("good", "none.json", "cannot_read"),
    ] {
        desk.fails(&format!("sign --key {key}.pem --trust trust.json {file} -o x.json"), 2, code);
    }
    desk.ok("trust revoke trust.json --root-key root.pem --role worker --id phase0-local-worker");
    desk.fails("sign --key good.pem --trust trust.json s.json -o x.json", 2, "key_revoked");
    assert!(!desk.names().contains("x.json"));
}

//! C2SP tlog-policy: the parser's refusals line by line, and groups that go out and come back the same.

use std::collections::BTreeSet;

use quorum_attest::{Entry, Role, SigningKey, TrustDraft, TrustRoot};
use quorum_policies::{Groups, LeaveOut, Member, Policy, TlogPolicy, Vkey};
use quorum_schemas::Timestamp;

use crate::cases::Chance;

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

/// The text of a vkey, through the only writer there is: a policy with one witness.
fn vkey(name: &str, seed: u8) -> String {
    let witness =
        quorum_policies::TlogWitness { name: b"w".to_vec(), key: Vkey::cosigner(name, &key(seed).public()), url: None };
    let text = TlogPolicy { witnesses: vec![witness], ..TlogPolicy::default() }.to_bytes();
    let text = String::from_utf8(text).unwrap();
    text.lines().next().unwrap().strip_prefix("witness w ").unwrap().to_owned()
}

/// The example of c2sp.org/signed-note's key format, an Ed25519 log key: `PeterNeumann` of golang.org/x/mod's notes.
const LOG: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

fn witnesses(count: u8) -> String {
    (1..=count).map(|seed| format!("witness w{seed} {}\n", vkey(&format!("example.com/w{seed}"), seed))).collect()
}

fn all() -> BTreeSet<LeaveOut> {
    LeaveOut::ALL.iter().copied().collect()
}

#[test]
fn a_policy_of_two_levels_is_read_and_written_the_same() {
    let text = format!(
        "log {LOG} https://log.example/\n{}group X 2 w1 w2 w3\ngroup Y any w4 w5\ngroup Z all X Y\nquorum Z\n",
        witnesses(5)
    );
    let policy = TlogPolicy::parse(text.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(policy.to_bytes()).unwrap(), text);
    let imported = policy.import(None, &all()).unwrap();
    assert_eq!(imported.groups.unwrap().describe(), "2 of (2 of (w1, w2, w3), 1 of (w4, w5))");
    assert_eq!(imported.left_out.len(), 2 + 5, "{:?}", imported.left_out);
    let same = format!(
        "# comment\n\n \t# another\n{}",
        text.replace("group X 2", "\tgroup  X\t02 ").replace("quorum", " quorum")
    );
    assert_eq!(TlogPolicy::parse(same.as_bytes()).unwrap(), policy);
}

#[test]
fn what_has_no_twin_is_an_error_until_it_is_left_out_on_purpose() {
    let text = format!("log {LOG} https://log.example/\n{}quorum w1\n", witnesses(2))
        .replace("\nwitness w2", " u\nwitness w2");
    let policy = TlogPolicy::parse(text.as_bytes()).unwrap();
    let order = [LeaveOut::Logs, LeaveOut::Urls, LeaveOut::Keys, LeaveOut::Unused];
    let mut left_out = BTreeSet::new();
    for kind in order {
        let error = policy.import(None, &left_out).unwrap_err();
        assert_eq!(error.code(), "tlog_no_twin");
        assert!(error.to_string().contains(&format!("--leave-out {kind}")), "{kind}: {error}");
        left_out.insert(kind);
    }
    let imported = policy.import(None, &left_out).unwrap();
    assert_eq!(imported.groups, Some(Groups { k: 1, of: vec![Member::Operator("w1".to_owned())] }));
    let text = imported.to_policy("imported").unwrap();
    assert_eq!(Policy::parse(text.as_bytes()).unwrap().groups, imported.groups);
    let none = TlogPolicy::parse(b"quorum none\n").unwrap().import(None, &BTreeSet::new()).unwrap();
    assert_eq!(none.groups, None);
    assert!(Policy::parse(none.to_policy("none").unwrap().as_bytes()).unwrap().groups.is_none());
}

#[test]
fn what_is_no_tlog_policy_is_refused_with_its_line() {
    let two = witnesses(2);
    let again = vkey("other.example/name", 1);
    let bad_id = vkey("example.com/w9", 9).replacen("example.com/w9+", "example.com/w8+", 1);
    for (text, line, words) in [
        (String::new(), 1, "no quorum line"),
        (two.clone(), 3, "no quorum line"),
        (format!("{two}quorum w1"), 3, "does not end in a newline"),
        (format!("{two}quorum w1\nquorum w2\n"), 4, "a quorum line already"),
        (format!("{two}quorum none\nquorum none\n"), 4, "a quorum line already"),
        (format!("{two}quorum w3\n"), 3, "`w3` is no witness or group"),
        (format!("quorum w1\n{two}"), 1, "`w1` is no witness or group"),
        (format!("{two}quorum\n"), 3, "`quorum NAME`"),
        (format!("{two}quorum w1 w2\n"), 3, "`quorum NAME`"),
        (format!("{two}group g 0 w1\nquorum g\n"), 3, "a count is 1 to 1"),
        (format!("{two}group g 3 w1 w2\nquorum g\n"), 3, "a count is 1 to 2"),
        (format!("{two}group g 99999999999999999999999 w1\nquorum g\n"), 3, "a count is 1 to 1"),
        (format!("{two}group g +1 w1\nquorum g\n"), 3, "neither all, any nor a count"),
        (format!("{two}group g 1.0 w1\nquorum g\n"), 3, "neither all, any nor a count"),
        (format!("{two}group g any\nquorum g\n"), 3, "no members"),
        (format!("{two}group g\nquorum g\n"), 3, "`group NAME all|any|K MEMBER...`"),
        (format!("{two}group g any w1 w1\nquorum g\n"), 3, "`w1` is a member already, of `g`"),
        (format!("{two}group g any w1\ngroup h any w1 w2\nquorum h\n"), 4, "`w1` is a member already, of `g`"),
        (format!("{two}group g any w1 g\nquorum g\n"), 3, "`g` is no witness or group"),
        (format!("{two}group g any h\ngroup h any g\nquorum g\n"), 3, "`h` is no witness or group"),
        (format!("{two}group g any none\nquorum g\n"), 3, "`none` is no witness or group"),
        (format!("{two}group none any w1\nquorum none\n"), 3, "`none` is no name"),
        (format!("{two}group w1 any w2\nquorum w1\n"), 3, "`w1` is defined twice"),
        (format!("{two}witness w1 {}\nquorum w1\n", vkey("example.com/w3", 3)), 3, "`w1` is defined twice"),
        (format!("{two}witness w3 {again}\nquorum w1\n"), 3, "another witness has this key"),
        (format!("log {LOG}\nlog {LOG} https://x\nquorum none\n"), 2, "another log has this key"),
        (format!("witness w {LOG}\nquorum w\n"), 1, "of a log's type"),
        (format!("log {}\nquorum none\n", vkey("example.com/w1", 1)), 1, "of a witness's type"),
        (format!("witness w {bad_id}\nquorum w\n"), 1, "key id is not that of its name"),
        ("witness w a+00000000\nquorum w\n".to_owned(), 1, "NAME+KEYID+BASE64"),
        ("witness w +00000000+BBBB\nquorum w\n".to_owned(), 1, "has no name"),
        ("witness w a+0000000+BBBB\nquorum w\n".to_owned(), 1, "eight hex digits"),
        ("witness w a+00000000+BBB\nquorum w\n".to_owned(), 1, "not base64"),
        ("witness w a+00000000+BBBB\nquorum w\n".to_owned(), 1, "32 bytes, this one 2"),
        ("witness w a+00000000+Bg==\nquorum w\n".to_owned(), 1, "has no key"),
        ("witness w\nquorum w\n".to_owned(), 1, "`witness NAME VKEY [URL]`"),
        ("log\nquorum none\n".to_owned(), 1, "`log VKEY [URL]`"),
        ("quorum none\r\n".to_owned(), 1, "octet 0x0d"),
        ("qourum none\n".to_owned(), 1, "`qourum` begins no line"),
    ] {
        let error = TlogPolicy::parse(text.as_bytes()).expect_err(&text);
        assert_eq!(error.code(), "tlog_syntax", "{text}");
        let message = error.to_string();
        assert!(message.starts_with(&format!("tlog_syntax: line {line}: ")), "line {line}: {message} in\n{text}");
        assert!(message.contains(words), "{words}: {message}");
    }
    let error = TlogPolicy::parse(&vec![b'#'; 70_000]).unwrap_err();
    assert_eq!(error.code(), "policy_too_large");
}

#[test]
fn thirty_two_of_everything_are_read_and_names_are_octets() {
    let mut text: String = witnesses(64);
    for group in 0..32 {
        text.push_str(&format!("group g{group} all w{} w{}\n", 2 * group + 1, 2 * group + 2));
    }
    text.push_str("quorum g31\n");
    let policy = TlogPolicy::parse(text.as_bytes()).unwrap();
    assert_eq!((policy.witnesses.len(), policy.groups.len()), (64, 32));
    let octets = [b"witness \xe2\x84\xaa ", vkey("example.com/w1", 1).as_bytes(), b"\nquorum \xe2\x84\xaa\n"].concat();
    let kelvin = TlogPolicy::parse(&octets).unwrap();
    assert_eq!(kelvin.import(None, &all()).unwrap().groups.unwrap().operators(), ["\u{212a}"]);
    let latin = [b"witness \xff ", vkey("example.com/w1", 1).as_bytes(), b"\nquorum \xff\n"].concat();
    let error = TlogPolicy::parse(&latin).unwrap().import(None, &all()).unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}

const OPERATORS: u8 = 12;

/// A verifier of each operator, and a second one of the last.
fn trust() -> TrustRoot {
    let (from, until) = (Timestamp::from_micros(0), Timestamp::from_micros(4_000_000_000_000_000));
    let mut draft = TrustDraft::new(from, until, 1, vec![key(200).public()]);
    for seed in 1..=OPERATORS {
        let entry = Entry::new(Role::Verifier, format!("v{seed}"), key(seed).public(), from, until);
        draft.add(entry.with_attribute("operator", format!("op{seed}"))).unwrap();
    }
    for (seed, id, operator) in [(100, "twin", "op12"), (101, "odd", "two words")] {
        let entry = Entry::new(Role::Verifier, id, key(seed).public(), from, until);
        draft.add(entry.with_attribute("operator", operator)).unwrap();
    }
    TrustRoot::load(&draft.sign(&[&key(200)]).unwrap()).unwrap()
}

fn policy_of(groups: &str) -> Policy {
    Policy::parse(format!("schema_version = \"0.1\"\nid = \"p\"\ngroups = {groups}\n").as_bytes()).unwrap()
}

fn random_groups(chance: &mut Chance, free: &mut Vec<u8>, depth: usize) -> String {
    let count = 1 + chance.below(3);
    let mut members = Vec::new();
    for _ in 0..count {
        if depth < 4 && chance.percent(35) && free.len() > 1 {
            members.push(random_groups(chance, free, depth + 1));
        } else if let Some(operator) = free.pop() {
            members.push(format!("\"op{operator}\""));
        }
    }
    if members.is_empty() {
        members.push(format!("\"spare{}\"", chance.next()));
    }
    format!("{{ k = {}, of = [{}] }}", 1 + chance.below(members.len()), members.join(", "))
}

/// Out and back: the same groups, through the keys of the trust root.
#[test]
fn groups_survive_export_and_import() {
    let trust = trust();
    let mut nested = 0;
    for seed in 0..500 {
        let chance = &mut Chance::new(seed);
        let mut free: Vec<u8> = (1..OPERATORS).collect();
        chance.shuffle(&mut free);
        let text = random_groups(chance, &mut free, 1);
        if text.contains("spare") {
            continue;
        }
        let policy = policy_of(&text);
        let tlog = TlogPolicy::export(&policy, &trust, &all()).unwrap();
        let bytes = tlog.to_bytes();
        let again = TlogPolicy::parse(&bytes).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(again, tlog, "seed {seed}");
        let imported = again.import(Some(&trust), &BTreeSet::new()).unwrap();
        assert_eq!(imported.groups, policy.groups, "seed {seed}");
        assert!(imported.left_out.is_empty());
        nested += usize::from(tlog.groups.len() > 1);
    }
    assert!(nested > 100, "only {nested} nested groups");
    let plain = Policy::parse(b"schema_version = \"0.1\"\nid = \"p\"\n").unwrap();
    assert_eq!(TlogPolicy::export(&plain, &trust, &all()).unwrap().to_bytes(), b"quorum none\n");
}

#[test]
fn export_and_import_by_keys_refuse_what_they_cannot_say() {
    let trust = trust();
    for (groups, words) in [
        ("{ k = 1, of = [\"nobody\"] }", "`nobody` with 0 verifiers' keys"),
        ("{ k = 1, of = [\"op12\"] }", "`op12` with 2 verifiers' keys"),
        ("{ k = 1, of = [\"two words\"] }", "an operator called \"two words\""),
        ("{ k = 1, of = [\"none\"] }", "an operator called \"none\""),
    ] {
        let error = TlogPolicy::export(&policy_of(groups), &trust, &all()).unwrap_err();
        assert_eq!(error.code(), "tlog_no_twin");
        assert!(error.to_string().contains(words), "{error}");
    }
    let error = TlogPolicy::export(&policy_of("{ k = 1, of = [\"op1\"] }"), &trust, &BTreeSet::new()).unwrap_err();
    assert!(error.to_string().contains("--leave-out rest"), "{error}");
    let stranger = format!("witness w {}\nquorum w\n", vkey("example.com/w", 99));
    let error = TlogPolicy::parse(stranger.as_bytes()).unwrap().import(Some(&trust), &all()).unwrap_err();
    assert!(error.to_string().contains("no verifier with an operator"), "{error}");
    let twins = format!("witness a {}\nwitness b {}\ngroup g any a b\nquorum g\n", vkey("n/a", 12), vkey("n/b", 100));
    let error = TlogPolicy::parse(twins.as_bytes()).unwrap().import(Some(&trust), &all()).unwrap_err();
    assert!(error.to_string().contains("`op12` behind two witnesses"), "{error}");
    let deep: String = (2..=9).map(|at| format!("group g{at} any g{}\n", at - 1)).collect();
    let deep = format!("witness w {}\ngroup g1 any w\n{deep}quorum g9\n", vkey("n/a", 1));
    let error = TlogPolicy::parse(deep.as_bytes()).unwrap().import(Some(&trust), &all()).unwrap_err();
    assert!(error.to_string().contains("more than 8 deep"), "{error}");
}

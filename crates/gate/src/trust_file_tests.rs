use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use quorum_attest::{PublicKey, SigningKey, TrustDraft};
use tempfile::TempDir;

use super::*;

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

fn public(seed: u8) -> PublicKey {
    key(seed).public()
}

fn time(seconds: i64) -> Timestamp {
    "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap().plus_seconds(seconds)
}

const NOW: i64 = 1000;

fn after(root: &TrustRoot, policy: &[u8]) -> TrustRoot {
    let mut draft = TrustDraft::from(root);
    draft.next_version(time(0), time(100_000));
    draft.admit_policy(Digest::of(policy)).unwrap();
    root.accept_successor(&draft.sign(&[&key(1)]).unwrap()).unwrap()
}

/// Versions 1 to `count`; number n is at n - 1.
fn versions(count: u32) -> Vec<TrustRoot> {
    let first = TrustDraft::new(time(0), time(100_000), 1, vec![public(1)]).sign(&[&key(1)]).unwrap();
    let mut roots = vec![TrustRoot::load(&first).unwrap()];
    for n in 2..=count {
        roots.push(after(roots.last().unwrap(), &n.to_le_bytes()));
    }
    roots
}

/// An operator's folder and a daemon's state directory.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("given")).unwrap();
        Self(dir)
    }

    fn given(&self) -> PathBuf {
        self.0.path().join("given").join(NEWEST)
    }

    fn state(&self) -> PathBuf {
        self.0.path().join("state")
    }

    fn give(&self, root: &TrustRoot) {
        write_atomically(&self.given(), root.bytes()).unwrap();
    }

    fn give_earlier(&self, root: &TrustRoot) {
        write_atomically(&earlier_trust(&self.given(), root.version()), root.bytes()).unwrap();
    }

    fn open(&self, pin: Option<Digest>) -> Result<TrustStore, GateError> {
        TrustStore::open(&self.given(), &self.state(), pin, time(NOW))
    }

    fn code(&self, root: &TrustRoot, pin: Option<Digest>) -> &'static str {
        self.give(root);
        self.open(pin).map_or_else(|error| error.code(), |_| "opened")
    }

    fn kept(&self) -> Option<u64> {
        let path = self.state().join(NEWEST);
        path.exists().then(|| load_trust(&path).unwrap().version())
    }
}

#[test]
fn earlier_versions_stand_beside_the_newest() {
    for (newest, version, should) in [
        ("a/trust.json", 3, "a/trust.3.json"),
        ("trust.json", 12, "trust.12.json"),
        ("a.b/root.v1.json", 1, "a.b/root.v1.1.json"),
        ("trust", 1, "trust.1"),
    ] {
        assert_eq!(earlier_trust(Path::new(newest), version), Path::new(should));
    }
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(newest_trust(dir.path()), dir.path().join("trust.json"));
    assert_eq!(newest_trust(&dir.path().join("other.json")), dir.path().join("other.json"));
}

#[test]
fn design_4_a_daemon_pins_version_1_keeps_the_newest_and_never_goes_back() {
    let roots = versions(5);
    let fork = after(&roots[0], b"fork");
    let desk = Desk::new();
    let pin = Some(roots[0].digest());
    assert_eq!(desk.code(&roots[1], pin), "trust_gap", "version 1 is not there");
    assert_eq!(desk.code(&roots[0], Some(Digest::of(b"another"))), "trust_forked");
    desk.give(&roots[0]);
    let mut store = desk.open(pin).unwrap();
    assert_eq!(desk.kept(), None, "opening writes nothing");
    store.keep(time(NOW)).unwrap();
    assert_eq!(desk.kept(), Some(1));
    desk.give(&roots[1]);
    assert!(store.refresh(time(NOW)).unwrap());
    assert!(!store.refresh(time(NOW)).unwrap(), "the same again");
    assert_eq!((store.root().version(), desk.kept()), (2, Some(2)));
    // Who was away from version 2 to 5 follows those in between; without one of them nothing changes.
    desk.give(&roots[4]);
    desk.give_earlier(&roots[2]);
    assert_eq!(store.refresh(time(NOW)).unwrap_err().code(), "trust_gap");
    assert_eq!((store.root().version(), desk.kept()), (2, Some(2)));
    desk.give_earlier(&roots[3]);
    assert!(store.refresh(time(NOW)).unwrap());
    assert_eq!((store.root().version(), desk.kept()), (5, Some(5)));
    for (root, should) in [(&roots[0], "trust_rollback"), (&roots[3], "trust_rollback"), (&fork, "trust_rollback")] {
        assert_eq!(desk.code(root, pin), should, "version {}", root.version());
        assert_eq!(store.refresh(time(NOW)).unwrap_err().code(), should);
        assert_eq!((store.root().version(), desk.kept()), (5, Some(5)));
    }
    let other = after(&roots[3], b"fork");
    assert_eq!(desk.code(&other, pin), "trust_forked");
    assert_eq!(desk.code(&roots[4], pin), "opened");
}

#[test]
fn a_pinned_start_follows_every_version_from_the_first_also_in_a_directory() {
    let roots = versions(4);
    let desk = Desk::new();
    let pin = Some(roots[0].digest());
    for root in &roots {
        if root.version() > 1 {
            desk.give_earlier(&roots[root.version() as usize - 2]);
        }
        desk.give(root);
        assert_eq!(desk.open(pin).unwrap().root(), root);
        let folder = desk.given().parent().unwrap().to_owned();
        let store = TrustStore::open(&folder, &desk.state(), pin, time(NOW)).unwrap();
        assert_eq!(store.root(), root);
    }
}

#[test]
fn a_memory_that_cannot_be_read_is_no_empty_memory() {
    let roots = versions(2);
    let desk = Desk::new();
    desk.give(&roots[1]);
    desk.open(None).unwrap().keep(time(NOW)).unwrap();
    let kept = desk.state().join(NEWEST);
    for bytes in [&b""[..], b"{}", &roots[1].bytes()[..100]] {
        fs::write(&kept, bytes).unwrap();
        let error = desk.open(None).unwrap_err();
        assert_eq!(error.code(), "malformed");
        assert!(error.to_string().contains(&kept.display().to_string()), "{error}");
    }
}

#[test]
fn an_expired_root_is_refused_and_the_one_in_use_stays_what_it_was() {
    let roots = versions(1);
    let desk = Desk::new();
    desk.give(&roots[0]);
    let mut store = desk.open(None).unwrap();
    assert_eq!(store.refresh(time(100_000)).unwrap_err().code(), "trust_root_expired");
    assert_eq!(store.root(), &roots[0]);
    let late = TrustStore::open(&desk.given(), &desk.state(), None, time(100_000)).unwrap_err();
    assert_eq!(late.code(), "trust_root_expired");
    let early = TrustStore::open(&desk.given(), &desk.state(), None, time(-1)).unwrap_err();
    assert_eq!(early.code(), "trust_root_not_yet_valid");
}

/// Two processes with one state directory: the slower one does not bring its older root back.
#[test]
fn of_two_daemons_on_one_state_directory_the_newer_root_stays() {
    let roots = versions(2);
    let desk = Desk::new();
    desk.give(&roots[0]);
    let mut slow = desk.open(None).unwrap();
    desk.give(&roots[1]);
    desk.open(None).unwrap().keep(time(NOW)).unwrap();
    slow.keep(time(NOW)).unwrap();
    assert_eq!((slow.root().version(), desk.kept()), (2, Some(2)));
}

#[test]
fn replacing_keeps_the_version_before_and_overwrites_no_other_file() {
    let roots = versions(3);
    let desk = Desk::new();
    desk.give(&roots[0]);
    replace_trust(&desk.given(), &roots[0], &roots[1]).unwrap();
    let earlier = earlier_trust(&desk.given(), 1);
    assert_eq!(
        (fs::read(&earlier).unwrap(), fs::read(desk.given()).unwrap()),
        (roots[0].bytes().to_vec(), roots[1].bytes().to_vec())
    );
    fs::write(earlier_trust(&desk.given(), 2), b"mine").unwrap();
    let error = replace_trust(&desk.given(), &roots[1], &roots[2]).unwrap_err();
    assert_eq!(error.code(), "trust_version_exists");
    assert_eq!(fs::read(desk.given()).unwrap(), roots[1].bytes(), "nothing was written");
    assert_eq!(fs::read(earlier_trust(&desk.given(), 2)).unwrap(), b"mine");
    // After a crash between the copy and the exchange the same change goes through.
    fs::write(earlier_trust(&desk.given(), 2), roots[1].bytes()).unwrap();
    replace_trust(&desk.given(), &roots[1], &roots[2]).unwrap();
    assert_eq!(desk.open(Some(roots[0].digest())).unwrap().root(), &roots[2]);
}

const CHILD: &str = "QUORUM_TEST_TRUST_CHILD";
const LAST: u32 = 60;
/// Every round lets a few versions pass, so twenty or so are enough; a child that no longer gets on fails, not hangs.
const MOST_KILLS: u32 = 300;

/// The victim of the next test: takes version after version, and says each one after it was kept.
#[test]
fn child_that_takes_version_after_version() {
    let Ok(dir) = std::env::var(CHILD) else { return };
    let dir = Path::new(&dir);
    let given = dir.join("given").join(NEWEST);
    let mut store = TrustStore::open(&given, &dir.join("state"), None, time(NOW)).unwrap();
    store.keep(time(NOW)).unwrap();
    for version in store.root().version() + 1..=u64::from(LAST) {
        let bytes = fs::read(earlier_trust(&given, version)).unwrap();
        write_atomically(&given, &bytes).unwrap();
        store.refresh(time(NOW)).unwrap();
        println!("kept {version}");
    }
}

#[test]
fn kill_9_at_any_instant_loses_no_version_that_was_in_use() {
    let roots = versions(LAST);
    let desk = Desk::new();
    desk.give(&roots[0]);
    roots.iter().for_each(|root| desk.give_earlier(root));
    let mut said = 1;
    let mut kills = 0_u32;
    for round in 0_u64.. {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "trust_file::tests::child_that_takes_version_after_version", "--nocapture"])
            .env(CHILD, desk.0.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut hear = |line: Option<std::io::Result<String>>| {
            let version = line?.ok()?.rsplit_once("kept ").and_then(|(_, n)| n.parse::<u64>().ok());
            said = version.unwrap_or(said);
            Some(())
        };
        // A few versions, then the kill at another instant of the next write each time.
        let mut heard = 0;
        while heard < 3 && hear(lines.next()).is_some() {
            heard += 1;
        }
        std::thread::sleep(Duration::from_micros(round * 397 % 5000));
        child.kill().unwrap();
        while hear(lines.next()).is_some() {}
        child.wait().unwrap();
        kills += 1;
        let kept = desk.kept().unwrap_or(1);
        assert!(kept >= said, "version {said} was in use and {kept} was kept");
        assert!(desk.open(None).unwrap().root().version() >= kept);
        // A kill between keeping the last version and saying so leaves nothing to say, so what is kept decides.
        if kept == u64::from(LAST) {
            break;
        }
        assert!(kills < MOST_KILLS, "only version {kept} after {kills} kills");
    }
    assert!(kills >= 10, "{kills} kills only");
}

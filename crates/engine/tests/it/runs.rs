//! Real processes: every trouble is one envelope.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use quorum_engine::Engineering;
use quorum_sandbox::Isolation;
use serde_json::json;

use crate::support::{Bench, descriptor};

fn hash(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}

#[test]
fn pass_with_version_and_isolation() {
    let (run, envelope) = Bench::new(r#"echo '{"clean": true, "wns": 1.800000}'"#).run();
    assert_eq!(run.engineering, Engineering::Pass);
    assert_eq!(envelope["tool_version"], "1.2.3");
    assert_eq!(envelope["tool"], "fake");
    assert_eq!(envelope["x_quorum"]["isolation"], "process-sandbox");
    assert_eq!(envelope["x_quorum"]["row"], "V15");
    assert_eq!(envelope["provenance"]["limitations"], json!(["a fake"]));
    let text = String::from_utf8(run.envelope).unwrap();
    assert!(text.contains(r#""result":{"clean": true, "wns": 1.800000},"#), "loom_e05: {text}");
}

#[test]
fn loom_e02_fail_is_an_ok_run() {
    let (run, envelope) = Bench::new(r#"echo '{"clean": false}'"#).run();
    assert_eq!(run.engineering, Engineering::Fail);
    assert_eq!(envelope["status"], "ok");
}

#[test]
fn loom_e01_every_trouble_is_an_envelope() {
    for (script, code) in [
        ("exit 2", "engine_nonzero"),
        ("kill -SEGV $$", "engine_signal"),
        ("echo not json", "unparsable_output"),
        (":", "unparsable_output"),
        (r#"echo '{"clean": true'; exit 0"#, "unparsable_output"),
        (r#"printf '{"clean": "\377"}'"#, "unparsable_output"),
    ] {
        let (_, envelope) = Bench::new(script).run();
        assert_eq!(envelope["error"]["code"], code, "{script}");
    }
}

#[test]
fn loom_v01_a_missing_binary_and_one_without_the_right() {
    let mut bench = Bench::new("exit 0");
    fs::write(bench.folder().join("plain"), "x").unwrap();
    for binary in ["absent", "plain", "cwd"] {
        bench.spec.binary = bench.folder().join(binary);
        let (run, envelope) = bench.run();
        assert_eq!(envelope["error"]["code"], "engine_not_found", "{binary}");
        assert!(envelope["input_hash"].as_str().unwrap().starts_with("blake3:"), "loom_h6");
        assert_eq!(run.isolation, None);
    }
    bench.spec.binary = PathBuf::from("vyges-fake");
    assert_eq!(bench.run().1["error"]["code"], "engine_not_found");
    bench.spec.env.insert("PATH".to_owned(), format!("/usr/bin:{}", bench.folder().display()));
    bench.spec.descriptor = descriptor(&serde_json::Value::Null);
    assert_ne!(bench.run().1["error"]["code"], "engine_not_found");
}

#[test]
fn loom_v02_a_timeout_kills_the_grandchild_too() {
    let mut bench = Bench::new("(sleep 1; touch survived) & trap '' TERM; sleep 30");
    bench.spec.timeout = Duration::from_millis(300);
    bench.spec.version = Some("1".to_owned());
    let started = Instant::now();
    let (_, envelope) = bench.run();
    assert_eq!(envelope["error"]["code"], "engine_timeout");
    assert!(started.elapsed() < Duration::from_secs(15));
    // `run` returns when the last process has been reaped; what could still write is gone.
    while started.elapsed() < Duration::from_millis(1500) {
        std::thread::yield_now();
    }
    assert!(!bench.cwd().join("survived").exists());
}

#[test]
fn output_over_the_bound_is_never_parsed() {
    let script = r#"printf '{"clean": true}'; head -c 9000000 /dev/zero | tr '\0' ' '"#;
    let (_, envelope) = Bench::new(script).run();
    assert_eq!(envelope["error"]["code"], "output_too_large");
    let mut flood = Bench::new("cat /dev/zero");
    flood.spec.version = Some("1".to_owned());
    assert_eq!(flood.run().1["error"]["code"], "output_too_large");
}

#[test]
fn loom_l6_a_hundred_megabytes_of_stderr_do_not_block() {
    let (run, _) = Bench::new(r#"head -c 12000000 /dev/zero >&2; echo '{"clean": true}'"#).run();
    assert_eq!(run.engineering, Engineering::Pass);
}

#[test]
fn isolation_that_cannot_be_had_is_refused() {
    let mut bench = Bench::new(r#"echo '{"clean": true}'; touch ran"#);
    bench.spec.isolation = Isolation::HardwareVm;
    let (run, envelope) = bench.run();
    assert_eq!(envelope["error"]["code"], "effect_mode_unenforceable");
    assert_eq!(run.isolation, None);
    assert!(!bench.cwd().join("ran").exists());
}

#[test]
fn isolation_none_is_named_in_the_envelope() {
    let mut bench = Bench::new(r#"echo '{"clean": true}'"#);
    bench.spec.isolation = Isolation::None;
    let (run, envelope) = bench.run();
    assert_eq!(run.isolation, Some(Isolation::None));
    assert_eq!(envelope["x_quorum"]["isolation"], "none");
}

#[test]
fn the_environment_is_what_the_envelope_says() {
    let mut bench = Bench::new(r#"echo "{\"clean\": true, \"pdk\": \"$PDK_ROOT\", \"home\": \"$HOME\"}""#);
    bench.spec.env.insert("PDK_ROOT".to_owned(), "/pdk".to_owned());
    let (_, envelope) = bench.run();
    assert_eq!(envelope["result"]["pdk"], "/pdk");
    assert_eq!(envelope["result"]["home"], "");
    assert_eq!(envelope["provenance"]["env"], json!({"PDK_ROOT": "/pdk"}));
}

#[test]
fn loom_a1_to_a6_artifacts() {
    let script = r#"echo one > a.rpt; echo two > b.svg; ln -s /etc/passwd out.svg
echo "{\"clean\": true, \"report_path\": \"$(pwd)/a.rpt\", \"view_paths\": [\"./b.svg\", \"absent.svg\", \"out.svg\", \"../in\", \"/etc/hostname\"]}""#;
    let bench = Bench::new(script);
    let (run, envelope) = bench.run();
    assert_eq!(
        envelope["artifacts"],
        json!([
            {"role": "report", "path": "a.rpt", "hash": hash(b"one\n")},
            {"role": "view", "path": "b.svg", "hash": hash(b"two\n")},
        ])
    );
    assert_eq!(envelope["x_quorum"]["artifacts_omitted"], 4);
    assert_eq!(run.engineering, Engineering::Pass, "loom_a11: a missing picture changes no verdict");
}

#[test]
fn loom_a4_inside_is_decided_on_canonical_paths() {
    let mut bench = Bench::new(r#"echo one > a.rpt; echo '{"clean": true, "report_path": "sub/../a.rpt"}'; mkdir sub"#);
    symlink(bench.cwd(), bench.folder().join("link")).unwrap();
    bench.spec.cwd = bench.folder().join("link");
    let (_, envelope) = bench.run();
    assert_eq!(envelope["artifacts"][0]["path"], "a.rpt");
}

#[test]
fn loom_a12_a_pipe_is_no_artifact() {
    let (_, envelope) = Bench::new(r#"mkfifo pipe; echo '{"clean": true, "report_path": "pipe"}'"#).run();
    assert_eq!(envelope["artifacts"], json!([]));
}

#[test]
fn loom_l1_to_l5_events_between_plain_lines() {
    let event = |severity: &str, code: &str| {
        format!(
            r#"{{"schema":"vyges-events/1.0","ts_ms":1,"tool":"vyges-fake","severity":"{severity}"{code},"raw_msg":"m"}}"#
        )
    };
    let lines = [
        "note: plain".to_owned(),
        event("warn", r#","code":"B""#),
        r#"{"schema":"vyges-events/1.0","severity":"warn"}"#.to_owned(),
        event("info", r#","code":"A""#),
        event("warn", ""),
        event("loud", ""),
        event("warn", r#","code":"B""#),
    ];
    let script = format!("cat >&2 <<'END'\n{}\nEND\nprintf 'error: last line' >&2\nexit 1", lines.join("\n"));
    let (_, envelope) = Bench::new(&script).run();
    let logs = &envelope["logs"];
    assert_eq!(logs["count"], 4);
    assert_eq!(logs["summary"], json!({"info_count": 1, "warn_count": 3, "codes": ["B", "A"]}));
    let tail = envelope["error"]["stderr_tail"].as_str().unwrap();
    assert!(tail.starts_with("note: plain\n") && tail.ends_with("error: last line"), "loom_x2: {tail}");
    assert!(!tail.contains("\"B\""));
}

#[test]
fn the_engine_cannot_write_its_input_folder_unless_it_may() {
    let mut bench =
        Bench::new(r#"if touch x 2>/dev/null; then echo '{"clean": false}'; else echo '{"clean": true}'; fi"#);
    bench.spec.writable = Vec::new();
    assert_eq!(bench.run().0.engineering, Engineering::Pass);
}

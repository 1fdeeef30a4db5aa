//! What every run has, in every class.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use quorum_sandbox::{Effect, End, Isolation, SandboxError, Spec, probe, run};

use crate::support::{BOTH, again_as_ordinary_user, in_own_process, open_folder, ready, shell, text};

#[test]
fn the_probe_finds_a_process_sandbox() {
    ready();
    let found = probe().unwrap();
    assert_eq!(found.isolation, Isolation::ProcessSandbox, "{found:?}");
    assert_eq!(found.attempts.len(), 9);
    assert!(found.attempts.iter().all(|attempt| attempt.ends_with(": refused")), "{found:?}");
}

#[test]
fn the_probe_as_ordinary_user() {
    again_as_ordinary_user("basics::the_probe_finds_a_process_sandbox");
}

#[test]
fn exit_status_and_both_streams() {
    for isolation in BOTH {
        let report = run(&shell("echo out; echo err >&2; exit 7", isolation)).unwrap();
        assert_eq!(report.end, End::Exited(7), "{isolation}");
        assert_eq!(text(&report), "out\n");
        assert_eq!(report.stderr.bytes, b"err\n");
        assert_eq!(report.isolation, isolation);
    }
}

#[test]
fn layers_are_named() {
    let named = |isolation| run(&shell("true", isolation)).unwrap().enforced;
    let plain = named(Isolation::None);
    assert_eq!(plain, ["session", "descriptors-closed", "environment-cleared", "rlimits"]);
    let sandboxed = named(Isolation::ProcessSandbox);
    for layer in ["pidns", "netns", "mount-ro-recursive", "no-new-privs", "capabilities-dropped", "seccomp", "landlock"]
    {
        assert!(sandboxed.iter().any(|found| found == layer), "{layer}: {sandboxed:?}");
    }
}

#[test]
fn a_signal_is_not_an_exit_and_124_is_not_a_timeout() {
    for isolation in BOTH {
        assert_eq!(run(&shell("kill -SEGV $$", isolation)).unwrap().end, End::Signaled(11));
        assert_eq!(run(&shell("exit 124", isolation)).unwrap().end, End::Exited(124));
        assert_eq!(run(&shell("exit 137", isolation)).unwrap().end, End::Exited(137));
    }
}

#[test]
fn the_deadline() {
    for isolation in BOTH {
        let mut spec = shell("echo before; trap '' TERM; sleep 100", isolation);
        spec.timeout = Duration::from_millis(400);
        let started = Instant::now();
        let report = run(&spec).unwrap();
        assert_eq!(report.end, End::TimedOut, "{isolation}");
        assert_eq!(text(&report), "before\n", "what was said before stays");
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn standard_input() {
    for isolation in BOTH {
        assert_eq!(text(&run(&shell("cat; echo end", isolation)).unwrap()), "end\n");
        let mut spec = shell("wc -c", isolation);
        spec.stdin = Some(vec![b'x'; 3_000_000]);
        assert_eq!(text(&run(&spec).unwrap()).trim(), "3000000");
    }
}

#[test]
fn the_environment_is_the_spec() {
    for isolation in BOTH {
        let mut spec = shell("env", isolation);
        spec.argv = vec!["/usr/bin/env".to_owned()];
        assert_eq!(text(&run(&spec).unwrap()), "");
        spec.env.insert("A".to_owned(), "b c".to_owned());
        assert_eq!(text(&run(&spec).unwrap()), "A=b c\n");
    }
}

/// A daemon's caller may ignore signals; neither our waiting nor the command may inherit that.
#[test]
fn ignored_signals_are_not_inherited() {
    if !in_own_process("basics::ignored_signals_are_not_inherited") {
        return;
    }
    use nix::sys::signal::{SigHandler, Signal, signal};
    for ignored in [Signal::SIGHUP, Signal::SIGCHLD, Signal::SIGTERM] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { signal(ignored, SigHandler::SigIgn) }.unwrap();
    }
    for isolation in BOTH {
        for (name, number) in [("HUP", 1), ("TERM", 15), ("PIPE", 13)] {
            let report = run(&shell(&format!("kill -{name} $$"), isolation)).unwrap();
            assert_eq!(report.end, End::Signaled(number), "{isolation}");
        }
    }
}

#[test]
fn arguments_pass_no_shell() {
    for isolation in BOTH {
        let mut spec = shell("", isolation);
        spec.argv = ["printf", "%s|", "a b", "$HOME", "*", ";", ""].map(str::to_owned).to_vec();
        assert_eq!(text(&run(&spec).unwrap()), "a b|$HOME|*|;||");
    }
}

#[test]
fn the_working_directory_is_visible_and_read_only() {
    let folder = open_folder();
    std::fs::write(folder.path().join("file"), "here").unwrap();
    let mut spec = shell("cat file; touch new 2>/dev/null && echo written; pwd", Isolation::ProcessSandbox);
    spec.cwd = folder.path().to_owned();
    let report = run(&spec).unwrap();
    assert_eq!(text(&report), format!("here{}\n", folder.path().display()));
    spec.writable.push(folder.path().to_owned());
    assert!(text(&run(&spec).unwrap()).contains("written"));
    assert!(folder.path().join("new").is_file());
}

#[test]
fn the_working_directory_as_ordinary_user() {
    again_as_ordinary_user("basics::the_working_directory_is_visible_and_read_only");
}

#[test]
fn private_folders_are_empty_and_forgotten() {
    let line =
        "ls -A /tmp /var/tmp /dev/shm; echo x > /tmp/x && echo x > /var/tmp/x && echo x > /dev/shm/x && echo wrote";
    for _ in 0..2 {
        let said = text(&run(&shell(line, Isolation::ProcessSandbox)).unwrap());
        assert_eq!(said, "/dev/shm:\n\n/tmp:\n\n/var/tmp:\nwrote\n");
    }
}

#[test]
fn a_program_that_cannot_be_started() {
    for isolation in BOTH {
        for (program, errno) in
            [("quorum-no-such-program", 2), ("/no/such/program", 2), ("/etc/passwd", 13), ("/etc", 13)]
        {
            let mut spec = shell("", isolation);
            spec.argv = vec![program.to_owned()];
            match run(&spec) {
                Err(SandboxError::Spawn { source, .. }) => {
                    assert_eq!(source.raw_os_error(), Some(errno), "{program}");
                }
                other => panic!("{program}: {other:?}"),
            }
        }
    }
}

#[test]
fn specs_that_are_refused() {
    let with = |change: &dyn Fn(&mut Spec)| {
        let mut spec = shell("true", Isolation::None);
        change(&mut spec);
        run(&spec).unwrap_err().code()
    };
    assert_eq!(with(&|spec| spec.argv.clear()), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| spec.argv.push("a\0b".to_owned())), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| drop(spec.env.insert("A=B".to_owned(), String::new()))), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| spec.timeout = Duration::ZERO), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| spec.stdout_limit = usize::MAX), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| spec.cwd = PathBuf::from("/no/such/folder")), "sandbox_path");
}

#[test]
fn classes_that_this_build_cannot_have_are_refused() {
    for isolation in [Isolation::SharedKernelContainer, Isolation::HardwareVm] {
        let error = run(&shell("true", isolation)).unwrap_err();
        assert_eq!(error.code(), "effect-mode-unenforceable");
    }
}

/// A host without namespaces: the kernel's own bound, set in a child, stands for it.
#[test]
fn without_namespaces_the_class_is_refused_and_none_still_runs() {
    ready();
    if std::env::var_os("QUORUM_NO_NAMESPACES").is_some() {
        let error = run(&shell("true", Isolation::ProcessSandbox)).unwrap_err();
        assert_eq!(error.code(), "effect-mode-unenforceable", "{error}");
        assert_eq!(probe().unwrap().isolation, Isolation::None);
        // Nor does anything weaker run under the name of an effect.
        let trees = vec![PathBuf::from("/tmp")];
        for effect in [Effect::Observation { roots: trees.clone() }, Effect::Mutation { trees }] {
            let mut spec = shell("true", Isolation::ProcessSandbox);
            spec.effect = effect;
            assert_eq!(run(&spec).unwrap_err().code(), "effect-mode-unenforceable");
        }
        assert_eq!(run(&shell("exit 4", Isolation::None)).unwrap().end, End::Exited(4));
        return;
    }
    // Inside a sandbox of ours no further one can be built: its filter refuses.
    let exe = std::env::current_exe().unwrap();
    let mut spec = shell("", Isolation::ProcessSandbox);
    let test = "basics::without_namespaces_the_class_is_refused_and_none_still_runs";
    spec.argv = [exe.to_str().unwrap(), "--exact", test, "--nocapture"].map(str::to_owned).to_vec();
    spec.read_only = vec![exe.clone(), PathBuf::from(env!("CARGO_BIN_EXE_quorum-sandbox-init"))];
    spec.env.insert("QUORUM_NO_NAMESPACES".to_owned(), "1".to_owned());
    let report = run(&spec).unwrap();
    let errors = String::from_utf8_lossy(&report.stderr.bytes).into_owned();
    assert_eq!(report.end, End::Exited(0), "{}\n{errors}", text(&report));
}

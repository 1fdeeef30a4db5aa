//! Bounds of a whole tree, and what the report says keeps them.

use std::path::PathBuf;

use quorum_sandbox::{BoundBy, End, Isolation, RunReport, Spec, run};

use crate::support::{BOTH, again_as_ordinary_user, attacker, shell, text};

fn kept_by(report: &RunReport, name: &str) -> BoundBy {
    report.limits.iter().find(|bound| bound.name == name).unwrap().by
}

/// Whether this host lets us make groups with the controller. Asked of the kernel, not of the code under test.
fn can_group(controller: &str) -> bool {
    groups(controller).is_some_and(|folder| {
        let probe = folder.join(format!("probe-{}-{controller}", std::process::id()));
        std::fs::create_dir(&probe).and_then(|()| std::fs::remove_dir(&probe)).is_ok()
    })
}

/// Our folder in a hierarchy of version 1, mounted where it usually is.
fn groups(controller: &str) -> Option<PathBuf> {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let path =
        own.lines().find_map(|line| line.split_once(&format!(":{controller}:")).map(|(_, path)| path.to_owned()))?;
    let folder = PathBuf::from(format!("/sys/fs/cgroup/{controller}{path}"));
    folder.is_dir().then_some(folder)
}

/// Three processes of 48 MiB each: the bound of a tree stops them, a bound of each process cannot.
fn hungry(children: usize, mebibytes: usize, isolation: Isolation) -> Spec {
    let mut spec = attacker("memory", &format!("{children}|{mebibytes}"));
    spec.isolation = isolation;
    spec.memory_limit = Some(112 << 20);
    spec
}

#[test]
fn issue_4_memory_is_bounded_for_the_whole_tree_or_said_not_to_be() {
    for isolation in BOTH {
        let report = run(&hungry(3, 48, isolation)).unwrap();
        let all = text(&report).contains("ended well 3");
        if can_group("memory") {
            assert_eq!(kept_by(&report, "memory"), BoundBy::CgroupV1, "{isolation}");
            assert!(!all, "{isolation}: {}", text(&report));
            assert!(report.usage.memory_kills.unwrap() > 0);
            assert!(report.usage.memory_peak.unwrap() <= 112 << 20);
        } else {
            assert_eq!(kept_by(&report, "memory"), BoundBy::RlimitOfEachProcess, "{isolation}");
            assert!(all && report.usage.memory_peak.is_none(), "each is within: {}", text(&report));
        }
        let mut free = hungry(3, 48, isolation);
        free.memory_limit = None;
        let report = run(&free).unwrap();
        assert!(text(&report).contains("ended well 3"), "without a bound all end well");
        assert!(report.limits.iter().all(|bound| bound.name != "memory"), "what was not asked is not claimed");
    }
}

#[test]
fn issue_4_memory_as_ordinary_user() {
    again_as_ordinary_user("bounds::issue_4_memory_is_bounded_for_the_whole_tree_or_said_not_to_be");
}

/// One process over its own bound is stopped in every case, and the end of the command is told all the same.
#[test]
fn issue_4_one_process_over_the_bound_is_stopped() {
    for isolation in BOTH {
        let report = run(&hungry(0, 200, isolation)).unwrap();
        match kept_by(&report, "memory") {
            BoundBy::CgroupV1 => assert_eq!(report.end, End::Signaled(9), "{isolation}"),
            _ => assert!(text(&report).contains("fits false"), "{isolation}: {}", text(&report)),
        }
        assert!(text(&run(&hungry(0, 20, isolation)).unwrap()).contains("fits true"), "{isolation}");
    }
}

#[test]
fn issue_4_one_process_over_the_bound_as_ordinary_user() {
    again_as_ordinary_user("bounds::issue_4_one_process_over_the_bound_is_stopped");
}

#[test]
fn issue_4_processes_are_counted_by_the_group_where_there_is_one() {
    let line = "n=0; while [ $n -lt 60 ]; do sleep 100 2>/dev/null & n=$((n+1)); done; echo all";
    for isolation in BOTH {
        let mut spec = shell(line, isolation);
        spec.process_limit = 20;
        spec.memory_limit = Some(256 << 20);
        let report = run(&spec).unwrap();
        if can_group("pids") {
            assert_eq!(kept_by(&report, "processes"), BoundBy::CgroupV1);
            assert!(!text(&report).contains("all"), "{isolation}");
            // In a sandbox the user's own bound may be met first.
            assert!(isolation == Isolation::ProcessSandbox || report.usage.processes_refused.unwrap() > 0);
        }
        spec.memory_limit = None;
        let report = run(&spec).unwrap();
        let sandboxed = isolation == Isolation::ProcessSandbox;
        assert_eq!(text(&report).contains("all"), !sandboxed, "{isolation}");
        let by = if sandboxed { BoundBy::RlimitOfUser } else { BoundBy::Nothing };
        assert_eq!(kept_by(&report, "processes"), by);
    }
}

/// Half a CPU: what would take all of one gets at most half of the time that passes.
#[test]
fn issue_4_cpu_time_is_bounded() {
    let mut spec = shell("while :; do :; done", Isolation::ProcessSandbox);
    spec.timeout = std::time::Duration::from_secs(2);
    spec.cpu_limit = Some(250);
    let report = run(&spec).unwrap();
    if can_group("cpu") && can_group("cpuacct") {
        assert_eq!((report.end, kept_by(&report, "cpu")), (End::TimedOut, BoundBy::CgroupV1));
        let used = report.usage.cpu_time.unwrap();
        assert!(used < report.duration / 3, "{used:?} of {:?}", report.duration);
    } else {
        assert_eq!(kept_by(&report, "cpu"), BoundBy::RlimitOfEachProcess);
    }
}

#[test]
fn issue_4_cpu_time_as_ordinary_user() {
    again_as_ordinary_user("bounds::issue_4_cpu_time_is_bounded");
}

#[test]
fn issue_4_every_bound_is_named_with_what_keeps_it() {
    let names = |isolation| {
        let report = run(&shell("true", isolation)).unwrap();
        report.limits.iter().map(|bound| format!("{}:{}", bound.name, bound.by.as_str())).collect::<Vec<_>>().join(" ")
    };
    let common = "wall-clock:caller stdout:caller stderr:caller file-size:rlimit-of-each-process \
        open-files:rlimit-of-each-process";
    assert_eq!(names(Isolation::None), format!("{common} processes:nothing scratch:nothing"));
    assert_eq!(names(Isolation::ProcessSandbox), format!("{common} processes:rlimit-of-user scratch:tmpfs"));
}

#[test]
fn issue_4_no_group_is_left_behind() {
    let Some(folder) = groups("memory").filter(|_| can_group("memory")) else { return };
    // As a killed caller leaves it: no process has this number.
    let stale = folder.join("quorum-4194304999-0");
    std::fs::create_dir(&stale).unwrap();
    run(&hungry(1, 1, Isolation::ProcessSandbox)).unwrap();
    let mut late = shell("setsid sleep 100 & sleep 100", Isolation::None);
    late.memory_limit = Some(64 << 20);
    late.timeout = std::time::Duration::from_millis(300);
    run(&late).unwrap();
    let own = format!("quorum-{}-", std::process::id());
    let left: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name.starts_with(&own) || name.contains("4194304999"))
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn bounds_that_nothing_could_run_in_are_refused() {
    let with = |change: &dyn Fn(&mut Spec)| {
        let mut spec = shell("true", Isolation::ProcessSandbox);
        change(&mut spec);
        run(&spec).unwrap_err().code()
    };
    assert_eq!(with(&|spec| spec.memory_limit = Some(1000)), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| spec.cpu_limit = Some(9)), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| spec.scratch_limit = 0), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| spec.scratch_limit = u64::MAX), "sandbox_spec_invalid");
}

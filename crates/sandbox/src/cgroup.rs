//! Bounds of a whole tree through cgroups, whichever version of them has the controller here.
//!
//! A group is made below the caller's own one, or beside it where that one has no bound of its own, so that bounds on
//! the caller go on to hold. Where that cannot be (no right to write, nothing mounted), nothing is made, and the run's report says that each process has its own bound.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::report::{BoundBy, Usage};
use crate::{Spec, limits};

/// Length of the slice in which CPU time is bounded, in microseconds; the kernel's default.
const PERIOD: u64 = 100_000;
const PREFIX: &str = "quorum-";

/// Where this process stands in the hierarchies.
#[derive(Debug, Default, PartialEq, Eq)]
struct Places {
    /// Version 1: our own folder in the hierarchy of each controller.
    one: BTreeMap<String, PathBuf>,
    /// Version 2: our own folder, and where the hierarchy is mounted.
    two: Option<(PathBuf, PathBuf)>,
}

/// The group of one run; removed when dropped.
#[derive(Debug, Default)]
pub(crate) struct Group {
    members: Vec<Member>,
}

/// One controller of a group.
#[derive(Debug)]
struct Member {
    controller: &'static str,
    by: BoundBy,
    folder: PathBuf,
    /// `cgroup.procs`, for the command to join by.
    join: OwnedFd,
}

impl Group {
    /// What can be had of the bounds of a spec.
    pub(crate) fn make(spec: &Spec) -> Self {
        if spec.memory_limit.is_none() && spec.cpu_limit.is_none() {
            // A user's count of processes is bounded without; a group costs more than the namespaces do.
            return Self::default();
        }
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let places = places(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"));
        Self::make_in(spec, &places)
    }

    fn make_in(spec: &Spec, places: &Places) -> Self {
        let wanted: Vec<&'static str> = [
            ("memory", spec.memory_limit.is_some()),
            ("pids", true),
            ("cpu", spec.cpu_limit.is_some()),
            ("cpuacct", places.one.contains_key("cpuacct")),
        ]
        .into_iter()
        .filter_map(|(controller, wanted)| wanted.then_some(controller))
        .collect();
        let name = name();
        let mut group = Self::default();
        for controller in wanted.iter().copied() {
            let Some(folder) = places.one.get(controller) else { continue };
            sweep(folder);
            group.add(controller, BoundBy::CgroupV1, folder.join(&name), spec);
        }
        let rest: Vec<&'static str> = wanted
            .into_iter()
            .filter(|controller| *controller != "cpuacct" && !places.one.contains_key(*controller))
            .collect();
        if let Some(folder) = places.two.as_ref().and_then(|(own, mount)| parent_with(own, mount, &rest)) {
            sweep(&folder);
            for controller in rest {
                group.add(controller, BoundBy::CgroupV2, folder.join(&name), spec);
            }
        }
        group
    }

    /// Makes a folder, sets its bound, opens its door; a controller that is not to be had is left out.
    fn add(&mut self, controller: &'static str, by: BoundBy, folder: PathBuf, spec: &Spec) {
        let made = match fs::create_dir(&folder) {
            Ok(()) => true,
            // Two controllers of one hierarchy share a folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.has(&folder),
            Err(_) => false,
        };
        if !made {
            return;
        }
        let joined = set(controller, by, &folder, spec)
            .and_then(|()| fs::OpenOptions::new().write(true).open(folder.join("cgroup.procs")));
        match joined {
            Ok(join) => self.members.push(Member { controller, by, folder, join: join.into() }),
            Err(_) if !self.has(&folder) => remove(&folder),
            Err(_) => {}
        }
    }

    fn has(&self, folder: &Path) -> bool {
        self.members.iter().any(|member| member.folder == folder)
    }

    /// Controllers and the doors to join them by, in one order.
    pub(crate) fn doors(&self) -> impl Iterator<Item = (&'static str, &OwnedFd)> {
        self.members.iter().map(|member| (member.controller, &member.join))
    }

    /// The version that has the controller.
    pub(crate) fn by(&self, controller: &str) -> Option<BoundBy> {
        self.members.iter().find(|member| member.controller == controller).map(|member| member.by)
    }

    /// What was counted.
    pub(crate) fn usage(&self) -> Usage {
        let text = |controller: &str, name: &str| {
            let member = self.members.iter().find(|member| member.controller == controller)?;
            fs::read_to_string(member.folder.join(name)).ok()
        };
        let number = |controller: &str, name: &str| text(controller, name)?.trim().parse::<u64>().ok();
        let field = |controller: &str, name: &str, key: &str| {
            let found = text(controller, name)?;
            let value =
                |line: &str| line.split_once(' ').filter(|(word, _)| *word == key)?.1.trim().parse::<u64>().ok();
            found.lines().find_map(value)
        };
        Usage {
            memory_peak: number("memory", "memory.max_usage_in_bytes").or_else(|| number("memory", "memory.peak")),
            memory_kills: field("memory", "memory.oom_control", "oom_kill")
                .or_else(|| field("memory", "memory.events", "oom_kill")),
            processes_refused: field("pids", "pids.events", "max"),
            cpu_time: number("cpuacct", "cpuacct.usage").map(Duration::from_nanos).or_else(|| {
                self.members
                    .first()
                    .and_then(|member| field(member.controller, "cpu.stat", "usage_usec"))
                    .map(Duration::from_micros)
            }),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for member in &self.members {
            remove(&member.folder);
        }
    }
}

/// The last process is reaped when this is called, or was ordered to end; the kernel lets go a moment later.
fn remove(folder: &Path) {
    for _ in 0..limits::GROUP_REMOVALS {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(()) | Err(_) => return,
        }
    }
}

fn name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{PREFIX}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Removes what a killed caller left. Only an empty group can be removed at all.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
        if let Some((pid, _)) = owner
            && pid.parse::<u32>().is_ok()
            && !Path::new("/proc").join(pid).exists()
        {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn set(controller: &str, by: BoundBy, folder: &Path, spec: &Spec) -> io::Result<()> {
    let write = |name: &str, value: String| fs::write(folder.join(name), value);
    let optional = |name: &str, value: String| {
        if folder.join(name).exists() { write(name, value) } else { Ok(()) }
    };
    let quota = spec.cpu_limit.map(|cpu| u64::from(cpu) * PERIOD / 1000);
    match (controller, by) {
        ("memory", BoundBy::CgroupV1) => {
            let bytes = spec.memory_limit.unwrap_or(u64::MAX).to_string();
            write("memory.limit_in_bytes", bytes.clone())?;
            // Without this the tree swaps instead.
            optional("memory.memsw.limit_in_bytes", bytes)
        }
        ("memory", _) => {
            write("memory.max", spec.memory_limit.map_or("max".to_owned(), |bytes| bytes.to_string()))?;
            optional("memory.swap.max", "0".to_owned())
        }
        ("pids", _) => write("pids.max", spec.process_limit.to_string()),
        ("cpu", BoundBy::CgroupV1) => {
            let Some(quota) = quota else { return Ok(()) };
            write("cpu.cfs_period_us", PERIOD.to_string())?;
            write("cpu.cfs_quota_us", quota.to_string())
        }
        ("cpu", _) => quota.map_or(Ok(()), |quota| write("cpu.max", format!("{quota} {PERIOD}"))),
        _ => Ok(()),
    }
}

/// The nearest folder of version 2 whose children have all the controllers. A folder with processes of its own cannot
/// give controllers to children, which is why the parent is asked next, unless a child of it would get away from a bound
/// on us; settings of others are not changed.
fn parent_with(own: &Path, mount: &Path, controllers: &[&str]) -> Option<PathBuf> {
    if controllers.is_empty() {
        return None;
    }
    let given = |folder: &Path| {
        let text = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
        controllers.iter().all(|wanted| text.split_whitespace().any(|word| word == *wanted))
    };
    if !given(own) {
        let all: Vec<String> = controllers.iter().map(|controller| format!("+{controller}")).collect();
        let _ = fs::write(own.join("cgroup.subtree_control"), all.join(" "));
    }
    let parent = own.parent().filter(|parent| parent.starts_with(mount) && is_unbounded(own));
    [Some(own), parent].into_iter().flatten().find(|folder| given(folder)).map(Path::to_owned)
}

fn is_unbounded(own: &Path) -> bool {
    ["memory.max", "memory.high", "memory.swap.max", "pids.max", "cpu.max"].into_iter().all(|name| {
        match fs::read_to_string(own.join(name)) {
            Ok(text) => text.starts_with("max"),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    })
}

/// Reads `mountinfo` and `cgroup` of a process.
fn places(mountinfo: &str, cgroup: &str) -> Places {
    let mut places = Places::default();
    for line in mountinfo.lines() {
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let (left, right): (Vec<&str>, Vec<&str>) = (left.split(' ').collect(), right.split(' ').collect());
        let (Some(root), Some(mount), Some(kind), Some(options)) =
            (left.get(3), left.get(4), right.first(), right.get(2))
        else {
            continue;
        };
        let mount = PathBuf::from(unescape(mount));
        // Where a container sees only a part of the hierarchy, our path may be told from above it.
        let below = |path: &str| mount.join(path.strip_prefix(*root).unwrap_or(path).trim_start_matches('/'));
        for entry in cgroup.lines() {
            let mut words = entry.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (words.next(), words.next()) else { continue };
            match *kind {
                "cgroup2" if controllers.is_empty() => places.two = Some((below(path), mount.clone())),
                "cgroup" => {
                    let here = controllers.split(',').filter(|name| options.split(',').any(|option| option == *name));
                    places.one.extend(here.map(|name| (name.to_owned(), below(path))));
                }
                _ => {}
            }
        }
    }
    places
}

/// The kernel writes a space in a path as `\040`.
fn unescape(path: &str) -> String {
    path.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        let mut spec = Spec::new(vec!["true".to_owned()], PathBuf::from("/"));
        spec.memory_limit = Some(64 << 20);
        spec.cpu_limit = Some(500);
        spec
    }

    #[test]
    fn hybrid_version_1_and_a_container_that_sees_a_part() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
            35 31 0:32 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let own = "4:memory:/docker/ab/c\n2:cpu,cpuacct:/\n0::/x y\n";
        let found = places(mounts, own);
        assert_eq!(found.one["memory"], Path::new("/sys/fs/cgroup/memory/c"));
        assert_eq!(found.one["cpu"], found.one["cpuacct"]);
        assert_eq!(found.two.unwrap().0, Path::new("/sys/fs/cgroup/unified/x y"));
        assert_eq!(places("", ""), Places::default());
    }

    /// A folder of plain files stands for the hierarchy: what is written where, and by whom it is said to be kept.
    #[test]
    fn version_2_takes_the_nearest_parent_that_gives_the_controllers() {
        let mount = tempfile::tempdir().unwrap();
        let own = mount.path().join("slice/service");
        fs::create_dir_all(&own).unwrap();
        fs::write(mount.path().join("slice/cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        let wanted = ["memory", "pids", "cpu"];
        fs::write(own.join("cpu.max"), "max 100000\n").unwrap();
        fs::write(own.join("memory.max"), "1000000\n").unwrap();
        assert_eq!(parent_with(&own, mount.path(), &wanted), None, "beside us it would get away from our bound");
        fs::write(own.join("memory.max"), "max\n").unwrap();
        assert_eq!(parent_with(&own, mount.path(), &wanted).as_deref(), own.parent());
        assert_eq!(parent_with(&own, &own, &["io"]), None, "not above the mount");
        assert_eq!(parent_with(&own, mount.path(), &[]), None);
        let group = mount.path().join("slice/quorum-1-0");
        fs::create_dir(&group).unwrap();
        fs::write(group.join("memory.swap.max"), "max").unwrap();
        for controller in wanted {
            set(controller, BoundBy::CgroupV2, &group, &spec()).unwrap();
        }
        let read = |name: &str| fs::read_to_string(group.join(name)).unwrap();
        assert_eq!(read("memory.max"), (64_u64 << 20).to_string());
        assert_eq!((read("memory.swap.max").as_str(), read("cpu.max").as_str()), ("0", "50000 100000"));
        assert_eq!(read("pids.max"), limits::PROCESSES.to_string());
    }

    #[test]
    fn a_place_without_a_hierarchy_gives_no_group() {
        let group = Group::make_in(&spec(), &Places::default());
        assert_eq!((group.by("memory"), group.usage()), (None, Usage::default()));
    }
}

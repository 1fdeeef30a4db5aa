//! Whether a merge base is one, by commits that were hashed again.
//!
//! `git merge-base` believes its object store. A commit there with other parents than its id promises, which a cached or
//! borrowed store may hold, could make any commit the merge base, and so the baseline that hides what a candidate wrote.
//! Git's answer is only a proposal here: what it rests on is walked through [`Objects`], which hashes every commit.

use std::collections::{BTreeMap, BTreeSet};

use super::objects::{Kind, ObjectId, Objects};
use crate::{GateCode, GateError, limits};

/// The commits as git's answer has them.
pub(super) struct Claim<'a> {
    /// The commit with which the head was compared.
    pub(super) base: &'a ObjectId,
    /// The candidate.
    pub(super) head: &'a ObjectId,
    /// What git calls their one best common ancestor.
    pub(super) merge_base: &'a ObjectId,
    /// What git calls the commits that can be reached from `base` or `head` and not from `merge_base`.
    pub(super) between: &'a BTreeSet<ObjectId>,
}

impl Claim<'_> {
    /// Every path from `base` and from `head` ends at the merge base or at an ancestor of it, at least one of each at the
    /// merge base itself, and the two share no commit before: then nothing but the merge base is their one best common
    /// ancestor.
    ///
    /// # Errors
    /// `git_object_corrupt` where the commits say something else than git; `git_history_too_long`.
    pub(super) fn check(&self, objects: &mut Objects) -> Result<(), GateError> {
        let mut walk = Walk { objects, parents: BTreeMap::new() };
        let mut outside = BTreeSet::new();
        let of_base = self.side(&mut walk, self.base, &mut outside)?;
        let of_head = self.side(&mut walk, self.head, &mut outside)?;
        if let Some(shared) = of_base.intersection(&of_head).next() {
            return Err(self.wrong(&format!("{shared} is a nearer common ancestor")));
        }
        walk.all_reached(self.merge_base, outside).map_err(|error| match error {
            Unreached::Commit(id) => self.wrong(&format!("{id} is no ancestor of it")),
            Unreached::Gate(error) => error,
        })
    }

    /// The commits from `start` down to the merge base; where a path leaves them elsewhere, `outside` has its end.
    fn side(
        &self,
        walk: &mut Walk<'_>,
        start: &ObjectId,
        outside: &mut BTreeSet<ObjectId>,
    ) -> Result<BTreeSet<ObjectId>, GateError> {
        let mut seen = BTreeSet::new();
        let mut reached = false;
        let mut ahead = vec![start.clone()];
        while let Some(id) = ahead.pop() {
            if id == *self.merge_base {
                reached = true;
            } else if !self.between.contains(&id) {
                outside.insert(id);
            } else if !seen.contains(&id) {
                ahead.extend(walk.parents(&id)?.iter().cloned());
                seen.insert(id);
            }
        }
        if reached { Ok(seen) } else { Err(self.wrong(&format!("it is no ancestor of {start}"))) }
    }

    fn wrong(&self, why: &str) -> GateError {
        let message =
            format!("git calls {} the merge base of {} and {}, but {why}", self.merge_base, self.base, self.head);
        GateError::control(GateCode::GitObjectCorrupt, message)
    }
}

enum Unreached {
    Commit(ObjectId),
    Gate(GateError),
}

struct Walk<'a> {
    objects: &'a mut Objects,
    parents: BTreeMap<ObjectId, Vec<ObjectId>>,
}

impl Walk<'_> {
    fn parents(&mut self, id: &ObjectId) -> Result<&[ObjectId], GateError> {
        if !self.parents.contains_key(id) {
            if self.parents.len() >= limits::HISTORY_COMMITS {
                return Err(too_long());
            }
            let commit = self.objects.read(id, Kind::Commit, limits::COMMIT_OBJECT)?;
            self.parents.insert(id.clone(), parents_in(&commit)?);
        }
        Ok(&self.parents[id])
    }

    /// Whether every one of `wanted` is an ancestor of `start`. Only a history with merges of older branches has any.
    fn all_reached(&mut self, start: &ObjectId, mut wanted: BTreeSet<ObjectId>) -> Result<(), Unreached> {
        let mut seen = BTreeSet::new();
        let mut ahead = std::collections::VecDeque::from([start.clone()]);
        while !wanted.is_empty() {
            let Some(id) = ahead.pop_front() else {
                let first = wanted.pop_first().expect("the loop runs while there is one");
                return Err(Unreached::Commit(first));
            };
            wanted.remove(&id);
            if seen.insert(id.clone()) {
                ahead.extend(self.parents(&id).map_err(Unreached::Gate)?.iter().cloned());
            }
        }
        Ok(())
    }
}

/// The refusal of a history that is too long to be hashed again.
pub(super) fn too_long() -> GateError {
    let message = format!(
        "more than {} commits lie between base and head and would have to be hashed again; rebase the candidate",
        limits::HISTORY_COMMITS
    );
    GateError::control(GateCode::GitHistoryTooLong, message)
}

/// The parents that a commit names: the lines right behind its tree.
fn parents_in(commit: &[u8]) -> Result<Vec<ObjectId>, GateError> {
    let lines = commit.split(|byte| *byte == b'\n').skip(1);
    lines.map_while(|line| line.strip_prefix(b"parent ")).map(|id| String::from_utf8_lossy(id).parse()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Repository;
    use crate::git::testing::git;

    /// `root - middle - base`, and the head on `middle`; whatever git is made to say, only `middle` is their merge base.
    #[test]
    fn only_the_nearest_common_ancestor_is_believed() {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q"], "");
        let tree = git(dir.path(), &["mktree"], "");
        let commit = |message: &str, parents: &[&ObjectId]| -> ObjectId {
            let parents: Vec<String> = parents.iter().flat_map(|id| ["-p".to_owned(), id.to_string()]).collect();
            let mut arguments = vec!["commit-tree", "-m", message];
            arguments.extend(parents.iter().map(String::as_str));
            arguments.push(&tree);
            git(dir.path(), &arguments, "").parse().unwrap()
        };
        let root = commit("root", &[]);
        let side = commit("side", &[&root]);
        let middle = commit("middle", &[&root]);
        let base = commit("base", &[&middle]);
        let head = commit("head", &[&middle, &side]);
        let alone = commit("alone", &[]);
        let repository = Repository::open(dir.path()).unwrap();
        let check = |merge_base: &ObjectId, between: &[&ObjectId]| {
            let between = between.iter().map(|id| (*id).clone()).collect();
            let claim = Claim { base: &base, head: &head, merge_base, between: &between };
            claim.check(&mut repository.objects().unwrap()).map_err(|error| (error.code(), error.to_string()))
        };
        assert_eq!(check(&middle, &[&base, &head, &side]), Ok(()), "the side branch ends at an ancestor of it");
        assert_eq!(repository.merge_base(&base, &head).map_err(|error| error.to_string()), Ok(middle.clone()));
        for (merge_base, between, why) in [
            (&root, vec![&base, &head, &middle, &side], "nearer common ancestor"),
            (&alone, vec![&base, &head, &middle, &side, &root], "is no ancestor of"),
            (&alone, vec![&base, &head], "is no ancestor of"),
            (&root, vec![&base, &head, &side], "is no ancestor of"),
            (&side, vec![&base, &head], "is no ancestor of"),
        ] {
            let (code, message) = check(merge_base, &between).unwrap_err();
            assert!(code == "git_object_corrupt" && message.contains(why), "{why}: {code} {message}");
        }
    }
}

//! Why bytes are not a diff that can be judged.

use quorum_schemas::error_codes;
use thiserror::Error;

/// Where and why a diff was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{}: line {line}: {reason}", .reason.code())]
pub struct DiffError {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: DiffReason,
}

/// What is wrong with a line of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
#[non_exhaustive]
pub enum DiffReason {
    /// No file is changed.
    #[error("the diff changes no file")]
    Empty,
    /// The bytes are not UTF-8.
    #[error("the diff is not UTF-8")]
    NotUtf8,
    /// The last line has no newline, so it may have been cut.
    #[error("the last line has no newline")]
    Unterminated,
    /// A byte at which other readers would begin a new line.
    #[error("a control character or line separator that other readers take for the end of a line")]
    HiddenLineBreak,
    /// A line outside of every file and hunk.
    #[error(
        "the line belongs to no file and no hunk; a diff starts each file with `diff --git` and holds nothing else"
    )]
    Stray,
    /// A header line out of place, repeated, or at odds with another one.
    #[error("the header line is unknown, repeated, out of order or at odds with another one")]
    Header,
    /// The `diff --git`, `---`, `+++`, rename or copy lines do not name the same files.
    #[error("the header lines do not name the same files")]
    NamesDiffer,
    /// A file name that cannot be read back.
    #[error("the file name is not `a/NAME` and `b/NAME`, or its quoting is malformed")]
    Name,
    /// An absolute path, `..`, an empty segment, a control character.
    #[error("the path is absolute, climbs, or is not a plain relative path")]
    UnsafePath,
    /// A mode other than a plain or an executable file: a symlink or a submodule.
    #[error("the mode is neither 100644 nor 100755: symlinks and submodules are not judged")]
    Mode,
    /// A binary change, whose content cannot be seen.
    #[error("binary changes cannot be judged")]
    Binary,
    /// A path that two parts of the diff write.
    #[error("the path is written twice")]
    WrittenTwice,
    /// A file that is changed in nothing.
    #[error("the file is changed in nothing")]
    NoChange,
    /// `@@` lines that are not two ranges.
    #[error("the hunk header is not `@@ -START[,COUNT] +START[,COUNT] @@`")]
    HunkHeader,
    /// A hunk with more or fewer lines than its header counts.
    #[error("the hunk does not have the lines that its header counts")]
    HunkCount,
    /// A line of a hunk that starts with none of ` `, `+`, `-`.
    #[error("the line of the hunk starts with none of ` `, `+`, `-`")]
    HunkLine,
    /// Hunks that overlap or go backwards.
    #[error("the hunk overlaps the one before, or lies in front of it")]
    HunkOrder,
    /// A marker of a missing newline that is not at the end of its file.
    #[error("the marker of a missing newline does not stand at the end of its file")]
    Marker,
}

error_codes! {
    impl DiffReason in "verifier" {
        Self::Empty => "diff_empty", "The patch is empty.", "Hand in a unified diff that changes something.";
        Self::NotUtf8 => "diff_not_utf8", "The patch is not UTF-8.", "Save it as UTF-8.";
        Self::Unterminated => "diff_unterminated", "The patch does not end with a line feed.", "End its last line.";
        Self::HiddenLineBreak => "diff_hidden_line_break",
            "A line of the patch holds a character that some readers take for a line's end.",
            "Write the patch with `git diff`; take the character out.";
        Self::Stray => "diff_stray_line", "A line of the patch belongs to no file and no hunk.",
            "Write the patch with `git diff` and hand in nothing else with it.";
        Self::Header => "diff_header", "A file's header in the patch is incomplete or out of order.",
            "Write the patch with `git diff`.";
        Self::NamesDiffer => "diff_names_differ", "The names in a file's header do not belong together.",
            "Write the patch with `git diff`, with its prefixes.";
        Self::Name => "diff_name", "A name in the patch cannot be read.",
            "Write the patch with `git diff`; rename what has an unusual name.";
        Self::UnsafePath => "diff_unsafe_path", "The patch names a place outside the tree.",
            "Name only paths below the root of the project.";
        Self::Mode => "diff_mode", "The patch makes something else than a regular file.", "Change regular files only.";
        Self::Binary => "diff_binary", "The patch holds binary content.", "Hand in a patch of text, or the whole tree.";
        Self::WrittenTwice => "diff_written_twice", "The patch writes one file twice.",
            "Put all changes of a file under one header.";
        Self::NoChange => "diff_no_change", "A file of the patch has no change.", "Leave the file out.";
        Self::HunkHeader => "diff_hunk_header", "A hunk's header cannot be read.", "Write the patch with `git diff`.";
        Self::HunkCount => "diff_hunk_count", "A hunk has other lines than its header counts.",
            "Write the patch with `git diff`; do not edit it.";
        Self::HunkLine => "diff_hunk_line", "A line of a hunk begins with none of the marks of a patch.",
            "Write the patch with `git diff`; do not edit it.";
        Self::HunkOrder => "diff_hunk_order", "A hunk overlaps the one before, or lies in front of it.",
            "Write the patch with `git diff`; do not edit it.";
        Self::Marker => "diff_marker", "The marker of a missing newline does not stand at the end of its file.",
            "Write the patch with `git diff`; do not edit it.";
    }
}

impl DiffReason {
    /// Every reason.
    pub const ALL: [Self; 18] = [
        Self::Empty,
        Self::NotUtf8,
        Self::Unterminated,
        Self::HiddenLineBreak,
        Self::Stray,
        Self::Header,
        Self::NamesDiffer,
        Self::Name,
        Self::UnsafePath,
        Self::Mode,
        Self::Binary,
        Self::WrittenTwice,
        Self::NoChange,
        Self::HunkHeader,
        Self::HunkCount,
        Self::HunkLine,
        Self::HunkOrder,
        Self::Marker,
    ];

    /// Whether the diff asks for a place that no work unit can allow; everything else is a malformed diff.
    #[must_use]
    pub fn is_scope(self) -> bool {
        matches!(self, Self::UnsafePath | Self::Mode)
    }
}

//! The entries of the error catalogue: what each stable code means and what to do about it.
//!
//! An entry stands beside the enum that it describes, in the table from which [`error_codes!`](crate::error_codes) or
//! [`code_words!`](crate::code_words) makes the enum's `code()`: a variant without an entry does not compile.

/// One stable code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorEntry {
    /// The crate that says it, without `quorum-`. A code stands once in a room; two rooms may share a code.
    pub room: &'static str,
    /// The code, as it stands in `error[CODE]`.
    pub code: &'static str,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// What to do about it, in one sentence.
    pub action: &'static str,
    /// How a command ends that fails with it; empty where that depends on whose document it is: 2 for a control file, 6
    /// for the worker's, and evidence is refused inside a decision without ending anything.
    pub exits: &'static [u8],
}

impl ErrorEntry {
    /// An entry; its meaning may come from a doc comment, with the space in front.
    #[must_use]
    pub const fn new(
        room: &'static str,
        code: &'static str,
        meaning: &'static str,
        action: &'static str,
        exits: &'static [u8],
    ) -> Self {
        Self { room, code, meaning: meaning.trim_ascii(), action: action.trim_ascii(), exits }
    }
}

/// Makes `code()` and `ENTRIES` of an error enum from one table. What is under `passes` hands on the code of another
/// error, which has its own entry.
///
/// ```
/// pub enum Fault { Wet, Cold(u8), Other(std::num::ParseIntError) }
/// # trait Code { fn code(&self) -> &'static str; }
/// # impl Code for std::num::ParseIntError { fn code(&self) -> &'static str { "number" } }
/// quorum_schemas::error_codes! {
///     impl Fault in "weather" {
///         Self::Wet => "wet", "It rains.", "Take an umbrella.";
///         Self::Cold(_) => "cold", "It is cold.", "Take a coat.", exit 2;
///     }
///     passes {
///         Self::Other(error) => error.code();
///     }
/// }
/// assert_eq!(Fault::Cold(3).code(), "cold");
/// assert_eq!(Fault::ENTRIES[1].exits, [2]);
/// ```
#[macro_export]
macro_rules! error_codes {
    (
        impl $name:ident in $room:literal {
            $($pattern:pat => $code:literal, $meaning:literal, $action:literal $(, exit $($exit:literal)|+)?;)*
        }
        $(passes { $($passed:pat => $by:expr;)* })?
    ) => {
        impl $name {
            /// The entries of the error catalogue.
            pub const ENTRIES: &'static [$crate::ErrorEntry] = &[
                $($crate::ErrorEntry::new($room, $code, $meaning, $action, &[$($($exit),+)?]),)*
            ];

            /// The stable code.
            #[must_use]
            pub fn code(&self) -> &'static str {
                match self {
                    $($pattern => $code,)*
                    $($($passed => $by,)*)?
                }
            }
        }
    };
}

/// Makes an enum of codes that carry nothing but themselves, with `code()` and `ENTRIES`. The doc comment of a variant is
/// its meaning.
#[macro_export]
macro_rules! code_words {
    (
        $(#[$outer:meta])*
        $visibility:vis enum $name:ident in $room:literal {
            $(
                $(#[doc = $meaning:literal])+
                $variant:ident = $code:literal, $action:literal $(, exit $($exit:literal)|+)?;
            )*
        }
    ) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility enum $name { $($(#[doc = $meaning])+ $variant,)* }

        impl $name {
            /// The entries of the error catalogue, in the order of the variants.
            pub const ENTRIES: &'static [$crate::ErrorEntry] = &[
                $($crate::ErrorEntry::new($room, $code, concat!($($meaning),+), $action, &[$($($exit),+)?]),)*
            ];

            /// The stable code.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }
        }

        impl From<$name> for &'static str {
            fn from(code: $name) -> Self {
                code.code()
            }
        }
    };
}

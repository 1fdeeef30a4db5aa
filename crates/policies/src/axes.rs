//! The ordered words that policies compare evidence with.

macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident => $text:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The word, as files write it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The value of a word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = String::deserialize(deserializer)?;
                Self::from_word(&word).ok_or_else(|| serde::de::Error::custom(format!("`{word}` is not a known word")))
            }
        }
    };
}
pub(crate) use words;

words! {
    /// An attribute of the trust root that independence is judged by.
    Axis {
        /// Who runs it.
        Operator => "operator",
        /// Whom the operator belongs to.
        Organisation => "organisation",
        /// The family of the model in it.
        ModelFamily => "model_family",
        /// The machine.
        Host => "host",
        /// The runtime it executes in.
        Runtime => "runtime",
        /// The engine that judges.
        Engine => "engine",
    }
}

words! {
    /// How well candidate code was kept away from the verifier, weakest first.
    Isolation {
        /// Not at all.
        None => "none",
        /// Namespaces, seccomp or Landlock around one process tree.
        ProcessSandbox => "process-sandbox",
        /// A container on the same kernel.
        SharedKernelContainer => "shared-kernel-container",
        /// Its own kernel.
        HardwareVm => "hardware-vm",
        /// No candidate code ran: satisfies every demand.
        NotApplicable => "not_applicable",
    }
}

words! {
    /// How a check's result reached the verifier, most forgeable first.
    Channel {
        /// Next to the candidate's code, which can forge it.
        InProcess => "in_process",
        /// From outside the candidate's process and mount namespace.
        BlackBox => "black_box",
        /// The candidate was only read.
        Data => "data",
    }
}

//! The helper's side.

/// Becomes the sandbox helper when started as such, else returns at once.
///
/// First statement of `main` of every program that calls [`crate::run`].
pub fn init_main() {
    crate::helper::remember_ourselves();
}

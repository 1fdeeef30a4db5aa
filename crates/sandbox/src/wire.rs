//! What caller and helper say to each other.

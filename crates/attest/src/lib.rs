//! DSSE envelopes, in-toto statements, keys and the trust root.

//! Real nats-server processes and whole meshes for the demo and the tests.

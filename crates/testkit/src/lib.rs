//! Real nats-server processes and whole meshes of real daemons, for the demo, the tests and the chaos runs.

mod error;
mod ports;
mod process;
mod raw;
mod server;
mod submit;
mod world;
mod world_files;

pub mod limits;

pub use error::{TestkitError, errors};
pub use ports::free_port;
pub use process::Process;
pub use raw::RawClient;
pub use server::{NatsServer, find_nats_server};
pub use submit::Submitted;
pub use world::{AUDITOR, AUTHOR, COORDINATOR, PROVISIONER, Party, VerifierSpec, World, WorldPlan};

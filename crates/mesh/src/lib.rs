//! The only room that speaks NATS: subjects, streams, create-only publication, blobs, offers, leases, permissions.
//!
//! What it promises: every acknowledged publication was read back and its digest compared; a subject is written
//! once; the time of a message is the stream's clock, never the publisher's. What it does not promise is that
//! JetStream keeps it for ever: that is the ledger's work.

pub mod audit;
pub mod blobs;
pub mod connect;
pub mod consume;
pub mod fault;
pub mod lease;
pub mod limits;
pub mod offer;
pub mod permissions;
pub mod place;
pub mod provision;
pub mod publish;
pub mod server;
pub mod streams;
pub mod token;

mod error;
mod read;
mod request;

pub use audit::AuditRecord;
pub use blobs::{BlobRef, BlobRole};
pub use connect::{Credentials, Mesh, NatsConfig};
pub use consume::{Deliveries, Delivery, Stored};
pub use error::{MeshError, errors};
pub use lease::{LeaseCall, LeaseCalls, LeaseEntry, LeaseOp, LeaseReply, LeaseRequest, LeaseStore};
pub use offer::Offer;
pub use permissions::{MeshUser, UserRole};
pub use place::Place;
pub use provision::{ProvisionPlan, apply};
pub use publish::Published;
pub use server::{ServerSettings, server_config};
pub use streams::StreamName;

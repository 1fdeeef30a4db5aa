//! End-to-end tests: the built binary, real daemons, a real nats-server. They live apart because they are slow, and in
//! one program because linking it is.

mod chaos;
mod crash;
mod demo;
mod messages;

//! `mesh apply`: makes streams, the lease bucket and durable consumers, and reads every configuration back.

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use serde_json::{Value as Json, json};

use crate::place::ROOT;
use crate::read::absent;
use crate::{Mesh, MeshError, StreamName, limits, token};

/// Durable name of the coordinators' consumers.
pub const COORDINATOR_CONSUMER: &str = "coordinator";

/// The streams that coordinators consume.
pub const INTAKE: [StreamName; 3] = [StreamName::Work, StreamName::Results, StreamName::Evidence];

/// Durable name of a verifier's consumer of offers.
pub(crate) fn offers_consumer(token: &str) -> String {
    format!("offers-{token}")
}

/// What to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvisionPlan {
    /// Verifier ids; each gets its own consumer of offers.
    pub verifiers: Vec<String>,
    /// Replicas of every stream: 1, or 3 in a cluster.
    pub replicas: usize,
}

/// Applies the plan with a provisioner's connection; repeating it is harmless. Returns what now stands, by name.
///
/// # Errors
/// `config_differs` with the first field that the server dropped or keeps otherwise, `permission_denied`,
/// `timed_out`, `broker`.
pub async fn apply(mesh: &Mesh, plan: &ProvisionPlan) -> Result<Vec<String>, MeshError> {
    let mut made = Vec::new();
    for stream in StreamName::ALL {
        apply_stream(mesh, stream, plan.replicas).await?;
        made.push(stream.as_str().to_owned());
    }
    for stream in INTAKE {
        made.push(apply_consumer(mesh, stream, COORDINATOR_CONSUMER, stream.filter()).await?);
    }
    for verifier in &plan.verifiers {
        let token = token::encode(verifier)?;
        let filter = format!("{ROOT}.offer.{token}.>");
        made.push(apply_consumer(mesh, StreamName::Offers, &offers_consumer(&token), &filter).await?);
    }
    Ok(made)
}

async fn apply_stream(mesh: &Mesh, stream: StreamName, replicas: usize) -> Result<(), MeshError> {
    let name = stream.as_str();
    let wanted = to_json(name, &stream.config(replicas))?;
    let verb = match mesh.stream_info(stream).await? {
        Ok(_) => "UPDATE",
        Err(error) if error.code == 404 => "CREATE",
        Err(error) => return Err(absent(name, &error)),
    };
    let answer = mesh.api(&format!("$JS.API.STREAM.{verb}.{name}"), &wanted).await?;
    answer.map_err(|error| absent(name, &error))?;
    let found = mesh.stream_info(stream).await?.map_err(|error| absent(name, &error))?;
    compare(name, &wanted, &found["config"])
}

async fn apply_consumer(mesh: &Mesh, stream: StreamName, durable: &str, filter: &str) -> Result<String, MeshError> {
    let object = format!("{}.{durable}", stream.as_str());
    let wanted = to_json(&object, &consumer_config(durable, filter))?;
    let body = json!({"stream_name": stream.as_str(), "config": wanted, "action": ""});
    let answer = mesh.api(&format!("$JS.API.CONSUMER.CREATE.{object}.{filter}"), &body).await?;
    answer.map_err(|error| absent(&object, &error))?;
    let found = mesh.api(&format!("$JS.API.CONSUMER.INFO.{object}"), &Json::Null).await?;
    let found = found.map_err(|error| absent(&object, &error))?;
    compare(&object, &wanted, &found["config"])?;
    Ok(object)
}

fn consumer_config(durable: &str, filter: &str) -> pull::Config {
    pull::Config {
        durable_name: Some(durable.to_owned()),
        deliver_policy: DeliverPolicy::All,
        ack_policy: AckPolicy::Explicit,
        ack_wait: limits::ACK_WAIT,
        max_deliver: limits::MAX_DELIVER,
        max_ack_pending: limits::MAX_ACK_PENDING,
        max_waiting: limits::MAX_WAITING,
        filter_subject: filter.to_owned(),
        ..pull::Config::default()
    }
}

fn to_json<T: serde::Serialize>(object: &str, config: &T) -> Result<Json, MeshError> {
    serde_json::to_value(config).map_err(|error| MeshError::broker(object, error))
}

/// Fields that a server adds by itself and that change no behaviour asked for here.
const SERVERS_OWN: [&str; 5] = ["metadata", "compression", "consumer_limits", "duplicate_window", "name"];

/// Every wanted field must be there with its value, and no field that was not wanted may be set.
fn compare(object: &str, wanted: &Json, found: &Json) -> Result<(), MeshError> {
    let empty = serde_json::Map::new();
    let (wanted, found) = (wanted.as_object().unwrap_or(&empty), found.as_object().unwrap_or(&empty));
    let differs = |field: &str, want: &Json, have: &Json| MeshError::ConfigDiffers {
        object: object.to_owned(),
        field: field.to_owned(),
        wanted: want.to_string(),
        found: have.to_string(),
    };
    for (field, want) in wanted {
        let have = found.get(field).unwrap_or(&Json::Null);
        if want != have && !(unset(want) && unset(have)) {
            return Err(differs(field, want, have));
        }
    }
    for (field, have) in found {
        if !wanted.contains_key(field) && !unset(have) && !SERVERS_OWN.contains(&field.as_str()) {
            return Err(differs(field, &Json::Null, have));
        }
    }
    Ok(())
}

/// Whether a value says the same as leaving the field out.
fn unset(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(flag) => !flag,
        Json::Number(number) => number.as_i64() == Some(0),
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn design_6_a_dropped_changed_or_added_field_is_named() {
        let wanted = to_json("S", &StreamName::Results.config(1)).unwrap();
        compare("S", &wanted, &wanted).unwrap();
        for (field, value) in [
            ("discard_new_per_subject", Json::Null),
            ("max_msgs_per_subject", json!(1)),
            ("deny_purge", json!(false)),
            ("allow_rollup_hdrs", json!(true)),
            ("sealed", json!(true)),
        ] {
            let mut found = wanted.clone();
            if value.is_null() {
                found.as_object_mut().unwrap().remove(field);
            } else {
                found[field] = value;
            }
            let error = compare("S", &wanted, &found).unwrap_err();
            assert_eq!(error.code(), "config_differs");
            assert!(error.to_string().contains(field), "{error}");
        }
    }
}

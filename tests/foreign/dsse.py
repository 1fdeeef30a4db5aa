"""The eyes of others: DSSE by securesystemslib, statements and VSA by in-toto-attestation.

Reads a JSON array of tasks from stdin and writes a JSON array of answers to stdout, one a task:
  {"do": "verify", "envelope": TEXT, "keys": [{"keyid": TEXT, "public": HEX}], "threshold": N, "statement": BOOL}
  {"do": "sign", "seeds": [HEX], "payload_type": TEXT, "payload": BASE64}
  {"do": "sign", "seeds": [HEX], "statement": {"subject": [{"name": TEXT, "digest": {}}], "predicate_type": TEXT,
   "predicate": {}}}
"""

import base64
import json
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf import json_format
from in_toto_attestation.predicates.vsa.v1 import vsa_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner, SSlibKey

VSA = "https://slsa.dev/verification_summary/v1"
IN_TOTO = "application/vnd.in-toto+json"


def read_statement(payload):
    """Every member must be one that the message has: unknown ones are an error here."""
    parsed = json_format.Parse(payload, statement_pb2.Statement())
    Statement.copy_from_pb(parsed).validate()
    return parsed


def read_vsa(payload):
    """The predicate by its own message. Its extensions are members whose names are URIs; nothing else may be unknown.

    The package's message is of SLSA 1.0 and has one level where the specification has a list of them
    (in-toto/attestation#425): the list is read here, level by level, and so is `verifier.version`, which is of SLSA 1.1.
    """
    predicate = json.loads(payload)["predicate"]
    known = {name: value for name, value in predicate.items() if ":" not in name}
    levels, version = known.pop("verifiedLevels"), known["verifier"].pop("version", {})
    for level in levels:
        summary = json_format.ParseDict(known | {"verifiedLevels": level}, vsa_pb2.VerificationSummary())
    return json_format.MessageToDict(summary) | {"verifiedLevels": levels, "version": version}


def verify(task):
    try:
        envelope = Envelope.from_dict(json.loads(task["envelope"]))
        keys = [SSlibKey(key["keyid"], "ed25519", "ed25519", {"public": key["public"]}) for key in task["keys"]]
        signers = envelope.verify(keys, task["threshold"])
    except Exception as error:  # whatever they raise is their verdict
        return {"verified": False, "why": f"{type(error).__name__}: {error}"}
    answer = {
        "verified": True,
        "signers": sorted(signers),
        "payload_type": envelope.payload_type,
        "payload": base64.b64encode(envelope.payload).decode(),
    }
    if task.get("statement"):
        statement = read_statement(envelope.payload)
        answer["predicate_type"] = statement.predicate_type
        answer["subject"] = [{"name": s.name, "digest": dict(s.digest)} for s in statement.subject]
        if statement.predicate_type == VSA:
            answer["vsa"] = read_vsa(envelope.payload)
    return answer


def write_statement(asked):
    subjects = [ResourceDescriptor(name=s["name"], digest=s["digest"]).pb for s in asked["subject"]]
    statement = Statement(subjects, asked["predicate_type"], asked["predicate"])
    statement.validate()
    return json_format.MessageToJson(statement.pb).encode()


def sign(task):
    if "statement" in task:
        payload, payload_type = write_statement(task["statement"]), IN_TOTO
    else:
        payload, payload_type = base64.b64decode(task["payload"]), task["payload_type"]
    envelope = Envelope(payload, payload_type, {})
    for seed in task["seeds"]:
        envelope.sign(CryptoSigner(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed))))
    return {"envelope": json.dumps(envelope.to_dict(), indent=1), "payload": base64.b64encode(payload).decode()}


def main():
    tasks = json.load(sys.stdin)
    json.dump([{"verify": verify, "sign": sign}[task["do"]](task) for task in tasks], sys.stdout)


main()

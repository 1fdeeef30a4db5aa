"""Writes an in-toto layout with one step that needs ten functionaries, and their ten signed links.

The equal of a decision on ten evidences for `in-toto-verify`: one root signature, ten signatures over one product's digest,
a threshold of ten.

    layout.py DIRECTORY PRODUCT
"""

import hashlib
import pathlib
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from in_toto.models.layout import Layout, Step
from in_toto.models.link import Link
from in_toto.models.metadata import Envelope
from securesystemslib.signer import CryptoSigner

FUNCTIONARIES = 10


def key_of(signer):
    return {**signer.public_key.to_dict(), "keyid": signer.public_key.keyid}


def main():
    directory, product = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    directory.mkdir(parents=True)
    private = Ed25519PrivateKey.generate()
    owner = CryptoSigner(private)
    signers = [CryptoSigner.generate_ed25519() for _ in range(FUNCTIONARIES)]
    keys = {signer.public_key.keyid: key_of(signer) for signer in signers}
    rules = [["ALLOW", product.name], ["DISALLOW", "*"]]
    step = Step(name="verify", threshold=FUNCTIONARIES, pubkeys=list(keys), expected_products=rules)
    layout = Layout(steps=[step], keys=keys)
    layout.set_relative_expiration(months=12)
    root = Envelope.from_signable(layout)
    root.create_signature(owner)
    root.dump(str(directory / "root.layout"))
    link = Link(name="verify", products={product.name: {"sha256": hashlib.sha256(product.read_bytes()).hexdigest()}})
    for signer in signers:
        signed = Envelope.from_signable(link)
        signed.create_signature(signer)
        signed.dump(str(directory / f"verify.{signer.public_key.keyid[:8]}.link"))
    pem = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (directory / "owner.pem").write_bytes(pem)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks that your balance is among what a Perpgate venue says that it owes. Standard library only.

    curl -s $VENUE/v1/bridge/reserves > reserves.json
    curl -s -H "Authorization: Bearer $TOKEN" $VENUE/v1/account/liability > liability.json
    python3 check_reserves.py reserves.json liability.json 0xYOURADDRESS [DOLLARS]

With DOLLARS the leaf must have at least that balance. Prints what is wrong and exits with 1, or "ok". That the root is
in the venue's log is shown by `proof` in reserves.json: the leaf in it is compared here, its signatures are not.
"""

import base64
import hashlib
import json
import struct
import sys

LIMIT = 2**53


def fail(reason):
    print(reason)
    sys.exit(1)


def amount(value, what):
    if type(value) is not int or not 0 <= value < LIMIT:
        fail(f"{what} is {value}: not from 0 to 2^53")
    return value.to_bytes(8, "big")


def raw(text, length, what):
    try:
        data = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        data = b""
    if len(data) != length:
        fail(f"{what} is not {length} bytes of hex")
    return data


def root_of(liability):
    address = raw(liability["address"], 20, "the address")
    salt = raw(liability["salt"], 16, "the salt")
    total = liability["balanceMicros"]
    node = hashlib.sha256(b"\0" + address + salt + amount(total, "the balance")).digest()
    for step in liability["path"]:
        sibling = (raw(step["hash"], 32, "a hash"), amount(step["sumMicros"], "a sum"))
        own = (node, amount(total, "a sum"))
        left, right = (sibling, own) if step["side"] == "left" else (own, sibling)
        node = hashlib.sha256(b"\1" + b"".join(left) + b"".join(right)).digest()
        total += step["sumMicros"]
        amount(total, "a sum")
    return node, total


def proven(proof):
    """Position, sum and root in the proof's leaf."""
    extra = next(line for line in proof.split("\n") if line.startswith("extra "))
    leaf = bytes.fromhex(json.loads(base64.b64decode(extra[6:]))["leaf"])
    kind, _, position, _, total, *rest = map(int, struct.unpack("<12d", leaf))
    if kind != 60:
        fail("the proof is of something else")
    words = [word.to_bytes(6 if i < 5 else 2, "big") for i, word in enumerate(rest[:6])]
    return position, total, b"".join(words)


def main(reserves_file, liability_file, address, dollars="0"):
    with open(reserves_file) as file:
        owed = json.load(file)["liabilities"]
    with open(liability_file) as file:
        liability = json.load(file)
    if owed is None:
        fail("the venue has committed to nothing")
    if "path" not in liability:
        fail("this account is left out")
    if liability["address"].lower() != address.lower():
        fail("the leaf is another account's")
    if liability["position"] != owed["position"]:
        fail("the leaf is of another commitment: fetch both again")
    if liability["balanceMicros"] < round(float(dollars) * 1e6):
        fail(f"the venue says that it owes you {liability['balanceMicros'] / 1e6} dollars")
    root, total = root_of(liability)
    if root.hex() != owed["root"].removeprefix("0x"):
        fail("the path does not lead to the root")
    if total != round(owed["sum"] * 1e6):
        fail("the sum does not add up")
    if owed["proof"] is None:
        print("no checkpoint covers the commitment yet")
    elif proven(owed["proof"]) != (int(owed["position"]), total, root):
        fail("the proof is of another commitment")
    print("ok")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        fail(__doc__)
    main(*sys.argv[1:])

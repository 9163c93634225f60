import base64
import json
import os
import struct
import unittest

from perpgate import PerpgateError, check_order_proof, check_receipt
from perpgate.leaf import acknowledgement_of, difference_of, read_leaf
from perpgate.order_proof import read_header
from perpgate.receipts import statement_bytes
from perpgate.signed_note import LOG_KEY, parse_note, parse_note_key
from perpgate.tree import Invalid, bytes_of_base64, leaf_hash_of, root_from_path
from support import ROOT, made_vectors

with open(os.path.join(ROOT, "docs", "receipts-vectors.json"), encoding="utf-8") as source:
    VECTORS = json.load(source)
LOG = VECTORS["logKey"]["text"]


def file_of(entry):
    statement = entry["statement"]
    fields = {name: statement[name] for name in ("venueId", "address", "position", "block", "requestHash")}
    return {"format": "perpgate-receipt/1", "logKey": LOG, **fields, "receipt": entry["receipt"]}


class Cancels(unittest.TestCase):
    FIELDS = (10.25, 3, 4, 1, 77, 25, 9, 12)

    def leaf(self, *fields, kind=61):
        return struct.pack(f"<{1 + len(fields)}d", kind, *fields)

    def test_the_leaf_says_what_the_answer_says(self):
        market = {"symbol": "BTCUSD", "tickSize": 0.1, "lotSize": 0.001}
        leaf = read_leaf(self.leaf(*self.FIELDS))
        self.assertEqual((leaf["account"], leaf["session"], leaf["market"], leaf["nonce"]), (3, 4, 1, 77))
        sealed = {"ackNonce": "12", "orderId": "10.1", "status": "canceled", "remainingSize": 0.025}
        self.assertEqual(acknowledgement_of(leaf, market), {**sealed, "expectedBlock": 9})

    def test_other_bytes_are_no_leaf(self):
        for wrong in (self.leaf(*self.FIELDS, kind=58), self.leaf(*self.FIELDS[1:]), self.leaf(*self.FIELDS, 0)):
            self.assertRaises(Invalid, read_leaf, wrong)
        for place in range(len(self.FIELDS)):
            for value in (-1.0, 12.5 if place else 10.1, float("nan"), 2.0**53):
                fields = [*self.FIELDS[:place], value, *self.FIELDS[place + 1 :]]
                self.assertRaises(Invalid, read_leaf, self.leaf(*fields))


class Receipts(unittest.TestCase):
    def invalid(self, *args):
        with self.assertRaises(PerpgateError) as caught:
            check_receipt(*args)
        self.assertEqual(caught.exception.code, "receipt_invalid")
        return caught.exception.message

    def test_vectors_of_the_docs(self):
        for entry in VECTORS["batch"]["receipts"]:
            for file in (file_of(entry), json.dumps(file_of(entry))):
                receipt = check_receipt(file, LOG)
                self.assertEqual(statement_bytes(receipt).hex(), entry["statementBytes"])
                self.assertEqual(leaf_hash_of(statement_bytes(receipt)).hex(), entry["statementLeafHash"])
                self.assertEqual(receipt.session, entry["statement"]["session"])
                self.assertEqual(receipt.time, entry["statement"]["timeMs"])

    def test_every_changed_byte_is_noticed(self):
        file = file_of(VECTORS["batch"]["receipts"][1])
        data = bytes_of_base64(file["receipt"], is_url=True)
        for at in range(0, len(data), 7):
            changed = bytearray(data)
            changed[at] ^= 1
            text = base64.urlsafe_b64encode(bytes(changed)).decode().rstrip("=")
            self.invalid({**file, "receipt": text}, LOG)

    def test_what_a_file_shows_must_be_what_was_signed(self):
        file = file_of(VECTORS["batch"]["receipts"][0])
        self.assertIn("its request", self.invalid({**file, "request": "{}"}, LOG))
        self.assertIn("its leaf", self.invalid({**file, "leaf": "AAAA"}, LOG))
        self.invalid({**file, "request": 5}, LOG)
        self.invalid({**file, "leaf": None}, LOG)

    def test_every_field_is_signed(self):
        file = file_of(VECTORS["batch"]["receipts"][0])
        for change in (
            {"position": 1002},
            {"block": 3},
            {"venueId": "22" * 32},
            {"requestHash": "22" * 32},
            {"address": "22" * 20},
        ):
            self.assertRegex(self.invalid({**file, **change}, LOG), "did not certify|not over this statement")

    def test_another_key(self):
        file = file_of(VECTORS["batch"]["receipts"][0])
        other = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
        self.assertEqual(self.invalid(file, other), "it names another log key")
        self.assertIn("did not certify", self.invalid({**file, "logKey": other}))
        self.assertIn("id is not that", self.invalid({**file, "logKey": LOG.replace("c01c", "c01d")}))

    def test_numbers_are_integers_and_keys_come_once(self):
        text = json.dumps(file_of(VECTORS["batch"]["receipts"][0]))
        for wrong in ("1001.0", "1.001e3", '"1001"', "true", "9007199254740993", "-1", "null"):
            self.invalid(text.replace('"position": 1001', f'"position": {wrong}'), LOG)
        self.invalid(text.replace('"position": 1001', '"position": 1002, "position": 1001'), LOG)
        self.invalid("{}", LOG)
        self.invalid("[]", LOG)
        self.invalid("", LOG)

    def test_other_spellings_are_refused(self):
        file = file_of(VECTORS["batch"]["receipts"][0])
        text = file["receipt"]
        for wrong in (text + "=", text + "A", text[:-1], text.replace("-", "+"), text + "\n", "", "é"):
            self.invalid({**file, "receipt": wrong}, LOG)
        # A varint with a needless byte.
        data = bytes_of_base64(text, is_url=True)
        longer = data[:1] + bytes([data[1] | 0x80, 0]) + data[2:]
        self.invalid({**file, "receipt": base64.urlsafe_b64encode(longer).decode().rstrip("=")}, LOG)

    def test_trees_of_every_size(self):
        for size, index, leaf, path, root in made_vectors("trees"):
            hashes = [bytes.fromhex(each) for each in path]
            self.assertEqual(root_from_path(bytes.fromhex(leaf), index, size, hashes).hex(), root)
            for wrong in (hashes[:-1], [*hashes, bytes(32)]) if hashes else ([bytes(32)],):
                self.assertRaises(Invalid, root_from_path, bytes.fromhex(leaf), index, size, wrong)
        self.assertRaises(Invalid, root_from_path, bytes(32), 1, 1, [])

    def test_headers_and_notes(self):
        block = read_header(bytes.fromhex(VECTORS["block"]["header"]))
        self.assertEqual((block["number"], block["ackCount"]), (2, 3))
        self.assertEqual(block["acksRoot"].hex(), VECTORS["block"]["acksRoot"])
        note = VECTORS["log"]["checkpoint"]
        self.assertEqual(len(parse_note(note)[1]), 1)
        with_control = note.replace("\n2\n", "\n\x002\n")
        for wrong in ("", "text\n", note[:-1], note.replace("—", "-"), note + "x\n", with_control):
            self.assertRaises(Invalid, parse_note, wrong)
        self.assertRaises(Invalid, parse_note_key, LOG, 4)
        self.assertEqual(parse_note_key(f" {LOG}\n", LOG_KEY).name, "venue.example/log")


class Leaves(unittest.TestCase):
    def test_acknowledgements_are_those_that_the_venue_builds(self):
        made = made_vectors("leaves")
        for case in made["cases"]:
            leaf = read_leaf(bytes.fromhex(case["bytes"]))
            self.assertEqual(acknowledgement_of(leaf, made["markets"][leaf["market"]]), case["ack"])

    def test_an_answer_that_differs_from_its_leaf(self):
        ack = made_vectors("leaves")["cases"][0]["ack"]
        self.assertIsNone(difference_of(ack, {**ack, "elapsedMs": 1}))
        for name in ack:
            for wrong in ("other", None, True):
                if ack[name] is not wrong:
                    self.assertIn(name, difference_of(ack, {**ack, name: wrong}))
        moved = {**ack["positionAfter"], "avgEntry": 1}
        self.assertIn("positionAfter.avgEntry", difference_of(ack, {**ack, "positionAfter": moved}))
        self.assertIsNotNone(difference_of({"filledSize": 1}, {"filledSize": True}))
        plain = next(case["ack"] for case in made_vectors("leaves")["cases"] if "exits" not in case["ack"])
        exits = [{"orderId": f"{plain['orderId']}.1", "kind": "takeProfit"}]
        self.assertIn("exits", difference_of(plain, {**plain, "exits": exits}))
        self.assertIn("exits", difference_of({**plain, "exits": exits}, plain))
        self.assertIsNone(difference_of({**plain, "exits": exits}, {**plain, "exits": exits}))

    def test_bytes_that_are_no_leaf(self):
        data = bytes.fromhex(made_vectors("leaves")["cases"][0]["bytes"])
        nan = data[:8] + bytes.fromhex("000000000000f87f") + data[16:]
        half = data[:8] + bytes.fromhex("000000000000e03f") + data[16:]
        third = data[:8] + struct.pack("<d", 1_000.75) + data[16:]
        exits = data[:48] + struct.pack("<d", -2) + data[56:]
        for wrong in (b"", data[:-1], data + bytes(8), bytes(len(data)), nan, half, third, exits):
            self.assertRaises(ValueError, read_leaf, wrong)


class Proofs(unittest.TestCase):
    def invalid(self, *args, **kwargs):
        with self.assertRaises(PerpgateError) as caught:
            check_order_proof(*args, **kwargs)
        self.assertEqual(caught.exception.code, "proof_invalid")
        return caught.exception.message

    def setUp(self):
        self.made = made_vectors("proof")

    def test_a_proof_with_and_without_witnesses(self):
        made = self.made
        self.assertEqual(check_order_proof(made["alone"], made["logKey"]).cosigners, [])
        proof = check_order_proof(made["cosigned"], made["logKey"], [made["witness"]])
        self.assertEqual((proof.cosigners, proof.leaf["ackNonce"]), (["witness.example/w1"], made["ackNonce"]))
        self.assertIn("0 of the 1 cosignatures", self.invalid(made["alone"], made["logKey"], [made["witness"]]))
        self.assertEqual(check_order_proof(made["alone"], made["logKey"], [made["witness"]], require=0).cosigners, [])
        both = [made["witness"], made["stranger"]]
        self.assertIn("1 of the 2 cosignatures", self.invalid(made["cosigned"], made["logKey"], both))
        check_order_proof(made["cosigned"], made["logKey"], both, require=1)

    def test_witnesses_are_counted_once(self):
        made = self.made
        for keys, require in (
            ([made["witness"], made["otherWitness"]], None),
            ([made["witness"]], 2),
            ([made["witness"]], -1),
            ([], 1),
        ):
            reason = self.invalid(made["cosigned"], made["logKey"], keys, require)
            self.assertRegex(reason, "one witness|cannot be required")
        twice = [made["witness"], f" {made['witness']}"]
        self.assertEqual(check_order_proof(made["cosigned"], made["logKey"], twice).cosigners, ["witness.example/w1"])

    def test_forged_and_foreign_signatures(self):
        made = self.made
        self.assertIn("does not hold", self.invalid(made["forged"], made["logKey"], [made["witness"]], require=0))
        self.assertIn("did not sign", self.invalid(made["alone"], made["otherLogKey"]))
        self.assertIn("verifier key of a witness", self.invalid(made["alone"], made["logKey"], [made["logKey"]]))
        self.assertIn("verifier key of a log", self.invalid(made["alone"], made["witness"]))

    def test_every_changed_part(self):
        text = self.made["alone"]
        head, _, checkpoint = text.partition("\n\n")
        lines = head.split("\n")
        extra = json.loads(base64.b64decode(lines[1][6:]))

        def with_extra(**change):
            changed = base64.b64encode(json.dumps({**extra, **change}).encode()).decode()
            return "\n".join([lines[0], f"extra {changed}", *lines[2:]]) + "\n\n" + checkpoint

        check_order_proof(with_extra(), self.made["logKey"])
        flipped = lambda text: text[:-1] + ("0" if text[-1] != "0" else "1")
        for wrong in (
            with_extra(leaf=flipped(extra["leaf"])),
            with_extra(header=flipped(extra["header"])),
            with_extra(index=extra["index"] + 1),
            with_extra(index=float(extra["index"])),
            with_extra(index=True),
            with_extra(path=[*extra["path"], "00" * 32]),
            with_extra(path=None),
            with_extra(format="x"),
            text.replace("\nindex ", "\nindex 1"),
            text.replace("tlog-proof@v1", "tlog-proof@v2"),
            text.replace("\n\n", "\n", 1),
            text[:-1],
            head,
            "",
        ):
            self.invalid(wrong, self.made["logKey"])
        twice = base64.b64encode(json.dumps(extra)[:-1].encode() + b',"index":0}').decode()
        self.invalid("\n".join([lines[0], f"extra {twice}", *lines[2:]]) + "\n\n" + checkpoint, self.made["logKey"])

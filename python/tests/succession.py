"""Against a venue that has replaced its log key; packages/sdk/src/python.system.test.ts runs it."""

import os
import unittest

from perpgate import Client, PerpgateError, Wallet, check_order_proof, check_receipt
from support import ask_runner, made_vectors

KEYS = made_vectors("succession")
BID = {"symbol": "BTCUSD", "side": "long", "type": "limit", "margin": 100, "leverage": 5, "price": 60_000}


class Succession(unittest.TestCase):
    def client(self, log_key=None):
        client = Client(os.environ["PERPGATE_URL"], log_key=log_key)
        self.addCleanup(client.close)
        return client

    def invalid(self, call, *args):
        with self.assertRaises(PerpgateError) as caught:
            call(*args)
        self.assertIn(caught.exception.code, ("receipt_invalid", "proof_invalid"))
        return caught.exception.message

    def test_receipts_and_proofs_hold_whichever_key_is_pinned(self):
        for pinned in (KEYS["old"], KEYS["next"], None):
            client = self.client(pinned)
            session = client.sign_in(Wallet.create())
            ack = session.place_order(**BID)
            file = session.receipt(ack)
            self.assertEqual(file["logKey"], KEYS["next"])
            notes = client.log_successors()
            self.assertEqual(len(notes), 1)
            for key in (KEYS["old"], KEYS["next"]):
                self.assertEqual(check_receipt(file, key, notes).position, int(ack["ackNonce"]))
            self.assertEqual(self.invalid(check_receipt, file, KEYS["old"]), "it names another log key")
            self.assertEqual(self.invalid(check_receipt, file, KEYS["foreign"], notes), "it names another log key")
            ask_runner("seal")
            proof = session.preconfirm_proof(ack["ackNonce"])
            for key in (KEYS["old"], KEYS["next"], None):
                self.assertEqual(check_order_proof(proof, key).leaf["ackNonce"], int(ack["ackNonce"]))
            self.assertIn("did not sign", self.invalid(check_order_proof, proof, KEYS["foreign"]))

    def test_another_key_is_pinned(self):
        session = self.client(KEYS["foreign"]).sign_in(Wallet.create())
        self.assertIn("did not certify", self.invalid(session.receipt, session.place_order(**BID)))

    def test_notes_that_are_no_chain(self):
        session = self.client(KEYS["old"]).sign_in(Wallet.create())
        file = session.receipt(session.place_order(**BID))
        for notes, reason in KEYS["refused"]:
            self.assertIn(reason, self.invalid(check_receipt, file, KEYS["old"], notes))
        for notes in (None, [1], "x"):
            self.invalid(check_receipt, file, KEYS["old"], notes)


if __name__ == "__main__":
    unittest.main()

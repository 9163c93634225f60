import hashlib
import unittest

from perpgate import ed25519
from perpgate.secp256k1 import keccak256, recover, sign
from perpgate.wallet import Wallet, checksum_address, recover_address, siwe_text
from support import made_vectors, public_vectors


class Ed25519(unittest.TestCase):
    def test_wycheproof(self):
        counts = {"valid": 0, "invalid": 0}
        for group in public_vectors("wycheproof", "ed25519_test.json")["testGroups"]:
            key = bytes.fromhex(group["publicKey"]["pk"])
            for case in group["tests"]:
                message, signature = bytes.fromhex(case["msg"]), bytes.fromhex(case["sig"])
                for verify in (ed25519.verify, ed25519.verify_in_python):
                    is_valid = verify(key, message, signature)
                    self.assertEqual(is_valid, case["result"] == "valid", (case["tcId"], case["comment"]))
                counts[case["result"]] += 1
        self.assertEqual(counts, {"valid": 88, "invalid": 63})

    def test_signatures_are_the_same_with_and_without_cryptography(self):
        for number in range(8):
            key = ed25519.SigningKey(hashlib.sha256(b"%d" % number).digest())
            message = bytes(range(number * 7))
            signature = key.sign_in_python(message)
            self.assertEqual(key.sign(message), signature)
            self.assertTrue(ed25519.verify(key.public_key, message, signature))
            self.assertFalse(ed25519.verify_in_python(key.public_key, message + b"x", signature))

    def test_rfc_8032(self):
        key = ed25519.SigningKey(bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
        self.assertEqual(key.public_key.hex(), "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        expected = (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        )
        self.assertEqual(key.sign_in_python(b"\x72").hex(), expected)

    def test_keys_that_verify_what_nobody_signed_are_refused(self):
        identity = b"\x01" + bytes(31)
        forged = identity + bytes(32)
        for key in (identity, b"\x01" + bytes(30) + b"\x80", (2**255 - 18).to_bytes(32, "little"), bytes(32)):
            self.assertFalse(ed25519.verify(key, b"m", forged))
            self.assertFalse(ed25519.verify_in_python(key, b"m", forged))

    def test_an_r_of_small_order_is_refused(self):
        key = ed25519.SigningKey(bytes(31) + b"\x07")
        digest = hashlib.sha512(key.seed).digest()
        scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
        r = b"\x01" + bytes(31)
        order = 2**252 + 27742317777372353535851937790883648493
        h = int.from_bytes(hashlib.sha512(r + key.public_key + b"m").digest(), "little")
        signature = r + (h * scalar % order).to_bytes(32, "little")
        self.assertFalse(ed25519.verify(key.public_key, b"m", signature))
        self.assertFalse(ed25519.verify_in_python(key.public_key, b"m", signature))


class Secp256k1(unittest.TestCase):
    def test_wycheproof(self):
        """A signature is valid if one of the keys that it may be of is the key."""
        counts = {"valid": 0, "invalid": 0}
        for group in public_vectors("wycheproof", "ecdsa_secp256k1_sha256_p1363_test.json")["testGroups"]:
            point = bytes.fromhex(group["publicKey"]["uncompressed"])
            key = int.from_bytes(point[1:33], "big"), int.from_bytes(point[33:], "big")
            for case in group["tests"]:
                digest = hashlib.sha256(bytes.fromhex(case["msg"])).digest()
                data = bytes.fromhex(case["sig"])
                r, s = int.from_bytes(data[:32], "big"), int.from_bytes(data[32:], "big")
                is_valid = len(data) == 64 and any(recover(digest, r, s, each) == key for each in range(4))
                self.assertEqual(is_valid, case["result"] == "valid", (case["tcId"], case["comment"]))
                counts[case["result"]] += 1
        self.assertEqual(sum(counts.values()), 252)
        self.assertGreater(min(counts.values()), 50)

    def test_signing_is_deterministic_rfc_6979(self):
        r, s, _ = sign(1, hashlib.sha256(b"Satoshi Nakamoto").digest())
        self.assertEqual(f"{r:x}", "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8")
        self.assertEqual(f"{s:x}", "2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5")

    def test_keccak_over_every_length_of_a_block(self):
        self.assertEqual(keccak256(b"").hex(), "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
        for text, digest in made_vectors("keccak"):
            self.assertEqual(keccak256(bytes.fromhex(text)).hex(), digest)


class Wallets(unittest.TestCase):
    def test_address_of_a_key(self):
        wallet = Wallet("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
        self.assertEqual(wallet.address, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
        self.assertNotIn("ac0974", repr(wallet))
        for wrong in ("", "0x00", "00" * 32, "ff" * 32, "zz" * 32):
            self.assertRaises(ValueError, Wallet, wrong)

    def test_signatures_are_those_of_viem(self):
        for case in made_vectors("wallets"):
            wallet = Wallet(case["privateKey"])
            self.assertEqual(wallet.address, case["address"])
            self.assertEqual(wallet.sign_message(case["message"]), case["signature"])
            self.assertEqual(recover_address(case["message"], case["signature"]), case["address"])
            self.assertNotEqual(recover_address(case["message"] + " ", case["signature"]), case["address"])

    def test_sign_in_messages_are_those_of_the_sdk(self):
        for case in made_vectors("messages"):
            self.assertEqual(siwe_text(**case["fields"]), case["text"])

    def test_sign_in_messages_parse_as_eip_4361(self):
        """The positive vectors: what this package writes, other than its resource, is one of their shapes."""
        for name, case in public_vectors("siwe", "verification_positive.json").items():
            resources = case.get("resources") or []
            text = "\n".join(
                [f"{case['domain']} wants you to sign in with your Ethereum account:", case["address"], ""]
                + ([case["statement"], ""] if case.get("statement") else [""])
                + [f"URI: {case['uri']}", f"Version: {case['version']}", f"Chain ID: {case['chainId']}"]
                + [f"Nonce: {case['nonce']}", f"Issued At: {case['issuedAt']}"]
                + ([f"Expiration Time: {case['expirationTime']}"] if case.get("expirationTime") else [])
                + ([f"Not Before: {case['notBefore']}"] if case.get("notBefore") else [])
                + (["Resources:", *(f"- {each}" for each in resources)] if resources else [])
            )
            self.assertEqual(recover_address(text, case["signature"]), checksum_address(case["address"]), name)

    def test_caps_never_grow_and_the_statement_is_one_line(self):
        fields = {"domain": "a", "address": "0x", "uri": "u", "nonce": "n", "session_key": "k", "issued_at": 0}
        self.assertIn("maxNotional=0.1234567"[:-1], siwe_text(**fields, max_notional=0.1234569))
        for wrong in ({"max_notional": 0}, {"max_notional": 1e9}, {"symbols": []}, {"statement": "a\nb"}):
            self.assertRaises(ValueError, siwe_text, **fields, **wrong)

import struct
import unittest

from perpgate.msgpack import unpack
from support import made_vectors, public_vectors


class MessagePack(unittest.TestCase):
    def test_suite(self):
        """Every encoding of every value that the venue may send; extension types are refused."""
        checked = 0
        for name, cases in public_vectors("msgpack", "msgpack-test-suite.json").items():
            for case in cases:
                kind = next(key for key in case if key != "msgpack")
                for text in case["msgpack"]:
                    data = bytes.fromhex(text.replace("-", ""))
                    if kind in ("ext", "timestamp"):
                        self.assertRaises(ValueError, unpack, data)
                        continue
                    value = case[kind]
                    if kind == "binary":
                        value = bytes.fromhex(value.replace("-", ""))
                    elif "bignum" in case:
                        value = int(case["bignum"])
                    self.assertEqual(unpack(data), value, (name, text))
                    checked += 1
        self.assertGreater(checked, 200)

    def test_frames_of_the_server(self):
        for case in made_vectors("frames"):
            self.assertEqual(unpack(bytes.fromhex(case["bytes"])), case["frame"])

    def test_whole_numbers_are_int_and_others_float(self):
        time = unpack(b"\xcb" + struct.pack(">d", 1780318800000.0))
        self.assertEqual((time, type(time)), (1780318800000, int))
        self.assertEqual(type(unpack(b"\xcb" + struct.pack(">d", 0.5))), float)
        self.assertEqual(type(unpack(b"\xcb" + struct.pack(">d", float("inf")))), float)

    def test_every_truncation_is_refused(self):
        whole = bytes.fromhex("83a174a26f6ba173c0a16492cb3ff8000000000000c403010203")
        self.assertEqual(unpack(whole), {"t": "ok", "s": None, "d": [1.5, b"\x01\x02\x03"]})
        for length in range(len(whole)):
            self.assertRaises(ValueError, unpack, whole[:length])
        self.assertRaises(ValueError, unpack, whole + b"\x00")

    def test_hostile_bytes(self):
        for data in (
            b"\x91" * 10_000 + b"\xc0",  # deep arrays
            b"\x81\xa1a" * 10_000 + b"\xc0",  # deep maps
            b"\xdd\xff\xff\xff\xff",  # lengths without bytes
            b"\xdf\xff\xff\xff\xff\xa1a\xc0",
            b"\xc6\xff\xff\xff\xff",
            b"\xdb\xff\xff\xff\xff",
            b"\xdd\x00\x20\x00\x00" + b"\x80" * 2**21,  # two million empty maps
            b"\x82\xa1a\x01\xa1a\x02",  # a key twice
            b"\x81\x01\x02",  # a key that is no text
            b"\xa2\xff\xfe",  # no UTF-8
            b"\xc1",
        ):
            self.assertRaises(ValueError, unpack, data)

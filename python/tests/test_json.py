import unittest
from decimal import Decimal

from perpgate.strict_json import dump_json, is_count, parse_json
from perpgate.types import Order, fields_of, operation_of
from support import made_vectors


class StrictJson(unittest.TestCase):
    def test_reading_refuses_what_two_readers_could_read_differently(self):
        numbers = ("9007199254740992", "-9007199254740992", "NaN", "Infinity", "1" * 100_000)
        for text in ('{"a":1,"a":1}', *numbers, "[" * 100_000, "", "{", b"\xff"):
            self.assertRaises(ValueError, parse_json, text)
        self.assertEqual(parse_json('{"a":[9007199254740991,0.1,null]}'), {"a": [2**53 - 1, 0.1, None]})

    def test_counts(self):
        self.assertTrue(is_count(0) and is_count(2**53 - 1))
        for value in (2**53, -1, 1.0, True, "1", None):
            self.assertFalse(is_count(value))

    def test_decimals_are_written_as_they_are(self):
        value = {"a": Decimal("65000.10"), "b": [Decimal("1E-5"), 0.00001, 0.1, 100.0, 1e-9, -0.0]}
        self.assertEqual(dump_json(value), '{"a":65000.10,"b":[0.00001,0.00001,0.1,100,1E-9,0]}')
        for wrong in (float("nan"), float("inf"), Decimal("NaN"), {1, 2}, b"x"):
            self.assertRaises((ValueError, TypeError), dump_json, wrong)


class Bodies(unittest.TestCase):
    def test_orders_have_the_bytes_that_the_sdk_gives_them(self):
        known = list(Order.__annotations__)
        for case in made_vectors("orders"):
            shuffled = dict(reversed(list(case["order"].items())))
            fields = fields_of("an order", shuffled, known)
            self.assertEqual(dump_json({**fields, "nonce": case["nonce"]}), case["text"])

    def test_fields_are_those_of_the_interface(self):
        expected = made_vectors("fields")
        for op in ("place", "amend"):
            operation = operation_of({"op": op, **dict.fromkeys(expected[op], "1")})
            self.assertEqual(list(operation), ["op", *expected[op]])
        self.assertEqual(list(Order.__annotations__), [*expected["place"], "validUntil", "nonce"])

    def test_unknown_fields_are_refused(self):
        misspelt = {"symbol": "A", "time_in_force": "ioc"}
        self.assertRaises(TypeError, fields_of, "an order", misspelt, list(Order.__annotations__))
        for wrong in ({"op": "place", "nonce": 1}, {"op": "cancel", "price": 1}, {"op": "buy"}, {}):
            self.assertRaises(TypeError, operation_of, wrong)

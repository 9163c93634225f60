import random
import unittest

from perpgate.book import Book, BookError, mix32, unpack_side
from support import made_vectors


def snapshot(bids=b"", asks=b"", total=0, seq=10, **more):
    frame = {"type": "snapshot", "seq": seq, "block": 1, "time": 5, "tick": 0.1, "lot": 0.00001}
    return {**frame, "bids": bids, "asks": asks, "sum": total, **more}


class Side(unittest.TestCase):
    def test_example_of_the_docs(self):
        self.assertEqual(unpack_side(bytes.fromhex("ad0993db11981f"), -1), [(650000, 1538), (649998, 0)])

    def test_checksum_table_of_the_docs(self):
        for side, tick, lots, expected in (
            (-1, 650000, 1538, 2734640256),
            (1, 650000, 1538, 3761293975),
            (1, 650001, 1538, 3375671114),
            (-1, 1, 1, 2231295097),
            (1, 8589934592, 9007199254740991, 3370107204),
        ):
            self.assertEqual(mix32(side, tick, lots), expected)

    def test_sides_that_the_server_packs(self):
        for case in made_vectors("sides"):
            side = -1 if case["side"] == "bid" else 1
            levels = unpack_side(bytes.fromhex(case["bytes"]), side)
            self.assertEqual(levels, [tuple(level) for level in case["levels"]])
            self.assertEqual(sum(mix32(side, *level) for level in levels) % 2**32, case["sum"])

    def test_any_bytes_end(self):
        """Each is read, or refused; none takes long or raises anything else."""
        for seed in range(2000):
            source = random.Random(seed)
            data = bytes(source.randrange(256) for _ in range(source.randrange(1, 40)))
            try:
                levels = unpack_side(data, source.choice((-1, 1)))
            except BookError:
                continue
            self.assertTrue(all(0 < tick < 2**53 and 0 <= lots < 2**53 for tick, lots in levels), seed)

    def test_what_is_no_bytes(self):
        for data in (None, "ad", [[1, 2]], 5):
            self.assertRaises(BookError, unpack_side, data, 1)


class Mirror(unittest.TestCase):
    BID = bytes.fromhex("ad0993db11981f")

    def test_snapshot_then_changes(self):
        book = Book("BTCUSD")
        book.apply(snapshot(self.BID, total=2734640256))
        self.assertEqual((book.is_live, book.seq, book.best_ask), (True, 10, None))
        self.assertEqual(book.best_bid, (65000, 0.01538))
        book.apply({"type": "delta", "seq": 12, "prev": 10, "time": 6, "bids": b"", "asks": b"", "sum": 2734640256})
        self.assertEqual((book.seq, book.bids()), (12, [(65000, 0.01538)]))

    def test_a_frame_that_does_not_fit_empties_the_book(self):
        delta = {"type": "delta", "seq": 12, "prev": 10, "time": 6, "bids": b"", "asks": b"", "sum": 2734640256}
        for change in (
            {"prev": 9},
            {"seq": 10},
            {"sum": 1},
            {"sum": None},
            {"bids": b"\xff\xff\xff"},
            {"bids": "text"},
            {"type": "other"},
            {"seq": 1.5},
            {"seq": -1},
            {"asks": None},
        ):
            book = Book("BTCUSD")
            book.apply(snapshot(self.BID, total=2734640256))
            self.assertRaises(BookError, book.apply, {**delta, **change})
            self.assertEqual((book.is_live, book.bids(), book.sum), (False, [], 0))
        units = (snapshot(tick=0), snapshot(tick="0.1"), snapshot(lot=True))
        for wrong in (None, [], "x", {}, {"type": "snapshot"}, *units):
            self.assertRaises(BookError, Book("BTCUSD").apply, wrong)

    def test_random_changes_as_a_plain_table_has_them(self):
        """Deltas that the TypeScript package packed, one after the other, against the levels it had."""
        book = Book("BTCUSD")
        for frame in made_vectors("mirror"):
            packed = {name: bytes.fromhex(frame["payload"][name]) for name in ("bids", "asks")}
            book.apply({**frame["payload"], **packed})
            self.assertEqual([list(level) for level in book.bids()], frame["bids"])
            self.assertEqual([list(level) for level in book.asks()], frame["asks"])
            self.assertEqual([list(level) for level in book.bids(3)], frame["bids"][:3])

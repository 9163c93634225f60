"""The WebSocket client and the streams, against servers that misbehave."""

import base64
import hashlib
import json
import struct
import threading
import time
import tracemalloc
import unittest

from perpgate import Client, PerpgateError
from perpgate.stream import Stream
from perpgate.websocket import FrameReader
from support import Server, read_request, refusal


def pack(value):
    """MessagePack of what a test sends."""
    if isinstance(value, bytes):
        return b"\xc4" + bytes([len(value)]) + value
    if isinstance(value, str):
        return b"\xd9" + bytes([len(value.encode())]) + value.encode()
    if isinstance(value, dict):
        return b"\xde" + struct.pack(">H", len(value)) + b"".join(pack(each) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))
    return b"\xcb" + struct.pack(">d", value)


def frame(data, opcode=2, is_last=True):
    size = len(data)
    head = bytes([size]) if size < 126 else b"\x7e" + struct.pack(">H", size & 0xFFFF)
    if size >= 2**16:
        head = b"\x7f" + struct.pack(">Q", size)
    return bytes([(0x80 if is_last else 0) | opcode]) + head + data


def upgrade(connection):
    request = read_request(connection)
    key = next(line.split(b": ")[1] for line in request.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key"))
    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")


def read_message(connection):
    """One masked text message, or None for a pong."""

    def exactly(count):
        data = b""
        while len(data) < count:
            part = connection.recv(count - len(data))
            if not part:
                raise ConnectionError("closed")
            data += part
        return data

    first, size = exactly(2)
    size = struct.unpack(">H", exactly(2))[0] if size == 0xFE else size & 127
    mask, data = exactly(4), exactly(size)
    plain = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
    return json.loads(plain) if first == 0x81 else (first & 15, plain)


def gateway(*events, received=None, seq=5, after=lambda connection: time.sleep(30)):
    """Takes one subscription, sends the events, then does `after`."""

    def serve(connection):
        upgrade(connection)
        message = read_message(connection)
        if received is not None:
            received.append(message)
        ok = {"op": "subscribe", "id": message["id"], "streams": message["streams"], "seq": seq}
        connection.sendall(frame(pack({"t": "ok", "d": ok})))
        for event in events:
            connection.sendall(event if isinstance(event, bytes) else frame(pack(event)))
        after(connection)

    return serve


class Frames(unittest.TestCase):
    def test_frames_split_anywhere(self):
        data = frame(b"a" * 10, is_last=False) + frame(b"ping", 9) + frame(b"b" * 300, 0) + frame(b"c" * 70_000)
        whole = FrameReader().feed(data)
        self.assertEqual([len(each.data) for each in whole], [4, 310, 70_000])
        reader, found = FrameReader(), []
        for at in range(0, len(data), 97):
            found += reader.feed(data[at : at + 97])
        self.assertEqual(found, whole)

    def test_malformed_frames(self):
        for data in (
            frame(b"x", 1),  # text
            frame(b"x", 3),
            b"\xc2\x00",  # an extension's bit
            b"\x82\x80\x00\x00\x00\x00",  # masked
            frame(b"x", 0),  # continues nothing
            frame(b"x", is_last=False) + frame(b"y"),
            frame(b"x", 9, is_last=False),
            b"\x89\x7e\x00\x80" + bytes(128),  # a long ping
            b"\x82\x7f" + struct.pack(">Q", 2**63),
            b"\x82\x7f" + struct.pack(">Q", 2**24 + 1),
        ):
            with self.assertRaises(PerpgateError) as caught:
                FrameReader().feed(data)
            self.assertEqual(caught.exception.code, "malformed_frame")

    def test_fragments_without_end_are_bounded(self):
        reader = FrameReader(max_bytes=1000)
        reader.feed(frame(b"x" * 900, is_last=False))
        self.assertRaises(PerpgateError, reader.feed, frame(b"x" * 101, 0, is_last=False))

    def test_an_announced_length_takes_no_memory(self):
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        FrameReader().feed(b"\x82\x7f" + struct.pack(">Q", 2**24))
        self.assertLess(tracemalloc.get_traced_memory()[1], 2**20)


class Streams(unittest.TestCase):
    def open(self, *serve, token=None, timeout=3.0, **options):
        self.server = Server(*serve)
        self.addCleanup(self.server.close)
        client = Client(self.server.url, timeout=timeout)
        stream = Stream(client.http, None if token is None else lambda: token, **options)
        self.addCleanup(stream.close)
        return stream

    def test_a_lost_connection_resumes_after_the_last_position(self):
        received = []
        fill = lambda seq: {"t": "fills", "d": {"type": "update", "seq": seq, "fills": []}}
        cut = lambda connection: connection.close()
        stream = self.open(
            gateway(fill(7), received=received, after=cut),
            gateway(fill(7), fill(9), received=received, after=cut),
            gateway(fill(11), received=received),
            token="t",
        )
        stream.subscribe("fills")
        self.assertEqual([stream.next(20).data["seq"] for _ in range(3)], [7, 9, 11])
        self.assertEqual([each.get("since") for each in received], [None, 7, 9])
        self.assertEqual(stream.connections, 3)

    def test_before_a_frame_came_the_position_is_that_of_the_subscription(self):
        received = []
        stream = self.open(
            gateway(received=received, seq=5, after=lambda connection: connection.close()),
            gateway({"t": "fills", "d": {"type": "gap", "since": 5, "seq": 2}}, received=received),
            token="t",
        )
        stream.subscribe("fills")
        self.assertEqual(stream.next(20).data["type"], "gap")
        self.assertEqual(received[1]["since"], 5)

    def test_a_time_out_within_a_frame_loses_nothing(self):
        trades = frame(pack({"t": "trades", "s": "BTCUSD", "d": [{"id": "1"}]}))
        proceed = threading.Event()

        def rest(connection):
            proceed.wait(20)
            connection.sendall(trades[9:])
            time.sleep(20)

        stream = self.open(gateway(trades[:9], after=rest))
        stream.subscribe("trades.BTCUSD")
        self.assertIsNone(stream.next(0.05))
        self.assertIsNone(stream.next(0))
        proceed.set()
        self.assertEqual(stream.next(20), ("trades.BTCUSD", [{"id": "1"}]))

    def test_a_wrong_book_is_empty_and_asked_for_again(self):
        wrong = {"type": "snapshot", "seq": 5, "time": 1, "tick": 0.1, "lot": 1, "bids": b"", "asks": b"", "sum": 3}
        received = []

        def again(connection):
            received.append(read_message(connection))
            connection.sendall(frame(pack({"t": "book", "s": "BTCUSD", "d": {**wrong, "sum": 0}})))
            time.sleep(20)

        stream = self.open(gateway({"t": "book", "s": "BTCUSD", "d": wrong}, after=again))
        book = stream.book("BTCUSD")
        self.assertEqual((stream.next(20).data, book.is_live), (book, False))
        self.assertEqual((stream.next(20).data, book.is_live), (book, True))
        self.assertEqual((received[0]["op"], received[0]["streams"]), ("subscribe", ["book.BTCUSD"]))
        self.assertEqual(stream.connections, 1)

    def test_a_book_that_is_always_wrong_is_asked_for_with_pauses(self):
        wrong = {"type": "snapshot", "seq": 5, "time": 1, "tick": 0.1, "lot": 1, "bids": b"", "asks": b"", "sum": 3}
        asked = []

        def always(connection):
            while True:
                asked.append(read_message(connection))
                connection.sendall(frame(pack({"t": "book", "s": "BTCUSD", "d": wrong})))

        stream = self.open(gateway({"t": "book", "s": "BTCUSD", "d": wrong}, after=always))
        stream.book("BTCUSD")
        ends = time.monotonic() + 1
        while time.monotonic() < ends:
            stream.next(0.05)
        self.assertIn(len(asked), (1, 2, 3))

    def test_the_book_is_empty_while_the_connection_is_lost(self):
        good = {"type": "snapshot", "seq": 5, "time": 1, "tick": 0.1, "lot": 1, "bids": b"", "asks": b"", "sum": 0}
        event = {"t": "book", "s": "BTCUSD", "d": good}
        stream = self.open(gateway(event, after=lambda connection: connection.close()), gateway(event))
        book = stream.book("BTCUSD")
        found = [(stream.next(20).data, book.is_live)[1] for _ in range(3)]
        self.assertEqual(found, [True, False, True])

    def test_pings_are_answered(self):
        answers = []
        stream = self.open(
            gateway(frame(b"hello", 9), after=lambda connection: answers.append(read_message(connection)))
        )
        stream.subscribe("blocks")
        ends = time.monotonic() + 20
        while not answers and time.monotonic() < ends:
            stream.next(0.05)
        self.assertEqual(answers, [(10, b"hello")])

    def test_frames_that_cannot_be_read_end_the_connection_and_not_the_stream(self):
        fill = {"t": "fills", "d": {"type": "update", "seq": 9, "fills": []}}
        hostile = [
            frame(b"\x91" * 5000),
            frame(b""),
            frame(pack([1])),
            frame(pack({"t": "fills", "d": {"seq": "x"}})),
            b"\x83\x00",
            b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
            frame(struct.pack(">H", 1001) + b"stopping", 8),
            frame(b"", 8),
        ]
        for data in hostile:
            stream = self.open(gateway(data), gateway(fill), token="t")
            stream.subscribe("fills")
            self.assertEqual(stream.next(20), ("fills", fill["d"]), data[:20])
            stream.close()

    def test_what_a_new_connection_cannot_mend_is_raised(self):
        def refuse(connection):
            read_request(connection)
            connection.sendall(refusal(401, "invalid_token"))

        closed = lambda code: gateway(frame(struct.pack(">H", code) + b"why", 8))
        for serve, code, status in (
            ([closed(4401)], "closed", 4401),
            ([closed(1008)], "closed", 1008),
            ([gateway(after=lambda connection: connection.close()), refuse], "invalid_token", 401),
        ):
            stream = self.open(*serve, token="t")
            stream.subscribe("fills")
            with self.assertRaises(PerpgateError) as caught:
                stream.next(20)
            self.assertEqual((caught.exception.code, caught.exception.status), (code, status))

    def test_a_refused_stream_is_raised_by_subscribe(self):
        def serve(connection):
            upgrade(connection)
            message = read_message(connection)
            error = {"code": "unknown_stream", "message": "No.", "requestId": "r", "stream": "x", "id": message["id"]}
            connection.sendall(frame(pack({"t": "error", "d": error})))
            connection.sendall(frame(pack({"t": "ok", "d": {"id": message["id"], "streams": [], "seq": 1}})))
            time.sleep(20)

        stream = self.open(serve)
        with self.assertRaises(PerpgateError) as caught:
            stream.subscribe("x")
        self.assertEqual(caught.exception.code, "unknown_stream")
        self.assertIsNone(stream.next(0.01))

    def test_upgrades_that_are_none(self):
        def answering(data):
            def serve(connection):
                read_request(connection)
                connection.sendall(data)
                time.sleep(5)

            return serve

        for data, code in (
            (b"HTTP/1.1 101 X\r\nSec-WebSocket-Accept: wrong\r\n\r\n", "malformed_frame"),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", "malformed_frame"),
            (b"nonsense\r\n\r\n", "malformed_frame"),
            (b"x" * 20_000, "malformed_frame"),
            (b"HTTP/1.1 101", "timed_out"),
            (refusal(403, "origin_not_allowed"), "origin_not_allowed"),
        ):
            stream = self.open(answering(data), timeout=0.5)
            with self.assertRaises(PerpgateError) as caught:
                stream.subscribe("blocks")
            self.assertEqual(caught.exception.code, code, data[:40])

    def test_a_silent_server_is_left(self):
        block = {"t": "blocks", "d": {"number": 1}}
        stream = self.open(gateway(), gateway(block), silence=0.3)
        stream.subscribe("blocks")
        self.assertEqual(stream.next(20).data, {"number": 1})
        self.assertEqual(stream.connections, 2)

    def test_pings_count_as_life(self):
        def pinging(connection):
            while True:
                connection.sendall(frame(b"", 9))
                time.sleep(0.05)

        stream = self.open(gateway(after=pinging), silence=1.0)
        stream.subscribe("blocks")
        self.assertIsNone(stream.next(2.5))
        self.assertEqual(stream.connections, 1)

    def test_a_server_that_never_answers_a_subscription(self):
        def mute(connection):
            upgrade(connection)
            time.sleep(20)

        stream = self.open(mute, timeout=0.3)
        with self.assertRaises(PerpgateError) as caught:
            stream.subscribe("blocks")
        self.assertEqual(caught.exception.code, "timed_out")

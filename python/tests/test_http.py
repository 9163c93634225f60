"""Retries and time-outs, against servers that misbehave."""

import time
import unittest

from perpgate import Client, PerpgateError, Wallet
from perpgate.ed25519 import SigningKey
from perpgate.http import MAX_BODY_BYTES, Http
from perpgate.session import Session
from perpgate.strict_json import parse_json
from support import Server, http_answer, read_request, refusal

ACK = {"ackNonce": "7", "orderId": "7", "expectedBlock": 1, "status": "resting"}
ORDER = {"symbol": "BTCUSD", "side": "long", "type": "limit", "margin": 1, "leverage": 1, "price": 5}


class Scripted:
    """Answers the requests of all connections with the given answers, in order; b"" cuts the connection."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        self.server = Server(self._serve)
        self.url = self.server.url

    def _serve(self, connection):
        while True:
            self.requests.append(read_request(connection))
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if answer == b"":
                connection.close()
                return
            connection.sendall(answer)


class HttpTest(unittest.TestCase):
    def server(self, *answers):
        scripted = Scripted(*answers)
        self.addCleanup(scripted.server.close)
        return scripted

    def client(self, url, **options):
        client = Client(url, **options)
        self.addCleanup(client.close)
        return client

    def session(self, scripted, **options):
        return Session(self.client(scripted.url, **options), "0x", "t.5", 0, SigningKey(bytes(32)))

    def failure(self, call, *args, **kwargs):
        with self.assertRaises(PerpgateError) as caught:
            call(*args, **kwargs)
        return caught.exception

    def test_an_order_without_an_answer_is_sent_again_with_the_same_bytes(self):
        scripted = self.server(
            b"",
            refusal(503, "not_executed"),
            refusal(503, "outcome_unknown"),
            refusal(429, "rate_limited", "retry-after: 0"),
            http_answer(200, ACK, "idempotent-replay: true"),
        )
        ack = self.session(scripted).place_order(**ORDER)
        self.assertEqual(ack, {**ACK, "replayed": True})
        self.assertEqual(len(scripted.requests), 5)
        self.assertEqual(len(set(scripted.requests)), 1)
        head, _, body = scripted.requests[0].partition(b"\r\n\r\n")
        self.assertIn(SigningKey(bytes(32)).sign(body).hex().encode(), head)

    def test_the_connection_is_kept(self):
        scripted = self.server(http_answer(200, []))
        client = self.client(scripted.url)
        for _ in range(3):
            client.markets()
        self.assertEqual(scripted.server.connections, 1)

    def test_what_is_refused_is_not_sent_again(self):
        scripted = self.server(refusal(400, "price_not_on_tick", field="price", details={"tick": 0.1}))
        error = self.failure(self.session(scripted).place_order, **ORDER)
        self.assertEqual((error.code, error.status, error.field), ("price_not_on_tick", 400, "price"))
        self.assertEqual((error.request_id, error.outcome, error.attempts), ("r1", "refused", 1))
        self.assertEqual(error.details, {"tick": 0.1})
        self.assertIsNotNone(error.nonce)

    def test_outcomes(self):
        """What is known of an order after the last answer."""
        for answers, repeat, expected in (
            ([refusal(503, "not_executed")], False, "refused"),
            ([refusal(503, "outcome_unknown")], False, "unknown"),
            ([refusal(503, "stopped")], False, "unknown"),
            ([refusal(503, "overloaded")], False, "refused"),
            ([b"", refusal(400, "insufficient_margin")], False, "refused"),
            ([b"", refusal(401, "invalid_token")], False, "unknown"),
            ([b"", refusal(400, "nonce_too_old")], False, "unknown"),
            ([b"", http_answer(404, b"<html>")], False, "unknown"),
            ([http_answer(404, b"<html>")], False, "refused"),
            ([http_answer(200, b"<html>")], False, "unknown"),
            ([refusal(401, "invalid_token")], True, "unknown"),
            ([refusal(400, "nonce_too_old")], True, "unknown"),
            ([refusal(409, "nonce_conflict")], True, "refused"),
        ):
            session = self.session(self.server(*answers), retries=1, budget=0.3)
            error = self.failure(session.place_order, **ORDER, **({"nonce": 5} if repeat else {}))
            self.assertEqual(error.outcome, expected, (answers, error))

    def test_a_server_that_is_not_there(self):
        scripted = Scripted(b"")
        scripted.server.close()
        error = self.failure(self.session(scripted, retries=1).place_order, **ORDER)
        self.assertEqual((error.code, error.outcome, error.attempts), ("no_answer", "not_sent", 2))

    def test_a_slow_server_ends_at_the_time_out_of_the_whole_answer(self):
        def drip(connection):
            for byte in http_answer(200, []) + b" " * 1000:
                connection.sendall(bytes([byte]))
                time.sleep(0.05)

        for serve in (drip, lambda connection: time.sleep(5)):
            server = Server(serve)
            self.addCleanup(server.close)
            began = time.monotonic()
            error = self.failure(self.client(server.url, timeout=0.4, retries=0).markets)
            self.assertEqual((error.code, error.outcome), ("timed_out", "unknown"))
            self.assertLess(time.monotonic() - began, 3)

    def test_answers_that_are_none(self):
        half = http_answer(200, [1, 2, 3])[:-2]
        for answer, code in (
            (http_answer(200, b'{"a":1,"a":2}'), "unexpected_answer"),
            (http_answer(200, b"[" * 50_000), "unexpected_answer"),
            (http_answer(200, {"not": "a list"}), "unexpected_answer"),
            (http_answer(200, b"\xff\xfe"), "unexpected_answer"),
            (http_answer(302, b""), "unexpected_answer"),
            (b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * 70_000 + b"\r\n\r\n", "no_answer"),
            (b"garbage\r\n\r\n", "no_answer"),
        ):
            error = self.failure(self.client(self.server(answer).url, retries=0, timeout=2).markets)
            self.assertEqual(error.code, code, answer[:60])

        def cut(connection):
            read_request(connection)
            connection.sendall(half)
            connection.close()

        server = Server(cut)
        self.addCleanup(server.close)
        self.assertEqual(self.failure(self.client(server.url, retries=0).markets).code, "no_answer")

    def test_an_answer_without_end_is_cut(self):
        def flood(connection):
            read_request(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
            for _ in range(MAX_BODY_BYTES // 2**20 + 2):
                connection.sendall(b"1" * 2**20)
            time.sleep(5)

        server = Server(flood)
        self.addCleanup(server.close)
        error = self.failure(self.client(server.url, retries=0, timeout=20).markets)
        self.assertEqual(error.code, "unexpected_answer")

    def test_the_time_budget_bounds_retries(self):
        scripted = self.server(refusal(503, "outcome_unknown", "retry-after: 1"))
        began = time.monotonic()
        error = self.failure(self.session(scripted, budget=0.5).place_order, **ORDER)
        self.assertEqual((error.code, error.outcome), ("outcome_unknown", "unknown"))
        self.assertLess(time.monotonic() - began, 0.5 + 2)

    def test_a_cancel_whose_answer_was_lost(self):
        gone = refusal(409, "order_not_cancelable", details={"status": "canceled"})
        order = {"orderId": "7", "status": "canceled", "remainingSize": 0.5}
        session = self.session(self.server(b"", gone, http_answer(200, order)))
        self.assertEqual(session.cancel_order("7"), order)
        filled = self.session(self.server(b"", gone, http_answer(200, {**order, "status": "filled"})))
        self.assertEqual(self.failure(filled.cancel_order, "7").code, "order_not_cancelable")
        before = self.session(self.server(gone))
        self.assertEqual(self.failure(before.cancel_order, "7").code, "order_not_cancelable")

    def test_a_rotation_whose_answer_was_lost(self):
        """The venue says which key is in force; the other is kept, since the rotation may still happen."""

        def in_force(key):
            return http_answer(200, {"session": {"sessionKey": key}})

        scripted = self.server(b"", refusal(401, "invalid_signature"), in_force("?"))
        session = self.session(scripted, retries=1)
        old = session.session_key
        scripted.answers[-1] = in_force(old)
        self.failure(session.rotate)
        self.assertEqual(session.session_key, old)
        # It is executed late: the next order is refused, and signed again by the new key.
        new = parse_json(scripted.requests[0].partition(b"\r\n\r\n")[2])["newSessionKey"]
        scripted.answers[:] = [in_force(old), refusal(401, "session_key_rotated"), in_force(new), http_answer(200, ACK)]
        session.place_order(**ORDER)
        self.assertEqual(session.session_key, new)
        orders = [each for each in scripted.requests if b"POST /v1/orders " in each]
        self.assertEqual(len({each.partition(b"\r\n\r\n")[2] for each in orders}), 1)
        self.assertEqual(len(set(orders)), 2)

    def test_a_nonce_that_would_change_what_the_wallet_signs(self):
        for nonce in ("short", "abcdefgh\nResources:\n- urn:x", "a" * 300, 5):
            scripted = self.server(http_answer(200, {"nonce": nonce, "expiresAt": 1}))
            error = self.failure(self.client(scripted.url).sign_in, Wallet.create())
            self.assertEqual((error.code, len(scripted.requests)), ("unexpected_answer", 1))

    def test_a_token_that_would_be_more_than_a_header(self):
        for token in ("", "a b", "a\r\nx: y", "é", "a" * 600):
            with self.assertRaises(ValueError):
                Session(self.client("http://127.0.0.1:1"), "0x", token, 0, SigningKey(bytes(32)))

    def test_addresses(self):
        for wrong in ("", "ftp://x", "127.0.0.1:8080", "http://"):
            self.assertRaises(ValueError, Http, wrong)
        self.assertEqual(Http("https://user@example.com:8443/api/").endpoint.authority, "example.com:8443")

"""Against a real venue behind a network that can be cut; packages/sdk/src/python.system.test.ts runs it."""

import json
import os
import stat
import tempfile
import threading
import unittest
from decimal import Decimal

from perpgate import Client, PerpgateError, Wallet, check_order_proof, check_receipt
from perpgate.leaf import acknowledgement_of
from support import ask_runner

URL = os.environ.get("PERPGATE_URL", "")
LOG_KEY = os.environ.get("PERPGATE_LOG_KEY")
BID = {"symbol": "BTCUSD", "side": "long", "type": "limit", "margin": 100, "leverage": 5, "price": 64000}
ASK = {**BID, "side": "short", "price": 66000}


class Live(unittest.TestCase):
    def setUp(self):
        self.client = Client(URL, log_key=LOG_KEY)
        self.addCleanup(self.client.close)

    def sign_in(self, **options):
        session = self.client.sign_in(Wallet.create(), **options)
        self.addCleanup(session.cancel_all)
        return session

    def failure(self, call, *args, **kwargs):
        with self.assertRaises(PerpgateError) as caught:
            call(*args, **kwargs)
        return caught.exception

    def until(self, stream, is_wanted):
        while True:
            event = stream.next(30)
            self.assertIsNotNone(event, "no such event within 30 s")
            if is_wanted(event):
                return event

    def test_reads_of_the_market(self):
        markets = self.client.markets()
        self.assertEqual([each["symbol"] for each in markets][:2], ["BTCUSD", "ETHUSD"])
        self.assertEqual(self.client.book("BTCUSD", depth=1)["symbol"], "BTCUSD")
        self.assertEqual(self.client.ticker("BTCUSD")["mark"], 65000)
        self.assertEqual(len(self.client.tickers()), len(markets))
        for read in (self.client.trades, self.client.candles, self.client.funding):
            self.assertIsInstance(read("BTCUSD", limit=5, start=0), list)
        for candle in self.client.candles("BTCUSD", price="index"):
            self.assertEqual((candle["close"], candle["volume"]), (65000, 0))
        self.assertGreater(self.client.time(), 1_600_000_000_000)
        self.assertEqual(self.client.status()["stage"], "open")
        self.assertIn("attestor", self.client.bridge())
        error = self.failure(self.client.book, "NOSUCH")
        self.assertEqual((error.status, error.outcome), (404, "refused"))
        self.assertTrue(error.request_id)

    def test_sign_in_with_caps_and_an_end(self):
        session = self.sign_in(max_order_notional=1000, symbols=["BTCUSD"], expires_in=3600)
        shown = session.account()["session"]
        self.assertEqual(shown["sessionKey"], session.session_key)
        self.assertEqual(shown["scope"]["maxOrderNotional"], 1000)
        large = self.failure(session.place_order, **{**BID, "margin": 500})
        self.assertEqual(large.code, "session_order_cap_exceeded")
        other = self.failure(session.place_order, **{**BID, "symbol": "ETHUSD"})
        self.assertEqual(other.code, "session_symbol_not_allowed")

    def test_orders_from_placement_to_cancel(self):
        session = self.sign_in()
        order = {**BID, "price": Decimal("64000.10"), "clientOrderId": "mine-1", "postOnly": True}
        ack = session.place_order(**order)
        self.assertEqual((ack["status"], ack["clientOrderId"], ack["replayed"]), ("resting", "mine-1", False))
        self.assertEqual(session.order(ack["orderId"])["price"], 64000.1)
        amended = session.amend_order(clientOrderId="mine-1", price=64100)
        self.assertEqual((amended["orderId"], amended["status"]), (ack["orderId"], "resting"))
        self.assertEqual([each["price"] for each in session.orders()], [64100])
        again = session.place_order(**order, nonce=ack["nonce"])
        self.assertEqual((again["ackNonce"], again["replayed"]), (ack["ackNonce"], True))
        conflict = self.failure(session.place_order, **BID, nonce=ack["nonce"])
        self.assertEqual((conflict.code, conflict.status, conflict.nonce), ("nonce_conflict", 409, ack["nonce"]))
        self.assertEqual(session.cancel_order(clientOrderId="mine-1")["orderId"], ack["orderId"])
        self.assertEqual(self.failure(session.cancel_order, ack["orderId"]).code, "order_not_cancelable")
        off_tick = self.failure(session.place_order, **{**BID, "price": 64000.05})
        self.assertEqual((off_tick.code, off_tick.field), ("price_not_on_tick", "price"))
        self.assertEqual(off_tick.details["below"], 64000)

    def test_exits_from_placement_to_cancel(self):
        session = self.sign_in()
        exits = {"takeProfit": {"price": 64500, "limitPrice": 64400}, "stopLoss": {"price": Decimal("63000.10")}}
        ack = session.place_order(**{**BID, "price": 64000}, **exits)
        first, second = (each["orderId"] for each in ack["exits"])
        self.assertEqual((first, second), (f"{ack['orderId']}.1", f"{ack['orderId']}.2"))
        self.assertEqual(session.order(second)["parentOrderId"], ack["orderId"])
        self.assertEqual([each["orderId"] for each in session.orders()], [ack["orderId"], first, second])
        self.assertEqual(session.amend_order(orderId=second, price=63100)["orderId"], second)
        self.assertEqual(session.cancel_order(first)["orderId"], first)
        wrong = self.failure(session.place_order, **{**BID, "price": 64000}, stopLoss={"price": 64500})
        self.assertEqual((wrong.code, wrong.status), ("exit_price", 400))
        self.assertRaises(TypeError, session.place_order, **BID, stopLoss={"price": 1, "limit": 2})
        session.cancel_all()
        self.assertEqual(session.orders(), [])

    def test_batch_cancel_all_and_the_switch(self):
        session = self.sign_in()
        place = {**BID, "op": "place"}
        results = session.batch(
            [
                {**place, "clientOrderId": "b-1"},
                {"op": "amend", "clientOrderId": "b-1", "price": 64200},
                {**place, "price": 1},
                {"op": "cancel", "clientOrderId": "b-1"},
                {**place, "price": 64300},
            ]
        )["results"]
        self.assertEqual([each["status"] for each in results], [200, 200, 400, 200, 200])
        self.assertGreater(session.cancel_after(60), self.client.time())
        self.assertIsNone(session.cancel_after(0))
        self.assertEqual(session.cancel_all("BTCUSD"), [results[4]["ack"]["orderId"]])
        self.assertEqual(session.cancel_all(), [])

    def test_a_trade_its_position_and_its_money(self):
        maker, taker = self.sign_in(), self.sign_in()
        maker.place_order(**ASK)
        ack = taker.place_order(symbol="BTCUSD", side="long", type="market", size=0.001, leverage=5)
        self.assertEqual((ack["status"], ack["filledSize"], ack["avgFillPrice"]), ("filled", 0.001, 66000))
        (position,) = taker.positions()
        self.assertEqual(position["size"], 0.001)
        self.assertEqual(taker.fills(symbol="BTCUSD", limit=1)[0]["orderId"], ack["orderId"])
        before = position["margin"]
        with self.assertRaises(PerpgateError) as refused:
            taker.withdraw("ethereum", "USDC", 20)
        self.assertEqual(refused.exception.code, "withdrawals_not_supported")
        moved = taker.change_margin("BTCUSD", Decimal("2.5"))
        self.assertAlmostEqual(moved["margin"], before + 2.5)
        total = sum(Decimal(str(each["amount"])) for each in taker.ledger())
        self.assertEqual(total, Decimal(str(taker.account()["balance"])))
        self.assertEqual(taker.funding_payments(), [])
        deposit = taker.deposit("arbitrum", "0x" + "ab" * 32, "USDC")
        self.assertEqual(taker.deposit_by_id(deposit["depositId"])["txHash"], "0x" + "ab" * 32)
        self.assertEqual(len(taker.deposits()), 1)

    def test_rotation_saving_and_ending(self):
        session = self.sign_in()
        old = session.session_key
        self.assertEqual(session.rotate(), session.session_key)
        self.assertNotEqual(old, session.session_key)
        session.place_order(**BID)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "session.json")
            session.save(path)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            restored = self.client.load_session(path)
            self.assertEqual(ask_runner(f"restore {path}"), "resting")  # by the JavaScript SDK
            with open(path, "w", encoding="utf-8") as file:
                file.write(ask_runner("save"))  # by the JavaScript SDK
            foreign = self.client.load_session(path)
            self.assertEqual(foreign.place_order(**BID)["status"], "resting")
            foreign.cancel_all()
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"version":1}')
            self.assertRaises(ValueError, self.client.load_session, path)
        self.assertGreater(restored.place_order(**BID)["nonce"], session.orders()[0]["nonce"])
        session.cancel_all()

    def test_ending_sessions(self):
        wallet = Wallet.create()
        first, second, third = (self.client.sign_in(wallet) for _ in range(3))
        ids = [each["id"] for each in third.sessions()]
        third.end_session(ids[0])
        self.assertEqual(self.failure(first.account).code, "invalid_token")
        third.end_session()
        self.assertEqual(self.failure(second.account).code, "invalid_token")
        third.sign_out()
        self.assertEqual(self.failure(third.account).code, "invalid_token")

    def test_a_stream_goes_on_after_a_cut_without_a_gap_or_a_repeat(self):
        session = self.sign_in()
        placed, seen = [], []
        with session.stream() as stream:
            stream.subscribe("preconfirms", "orders")
            for number in range(12):
                placed.append(session.place_order(**{**BID, "price": 64000 + number})["ackNonce"])
                if number % 4 == 2:
                    ask_runner("cut")
                if number % 3 == 0:
                    seen.append(self.until(stream, lambda each: each.stream == "preconfirms").data["ackNonce"])
            while len(seen) < len(placed):
                seen.append(self.until(stream, lambda each: each.stream == "preconfirms").data["ackNonce"])
            self.assertGreater(stream.connections, 1)
        self.assertEqual(seen, placed)

    def test_since_gives_what_was_missed(self):
        session = self.sign_in()
        first, second = (session.place_order(**BID)["ackNonce"] for _ in range(2))
        with session.stream() as stream:
            stream.subscribe("preconfirms", since=int(first) - 1)
            self.assertEqual([stream.next(30).data["ackNonce"] for _ in range(2)], [first, second])
            self.assertIsNone(stream.next(0.05))
            stream.unsubscribe("preconfirms")
            session.place_order(**BID)
            self.assertIsNone(stream.next(0.05))
        self.assertIsNone(stream.next(0))

    def test_a_mirrored_book_through_a_cut(self):
        session = self.sign_in()
        with self.client.stream() as stream:
            book = stream.book("BTCUSD")
            self.until(stream, lambda _: book.is_live)
            for number in range(10):
                ack = session.place_order(**{**BID, "price": 64000 + 10 * number})
                session.place_order(**{**ASK, "price": 66000 + 10 * number})
                if number == 5:
                    ask_runner("cut")
            last = session.cancel_order(ack["orderId"])
            self.assertEqual(last["status"], "canceled")
            expected = self.client.book("BTCUSD", depth=5000)
            self.until(stream, lambda _: book.is_live and book.seq >= expected["seq"])
            expected = self.client.book("BTCUSD", depth=5000)
            self.assertEqual([list(each) for each in book.bids()], expected["bids"])
            self.assertEqual([list(each) for each in book.asks()], expected["asks"])
            self.assertEqual(list(book.best_ask), expected["asks"][0])
            self.assertGreater(stream.connections, 1)

    def test_cancel_on_disconnect(self):
        session = self.sign_in()
        ack = session.place_order(**BID)
        with session.stream() as stream:
            stream.subscribe("orders")
            stream.cancel_on_disconnect()
            self.assertTrue(session.account()["session"]["cancelOnDisconnect"])
        with session.stream() as stream:
            stream.subscribe("orders", since=int(ack["ackNonce"]))
            found = self.until(stream, lambda each: each.data["orders"][0]["status"] == "canceled")
            self.assertEqual(found.data["orders"][0]["reason"], "disconnected")

    def test_streams_that_are_refused(self):
        with self.client.stream() as stream:
            self.assertEqual(self.failure(stream.subscribe, "nonsense").code, "unknown_stream")
            self.assertEqual(self.failure(stream.subscribe, "fills").code, "token_required")
            refused = self.failure(stream.subscribe, "status", "book.NOSUCH")
            self.assertEqual((refused.code, refused.field), ("market_not_found", "book.NOSUCH"))
            self.assertEqual(self.until(stream, lambda _: True).stream, "status")
        session = self.client.sign_in(Wallet.create())
        stream = session.stream()
        self.addCleanup(stream.close)
        stream.subscribe("fills")
        session.sign_out()
        error = self.failure(stream.next, 30)
        self.assertEqual((error.code, error.status), ("closed", 4401))

    def test_receipts_and_proofs(self):
        session = self.sign_in()
        ack = session.place_order(**BID, clientOrderId="r-1")
        file = session.receipt(ack)
        receipt = check_receipt(file, LOG_KEY)
        self.assertEqual((receipt.position, receipt.block), (int(ack["ackNonce"]), ack["expectedBlock"]))
        batch = session.batch([{**BID, "op": "place"}, {**BID, "op": "place"}])
        for result in batch["results"]:
            session.receipt(result["ack"])
        other = batch["results"][0]["ack"]["ackNonce"]
        for change in ({"expectedBlock": ack["expectedBlock"] + 1}, {"ackNonce": other}):
            self.assertEqual(self.failure(session.receipt, {**ack, **change}).code, "receipt_invalid")
        other_leaf = batch["results"][0]["ack"]["leaf"]
        for change in ({"filledSize": 1}, {"time": 1}, {"leaf": other_leaf}, {"leaf": 5}, {"symbol": "ETHUSD"}):
            self.assertEqual(self.failure(session.receipt, {**ack, **change}).code, "receipt_invalid", change)
        without = {name: value for name, value in ack.items() if name != "receipt"}
        self.assertEqual(self.failure(session.receipt, without).code, "receipt_missing")
        self.assertEqual(self.failure(session.receipt, {**ack, "ackNonce": "1"}).code, "receipt_missing")
        self.assertEqual(self.failure(session.preconfirm, ack["ackNonce"]).code, "not_sealed")
        ask_runner("advance 400")
        ask_runner("checkpoint")
        self.assertEqual(session.preconfirm(ack["ackNonce"])["block"], ack["expectedBlock"])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "order.receipt")
            with open(path, "w", encoding="utf-8") as output:
                json.dump(file, output)
            self.assertEqual(ask_runner(f"judge {path}"), "kept")  # by the JavaScript SDK
        proof = check_order_proof(session.preconfirm_proof(ack["ackNonce"]), LOG_KEY)
        self.assertEqual(proof.leaf_hash, receipt.leaf_hash)
        sealed = acknowledgement_of(proof.leaf, self.client.markets()[proof.leaf["market"]])
        self.assertEqual(sealed, {name: ack[name] for name in sealed})
        block = self.client.block(proof.block["number"])
        self.assertEqual(block["acksRoot"], "0x" + proof.block["acksRoot"].hex())

    def test_receipts_and_proofs_of_cancels(self):
        session = self.sign_in()
        ack = session.place_order(**BID, clientOrderId="r-2")
        canceled = session.cancel_order(clientOrderId="r-2")
        self.assertEqual((canceled["orderId"], canceled["status"]), (ack["orderId"], "canceled"))
        file = session.receipt(canceled)
        receipt = check_receipt(file, LOG_KEY)
        self.assertEqual((receipt.position, file["request"]), (int(canceled["ackNonce"]), ""))
        for change in ({"remainingSize": 5}, {"time": 1}, {"orderId": "1"}):
            self.assertEqual(self.failure(session.receipt, {**canceled, **change}).code, "receipt_invalid", change)
        operations = [{**BID, "op": "place", "clientOrderId": "r-3"}, {"op": "cancel", "clientOrderId": "r-3"}]
        session.receipt(session.batch(operations)["results"][1]["canceled"])
        ask_runner("advance 400")
        ask_runner("checkpoint")
        proof = check_order_proof(session.preconfirm_proof(canceled["ackNonce"]), LOG_KEY)
        self.assertEqual(proof.leaf_hash, receipt.leaf_hash)
        self.assertEqual(session.preconfirm(canceled["ackNonce"])["canceled"]["orderId"], ack["orderId"])

    def test_several_threads_share_a_session(self):
        session = self.sign_in()
        found, failures = [], []

        def trade():
            try:
                for _ in range(5):
                    found.append(session.place_order(**BID)["ackNonce"])
            except PerpgateError as error:
                failures.append(error)
            finally:
                self.client.close()

        threads = [threading.Thread(target=trade) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((failures, len(set(found))), ([], 20))

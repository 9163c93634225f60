"""A session: one sign-in, its token and its key. Trades, and reads the account.

What is signed is serialised once, signed, and sent as these bytes, however often it takes.
"""

import os
import random
import re
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Tuple

from .account import AccountReader
from .ed25519 import SigningKey
from .errors import UNKNOWN, PerpgateError
from .http import Answer, expect, field, json_bytes, path_of
from .receipts import Receipt, check_receipt, log_keys, receipt_file
from .strict_json import Number, dump_json, is_count
from .stream import Stream
from .types import Amendment, Json, Order, fields_of, operation_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .client import Client

_NONCES_PER_MS = 8192
_NONCE_EPOCH_MS = 1_704_067_200_000
#: Acknowledgements whose request is remembered, for `receipt`.
_KEPT_REQUESTS = 1000
_WRONG_KEY = ("invalid_signature", "session_key_rotated")


class Session(AccountReader):
    """Made by ``Client.sign_in`` and ``Client.load_session``. May be used by several threads."""

    def __init__(
        self,
        client: "Client",
        address: str,
        token: str,
        expires_at: int,
        key: SigningKey,
        *,
        next_key: Optional[SigningKey] = None,
        last_nonce: int = 0,
    ) -> None:
        if not re.fullmatch("[!-~]{1,512}", token):
            raise ValueError("a token is printable ASCII")
        self.client = client
        self.http = client.http
        self.address = address
        self.token = token
        #: Unix milliseconds.
        self.expires_at = expires_at
        self._key = key
        # The new key of a rotation whose outcome is not known.
        self._next_key = next_key
        self._last_nonce = last_nonce
        self._requests: "OrderedDict[str, bytes]" = OrderedDict()
        self._lock = threading.Lock()
        self._markets: Optional[List[Json]] = None

    # -- orders ------------------------------------------------------------------------------------

    def place_order(self, **order: "Unpack[Order]") -> Json:
        """Places an order, and returns its acknowledgement with ``replayed``: whether an earlier try was
        executed. Pass ``nonce`` only to repeat an order whose outcome is unknown."""
        known = list(Order.__annotations__)
        return self._submit(path_of("orders"), fields_of("an order", order, known))

    def amend_order(self, **amendment: "Unpack[Amendment]") -> Json:
        """Changes the price, size, limit or expiry of an open order, which keeps its id."""
        target = amendment.get("orderId") or amendment.get("clientOrderId")
        if target is None:
            raise TypeError("name the order by orderId or clientOrderId")
        body = fields_of("an amendment", amendment, list(Amendment.__annotations__))
        return self._submit(path_of("orders", target, "amend"), body)

    def batch(
        self,
        operations: Iterable[Mapping[str, Any]],
        *,
        validUntil: Optional[int] = None,
        nonce: Optional[int] = None,
    ) -> Json:
        """Up to 50 places, amendments and cancels, each with its ``op``, with one signature and nothing of
        anyone else in between. ``results`` has a ``status`` for each, and its ``ack`` or ``error``."""
        body: Json = {"operations": [operation_of(each) for each in operations]}
        if validUntil is not None:
            body["validUntil"] = validUntil
        if nonce is not None:
            body["nonce"] = nonce
        return self._submit(path_of("orders", "batch"), body)

    def change_margin(self, symbol: str, amount: Number, *, nonce: Optional[int] = None) -> Json:
        """Moves dollars from the wallet to the margin of a position; a negative amount moves them back."""
        body: Json = {"symbol": symbol, "amount": amount}
        if nonce is not None:
            body["nonce"] = nonce
        return self._submit(path_of("positions", symbol, "margin"), body)

    def withdraw(self, chain: str, token: str, amount: Number, *, nonce: Optional[int] = None) -> Json:
        """Has dollars paid to the account's own address on a chain; amount and fee leave the wallet immediately."""
        body: Json = {"chain": chain, "token": token, "amount": amount}
        if nonce is not None:
            body["nonce"] = nonce
        return self._submit(path_of("bridge", "withdrawals"), body)

    def cancel_order(self, order_id: Optional[str] = None, *, clientOrderId: Optional[str] = None) -> Json:
        """Cancels one order. One that an earlier try of this call canceled counts as success."""
        if (order_id is None) == (clientOrderId is None):
            raise TypeError("name the order by its id or by clientOrderId")
        target = {"orderId": order_id} if clientOrderId is None else {"clientOrderId": clientOrderId}
        try:
            canceled = expect(dict, self._send("POST", path_of("orders", "cancel"), target).body)
            self._keep(b"", canceled)
            return canceled
        except PerpgateError as error:
            if not error.is_doubtful or error.code not in ("order_not_cancelable", "order_not_found"):
                raise
            query = {"status": "all", "clientOrderId": clientOrderId, "limit": 1}
            found = [self.order(order_id)] if order_id else expect(list, self.get(path_of("orders"), query))
            if not found or field(found[0], "status") != "canceled":
                raise
            return {name: field(found[0], name) for name in ("orderId", "status", "remainingSize")}

    def cancel_all(self, symbol: Optional[str] = None) -> List[str]:
        """Cancels all orders, or all of one market; returns their ids."""
        body = {} if symbol is None else {"symbol": symbol}
        return expect(list, field(self._send("POST", path_of("orders", "cancel-all"), body).body, "canceled"))

    def cancel_after(self, seconds: float) -> Optional[int]:
        """The dead-man's switch: all orders are canceled unless it is called again in time; 0 turns it off.
        Returns when, in Unix milliseconds."""
        body = {"afterMs": round(seconds * 1000)}
        at = field(self._send("POST", path_of("orders", "cancel-after"), body).body, "cancelAt")
        return None if at is None else expect(int, at)

    def deposit(self, chain: str, tx_hash: str, token: str) -> Json:
        """Registers a deposit by its transaction; again, it returns the same deposit."""
        body = {"chain": chain, "txHash": tx_hash, "token": token}
        return expect(dict, self._send("POST", path_of("bridge", "deposit"), body).body)

    def new_nonce(self) -> int:
        """A nonce above all before: the clock's milliseconds followed by random bits, so a session that was
        saved continues above what it has used."""
        with self._lock:
            since_epoch = max(0, int(time.time() * 1000) - _NONCE_EPOCH_MS)
            by_clock = since_epoch * _NONCES_PER_MS + random.randrange(_NONCES_PER_MS)
            self._last_nonce = max(self._last_nonce + 1, by_clock)
            return self._last_nonce

    def stream(self) -> Stream:
        """This account's streams, and the public ones, on a socket of their own."""
        return Stream(self.http, lambda: self.token)

    # -- receipts ----------------------------------------------------------------------------------

    def receipt(self, ack: Mapping[str, Any]) -> Json:
        """Checks the receipt of an order, an amendment or a cancel of this session, one of the last thousand, and returns
        it as a file to save (``perpgate judge`` reads it). Where the answer has its ``leaf``, the numbers
        in it must be those of the answer. Raises ``receipt_missing`` or ``receipt_invalid``."""
        position, body = ack.get("ackNonce"), self._requests.get(str(ack.get("ackNonce")))
        if body is None:
            raise PerpgateError("receipt_missing", f"{position} is not of this session's last requests")
        if not isinstance(ack.get("receipt"), str):
            raise PerpgateError("receipt_missing", f"acknowledgement {position} has no receipt")
        markets = self._known_markets() if "leaf" in ack else []
        file = receipt_file(self.client.venue_keys(), self.address, ack, body, markets)
        file, receipt = self._certified(file)
        session = self.token.rpartition(".")[2]
        if str(receipt.session) != session:
            raise PerpgateError("receipt_invalid", f"it is of session {receipt.session}, not {session}")
        return file

    def _certified(self, file: Json) -> Tuple[Json, Receipt]:
        """The file with the key of the log that certified it: the pinned one, or one that it leads to."""
        try:
            return file, check_receipt(file)
        except PerpgateError as error:
            problem = error
        try:
            notes = self.client.log_successors()
        except PerpgateError:
            # Nothing leads to another key: what was found stands.
            raise problem from None
        for key in log_keys(file["logKey"], notes):
            try:
                named = {**file, "logKey": key}
                return named, check_receipt(named)
            except PerpgateError:
                continue
        raise problem

    def _known_markets(self) -> List[Json]:
        """Units never change after the listing."""
        if self._markets is None:
            self._markets = self.client.markets()
        return self._markets

    # -- the session itself ------------------------------------------------------------------------

    @property
    def session_key(self) -> str:
        """The public key, hex."""
        return self._key.public_key.hex()

    def rotate(self) -> str:
        """Replaces the session key; the token stays. Returns the new public key. Not for use while another
        thread sends an order."""
        self._settle_key()
        key = SigningKey.create()
        body = json_bytes({"newSessionKey": key.public_key.hex()})
        try:
            self._call("POST", path_of("auth", "rotate"), body, self._key.sign(body))
        except PerpgateError as error:
            # A later try signed by the old key is refused if an earlier one was executed.
            if error.outcome != UNKNOWN and not (error.is_doubtful and error.code in _WRONG_KEY):
                raise
            self._next_key = key
            self._settle_key()
            if self._key is not key:
                raise
        self._key, self._next_key = key, None
        return key.public_key.hex()

    def sessions(self) -> List[Json]:
        """The account's live sessions, oldest first."""
        return expect(list, self.get(path_of("auth", "sessions")))

    def end_session(self, session_id: Optional[str] = None) -> Any:
        """Ends another session of the account, or without an id all others."""
        path = path_of("auth", "sessions", *([] if session_id is None else [session_id]))
        return self._call("DELETE", path, None, self._key.sign(f"DELETE {path}".encode())).body

    def sign_out(self) -> None:
        """Ends this session; resting orders stay."""
        try:
            self._send("DELETE", path_of("auth", "session"))
        except PerpgateError as error:
            # An earlier try ended it.
            if not error.is_doubtful or error.code != "invalid_token":
                raise

    def save(self, path: str) -> None:
        """Writes the session with its secret, readable by its owner alone; the SDK reads it too."""
        saved: Json = {
            "version": 1,
            "address": self.address,
            "token": self.token,
            "expiresAt": self.expires_at,
            "lastNonce": self._last_nonce,
            "sessionKey": _saved_key(self._key),
        }
        if self._next_key is not None:
            saved["nextSessionKey"] = _saved_key(self._next_key)
        temporary = f"{path}.{os.getpid()}.tmp"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(dump_json(saved) + "\n")
        os.replace(temporary, path)

    @classmethod
    def restore(cls, client: "Client", saved: Any) -> "Session":
        """Raises ValueError if this is not a saved session."""
        try:
            if saved["version"] != 1 or not is_count(saved["lastNonce"]):
                raise ValueError("of another version")
            next_key = saved.get("nextSessionKey")
            return cls(
                client,
                saved["address"],
                saved["token"],
                saved["expiresAt"],
                _restored_key(saved["sessionKey"]),
                next_key=None if next_key is None else _restored_key(next_key),
                last_nonce=saved["lastNonce"],
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"not a session that save() wrote: {error!r}") from None

    # -- sending -----------------------------------------------------------------------------------

    def _submit(self, path: str, body: Json) -> Json:
        """Signs a body with its nonce and sends it. ``nonce`` is last, wherever it was given."""
        given = body.pop("nonce", None)
        nonce = self.new_nonce() if given is None else given
        if not is_count(nonce):
            raise ValueError(f"a nonce is a whole number from 0 to 2^53 - 1, not {nonce!r}")
        data = json_bytes({**body, "nonce": nonce})
        try:
            answer = self._signed(path, data, given is not None)
        except PerpgateError as error:
            error.nonce = nonce
            raise
        body = expect(dict, answer.body)
        results = [expect(dict, each) for each in expect(list, body.get("results", []))]
        self._keep(data, body, *(each.get(name) for each in results for name in ("ack", "canceled")))
        return {**body, "replayed": answer.replayed}

    def _keep(self, data: bytes, *acks: Any) -> None:
        """The signed bytes that were acknowledged, for the receipts; none of a cancel, which is not signed."""
        with self._lock:
            for ack in acks:
                if isinstance(ack, dict) and isinstance(ack.get("ackNonce"), str):
                    self._requests[ack["ackNonce"]] = data
            while len(self._requests) > _KEPT_REQUESTS:
                self._requests.popitem(last=False)

    def _signed(self, path: str, data: bytes, is_repeat: bool) -> Answer:
        self._settle_key()
        key = self._key
        try:
            return self._call("POST", path, data, key.sign(data), is_repeat)
        except PerpgateError as error:
            if error.code not in _WRONG_KEY or self._next_key is None:
                raise
            # A rotation that had no answer was executed late.
            self._settle_key()
            if self._key is key:
                raise
            return self._call("POST", path, data, self._key.sign(data), is_repeat)

    def _settle_key(self) -> None:
        """After a rotation of unknown outcome: asks the venue which key signs. The other one is kept until
        the new one is in force, since the rotation may be executed later."""
        if self._next_key is None:
            return
        if field(field(self.account(), "session"), "sessionKey") == self._next_key.public_key.hex():
            self._key, self._next_key = self._next_key, None

    def _send(self, method: str, path: str, body: Optional[Json] = None) -> Answer:
        data = None if body is None else json_bytes(body)
        return self.http.call(method, path, body=data, token=self.token)

    def _call(
        self, method: str, path: str, data: Optional[bytes], signature: bytes, is_repeat: bool = False
    ) -> Answer:
        return self.http.call(
            method, path, body=data, token=self.token, signature=signature, is_repeat=is_repeat
        )


def _saved_key(key: SigningKey) -> Json:
    return {"kind": "ed25519", "publicKey": key.public_key.hex(), "secret": key.seed.hex()}


def _restored_key(saved: Json) -> SigningKey:
    if saved["kind"] != "ed25519":
        raise ValueError(f"a key of kind {saved['kind']}")
    key = SigningKey(bytes.fromhex(saved["secret"]))
    if key.public_key.hex() != saved["publicKey"]:
        raise ValueError("the secret is not that of the public key")
    return key

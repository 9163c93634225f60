"""A venue through one of its gateways: market data, and signing in."""

import re
import ssl
import time
from typing import TYPE_CHECKING, Any, List, Optional, Sequence

from .errors import PerpgateError
from .ed25519 import SigningKey
from .http import Http, Query, expect, field, json_bytes, path_of
from .session import Session
from .stream import Stream
from .strict_json import Number, parse_json
from .types import CandlePrice, Json, Page, Resolution, Signer, page_query
from .wallet import siwe_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

STATEMENT = "Sign in to trade on Perpgate with a session key of this device."
_CLOCK_PROBLEMS = ("siwe_message_too_old", "siwe_message_from_future")


class Client:
    """Reads of the market; ``sign_in`` opens a session, which trades.

    Answers are the JSON of docs/api.md, with its names: dictionaries, lists, whole numbers as ``int`` and
    others as ``float``. Every number of the wire is the shortest text of its double, so
    ``Decimal(str(x))`` is exactly what the venue wrote. Orders take ``int``, ``float`` and ``Decimal``.

    ``log_key`` is the verifier key of the venue's log that you pinned, also an earlier or later one of the
    same log; without it receipts are checked against the key that the venue shows first.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        timeout: float = 5.0,
        retries: int = 5,
        budget: float = 30.0,
        log_key: Optional[str] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self.http = Http(url, timeout=timeout, retries=retries, budget=budget, ssl_context=ssl_context)
        self.log_key = log_key
        self._venue: Optional[Json] = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes this thread's connection; sessions stay valid, and the next request opens another."""
        self.http.close()

    def get(self, path: str, query: Optional[Query] = None) -> Any:
        """Any public read of the interface, such as ``client.get("/v1/time")``."""
        return self.http.call("GET", path, query=query).body

    def markets(self) -> List[Json]:
        """Every market with its prices, rules and tiers."""
        return expect(list, self.get(path_of("markets")))

    def book(self, symbol: str, depth: Optional[int] = None) -> Json:
        """The order book, once. ``stream().book(symbol)`` is one that stays current."""
        return expect(dict, self.get(path_of("markets", symbol, "book"), {"depth": depth}))

    def ticker(self, symbol: str) -> Json:
        """Best prices, mark, index, funding, 24 hours."""
        return expect(dict, self.get(path_of("markets", symbol, "ticker")))

    def tickers(self) -> List[Json]:
        return expect(list, self.get(path_of("tickers")))

    def trades(self, symbol: str, **page: "Unpack[Page]") -> List[Json]:
        """Public trades, newest first."""
        return expect(list, self.get(path_of("markets", symbol, "trades"), page_query(page)))

    def candles(
        self, symbol: str, resolution: Resolution = "1m", price: CandlePrice = "trades", **page: "Unpack[Page]"
    ) -> List[Json]:
        """Of trades, the mark or the index; newest first. ``before`` and ``after`` are times here."""
        query = {"resolution": resolution, "price": price, **page_query(page)}
        return expect(list, self.get(path_of("markets", symbol, "candles"), query))

    def funding(self, symbol: str, **page: "Unpack[Page]") -> List[Json]:
        """Past funding rates, newest first."""
        return expect(list, self.get(path_of("markets", symbol, "funding"), page_query(page)))

    def bridge(self) -> Json:
        """Chains, vaults, attestors."""
        return expect(dict, self.get(path_of("bridge")))

    def block(self, number: int) -> Json:
        return expect(dict, self.get(path_of("blocks", str(number))))

    def latest_block(self) -> Json:
        return expect(dict, self.get(path_of("blocks", "latest")))

    def honesty(self) -> Json:
        """The keys of the transparency log, and how receipts were kept."""
        return expect(dict, self.get(path_of("honesty")))

    def log_successors(self) -> List[str]:
        """The notes by which one key of the transparency log succeeds another."""
        return expect(list, self.get("/tlog/successors"))

    def time(self) -> int:
        """The venue's time, Unix milliseconds."""
        return expect(int, field(self.get(path_of("time")), "time"))

    def status(self) -> Json:
        """Release, engine version, stage, markets, last block."""
        return expect(dict, self.get(path_of("status")))

    def stream(self) -> Stream:
        """Public streams, on a socket of their own."""
        return Stream(self.http)

    def venue_keys(self) -> Json:
        """``logKey`` (the pinned one, if there is one) and ``venueId``, as first shown."""
        if self._venue is None:
            shown = self.honesty()
            log_key = self.log_key or expect(str, field(shown, "logKey"))
            self._venue = {"logKey": log_key, "venueId": expect(str, field(shown, "venueId"))}
        return self._venue

    def sign_in(
        self,
        wallet: Signer,
        *,
        expires_in: Optional[float] = None,
        max_order_notional: Optional[Number] = None,
        max_notional: Optional[Number] = None,
        symbols: Optional[Sequence[str]] = None,
        domain: Optional[str] = None,
        uri: Optional[str] = None,
        chain_id: int = 1,
        statement: str = STATEMENT,
    ) -> Session:
        """Opens a session: one signature of the wallet binds a new key, which then signs every order.

        ``expires_in`` is in seconds: a day by default, at most what the venue allows (30 days unless set
        otherwise). The three caps limit what the key may do, even if it is stolen. ``domain`` and ``uri``
        are those of the gateway unless given.
        """
        endpoint = self.http.endpoint
        key = SigningKey.create()
        for is_second in (False, True):
            now = time.time()
            message = siwe_text(
                domain=domain or endpoint.authority,
                uri=uri or (f"https://{domain}" if domain else endpoint.origin),
                address=wallet.address,
                statement=statement,
                chain_id=chain_id,
                nonce=self._sign_in_nonce(),
                issued_at=now,
                expires_at=None if expires_in is None else now + expires_in,
                session_key=key.public_key.hex(),
                max_order_notional=max_order_notional,
                max_notional=max_notional,
                symbols=symbols,
            )
            signature = wallet.sign_message(message)
            body = {"message": message, "signature": signature, "sessionKey": key.public_key.hex()}
            try:
                answer = self.http.call("POST", path_of("auth", "siwe"), body=json_bytes(body)).body
                token, ends = expect(str, field(answer, "token")), expect(int, field(answer, "expiresAt"))
                return Session(self, wallet.address, token, ends, key)
            except PerpgateError as error:
                # The first try was executed and its token lost: its nonce is used, its session expires.
                if error.code == "siwe_nonce_used" and error.is_doubtful and not is_second:
                    continue
                raise _with_clock_difference(error)
        raise AssertionError("unreachable")

    def _sign_in_nonce(self) -> str:
        """Of the form that EIP-4361 allows: more lines would change what the wallet signs."""
        nonce = expect(str, field(self.get(path_of("auth", "nonce")), "nonce"))
        if not re.fullmatch("[A-Za-z0-9]{8,256}", nonce):
            raise PerpgateError("unexpected_answer", f"{nonce[:80]!r} is no nonce of a sign-in")
        return nonce

    def load_session(self, path: str) -> Session:
        """The session that ``Session.save`` wrote, or the SDK's ``session.save()``; sends nothing."""
        with open(path, encoding="utf-8") as file:
            return Session.restore(self, parse_json(file.read()))


def _with_clock_difference(error: PerpgateError) -> PerpgateError:
    details = error.details or {}
    issued, server = details.get("issuedAt"), details.get("serverTime")
    if error.code in _CLOCK_PROBLEMS and isinstance(issued, int) and isinstance(server, int):
        seconds = round((issued - server) / 1000)
        which = "ahead of" if seconds > 0 else "behind"
        error.args = (f"{error} This device's clock is {abs(seconds)} s {which} the server's.",)
    return error

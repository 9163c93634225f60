"""Streams over one socket, read in the caller's thread.

There is no thread and no event loop behind it: ``next`` reads the socket until there is an event or the
time is over. A lost connection is opened again with back-off, within ``next``. Private streams then go on
after the last position that was read, so that every event comes once; public ones begin again.
"""

import time
from collections import deque
from typing import Any, Callable, Deque, Dict, Iterator, List, NamedTuple, Optional, Set

from .book import Book, BookError
from .errors import UNKNOWN, PerpgateError, error_of
from .http import Http, backoff, expect
from .msgpack import unpack
from .strict_json import dump_json, is_count
from .types import Json
from .websocket import WebSocket

PATH = "/ws/v1"
PRIVATE = frozenset({"preconfirms", "orders", "positions", "fills", "account", "deposits"})
#: The server pings every 15 seconds, so a socket that is silent for longer than two pings is dead.
SILENCE = 35.0
#: A connection that lasted this long has worked: the back-off begins again.
_STEADY = 10.0
_MAX_QUEUED = 100_000
_SESSION_ENDED = 4401
#: Errors after which the connection is of no use.
_LOST = ("closed", "no_answer", "timed_out", "malformed_frame")
#: Close codes that say that the client is wrong: a new connection would end the same way.
_OWN_FAULT = frozenset({1002, 1003, 1007, 1008, 1009, 1010})


class Event(NamedTuple):
    #: Its name, such as ``trades.BTCUSD`` or ``fills``.
    stream: str
    #: The payload of docs/streams.md; of a book, the ``Book`` itself.
    data: Any


class Stream:
    """Made by ``Client.stream`` and ``Session.stream``; for one thread at a time.

    with session.stream() as stream:
        stream.subscribe("fills", "book.BTCUSD")
        for name, data in stream:
            ...
    """

    def __init__(
        self, http: Http, token: Optional[Callable[[], str]] = None, *, silence: float = SILENCE
    ) -> None:
        self._http = http
        self._token = token
        self._silence = silence
        self._socket: Optional[WebSocket] = None
        # What is subscribed to, and of private streams the last position; None until one is known.
        self._positions: Dict[str, Optional[int]] = {}
        self._books: Dict[str, Book] = {}
        # Books to subscribe to again, and when; and how often in a row each was wrong.
        self._due: Dict[str, float] = {}
        self._wrong: Dict[str, int] = {}
        self._queue: Deque[Event] = deque()
        # Books with an event in the queue: it is current when it is read, so one is enough.
        self._waiting: Set[str] = set()
        self._answers: Dict[int, Any] = {}
        # Streams of each message that were not refused: one without any gets no other answer.
        self._open: Dict[int, int] = {}
        self._refusals: List[PerpgateError] = []
        self._last_id = 0
        self._failures = 0
        self._retry_at = self._opened_at = 0.0
        self._is_closed = False
        self._has_worked = False
        #: Connections opened so far; above 1, public streams may have missed events.
        self.connections = 0

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        while True:
            event = self.next()
            if event is None:
                return
            yield event

    def subscribe(self, *streams: str, since: Optional[int] = None) -> None:
        """Adds streams; raises if one is refused, and has the others then. With ``since``, private streams
        begin after that position of the log instead of with what is open."""
        for name in streams:
            self._positions[name] = since
        try:
            if self._socket is None:
                self._connect()
            else:
                self._subscribe(list(streams), since)
        except PerpgateError as error:
            if error.code in _LOST:
                self._lose(error)
            if self._has_worked and self._is_temporary(error):
                # `next` connects again, and subscribes to these too.
                return
            if not self._has_worked:
                self._positions.clear()
            raise

    def unsubscribe(self, *streams: str) -> None:
        for name in streams:
            self._positions.pop(name, None)
            self._books.pop(name, None)
            self._due.pop(name, None)
        if self._socket is not None:
            self.request("unsubscribe", streams=list(streams))
            # Not subscribed to one of them: as it should be.
            self._refusals.clear()

    def book(self, symbol: str) -> Book:
        """Subscribes to a book and returns its copy, which ``next`` keeps current; an event comes after each
        change, also when the book was lost (``is_live`` is false) and when it is back."""
        name = f"book.{symbol}"
        book = self._books.setdefault(name, Book(symbol))
        if name not in self._positions:
            self.subscribe(name)
        return book

    def cancel_on_disconnect(self, is_on: bool = True) -> None:
        """Whether the venue cancels this session's orders when its last socket closes, as it does whenever
        the connection is lost."""
        self.request("session", cancelOnDisconnect=is_on)

    def next(self, timeout: Optional[float] = None) -> Optional[Event]:
        """The next event; None if none comes within ``timeout`` seconds, or if the stream was closed.

        Reads only while there is no event to return. A connection that has to be opened may take up to the
        client's ``timeout`` longer. Raises what a new connection cannot mend: a session that ended, a
        stream that is refused."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._is_closed:
            if self._queue:
                event = self._queue.popleft()
                self._waiting.discard(event.stream)
                return event
            try:
                if self._step(deadline):
                    return None
            except PerpgateError as error:
                self._lose(error)
                if not self._is_temporary(error):
                    raise
        return None

    def request(self, op: str, **fields: Any) -> Json:
        """Sends an operation and waits for its answer; events that come meanwhile are kept for ``next``."""
        if self._socket is None:
            self._connect()
        self._last_id += 1
        sent = self._last_id
        self._open[sent] = len(fields.get("streams", [None]))
        self._write({"op": op, "id": sent, **fields})
        deadline = time.monotonic() + self._http.timeout
        while sent not in self._answers:
            left = deadline - time.monotonic()
            if left <= 0:
                raise PerpgateError("timed_out", f"no answer to {op}", outcome=UNKNOWN)
            self._read(left)
        del self._open[sent]
        answer = self._answers.pop(sent)
        if isinstance(answer, PerpgateError):
            raise answer
        return expect(dict, answer)

    def close(self) -> None:
        self._is_closed = True
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    # -- the connection ----------------------------------------------------------------------------

    def _step(self, deadline: Optional[float]) -> bool:
        """One wait, for the socket or for the next try; whether the time is over."""
        now = time.monotonic()
        if self._socket is None:
            ends = self._retry_at if deadline is None else min(self._retry_at, deadline)
            time.sleep(max(0.0, ends - now))
            if deadline is not None and self._retry_at > deadline:
                return True
            self._connect()
            return False
        for name in [name for name, at in self._due.items() if at <= now]:
            del self._due[name]
            self._last_id += 1
            self._write({"op": "subscribe", "id": self._last_id, "streams": [name]})
        dead_at = self._socket.heard_at + self._silence
        if now >= dead_at:
            raise PerpgateError("timed_out", "the socket is silent", outcome=UNKNOWN)
        waits = [dead_at, *self._due.values(), *([] if deadline is None else [deadline])]
        self._read(min(waits) - now)
        self._answers.clear()
        if self._refusals:
            raise self._refusals.pop(0)
        return deadline is not None and not self._queue and time.monotonic() >= deadline

    def _connect(self) -> None:
        if self._is_closed:
            raise PerpgateError("closed", "the stream was closed")
        self._socket = WebSocket(self._http, PATH, None if self._token is None else self._token())
        self._opened_at = time.monotonic()
        self.connections += 1
        self._answers.clear()
        self._open.clear()
        self._refusals.clear()
        self._due.clear()
        # Streams that stand at different positions take a message each.
        groups: Dict[Optional[int], List[str]] = {}
        for name, position in self._positions.items():
            groups.setdefault(position, []).append(name)
        for position, names in groups.items():
            self._subscribe(names, position)

    def _subscribe(self, names: List[str], since: Optional[int]) -> None:
        for name in names:
            if name.startswith("book."):
                self._books.setdefault(name, Book(name[5:]))
        fields: Json = {"streams": names} if since is None else {"streams": names, "since": since}
        answer = self.request("subscribe", **fields)
        self._has_worked = True
        for name in names:
            if name in PRIVATE and self._positions.get(name, 0) is None and is_count(answer.get("seq")):
                self._positions[name] = answer["seq"]
        if self._refusals:
            refusal, self._refusals = self._refusals[0], []
            raise refusal

    def _lose(self, error: PerpgateError) -> None:
        """After a failure: nothing of the connection is kept, and the books are empty."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            if time.monotonic() - self._opened_at > _STEADY:
                self._failures = 0
        for name, book in self._books.items():
            if book.is_live:
                book.clear()
                self._put(Event(name, book))
        wait = backoff(self._failures, 0.2, 10.0) + (error.retry_after or 0)
        self._retry_at = time.monotonic() + wait
        self._failures += 1

    def _is_temporary(self, error: PerpgateError) -> bool:
        if error.code == "closed":
            return not self._is_closed and error.status not in _OWN_FAULT and error.status != _SESSION_ENDED
        if error.code in _LOST:
            return True
        return error.status in (429, 500, 502, 503, 504)

    # -- frames ------------------------------------------------------------------------------------

    def _write(self, message: Json) -> None:
        assert self._socket is not None
        self._socket.send(dump_json(message))

    def _read(self, timeout: float) -> None:
        assert self._socket is not None
        for message in self._socket.receive(timeout):
            try:
                self._take(unpack(message))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                problem = f"a frame that cannot be read: {error!r}"
                raise PerpgateError("malformed_frame", problem, outcome=UNKNOWN) from None

    def _take(self, frame: Any) -> None:
        kind, data = frame["t"], frame["d"]
        if kind in ("ok", "pong"):
            self._answer(data, data)
            return
        if kind == "error":
            error = error_of(data, _status_of(data)) or PerpgateError("unexpected_answer", str(data)[:200])
            if "stream" not in data and "id" in data:
                self._answer(data, error)
                return
            # Of a stream, or of a message that the server has not read.
            error.field = error.field or data.get("stream")
            self._refusals.append(error)
            self._positions.pop(data.get("stream", ""), None)
            sent = data.get("id")
            if sent in self._open:
                self._open[sent] -= 1
                if self._open[sent] == 0:
                    self._answer(data, {})
            return
        name = f"{kind}.{frame['s']}" if "s" in frame else kind
        if name not in self._positions:
            return
        if name in self._books:
            self._take_book(name, data)
        elif name not in PRIVATE or self._is_new(name, data):
            self._put(Event(name, data))

    def _answer(self, data: Any, answer: Any) -> None:
        if is_count(data.get("id")):
            self._answers[data["id"]] = answer

    def _is_new(self, name: str, data: Any) -> bool:
        seq, last = data["seq"], self._positions[name]
        if not is_count(seq):
            raise ValueError("seq is no count")
        if data.get("type") not in ("snapshot", "gap") and last is not None and seq <= last:
            return False
        self._positions[name] = seq
        return True

    def _take_book(self, name: str, data: Any) -> None:
        book = self._books[name]
        if not book.is_live and data.get("type") == "delta":
            return
        try:
            book.apply(data)
            if data["type"] == "delta":
                self._wrong.pop(name, None)
        except BookError:
            # At first immediately, then with back-off: a server that is always wrong is not asked without end.
            wrong = self._wrong.get(name, 0)
            self._due[name] = time.monotonic() + (backoff(wrong - 1, 0.5, 15.0) if wrong else 0)
            self._wrong[name] = wrong + 1
        self._put(Event(name, book))

    def _put(self, event: Event) -> None:
        if isinstance(event.data, Book):
            if event.stream in self._waiting:
                return
            self._waiting.add(event.stream)
        if len(self._queue) >= _MAX_QUEUED:
            raise PerpgateError("malformed_frame", f"more than {_MAX_QUEUED} events wait", outcome=UNKNOWN)
        self._queue.append(event)


def _status_of(data: Json) -> int:
    """An error frame has no status; its code says whether it may be tried again."""
    return 429 if data.get("code") == "rate_limited" else 400

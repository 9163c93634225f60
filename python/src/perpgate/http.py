"""Requests over HTTP: time-outs that hold for a whole answer, and retries that are safe.

    no answer, 408, 500, 502, 503, 504   wait for the back-off or for Retry-After, then send again
    429, too_many_orders apart           wait for Retry-After; not counted as a try
    not_executed, outcome_unknown        as a 503; not counted as a try
    anything else                        final

A request is sent again with the same bytes, so every request must be safe to repeat: reads are, cancels
are, and what is signed has a nonce, which the venue executes at most once.
"""

import http.client
import io
import random
import socket
import ssl
import threading
import time
from typing import Any, Dict, Mapping, NamedTuple, Optional, Protocol, Type, TypeVar, Union
from urllib.parse import quote, urlencode, urlsplit

from .errors import NOT_SENT, REFUSED, UNKNOWN, PerpgateError, error_of
from .strict_json import dump_json, parse_json

MAX_BODY_BYTES = 2**24
_RETRYABLE = frozenset({408, 429, 500, 502, 503, 504})
# Waiting does not help: orders have to be canceled first.
_LASTING = frozenset({"too_many_orders"})
_UNCOUNTED = frozenset({"rate_limited", "not_executed", "outcome_unknown"})
# Codes below 500 that say nothing about earlier tries: the request was not understood, another server
# answered, or an earlier try may have been executed and its nonce forgotten since.
_BLIND = frozenset(
    {"unexpected_answer", "malformed_request", "malformed_uri", "headers_too_large", "not_found"}
    | {"method_not_allowed", "nonce_too_old"}
)

Query = Mapping[str, Union[str, int, float, None]]
T = TypeVar("T")


def _is_retryable(error: PerpgateError) -> bool:
    if error.status == 0:
        return error.outcome != REFUSED
    return error.status in _RETRYABLE and error.code not in _LASTING


class Headers(Protocol):
    def get(self, name: str, default: str) -> str: ...


class Answer(NamedTuple):
    body: Any
    #: Whether it is the answer of an earlier try.
    replayed: bool


class Endpoint(NamedTuple):
    """Where a gateway listens."""

    scheme: str
    host: str
    port: int
    #: As in the Host header and in a sign-in message.
    authority: str
    #: Before every path; empty unless the gateway is behind a prefix.
    prefix: str

    @classmethod
    def parse(cls, url: str) -> "Endpoint":
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url} is no http or https address")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        authority = parts.netloc.rpartition("@")[2]
        return cls(parts.scheme, parts.hostname, port, authority, parts.path.rstrip("/"))

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"


class Http:
    """One gateway. Each thread has its own connection, which is kept open."""

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 5.0,
        retries: int = 5,
        budget: float = 30.0,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self.endpoint = Endpoint.parse(url)
        #: Seconds that one try may take, from the connection to the last byte.
        self.timeout = timeout
        #: How often a request is sent again.
        self.retries = retries
        #: Seconds after the first try from which no other starts.
        self.budget = budget
        self.ssl_context = ssl_context or (
            ssl.create_default_context() if self.endpoint.scheme == "https" else None
        )
        self._local = threading.local()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Query] = None,
        body: Optional[bytes] = None,
        token: Optional[str] = None,
        signature: Optional[bytes] = None,
        is_repeat: bool = False,
    ) -> Answer:
        """Sends a request until it is answered, refused, or out of time.

        ``is_repeat``: an earlier call with the same bytes may have been executed.
        """
        headers = {"host": self.endpoint.authority, "accept": "application/json"}
        if body is not None:
            headers["content-type"] = "application/json"
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        if signature is not None:
            headers["x-service-sig"] = signature.hex()
        target = self.endpoint.prefix + path + _query_text(query)
        ends_at = time.monotonic() + self.budget
        failures = uncounted = attempts = 0
        is_doubtful = is_repeat
        while True:
            attempts += 1
            try:
                return self._try(method, target, headers, body)
            except PerpgateError as error:
                error.attempts, error.is_doubtful = attempts, is_doubtful
                is_retryable = _is_retryable(error)
                failures += 1
                uncounted += error.code in _UNCOUNTED and self.retries > 0
                wait = _wait_before(error, failures - 1)
                is_last = failures - uncounted > self.retries or time.monotonic() + wait > ends_at
                if is_retryable and not is_last:
                    is_doubtful = is_doubtful or error.outcome == UNKNOWN
                    time.sleep(wait)
                    continue
                if is_doubtful and not _settles_earlier_tries(error, is_retryable):
                    error.outcome = UNKNOWN
                raise

    def close(self) -> None:
        """Closes this thread's connection; the next request opens another."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _try(self, method: str, target: str, headers: Dict[str, str], body: Optional[bytes]) -> Answer:
        deadline = time.monotonic() + self.timeout
        connection = self._connected(deadline)
        try:
            connection.sock.deadline = deadline
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            with response:
                content = response.read(MAX_BODY_BYTES + 1)
                is_whole = response.isclosed() or not response.length
            if response.will_close or len(content) > MAX_BODY_BYTES:
                self.close()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise no_answer(error, UNKNOWN) from error
        except BaseException:
            # Interrupted within an answer: the connection cannot be used again.
            self.close()
            raise
        if not is_whole and len(content) <= MAX_BODY_BYTES:
            self.close()
            raise no_answer(ConnectionError("the answer ended too early"), UNKNOWN)
        replayed = response.headers.get("idempotent-replay", "") == "true"
        return Answer(read_answer(response.status, response.headers, content), replayed)

    def _connected(self, deadline: float) -> "_Connection":
        connection = getattr(self._local, "connection", None)
        if connection is None:
            try:
                connection = _Connection(self.endpoint, self.ssl_context, deadline)
            except OSError as error:
                raise no_answer(error, NOT_SENT) from error
            self._local.connection = connection
        return connection


class _Connection(http.client.HTTPConnection):
    """An open connection whose time-out is a deadline: a server that sends a byte now and then does not
    extend it."""

    sock: "_DeadlineSocket"

    def __init__(self, endpoint: Endpoint, context: Optional[ssl.SSLContext], deadline: float) -> None:
        super().__init__(endpoint.host, endpoint.port)
        self.sock = _DeadlineSocket(open_socket(endpoint, context, deadline), deadline)
        self.auto_open = 0


class _DeadlineSocket:
    """What http.client needs of a socket. It stays open until the answer that is being read is closed too."""

    def __init__(self, connected: socket.socket, deadline: float) -> None:
        self._socket = connected
        self.deadline = deadline
        self._reader: Optional[_Reader] = None
        self._is_closed = False

    def sendall(self, data: bytes) -> None:
        self._socket.settimeout(remaining(self.deadline))
        self._socket.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        self._reader = _Reader(self)
        return io.BufferedReader(self._reader)

    def receive_into(self, buffer: memoryview) -> int:
        self._socket.settimeout(remaining(self.deadline))
        return self._socket.recv_into(buffer)

    def close(self) -> None:
        self._is_closed = True
        self.end_read()

    def end_read(self) -> None:
        if self._is_closed and (self._reader is None or self._reader.closed):
            self._socket.close()


class _Reader(io.RawIOBase):
    """The stream of one answer; closing it leaves the connection open for the next."""

    def __init__(self, source: _DeadlineSocket) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._source.receive_into(buffer)

    def close(self) -> None:
        super().close()
        self._source.end_read()


def open_socket(endpoint: Endpoint, context: Optional[ssl.SSLContext], deadline: float) -> socket.socket:
    opened = socket.create_connection((endpoint.host, endpoint.port), remaining(deadline))
    try:
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is None:
            return opened
        opened.settimeout(remaining(deadline))
        return context.wrap_socket(opened, server_hostname=endpoint.host)
    except BaseException:
        opened.close()
        raise


def remaining(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    return left


def backoff(failures: int, first: float = 0.1, longest: float = 5.0) -> float:
    """Seconds; doubles with each failure. The upper half is random, so that clients do not retry in step."""
    return min(longest, first * float(2 ** min(failures, 20))) * random.uniform(0.5, 1)


def path_of(*parts: str) -> str:
    """A path of the interface with its parts escaped."""
    return "/v1/" + "/".join(quote(str(part), safe="") for part in parts)


def json_bytes(value: Any) -> bytes:
    return dump_json(value).encode("utf-8")


def expect(kind: Type[T], value: Any) -> T:
    """The value, if it is of that type: an answer of another shape is an error, not a crash later."""
    if type(value) is not kind:
        raise _unexpected(200, f"{kind.__name__} expected, not {str(value)[:80]!r}")
    return value


def field(value: Any, name: str) -> Any:
    """A field of an object in an answer."""
    if not isinstance(value, dict) or name not in value:
        raise _unexpected(200, f"an object with {name!r} expected, not {str(value)[:80]!r}")
    return value[name]


def _query_text(query: Optional[Query]) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return "?" + urlencode(given) if given else ""


def read_answer(status: int, headers: Headers, content: bytes) -> Any:
    if len(content) > MAX_BODY_BYTES:
        raise _unexpected(status, f"an answer of more than {MAX_BODY_BYTES} bytes")
    is_text = headers.get("content-type", "").startswith("text/plain")
    try:
        body = content.decode("utf-8") if is_text else parse_json(content)
    except ValueError as error:
        raise _unexpected(status, f"the answer is no JSON: {error}") from None
    if 200 <= status < 300:
        return body
    raise error_of(body, status, _retry_after(headers)) or _unexpected(status, "an error without a code")


def _retry_after(headers: Headers) -> Optional[float]:
    text = headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def _unexpected(status: int, problem: str) -> PerpgateError:
    # A proxy's answer, another service's, a newer gateway's. A 2xx may have been executed.
    outcome = REFUSED if 400 <= status < 500 else UNKNOWN
    message = f"status {status}: {problem}"
    return PerpgateError("unexpected_answer", message, status=status, outcome=outcome)


def no_answer(error: Exception, outcome: str) -> PerpgateError:
    code = "timed_out" if isinstance(error, socket.timeout) else "no_answer"
    return PerpgateError(code, f"{type(error).__name__}: {error}", outcome=outcome)


def _wait_before(error: PerpgateError, failures: int) -> float:
    if error.retry_after:
        return error.retry_after + backoff(0)
    return backoff(failures)


def _settles_earlier_tries(error: PerpgateError, is_retryable: bool) -> bool:
    """Whether the error proves that no earlier try was executed. The venue looks up the nonce before it
    judges an order; token and session are checked before that, and both expire."""
    return not is_retryable and 400 <= error.status < 500 and error.status != 401 and error.code not in _BLIND

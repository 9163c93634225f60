"""A WebSocket client (RFC 6455) over a socket of the standard library: text out, binary messages in.

What arrives is kept in one buffer until a message is whole, so a time-out in the middle of a frame loses
nothing. A message is bounded; a length that is larger is refused before its bytes are read.
"""

import base64
import hashlib
import os
import socket
import struct
import time
from typing import List, NamedTuple, Optional

from .errors import NOT_SENT, UNKNOWN, PerpgateError
from .http import Http, no_answer, open_socket, read_answer, remaining

MAX_MESSAGE_BYTES = 2**24
_MAX_HEAD_BYTES = 16_384
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0, 1, 2, 8, 9, 10


class Frame(NamedTuple):
    opcode: int
    data: bytes


class FrameReader:
    """Bytes of a server in, whole messages and control frames out. Raises ``malformed_frame``."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._message: Optional[bytearray] = None

    def feed(self, data: bytes) -> List[Frame]:
        self._buffer += data
        frames: List[Frame] = []
        while True:
            frame = self._next()
            if frame is None:
                return frames
            is_last, opcode, payload = frame
            if opcode >= _CLOSE:
                frames.append(Frame(opcode, payload))
                continue
            if (opcode == _CONTINUATION) == (self._message is None):
                raise _malformed("a fragment without its message, or a message within another")
            if self._message is None:
                self._message = bytearray()
            if len(self._message) + len(payload) > self._max_bytes:
                raise _malformed(f"a message of more than {self._max_bytes} bytes")
            self._message += payload
            if is_last:
                frames.append(Frame(_BINARY, bytes(self._message)))
                self._message = None

    def _next(self) -> "Optional[tuple[bool, int, bytes]]":
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        first, length = buffer[0], buffer[1]
        opcode, is_last = first & 15, first >= 0x80
        if first & 0x70 or length >= 0x80:
            raise _malformed("a frame with an extension or a mask")
        if opcode not in (_CONTINUATION, _BINARY, _CLOSE, _PING, _PONG):
            raise _malformed(f"a frame with the opcode {opcode}")
        if opcode >= _CLOSE and (length > 125 or not is_last):
            raise _malformed("a control frame that is long or in fragments")
        head = 2 if length < 126 else 4 if length == 126 else 10
        if len(buffer) < head:
            return None
        if length >= 126:
            (length,) = struct.unpack(">H" if head == 4 else ">Q", buffer[2:head])
        if length > self._max_bytes:
            raise _malformed(f"a frame of {length} bytes")
        if len(buffer) < head + length:
            return None
        payload = bytes(buffer[head : head + length])
        del buffer[: head + length]
        return is_last, opcode, payload


class WebSocket:
    """An open connection. Every method raises PerpgateError: ``no_answer`` or ``timed_out`` if it is lost,
    ``closed`` with the server's code in ``status``, ``malformed_frame``, or the refusal of the upgrade."""

    def __init__(self, http: Http, path: str, token: Optional[str] = None) -> None:
        self._timeout = http.timeout
        self._reader = FrameReader()
        self._pending: List[Frame] = []
        #: When something came last, pings included; of the monotonic clock.
        self.heard_at = time.monotonic()
        deadline = time.monotonic() + http.timeout
        try:
            self._socket = open_socket(http.endpoint, http.ssl_context, deadline)
        except OSError as error:
            raise no_answer(error, NOT_SENT) from error
        try:
            self._pending = self._reader.feed(self._upgrade(http, path, token, deadline))
        except OSError as error:
            self.close()
            raise no_answer(error, UNKNOWN) from error
        except BaseException:
            self.close()
            raise

    def send(self, text: str) -> None:
        self._write(_TEXT, text.encode("utf-8"))

    def receive(self, timeout: float) -> List[bytes]:
        """Whole messages; none if the time is over, or if what came is no message. Answers pings."""
        frames, self._pending = self._pending, []
        if not frames:
            try:
                self._socket.settimeout(max(timeout, 0.000_001))
                data = self._socket.recv(65_536)
            except socket.timeout:
                return []
            except OSError as error:
                raise no_answer(error, UNKNOWN) from error
            if not data:
                raise no_answer(ConnectionError("the server closed the connection"), UNKNOWN)
            self.heard_at = time.monotonic()
            frames = self._reader.feed(data)
        messages: List[bytes] = []
        for at, (opcode, payload) in enumerate(frames):
            if opcode == _BINARY:
                messages.append(payload)
            elif opcode == _PING:
                self._write(_PONG, payload)
            elif opcode == _CLOSE and messages:
                # After the messages before it.
                self._pending = frames[at:]
                return messages
            elif opcode == _CLOSE:
                raise _closed(payload)
        return messages

    def close(self) -> None:
        self._socket.close()

    def _write(self, opcode: int, data: bytes) -> None:
        mask = os.urandom(4)
        size = len(data)
        lengths = [0x80 | size] if size < 126 else [0xFE, *struct.pack(">H", size)]
        head = bytes([0x80 | opcode, *lengths])
        repeated = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
        try:
            self._socket.settimeout(self._timeout)
            self._socket.sendall(head + mask + masked)
        except OSError as error:
            raise no_answer(error, UNKNOWN) from error

    def _upgrade(self, http: Http, path: str, token: Optional[str], deadline: float) -> bytes:
        """Returns what came after the answer's head."""
        key = base64.b64encode(os.urandom(16))
        authorization = f"Authorization: Bearer {token}\r\n" if token is not None else ""
        request = (
            f"GET {http.endpoint.prefix}{path} HTTP/1.1\r\nHost: {http.endpoint.authority}\r\n"
            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key.decode()}\r\n{authorization}\r\n"
        )
        self._socket.settimeout(remaining(deadline))
        self._socket.sendall(request.encode("ascii"))
        data = bytearray()
        while b"\r\n\r\n" not in data:
            if len(data) > _MAX_HEAD_BYTES:
                raise _malformed("the head of the answer is too long")
            data += self._some(deadline)
        head, _, rest = bytes(data).partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        status = lines[0].split(" ")[1] if lines[0].startswith("HTTP/1.1 ") else ""
        fields = (line.partition(":") for line in lines[1:])
        headers = {name.strip().lower(): value.strip() for name, _, value in fields}
        if status == "101":
            expected = base64.b64encode(hashlib.sha1(key + _GUID).digest()).decode()
            if headers.get("sec-websocket-accept") != expected:
                raise _malformed("the server did not accept the WebSocket's key")
            return rest
        if not (status.isascii() and status.isdigit() and len(status) == 3):
            raise _malformed("the answer is no HTTP")
        length = headers.get("content-length", "0")
        size = int(length) if length.isascii() and length.isdigit() and len(length) < 6 else 0
        while len(rest) < size:
            rest += self._some(deadline)
        # Raises what the server refused with.
        read_answer(int(status), headers, rest[:size])
        raise _malformed(f"status {status} instead of the upgrade")

    def _some(self, deadline: float) -> bytes:
        self._socket.settimeout(remaining(deadline))
        data = self._socket.recv(4096)
        if not data:
            raise ConnectionError("the server closed the connection")
        return data


def _malformed(problem: str) -> PerpgateError:
    return PerpgateError("malformed_frame", problem, outcome=UNKNOWN)


def _closed(payload: bytes) -> PerpgateError:
    code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
    message = f"the server closed the socket: {code} {payload[2:].decode('utf-8', 'replace')}"
    return PerpgateError("closed", message, status=code, outcome=UNKNOWN)

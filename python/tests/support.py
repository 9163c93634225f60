"""What the tests share: vectors, servers that misbehave, and the venue that the test command runs."""

import json
import os
import socket
import sys
import threading
import unittest
from typing import Any, Callable, List

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def public_vectors(*path: str) -> Any:
    """A file of the shared vectors, which PERPGATE_VECTORS names the folder of."""
    folder = os.environ.get("PERPGATE_VECTORS")
    if folder is None:
        if os.environ.get("REQUIRE_VECTORS") == "1":
            raise AssertionError("REQUIRE_VECTORS is set, and PERPGATE_VECTORS names no folder")
        raise unittest.SkipTest("PERPGATE_VECTORS names no folder")
    with open(os.path.join(folder, *path), encoding="utf-8") as file:
        return json.load(file)


def made_vectors(name: str) -> Any:
    """What the TypeScript packages make of the same input; packages/sdk/src/python.system.test.ts writes it."""
    path = os.environ.get("PERPGATE_MADE_VECTORS")
    if path is None:
        raise unittest.SkipTest("run by packages/sdk/src/python.system.test.ts")
    with open(path, encoding="utf-8") as file:
        return json.load(file)[name]


def ask_runner(command: str) -> str:
    """The test that started this process does something to the venue or the network, and answers."""
    sys.stdout.write(f"@{command}\n")
    sys.stdout.flush()
    return sys.stdin.readline().strip()


class Server:
    """A server that hands each connection to ``serve``, in order; the last one serves the rest."""

    def __init__(self, *serve: Callable[[socket.socket], None]) -> None:
        self._serve = list(serve)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        self._open: List[socket.socket] = []
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            serve = self._serve[min(self.connections, len(self._serve) - 1)]
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._handle, args=(serve, connection), daemon=True).start()

    @staticmethod
    def _handle(serve: Callable[[socket.socket], None], connection: socket.socket) -> None:
        try:
            serve(connection)
        except OSError:
            pass  # The client left, or the test is over.

    def close(self) -> None:
        # Ends `accept`, which keeps the port open.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            connection.close()


def read_request(connection: socket.socket) -> bytes:
    """One HTTP request with its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lengths[0].split(b":")[1]) if lengths else 0
    while len(body) < length:
        body += _some(connection)
    return head + b"\r\n\r\n" + body


def _some(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionError("closed")
    return data


def http_answer(status: int, body: Any, *headers: str) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", "content-type: application/json", f"content-length: {len(data)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def refusal(status: int, code: str, *headers: str, **more: Any) -> bytes:
    return http_answer(status, {"code": code, "message": "No.", "requestId": "r1", **more}, *headers)

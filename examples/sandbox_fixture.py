#!/usr/bin/env python3
"""A venue for tests, from Python's standard library alone.

As a fixture of pytest, in conftest.py:

    import pytest
    from sandbox_fixture import Sandbox

    @pytest.fixture
    def venue():
        with Sandbox(seed=7) as sandbox:
            yield sandbox

Run as a program it shows one test: a stop loss in a crash. The arguments are the command that starts
perpgate, by default that of the variable PERPGATE, or `perpgate`.
"""

import json
import os
import shlex
import subprocess
import sys
import urllib.error
import urllib.request


COMMAND = shlex.split(os.environ.get("PERPGATE", "perpgate"))


class Sandbox:
    def __init__(self, seed=1, command=COMMAND):
        words = [*command, "sandbox", "--manual", "--json", "--seed", str(seed)]
        words += ["--port", "0", "--control", "0"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"perpgate ended with {self.process.wait()}")
        started = json.loads(line)
        self.url, self.control = started["url"], started["control"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)

    def post(self, path, **body):
        """One call of the control API: advance, price, crash, play, replay, save, restore."""
        return request(self.control + path, body)

    def trader(self, funds=10_000):
        return Trader(self, self.post("/traders", funds=funds))


class Trader:
    """The control API signs for it: the standard library has no Ed25519."""

    def __init__(self, sandbox, made):
        self.sandbox, self.id, self.token = sandbox, made["id"], made["token"]
        self.nonce = 0

    def order(self, **order):
        self.nonce += 1
        body = json.dumps({**order, "nonce": self.nonce})
        signature = self.sandbox.post("/sign", trader=self.id, body=body)["signature"]
        return self.call("/v1/orders", body, {"x-service-sig": signature})

    def call(self, path, body=None, headers=None):
        headers = {"authorization": f"Bearer {self.token}", **(headers or {})}
        return request(self.sandbox.url + path, body, headers)


def request(url, body=None, headers=None):
    """JSON in and out; a refusal raises with what the venue says."""
    if body is not None and not isinstance(body, str):
        body = json.dumps(body)
    data = None if body is None else body.encode()
    headers = {"content-type": "application/json", **(headers or {})}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise RuntimeError(error.read().decode()) from error


def main():
    with Sandbox(seed=7, command=sys.argv[1:] or COMMAND) as venue:
        trader = venue.trader(funds=5_000)
        ack = trader.order(
            symbol="BTCUSD", side="long", type="market", margin=500, leverage=5,
            stopLoss={"price": 60_000},
        )
        assert ack["status"] == "filled", ack
        venue.post("/crash", symbol="BTCUSD", by=0.1)
        venue.post("/advance", duration="5s")
        assert trader.call("/v1/positions") == [], "the stop loss has not sold"
        fills = trader.call("/v1/fills")
        print(f"bought at {fills[-1]['price']}, stopped at {fills[0]['price']}")


if __name__ == "__main__":
    main()

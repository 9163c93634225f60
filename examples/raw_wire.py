#!/usr/bin/env python3
"""The wire in Python: two fresh wallets sign in and trade, then the packed book is read and checked.

    npm start                                    # in another terminal
    python3 examples/raw_wire.py [http://127.0.0.1:8080]

Only the standard library and the `openssl` program, which makes the session key and signs with it. The
wallet is secp256k1 in plain Python: fine for a testnet, too slow and too talkative for real money.
"""

import base64
import hashlib
import json
import os
import secrets
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ORIGIN = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
HOST = urllib.parse.urlsplit(ORIGIN)


# -- Keccak-256 and secp256k1: an Ethereum wallet ----------------------------------------------------

def keccak256(data):
    mask, rate = 2**64 - 1, 136
    lanes = [[0] * 5 for _ in range(5)]
    padded = bytearray(data + b"\x01" + b"\x00" * (rate - 1 - len(data) % rate))
    padded[-1] |= 0x80
    rotate = lambda x, n: ((x << n) | (x >> (64 - n))) & mask if n else x
    for start in range(0, len(padded), rate):
        for at in range(rate // 8):
            lanes[at % 5][at // 5] ^= int.from_bytes(padded[start + 8 * at:start + 8 * at + 8], "little")
        lfsr = 1
        for _ in range(24):
            parity = [c[0] ^ c[1] ^ c[2] ^ c[3] ^ c[4] for c in lanes]
            for x in range(5):
                d = parity[(x + 4) % 5] ^ rotate(parity[(x + 1) % 5], 1)
                lanes[x] = [lane ^ d for lane in lanes[x]]
            x, y, current = 1, 0, lanes[1][0]
            for t in range(24):
                x, y = y, (2 * x + 3 * y) % 5
                current, lanes[x][y] = lanes[x][y], rotate(current, (t + 1) * (t + 2) // 2 % 64)
            for y in range(5):
                row = [lanes[x][y] for x in range(5)]
                for x in range(5):
                    lanes[x][y] = row[x] ^ (~row[(x + 1) % 5] & mask & row[(x + 2) % 5])
            for j in range(7):
                if lfsr & 1:
                    lanes[0][0] ^= 1 << (2**j - 1)
                lfsr = (lfsr << 1) ^ (0x171 if lfsr & 0x80 else 0)
    return b"".join(lanes[at % 5][at // 5].to_bytes(8, "little") for at in range(4))


P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
     0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)


def add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
        return None
    if a == b:
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, P)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(k, point=G):
    total = None
    while k:
        if k & 1:
            total = add(total, point)
        point, k = add(point, point), k >> 1
    return total


class Wallet:
    def __init__(self):
        self.secret = 1 + secrets.randbelow(N - 1)
        x, y = multiply(self.secret)
        digits = keccak256(x.to_bytes(32, "big") + y.to_bytes(32, "big"))[-20:].hex()
        check = keccak256(digits.encode()).hex()
        # EIP-55: the capital letters are the checksum.
        self.address = "0x" + "".join(d.upper() if int(c, 16) > 7 else d for d, c in zip(digits, check))

    def sign_message(self, text):
        """EIP-191: 65 bytes r, s, v in hex."""
        data = text.encode()
        digest = keccak256(b"\x19Ethereum Signed Message:\n" + str(len(data)).encode() + data)
        k = 1 + secrets.randbelow(N - 1)
        x, y = multiply(k)
        s = pow(k, -1, N) * (int.from_bytes(digest, "big") + x % N * self.secret) % N
        odd = y & 1
        if s > N // 2:
            s, odd = N - s, odd ^ 1
        return "0x" + (x % N).to_bytes(32, "big").hex() + s.to_bytes(32, "big").hex() + f"{27 + odd:x}"


# -- Signing in and orders ---------------------------------------------------------------------------

def call(method, path, token=None, body=None, signature=None):
    headers = {"content-type": "application/json"} if body else {}
    if token:
        headers["authorization"] = f"Bearer {token}"
    if signature:
        headers["x-service-sig"] = signature
    request = urllib.request.Request(ORIGIN + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        refusal = json.load(error)
        sys.exit(f"{method} {path}: {refusal['code']}: {refusal['message']}")


class Session:
    """One sign-in: a session key made by openssl, bound by the wallet's one signature."""

    nonce = 0

    def __init__(self, folder):
        wallet = Wallet()
        self.address = wallet.address
        self.key = os.path.join(folder, f"{wallet.address}.pem")
        openssl("genpkey", "-algorithm", "ed25519", "-out", self.key)
        public = openssl("pkey", "-in", self.key, "-pubout", "-outform", "DER")[-32:].hex()
        message = "\n".join([
            f"{HOST.netloc} wants you to sign in with your Ethereum account:",
            wallet.address,
            "",
            "Trade on the testnet.",
            "",
            f"URI: {ORIGIN}",
            "Version: 1",
            "Chain ID: 1",
            f"Nonce: {secrets.token_hex(12)}",
            f"Issued At: {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}",
            "Resources:",
            f"- urn:perpgate:session?key={public}",
        ])
        signature = wallet.sign_message(message)
        body = {"message": message, "signature": signature, "sessionKey": public}
        self.token = call("POST", "/v1/auth/siwe", body=json.dumps(body).encode())["token"]

    def place(self, **order):
        """The signature covers the body's bytes, so the body is made once and sent as it is."""
        self.nonce += 1
        body = json.dumps({"symbol": "BTCUSD", **order, "nonce": self.nonce}).encode()
        with tempfile.NamedTemporaryFile() as file:
            file.write(hashlib.sha256(body).digest())
            file.flush()
            raw = openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.key, "-in", file.name)
        signature = base64.b64encode(raw).decode()
        return call("POST", "/v1/orders", self.token, body, signature)


def openssl(*args):
    return subprocess.run(["openssl", *args], check=True, capture_output=True).stdout


# -- The stream: WebSocket, MessagePack, the packed book -----------------------------------------------

class Stream:
    def __init__(self):
        port = HOST.port or 80
        self.socket = socket.create_connection((HOST.hostname, port), timeout=30)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        self.socket.sendall(
            f"GET /ws/v1 HTTP/1.1\r\nHost: {HOST.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.reader = self.socket.makefile("rb")
        if b" 101 " not in self.reader.readline():
            sys.exit("the gateway opens no stream")
        while self.reader.readline() != b"\r\n":
            pass

    def send(self, message):
        data = json.dumps(message).encode()
        mask = secrets.token_bytes(4)
        length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        self.socket.sendall(b"\x81" + length + mask + masked)

    def frame(self):
        """The next frame of the venue: {t, s, d}."""
        while True:
            first, length = self.reader.read(2)
            if length == 126:
                (length,) = struct.unpack(">H", self.reader.read(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.reader.read(8))
            data = self.reader.read(length)
            if first & 15 == 2:
                return MessagePack(data).value()


class MessagePack:
    """What the venue sends: maps, arrays, strings, bytes, nil, booleans, integers and doubles."""

    NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
               0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def value(self):
        kind = self.take(1)[0]
        if kind < 0x80 or kind >= 0xE0:
            return kind if kind < 0x80 else kind - 0x100
        if kind < 0x90:
            return self.map(kind & 15)
        if kind < 0xA0:
            return [self.value() for _ in range(kind & 15)]
        if kind < 0xC0:
            return self.take(kind & 31).decode()
        if kind in self.NUMBERS:
            return self.number(self.NUMBERS[kind])
        if kind in (0xC4, 0xC5, 0xC6):
            return self.take(self.number((">B", ">H", ">I")[kind - 0xC4]))
        if kind in (0xD9, 0xDA, 0xDB):
            return self.take(self.number((">B", ">H", ">I")[kind - 0xD9])).decode()
        if kind in (0xDC, 0xDD):
            return [self.value() for _ in range(self.number((">H", ">I")[kind - 0xDC]))]
        if kind in (0xDE, 0xDF):
            return self.map(self.number((">H", ">I")[kind - 0xDE]))
        return {0xC0: None, 0xC2: False, 0xC3: True}[kind]

    def map(self, size):
        return {self.value(): self.value() for _ in range(size)}


def unpack_side(data, direction):
    """Levels [ticks, lots], best first; direction is -1 for bids and 1 for asks. See docs/streams.md."""
    odds, visits, levels = {}, {}, []
    at = state = tick = 0

    def take(count):
        nonlocal at, state
        while state < 2**23 and at < len(data):
            state, at = state * 256 + data[at], at + 1
        low, state = state % 2**count, state >> count
        return low

    def bit(context):
        nonlocal state
        low, zero = take(12), odds.get(context, 2048)
        visits[context] = visits.get(context, 1) + 1
        pace = min(visits[context], 32)
        if low < zero:
            odds[context] = zero + (4096 - zero) // pace
            state = state * zero + low
            return 0
        odds[context] = zero - zero // pace
        state = state * (4096 - zero) + low - zero
        return 1

    def tree(context, size):
        node = 1
        while node < size:
            node = 2 * node + bit(context + node)
        return node - size

    def number(context):
        width = left = tree(context, 64)
        value = 1
        while left > 0 and value < 8:
            value, left = 2 * value + bit(context + 64 + 8 * width + value), left - 1
        while left > 0:
            value, left = (value << min(left, 16)) + take(min(left, 16)), left - 16
        return value - 1

    while bit(0):
        tick += number(512) if tick == 0 else direction * (1 + number(1024))
        form = tree(32, 32) if bit(1) else 0
        amount = number(1536 + 512 * form) * 10 ** (form >> 1)
        levels.append((tick, amount // tick if form % 2 else amount))
    return levels


def mix32(is_ask, tick, lots):
    mask = 2**32 - 1
    mixed = 0x85EBCA6B if is_ask else 0x9E3779B9
    for word in (tick >> 32, tick & mask, lots >> 32, lots & mask):
        mixed ^= word
        mixed = (mixed ^ (mixed >> 16)) * 0x21F0AAAD & mask
        mixed = (mixed ^ (mixed >> 15)) * 0x735A2D97 & mask
        mixed ^= mixed >> 15
    return mixed


def read_book():
    stream = Stream()
    stream.send({"op": "subscribe", "streams": ["book.BTCUSD"]})
    frame = stream.frame()
    while frame["t"] != "book":
        frame = stream.frame()
    book = frame["d"]
    bids, asks = unpack_side(book["bids"], -1), unpack_side(book["asks"], 1)
    total = sum(mix32(False, *level) for level in bids) + sum(mix32(True, *level) for level in asks)
    is_right = total % 2**32 == book["sum"]
    print(f"book at {book['seq']:.0f}: {len(bids)} bids, {len(asks)} asks, checksum {'right' if is_right else 'WRONG'}")
    for name, levels in (("bid", bids), ("ask", asks)):
        for ticks, lots in levels[:1]:
            print(f"  best {name} {ticks * book['tick']:.1f} for {lots * book['lot']:.5f}")
    if not is_right:
        sys.exit(1)


def main():
    market = call("GET", "/v1/markets")[0]
    print(f"{market['symbol']} mark {market['markPrice']}")
    price = round(market["markPrice"])
    with tempfile.TemporaryDirectory() as folder:
        maker, taker = Session(folder), Session(folder)
        quote = maker.place(side="short", type="limit", margin=500, leverage=10, price=price)
        print(f"maker {maker.address}: {quote['status']}, order {quote['orderId']}")
        fill = taker.place(side="long", type="market", margin=100, leverage=10)
        print(f"taker {taker.address}: {fill['status']}")
        print(f"  {fill['filledSize']} BTC at {fill['avgFillPrice']}, fee {fill['feePaid']}")
        print(f"  preconfirmed in {fill['elapsedMs']} ms, for block {fill['expectedBlock']}")
        read_book()


main()

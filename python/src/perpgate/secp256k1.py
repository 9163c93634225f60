"""secp256k1 and Keccak-256: what an Ethereum wallet signs with. Deterministic (RFC 6979), low s.

Plain Python, a few milliseconds a signature: a wallet signs once per sign-in. It does not run in constant
time; for a wallet with real money sign elsewhere and pass ``Client.sign_in`` an object of your own.
"""

import hashlib
import hmac
from typing import Iterator, List, Optional, Tuple

P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)
_Affine = Tuple[int, int]
# Jacobian coordinates: x = X / Z^2, y = Y / Z^3; Z = 0 is the neutral point.
_Jacobian = Tuple[int, int, int]


def keccak256(data: bytes) -> bytes:
    rate, mask = 136, 2**64 - 1
    padded = bytearray(data + b"\x01" + bytes(rate - 1 - len(data) % rate))
    padded[-1] |= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), rate):
        for at in range(rate // 8):
            lanes[at] ^= int.from_bytes(padded[start + 8 * at : start + 8 * at + 8], "little")
        for constant in _ROUND_CONSTANTS:
            a, b, c, d, e = (lanes[row : row + 5] for row in range(0, 25, 5))
            column = [a[x] ^ b[x] ^ c[x] ^ d[x] ^ e[x] for x in range(5)]
            turned = [column[x - 1] ^ _rotate(column[(x + 1) % 5], 1) for x in range(5)]
            moved = [0] * 25
            for at, (target, turn) in enumerate(_MOVES):
                moved[target] = _rotate(lanes[at] ^ turned[at % 5], turn)
            lanes = [
                moved[at] ^ (~moved[at - at % 5 + (at + 1) % 5] & moved[at - at % 5 + (at + 2) % 5] & mask)
                for at in range(25)
            ]
            lanes[0] ^= constant
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def public_key(secret: int) -> _Affine:
    point = _affine(_multiply(secret, _G))
    assert point is not None
    return point


def sign(secret: int, digest: bytes) -> Tuple[int, int, int]:
    """r, s and the recovery bit of a signature over 32 bytes."""
    z = int.from_bytes(digest, "big")
    for k in _nonces(secret, digest):
        point = _affine(_multiply(k, _G))
        if point is None:
            continue
        x, y = point
        r = x % N
        s = pow(k, -1, N) * (z + r * secret) % N
        # x above N has a chance of one in 2^127; another nonce keeps the recovery bit one bit.
        if r == 0 or s == 0 or x >= N:
            continue
        odd = y & 1
        return (r, N - s, odd ^ 1) if s > N // 2 else (r, s, odd)
    raise AssertionError("unreachable")


def recover(digest: bytes, r: int, s: int, recovery: int) -> Optional[_Affine]:
    """The public key that made the signature; None if none did. Bit 1 of ``recovery``: x is r + N."""
    x = r + N * (recovery >> 1)
    if not (0 < r < N and 0 < s < N and 0 <= recovery < 4 and x < P):
        return None
    y = pow(x**3 + 7, (P + 1) // 4, P)
    if y * y % P != (x**3 + 7) % P:
        return None
    if (y & 1) != (recovery & 1):
        y = P - y
    inverse = pow(r, -1, N)
    u = -int.from_bytes(digest, "big") * inverse % N
    return _affine(_add(_multiply(u, _G), _multiply(s * inverse % N, (x, y))))


def _nonces(secret: int, digest: bytes) -> Iterator[int]:
    """RFC 6979, section 3.2, with SHA-256."""
    reduced = int.from_bytes(digest, "big") % N
    seed = secret.to_bytes(32, "big") + reduced.to_bytes(32, "big")
    value, key = b"\x01" * 32, bytes(32)
    for separator in (b"\x00", b"\x01"):
        key = hmac.new(key, value + separator + seed, hashlib.sha256).digest()
        value = hmac.new(key, value, hashlib.sha256).digest()
    while True:
        value = hmac.new(key, value, hashlib.sha256).digest()
        k = int.from_bytes(value, "big")
        if 0 < k < N:
            yield k
        key = hmac.new(key, value + b"\x00", hashlib.sha256).digest()
        value = hmac.new(key, value, hashlib.sha256).digest()


def _double(point: _Jacobian) -> _Jacobian:
    x, y, z = point
    yy = y * y % P
    s = 4 * x * yy % P
    m = 3 * x * x % P
    doubled = (m * m - 2 * s) % P
    return doubled, (m * (s - doubled) - 8 * yy * yy) % P, 2 * y * z % P


def _add(a: _Jacobian, b: _Jacobian) -> _Jacobian:
    if a[2] == 0 or b[2] == 0:
        return b if a[2] == 0 else a
    az2, bz2 = a[2] * a[2] % P, b[2] * b[2] % P
    u1, u2 = a[0] * bz2 % P, b[0] * az2 % P
    s1, s2 = a[1] * bz2 * b[2] % P, b[1] * az2 * a[2] % P
    if u1 == u2:
        return _double(a) if s1 == s2 else (1, 1, 0)
    h, r = u2 - u1, s2 - s1
    h2 = h * h % P
    h3, v = h * h2 % P, u1 * h2 % P
    x = (r * r - h3 - 2 * v) % P
    return x, (r * (v - x) - s1 * h3) % P, a[2] * b[2] * h % P


def _multiply(scalar: int, point: _Affine) -> _Jacobian:
    total: _Jacobian = (1, 1, 0)
    power: _Jacobian = (*point, 1)
    while scalar:
        if scalar & 1:
            total = _add(total, power)
        power, scalar = _double(power), scalar >> 1
    return total


def _affine(point: _Jacobian) -> Optional[_Affine]:
    x, y, z = point
    if z == 0:
        return None
    inverse = pow(z, -1, P)
    return x * inverse * inverse % P, y * inverse**3 % P


def _rotate(lane: int, count: int) -> int:
    return (lane << count | lane >> (64 - count)) & (2**64 - 1) if count else lane


def _moves() -> List[Tuple[int, int]]:
    """For each lane x + 5 y: where rho and pi move it, and by how many bits it turns."""
    moves = [(0, 0)] * 25
    x, y = 1, 0
    for t in range(24):
        moves[x + 5 * y] = (y + 5 * ((2 * x + 3 * y) % 5), (t + 1) * (t + 2) // 2 % 64)
        x, y = y, (2 * x + 3 * y) % 5
    return moves


def _constants() -> List[int]:
    constants, lfsr = [], 1
    for _ in range(24):
        constant = 0
        for j in range(7):
            constant |= (lfsr & 1) << (2**j - 1)
            lfsr = (lfsr << 1) ^ (0x171 if lfsr & 0x80 else 0)
        constants.append(constant)
    return constants


_MOVES = _moves()
_ROUND_CONSTANTS = _constants()

"""Ed25519 (RFC 8032): session keys sign orders with it, receipts and logs are signed with it.

``cryptography`` does the work where it is installed, plain Python elsewhere (about 1 ms to sign, 4 ms to
verify); the results are the same. Plain Python does not run in constant time: on a machine that you
share with people you do not trust, install ``cryptography``. ``PERPGATE_PURE_PYTHON=1`` in the environment
leaves it aside.
"""

import functools
import hashlib
import os
from typing import Any, List, Optional, Tuple

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_SQRT_MINUS_1 = pow(2, (_P - 1) // 4, _P)
_SIGN = 1 << 255
# y of the points whose order divides 8: such a key verifies signatures that nobody made, and verifiers
# disagree about signatures with such an R.
_SMALL_ORDER_Y = frozenset(
    {
        0,
        1,
        _P - 1,
        0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
        0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
    }
)

# Extended coordinates X, Y, Z, T: x = X / Z, y = Y / Z, x * y = T / Z.
_Point = Tuple[int, int, int, int]
_ZERO: _Point = (0, 1, 1, 0)


class SigningKey:
    """A private key of 32 bytes."""

    def __init__(self, seed: bytes) -> None:
        if len(seed) != 32:
            raise ValueError("an Ed25519 key has 32 bytes")
        self.seed = seed
        self._native = _Private.from_private_bytes(seed) if _Private is not None else None
        digest = hashlib.sha512(seed).digest()
        self._scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
        self._prefix = digest[32:]
        #: 32 bytes.
        self.public_key: bytes = _encode(_multiply_base(self._scalar))

    @classmethod
    def create(cls) -> "SigningKey":
        return cls(os.urandom(32))

    def sign(self, message: bytes) -> bytes:
        if self._native is not None:
            return bytes(self._native.sign(message))
        return self.sign_in_python(message)

    def sign_in_python(self, message: bytes) -> bytes:
        r = _hash(self._prefix, message)
        encoded = _encode(_multiply_base(r))
        s = (r + _hash(encoded, self.public_key, message) * self._scalar) % _L
        return encoded + s.to_bytes(32, "little")


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature holds. A key or an R of small order, or a non-canonical key, verifies nothing."""
    if not _is_usable(public_key, signature):
        return False
    if _Public is None:
        return _verify_point(public_key, message, signature)
    try:
        _Public.from_public_bytes(public_key).verify(signature, message)
    except (_InvalidSignature, ValueError):
        return False
    return True


def verify_in_python(public_key: bytes, message: bytes, signature: bytes) -> bool:
    return _is_usable(public_key, signature) and _verify_point(public_key, message, signature)


def _is_usable(public_key: bytes, signature: bytes) -> bool:
    if len(public_key) != 32 or len(signature) != 64:
        return False
    y = int.from_bytes(public_key, "little") & (_SIGN - 1)
    r = int.from_bytes(signature[:32], "little") & (_SIGN - 1)
    if y >= _P or y in _SMALL_ORDER_Y or r in _SMALL_ORDER_Y:
        return False
    return int.from_bytes(signature[32:], "little") < _L


def _verify_point(public_key: bytes, message: bytes, signature: bytes) -> bool:
    point = _decode(public_key)
    if point is None:
        return False
    k = _hash(signature[:32], public_key, message)
    x, y, z, t = _multiply(k, point)
    expected = _add(_multiply_base(int.from_bytes(signature[32:], "little")), (-x % _P, y, z, -t % _P))
    return _encode(expected) == signature[:32]


def _hash(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % _L


def _add(a: _Point, b: _Point) -> _Point:
    """Complete: it also doubles, and adds the neutral point."""
    ax, ay, az, at = a
    bx, by, bz, bt = b
    minus = (ay - ax) * (by - bx) % _P
    plus = (ay + ax) * (by + bx) % _P
    c = 2 * at * bt * _D % _P
    d = 2 * az * bz % _P
    e, f, g, h = plus - minus, d - c, d + c, plus + minus
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiply(scalar: int, point: _Point) -> _Point:
    total = _ZERO
    while scalar:
        if scalar & 1:
            total = _add(total, point)
        point, scalar = _add(point, point), scalar >> 1
    return total


@functools.lru_cache(maxsize=None)
def _base_powers() -> List[_Point]:
    """The base point times 1, 2, 4, …: a multiple of it is then additions alone."""
    point = _decode((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))
    assert point is not None
    powers = [point]
    for _ in range(255):
        powers.append(_add(powers[-1], powers[-1]))
    return powers


def _multiply_base(scalar: int) -> _Point:
    total = _ZERO
    for power in _base_powers():
        if scalar & 1:
            total = _add(total, power)
        scalar >>= 1
    return total


def _encode(point: _Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, -1, _P)
    x, y = x * inverse % _P, y * inverse % _P
    return (y | (_SIGN if x & 1 else 0)).to_bytes(32, "little")


def _decode(data: bytes) -> Optional[_Point]:
    """RFC 8032, section 5.1.3."""
    number = int.from_bytes(data, "little")
    y = number & (_SIGN - 1)
    if y >= _P:
        return None
    u, v = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = u * v**3 * pow(u * v**7, (_P - 5) // 8, _P) % _P
    if v * x * x % _P != u:
        x = x * _SQRT_MINUS_1 % _P
    is_odd = number >= _SIGN
    if v * x * x % _P != u or (x == 0 and is_odd):
        return None
    if (x & 1) != is_odd:
        x = _P - x
    return x, y, 1, x * y % _P


_Private: Any = None
_Public: Any = None
_InvalidSignature: Any = ValueError
if os.environ.get("PERPGATE_PURE_PYTHON") != "1":
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ed25519 as _native

        _Private, _Public = _native.Ed25519PrivateKey, _native.Ed25519PublicKey
        _InvalidSignature = InvalidSignature
    except ImportError:
        pass

"""What receipts and proofs are made of: RFC 6962 trees, and bytes that have one spelling.

Base64, hex and varints are read strictly, and no bytes may be left over.
"""

import base64
import binascii
import hashlib
import re
from typing import Sequence

from .strict_json import MAX_SAFE


class Invalid(ValueError):
    """Why something is not proven; public functions raise it as a PerpgateError."""


def leaf_hash_of(data: bytes) -> bytes:
    """RFC 6962: a leaf is hashed after the byte 0."""
    return hashlib.sha256(b"\0" + data).digest()


def path_length(index: int, size: int) -> int:
    """Hashes in the path of a leaf."""
    if not 0 <= index < size:
        raise Invalid(f"there is no leaf {index} of {size}")
    length, last = 0, size - 1
    while last > 0:
        length += index % 2 == 1 or index < last
        index, last = index // 2, last // 2
    return length


def root_from_path(leaf_hash: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """The root that follows from a leaf's hash and its path in a tree of ``size`` leaves."""
    if path_length(index, size) != len(path):
        raise Invalid("the path does not fit its place in the tree")
    found, last = leaf_hash, size - 1
    for sibling in path:
        # The last node of a level without a sibling moves up unchanged.
        while index % 2 == 0 and index == last:
            index, last = index // 2, last // 2
        pair = sibling + found if index % 2 else found + sibling
        found = hashlib.sha256(b"\1" + pair).digest()
        index, last = index // 2, last // 2
    return found


class ByteReader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        self._at += count
        if self._at > len(self._data):
            raise Invalid("the bytes end too early")
        return self._data[self._at - count : self._at]

    def count(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def varint(self) -> int:
        """Seven bits a byte, the lowest first; refuses encodings that are longer than needed."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if value > MAX_SAFE or (byte == 0 and shift > 0):
                raise Invalid("a number is too large, or longer than needed")
            if byte < 128:
                return value
            shift += 7

    def end(self) -> None:
        if self._at != len(self._data):
            raise Invalid("there are bytes after its end")


def bytes_of_base64(text: str, is_url: bool = False) -> bytes:
    """The bytes of canonical base64, or of base64url without padding."""
    if not isinstance(text, str) or not text.isascii():
        raise Invalid("base64 is no ASCII text")
    standard = text
    if is_url:
        standard = text.translate(str.maketrans("-_", "+/")) + "=" * (-len(text) % 4)
    try:
        data = base64.b64decode(standard, validate=True)
    except binascii.Error:
        data = b""
    again = base64.urlsafe_b64encode(data).decode().rstrip("=") if is_url else base64.b64encode(data).decode()
    if again != text:
        raise Invalid("base64 cannot be read")
    return data


def bytes_of_hex(text: str, length: int) -> bytes:
    if not re.fullmatch(f"[0-9a-fA-F]{{{2 * length}}}", text):
        raise Invalid(f"{text[:80]!r} is not {length} bytes of hex")
    return bytes.fromhex(text)


def hash_of(data: bytes) -> bytes:
    if len(data) != 32:
        raise Invalid("a hash has another length than 32 bytes")
    return data


def reason_of(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, LookupError) else str(error)

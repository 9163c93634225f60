"""MessagePack, as the venue sends it: maps with text keys, arrays, text, bytes, nil, booleans, numbers.

Nothing is allocated for a length that the bytes do not have. Depth and the number of values are bounded,
since a byte can become an object of a hundred.
"""

import struct
from typing import Any, Dict, Tuple

_MAX_DEPTH = 32
_MAX_VALUES = 1_000_000
_MAX_SAFE_FLOAT = 2.0**53
_NUMBERS: Dict[int, struct.Struct] = {
    kind: struct.Struct(form)
    for kind, form in zip(
        (0xCA, 0xCB, 0xCC, 0xCD, 0xCE, 0xCF, 0xD0, 0xD1, 0xD2, 0xD3),
        (">f", ">d", ">B", ">H", ">I", ">Q", ">b", ">h", ">i", ">q"),
    )
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
# The kind of a length: bytes, text, array or map, and the number that follows.
_LENGTHS: Dict[int, Tuple[str, struct.Struct]] = {
    0xC4: ("bytes", _NUMBERS[0xCC]),
    0xC5: ("bytes", _NUMBERS[0xCD]),
    0xC6: ("bytes", _NUMBERS[0xCE]),
    0xD9: ("text", _NUMBERS[0xCC]),
    0xDA: ("text", _NUMBERS[0xCD]),
    0xDB: ("text", _NUMBERS[0xCE]),
    0xDC: ("array", _NUMBERS[0xCD]),
    0xDD: ("array", _NUMBERS[0xCE]),
    0xDE: ("map", _NUMBERS[0xCD]),
    0xDF: ("map", _NUMBERS[0xCE]),
}


def unpack(data: bytes) -> Any:
    """The one value in the bytes. Raises ValueError for anything else.

    A whole number is an ``int``, also where the wire has a float, as times have: the same value has the
    same type over REST and on a stream.
    """
    reader = _Reader(data)
    value = reader.value(0)
    if reader.at != len(data):
        raise ValueError("bytes after the value")
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.values = 0

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise ValueError("the bytes end too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, form: struct.Struct) -> Any:
        value = form.unpack(self.take(form.size))[0]
        if isinstance(value, float) and value.is_integer() and abs(value) < _MAX_SAFE_FLOAT:
            return int(value)
        return value

    def value(self, depth: int) -> Any:
        self.values += 1
        if depth > _MAX_DEPTH or self.values > _MAX_VALUES:
            raise ValueError("nested too deeply" if depth > _MAX_DEPTH else "too many values")
        kind = self.take(1)[0]
        if kind < 0x80 or kind >= 0xE0:
            return kind if kind < 0x80 else kind - 0x100
        if kind < 0xC0:
            if kind < 0xA0:
                return self.sized("map" if kind < 0x90 else "array", kind & 15, depth)
            return self.sized("text", kind & 31, depth)
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind in _LENGTHS:
            name, form = _LENGTHS[kind]
            return self.sized(name, self.number(form), depth)
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        raise ValueError(f"kind {kind:#x} is not used by the venue")

    def sized(self, name: str, length: int, depth: int) -> Any:
        if length > len(self.data) - self.at:
            raise ValueError("the bytes end too early")
        if name == "bytes":
            return self.take(length)
        if name == "text":
            return self.take(length).decode("utf-8")
        if name == "array":
            return [self.value(depth + 1) for _ in range(length)]
        found: Dict[str, Any] = {}
        for _ in range(length):
            key = self.value(depth + 1)
            if not isinstance(key, str) or key in found:
                raise ValueError("a key is no text, or appears twice")
            found[key] = self.value(depth + 1)
        return found

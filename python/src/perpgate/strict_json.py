"""JSON, read strictly and written exactly.

Reading refuses what two readers could understand differently: repeated keys, integers of 2^53 or more,
NaN. Writing takes ``Decimal`` as its digits, so that what is signed is what was meant.
"""

import json
from decimal import Decimal
from typing import Any, Dict, List, Tuple, Union

Number = Union[int, float, Decimal]
MAX_SAFE = 2**53 - 1


def parse_json(text: Union[str, bytes]) -> Any:
    """Raises ValueError for text that is not strict JSON."""
    try:
        return _DECODER.decode(text if isinstance(text, str) else text.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def dump_json(value: Any) -> str:
    """Compact JSON; keys keep their order, and those whose value is None stay."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(str(k))}:{dump_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(dump_json, value)) + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_SAFE:
        return str(int(value))
    if isinstance(value, (float, Decimal)):
        exact = Decimal(repr(value)) if isinstance(value, float) else value
        if not exact.is_finite():
            raise ValueError(f"{value} is no number")
        # As JavaScript writes it, so that equal numbers are equal bytes; Python's own is 1e-05.
        return format(exact, "f") if -7 <= exact.adjusted() < 21 else str(exact)
    return json.dumps(value)


def is_count(value: Any) -> bool:
    """Whether it is an integer from 0 to 2^53 - 1; True and 1.0 are none."""
    return type(value) is int and 0 <= value <= MAX_SAFE


def _object(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice")
    return found


def _integer(digits: str) -> int:
    # Python before 3.11 converts millions of digits, in quadratic time.
    value = int(digits) if len(digits) <= 17 else MAX_SAFE + 1
    if abs(value) > MAX_SAFE:
        raise ValueError("an integer is 2^53 or more")
    return value


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant)

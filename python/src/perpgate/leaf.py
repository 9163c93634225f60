"""The leaf of a block's tree: the sealed acknowledgement of an order or a cancel (docs/api.md has its fields)."""

import struct
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from .book import on_step, step_of
from .strict_json import MAX_SAFE
from .tree import Invalid
from .types import EXITS, Json

_LEAF_KIND = 18
_FIELDS = (
    "orderId account session market side type nonce status reason filledLots filledMicros feeMicros "
    "remainingLots positionLots positionCostMicros unrealizedMicros block ackNonce "
    "client1 client2 client3 client4 client5"
).split()
_PLAIN = _FIELDS.index("ackNonce")
_CANCEL_KIND = 61
_CANCEL_FIELDS = "orderId account session market nonce remainingLots block ackNonce".split()
_STATUSES = ("filled", "resting", "pending", "canceled")
_REASONS = (
    "none requested unfunded bankruptcy position_limit band worst_price book_empty self_trade reduce_only "
    "liquidation cancel_after market_halted below_lot disconnected market_reduce_only market_settled "
    "not_in_cohort stale_index leverage_above_tier session_notional_cap_exceeded open_interest_limit "
    "fill_limit deposit_reorged not_filled margin_spent expired position_closed session_order_cap_exceeded "
    "order_ended leverage_limited"
).split()
_CLIENT_ID = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_AVERAGE = Context(prec=12, rounding=ROUND_HALF_UP)


def read_leaf(data: bytes) -> Dict[str, int]:
    """The fields of a sealed acknowledgement; of a cancel, those that it has. Raises ValueError if the bytes
    are none."""
    if len(data) == 8 * (1 + len(_CANCEL_FIELDS)):
        kind, exit, words = _words(data)
        if kind != _CANCEL_KIND or min(words) < 0:
            raise Invalid("the leaf has a value that this version does not know")
        return {**dict(zip(_CANCEL_FIELDS, words)), "exit": exit}
    is_plain = len(data) == 8 * (1 + _PLAIN)
    if not is_plain and len(data) != 8 * (1 + len(_FIELDS)):
        raise Invalid("the leaf has another length")
    kind, exit, words = _words(data)
    if is_plain and exit:
        raise Invalid("the leaf has a number that is no safe integer")
    leaf = dict(zip(_FIELDS, words))
    # The type of an order with exits is 4 more for a take-profit and 8 more for a stop-loss.
    leaf.update(exit=exit, exits=leaf["type"] // 4, type=leaf["type"] % 4)
    if is_plain:
        leaf.update(dict.fromkeys(_FIELDS[_PLAIN:], 0), ackNonce=leaf["orderId"])
    elif leaf["ackNonce"] == leaf["orderId"] and exit == 0 and leaf["client1"] == 0:
        raise Invalid("the leaf is longer than needed")
    is_known = (
        kind == _LEAF_KIND
        and leaf["market"] >= 0
        and leaf["side"] in (1, -1)
        and leaf["type"] in (0, 1, 2)
        and leaf["exits"] in (0, 1, 2, 3)
        and 0 <= leaf["status"] < len(_STATUSES)
        and 0 <= leaf["reason"] < len(_REASONS)
    )
    if not is_known:
        raise Invalid("the leaf has a value that this version does not know")
    return leaf


def _words(data: bytes) -> Tuple[int, int, List[int]]:
    """The kind, which exit the order is, and the other numbers."""
    numbers = struct.unpack(f"<{len(data) // 8}d", data)
    # The id of an exit, which an amendment or a cancel may name, is its order's and a quarter or a half.
    exit = numbers[1] % 1 * 4 if 1 < numbers[1] <= MAX_SAFE / 4 else 0
    numbers = (numbers[0], numbers[1] - exit / 4, *numbers[2:])
    if exit not in (0, 1, 2) or not all(number.is_integer() and abs(number) <= MAX_SAFE for number in numbers):
        raise Invalid("the leaf has a number that is no safe integer")
    kind, *words = map(int, numbers)
    return kind, int(exit), words


def acknowledgement_of(leaf: Mapping[str, int], market: Mapping[str, Any]) -> Json:
    """What the venue must have answered for a leaf of that market."""
    tick, lot = step_of(market["tickSize"]), step_of(market["lotSize"])
    order_id = f"{leaf['orderId']}.{leaf['exit']}" if leaf["exit"] else str(leaf["orderId"])
    if "side" not in leaf:
        return {
            "ackNonce": str(leaf["ackNonce"]),
            "orderId": order_id,
            "status": "canceled",
            "remainingSize": on_step(leaf["remainingLots"], lot),
            "expectedBlock": leaf["block"],
        }
    micros_per = tick[0] * lot[0] * 1_000_000 // (tick[1] * lot[1])

    def average(micros: int, lots: int) -> Union[int, float]:
        if lots == 0:
            return 0
        # In doubles and in this order, as the venue computes it.
        ticks = micros / (lots * micros_per)
        if ticks.is_integer():
            return on_step(int(ticks), tick)
        return float(_AVERAGE.create_decimal(Decimal(ticks * tick[0] / tick[1])))

    exits = [
        {"orderId": f"{order_id}.{i}", "kind": kind} for i, kind in enumerate(EXITS, 1) if leaf["exits"] & i
    ]
    return {
        "ackNonce": str(leaf["ackNonce"]),
        "orderId": order_id,
        "symbol": market["symbol"],
        "side": "long" if leaf["side"] > 0 else "short",
        "nonce": leaf["nonce"],
        "status": _STATUSES[leaf["status"]],
        "filledSize": on_step(leaf["filledLots"], lot),
        "remainingSize": on_step(leaf["remainingLots"], lot),
        "avgFillPrice": average(leaf["filledMicros"], leaf["filledLots"]),
        "feePaid": on_step(leaf["feeMicros"], (1, 1_000_000)),
        "positionAfter": {
            "size": on_step(leaf["positionLots"], lot),
            "avgEntry": average(leaf["positionCostMicros"], leaf["positionLots"]),
            "unrealizedPnl": on_step(leaf["unrealizedMicros"], (1, 1_000_000)),
        },
        "expectedBlock": leaf["block"],
        "reason": None if leaf["reason"] == 0 else _REASONS[leaf["reason"]],
        "clientOrderId": _client_id(leaf),
        **({"exits": exits} if exits else {}),
    }


def difference_of(sealed: Mapping[str, Any], shown: Any, where: str = "") -> Optional[str]:
    """The first field that was shown otherwise than it was sealed; None if all are the same."""
    if isinstance(shown, dict) and "exits" in shown and "exits" not in sealed:
        return f"{where}exits are none as they were sealed, {shown['exits']} here"
    for name, value in sealed.items():
        actual = shown.get(name) if isinstance(shown, dict) else None
        if isinstance(value, dict):
            difference = difference_of(value, actual, f"{name}.")
            if difference is not None:
                return difference
        # In Python True is 1.
        elif actual != value or isinstance(actual, bool):
            return f"{where}{name} is {value} as it was sealed, {actual} here"
    return None


def _client_id(leaf: Mapping[str, int]) -> Optional[str]:
    text = ""
    for word in (leaf[f"client{i}"] for i in range(1, 6)):
        while word > 0:
            word, digit = divmod(word, 65)
            text += _CLIENT_ID[digit - 1] if digit else ""
    return text or None

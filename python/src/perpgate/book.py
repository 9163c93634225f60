"""The packed book of ``book.<symbol>`` (docs/streams.md), and a copy that checks itself."""

import bisect
from decimal import Decimal
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from .strict_json import MAX_SAFE, is_count

_MASK = 2**32 - 1
#: Levels of a side that the venue publishes; a delta can remove all and bring as many.
MAX_LEVELS = 65_536

Level = Tuple[int, int]
#: Numerator and denominator.
Step = Tuple[int, int]


class PriceLevel(NamedTuple):
    price: float
    size: float


class BookError(ValueError):
    """A frame that does not continue the book; the copy is empty until the next snapshot."""


class Book:
    """A book kept by ``Stream.book``. While ``is_live`` it equals the venue's, proven by the checksum of
    every frame; otherwise it is empty: no book is better than a wrong one."""

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self.clear()

    def clear(self) -> None:
        self.is_live = False
        #: The log position that the book reflects.
        self.seq = 0
        #: When the venue made the last frame, Unix milliseconds.
        self.time = 0
        self.sum = 0
        self._tick: Step = (0, 1)
        self._lot: Step = (0, 1)
        # By side, -1 for bids and 1 for asks: lots by tick, and the ticks in rising order.
        self._lots: Dict[int, Dict[int, int]] = {-1: {}, 1: {}}
        self._ticks: Dict[int, List[int]] = {-1: [], 1: []}

    @property
    def best_bid(self) -> Optional[PriceLevel]:
        return next(iter(self.bids(1)), None)

    @property
    def best_ask(self) -> Optional[PriceLevel]:
        return next(iter(self.asks(1)), None)

    def bids(self, depth: int = MAX_LEVELS) -> List[PriceLevel]:
        """Best first."""
        return self._levels(-1, self._ticks[-1][: -depth - 1 : -1])

    def asks(self, depth: int = MAX_LEVELS) -> List[PriceLevel]:
        """Best first."""
        return self._levels(1, self._ticks[1][:depth])

    def _levels(self, side: int, ticks: List[int]) -> List[PriceLevel]:
        lots = self._lots[side]
        return [PriceLevel(on_step(tick, self._tick), on_step(lots[tick], self._lot)) for tick in ticks]

    def apply(self, frame: Any) -> None:
        """Takes the payload of a frame, entirely or not at all. Raises BookError, and is empty then."""
        try:
            self._apply(frame)
        except BookError:
            self.clear()
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.clear()
            raise BookError(f"the frame cannot be read: {error!r}") from None

    def _apply(self, frame: Any) -> None:
        kind, seq = frame["type"], frame["seq"]
        if not is_count(seq) or not is_count(frame["sum"]) or not is_count(frame["time"]):
            raise BookError("the frame has a number that is no count")
        if kind == "snapshot":
            self.clear()
            self._tick, self._lot = step_of(frame["tick"]), step_of(frame["lot"])
        elif kind != "delta":
            raise BookError(f"a frame of type {kind!r}")
        elif frame["prev"] != self.seq or seq <= self.seq:
            raise BookError(f"a frame after {frame['prev']} does not follow {self.seq}")
        for side, name in ((-1, "bids"), (1, "asks")):
            self._change(side, unpack_side(frame[name], side), kind == "snapshot")
        if self.sum != frame["sum"]:
            raise BookError(f"the checksum is {frame['sum']}, that of the copy {self.sum}")
        self.seq, self.time, self.is_live = seq, frame["time"], True

    def _change(self, side: int, levels: List[Level], is_snapshot: bool) -> None:
        held, ticks = self._lots[side], self._ticks[side]
        for tick, lots in levels:
            before = held.get(tick, 0)
            if before:
                self.sum -= mix32(side, tick, before)
            if lots:
                self.sum += mix32(side, tick, lots)
                held[tick] = lots
                if not before and not is_snapshot:
                    bisect.insort(ticks, tick)
            elif before:
                del held[tick]
                del ticks[bisect.bisect_left(ticks, tick)]
        self.sum &= _MASK
        if is_snapshot:
            ticks.extend(sorted(held))
        if len(held) > MAX_LEVELS:
            raise BookError(f"more than {MAX_LEVELS} levels")


def step_of(value: Any) -> Step:
    """A tick or a lot as it is written in decimals: 0.1 is one tenth, not the binary fraction next to it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1e-12 <= value <= 1e12:
        raise BookError(f"{value!r} is no tick or lot")
    return Decimal(repr(value)).as_integer_ratio()


def on_step(steps: int, step: Step) -> Union[int, float]:
    """Whole steps as the wire has them: 650001 steps of 0.1 are 65000.1."""
    numerator, denominator = step
    product = steps * numerator
    return product // denominator if product % denominator == 0 else product / denominator


def mix32(side: int, tick: int, lots: int) -> int:
    """The term of a level in the checksum; ``side`` is -1 for bids and 1 for asks."""
    mixed = 0x85EBCA6B if side > 0 else 0x9E3779B9
    for word in (tick >> 32, tick & _MASK, lots >> 32, lots & _MASK):
        mixed ^= word
        mixed = (mixed ^ (mixed >> 16)) * 0x21F0AAAD & _MASK
        mixed = (mixed ^ (mixed >> 15)) * 0x735A2D97 & _MASK
        mixed ^= mixed >> 15
    return mixed


def unpack_side(data: bytes, direction: int) -> List[Level]:
    """Levels in ticks and lots, best first; ``direction`` is -1 for bids and 1 for asks.

    Ends for any bytes: a level makes the state smaller, and only bytes refill it. Raises BookError for
    bytes that are not one whole side.
    """
    if not isinstance(data, bytes):
        raise BookError("a side is no bytes")
    if not data:
        return []
    decoder = _SideDecoder(data)
    levels: List[Level] = []
    tick = 0
    while decoder.bit(0):
        tick += decoder.number(512) if tick == 0 else direction * (1 + decoder.number(1024))
        if not 0 < tick <= MAX_SAFE or len(levels) == 2 * MAX_LEVELS:
            raise BookError(f"tick {tick}" if len(levels) < 2 * MAX_LEVELS else "too many levels")
        form = decoder.tree(32, 32) if decoder.bit(1) else 0
        amount = decoder.number(1536 + 512 * form) * 10 ** (form >> 1)
        if amount > MAX_SAFE:
            raise BookError(f"size {amount}")
        levels.append((tick, amount // tick if form % 2 else amount))
    if not levels or decoder.state != 31 or decoder.at != len(data):
        raise BookError("the bytes are not one whole side")
    return levels


class _SideDecoder:
    """Predicted bits (rANS); docs/streams.md explains every number here."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = self.state = 0
        self._odds: Dict[int, int] = {}
        self._visits: Dict[int, int] = {}

    def take(self, count: int) -> int:
        while self.state < 2**23 and self.at < len(self.data):
            self.state, self.at = self.state << 8 | self.data[self.at], self.at + 1
        low = self.state & ((1 << count) - 1)
        self.state >>= count
        return low

    def bit(self, context: int) -> int:
        low, zero = self.take(12), self._odds.get(context, 2048)
        pace = min(self._visits.get(context, 1) + 1, 32)
        self._visits[context] = pace
        if low < zero:
            self._odds[context] = zero + (4096 - zero) // pace
            self.state = self.state * zero + low
            return 0
        self._odds[context] = zero - zero // pace
        self.state = self.state * (4096 - zero) + low - zero
        return 1

    def tree(self, context: int, size: int) -> int:
        node = 1
        while node < size:
            node = 2 * node + self.bit(context + node)
        return node - size

    def number(self, context: int) -> int:
        width = left = self.tree(context, 64)
        if width > 53:
            raise BookError(f"a number of {width} bits")
        value = 1
        while left > 0 and value < 8:
            value, left = 2 * value + self.bit(context + 64 + 8 * width + value), left - 1
        while left > 0:
            value, left = (value << min(left, 16)) + self.take(min(left, 16)), left - 16
        return value - 1

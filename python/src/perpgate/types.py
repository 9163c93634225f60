"""The fields of requests, with the names of the interface (docs/orders.md)."""

from typing import Any, Dict, List, Literal, Mapping, Optional, Protocol, TypedDict, Union

from .strict_json import Number

Json = Dict[str, Any]
Side = Literal["long", "short"]
OrderType = Literal["market", "limit", "stop"]
Resolution = Literal["1m", "5m", "15m", "1h", "4h", "1d"]
CandlePrice = Literal["trades", "mark", "index"]


class Signer(Protocol):
    """A wallet: anything with an EIP-55 address that signs messages as EIP-191 says."""

    @property
    def address(self) -> str: ...

    def sign_message(self, text: str) -> str: ...


class Page(TypedDict, total=False):
    """Which entries of a list. Ids are exclusive; times are Unix milliseconds, start <= time < end."""

    limit: int
    before: Union[str, int]
    after: Union[str, int]
    start: int
    end: int


class AccountPage(Page, total=False):
    symbol: str


class Exit(TypedDict, total=False):
    """A take-profit or stop-loss that an order is sent with: the trigger price, and with ``limitPrice`` the
    price of the limit order that it is then."""

    price: Number
    limitPrice: Optional[Number]


class Order(TypedDict, total=False):
    """A new order. The order of the fields here is that of the signed bytes, so equal fields give equal
    bytes, and an order that is repeated with its nonce is recognised as the same."""

    symbol: str
    side: Side
    type: OrderType
    margin: Number
    leverage: int
    price: Optional[Number]
    reduceOnly: bool
    postOnly: bool
    size: Number
    timeInForce: Literal["gtc", "ioc", "fok"]
    expiresAt: int
    clientOrderId: str
    trigger: Literal["stop", "takeProfit"]
    limitPrice: Optional[Number]
    closePosition: bool
    selfTrade: Literal["cancelResting", "cancelTaker", "cancelBoth"]
    takeProfit: Exit
    stopLoss: Exit
    validUntil: int
    nonce: int


class Amendment(TypedDict, total=False):
    """What changes of an open order, which ``orderId`` or ``clientOrderId`` names."""

    orderId: str
    clientOrderId: str
    price: Number
    size: Number
    limitPrice: Number
    expiresAt: Optional[int]
    validUntil: int
    nonce: int


_TARGET = ["orderId", "clientOrderId"]
_ALONE = ("validUntil", "nonce")
_OPERATIONS: Dict[str, List[str]] = {
    "place": [name for name in Order.__annotations__ if name not in _ALONE],
    "amend": [name for name in Amendment.__annotations__ if name not in _ALONE],
    "cancel": _TARGET,
}
# In the order of their ids.
EXITS = ("takeProfit", "stopLoss")
# Left out where they are what they would be anyway, as the SDK does: a plain order keeps its bytes.
_NEUTRAL = {"price": None, "limitPrice": None, "reduceOnly": False, "postOnly": False}


def fields_of(what: str, given: Mapping[str, Any], known: List[str]) -> Json:
    """The known fields in their order. A field that is not known is refused: left out silently, an order
    meant as ``ioc`` would rest."""
    for name in given:
        if name not in known:
            raise TypeError(f"{what} has no field {name!r}; known: {', '.join(known)}")
    return {
        name: _exit_of(name, given[name]) if name in EXITS else given[name]
        for name in known
        if name in given and not (name in _NEUTRAL and given[name] is _NEUTRAL[name])
    }


def _exit_of(name: str, given: Any) -> Any:
    # What is no object is left to the venue to refuse.
    return fields_of(name, given, list(Exit.__annotations__)) if isinstance(given, Mapping) else given


def operation_of(operation: Mapping[str, Any]) -> Json:
    """One operation of a batch."""
    name = operation.get("op")
    if name not in _OPERATIONS:
        raise TypeError(f"op is place, amend or cancel, not {name!r}")
    return fields_of(f"a {name} of a batch", operation, ["op", *_OPERATIONS[name]])


def page_query(page: Mapping[str, Any]) -> Json:
    names = {"start": "from", "end": "to"}
    return {names.get(name, name): value for name, value in page.items()}

"""An Ethereum wallet in memory, and the message that it signs to open a session (EIP-4361)."""

import re
import secrets
from datetime import datetime, timezone
from decimal import ROUND_DOWN, Decimal
from typing import Optional, Sequence, Union

from .secp256k1 import N, keccak256, public_key, recover, sign
from .strict_json import Number


class Wallet:
    """A private key: 32 bytes or their hex. Only ``address`` and ``sign_message`` are used to sign in, so
    any object that has both can take its place."""

    def __init__(self, private_key: Union[str, bytes]) -> None:
        if isinstance(private_key, str):
            private_key = bytes.fromhex(re.sub("^0x", "", private_key))
        self._secret = int.from_bytes(private_key, "big")
        if len(private_key) != 32 or not 0 < self._secret < N:
            raise ValueError("a private key has 32 bytes and is from 1 to N - 1")
        #: With the capital letters of EIP-55.
        self.address: str = _address_of(public_key(self._secret))

    @classmethod
    def create(cls) -> "Wallet":
        return cls((1 + secrets.randbelow(N - 1)).to_bytes(32, "big"))

    @property
    def private_key(self) -> str:
        """Hex. Keep it like the money that it holds."""
        return f"0x{self._secret:064x}"

    def __repr__(self) -> str:
        return f"Wallet({self.address})"

    def sign_message(self, text: str) -> str:
        """EIP-191: 65 bytes r, s, v in hex."""
        r, s, odd = sign(self._secret, message_digest(text))
        return f"0x{r:064x}{s:064x}{27 + odd:02x}"


def message_digest(text: str) -> bytes:
    """What a wallet signs of a text (EIP-191)."""
    data = text.encode("utf-8")
    return keccak256(b"\x19Ethereum Signed Message:\n%d" % len(data) + data)


def recover_address(text: str, signature: str) -> Optional[str]:
    """The address that signed the text; None if no key did."""
    digits = re.sub("^0x", "", signature)
    if not re.fullmatch("[0-9a-fA-F]{130}", digits):
        return None
    r, s, v = (int(part, 16) for part in (digits[:64], digits[64:128], digits[128:]))
    point = recover(message_digest(text), r, s, v - 27 if v >= 27 else v)
    return None if point is None else _address_of(point)


def checksum_address(address: str) -> str:
    """The EIP-55 spelling of an address in hex."""
    digits = address[2:].lower()
    check = keccak256(digits.encode()).hex()
    return "0x" + "".join(d.upper() if int(c, 16) > 7 else d for d, c in zip(digits, check))


def _address_of(point: "tuple[int, int]") -> str:
    x, y = point
    return checksum_address("0x" + keccak256(x.to_bytes(32, "big") + y.to_bytes(32, "big"))[-20:].hex())


def siwe_text(
    *,
    domain: str,
    address: str,
    uri: str,
    nonce: str,
    session_key: str,
    issued_at: float,
    statement: str = "",
    chain_id: int = 1,
    expires_at: Optional[float] = None,
    max_order_notional: Optional[Number] = None,
    max_notional: Optional[Number] = None,
    symbols: Optional[Sequence[str]] = None,
) -> str:
    """The message of a sign-in. Its resource binds the session key, and the caps of that key, to the
    wallet's signature. Times are Unix seconds."""
    if "\n" in statement or "\r" in statement:
        raise ValueError("the statement must be one line")
    if symbols is not None and len(symbols) == 0:
        raise ValueError("symbols: list a market or leave it out")
    resource = [f"urn:perpgate:session?key={session_key}"]
    if max_order_notional is not None:
        resource.append(f"maxOrderNotional={_dollars(max_order_notional)}")
    if max_notional is not None:
        resource.append(f"maxNotional={_dollars(max_notional)}")
    if symbols is not None:
        resource.append("symbols=" + ",".join(symbols))
    lines = [f"{domain} wants you to sign in with your Ethereum account:", address, ""]
    lines += [statement, ""] if statement else []
    lines += [f"URI: {uri}", "Version: 1", f"Chain ID: {chain_id}", f"Nonce: {nonce}"]
    lines += [f"Issued At: {_iso(issued_at)}"]
    lines += [f"Expiration Time: {_iso(expires_at)}"] if expires_at is not None else []
    return "\n".join([*lines, "Resources:", "- " + "&".join(resource)])


def _iso(seconds: float) -> str:
    text = datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _dollars(value: Number) -> str:
    """Plain decimals to the micro-dollar, rounded down: a cap never grows by rounding."""
    exact = Decimal(str(value)).quantize(Decimal("0.000001"), ROUND_DOWN)
    if not 0 < exact < 10**9:
        raise ValueError(f"a cap is at least a micro-dollar and below 10^9 dollars, not {value}")
    text = format(exact, "f").rstrip("0").rstrip(".")
    return text

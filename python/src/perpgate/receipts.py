"""Receipts: the venue's signature over what it acknowledged, checked without any network.

docs/receipts.md has every byte. Counts are JSON integers below 2^53, and no key appears twice.
"""

import hashlib
import re
import struct
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Union

from .ed25519 import verify
from .errors import PerpgateError
from .leaf import acknowledgement_of, difference_of, read_leaf
from .signed_note import LOG_KEY, log_key_chain, parse_note_key
from .strict_json import is_count, parse_json
from .tree import ByteReader, Invalid, bytes_of_base64, bytes_of_hex, leaf_hash_of, path_length, reason_of
from .tree import root_from_path
from .types import Json

RECEIPT_FORMAT = "perpgate-receipt/1"


class Receipt(NamedTuple):
    """What the venue signed: the request with this hash executed at this position, its acknowledgement has
    this leaf and will be in this block, and the block before it was this one."""

    venue_id: bytes
    position: int
    request_hash: bytes
    address: bytes
    session: int
    leaf_hash: bytes
    block: int
    #: Of the log, Unix milliseconds.
    time: int
    last_block_hash: bytes


def receipt_file(
    venue: Mapping[str, str],
    address: str,
    ack: Mapping[str, Any],
    request: bytes,
    markets: Sequence[Mapping[str, Any]] = (),
) -> Json:
    """A receipt with everything that it leaves out, to be judged years later by someone else; with the
    ``leaf`` of the answer and the units of its market, if there are markets. Nothing is checked here but
    what is needed to write it. Raises ``receipt_invalid``."""
    try:
        file: Json = {
            "format": RECEIPT_FORMAT,
            "logKey": venue["logKey"],
            "venueId": re.sub("^0x", "", venue["venueId"]),
            "address": address.lower(),
            "position": parse_json(ack["ackNonce"]),
            "block": ack["expectedBlock"],
            "requestHash": hashlib.sha256(request).hexdigest(),
            "receipt": ack["receipt"],
            "request": request.decode("utf-8"),
            "ack": {name: value for name, value in ack.items() if name != "replayed"},
        }
        if "leaf" in ack:
            market = markets[read_leaf(bytes_of_base64(ack["leaf"], is_url=True))["market"]]
            units = {name: market[name] for name in ("symbol", "tickSize", "lotSize")}
            file = {**file, "leaf": ack["leaf"], "market": units}
        return file
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise PerpgateError("receipt_invalid", reason_of(error)) from None


def check_receipt(
    file: Union[str, bytes, Mapping[str, Any]],
    log_key: Optional[str] = None,
    successors: Sequence[str] = (),
) -> Receipt:
    """Checks a receipt file, or its text: certificate, signature, place in its batch; and that the
    ``request``, the ``leaf`` and the ``ack`` in it are what was signed, where it has them.

    Pass the log's key that you pinned: without it the one in the file is used, which shows only that its
    parts fit together. A receipt of an earlier or later key of the log needs the notes that relate the two
    (``Client.log_successors``). Raises ``receipt_invalid``.
    """
    try:
        opened = parse_json(file) if isinstance(file, (str, bytes)) else file
        return _check_receipt(opened, log_key, successors)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PerpgateError("receipt_invalid", reason_of(error)) from None


def log_keys(pinned: str, successors: Sequence[str]) -> List[str]:
    """All keys of the pinned one's log, the oldest first. Raises ``receipt_invalid``."""
    try:
        return [str(key) for key in log_key_chain(parse_note_key(pinned, LOG_KEY), successors)]
    except Invalid as error:
        raise PerpgateError("receipt_invalid", reason_of(error)) from None


def _check_receipt(file: Mapping[str, Any], log_key: Optional[str], successors: Sequence[str]) -> Receipt:
    if file["format"] != RECEIPT_FORMAT:
        raise Invalid("it is no receipt of a known format")
    key = parse_note_key(file["logKey"], LOG_KEY)
    pinned = key if log_key is None else parse_note_key(log_key, LOG_KEY)
    if key != pinned and key not in log_key_chain(pinned, successors):
        raise Invalid("it names another log key")
    position, block = file["position"], file["block"]
    if not is_count(position) or not is_count(block):
        raise Invalid("its position or block is no count")
    reader = ByteReader(bytes_of_base64(file["receipt"], is_url=True))
    if reader.count(1) != 1:
        raise Invalid("it is of an unknown version")
    session, time_ms = reader.varint(), reader.count(6)
    leaf_hash, last_block_hash = reader.take(32), reader.take(32)
    index, size = reader.varint(), reader.varint()
    path = [reader.take(32) for _ in range(path_length(index, size))]
    signature, receipt_key, certificate = reader.take(64), reader.take(32), reader.take(64)
    reader.end()
    receipt = Receipt(
        venue_id=bytes_of_hex(file["venueId"], 32),
        position=position,
        request_hash=bytes_of_hex(file["requestHash"], 32),
        address=bytes_of_hex(re.sub("^0x", "", file["address"]), 20),
        session=session,
        leaf_hash=leaf_hash,
        block=block,
        time=time_ms,
        last_block_hash=last_block_hash,
    )
    if not verify(key.public_key, b"\0PGRKEY1" + receipt.venue_id + receipt_key, certificate):
        raise Invalid("the log's key did not certify the key of the receipt")
    root = root_from_path(leaf_hash_of(statement_bytes(receipt)), index, size, path)
    if not verify(receipt_key, b"PGROOT01" + struct.pack("<Q", size) + root, signature):
        raise Invalid("the signature is not over this statement")
    _check_shown(file, receipt)
    return receipt


def _check_shown(file: Mapping[str, Any], receipt: Receipt) -> None:
    """What a file has for a reader must be what the signed hashes are of."""
    if "request" in file and hashlib.sha256(file["request"].encode("utf-8")).digest() != receipt.request_hash:
        raise Invalid("its request is not the one that the receipt is for")
    if "leaf" not in file:
        return
    data = bytes_of_base64(file["leaf"], is_url=True)
    if leaf_hash_of(data) != receipt.leaf_hash:
        raise Invalid("its leaf is not the one that the receipt is about")
    if "ack" not in file or "market" not in file:
        return
    sealed = {**acknowledgement_of(read_leaf(data), file["market"]), "time": receipt.time}
    difference = difference_of(sealed, file["ack"])
    if difference is not None:
        raise Invalid(difference)


def statement_bytes(receipt: Receipt) -> bytes:
    """The 188 bytes that are a leaf of the signed tree."""
    return struct.pack(
        "<8s32sQ32s20sQ32sQQ32s",
        b"PGRCPT01",
        receipt.venue_id,
        receipt.position,
        receipt.request_hash,
        receipt.address,
        receipt.session,
        receipt.leaf_hash,
        receipt.block,
        receipt.time,
        receipt.last_block_hash,
    )

"""The proof file of an order, checked without any network: a C2SP tlog-proof of the block's header."""

import re
import struct
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from .errors import PerpgateError
from .leaf import read_leaf
from .signed_note import LOG_KEY, WITNESS_KEY, NoteKey, is_signed_by, log_key_chain, parse_note, parse_note_key
from .strict_json import MAX_SAFE, is_count, parse_json
from .tree import Invalid, bytes_of_base64, hash_of, leaf_hash_of, reason_of, root_from_path
from .types import Json

PROOF_FORMAT = "perpgate-order-proof/1"


class OrderProof(NamedTuple):
    """What a proof file proves: the leaf is in the block, and the block under the checkpoint."""

    #: The fields of the leaf by name (docs/api.md).
    leaf: Dict[str, int]
    leaf_hash: bytes
    block: Json
    #: Blocks under the checkpoint.
    size: int
    #: Names of the witnesses whose cosignatures hold.
    cosigners: List[str]


def check_order_proof(
    text: str,
    log_key: Optional[str] = None,
    witness_keys: Sequence[str] = (),
    require: Optional[int] = None,
) -> OrderProof:
    """Checks the proof file of an order (``Session.preconfirm_proof``).

    Pass the keys that you pinned; ``log_key`` may be an earlier or later one of the log, as the successor
    notes in the file say. At least ``require`` of the witnesses must have cosigned, all of them by
    default; a cosignature by one of these keys that does not hold always fails. Raises ``proof_invalid``.
    """
    try:
        return _check_order_proof(text, log_key, witness_keys, require)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PerpgateError("proof_invalid", reason_of(error)) from None


def _check_order_proof(
    text: str, log_key: Optional[str], witness_keys: Sequence[str], require: Optional[int]
) -> OrderProof:
    head, separator, checkpoint = text.partition("\n\n")
    lines = head.split("\n")
    is_proof = separator and len(lines) >= 3 and lines[0] == "c2sp.org/tlog-proof@v1"
    entry = re.fullmatch(r"index (0|[1-9][0-9]{0,14})", lines[2]) if is_proof else None
    if entry is None or not lines[1].startswith("extra "):
        raise Invalid("the file is no proof of an order")
    block_path = [hash_of(bytes_of_base64(line)) for line in lines[3:]]
    extra = parse_json(bytes_of_base64(lines[1][6:]))
    if extra["format"] != PROOF_FORMAT or not is_count(extra["index"]):
        raise Invalid("the file is no proof of an order")
    key = parse_note_key(extra["logKey"] if log_key is None else log_key, LOG_KEY)
    keys = log_key_chain(key, extra.get("successors", []))
    witnesses = _witnesses(witness_keys)
    needed = len(witnesses) if require is None else require
    if not 0 <= needed <= len(witnesses):
        raise Invalid(f"{needed} cosignatures cannot be required of {len(witnesses)} witnesses")
    note, signatures = parse_note(checkpoint)
    origin, size, root = _checkpoint(note)
    if origin not in [each.name for each in keys]:
        raise Invalid(f"the checkpoint is of {origin}, not of {key.name}")
    if not any(is_signed_by(note, signatures, each) for each in keys if each.name == origin):
        raise Invalid("the log's key did not sign the checkpoint")
    cosigners = sorted({each.name for each in witnesses if is_signed_by(note, signatures, each)})
    if len(cosigners) < needed:
        raise Invalid(f"the checkpoint has {len(cosigners)} of the {needed} cosignatures that are required")
    header = bytes.fromhex(extra["header"])
    block = read_header(header)
    number = block["number"]
    if number - 1 != int(entry.group(1)):
        raise Invalid(f"the header of block {number} is not at index {entry.group(1)}")
    if root_from_path(leaf_hash_of(header), number - 1, size, block_path) != root:
        raise Invalid(f"block {number} is not under the checkpoint")
    data = bytes.fromhex(extra["leaf"])
    path = [hash_of(bytes.fromhex(each)) for each in extra["path"]]
    found = root_from_path(leaf_hash_of(data), extra["index"], block["ackCount"], path)
    if found != block["acksRoot"]:
        raise Invalid(f"the acknowledgement is not in block {number}")
    leaf = read_leaf(data)
    is_within = block["firstPosition"] <= leaf["ackNonce"] <= block["lastPosition"]
    if leaf["block"] != number or not is_within:
        raise Invalid(f"the acknowledgement names block {leaf['block']} and position {leaf['ackNonce']}")
    return OrderProof(leaf, leaf_hash_of(data), block, size, cosigners)


def _witnesses(texts: Sequence[str]) -> List[NoteKey]:
    """Two names of one key, or two keys of one name, would be counted as two witnesses."""
    keys = [parse_note_key(text, WITNESS_KEY) for text in dict.fromkeys(each.strip() for each in texts)]
    if len({key.name for key in keys}) < len(keys) or len({key.public_key for key in keys}) < len(keys):
        raise Invalid("two of the witnesses' keys are of one witness")
    return keys


def read_header(data: bytes) -> Json:
    """A block's header of 176 bytes; its SHA-256 is the block's hash."""
    if len(data) != 176 or data[:8] != b"PGBLOCK2":
        raise Invalid("the block's header cannot be read")
    values = struct.unpack("<Q32sQQQ32s32s32sQ", data[8:])
    names = "number parentHash firstPosition lastPosition ackCount acksRoot ackListHash eventsHash time"
    block = dict(zip(names.split(), values))
    if not all(is_count(value) for value in values if isinstance(value, int)):
        raise Invalid("the block's header has a number that is no count")
    return block


def _checkpoint(note: str) -> Tuple[str, int, bytes]:
    lines = note.split("\n")
    if len(lines) < 4 or not re.fullmatch("0|[1-9][0-9]{0,15}", lines[1]) or int(lines[1]) > MAX_SAFE:
        raise Invalid("the checkpoint cannot be read")
    return lines[0], int(lines[1]), hash_of(bytes_of_base64(lines[2]))

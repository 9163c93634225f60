"""The proof file of an order, checked without any network: a C2SP tlog-proof of the block's header."""

import hashlib
import re
import struct
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from .ed25519 import verify
from .errors import PerpgateError
from .leaf import read_leaf
from .strict_json import MAX_SAFE, is_count, parse_json
from .tree import Invalid, bytes_of_base64, hash_of, leaf_hash_of, reason_of, root_from_path
from .types import Json

PROOF_FORMAT = "perpgate-order-proof/1"
#: The algorithm byte of a verifier key: a log's own signature, or a witness's with its time.
LOG_KEY, WITNESS_KEY = 1, 4


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


class NoteKey(NamedTuple):
    """A verifier key of a C2SP signed note."""

    name: str
    algorithm: int
    public_key: bytes

    @property
    def id(self) -> bytes:
        hashed = self.name.encode() + b"\n" + bytes([self.algorithm]) + self.public_key
        return hashlib.sha256(hashed).digest()[:4]


def check_order_proof(
    text: str,
    log_key: Optional[str] = None,
    witness_keys: Sequence[str] = (),
    require: Optional[int] = None,
) -> OrderProof:
    """Checks the proof file of an order (``Session.preconfirm_proof``).

    Pass the keys that you pinned. At least ``require`` of the witnesses must have cosigned, all of them by
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
    witnesses = _witnesses(witness_keys)
    needed = len(witnesses) if require is None else require
    if not 0 <= needed <= len(witnesses):
        raise Invalid(f"{needed} cosignatures cannot be required of {len(witnesses)} witnesses")
    note, signatures = parse_note(checkpoint)
    size, root = _checkpoint(note, key)
    if not _is_signed_by(note, signatures, key):
        raise Invalid("the log's key did not sign the checkpoint")
    cosigners = sorted({each.name for each in witnesses if _is_signed_by(note, signatures, each)})
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


def parse_note_key(text: str, algorithm: int) -> NoteKey:
    """A verifier key, ``name+id+key``: of a log (algorithm 1) or of a witness (4)."""
    parts = re.fullmatch(r"([^+\s]+)\+([0-9a-f]{8})\+(.+)", text.strip())
    material = bytes_of_base64(parts.group(3)) if parts else b""
    if parts is None or len(material) != 33 or material[0] != algorithm:
        raise Invalid(f"{text!r} is not the verifier key of a {'log' if algorithm == LOG_KEY else 'witness'}")
    key = NoteKey(parts.group(1), algorithm, material[1:])
    if key.id.hex() != parts.group(2):
        raise Invalid(f"{text!r}: the id is not that of the key")
    return key


_Signatures = List[Tuple[str, bytes, bytes]]


def parse_note(text: str) -> Tuple[str, _Signatures]:
    """The signed text of a C2SP note, and its signatures: name, id of the key, signature."""
    at = text.rfind("\n\n")
    if at < 0 or not text.endswith("\n") or any(c < " " and c != "\n" for c in text):
        raise Invalid("the checkpoint cannot be read")
    signatures: _Signatures = []
    for line in text[at + 2 : -1].split("\n"):
        parts = re.fullmatch(r"— ([^+\s]+) (\S+)", line)
        data = bytes_of_base64(parts.group(2)) if parts else b""
        if parts is None or len(data) <= 4 or len(signatures) == 64:
            raise Invalid("a signature of the checkpoint cannot be read")
        signatures.append((parts.group(1), data[:4], data[4:]))
    return text[: at + 1], signatures


def _checkpoint(note: str, key: NoteKey) -> Tuple[int, bytes]:
    lines = note.split("\n")
    if len(lines) < 4 or not re.fullmatch("0|[1-9][0-9]{0,15}", lines[1]) or int(lines[1]) > MAX_SAFE:
        raise Invalid("the checkpoint cannot be read")
    if lines[0] != key.name:
        raise Invalid(f"the checkpoint is of {lines[0]}, not of {key.name}")
    return int(lines[1]), hash_of(bytes_of_base64(lines[2]))


def _is_signed_by(note: str, signatures: _Signatures, key: NoteKey) -> bool:
    """Raises if a signature by the key does not hold."""
    own = [signature for name, key_id, signature in signatures if (name, key_id) == (key.name, key.id)]
    for signature in own:
        message = note.encode("utf-8")
        if key.algorithm == WITNESS_KEY:
            seconds = int.from_bytes(signature[:8], "big")
            message = f"cosignature/v1\ntime {seconds}\n".encode() + message
            signature = signature[8:]
        if not verify(key.public_key, message, signature):
            raise Invalid(f"the signature of {key.name} does not hold")
    return len(own) > 0

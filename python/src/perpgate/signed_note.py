"""C2SP signed notes: keys, signatures, and the notes by which one key of a log succeeds another.

docs/receipts.md has the text of a successor note, which both keys sign.
"""

import base64
import hashlib
import re
from typing import Dict, List, NamedTuple, Sequence, Tuple

from .ed25519 import verify
from .tree import Invalid, bytes_of_base64

#: The algorithm byte of a verifier key: a log's own signature, or a witness's with its time.
LOG_KEY, WITNESS_KEY = 1, 4
_SUCCESSOR = "perpgate log successor v1"
#: Of one log: a longer chain is refused.
MAX_SUCCESSORS = 16


class NoteKey(NamedTuple):
    """A verifier key of a C2SP signed note."""

    name: str
    algorithm: int
    public_key: bytes

    def __str__(self) -> str:
        material = base64.b64encode(bytes([self.algorithm]) + self.public_key).decode()
        return f"{self.name}+{self.id.hex()}+{material}"

    @property
    def id(self) -> bytes:
        hashed = self.name.encode() + b"\n" + bytes([self.algorithm]) + self.public_key
        return hashlib.sha256(hashed).digest()[:4]


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


Signatures = List[Tuple[str, bytes, bytes]]


def parse_note(text: str) -> Tuple[str, Signatures]:
    """The signed text of a C2SP note, and its signatures: name, id of the key, signature."""
    at = text.rfind("\n\n")
    if at < 0 or not text.endswith("\n") or any(c < " " and c != "\n" for c in text):
        raise Invalid("the checkpoint cannot be read")
    signatures: Signatures = []
    for line in text[at + 2 : -1].split("\n"):
        parts = re.fullmatch(r"— ([^+\s]+) (\S+)", line)
        data = bytes_of_base64(parts.group(2)) if parts else b""
        if parts is None or len(data) <= 4 or len(signatures) == 64:
            raise Invalid("a signature of the checkpoint cannot be read")
        signatures.append((parts.group(1), data[:4], data[4:]))
    return text[: at + 1], signatures


def is_signed_by(note: str, signatures: Signatures, key: NoteKey) -> bool:
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


def log_key_chain(pinned: NoteKey, notes: Sequence[str]) -> List[NoteKey]:
    """The keys of one log, the oldest first: the pinned one with all that lead to it and that follow it.
    Raises ``Invalid`` where the notes are no chain: one does not hold, a key has two successors or succeeds
    two keys, or the keys form a circle."""
    if not isinstance(notes, (list, tuple)) or not all(isinstance(each, str) for each in notes):
        raise Invalid("the successors of the log key cannot be read")
    if len(notes) > MAX_SUCCESSORS:
        raise Invalid(f"there are more than {MAX_SUCCESSORS} successor notes")
    after: Dict[NoteKey, NoteKey] = {}
    before: Dict[NoteKey, NoteKey] = {}
    for note in notes:
        old, new = _open_successor(note)
        if after.setdefault(old, new) != new:
            raise Invalid(f"the log key {old} has two successors, {after[old]} and {new}")
        if before.setdefault(new, old) != old:
            raise Invalid(f"the log key {new} succeeds two keys, {before[new]} and {old}")
    chain = [pinned]
    while chain[0] in before:
        chain.insert(0, before[chain[0]])
        # Each key has one successor, so only a circle comes back to the pinned one.
        if chain[0] == pinned:
            raise Invalid("the successors of the log key form a circle")
    while chain[-1] in after:
        chain.append(after[chain[-1]])
    return chain


def _open_successor(note: str) -> Tuple[NoteKey, NoteKey]:
    """The two keys that a successor note names, if both signed it."""
    try:
        text, signatures = parse_note(note)
        first, old, new, *rest = text.split("\n")
        keys = parse_note_key(old, LOG_KEY), parse_note_key(new, LOG_KEY)
        is_read = first == _SUCCESSOR and rest == [""] and (str(keys[0]), str(keys[1])) == (old, new)
    except ValueError:
        is_read = False
    if not is_read:
        raise Invalid("a successor note cannot be read")
    for key in keys:
        try:
            is_signed = is_signed_by(text, signatures, key)
        except Invalid:
            is_signed = False
        if not is_signed:
            raise Invalid(f"the successor note from {old} to {new} is not signed by {key}")
    return keys

/**
 * Successors of a log's key. A successor note says that one key continues the log of another; both sign it:
 * the old one so that who pinned it follows, the new one so that it stays bound by what the old one signed.
 *
 *   perpgate log successor v1
 *   <verifier key of the old key>
 *   <verifier key of the new key>
 *
 *   <signatures of both>
 *
 * The second line is no decimal number, so no successor note is a checkpoint.
 */

import {
  isNoteSignedBy,
  type NoteKey,
  noteKeyText,
  parseLogKey,
  parseNote,
  type VerifyEd25519,
} from "./signed-note.js";

const FIRST_LINE = "perpgate log successor v1";
/** Of one log: a longer chain is refused. */
export const MAX_SUCCESSORS = 16;
/** A file or response with the notes, as a JSON array, is not larger. */
export const MAX_SUCCESSOR_BYTES = 65_536;

interface Successor {
  readonly from: NoteKey;
  readonly to: NoteKey;
}

/** The text that both keys sign. */
export function successorText({ from, to }: Successor): string {
  return `${FIRST_LINE}\n${noteKeyText(from)}\n${noteKeyText(to)}\n`;
}

/** What a note says, if both keys signed it; otherwise why it says nothing. */
async function openSuccessor(text: string, verify: VerifyEd25519): Promise<Successor | string> {
  const note = parseNote(text);
  const [first, old = "", next = "", ...rest] = note?.text.split("\n") ?? [];
  const [from, to] = [plainLogKey(old), plainLogKey(next)];
  const isRead = first === FIRST_LINE && rest.length === 1 && rest[0] === "";
  if (note === undefined || !isRead || from === undefined || to === undefined) {
    return "a successor note cannot be read";
  }
  for (const key of [from, to]) {
    if (await isNoteSignedBy(note, key, verify)) continue;
    return `the successor note from ${old} to ${next} is not signed by ${noteKeyText(key)}`;
  }
  return { from, to };
}

/**
 * The keys of one log, the oldest first: the pinned one with all that lead to it and that follow it. A
 * string says why the notes are no chain: one does not hold, a key has two successors or succeeds two
 * keys, or the keys form a circle.
 */
export async function logKeyChain(
  pinned: NoteKey,
  notes: readonly string[],
  verify: VerifyEd25519,
): Promise<readonly NoteKey[] | string> {
  if (notes.length > MAX_SUCCESSORS) return `there are more than ${MAX_SUCCESSORS} successor notes`;
  const after = new Map<string, NoteKey>();
  const before = new Map<string, NoteKey>();
  for (const note of notes) {
    const opened = await openSuccessor(note, verify);
    if (typeof opened === "string") return opened;
    const { from, to } = opened;
    const [old, next] = [noteKeyText(from), noteKeyText(to)];
    const other = after.get(old);
    if (other !== undefined && noteKeyText(other) !== next) {
      return `the log key ${old} has two successors, ${noteKeyText(other)} and ${next}`;
    }
    const earlier = before.get(next);
    if (earlier !== undefined && noteKeyText(earlier) !== old) {
      return `the log key ${next} succeeds two keys, ${noteKeyText(earlier)} and ${old}`;
    }
    after.set(old, to);
    before.set(next, from);
  }
  const chain = [pinned];
  for (let key = before.get(noteKeyText(pinned)); key !== undefined; ) {
    chain.unshift(key);
    // Each key has one successor, so only a circle comes back to the pinned one.
    if (noteKeyText(key) === noteKeyText(pinned)) return CIRCLE;
    key = before.get(noteKeyText(key));
  }
  for (let key = after.get(noteKeyText(pinned)); key !== undefined; ) {
    chain.push(key);
    key = after.get(noteKeyText(key));
  }
  return chain;
}

const CIRCLE = "the successors of the log key form a circle";

/** The notes in a file or response; undefined if the text is no JSON array of texts. */
export function parseNotes(text: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isTexts(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function plainLogKey(text: string): NoteKey | undefined {
  const key = parseLogKey(text);
  return key !== undefined && noteKeyText(key) === text ? key : undefined;
}

/**
 * The venue's id and all attestors that it ever had, as the log tells them. Votes sign the id, and
 * an old credit is checked by the keys that were in force at its log position.
 */
import { createHash } from "node:crypto";
import { encodeRecord } from "../record/record.js";
import type { Applied } from "../replica.js";
import type { AttestorKeys } from "./attestor-keys.js";

export interface AttestorsSince {
  /** The log position of the `Genesis` or `Configure` that brought them. */
  readonly position: number;
  /** Ed25519 public keys in order of the attestors' numbers. */
  readonly members: readonly string[];
  readonly quorum: number;
}

export interface AttestorHistory {
  /** SHA-256 of the log record of Genesis, 64 lower-case hex digits. */
  readonly venueId: string;
  /** Oldest first. */
  readonly entries: readonly AttestorsSince[];
}

/** What the history is after a `Genesis` or `Configure` that was taken. */
export function historyAfter(
  before: AttestorHistory | null,
  { command, evidence, seq }: Applied,
  attestors: AttestorKeys | null,
): AttestorHistory | null {
  if (command.kind !== "Genesis" && command.kind !== "Configure") return before;
  if (attestors === null) return before;
  const venueId =
    command.kind === "Genesis"
      ? createHash("sha256").update(encodeRecord(command, evidence)).digest("hex")
      : before?.venueId;
  if (venueId === undefined) return before;
  const entries = before?.entries ?? [];
  const { members } = attestors;
  const quorum = command.config.attestorQuorum;
  const last = entries.at(-1);
  const isSame = last?.quorum === quorum && last.members.join() === members.join();
  return { venueId, entries: isSame ? entries : [...entries, { position: seq, members, quorum }] };
}

export function isAttestorHistory(value: unknown): value is AttestorHistory {
  if (typeof value !== "object" || value === null) return false;
  return (
    "venueId" in value &&
    typeof value.venueId === "string" &&
    /^[0-9a-f]{64}$/.test(value.venueId) &&
    "entries" in value &&
    Array.isArray(value.entries) &&
    value.entries.every(isEntry)
  );
}

function isEntry(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (
    "position" in value &&
    Number.isSafeInteger(value.position) &&
    "quorum" in value &&
    Number.isSafeInteger(value.quorum) &&
    "members" in value &&
    Array.isArray(value.members) &&
    value.members.every((key) => typeof key === "string")
  );
}

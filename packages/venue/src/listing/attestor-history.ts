/**
 * The venue's id and all sets of attestors that it had, from the log. Votes sign the id; an old credit
 * is checked with the keys that were in force at its seq.
 */
import { createHash } from "node:crypto";
import type { Command } from "@perpgate/engine";
import { type Evidence, encodeRecord } from "../record/record.js";
import type { Applied } from "../replica.js";
import { hasFields, isHexOf, isInteger, isListOf, isText } from "../stored-json.js";
import type { AttestorKeys } from "./attestor-keys.js";

interface AttestorsSince {
  /** Seq of the `Genesis` or `Configure` that set them, under its name in snapshots and on the wire. */
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

/** The venue's id: SHA-256 of the log record of Genesis. */
export function venueIdOf(genesis: Command, evidence: Evidence): string {
  return createHash("sha256").update(encodeRecord(genesis, evidence)).digest("hex");
}

/** The history after an executed `Genesis` or `Configure`. */
export function historyAfter(
  before: AttestorHistory | null,
  { command, evidence, seq }: Applied,
  attestors: AttestorKeys | null,
): AttestorHistory | null {
  if (command.kind !== "Genesis" && command.kind !== "Configure") return before;
  if (attestors === null) return before;
  const venueId = command.kind === "Genesis" ? venueIdOf(command, evidence) : before?.venueId;
  if (venueId === undefined) return before;
  const entries = before?.entries ?? [];
  const { members } = attestors;
  const quorum = command.config.attestorQuorum;
  const last = entries.at(-1);
  const isSame = last?.quorum === quorum && last.members.join() === members.join();
  return { venueId, entries: isSame ? entries : [...entries, { position: seq, members, quorum }] };
}

export function isAttestorHistory(value: unknown): value is AttestorHistory {
  const isEntry = (entry: unknown) =>
    hasFields(entry, { position: isInteger, quorum: isInteger, members: isListOf(isText) });
  return hasFields(value, { venueId: isHexOf(64), entries: isListOf(isEntry) });
}

/**
 * Who must have cosigned a checkpoint, in the format of C2SP tlog-policy, for other tools that verify it.
 * Each witness counts once: two entries with one key are refused.
 */
import { hexFromBytes } from "@perpgate/protocol/core";
import { type NoteKey, noteKeyText } from "@perpgate/protocol/receipts";
import type { WitnessSetting } from "./witness.js";

/** `required`: of the witnesses; 0: a checkpoint without cosignatures is published too. */
export function policyText(
  logKeys: readonly NoteKey[],
  witnesses: readonly WitnessSetting[],
  required: number,
): string {
  const names = witnesses.map((_, i) => `w${i + 1}`);
  const lines = [
    ...distinctKeys(logKeys).map((key) => `log ${noteKeyText(key)}`),
    ...witnesses.map(({ key, url }, i) => `witness ${names[i]} ${noteKeyText(key)} ${url}`),
    ...(required === 0 ? [] : [`group required ${required} ${names.join(" ")}`]),
    `quorum ${required === 0 ? "none" : "required"}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** The format permits a public key under one name. */
function distinctKeys(keys: readonly NoteKey[]): readonly NoteKey[] {
  const byKey = new Map(keys.map((key) => [hexFromBytes(key.publicKey), key]));
  return [...byKey.values()];
}

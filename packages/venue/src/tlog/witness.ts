/**
 * A witness by C2SP tlog-witness: takes a signed checkpoint with the proof that it continues the last one
 * that the witness has seen, and returns its cosignature.
 */
import { fetchWithin } from "@perpgate/protocol/core";
import {
  base64,
  isNoteSignedBy,
  type NoteKey,
  parseNote,
  parseSignatureLines,
  signatureLine,
  signaturesBy,
} from "@perpgate/protocol/receipts";
import { verifyEd25519Now } from "../receipts/verify-ed25519.js";

export interface WitnessSetting {
  /** The submission prefix, without `/add-checkpoint`. */
  readonly url: string;
  readonly key: NoteKey;
}

/** A signed checkpoint and how to prove that it continues a smaller one. */
export interface Submission {
  readonly note: string;
  readonly size: number;
  consistencyFrom(size: number): Uint8Array[];
}

export type WitnessAnswer =
  | { readonly kind: "cosigned"; readonly line: string }
  /** The witness has seen a checkpoint of that size, larger than the one submitted. */
  | { readonly kind: "ahead"; readonly size: number }
  /** The witness has seen another history, of which it has signed that size. */
  | { readonly kind: "inconsistent"; readonly size: number }
  | { readonly kind: "failed"; readonly reason: string };

/** The witness does not continue from the old size that was sent. */
interface SizeConflict {
  readonly kind: "conflict";
  readonly old: number;
  /** Of the last checkpoint that it cosigned; undefined if it cannot be read. */
  readonly size: number | undefined;
}

const TIMEOUT_MS = 3_000;
/** A witness answers with its size at most once per submission. */
const MAX_TRIES = 2;
const MAX_ANSWER_BYTES = 65_536;

export class Witness {
  /** Size of the last checkpoint that the witness cosigned for this log, as far as is known. */
  private size = 0;

  constructor(private readonly setting: WitnessSetting) {}

  get name(): string {
    return this.setting.key.name;
  }

  async submit(submission: Submission, signal: AbortSignal): Promise<WitnessAnswer> {
    let stated: number | undefined;
    try {
      for (let tries = 1; ; tries++) {
        const answer = await this.ask(submission, signal);
        if (answer.kind !== "conflict") return answer;
        const { old, size } = answer;
        // The witness has a checkpoint of this size, and its root differs: not so of one over nothing.
        const isSameSize = old === submission.size && (size ?? stated) === old;
        if (isSameSize && old > 0) return { kind: "inconsistent", size: old };
        if (size === undefined) return { kind: "failed", reason: "its size cannot be read" };
        this.size = size;
        stated = size;
        if (size > submission.size) return { kind: "ahead", size };
        if (tries === MAX_TRIES) return { kind: "failed", reason: "it does not say its size" };
      }
    } catch (error) {
      return { kind: "failed", reason: error instanceof Error ? error.message : String(error) };
    }
  }

  private async ask(
    submission: Submission,
    signal: AbortSignal,
  ): Promise<WitnessAnswer | SizeConflict> {
    const old = Math.min(this.size, submission.size);
    const proof = submission.consistencyFrom(old).map((hash) => `${base64(hash)}\n`);
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, signal };
    const { status, text } = await fetchWithin(limits, (ending) =>
      fetch(`${this.setting.url.replace(/\/$/, "")}/add-checkpoint`, {
        method: "POST",
        body: `old ${old}\n${proof.join("")}\n${submission.note}`,
        redirect: "error",
        signal: ending,
      }),
    );
    switch (status) {
      case 200: {
        const line = await this.cosignatureIn(text, submission.note);
        if (line === undefined)
          return { kind: "failed", reason: "its cosignature does not verify" };
        this.size = submission.size;
        return { kind: "cosigned", line };
      }
      case 409:
        return { kind: "conflict", old, size: sizeIn(text) };
      case 422:
        return { kind: "inconsistent", size: old };
      default:
        return { kind: "failed", reason: `it answered ${status}` };
    }
  }

  /** The line of the configured key, if it verifies; lines of other keys are ignored. */
  private async cosignatureIn(lines: string, submitted: string): Promise<string | undefined> {
    const signatures = parseSignatureLines(lines);
    const note = parseNote(submitted);
    if (signatures === undefined || note === undefined) return undefined;
    const cosigned = { text: note.text, signatures };
    const [own] = signaturesBy(cosigned, this.setting.key);
    if (own === undefined) return undefined;
    const holds = await isNoteSignedBy(cosigned, this.setting.key, verifyEd25519Now);
    return holds ? signatureLine(this.setting.key, own.signature) : undefined;
  }
}

function sizeIn(text: string): number | undefined {
  const size = /^\d+\n?$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(size) ? size : undefined;
}

/** Recomputes the honesty record from the log, and checks who certified the keys of receipts. */
import { certifiedBytes, type NoteKey } from "@perpgate/protocol/receipts";
import type { SealedBlock } from "../blocks/block-header.js";
import { eventWords, promisedBlock } from "../event-fields.js";
import { HonestyRecord, type Quantiles } from "../receipts/honesty-record.js";
import { verifyEd25519Now } from "../receipts/verify-ed25519.js";
import type { Applied } from "../replica.js";
import type { CheckpointReport } from "./checkpoint-check.js";

/** Acknowledgements, how many are in sealed blocks, how many of these not where they were promised. */
export interface PromiseReport {
  /** Log time of the first in a sealed block; null before it. */
  readonly since: number | null;
  readonly issued: number;
  readonly sealed: number;
  readonly notKept: number;
  readonly sealedMs: Quantiles | null;
  /** Blocks of the last signed checkpoint, if it differs and the operator gave up the log's end. */
  readonly givenUpBlocks: number | null;
  /** The signed checkpoints that the blocks agree with; null if there is none, as in a backup. */
  readonly checkpoint: CheckpointReport | null;
}

export class PromiseCheck {
  private readonly record = new HonestyRecord();
  /** Time and expected block of each acknowledgement in the open block, in turn. */
  private open: number[] = [];

  /** `logKeys`: the pinned key and the others of its chain; empty without one. */
  constructor(private readonly logKeys: readonly NoteKey[]) {}

  /** Returns what differs, or null. */
  onCommand(applied: Applied, sealed: SealedBlock | null, venueId: string | null): string | null {
    const { events, timeMs } = applied;
    const { words, length } = events;
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      const block = promisedBlock(words, at);
      if (block !== undefined) this.open.push(timeMs, block);
    }
    if (sealed !== null) {
      for (let i = 0; i < this.open.length; i += 2) {
        this.record.onSealed(this.open[i]!, this.open[i + 1]!, sealed.number, sealed.timeMs);
      }
      this.open = [];
    }
    return this.certificateFault(applied, venueId);
  }

  /** Without the log's key nobody can add a gateway to the log whose receipts its clients accept. */
  private certificateFault({ command }: Applied, venueId: string | null): string | null {
    if (command.kind !== "WriterJoined" && command.kind !== "CoreLeads") return null;
    if (command.receiptKey === "") return null;
    if (this.logKeys.length === 0) return null;
    const receiptKey = Buffer.from(command.receiptKey, "hex");
    const certified = certifiedBytes(Buffer.from(venueId ?? "", "hex"), receiptKey);
    const certificate = Buffer.from(command.certificate, "hex");
    const isCertified = this.logKeys.some(({ publicKey }) =>
      verifyEd25519Now(publicKey, certified, certificate),
    );
    const name = command.kind === "CoreLeads" ? command.core : command.name;
    return isCertified ? null : `the pinned key did not certify the key of gateway ${name}`;
  }

  report(): Omit<PromiseReport, "givenUpBlocks" | "checkpoint"> {
    const { since, sealed, notKept, sealedMs } = this.record;
    const issued = sealed + this.open.length / 2;
    return { since, issued, sealed, notKept, sealedMs: sealedMs.quantiles() };
  }
}

/** The venue's beginning, its writers, its time and its index prices. */
import type { CohortStage, VenueConfig } from "../config.js";

export interface Genesis {
  readonly kind: "Genesis";
  readonly stampMs: number;
  readonly config: VenueConfig;
  readonly cohort: CohortStage;
  /** The version of the rules that the venue begins under; missing in logs of release 0.1. */
  readonly engineVersion: number;
}

/** Advances time to slot × 200 ms, and runs the periodic work. */
export interface Tick {
  readonly kind: "Tick";
  readonly slot: number;
}

/** The writer of the batch that begins a venue; it never writes again. */
export const GENESIS_WRITER = "0".repeat(32);

/** A gateway's process begins to write, under an id that was never used: all of its first batch. */
export interface WriterJoined {
  readonly kind: "WriterJoined";
  readonly stampMs: number;
  /** Random, 32 digits of lower-case hex. */
  readonly writer: string;
  /** The gateway's name, 1 to 64 of `a-z0-9-`: its live writer of before ends. */
  readonly name: string;
  /** The oldest and the newest version of the rules that it can read. */
  readonly versions: readonly [number, number];
  /** Lower-case hex: the public key of its receipts, or empty. */
  readonly receiptKey: string;
  /** Lower-case hex: the log key's signature over that key, or empty. */
  readonly certificate: string;
}

/** A core begins to lead: from here on the log has one writer, and this is all of its first batch. */
export interface CoreLeads {
  readonly kind: "CoreLeads";
  readonly stampMs: number;
  /** One more than that of the core that led before; the first is 1. */
  readonly epoch: number;
  /** Random, 32 digits of lower-case hex: this run of the core's process. */
  readonly run: string;
  /** The core's name, 1 to 64 of `a-z0-9-`. */
  readonly core: string;
  /** The oldest and the newest version of the rules that it can read. */
  readonly versions: readonly [number, number];
  /** As in a join. */
  readonly receiptKey: string;
  readonly certificate: string;
}

/** The writer of the batch ends. */
export interface WriterLeft {
  readonly kind: "WriterLeft";
  readonly stampMs: number;
}

/** The writer of the batch asks that the log's time jump to its stamp. */
export interface AskTime {
  readonly kind: "AskTime";
  readonly stampMs: number;
}

export interface UpdateIndex {
  readonly kind: "UpdateIndex";
  readonly stampMs: number;
  readonly market: number;
  readonly indexTicks: number;
  /** When the index was observed, in slots of 200 ms; the first of a market and slot counts. */
  readonly slot: number;
}

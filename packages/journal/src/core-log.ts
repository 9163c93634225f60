/**
 * A replicated log that one core writes, as the sequencer of a core uses it: `@perpgate/cluster` makes one
 * (`FencedLog`), whose fence decides who may write. Messages come through the stream; a mirror in the data
 * folder keeps each of them.
 */
import type { Batch } from "./journal.js";

/** Where the stream's messages are kept. */
export interface Mirror {
  /** Messages that it has, written or queued: the stream sequence of the last one. */
  readonly end: number;
  /** The last values of the chain, c(end) last: all of them, or `CLAIM_WINDOW`. Read once, at open. */
  chainTail(): readonly Uint8Array[];
  /**
   * Queues the message at this stream sequence, encoded by `encodeMirrored`. The log does not wait for the
   * promise; if it rejects, the log stops.
   */
  append(sequence: number, message: Uint8Array): Promise<void>;
}

/** Of the own batch in flight: it is the one delivered, or it is in no log and never will be. */
export type Settled = "stored" | "never" | "none";

export interface CoreLog {
  /** Resolves once everything is delivered that the stream had at the call. `onBatch` must not throw. */
  start(onBatch: (batch: Batch, settled: Settled) => void): Promise<void>;
  /** Whether a batch may be proposed: this core leads, and none is in flight. */
  readonly mayPropose: boolean;
  /** Publishes a batch until it, or another one, is delivered in its place. Throws unless `mayPropose`. */
  propose(records: readonly Uint8Array[]): void;
  /** Has another core lead, the one named or any that is able; returns its name, empty if there is none. */
  handOver(to?: string): string;
  /** Gives a text to the other cores, at most once each; the log does not keep it. */
  announce(text: string): void;
  /** What others announce. */
  onAnnouncement: (text: string) => void;
  /** Whether another core that was heard lately has the same wall clock. */
  readonly isClockShared: boolean;
  readonly stopped: Promise<Error>;
  close(): Promise<void>;
}

/** What the log asks about the core. */
export interface CoreLogHooks {
  lastBlock(): { readonly number: number; readonly hash: Uint8Array };
  blockHash(number: number): Uint8Array | undefined;
  /** Undefined if batches can be applied; otherwise none is delivered before the promise resolves. */
  room(): Promise<void> | undefined;
  /** The epoch and the run that lead, as of the last message that was applied: 0 and "" before the first. */
  leader(): { readonly epoch: number; readonly run: string };
  /**
   * The next batch on this core's way to lead: its claim; before that, in a log whose rules know no leader,
   * what upgrades them. Undefined if there is none now.
   */
  claim(): OwnBatch | undefined;
  /** Whether this core may lead: it is open, and does not stop. */
  isReady(): boolean;
  /** How many edges have a link to this core. */
  edges(): number;
  /** A batch may be proposed. */
  mayPropose(): void;
}

/** A batch of this run that is not of an epoch which it leads. */
export interface OwnBatch {
  readonly counter: number;
  readonly records: readonly Uint8Array[];
}

/** This run of the core's process. */
export interface CoreRun {
  /** 32 digits of lower-case hex, never used before. */
  readonly run: string;
  /** The oldest and the newest version of the rules that it can read. */
  readonly versions: readonly [number, number];
}

export type OpenCoreLog = (mirror: Mirror, hooks: CoreLogHooks, run: CoreRun) => Promise<CoreLog>;

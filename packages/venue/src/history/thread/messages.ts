/** What the history and the thread that writes it say to each other. */
import type { Held } from "../history-environment.js";

export interface WriterData {
  readonly directory: string;
  /** Lower-case hex. */
  readonly logId: string;
}

/** What the thread is started with. */
export interface ThreadData extends WriterData {
  /** Int32 values at the places of `SIGNAL`; the thread sleeps on the first. */
  readonly signals: SharedArrayBuffer;
  /** Of an `ExitDeadline`, if a failure ends the process. */
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

export const SIGNAL = {
  /** How often the history has hurried. The thread that adds to it notifies. */
  HURRIES: 0,
  /** 1: the transaction in progress is to be rolled back, and none follows. Set before HURRIES. */
  ABANDONED: 1,
} as const;
export const SIGNAL_BYTES = 8;

/** A slice, and how far the store has come with it. */
export interface WriteSlice {
  readonly kind: "write";
  readonly number: number;
  readonly memory: SharedArrayBuffer;
  readonly length: number;
  /** Entries in it. */
  readonly count: number;
  readonly held: Held;
}

export type ToWriter =
  | WriteSlice
  /** Somebody waits for what was handed in; `time` counts these from 1. */
  | { readonly kind: "hurry"; readonly time: number }
  | { readonly kind: "close" };

export type FromWriter =
  /** This slice and all before it are on disk. */
  | { readonly kind: "written"; readonly number: number }
  /** One could not be written, and nothing after it will be. */
  | { readonly kind: "failed"; readonly message: string };

/** `perpgate watch`: any streams, one line per frame, until Ctrl-C or `--count` frames. */

import { isPrivateStream, parseStreamName, type StreamName } from "@perpgate/protocol/core";
import type { StreamProblem } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { UsageError } from "../cli/start-error.js";
import { type TradingVenue, type VenueAccess, withSession, withVenue } from "./connection.js";
import { Interruption } from "./interruption.js";
import { marketFormats } from "./market-format.js";
import { readStream, type StreamLine } from "./stream-lines.js";
import type { VenueCommandOptions } from "./venue-command.js";

const DEFAULT_DEPTH = 10;

const REMARKS: Readonly<Record<StreamProblem["kind"], string>> = {
  gap: "frames were missed",
  checksum_mismatch: "differed from the venue's; reading it again",
  malformed: "a frame could not be read",
  disconnected: "the connection was lost; connecting again",
  refused: "refused",
};

interface WatchOptions extends VenueCommandOptions {
  readonly count?: number;
  readonly depth?: number;
}

export async function watch(texts: readonly string[], options: WatchOptions): Promise<number> {
  const names = texts.map(nameOf);
  const { count = Number.POSITIVE_INFINITY, depth = DEFAULT_DEPTH } = options;
  if (count < 1) throw new UsageError("--count must be at least 1");
  const rules = { names, count, depth };
  return names.some(isPrivateStream)
    ? withSession(options, (venue) => follow(venue, rules))
    : withVenue(options, (venue) => follow(venue, rules));
}

interface WatchRules {
  readonly names: readonly StreamName[];
  readonly count: number;
  /** Levels per side of a book. */
  readonly depth: number;
}

async function follow(
  { client, output, session }: VenueAccess & Partial<Pick<TradingVenue, "session">>,
  { names, count, depth }: WatchRules,
): Promise<number> {
  // Fails fast without a gateway; a stream would keep trying without a message.
  const formatOf = await marketFormats(client);
  const frames = new FrameCount(count);
  const onLine = ({ stream, data, text }: StreamLine) => {
    if (!frames.take()) return;
    if (output.isJson) output.json({ stream, data });
    else output.line(`${output.paint(stream, "dim")}  ${printable(text)}`);
  };
  const onProblem = (problem: StreamProblem) => {
    if (problem.kind === "refused") frames.fail(problem.error);
    else output.remark(remarkOn(problem));
  };
  const interruption = new Interruption();
  try {
    for (const name of names) {
      readStream({ client, session, formatOf, depth, onLine, onProblem }, name);
    }
    await Promise.race([frames.ended, interruption.wait()]);
  } finally {
    interruption.end();
  }
  return 0;
}

/** Only a lost connection and a wrong book are tried again; what was missed is not. */
export function remarkOn({ stream, kind }: StreamProblem): string {
  return `${printable(stream)}: ${REMARKS[kind]}`;
}

/** Any case is accepted: `trades.btcusd`. */
function nameOf(text: string): StreamName {
  const [word = "", symbol, ...rest] = text.split(".");
  const subject = symbol === undefined ? [] : [symbol.toUpperCase()];
  const name = parseStreamName([word.toLowerCase(), ...subject, ...rest].join("."));
  if (name === undefined) {
    throw new UsageError(`"${text}" is not a stream, such as trades.BTCUSD or blocks`);
  }
  return name;
}

/** Resolves after the given number of frames; rejects when a stream is refused. */
class FrameCount {
  readonly ended: Promise<void>;
  private end: () => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;

  constructor(private left: number) {
    this.ended = new Promise((resolve, reject) => {
      this.end = resolve;
      this.reject = reject;
    });
  }

  /** Returns whether the frame is within the count. */
  take(): boolean {
    if (this.left <= 0) return false;
    this.left--;
    if (this.left <= 0) this.end();
    return true;
  }

  fail(error: unknown): void {
    this.reject(error ?? new Error("a stream was refused"));
  }
}

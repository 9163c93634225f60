/** `perpgate watch`: any streams, a line a frame, until Ctrl-C or so many frames. */

import { isPrivateStream, parseStreamName, type StreamName } from "@perpgate/protocol/streams";
import type { StreamProblem } from "@perpgate/sdk";
import type { Arguments, Command } from "../cli/command.js";
import { printable } from "../cli/printable.js";
import { optionalWhole } from "../cli/values.js";
import {
  type TradingVenue,
  VENUE_OPTIONS,
  type Venue,
  withSession,
  withVenue,
} from "./connection.js";
import { Interruption } from "./interruption.js";
import { marketWords } from "./market-steps.js";
import { readStream, type StreamLine } from "./stream-lines.js";

export const WATCH: Command = {
  usage: ["watch <stream…> [--count N] [--depth N] [--json]"],
  about: `Prints every frame of the streams as a line, until Ctrl-C. Connections that are lost are made
again, and your own streams miss nothing meanwhile.

  book.SYMBOL  trades.SYMBOL  ticker.SYMBOL  candles.SYMBOL.1m (5m 15m 1h 4h 1d)  blocks
  orders  positions  preconfirms  deposits        your own: log in first`,
  options: {
    count: { kind: "text", value: "N", help: "end after so many frames" },
    depth: { kind: "text", value: "N", help: "levels a side of a book in JSON (10)" },
    ...VENUE_OPTIONS,
  },
  examples: [
    ["watch trades.BTCUSD blocks", "every trade and every block"],
    ["watch orders positions --json", "your account, for a program"],
  ],
  run: watch,
};

const DEFAULT_DEPTH = 10;

async function watch(args: Arguments): Promise<number> {
  const names = args.positionals.map((text) => nameOf(args, text));
  if (names.length === 0) throw args.fail("<stream> is missing");
  const count = optionalWhole(args, "count") ?? Number.POSITIVE_INFINITY;
  const depth = optionalWhole(args, "depth") ?? DEFAULT_DEPTH;
  if (count < 1) throw args.fail("--count is at least 1");
  const rules = { names, count, depth };
  return names.some(isPrivateStream)
    ? withSession(args, (venue) => follow(venue, rules))
    : withVenue(args, (venue) => follow(venue, rules));
}

interface WatchRules {
  readonly names: readonly StreamName[];
  readonly count: number;
  /** Levels a side of a book. */
  readonly depth: number;
}

async function follow(
  { client, output, session }: Venue & Partial<Pick<TradingVenue, "session">>,
  { names, count, depth }: WatchRules,
): Promise<number> {
  // Also tells at once whether there is a gateway; a stream would wait for it in silence.
  const wordsFor = await marketWords(client);
  const frames = new FrameCount(count);
  const tell = ({ stream, data, text }: StreamLine) => {
    if (!frames.take()) return;
    if (output.isJson) output.json({ stream, data });
    else output.line(`${output.paint(stream, "dim")}  ${printable(text)}`);
  };
  const problem = ({ stream, kind, error }: StreamProblem) => {
    if (kind === "refused") frames.fail(error);
    else output.remark(`${printable(stream)}: ${kind.replaceAll("_", " ")}; trying again`);
  };
  const interruption = new Interruption();
  try {
    for (const name of names) {
      readStream({ client, session, wordsFor, depth, tell, problem }, name);
    }
    await Promise.race([frames.ended, interruption.wait()]);
  } finally {
    interruption.end();
  }
  return 0;
}

/** `trades.btcusd` is what people type. */
function nameOf(args: Arguments, text: string): StreamName {
  const [word = "", symbol, ...rest] = text.split(".");
  const subject = symbol === undefined ? [] : [symbol.toUpperCase()];
  const name = parseStreamName([word.toLowerCase(), ...subject, ...rest].join("."));
  if (name === undefined)
    throw args.fail(`"${text}" is no stream, such as trades.BTCUSD or blocks`);
  return name;
}

/** Ends after so many frames, or when a stream is refused. */
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

  /** Whether this one still counts. */
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

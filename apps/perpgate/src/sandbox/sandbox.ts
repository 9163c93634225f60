/** Runs a sandbox until a signal ends it. */

import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import {
  MAX_SPEED,
  namedScenario,
  openRecording,
  parseScenario,
  SandboxStopped,
  type SandboxVenue,
  type Scenario,
  startVenue,
} from "@perpgate/sandbox";
import { Output } from "../cli/output.js";
import { StartError, UsageError } from "../cli/start-error.js";
import { symbol } from "../cli/values.js";
import { builtPage } from "../serve/page-folder.js";
import { onStopSignal } from "../serve/stop-signals.js";

interface SandboxCommandOptions {
  readonly manual?: boolean;
  readonly speed?: number;
  readonly seed?: number;
  readonly port?: number;
  readonly control?: number;
  readonly market: readonly string[];
  readonly scenario?: string;
  readonly grant?: number;
  readonly data?: string;
  readonly replay: readonly string[];
  readonly report?: string;
  readonly json?: boolean;
}

const DEFAULT_PORT = 8_090;
const DEFAULT_CONTROL = 8_091;
const DEFAULT_GRANT = 10_000;
/** Of the markets, or the reasons, in one line. */
const SHOWN_COUNTS = 5;

export async function runSandbox(options: SandboxCommandOptions): Promise<number> {
  const { manual = false, speed, seed = 1, json = false } = options;
  if (manual && speed !== undefined) {
    throw new UsageError("--manual and --speed exclude each other: in manual time nothing is fast");
  }
  if (manual && options.replay.length > 0) {
    throw new UsageError("--manual and --replay exclude each other: a test calls venue.replay");
  }
  if (manual && options.scenario !== undefined) {
    throw new UsageError("in manual time the control API plays scenarios: POST /play");
  }
  if (options.report !== undefined) requireWritable(options.report);
  const { replay } = options;
  const startMs = replay.length === 0 ? undefined : await startOf(replay);
  /** As fast as it goes, unless a speed was given. */
  const isHurried = startMs !== undefined && speed === undefined;
  const scenario = options.scenario === undefined ? undefined : scenarioOf(options.scenario);
  const markets = scenario?.markets.length === 0 ? undefined : scenario?.markets;
  const page = builtPage();
  const venue = await startVenue({
    seed,
    time: manual || isHurried ? "manual" : { speed: speed ?? 1 },
    ...(startMs === undefined ? {} : { start: startMs }),
    markets: options.market.length === 0 ? (markets ?? ["BTCUSD"]) : options.market.map(symbol),
    grant: options.grant ?? DEFAULT_GRANT,
    ...(options.data === undefined ? {} : { folder: options.data }),
    port: options.port ?? DEFAULT_PORT,
    control: options.control ?? DEFAULT_CONTROL,
    page,
  }).catch((error: unknown) => {
    throw startErrorOf(error);
  });
  const output = new Output(json);
  if (json) output.json({ url: venue.url, control: venue.control, seed });
  else {
    output.line(`SANDBOX  a venue for tests, not for trading (seed ${seed})`);
    output.line(`venue    ${venue.url}${page === undefined ? "" : " (its page, too)"}`);
    output.line(`control  ${venue.control} (described by ${venue.control}/openapi.json)`);
    const pace = isHurried
      ? "as fast as the recording can be played"
      : `${speed ?? 1} times the clock`;
    output.line(`time     ${manual ? "stands until /advance moves it" : pace}`);
  }
  if (scenario !== undefined) playInBackground(venue, scenario, output, json);
  if (replay.length > 0) void replayInBackground(venue, replay, isHurried, output, json);
  const stopped = new Promise<undefined>((resolve) => onStopSignal(() => resolve(undefined)));
  const failed = await Promise.race([stopped, venue.failed]);
  if (failed === undefined && options.report !== undefined) {
    writeFileSync(options.report, JSON.stringify(await venue.report()));
  }
  // Rejects with what has failed.
  await venue.stop();
  return 0;
}

/** Now, not when the run is over. */
function requireWritable(file: string): void {
  try {
    closeSync(openSync(file, "a"));
  } catch (error) {
    throw startErrorOf(error);
  }
}

/** One of the sandbox's own, or a file. */
function scenarioOf(nameOrFile: string): Scenario {
  try {
    if (!existsSync(nameOrFile)) return namedScenario(nameOrFile);
    return parseScenario(readFileSync(nameOrFile, "utf8"), nameOrFile);
  } catch (error) {
    throw startErrorOf(error);
  }
}

/** When a recording begins. */
async function startOf(files: readonly string[]): Promise<number> {
  try {
    const recording = await openRecording(files);
    await recording.close();
    return recording.startMs;
  } catch (error) {
    throw startErrorOf(error);
  }
}

/** Says how fast it was. `isHurried`: time goes as fast as it can until the end, and then stands. */
async function replayInBackground(
  venue: SandboxVenue,
  files: readonly string[],
  isHurried: boolean,
  output: Output,
  isJson: boolean,
): Promise<void> {
  try {
    const playing = await venue.beginReplay(files, {});
    // With the clock, as any time that passes by itself: the page and the control API can pause it.
    if (isHurried) await venue.setTime({ speed: MAX_SPEED });
    const result = await playing.over;
    if (isHurried && venue.speed === MAX_SPEED) await venue.setTime("manual");
    const { bookUpdates, trades, recordedMs, elapsedMs, ignored, refused } = result;
    if (isJson) output.json({ replayed: result });
    else {
      const times = Math.round(recordedMs / elapsedMs);
      const rate = Math.round((bookUpdates / elapsedMs) * 1_000);
      output.line(
        `over     ${bookUpdates} book updates and ${trades} trades, ${times} times the clock, ${rate} updates/s`,
      );
      sayCounts(output, "ignored  rows of markets that this sandbox does not have", ignored);
      sayCounts(
        output,
        "missing  orders of the recording that the venue refused or ended",
        refused,
      );
    }
  } catch (error) {
    sayProblem(error);
  }
}

function sayCounts(output: Output, what: string, counts: Readonly<Record<string, number>>): void {
  const largest = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  if (largest.length === 0) return;
  const shown = largest.slice(0, SHOWN_COUNTS).map(([name, count]) => `${name} ${count}`);
  const more = largest.length > SHOWN_COUNTS ? ", …" : "";
  output.line(`${what}: ${shown.join(", ")}${more}`);
}

/** Of what plays; the sandbox goes on. */
function sayProblem(error: unknown): void {
  if (error instanceof SandboxStopped) return;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
}

function playInBackground(
  venue: SandboxVenue,
  scenario: Scenario,
  output: Output,
  isJson: boolean,
): void {
  const { name, about } = scenario;
  if (!isJson) output.line(`plays    ${name}: ${about}`);
  venue.play(scenario).then(() => {
    if (isJson) output.json({ over: name });
    else output.line(`over     ${name}`);
  }, sayProblem);
}

/** A taken port, an unknown market: the words of the call, not a fault of the program. */
function startErrorOf(error: unknown): unknown {
  if (error instanceof RangeError) return new UsageError(error.message);
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return new StartError(`${error.message}; give another --port or --control, or 0 for any`);
  }
  // Of a file.
  if (error instanceof Error && "syscall" in error) return new StartError(error.message);
  return error;
}

/** The command that runs a venue for tests. */

import { type Command, Option } from "commander";
import { addCommand, addSubcommand, exitWith } from "../cli/command.js";
import { amount, repeated, wholeNumberWithin } from "../cli/values.js";

const REPORT_FORMS = ["text", "json", "csv", "html"];
const MAX_PORT = 65_535;
const MAX_SEED = 2 ** 31 - 1;

export function addSandboxCommand(program: Command): void {
  program.commandsGroup("Test a bot:");
  const sandbox = addCommand(program, "sandbox", {
    summary: "run a venue for tests, with its time and prices in your hands",
    usage: ["[--manual | --speed N] [--scenario NAME|FILE] [--market SYMBOL]… [options]"],
    about: `Runs a whole venue for tests: real REST and WebSocket, quotes around an index that moves only
when you say so, and a control API for programs in any language (docs/sandbox.md). Everything is
gone when it stops, unless --data keeps it. Not for trading: anyone on this machine can move its time and prices.

Time goes with the clock, or faster with --speed. With --manual it stands still until the control
API moves it; then the same seed and the same calls give the same log.`,
    examples: [
      ["sandbox", "a venue on port 8090, its control API on 8091"],
      ["sandbox --speed 60 --market BTCUSD --market ETHUSD", "a minute in a second"],
      [
        "sandbox --scenario flash-crash --speed 10",
        "15 % down in two seconds; see docs/scenarios.md",
      ],
      ["sandbox --manual --seed 7 --port 0 --control 0", "for a test: any free ports"],
    ],
  })
    .option("--manual", "time moves by the control API alone")
    .option("--speed <N>", "times the speed of the clock", amount("speed"))
    .option(
      "--seed <N>",
      "of everything random (default: 1)",
      wholeNumberWithin("seed", 0, MAX_SEED),
    )
    .option(
      "--port <N>",
      "of the venue; 0: any (default: 8090)",
      wholeNumberWithin("port", 0, MAX_PORT),
    )
    .option(
      "--control <N>",
      "port of the control API; 0: any (default: 8091)",
      wholeNumberWithin("port", 0, MAX_PORT),
    )
    .option("--market <SYMBOL>", "one of the default markets (default: BTCUSD)", repeated, [])
    .option("--scenario <NAME|FILE>", "what happens: crashes, faults, funding (docs/scenarios.md)")
    .option(
      "--replay <FILE>",
      "plays a recorded market; repeat it (docs/recordings.md)",
      repeated,
      [],
    )
    .option("--grant <DOLLARS>", "for each new account (default: 10000)", amount("grant"))
    .option("--data <DIR>", "a new folder that keeps the log, for `verify` and `export`")
    .option("--report <FILE>", "writes at the end what the run was worth, for `sandbox report`")
    .option("--json", "one line of JSON with the addresses, for programs")
    .action(exitWith(async (options) => (await import("./sandbox.js")).runSandbox(options)));
  addSubcommand(
    sandbox,
    "report",
    `Shows what runs were worth: PnL, drawdown, fees, funding, slippage, time in book, exposure of each
trader, refusals and latency. A run is a file of --report, or the control API of a sandbox that still
runs. Several are side by side.`,
  )
    .argument("<RUN...>", "FILE, or http://127.0.0.1:8091")
    .addOption(new Option("--format <FORM>", "html is one page with charts").choices(REPORT_FORMS))
    .option("--out <FILE>", "in place of standard output")
    .action(
      exitWith(async (runs, options) => (await import("./report.js")).runReport(runs, options)),
    );
}

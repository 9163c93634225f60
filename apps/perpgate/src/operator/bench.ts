/** `perpgate bench`: `npm run bench`, where there is a checkout to measure. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Arguments, Command } from "../cli/command.js";
import { StartError } from "../cli/start-error.js";

export const BENCH: Command = {
  usage: ["bench [--only PARTS] [--full] [--details] [--json]"],
  about: `Measures this checkout: engine, journal, orders, streams and recovery in one table, each beside
a floor or a peer. It is npm run bench, takes about two minutes, and wants an idle machine.`,
  options: {
    only: { kind: "text", value: "A,B", help: "only these parts, such as engine,orders" },
    full: { kind: "flag", help: "full turns instead of short ones, about ten minutes" },
    details: { kind: "flag", help: "every figure of every part" },
    json: { kind: "flag", help: "the figures as JSON" },
  },
  examples: [["bench --only engine --json", "the engine's figures, for a program"]],
  run: bench,
};

const ROOT = new URL("../../../../", import.meta.url);

async function bench(args: Arguments): Promise<number> {
  args.atMost(0);
  if (!existsSync(new URL("bench/package.json", ROOT))) {
    throw new StartError(
      "the bench is part of the source and not of this installation; " +
        "clone the repository, then: npm ci && npm run bench",
    );
  }
  const only = args.text("only");
  const flags = ["full", "details", "json"].filter((name) => args.has(name));
  const options = [
    ...flags.map((name) => `--${name}`),
    ...(only === undefined ? [] : [`--only=${only}`]),
  ];
  // Silent, so that standard output holds the figures and nothing of npm's.
  const child = spawn("npm", ["run", "--silent", "bench", "--", ...options], {
    cwd: fileURLToPath(ROOT),
    stdio: "inherit",
  });
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new StartError(`cannot run npm: ${error.message}`)));
    // Ctrl-C reaches the bench too; this process waits for it to clean up.
    process.on("SIGINT", () => undefined);
    process.on("SIGTERM", () => child.kill("SIGTERM"));
    child.once("close", (code) => resolve(code ?? 1));
  });
}

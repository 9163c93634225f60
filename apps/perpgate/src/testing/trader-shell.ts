/** Runs the command line with its own configuration folder. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { commandHere } from "./command-here.js";
import { type Ended, PerpgateProcess, temporaryFolder, type WhenDone } from "./perpgate-process.js";

export class TraderShell {
  readonly folder: string;

  constructor(
    readonly url: string,
    whenDone?: WhenDone,
  ) {
    this.folder = join(temporaryFolder(whenDone), "config");
  }

  static async signedIn(url: string): Promise<TraderShell> {
    const shell = new TraderShell(url);
    await shell.text("login");
    return shell;
  }

  /** The built command as a process of its own. */
  start(...words: string[]): PerpgateProcess {
    return new PerpgateProcess(words, this.environment);
  }

  /** In this process. */
  run(...words: string[]): Promise<Ended> {
    return commandHere(words, this.environment);
  }

  /** The output of a command that must succeed. */
  async text(...words: string[]): Promise<string> {
    return outputOf(words, await this.run(...words));
  }

  /** The same with a process of its own. */
  async processText(...words: string[]): Promise<string> {
    return outputOf(words, await this.start(...words).ended);
  }

  /** The nonce of the default profile's last signed command. */
  lastNonce(): string {
    const profile = join(this.folder, "perpgate", "profiles", "default");
    const [ledger = ""] = readdirSync(profile).filter((name) => name.startsWith("nonces-"));
    return /(\d+) \w+\n$/.exec(readFileSync(join(profile, ledger), "utf8"))?.[1] ?? "";
  }

  /** The document that it prints with `--json`. */
  async json(...words: string[]): Promise<unknown> {
    return JSON.parse(await this.text(...words, "--json"));
  }

  private get environment(): NodeJS.ProcessEnv {
    return { XDG_CONFIG_HOME: this.folder, PERPGATE_URL: this.url };
  }
}

function outputOf(words: readonly string[], { code, stdout, stderr }: Ended): string {
  if (code !== 0) throw new Error(`perpgate ${words.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}

/** Starts a gateway without bots; returns its address once it is ready. */
export async function startGateway(
  args: readonly string[] = [],
  whenDone: WhenDone = onTestFinished,
  command?: readonly [string, ...string[]],
): Promise<string> {
  const folder = temporaryFolder(whenDone);
  const config = join(folder, "perpgate.json");
  // Without gusts a price near the mark stays near it on a busy machine.
  writeFileSync(config, JSON.stringify({ index: { gustsPerHour: 0 } }));
  const data = join(folder, "data");
  const words = ["--port", "0", "--data", data, "--config", config, "--no-bots", ...args];
  const gateway = new PerpgateProcess(words, {}, command, whenDone);
  const url = await gateway.url();
  for (;;) {
    const response = await fetch(`${url}/readyz`);
    await response.arrayBuffer();
    if (response.ok) return url;
  }
}

/** For `beforeAll`: one gateway for all tests of a file. */
export async function sharedGateway(): Promise<{ readonly url: string; stop(): void }> {
  const stops: (() => void)[] = [];
  const url = await startGateway([], (stop) => stops.push(stop));
  return {
    url,
    // The process before its folder.
    stop: () => {
      for (const stop of stops.reverse()) stop();
    },
  };
}

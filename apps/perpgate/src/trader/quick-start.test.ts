/** Runs the commands and programs of docs/quick-start.md against a real process. */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { ProcessClient } from "../testing/client.js";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const PROGRAM = /<!-- program: (.*) -->\n\n```js\n([\s\S]*?)```\n/g;

/** Saves the programs in a folder inside the repository, so that their imports resolve. */
function savedPrograms(): { folder: string; names: string[] } {
  const cache = join(ROOT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "quick-start-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const page = readFileSync(join(ROOT, "docs/quick-start.md"), "utf8");
  const names: string[] = [];
  for (const [, name = "", program = ""] of page.matchAll(PROGRAM)) {
    writeFileSync(join(folder, name), program);
    names.push(name);
  }
  return { folder, names };
}

/** The lines that begin with `$ npx perpgate`, as arguments. */
function shownCommands(): string[][] {
  const page = readFileSync(join(ROOT, "docs/quick-start.md"), "utf8");
  return [...page.matchAll(/^\$ npx perpgate (.*)$/gm)].map(([, line = ""]) => line.split(" "));
}

/** A counterparty: asks from 2 % above the mark, which a market order still takes. */
class Maker extends ProcessClient {
  private nonce = 0;

  async quote(side: "long" | "short", price: number, margin: number): Promise<void> {
    this.nonce++;
    const order = { symbol: "BTCUSD", side, type: "limit", leverage: 1, price, margin };
    const { body } = await this.place({ ...order, nonce: this.nonce });
    expect(body.status).toBe("resting");
  }
}

/** A venue without bots, so that the figures are known, and a maker. */
async function venueWithMaker(): Promise<{ url: string; maker: Maker }> {
  const args = ["--port", "0", "--data", temporaryFolder(), "--no-bots", "--log-level", "error"];
  const url = await new PerpgateProcess(args).url();
  while (!(await fetch(`${url}/readyz`)).ok);
  const maker = new Maker(url);
  await maker.signIn();
  return { url, maker };
}

test("the commands of docs/quick-start.md do what the page says", async () => {
  const { url, maker } = await venueWithMaker();
  await maker.quote("short", 66_300, 2_000);
  await maker.quote("long", 64_000, 2_000);
  const environment = { PERPGATE_URL: url, XDG_CONFIG_HOME: temporaryFolder() };
  const said: string[] = [];
  for (const args of shownCommands()) {
    const { code, stdout, stderr } = await new PerpgateProcess(args, environment).ended;
    expect([code, stderr], args.join(" ")).toEqual([0, ""]);
    said.push(stdout);
  }
  expect(said).toEqual([
    expect.stringMatching(/^New testnet wallet.*\nLogged in as 0x\w{40}\n/),
    expect.stringMatching(/^filled {2}bought 0\.0150\d BTC at 66,300\.0/),
    expect.stringMatching(/^symbol .*\nBTCUSD {2}long/),
    expect.stringMatching(/^filled {2}sold 0\.0150\d BTC at 64,000\.0/),
  ]);
}, 180_000);

test("the programs of docs/quick-start.md do what the page says", async () => {
  const { folder, names } = savedPrograms();
  expect(names).toEqual(["trade.mjs", "follow.mjs", "rest.mjs"]);
  const { url, maker } = await venueWithMaker();
  await maker.quote("short", 66_300, 5_000);
  const run = async (name: string): Promise<string> => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, name), url]);
    return stdout;
  };
  expect(await run("trade.mjs")).toMatch(
    /^filled: 0\.0\d+ BTC at 66300, fee 0\.49\d+\norder \d+, in block \d+, after [\d.]+ ms\nliquidated at \d+/,
  );
  // The program prints the book when it changes, so change it behind the best ask until it ends.
  const following = run("follow.mjs");
  let isFollowing = true;
  void following.finally(() => {
    isFollowing = false;
  });
  for (let price = 66_400; isFollowing; price++) {
    await maker.quote("short", price, 5);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(await following).toMatch(/^(?:\d+: bid none, ask 66300\n){3}$/);
  expect(await run("rest.mjs")).toMatch(
    /^resting: 0\.00\d+ BTC at 6\d+, order \d+\ncanceled\nprice_not_on_tick: Price 6\d+\.05 is not on the tick 0\.1/,
  );
}, 180_000);

test("the programs of docs/quick-start.md and README.md are TypeScript too", async () => {
  const { folder, names } = savedPrograms();
  const first = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8"))?.[1];
  writeFileSync(join(folder, "first.mjs"), first ?? "");
  const programs = [...names, "first.mjs"].map((name) => join(folder, name.replace("mjs", "mts")));
  for (const program of programs) renameSync(program.replace("mts", "mjs"), program);
  const flags =
    "--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2023 --types node";
  const compiler = join(ROOT, "node_modules", ".bin", "tsc");
  const { stdout } = await promisify(execFile)(compiler, [...flags.split(" "), ...programs]).catch(
    (error) => error,
  );
  expect(stdout).toBe("");
}, 180_000);

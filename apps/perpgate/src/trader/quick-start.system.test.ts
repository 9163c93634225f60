/** Runs the commands and programs of docs/quick-start.md against a real process. */

import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { ProcessClient } from "../testing/client.js";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";
import { sharedGateway } from "../testing/trader-shell.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const ADDRESS = "http://127.0.0.1:8080";
const PROGRAM = /<!-- program: (.*) -->\n\n```js\n([\s\S]*?)```\n/g;
const PAGES = ["README.md", "docs/quick-start.md"];

function pageOf(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** Programs of both pages by name; the README's is the first block of its kind. */
function shownPrograms(): ReadonlyMap<string, string> {
  const [, first = ""] = /```js\n([\s\S]*?)```/.exec(pageOf("README.md")) ?? [];
  const others = [...pageOf("docs/quick-start.md").matchAll(PROGRAM)];
  return new Map([
    ["first.mjs", first],
    ...others.map(([, name = "", program = ""]): [string, string] => [name, program]),
  ]);
}

/** An empty folder after the command that both pages show: the SDK that this gateway serves. */
async function folderWithSdk(): Promise<string> {
  const commands = PAGES.map((page) => /^npm (install http\S+)$/m.exec(pageOf(page))?.[1] ?? "");
  expect(new Set(commands)).toEqual(new Set([`install ${ADDRESS}/sdk.tgz`]));
  const [command = ""] = commands;
  const folder = temporaryFolder();
  const args = command.replace(ADDRESS, url).split(" ");
  await promisify(execFile)("npm", [...args, "--prefer-offline"], { cwd: folder });
  for (const [name, program] of shownPrograms()) {
    writeFileSync(join(folder, name), program.replaceAll(ADDRESS, url));
  }
  return folder;
}

/** The lines that begin with `$ npx perpgate`, as arguments. */
function shownCommands(): string[][] {
  return [...pageOf("docs/quick-start.md").matchAll(/^\$ npx perpgate (.*)$/gm)].map(
    ([, line = ""]) => line.split(" "),
  );
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

/** Without bots, so that the figures are known. */
let url = "";

beforeAll(async () => {
  const gateway = await sharedGateway();
  ({ url } = gateway);
  return gateway.stop;
});

async function newMaker(): Promise<Maker> {
  const maker = new Maker(url);
  await maker.signIn();
  // The next test expects an empty book.
  onTestFinished(async () => {
    expect((await maker.request("POST", "/v1/orders/cancel-all", {})).status).toBe(200);
  });
  return maker;
}

test("the commands of docs/quick-start.md do what the page says", async () => {
  const maker = await newMaker();
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
});

test("the programs of README.md and docs/quick-start.md do what the pages say, in an empty folder", async () => {
  expect([...shownPrograms().keys()]).toEqual(["first.mjs", "trade.mjs", "follow.mjs", "rest.mjs"]);
  const maker = await newMaker();
  const folder = await folderWithSdk();
  await maker.quote("short", 66_300, 5_000);
  const run = async (name: string): Promise<string> => {
    const { stdout } = await promisify(execFile)(process.execPath, [name], { cwd: folder });
    return stdout;
  };
  expect(await run("first.mjs")).toMatch(/^filled 0\.0\d+ 66300 [\d.]+\n$/);
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
  await expectTypeScript(folder);
});

/** The programs are TypeScript too, with the types of the installed package. */
async function expectTypeScript(folder: string): Promise<void> {
  const programs = [...shownPrograms()].map(([name, program]) => {
    const path = join(folder, name.replace("mjs", "mts"));
    writeFileSync(path, program);
    return path;
  });
  const flags =
    "--ignoreConfig --noEmit --strict --module nodenext --target es2023 --types node --checkers 1";
  const types = ["--typeRoots", join(ROOT, "node_modules/@types")];
  const compiler = join(ROOT, "node_modules", ".bin", "tsc");
  const args = [...flags.split(" "), ...types, ...programs];
  const { stdout } = await promisify(execFile)(compiler, args).catch((error) => error);
  expect(stdout).toBe("");
}

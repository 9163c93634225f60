/**
 * The examples, each in its own process, against a real gateway: in an empty folder, with the SDK that
 * this gateway serves.
 */

import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PerpgateClient, type Session } from "@perpgate/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { PerpgateProcess, temporaryFolder } from "./testing/perpgate-process.js";
import { installServed } from "./testing/served-packages.js";
import { sharedGateway } from "./testing/trader-shell.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const EXAMPLES = join(ROOT, "examples/");
const SIDES = { symbol: "BTCUSD", type: "limit", margin: 1000, leverage: 5 } as const;

let url = "";
let folder = "";

beforeAll(async () => {
  const gateway = await sharedGateway();
  ({ url } = gateway);
  folder = temporaryFolder(afterAll);
  cpSync(EXAMPLES, folder, { recursive: true });
  await installServed(url, folder, ["sdk"], ["viem"]);
  return gateway.stop;
});

function example(name: string, ...args: string[]): PerpgateProcess {
  return new PerpgateProcess(args, {}, [process.execPath, join(folder, `${name}.mjs`)]);
}

/** Its output; it must exit with code 0 and no errors. */
async function outputOf(child: PerpgateProcess): Promise<string> {
  const { code, stdout, stderr } = await child.ended;
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

interface Counterparty {
  readonly client: PerpgateClient;
  readonly session: Session;
  /** A price `thousandths` above the mark. */
  price(thousandths: number): Promise<number>;
}

async function counterparty(): Promise<Counterparty> {
  const client = new PerpgateClient({ url });
  const session = await client.signIn({ account: privateKeyToAccount(generatePrivateKey()) });
  // The next example expects an empty book.
  onTestFinished(async () => {
    await session.cancelAll();
    client.close();
  });
  const price = async (thousandths: number) => {
    const { mark } = await client.ticker("BTCUSD");
    return Math.round((mark ?? 0) * (1 + thousandths / 1_000));
  };
  return { client, session, price };
}

/** Quotes both sides near the mark, as the bots do. */
async function quoting(): Promise<Counterparty> {
  const other = await counterparty();
  await other.session.placeOrder({ ...SIDES, side: "short", price: await other.price(1) });
  await other.session.placeOrder({ ...SIDES, side: "long", price: await other.price(-1) });
  return other;
}

describe("examples", () => {
  test("first-trade: buys at the market and closes again", async () => {
    await quoting();
    expect(await outputOf(example("first-trade", url))).toMatch(
      /^filled: 0\.007\d* BTC at 6\d{4}\n {2}fee 0\.2\d*, in [\d.]+ ms, for block \d+\n {2}long 0\.007\d*, liquidated at 5\d{4}(\.\d)?\nfilled: position 0, balance 99\d\d\.\d+\n$/,
    );
  });

  test("mirrored-book: follows the book as it changes", async () => {
    const { session, price } = await quoting();
    const child = example("mirrored-book", url, "BTCUSD", "3");
    await child.printed(/seq \d+: bid 6\d{4},0\.0\d+, ask 6\d{4},0\.0\d+, spread .*1 \+ 1 levels/);
    // Each order changes the book until the example ends; the one before is canceled.
    let isOver = false;
    void child.ended.then(() => {
      isOver = true;
    });
    const order = { ...SIDES, margin: 1, side: "long" } as const;
    let last = await session.placeOrder({ ...order, price: await price(-2) });
    while (!isOver) {
      const next = await session.placeOrder({ ...order, price: await price(-2) });
      await session.cancelOrder(last.orderId);
      last = next;
    }
    const lines = (await outputOf(child)).trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    const seqs = lines.map((line) => Number(/^seq (\d+)/.exec(line)?.[1]));
    expect([...seqs].sort((a, b) => a - b)).toEqual(seqs);
    expect(lines[2]).toMatch(/\d \+ 1 levels$/);
  });

  test("grid-bot: a filled sell is replaced by a buy; no order stays in the book", async () => {
    const { client, session } = await counterparty();
    const child = example("grid-bot", url, "1", "120");
    await child.printed(/^quoting 10 levels from 6\d{4}/);
    // A little more than the first level, and less than two.
    const bought = await session.placeOrder({
      symbol: "BTCUSD",
      side: "long",
      type: "market",
      margin: 60,
      leverage: 5,
    });
    expect(bought.status).toBe("filled");
    const stdout = await outputOf(child);
    expect(stdout).toMatch(/\nshort filled at 6[\d.]+: long at 6[\d.]+\n/);
    expect(stdout).toMatch(/\n1 fills, 10 orders canceled, position -0\.00\d+\nwallet 10000 -> 99/);
    expect(await client.book("BTCUSD")).toMatchObject({ bids: [], asks: [] });
  });

  test("market-maker: twenty quotes moved with the mark; one that was taken is placed again", async () => {
    const { client, session } = await counterparty();
    const child = example("market-maker", url, "12");
    await child.printed(/^round 1: 20 quotes around 6\d{4}/);
    const taken = {
      symbol: "BTCUSD",
      side: "long",
      type: "market",
      size: 0.003,
      leverage: 5,
    } as const;
    expect(await session.placeOrder(taken)).toMatchObject({ status: "filled" });
    const stdout = await outputOf(child);
    expect(stdout).toMatch(/\nround 12: 20 quotes around 6\d{4}/);
    expect(stdout).toMatch(/\n20 orders canceled, position -0\.003\n$/);
    expect(await client.book("BTCUSD")).toMatchObject({ bids: [], asks: [] });
  });

  test("stop-loss: pending at the venue; the cancel timer cancels it, and the position is closed", async () => {
    await quoting();
    const stdout = await outputOf(example("stop-loss", url));
    expect(stdout).toMatch(/^long 0\.007 at 6\d{4}\ntake-profit pending at 6\d{4}\n/);
    expect(stdout).toMatch(/\nstop-loss pending at 6\d{4}\nalive, the switch fires at 20/);
    expect(stdout.match(/order \d+ canceled: cancel_after\n/g)).toHaveLength(2);
    expect(stdout).toMatch(/\nfilled at 6\d{4}, position 0\n$/);
  });

  test("deposit: registered, followed and credited", async () => {
    const stdout = await outputOf(example("deposit", url));
    expect(stdout).toMatch(
      /^balance 10000\n(deposit \d+: queued\n)?deposit \d+: credited\nbalance 20000\n$/,
    );
  });

  // Last: its maker leaves a part of a quote in the book.
  test("raw-wire: two new wallets sign in and trade with each other", async () => {
    const stdout = await outputOf(example("raw-wire", url));
    expect(stdout).toMatch(/^BTCUSD mark \d/);
    expect(stdout).toMatch(/maker 0x\w{40}: resting, order \d+/);
    expect(stdout).toMatch(/taker 0x\w{40}: filled\n {2}0\.015\d* BTC at 6\d{4}/);
    expect(stdout).toMatch(/preconfirmed in [\d.]+ ms, for block \d+/);
  });

  const hasPython = spawnSync("python3", ["--version"]).status === 0;

  test.runIf(hasPython)(
    "raw_wire.py: the same in Python, and a packed book with its checksum",
    async () => {
      const child = new PerpgateProcess([url], {}, ["python3", `${EXAMPLES}raw_wire.py`]);
      const stdout = await outputOf(child);
      expect(stdout).toMatch(/maker 0x\w{40}: resting, order \d+/);
      expect(stdout).toMatch(/taker 0x\w{40}: filled\n {2}0\.015\d* BTC at 6\d{4}/);
      const { client } = await counterparty();
      const { bids, asks } = await client.book("BTCUSD");
      expect(bids).toEqual([]);
      // One price holds both makers' quotes if the mark has not moved in between.
      const [price = 0, size = 0] = asks[0] ?? [];
      expect(stdout).toMatch(
        new RegExp(
          `book at \\d+: 0 bids, ${asks.length} asks, checksum right\n` +
            `  best ask ${price.toFixed(1)} for ${size.toFixed(5)}\n`,
        ),
      );
    },
  );

  test("check-evidence: what proves nothing is refused", async () => {
    const file = join(temporaryFolder(), "order.evidence");
    const key = "venue.example/log+c01c9b6b+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";
    writeFileSync(file, JSON.stringify({ format: "perpgate-evidence/1", receipt: { logKey: "" } }));
    const { code, stdout } = await example("check-evidence", file, key).ended;
    expect([code, stdout]).toEqual([1, "not proven: the field verdict is missing\n"]);
  });

  test("every example is in the list, and tested here", () => {
    const names = readdirSync(EXAMPLES).filter((name) => name.endsWith(".mjs"));
    const [list, tests] = [`${EXAMPLES}README.md`, fileURLToPath(import.meta.url)].map((path) =>
      readFileSync(path, "utf8"),
    );
    expect(list).toContain("python3 examples/raw_wire.py");
    for (const name of names) {
      expect(list).toContain(`node examples/${name}`);
      expect(tests).toContain(`example("${name.replace(".mjs", "")}"`);
    }
  });
});

/**
 * The trader's commands against a real gateway: most of them in this process, and the built command
 * where a process matters: signals, pipes, concurrent processes, and each exit code once.
 */

import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@perpgate/journal/testing";
import { TestCosigner } from "@perpgate/protocol/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { chainSettings, newKeyFile } from "../serve/bridge/testing/chain-process.js";
import {
  configurationFile,
  MAIN,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";
import { sharedGateway, startGateway, TraderShell } from "../testing/trader-shell.js";

const ADDRESS = /0x[0-9a-fA-F]{40}/;

let url = "";

beforeAll(async () => {
  const gateway = await sharedGateway();
  ({ url } = gateway);
  return gateway.stop;
});

function modes(folder: string): Record<string, string> {
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const files = readdirSync(folder).map((name) => [name, mode(join(folder, name))]);
  return Object.fromEntries([[".", mode(folder)], ...files]);
}

function addressIn(text: string): string {
  return ADDRESS.exec(text)?.[0] ?? "";
}

/** A whole price slightly above the mark: on every tick, and without a large loss for the buyer. */
function abovePrice(markets: unknown): string {
  const [market]: { markPrice: number }[] = JSON.parse(JSON.stringify(markets));
  return String(Math.ceil((market?.markPrice ?? 0) * 1.002));
}

describe("trading", () => {
  test("commands whose output is read in this process elsewhere: each ends as a process of its own", async () => {
    const shell = await TraderShell.signedIn(url);
    const calls = ["markets", "account", "orders", "fills", "cancel --all", "logout --cancel-all"];
    const [last = "", ...reads] = [...calls].reverse();
    await Promise.all(reads.map((call) => shell.processText(...call.split(" "))));
    await shell.processText(...last.split(" "));
  });

  test("login, deposit, buy, positions, fills, cancel, logout", async () => {
    const shell = new TraderShell(url);
    const [login, maker] = await Promise.all([
      shell.processText("login"),
      shell.json("login", "--profile", "maker"),
    ]);
    expect(login).toMatch(/^New testnet wallet, its key in \S+wallet\.key\nLogged in as 0x/);
    expect(login).toContain("balance  10,000.00");
    expect(maker).toMatchObject({ profile: "maker", isNewWallet: true, balance: 10_000 });
    const profile = join(shell.folder, "perpgate", "profiles", "default");
    expect(modes(profile)).toEqual({ ".": "700", "profile.json": "600", "wallet.key": "600" });

    const price = abovePrice(await shell.json("markets"));
    const quote = ["sell", "BTCUSD", "1000", "--leverage", "5", "--price", price];
    const [resting, deposit] = await Promise.all([
      shell.text(...quote, "--post-only", "--profile", "maker"),
      shell.start("deposit").ended,
    ]);
    expect(resting).toMatch(/^resting {2}0\.0\d+ BTC waits in the book \(BTCUSD, limit\)\n/);
    expect(deposit.stdout).toBe("credited 10,000.00, the balance is 20,000.00\n");
    expect(deposit.stderr).toMatch(/^deposit \d+: queued\n/);

    const bought = await shell.text("buy", "btcusd", "100", "--leverage", "5");
    expect(bought).toMatch(/^filled {2}bought 0\.00\d+ BTC at 6\d,\d{3}\.0 \(BTCUSD, market\)\n/);
    expect(bought).toMatch(/ {2}fee {7}0\.2\d*\n {2}position {2}long 0\.00\d+ BTC from 6/);
    expect(bought).toMatch(/ {2}block {5}\d+\n {2}latency {3}[\d.]+ ms at the gateway, /);

    const [positions, fills, bookText, account] = await Promise.all([
      shell.text("positions"),
      shell.json("fills"),
      shell.processText("book", "BTCUSD", "--once", "--json"),
      shell.text("account"),
    ]);
    expect(positions).toMatch(/^symbol {2}side +size .*\nBTCUSD {2}long +0\.00\d{3} /);
    expect(fills).toMatchObject([{ symbol: "BTCUSD", side: "long", liquidity: "taker" }]);
    expect(JSON.parse(bookText)).toMatchObject({
      symbol: "BTCUSD",
      bids: [],
      asks: [[Number(price), expect.any(Number)]],
    });
    expect(account).toContain(addressIn(login));

    await placeConcurrently(shell);
    await placeWithExits(shell);

    const closed = await shell.json("sell", "BTCUSD", "90", "--price", price);
    const { orderId } = JSON.parse(JSON.stringify(closed));
    expect(await shell.text("cancel", orderId)).toMatch(`canceled ${orderId}, 0.0`);
    const again = await shell.run("cancel", orderId);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("already canceled. (order_not_cancelable)\n  What became");

    // Cancels the rest of the maker's quote.
    const left = await shell.text("logout", "--cancel-all", "--profile", "maker");
    expect(left).toMatch(/^1 order canceled\nLogged out 0x/);
    expect(await shell.text("logout")).toBe(`Logged out ${addressIn(login)}\n`);
    expect(modes(profile)).toEqual({ ".": "700", "profile.json": "600", "wallet.key": "600" });
    expect(await shell.run("positions")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "perpgate: you are not logged in; run: perpgate login\n",
    });
    expect(await shell.json("login")).toMatchObject({
      address: addressIn(login),
      isNewWallet: false,
    });
  });

  /** Equal orders with the same nonce would be one order. */
  async function placeConcurrently(shell: TraderShell): Promise<void> {
    const order = ["buy", "BTCUSD", "10", "--price", "60000", "--json"];
    const texts = await Promise.all([1, 2, 3, 4].map(() => shell.processText(...order)));
    const placed = texts.map((text) => JSON.parse(text));
    expect(placed).toMatchObject([1, 2, 3, 4].map(() => ({ status: "resting", replayed: false })));
    const open = await shell.text("orders");
    expect(open.trimEnd().split("\n")).toHaveLength(5);
    const { canceled } = JSON.parse(await shell.text("cancel", "--all", "--json"));
    expect(canceled).toHaveLength(4);
    expect(await shell.text("orders")).toBe("no open orders\n");
  }

  async function placeWithExits(shell: TraderShell): Promise<void> {
    const buy = ["buy", "BTCUSD", "10", "--tp", "400000", "--sl", "10000"];
    const unfilled = await shell.run(...buy, "--price", "11000", "--tif", "ioc");
    expect(unfilled).toMatchObject({ code: 1, stderr: "" });
    expect(await shell.text("orders")).toBe("no open orders\n");
    const { orderId, exits } = Object(await shell.json(...buy));
    expect(exits).toEqual([
      { orderId: `${orderId}.1`, kind: "takeProfit" },
      { orderId: `${orderId}.2`, kind: "stopLoss" },
    ]);
    await shell.text("amend", `${orderId}.2`, "--price", "11000");
    await shell.text("cancel", `${orderId}.1`);
    expect(await shell.text("orders")).toMatch(new RegExp(`${orderId}\\.2 .* stop reduce +11,000`));
    await shell.text("cancel", "--all");
  }

  test("sessions --end: one that has ended does not keep the others", async () => {
    const shell = await TraderShell.signedIn(url);
    const [first] = await sessionIds(shell);
    await shell.text("login");
    await shell.text("login");
    const [, second] = await sessionIds(shell);
    await shell.text("sessions", "--end", first ?? "");
    const { code, stdout, stderr } = await shell.run("sessions", "--end", first!, second!);
    expect([code, stdout]).toEqual([1, `ended ${second}\n`]);
    expect(stderr).toContain("(session_not_found)");
    expect(await sessionIds(shell)).toHaveLength(1);
  });

  async function sessionIds(shell: TraderShell): Promise<string[]> {
    const sessions: { id: string }[] = JSON.parse(await shell.text("sessions", "--json"));
    return sessions.map(({ id }) => id);
  }

  test("orders --all and deposit --list: pages, the newest first", async () => {
    const shell = await TraderShell.signedIn(url);
    const ids: string[] = [];
    for (const price of ["60000", "60001", "60002"]) {
      const order = await shell.text("buy", "BTCUSD", "10", "--price", price, "--json");
      ids.unshift(JSON.parse(order).orderId);
    }
    const page = async (...words: string[]) => {
      const orders: { orderId: string }[] = JSON.parse(await shell.text(...words, "--json"));
      return orders.map(({ orderId }) => orderId);
    };
    expect(await page("orders", "--all", "--limit", "2")).toEqual(ids.slice(0, 2));
    expect(await page("orders", "--all", "--before", ids[1]!)).toEqual(ids.slice(2));
    const deposits: string[] = [];
    for (const hash of ["1a", "2b"]) {
      const deposit = ["deposit", "--tx", `0x${hash.repeat(32)}`, "--no-wait", "--json"];
      deposits.unshift(JSON.parse(await shell.text(...deposit)).depositId);
    }
    const listed = async (...words: string[]) => {
      const text = await shell.text("deposit", "--list", ...words, "--json");
      const rows: { depositId: string }[] = JSON.parse(text);
      return rows.map(({ depositId }) => depositId);
    };
    expect(await listed("--limit", "1")).toEqual(deposits.slice(0, 1));
    expect(await listed("--before", deposits[0]!)).toEqual(deposits.slice(1));
    for (const words of [
      ["orders", "--limit", "2"],
      ["deposit", "--before", "7"],
    ]) {
      expect(await shell.run(...words)).toMatchObject({ code: 2, stdout: "" });
    }
    await shell.text("cancel", "--all");
  });

  test("streams: one line per frame; ends after --count or Ctrl-C with exit 0", async () => {
    const shell = new TraderShell(url);
    await shell.text("login", "--symbols", "ETHUSD", "--max-order-notional", "50");
    const watch = shell.start("watch", "orders", "--json", "--count", "2");
    const ladder = shell.start("book", "ETHUSD");
    await watch.printed(/snapshot/);
    await ladder.printed(/the book is empty/);
    const order = ["buy", "ETHUSD", "50", "--price", "3000", "--json"];
    const { orderId } = JSON.parse(await shell.text(...order));
    const frames = (await watch.ended).stdout.trimEnd().split("\n");
    expect(frames.map((line) => JSON.parse(line))).toMatchObject([
      { stream: "orders", data: { type: "snapshot", orders: [] } },
      { stream: "orders", data: { type: "update", orders: [{ orderId, status: "resting" }] } },
    ]);
    await ladder.printed(/3,000\.00 {2}0\.0166 {2}0\.0166/);
    ladder.signal("SIGINT");
    expect(await ladder.ended).toMatchObject({ code: 0, stderr: "" });
    const tooMuch = await shell.run("buy", "ETHUSD", "60", "--price", "3000");
    expect(tooMuch.stderr).toContain("session_order_cap_exceeded)\n  The session was limited");
  });

  test("an expired session: advice to log in, for people and for programs", async () => {
    const shell = new TraderShell(url);
    // Long enough for the login, which reads the account, on a busy machine.
    await shell.text("login", "--expires-in", "5s");
    for (;;) {
      const { code, stderr } = await shell.run("account");
      if (code === 0) {
        // Fewer reads than the gateway's limit.
        await sleep(200);
        continue;
      }
      expect(code).toBe(1);
      expect(stderr).toMatch(/\(invalid_token\)\n {2}The session has ended\..*perpgate login\n$/);
      break;
    }
    const { code, stdout, stderr } = await shell.run("fills", "--json");
    expect([code, stdout]).toEqual([1, ""]);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "invalid_token", status: 401, advice: expect.stringContaining("login") },
    });
    // The first try of an order was refused; one that repeats another proves nothing about that one.
    const order = ["buy", "BTCUSD", "10", "--json"];
    for (const [repeat, outcome] of [
      [[], "refused"],
      [["--nonce", "7"], "unknown"],
    ] as const) {
      const refused = JSON.parse((await shell.run(...order, ...repeat)).stderr);
      expect(refused).toMatchObject({ error: { code: "invalid_token", outcome } });
    }
    // Already ended: no failure.
    expect(await shell.text("logout")).toContain("the session had already ended");
  });

  test("real chains: prints where to send tokens, registers a hash; login needs the domain", async () => {
    const chain = {
      rpc: `http://127.0.0.1:${await freePort()}`,
      vault: "0x1111111111111111111111111111111111111111",
      usdc: "0x2222222222222222222222222222222222222222",
    } as const;
    const settings = chainSettings(chain, { keyFiles: [newKeyFile().path] });
    const shell = new TraderShell(await startGateway(["--config", configurationFile(settings)]));
    expect((await shell.run("login")).stderr).toMatch(
      /\(siwe_domain_not_allowed\)\n.*--domain NAME/,
    );
    await shell.text("login", "--domain", "localhost");
    const where = await shell.text("deposit");
    expect(where).toContain(`ethereum  USDC   ${chain.vault}              3  ${chain.usdc}`);
    const txHash = `0x${"ab".repeat(32)}`;
    const queued = await shell.json("deposit", "--tx", txHash, "--no-wait");
    expect(queued).toMatchObject({ status: "queued", txHash, chain: "ethereum" });
    const waiting = shell.start("deposit", "--tx", txHash);
    await waiting.printed(/deposit \d+: queued/, "stderr");
    waiting.signal("SIGINT");
    expect(await waiting.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is still processed"),
    });
  });

  test("deposit: the session ends while it waits: exit code 1 and why", async () => {
    const settings = chainSettings(
      {
        rpc: `http://127.0.0.1:${await freePort()}`,
        vault: "0x1111111111111111111111111111111111111111",
        usdc: "0x2222222222222222222222222222222222222222",
      },
      { keyFiles: [newKeyFile().path] },
    );
    const shell = new TraderShell(await startGateway(["--config", configurationFile(settings)]));
    await shell.text("login", "--domain", "localhost");
    const waiting = shell.start("deposit", "--tx", `0x${"ab".repeat(32)}`);
    await waiting.printed(/deposit \d+: queued/, "stderr");
    await shell.text("logout");
    expect(await waiting.ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("perpgate login"),
    });
  });
});

describe("errors", () => {
  test("no gateway: advice to start one, for people and for programs", async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const shell = new TraderShell(nowhere);
    const [people, programs] = await Promise.all([
      shell.start("login").ended,
      shell.start("markets", "--json").ended,
    ]);
    expect(people.code).toBe(1);
    expect(people.stderr).toMatch(
      new RegExp(
        `^perpgate: no gateway answers at ${nowhere}: .*ECONNREFUSED.*\\n {2}Start one with npm`,
      ),
    );
    expect(JSON.parse(programs.stderr)).toMatchObject({ error: { code: "connection_failed" } });
    expect([programs.code, programs.stdout]).toEqual([1, ""]);
    // A login without a gateway creates nothing.
    expect(() => statSync(shell.folder)).toThrow("ENOENT");
  });

  test("written wrongly: exit 2 and one line with the usage, also as JSON", async () => {
    const shell = new TraderShell("http://127.0.0.1:9");
    const [people, programs] = await Promise.all([
      shell.start("buy", "BTCUSD", "1,500").ended,
      shell.run("cancel", "--json"),
    ]);
    expect([people.code, people.stdout, programs.code]).toEqual([2, "", 2]);
    expect(people.stderr).toMatch(/^perpgate: margin: "1,500" is not .*usage: perpgate buy .*\n$/);
    expect(JSON.parse(programs.stderr)).toMatchObject({ error: { code: "usage" } });
  });

  test("keys: a file that others can read is refused, and none is overwritten", async () => {
    const shell = new TraderShell("http://127.0.0.1:9");
    const file = join(temporaryFolder(), "wallet.key");
    const made = await shell.json("keygen", "wallet", file);
    expect(made).toMatchObject({ kind: "wallet", file, address: expect.stringMatching(ADDRESS) });
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
    const [again, session, attestor] = await Promise.all([
      shell.run("keygen", "wallet", file),
      shell.text("keygen", "session", join(file, "..", "session.key")),
      shell.text("keygen", "attestor", join(file, "..", "attestor.key")),
    ]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("not overwritten") });
    expect([session, attestor]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}\n$/),
      expect.stringMatching(/^[0-9a-f]{64}\n$/),
    ]);
    chmodSync(file, 0o644);
    const loose = await shell.run("login", "--url", url, "--key-file", file);
    expect(loose).toMatchObject({ code: 1, stderr: expect.stringContaining(`chmod 600 ${file}`) });
    chmodSync(file, 0o600);
    const login = ["login", "--url", url, "--key-file", file];
    expect(await shell.json(...login)).toMatchObject({ isNewWallet: false });
  });

  test("several gateways: one that is down does not matter, and the session is that of all", async () => {
    const several = `http://127.0.0.1:9,${url}/`;
    const shell = new TraderShell(several);
    const made = await shell.json("login");
    expect(made).toMatchObject({ url: `http://127.0.0.1:9,${url}` });
    const [here, other] = [await shell.run("account", "--url", url), await shell.run("account")];
    expect([here.code, other.code]).toEqual([0, 0]);
    const elsewhere = await shell.run("account", "--url", "http://127.0.0.1:10");
    expect(elsewhere).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is logged in at"),
    });
  });
});

describe("receipts", () => {
  test("an order's receipt is saved and judged, its proof is checked without a network", async () => {
    const shell = await TraderShell.signedIn(url);
    const folder = temporaryFolder();
    const receipt = join(folder, "order.receipt");
    const words = ["BTCUSD", "100", "--price", "1", "--receipt", receipt];
    const { code } = await shell.run("buy", ...words);
    expect(code).toBe(1);
    const ack = Object(
      await shell.json("buy", "BTCUSD", "100", "--stop", "99000", "--receipt", receipt),
    );
    const proof = join(folder, "order.proof");
    writeFileSync(proof, await shell.text("proof", ack.ackNonce));
    const offline = new TraderShell("http://127.0.0.1:1");
    const sealed = `acknowledgement ${ack.ackNonce} is sealed\n`;
    expect(await offline.text("check", proof, "--receipt", receipt)).toMatch(
      new RegExp(`^consistent, key not pinned {2}${sealed}`),
    );
    const key = String(Object(JSON.parse(readFileSync(receipt, "utf8"))).logKey);
    const proven = await offline.text("check", proof, "--key", key);
    expect(proven).toMatch(new RegExp(`^proven {2}${sealed}`));
    for (const row of [/side +long, stop/, /size +0 filled/, /fee +0 dollars/, /status +pending/]) {
      expect(proven).toMatch(row);
    }
    expect(await shell.text("judge", receipt, "--proof", proof, "--key", key)).toMatch(
      /^kept {2}.*: in block \d+, under a checkpoint of \d+\n$/,
    );
    const foreign = await offline.run("check", proof, "--key", `x${key}`);
    expect([foreign.code, foreign.stdout]).toEqual([1, "not proven  the log key cannot be read\n"]);
  });

  test("judge with two gateways: kept", async () => {
    const shell = await TraderShell.signedIn(`http://127.0.0.1:9,${url}`);
    const folder = temporaryFolder();
    const receipt = join(folder, "order.receipt");
    const order = ["buy", "BTCUSD", "100", "--stop", "99000", "--receipt", receipt];
    const { ackNonce } = Object(await shell.json(...order));
    const proof = join(folder, "order.proof");
    writeFileSync(proof, await shell.processText("proof", ackNonce));
    expect(await shell.processText("judge", receipt, "--proof", proof)).toMatch(/^kept {2}/);
    expect(await shell.text("judge", receipt)).toMatch(/^kept {2}/);
  });

  test("buy --receipt to a reader that is gone: the receipt is saved", async () => {
    const shell = await TraderShell.signedIn(url);
    const receipt = join(temporaryFolder(), "order.receipt");
    const environment = { XDG_CONFIG_HOME: shell.folder, PERPGATE_URL: url };
    const piped = ["sh", "-c", '"$@" | true', "sh", process.execPath, MAIN] as const;
    const words = ["buy", "BTCUSD", "100", "--stop", "99000", "--receipt", receipt];
    await new PerpgateProcess(words, environment, piped).ended;
    expect(JSON.parse(readFileSync(receipt, "utf8"))).toHaveProperty("receipt");
  });

  test("buy --receipt into a missing folder: nothing is placed; onto a full disk: the acknowledgement, and a remark", async () => {
    const shell = await TraderShell.signedIn(url);
    const folder = temporaryFolder();
    const order = ["buy", "BTCUSD", "100", "--stop", "99000", "--receipt"];
    const missing = await shell.run(...order, join(folder, "missing", "r"));
    expect([missing.code, missing.stdout]).toEqual([1, ""]);
    expect(missing.stderr).toMatch(/^perpgate: cannot write \S+missing\/r: .*\n$/);
    expect(await shell.text("orders")).toBe("no open orders\n");
    const placed = await shell.start(...order, "/dev/full").ended;
    expect(placed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^pending {2}/),
      stderr: expect.stringMatching(/^the receipt was not saved: .*ENOSPC/),
    });
  });

  test("check: each witness of a proof is verified under a given key, or said not to be; a forgery fails", async () => {
    const shell = await TraderShell.signedIn(url);
    const ack = Object(await shell.json("buy", "BTCUSD", "100", "--stop", "99000"));
    const alone = await shell.text("proof", ack.ackNonce);
    const checkpoint = `${alone.split("\n\n")[1]}\n`;
    const one = new TestCosigner("w1.example");
    const two = new TestCosigner("w2.example");
    const away = new TestCosigner("w3.example");
    const proof = join(temporaryFolder(), "order.proof");
    const offline = new TraderShell("http://127.0.0.1:1");
    const witnessRows = async (...words: readonly string[]) =>
      [...(await offline.text("check", proof, ...words)).matchAll(/^ *witness +(.+)$/gm)].map(
        ([, row]) => row,
      );
    writeFileSync(proof, alone);
    expect(await witnessRows()).toEqual(["none"]);
    writeFileSync(proof, alone + one.line(checkpoint) + two.line(checkpoint));
    const both = ["--witness", one.text, "--witness", away.text];
    expect(await offline.run("check", proof, ...both)).toMatchObject({
      code: 1,
      stdout: "not proven  the checkpoint has 1 of the 2 cosignatures that are required\n",
    });
    expect(await witnessRows(...both, "--require", "1")).toEqual([
      "w1.example: verified",
      "w2.example: not checked: no key given",
      "w3.example: did not cosign this checkpoint",
    ]);
    const namesake = new TestCosigner("w1.example").text;
    expect(await witnessRows("--witness", namesake, "--require", "0")).toEqual([
      "w1.example: not checked: it signed with another key than the one given",
      "w2.example: not checked: no key given",
    ]);
    expect(await offline.json("check", proof, "--witness", two.text)).toMatchObject({
      witnesses: ["w1.example", "w2.example"],
      cosigners: ["w2.example"],
    });
    writeFileSync(proof, alone + two.line(checkpoint, one.key));
    expect(await offline.run("check", proof, "--witness", one.text)).toMatchObject({
      code: 1,
      stdout: "not proven  the cosignature of w1.example does not hold\n",
    });
  });
});

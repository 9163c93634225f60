/** Commands of orders and positions, in this process, at a venue whose time the test moves. */

import { runVenue, startAheadOfClients, Trader } from "@perpgate/gateway/testing";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { TraderShell } from "../testing/trader-shell.js";

let shell: TraderShell;

const at = await runVenue({ startMs: startAheadOfClients() }, afterAll);
const maker = await Trader.enter(at);
beforeEach(async () => {
  await at.setIndex("BTCUSD", 65_000);
  // Orders wait for the liquidations of a jump.
  await at.advance(200);
  await maker.send("/v1/orders/cancel-all", {});
  await quote("short", 65_010, 2_000);
  await quote("long", 64_990, 2_000);
  shell = await TraderShell.signedIn(at.url);
});

function quote(side: "long" | "short", price: number, margin: number) {
  return maker.place(maker.order({ side, type: "limit", price, margin, leverage: 1 }));
}

async function heldSize(): Promise<number> {
  const [position] = JSON.parse(await shell.text("positions", "--json"));
  return position?.size ?? 0;
}

async function openOrders(): Promise<Record<string, unknown>[]> {
  return JSON.parse(await shell.text("orders", "--json"));
}

describe("close", () => {
  test("the whole position, long or short, whatever its size", async () => {
    for (const open of ["buy", "sell"]) {
      await shell.text(open, "BTCUSD", "--size", "0.012", "--leverage", "10");
      expect(await shell.text("close", "BTCUSD")).toMatch(
        /^filled {2}(sold|bought) 0\.01200 BTC (.*\n)* {2}position {2}flat\n/,
      );
    }
    expect(await openOrders()).toEqual([]);
  });

  test("--part: whole lots; --price: rests; less than a lot is refused", async () => {
    await shell.text("buy", "BTCUSD", "--size", "0.00003");
    expect(await shell.json("close", "BTCUSD", "--part", "67%")).toMatchObject({
      filledSize: 0.00002,
    });
    expect(await shell.json("close", "BTCUSD", "--price", "66000")).toMatchObject({
      status: "resting",
      remainingSize: 0.00001,
    });
    const half = await shell.run("close", "BTCUSD", "--part", "50%");
    expect(half).toMatchObject({ code: 1, stderr: expect.stringContaining("less than a lot") });
  });

  test("a book that takes a part of it: exit code 1, and what is left", async () => {
    await shell.text("buy", "BTCUSD", "--size", "0.012");
    await maker.send("/v1/orders/cancel-all", {});
    await quote("long", 64_990, 100);
    const { code, stdout } = await shell.run("close", "BTCUSD");
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^canceled .*book empty/)]);
    expect(await heldSize()).toBeGreaterThan(0);
  });

  test("no position: exit code 1 and the command that lists them", async () => {
    const { code, stderr } = await shell.run("close", "BTCUSD", "--url", at.url);
    const hint = `perpgate positions --url ${at.url}`;
    expect([code, stderr]).toEqual([
      1,
      `perpgate: you have no position in BTCUSD; yours: ${hint}\n`,
    ]);
  });
});

describe("protect", () => {
  test("sets both exits, replaces them, removes one", async () => {
    await shell.text("buy", "BTCUSD", "--size", "0.01");
    const set = await shell.text("protect", "BTCUSD", "--tp", "70000", "--sl", "60000");
    expect(set).toMatch(/^pending .*\(BTCUSD, take-profit at 70,000\.0\)\npending .*stop-loss at/);
    const [takeProfit, stopLoss] = await openOrders();
    expect([takeProfit, stopLoss]).toMatchObject([
      { trigger: "takeProfit", price: 70_000, side: "short", closePosition: true },
      { trigger: "stop", price: 60_000, side: "short", closePosition: true },
    ]);
    await shell.text("protect", "BTCUSD", "--sl", "61000");
    expect(await openOrders()).toMatchObject([
      { orderId: takeProfit?.orderId, price: 70_000 },
      { orderId: stopLoss?.orderId, price: 61_000 },
    ]);
    await shell.text("protect", "BTCUSD", "--no-tp");
    expect(await openOrders()).toMatchObject([{ orderId: stopLoss?.orderId }]);
    expect(await shell.text("protect", "BTCUSD", "--no-tp")).toBe("nothing to change\n");
    await shell.text("close", "BTCUSD");
    expect(await openOrders()).toEqual([]);
  });

  test.each([
    [["--tp", "64000"], "--tp 64000 of a long position must be above the mark price, 65000"],
    [["--sl", "66000"], "--sl 66000 of a long position must be below the mark price, 65000"],
    [["--sl", "60000.05"], "--sl 60000.05 is not a whole number of ticks of 0.1"],
  ])("%s: refused, and nothing changes", async (words, problem) => {
    await shell.text("buy", "BTCUSD", "--size", "0.01");
    await shell.text("protect", "BTCUSD", "--sl", "60000");
    const { code, stderr } = await shell.run("protect", "BTCUSD", "--tp", "70000", ...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
    expect(await openOrders()).toMatchObject([{ price: 60_000 }]);
  });
});

describe("entries", () => {
  test.each([
    ["buy", ["--tp", "64000"], "takeProfit of a long order must be above the mark"],
    ["buy", ["--sl", "66000"], "stopLoss of a long order must be below the mark"],
    ["buy", ["--price", "60000", "--sl", "61000"], "must be below the order's price"],
    ["sell", ["--tp", "66000"], "must be below the mark"],
    ["sell", ["--price", "68000", "--sl", "67000"], "must be above the order's price"],
    ["buy", ["--sl", "60000.03"], "is not on the tick"],
  ])("%s %s: the venue refuses the order with its exit", async (verb, words, problem) => {
    const { code, stdout, stderr } = await shell.run(verb, "BTCUSD", "100", ...words);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(problem);
    expect(JSON.parse(await shell.text("orders", "--all", "--json"))).toEqual([]);
  });

  test.each([
    [["--sl", "60000", "--reduce-only"], "leave out --reduce-only"],
    [["--sl", "60000", "--stop", "66000"], "leave out --stop and --take"],
    [["--sl", "60000:59900:1"], "is not P or P:LIMIT"],
    [["--tp", "70000:"], "is not a plain number"],
  ])("%s: written wrongly", async (words, problem) => {
    const { code, stderr } = await shell.run("buy", "BTCUSD", "100", ...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });

  test("--tp and --sl: attached, shown, listed under the order, amended and canceled by their ids", async () => {
    const exits = ["--tp", "66000:65900", "--sl", "64000"];
    const bought = await shell.text("buy", "BTCUSD", "--size", "0.01", ...exits);
    const [, id = ""] = /^ {2}order +(\d+)$/m.exec(bought) ?? [];
    expect(bought).toMatch(new RegExp(`^  take-profit +${id}\\.1\n  stop-loss +${id}\\.2$`, "m"));
    const bid = await shell.json("buy", "BTCUSD", "--size", "0.01", "--price", "64900", ...exits);
    expect(bid).toMatchObject({ exits: [{ kind: "takeProfit" }, { kind: "stopLoss" }] });
    const { orderId: resting } = Object(bid);
    const listed = await shell.text("orders", "--all");
    const rows = [...listed.matchAll(/^ *([\d.]+) {2}BTCUSD/gm)].map(([, order]) => order);
    expect(rows).toEqual([resting, `${resting}.1`, `${resting}.2`, id, `${id}.1`, `${id}.2`]);
    await shell.text("amend", `${id}.2`, "--price", "63900");
    await shell.text("cancel", `${id}.1`);
    const [stop] = (await openOrders()).filter(({ parentOrderId }) => parentOrderId === id);
    expect(stop).toMatchObject({ orderId: `${id}.2`, price: 63_900, reduceOnly: true });
    await shell.text("close", "BTCUSD");
    expect(await openOrders()).toMatchObject([{ orderId: resting }, {}, {}]);
    await shell.text("cancel", resting);
    expect(await openOrders()).toEqual([]);
  });

  test("repeated with --nonce after the mark has passed an exit: the first answer", async () => {
    const buy = ["buy", "BTCUSD", "--size", "0.01", "--tp", "66000", "--sl", "64900"];
    await shell.json(...buy);
    await at.setIndex("BTCUSD", 66_500);
    const again = await shell.json(...buy, "--nonce", shell.lastNonce());
    expect(again).toMatchObject({ replayed: true });
  });

  test("--stop and --take with --limit: stop-limit and take-profit orders that wait", async () => {
    await shell.text("buy", "BTCUSD", "10", "--stop", "66000", "--limit", "66100");
    await shell.text("buy", "BTCUSD", "10", "--take", "64000");
    await shell.text("sell", "BTCUSD", "10", "--take", "66000", "--limit", "65900");
    expect(await openOrders()).toMatchObject([
      { type: "stop", trigger: "stop", price: 66_000, limitPrice: 66_100 },
      { type: "stop", trigger: "takeProfit", price: 64_000, limitPrice: null },
      { type: "stop", trigger: "takeProfit", side: "short", price: 66_000, limitPrice: 65_900 },
    ]);
    expect(await shell.text("orders")).toMatch(
      / stop limit 66,100\.0 .*\n.* take-profit +64,000\.0 /,
    );
    const triggering = await shell.run("buy", "BTCUSD", "10", "--take", "66000");
    expect(triggering.stderr).toContain("without --stop or --take");
  });

  test("fills --order: those of one order, by its id and by the client's", async () => {
    await quote("short", 65_020, 1_000);
    await shell.text("buy", "BTCUSD", "--size", "0.001");
    const words = ["buy", "BTCUSD", "--size", "0.04", "--leverage", "5", "--client-id", "mine"];
    const { orderId } = Object(await shell.json(...words));
    await shell.text("buy", "BTCUSD", "--size", "0.001");
    const fills = await shell.json("fills", "--order", orderId);
    expect(fills).toMatchObject([
      { orderId, price: 65_010 },
      { orderId, price: 65_020 },
    ]);
    expect(await shell.json("fills", "--order", "mine")).toEqual(fills);
    const none = await shell.run("fills", "--order", "no-such");
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("no order named") });
  });
});

test("ticker, trades, candles, funding: once, as a table and as JSON", async () => {
  await shell.text("buy", "BTCUSD", "--size", "0.001");
  expect(await shell.text("ticker", "BTCUSD")).toMatch(/^symbol +bid +ask .*\nBTCUSD +64,990\.0/);
  expect(await shell.json("ticker", "BTCUSD")).toMatchObject({ symbol: "BTCUSD", last: 65_010 });
  expect(await shell.text("ticker")).toContain("\nETHUSD");
  expect(await shell.text("trades", "BTCUSD", "--limit", "1")).toMatch(
    /^time .*\n\d{4}-\d\d-\d\d .* long +65,010\.0 +0\.00100 /,
  );
  expect(await shell.text("candles", "BTCUSD", "--resolution", "1h")).toMatch(
    /^time \(UTC\) +open +high .* +volume +trades\n/,
  );
  expect(await shell.text("candles", "BTCUSD", "--price", "index", "--limit", "1")).toMatch(
    /^time \(UTC\) +open +high +low +close\n\S+ \S+( +6\d,\d{3}\.0){4}\n$/,
  );
  expect(await shell.text("funding", "BTCUSD")).toBe("no funding\n");
});

test("a symbol that is not listed: the one that may have been meant, and no path of the API", async () => {
  for (const words of [
    ["ticker", "BTCUDS"],
    ["buy", "BTC", "100"],
    ["close", "btcusdt"],
  ]) {
    const { code, stderr } = await shell.run(...words, "--profile", "default");
    expect([code, stderr]).toEqual([1, expect.stringContaining("Did you mean BTCUSD?\n")]);
    expect(stderr).not.toContain("/v1/");
  }
});

test("a hint: names the profile and the address that the call named", async () => {
  const flags = ["--profile", "bot", "--url", at.url];
  const hint = `perpgate login --profile bot --url ${at.url}`;
  expect((await shell.run("orders", ...flags)).stderr).toContain(`run: ${hint}\n`);
  await shell.text("login", ...flags);
  const missing = await shell.run("cancel", "999999", ...flags);
  expect(missing.stderr).toContain(`Your open orders: perpgate orders --profile bot --url`);
});

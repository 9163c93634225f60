import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openJournal } from "@perpgate/journal";
import { POLL } from "@perpgate/journal/testing";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { privateKeyAccount } from "@perpgate/sdk";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Deferred } from "./deferred.js";
import { parseScenario, type SandboxOptions, type SandboxVenue, startVenue } from "./index.js";

async function started(options: SandboxOptions = {}): Promise<SandboxVenue> {
  const venue = await startVenue(options);
  onTestFinished(() => venue.stop());
  return venue;
}

const BUY = {
  symbol: "BTCUSD",
  side: "long",
  type: "market",
  margin: 1_000,
  leverage: 10,
} as const;

test("a folder keeps the log after the stop; one with files is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const venue = await started({ folder });
  await venue.advance("1s");
  const { position } = venue;
  await venue.stop();
  const journal = await openJournal({ directory: join(folder, "journal"), verify: "all" });
  await journal.close();
  expect(position).toBeGreaterThan(0);
  expect(journal.recovery.end.record).toBeGreaterThanOrEqual(position);
  await expect(startVenue({ folder })).rejects.toThrow(`${folder} is not empty`);
});

describe("a venue in manual time", () => {
  test("a trader with funds buys, the price rises, the position gains", async () => {
    const venue = await started();
    const trader = await venue.trader({ funds: 12_345.67 });
    expect((await trader.account()).balance).toBe(12_345.67);
    await venue.price("BTCUSD", 60_000);
    const ack = await trader.placeOrder(BUY);
    expect(ack).toMatchObject({ status: "filled" });
    await venue.price("BTCUSD", 63_000, { within: "1m" });
    await venue.advance("5m");
    const [position] = await trader.positions();
    expect(position?.unrealizedPnl).toBeGreaterThan(400);
    expect(position?.markPrice).toBeGreaterThan(62_900);
  });

  test("a trader signs in once, even where the machine stands still for a minute meanwhile", async () => {
    const venue = await started();
    const { position } = venue;
    const setTimer = globalThis.setTimeout;
    const timers = vi
      .spyOn(globalThis, "setTimeout")
      .mockImplementation((run, ms = 0, ...given) =>
        setTimer(run, ms >= 1_000 && ms <= 60_000 ? 0 : ms, ...given),
      );
    onTestFinished(() => timers.mockRestore());
    await venue.trader({ funds: 0 });
    expect(venue.position).toBe(position + 1);
  });

  test("grant: the dollars are there when the first sign-in is answered, and once", async () => {
    const venue = await started({ grant: 5_000 });
    const account = privateKeyAccount(`0x${"11".repeat(32)}`);
    for (let at = 0; at < 2; at++) {
      const session = await venue.client().signIn({ account });
      expect((await session.account()).balance).toBe(5_000);
    }
  });

  test("an hour: funding is paid once, and the clock of the venue has moved by it", async () => {
    const venue = await started();
    const trader = await venue.trader();
    await trader.placeOrder(BUY);
    const startMs = venue.time;
    await venue.advance("1h");
    expect(venue.time).toBe(startMs + 3_600_000);
    const [position] = await trader.positions();
    expect(position?.fundingPaid).toBeGreaterThan(0);
  });

  test("a crash: a stop sells, a position at high leverage is liquidated", async () => {
    const venue = await started();
    const careful = await venue.trader();
    const bold = await venue.trader();
    await careful.placeOrder({ ...BUY, stopLoss: { price: 62_000 } });
    await bold.placeOrder({ ...BUY, margin: 2_000, leverage: 40 });
    await venue.crash("BTCUSD", { by: 0.15, within: "2s" });
    await venue.advance("5s");
    expect(await careful.positions()).toEqual([]);
    expect(await bold.positions()).toEqual([]);
    const kinds = new Set((await bold.fills()).map(({ kind }) => kind));
    expect([...kinds].some((kind) => kind !== "order")).toBe(true);
  });

  test("a limit order that the market comes to fills at its price", async () => {
    const venue = await started();
    const trader = await venue.trader();
    const bid = await trader.placeOrder({ ...BUY, type: "limit", price: 64_000 });
    expect(bid.status).toBe("resting");
    await venue.price("BTCUSD", 63_500, { within: "10s" });
    await venue.advance("20s");
    expect(await trader.order(bid.orderId)).toMatchObject({
      status: "filled",
      avgFillPrice: 64_000,
    });
  });

  test("the same seed and calls: the same log to the byte; another seed: another", async () => {
    const run = async (seed: number): Promise<string> => {
      const venue = await started({ seed });
      const trader = await venue.trader();
      await trader.placeOrder(BUY);
      await trader.placeOrder({ ...BUY, side: "short", type: "limit", price: 66_000 });
      await venue.crash("BTCUSD", { by: 0.05 });
      await venue.advance("1m");
      await trader.cancelAll();
      return venue.logHash();
    };
    const first = await run(7);
    expect(await run(7)).toBe(first);
    expect(await run(8)).not.toBe(first);
  });

  test("save and restore: sessions, orders, positions, time and prices are as they were", async () => {
    const venue = await started();
    const trader = await venue.trader();
    await trader.placeOrder(BUY);
    const bid = await trader.placeOrder({ ...BUY, type: "limit", price: 60_000 });
    const saved = await venue.save();
    const before = { time: venue.time, positions: await trader.positions() };
    await venue.crash("BTCUSD", { by: 0.1 });
    await trader.cancelAll();
    await venue.restore(saved);
    expect({ time: venue.time, positions: await trader.positions() }).toEqual(before);
    expect((await trader.openOrders()).map(({ orderId }) => orderId)).toEqual([bid.orderId]);
    expect(await trader.placeOrder(BUY)).toMatchObject({ status: "filled" });
  });
});

test.runIf(existsSync("/dev/shm"))(
  "a folder in memory of a process that was killed: removed by the next start; that of a living one stays",
  async () => {
    const venue = await started();
    const [own = ""] = readdirSync("/dev/shm").filter((name) => name.includes(`-${process.pid}-`));
    const { pid } = spawnSync("true");
    const [dead, living] = [pid, process.ppid].map((id) =>
      join("/dev/shm", `${own.replace(`-${process.pid}-`, `-${id}-`)}x`),
    );
    if (dead === undefined || living === undefined) throw new Error("two names");
    onTestFinished(() => rmSync(living, { recursive: true }));
    for (const folder of [dead, living]) mkdirSync(join(folder, "journal"), { recursive: true });
    await started();
    expect([existsSync(dead), existsSync(living)]).toEqual([false, true]);
    await venue.advance("1s");
  },
);

/** What a process holds: handles of Node, descriptors of the kernel, folders of sandboxes. */
function held(): number {
  const foldersIn = (place: string) =>
    readdirSync(place).filter((name) => name.startsWith("perpgate-sandbox-")).length;
  return (
    process.getActiveResourcesInfo().length +
    readdirSync("/proc/self/fd").length +
    foldersIn(tmpdir()) +
    foldersIn("/dev/shm")
  );
}

test.runIf(process.platform === "linux")(
  "20 venues, each traded on, saved and stopped: no handle, descriptor, folder or port stays",
  async () => {
    const run = async (seed: number): Promise<string> => {
      const venue = await startVenue({ seed });
      const trader = await venue.trader();
      await trader.placeOrder(BUY);
      await trader.stream.watchPreconfirms(() => undefined).ready;
      if (seed % 8 === 0) await venue.save();
      const { url } = venue;
      await venue.stop();
      return url;
    };
    // The first opens what a process keeps.
    await run(0);
    const before = held();
    const urls: string[] = [];
    for (let seed = 1; seed <= 20; seed++) urls.push(await run(seed));
    await expect.poll(held).toBeLessThanOrEqual(before);
    for (const url of urls) await expect(fetch(url)).rejects.toThrow();
  },
);

test("stop while a year passes: stops, and the call rejects", async () => {
  const venue = await startVenue({ liquidity: false });
  const year = expect(venue.advance("365d")).rejects.toThrow("has stopped");
  await venue.stop();
  await year;
});

test("stop while a scenario plays in real time: stops, and the call rejects; a later one, too", async () => {
  const venue = await startVenue({ time: "real", liquidity: false });
  const hour = expect(venue.play("quiet-hour")).rejects.toThrow("has stopped");
  const restart = expect(venue.faults.restartGateway({ downFor: "1h" })).rejects.toThrow(
    "has stopped",
  );
  await venue.stop();
  await Promise.all([hour, restart]);
  await expect(venue.play("quiet-hour")).rejects.toThrow("has stopped");
});

test.runIf(existsSync("/dev/shm"))(
  "a log that cannot be written in real time: every call rejects with the reason, the process goes on",
  async () => {
    const folder = mkdtempSync("/dev/shm/perpgate-full-");
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const venue = await startVenue({ folder, time: { speed: 10_000 } });
    onTestFinished(() => venue.stop().catch(() => undefined));
    const playing = expect(venue.play("restored-funding")).rejects.toThrow("the journal stopped");
    const down = expect(venue.faults.restartGateway({ downFor: "300d" })).rejects.toThrow(
      "the journal stopped",
    );
    // The next segment of the log cannot be made.
    rmSync(join(folder, "journal"), { recursive: true });
    expect(await venue.failed).toMatchObject({ code: "journal_stopped" });
    await playing;
    await down;
    await expect(venue.trader()).rejects.toThrow("the journal stopped");
    await expect(venue.price("BTCUSD", 1)).rejects.toThrow("the journal stopped");
    await expect(venue.stop()).rejects.toThrow("the journal stopped");
  },
);

test("a grant that cannot be credited: the sign-in fails, every call says why", async () => {
  const venue = await startVenue({ grant: 1e10 });
  onTestFinished(() => venue.stop().catch(() => undefined));
  const account = privateKeyAccount(`0x${"11".repeat(32)}`);
  // The SDK repeats what ended with an internal error.
  await expect(venue.client().signIn({ account })).rejects.toMatchObject({
    name: "PerpgateError",
  });
  const reason = "a grant of 10000000000 dollars: funds are a number of dollars above 0";
  expect((await venue.failed).message).toContain(reason);
  expect(() => venue.setTime("real")).toThrow(reason);
  await expect(venue.advance("1s")).rejects.toThrow(reason);
  await expect(venue.stop()).rejects.toThrow(reason);
});

describe("what moves time while a scenario plays", () => {
  const MINUTE = parseScenario("1m end", "minute");

  test("from manual to real time: it goes on with the clock to its end", async () => {
    const venue = await started();
    const playing = venue.play(MINUTE, {
      each: () => venue.setTime({ speed: 200 }),
    });
    await playing;
    expect(venue.scenario).toMatchObject({ isOver: true, problem: null });
  });

  test("paused while the call moves time: time stands until it is moved again", async () => {
    const venue = await started();
    const { time } = venue;
    let turns = 0;
    const paused = new Deferred<void>();
    const playing = venue.play(MINUTE, {
      each: async () => {
        if (++turns < 5) return;
        await venue.setTime("manual");
        paused.resolve();
      },
    });
    await paused.promise;
    await venue.fund(`0x${"11".repeat(20)}`, 1);
    expect(venue.time).toBe(time + 5_000);
    await venue.advance("10s");
    expect(venue.time).toBe(time + 15_000);
    await venue.setTime({ speed: 200 });
    await playing;
    expect(turns).toBe(5);
  });
});

test("pause: at once, also at a speed that no machine keeps; the state says how fast it was", async () => {
  const venue = await started({ time: { speed: 10_000 } });
  await venue.takers("BTCUSD", { rate: 20 });
  const before = venue.time;
  await expect.poll(() => venue.time, POLL).toBeGreaterThan(before + 20_000);
  expect(venue.measuredSpeed).toBeGreaterThan(0);
  const asked = venue.time;
  await venue.setTime("manual");
  const { time } = venue;
  expect(time - asked).toBeLessThanOrEqual(200);
  await venue.advance("1s");
  expect(venue.time).toBe(time + 1_000);
  expect([venue.speed, venue.measuredSpeed]).toEqual([0, 0]);
});

test("in real time ticks go on without a call", async () => {
  const venue = await started({ time: { speed: 100 } });
  const before = venue.time;
  const trader = await venue.trader();
  expect(await trader.placeOrder(BUY)).toMatchObject({ status: "filled" });
  await expect.poll(() => venue.time, { timeout: 60_000 }).toBeGreaterThan(before + 10_000);
  expect(() => venue.advance("1s")).toThrow("manual");
});

test("a jump beyond a quarter: the price call lets time pass until the venue has confirmed it", async () => {
  const venue = await started();
  const before = venue.time;
  for (const price of [30_000, 90_000, 0.1]) {
    await venue.price("BTCUSD", price);
    expect((await venue.client().ticker("BTCUSD")).index).toBe(price);
  }
  expect(venue.time).toBeLessThan(before + 15_000);
});

test.each<[SandboxOptions, string]>([
  [{ seed: Number.NaN }, "seed is a whole number, not NaN"],
  [{ start: new Date("yesterday") }, "start is a date, or Unix milliseconds, not Invalid Date"],
  [{ time: { speed: 0 } }, "speed is a number above 0"],
  [{ grant: -1 }, "grant is a number of dollars of at least 0, not -1"],
  [{ markets: ["DOGEUSD"] }, "no market DOGEUSD: the default ones are BTCUSD, ETHUSD, SOLUSD"],
])("startVenue %j: rejects with the reason", async (options, reason) => {
  await expect(startVenue(options)).rejects.toThrow(reason);
});

test("prices, funds and addresses that cannot be: rejected with the reason", async () => {
  const venue = await started({ liquidity: false });
  await expect(venue.price("BTCUSD", 1e300)).rejects.toThrow("a price of BTCUSD is at most 8589");
  await expect(venue.trader({ funds: -1 })).rejects.toThrow(
    "funds are a number of dollars above 0",
  );
  await expect(venue.fund("bob", 5)).rejects.toThrow(
    "an address has 40 hexadecimal digits, not bob",
  );
});

test.each([["1 hour"], ["h"], ["-1s"], [Number.NaN]])("%s: no duration", async (duration) => {
  const venue = await started({ liquidity: false });
  expect(() => venue.advance(duration)).toThrow(RangeError);
});

test("a market that allows leverage 3 at most: is quoted and taken, too", async () => {
  const tiers = [{ notionalUpTo: 2_000_000, maxLeverage: 3, maintenanceRate: 0.1 }];
  const [bitcoin] = DEFAULT_MARKETS;
  if (bitcoin === undefined) throw new Error("no default market");
  const venue = await started({ markets: [{ ...bitcoin, tiers }] });
  await venue.takers("BTCUSD", { rate: 20 });
  await venue.advance("5s");
  const { bid, ask, volume24h } = await venue.client().ticker("BTCUSD");
  expect([bid, ask]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(volume24h).toBeGreaterThan(0);
});

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { TestVenue } from "@perpgate/venue/testing";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { StartError } from "../cli/start-error.js";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { BridgeControl } from "./bridge/bridge-control.js";
import { CohortControl } from "./cohort-control.js";
import { askControl, type ControlRequest, ControlSocket, Unreachable } from "./control-socket.js";
import { MarketControl } from "./market-control.js";
import { stepDown } from "./step-down-control.js";
import { UpgradeControl } from "./upgrade-control.js";

const CLOSED: ControlRequest = { cohort: { stage: "closed", allow: [], disallow: [] } };
const LONG_MS = 3_600_000;

async function controlled(idleMs = LONG_MS) {
  const folder = temporaryFolder();
  const { venue } = await TestVenue.open(join(folder, "venue"));
  onTestFinished(() => venue.close());
  const log = pino({ level: "silent" });
  const controls = {
    cohort: new CohortControl(venue),
    bridge: new BridgeControl(venue),
    market: new MarketControl(venue),
    upgrade: new UpgradeControl(venue),
    configure: async () => undefined,
    leave: () => undefined,
    prune: async () => 0,
    stepDown: (to: string) => stepDown(venue, to),
  };
  const control = new ControlSocket(folder, controls, log, idleMs);
  await control.open();
  onTestFinished(() => control.close());
  return { folder, venue, control };
}

async function connected(folder: string): Promise<Socket> {
  const socket = connect(join(folder, "control.sock"));
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, "connect");
  socket.on("error", () => undefined);
  return socket;
}

/** Resolves once the other side has ended it, by a word or a reset. */
async function gone(socket: Socket): Promise<void> {
  socket.resume();
  if (!socket.destroyed)
    await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}

describe("the control socket", () => {
  test("a change: made, and answered", async () => {
    const { folder, venue } = await controlled();
    await askControl(folder, CLOSED);
    expect(venue.views.cohortStage).toBe("closed");
  });

  test("a change of the bridge: answered with the engine's reason where it was not made", async () => {
    const { folder } = await controlled();
    const pause: ControlRequest = { bridge: { action: "pause", scope: "ethereum" } };
    await expect(askControl(folder, pause)).rejects.toThrow("this venue runs the dev attestor");
    const settle: ControlRequest = { bridge: { action: "settle", depositId: 7 } };
    await expect(askControl(folder, settle)).rejects.toThrow("there is no such deposit");
  });

  test("a market: reduced, halted, resumed, settled for good; wrong ones say why", async () => {
    const { folder, venue } = await controlled();
    const status = () => venue.views.market("ETHUSD")?.status;
    const ask = (action: "reduceOnly" | "halt" | "resume", symbol = "ETHUSD") =>
      askControl(folder, { market: { symbol, action } });
    const settle = (price: number) =>
      askControl(folder, { market: { symbol: "ETHUSD", action: "settle", price } });
    await ask("reduceOnly");
    expect(status()).toBe("reduceOnly");
    await ask("halt");
    expect(status()).toBe("halted");
    await ask("resume");
    expect(status()).toBe("active");
    await expect(ask("halt", "DOGEUSD")).rejects.toThrow("there is no market DOGEUSD");
    await expect(settle(3_000.005)).rejects.toThrow("the price 3000.005 is not on the tick 0.01");
    await settle(3_000);
    expect(status()).toBe("settled");
    await expect(ask("resume")).rejects.toThrow("the market is settled");
  });

  test("an operator's commands: ten a minute", async () => {
    const { folder } = await controlled();
    const halt: ControlRequest = { market: { symbol: "BTCUSD", action: "halt" } };
    for (let i = 0; i < 10; i++) await askControl(folder, halt);
    await expect(askControl(folder, halt)).rejects.toThrow("ten operator commands");
  });

  test("an upgrade: refused with both versions while the release knows no newer one", async () => {
    const { folder, venue } = await controlled();
    const before = venue.seq;
    await expect(askControl(folder, { upgrade: true })).rejects.toThrow(
      "nothing is newer: the venue runs engine version 3, the newest that this release knows is 3",
    );
    expect(venue.seq - before).toBeLessThan(2);
  });

  test("close: idle connections and half a request do not delay it", async () => {
    const { folder, control } = await controlled();
    const silent = await connected(folder);
    const half = await connected(folder);
    half.write('{"cohort":');
    await control.close();
    await Promise.all([gone(silent), gone(half)]);
  });

  test("close: a pending change is made and answered first", async () => {
    const { folder, venue, control } = await controlled();
    let closing: Promise<void> | undefined;
    venue.observe({
      onCommand: () => {
        closing ??= control.close();
      },
    });
    await askControl(folder, CLOSED);
    expect(closing).toBeDefined();
    await closing;
    expect(venue.views.cohortStage).toBe("closed");
  });

  test("an idle connection: closed after the time-out", async () => {
    const { folder } = await controlled(20);
    const silent = await connected(folder);
    silent.write("{");
    await gone(silent);
  });
});

describe("askControl", () => {
  test("no socket: says that no process is running", async () => {
    const asking = askControl(temporaryFolder(), CLOSED);
    await expect(asking).rejects.toThrow(StartError);
    await expect(asking).rejects.toThrow("no perpgate is running");
  });

  test("a socket that the system refuses to connect: says so, not that no process is running", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const asking = askControl(file, CLOSED);
    await expect(asking).rejects.toThrow(StartError);
    await expect(asking).rejects.toThrow(`cannot reach the perpgate on the data folder ${file}: `);
    await expect(asking).rejects.toThrow("ENOTDIR");
  });

  test("a socket of another user: advises to run the command as that user", () => {
    const error = Object.assign(new Error("connect EACCES /data/control.sock"), { code: "EACCES" });
    expect(new Unreachable("/data", error).message).toBe(
      "cannot reach the perpgate on the data folder /data: connect EACCES /data/control.sock; " +
        "run the command as the venue's user",
    );
  });

  test.each<[string, (socket: Socket) => void]>([
    ["without a word", (socket) => socket.end()],
    ["within the answer", (socket) => socket.end('{"ok":tr')],
    ["with a reset", (socket) => socket.destroy()],
    ["with something else", (socket) => socket.end("null\n")],
  ])("the process dies %s: says that the change may have been made", async (_, die) => {
    const folder = temporaryFolder();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => undefined).once("data", () => die(socket));
    });
    onTestFinished(() => {
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(join(folder, "control.sock"), resolve));
    const asking = askControl(folder, CLOSED);
    await expect(asking).rejects.toThrow(StartError);
    await expect(asking).rejects.toThrow("may or may not have been made");
  });
});

/** What a core does by itself, and whom it counts as connected, when the lead goes to another core and back. */
import { readdirSync } from "node:fs";
import { until } from "@perpgate/journal/testing";
import { type CoreLink, CoreRouter, memoryTransport } from "@perpgate/link";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { DEFAULT_PARAMETERS, venueConfigOf } from "./listing/venue-config.js";
import { newLogKey } from "./receipts/log-key.js";
import { NO_EVIDENCE } from "./record/record.js";
import { dataFolder } from "./recovery/data-folder.js";
import type { AccountLimitSettings } from "./service/account-limits.js";
import { Core } from "./service/core.js";
import { CoreList } from "./testing/core-list.js";
import {
  KEY,
  orderCommand,
  removeFolder,
  START_MS,
  signInCommand,
  TEST_MARKETS,
  temporaryFolder,
  testOptions,
} from "./testing/test-venue.js";
import { Venue } from "./venue.js";
import type { VenueOptions } from "./venue-options.js";

const MANY = 1e6;
const LIMITS = {
  ordersPerSecond: MANY,
  ordersBurst: MANY,
  cancelsPerSecond: MANY,
  cancelsBurst: MANY,
  accountReadsPerSecond: MANY,
  accountReadsBurst: MANY,
  depositsPerMinute: MANY,
  unseenDeposits: MANY,
};
/** Of an epoch: whoever was connected has as many to come back. */
const RETURN_TICKS = 25;

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

class LedCore {
  readonly core: Core;
  private links: CoreLink[] = [];

  private constructor(
    readonly name: string,
    readonly directory: string,
    readonly venue: Venue,
    private readonly list: CoreList,
    limits: Partial<AccountLimitSettings>,
  ) {
    this.core = new Core({
      venue,
      limits: { ...LIMITS, ...limits },
      onFault: (error) => {
        throw error;
      },
    });
  }

  static async open(
    list: CoreList,
    name: string,
    more: Partial<VenueOptions>,
    limits: Partial<AccountLimitSettings>,
  ): Promise<LedCore> {
    const directory = `${folder}/${name}`;
    const openCoreLog = list.opener(name);
    const options = { commit: "inline", ...more, name, openCoreLog } as const;
    const venue = await Venue.open(testOptions(directory, options));
    const led = new LedCore(name, directory, venue, list, limits);
    onTestFinished(async () => {
      led.core.stop();
      await venue.close();
    });
    return led;
  }

  lead(): void {
    this.list.claim(this.name);
    expect(this.venue.isLeading, this.name).toBe(true);
  }

  async connect() {
    const { connectCore, connectEdge } = memoryTransport();
    this.links.push(this.core.connect(connectCore));
    return connectEdge;
  }

  /** Ends its links, which edges make again. */
  resetLinks(): void {
    for (const link of this.links.splice(0)) link.close("reset");
  }

  execute(command: Parameters<Venue["submit"]>[0]): Promise<number> {
    return this.venue.submitted(command, NO_EVIDENCE, ({ seq }) => seq);
  }

  async ticks(count: number): Promise<void> {
    for (let tick = 0; tick < count; tick++) {
      await this.execute({ kind: "Tick", slot: Math.floor(this.venue.views.timeMs / 200) + 1 });
    }
  }

  /** A session with an order that rests; with the option its end cancels the order. */
  async trader(account: number, cancelsOnDisconnect: boolean): Promise<number> {
    const { views } = this.venue;
    const stampMs = views.timeMs;
    const { command, evidence } = signInCommand(account, "first", stampMs);
    const session = await this.venue.submitted(command, evidence, ({ seq }) => seq);
    if (cancelsOnDisconnect) {
      const option = { kind: "SetSessionOption", cancelOnDisconnect: true } as const;
      await this.execute({ ...option, stampMs, session });
    }
    await this.execute(orderCommand(session, 1, "long", 640_000, 100));
    expect(views.openOrders(account)).toHaveLength(1);
    return session;
  }
}

/** Two cores, of which the first leads, and edges that are linked to both. */
async function cores(more: Partial<VenueOptions> = {}, limits: Partial<AccountLimitSettings> = {}) {
  const list = new CoreList(testOptions(folder, more), START_MS);
  const [first, second] = [
    await LedCore.open(list, "core-1", more, limits),
    await LedCore.open(list, "core-2", more, limits),
  ];
  first.lead();
  const slot = START_MS / 200;
  const index = { kind: "UpdateIndex", stampMs: START_MS, market: 0, indexTicks: 650_000 } as const;
  await first.execute({ ...index, slot });
  const edge = () => {
    const router = new CoreRouter([first, second], {
      switched: () => undefined,
      lost: () => undefined,
    });
    onTestFinished(() => router.close());
    return router;
  };
  return { list, first, second, edge };
}

/** Resolves once the edge asks that core. */
function asks(router: CoreRouter, { venue }: LedCore) {
  return until(() => router.epoch === venue.epoch && router.leader !== undefined);
}

describe("presence when another core leads", () => {
  test("who comes back within 25 ticks keeps orders, who does not loses them, nobody else does", async () => {
    const { first, second, edge } = await cores();
    const [one, other] = [edge(), edge()];
    await Promise.all([one.ready, other.ready]);
    const back = await first.trader(1, true);
    const gone = await first.trader(2, true);
    const elsewhere = await first.trader(3, true);
    const without = await first.trader(4, false);
    for (const session of [back, gone, without]) await one.request("connectSession", { session });
    for (const session of [elsewhere]) await other.request("connectSession", { session });
    await first.trader(5, true);
    await first.ticks(2 * RETURN_TICKS);
    const open = ({ venue }: LedCore) =>
      [1, 2, 3, 4, 5].map((account) => venue.views.openOrders(account).length);
    expect(open(first)).toEqual([1, 1, 1, 1, 1]);

    second.lead();
    expect(first.venue.isStandby).toBe(true);
    await second.ticks(RETURN_TICKS - 2);
    await asks(one, second);
    await one.request("connectSession", { session: back });
    // At another edge than before.
    await one.request("connectSession", { session: elsewhere });
    await second.ticks(1);
    expect(open(second)).toEqual([1, 1, 1, 1, 1]);
    await second.ticks(1);
    expect(open(second)).toEqual([1, 0, 1, 1, 1]);
    expect(second.venue.views.orders(2)).toMatchObject([{ reason: "disconnected" }]);
    await second.ticks(2 * RETURN_TICKS);
    expect(open(second)).toEqual([1, 0, 1, 1, 1]);
    expect(open(first)).toEqual(open(second));

    // And back, where the sessions were known.
    first.lead();
    await asks(one, first);
    await one.request("connectSession", { session: elsewhere });
    await first.ticks(RETURN_TICKS);
    expect(open(first)).toEqual([0, 0, 1, 1, 1]);
    expect(open(second)).toEqual(open(first));
  });

  test("an end of connections that a lost lead has not written is left to the core that leads", async () => {
    const { list, first, second, edge } = await cores();
    const router = edge();
    await router.ready;
    const session = await first.trader(1, true);
    await router.request("connectSession", { session });
    await router.request("disconnectSession", { session, isAgain: false });
    expect(first.venue.views.openOrders(1)).toEqual([]);
    await first.execute(orderCommand(session, 2, "long", 640_000, 100));
    list.isHeld = true;
    const again = router.request("disconnectSession", { session, isAgain: true });
    await until(() => first.venue.waiting > 0);
    second.lead();
    list.release();
    await again;
    expect(second.venue.views.openOrders(1)).toEqual([]);
    // It resolves once the first core does not try any more.
    await first.core.settled();
  });
});

describe("a link that resets while the batch of a command is in flight", () => {
  const limits = {
    ordersPerSecond: 0.001,
    ordersBurst: 1,
    cancelsPerSecond: 0.001,
    cancelsBurst: 1,
  };

  /** Asks, resets the link, and stores the batch once the core has the copy as well. */
  async function copied<T>(
    ask: (router: CoreRouter, session: number) => Promise<T>,
  ): Promise<{ readonly answer: T; readonly first: LedCore }> {
    const { list, first, edge } = await cores({}, limits);
    const router = edge();
    await router.ready;
    const session = await first.trader(1, false);
    list.isStalled = true;
    const answer = ask(router, session);
    answer.catch(() => undefined);
    await until(() => first.venue.waiting > 0);
    const { leader } = router;
    first.resetLinks();
    await until(() => router.leader !== undefined && router.leader !== leader);
    // Answered over the same link, so the core has read the copy.
    await router.request("getTime", { params: {}, query: {} });
    list.release();
    return { answer: await answer, first };
  }

  test("a signed order has the answer of the first copy, whatever the second is refused for", async () => {
    const terms = { symbol: "BTCUSD", side: "long", type: "limit", price: 63_000 } as const;
    const body = { ...terms, margin: 100, leverage: 10, nonce: 7 };
    const bytes = Buffer.from(JSON.stringify(body));
    const { answer, first } = await copied((router, session) =>
      router.request("placeOrder", { session, key: KEY, body, bytes, signature: bytes }),
    );
    const [, placed] = first.venue.views.openOrders(1);
    expect(answer.result?.orderId).toBe(placed?.orderId);
    expect(first.venue.views.openOrders(1)).toHaveLength(2);
  });

  test("an unsigned command has, too", async () => {
    const { answer, first } = await copied((router, session) =>
      router.request("cancelAllOrders", { session, symbol: undefined }),
    );
    expect(answer.result.canceled).toHaveLength(1);
    expect(first.venue.views.openOrders(1)).toEqual([]);
  });
});

test("what is owed was counted while another core led that never committed to it: the next one does", async () => {
  const HOUR_MS = 3_600_000;
  const attestation = { attestorKind: "chain", attestors: 1, attestorQuorum: 1 } as const;
  const parameters = { ...DEFAULT_PARAMETERS, ...attestation, devCredit: 0 };
  const beforeMs = (Math.floor(START_MS / HOUR_MS) + 1) * HOUR_MS - 200;
  const { list, first, second } = await cores({
    clock: () => beforeMs,
    config: venueConfigOf(TEST_MARKETS, parameters),
    attestors: { venue: "test-venue", members: ["ab".repeat(32)] },
    promises: { logKey: newLogKey("venue.example/log").key, checkpointMs: 60_000 },
    checkpoints: { everyCommands: 100_000, everyMs: HOUR_MS, keep: 2 },
  });
  await first.execute({ kind: "AskTime", stampMs: beforeMs });
  // Nothing is written after the command that begins the hour.
  first.venue.observe({
    onCommand: () => {
      list.isHeld = true;
    },
  });
  await first.ticks(1);
  const trees = ({ directory }: LedCore) => readdirSync(dataFolder(directory).reserves);
  await until(() => first.venue.waiting > 0);
  expect([trees(first), second.venue.listing.reserves]).toEqual([trees(second), null]);
  second.lead();
  list.release();
  await until(() => second.venue.listing.reserves !== null);
  expect(first.venue.listing.reserves).toEqual(second.venue.listing.reserves);
});

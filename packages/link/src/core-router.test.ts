/** An edge with links to several cores: who is asked, and what becomes of requests when that one is lost. */

import { ApiError } from "@perpgate/protocol/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CoreLink, NotesInMaking } from "./core-link.js";
import { CoreRouter } from "./core-router.js";
import type { AnswerBodies, RequestBodies, RequestName } from "./frames.js";
import { handlersWith } from "./testing/handlers.js";
import { newCoreLink } from "./testing/socket-links.js";
import { memoryTransport } from "./transport.js";

const CANCELED = { result: { canceled: ["1"] } };
const ALL = { session: 7, symbol: undefined };
const FILE = { file: Buffer.from("policy") };

/** A core that answers cancels when the test says so. */
class TestCore {
  epoch = 0;
  isLeading = false;
  isReachable = true;
  connects = 0;
  readonly asked: NotesInMaking["asked"][] = [];
  private links: CoreLink[] = [];
  private answers: {
    resolve(body: AnswerBodies["cancelAllOrders"]): void;
    reject(error: Error): void;
  }[] = [];

  constructor(readonly name: string) {}

  async connect() {
    if (!this.isReachable) throw new Error(`${this.name} is not there`);
    const transport = memoryTransport({ isCoded: true });
    this.links.push(
      newCoreLink(transport.connectCore, {
        handlers: handlersWith({
          cancelAllOrders: (_, notes) => {
            this.asked.push(notes.asked);
            return new Promise((resolve, reject) => this.answers.push({ resolve, reject }));
          },
          tlogPolicy: () => FILE,
          connectSession: () => {
            this.connects++;
            return new Promise(() => undefined);
          },
        }),
        window: 2,
        epoch: () => this.epoch,
        isLeading: () => this.isLeading,
        position: () => 10 * this.epoch,
        timeMs: () => 1_000_000,
      }),
    );
    return transport.connectEdge;
  }

  leads(epoch: number): void {
    this.epoch = epoch;
    this.isLeading = true;
    this.tell();
  }

  follows(epoch: number): void {
    this.epoch = epoch;
    this.isLeading = false;
    this.tell();
  }

  tell(): void {
    for (const link of this.links) link.tellRole();
  }

  ends(session: number): void {
    for (const link of this.links) link.notify("sessionEnded", { session });
  }

  answer(): void {
    for (const { resolve } of this.answers.splice(0)) resolve(CANCELED);
  }

  /** As a core that stops, and still says that it leads. */
  refuses(): void {
    for (const { reject } of this.answers.splice(0)) reject(new ApiError("stopped", {}));
  }

  dies(): void {
    this.isReachable = false;
    for (const link of this.links.splice(0)) link.close("killed");
  }
}

let cores: [TestCore, TestCore, TestCore];
let router: CoreRouter;
let switches: string[];
let losses: string[];

beforeEach(() => {
  vi.useFakeTimers();
  cores = [new TestCore("a"), new TestCore("b"), new TestCore("c")];
  switches = [];
  losses = [];
});

afterEach(() => {
  router.close();
  vi.useRealTimers();
});

async function start(): Promise<void> {
  router = new CoreRouter(
    cores,
    {
      switched: (core) => switches.push(core),
      lost: (core, { message }) => losses.push(`${core}: ${message}`),
    },
    () => Date.now(),
  );
  await settle();
}

const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

function asks<N extends RequestName>(name: N, body: RequestBodies[N]) {
  const outcomes: unknown[] = [];
  router.ask(name, body, {
    answered: (answer) => outcomes.push(answer),
    refused: (error) => outcomes.push(error instanceof ApiError ? error.code : error),
  });
  return outcomes;
}

describe("who is asked", () => {
  test("the core that leads in the highest epoch, and another one once that leads", async () => {
    cores[0].leads(1);
    await start();
    expect(switches).toEqual(["a"]);
    const outcomes = asks("cancelAllOrders", ALL);
    await settle();
    cores[0].answer();
    await settle();
    expect(outcomes).toEqual([CANCELED]);
    cores[0].follows(2);
    cores[1].leads(2);
    await settle();
    expect([switches, router.position]).toEqual([["a", "b"], 20]);
  });

  test("an old leader that does not know the new epoch is asked no more", async () => {
    cores[0].leads(1);
    await start();
    cores[2].follows(2);
    await settle(200);
    expect(router.leader).toBeUndefined();
    cores[1].leads(2);
    await settle();
    expect(switches).toEqual(["a", "b"]);
    cores[0].tell();
    await settle(200);
    expect(router.leader?.epoch).toBe(2);
  });

  test("notices of the core that leads alone are passed on", async () => {
    cores[0].leads(1);
    await start();
    const ended: number[] = [];
    router.on<"sessionEnded">({ sessionEnded: ({ session }) => ended.push(session) });
    cores[1].ends(1);
    cores[0].ends(2);
    await settle();
    expect(ended).toEqual([2]);
  });
});

describe("what has no answer when the leader is lost", () => {
  test("it is sent again to the next one, as before, and answered by that one alone", async () => {
    cores[0].leads(1);
    await start();
    const outcomes = asks("cancelAllOrders", ALL);
    await settle(1_000);
    cores[1].leads(2);
    await settle();
    cores[0].answer();
    await settle();
    expect(outcomes).toEqual([]);
    const [first] = cores[0].asked;
    expect(first).toMatchObject({ isAgain: false, terms: { id: expect.any(String) } });
    expect(cores[1].asked).toEqual([{ isAgain: true, terms: first?.terms }]);
    cores[1].answer();
    await settle();
    expect([outcomes, router.inFlight]).toEqual([[CANCELED], 0]);
  });

  test("refused by a core that stops: the next one answers", async () => {
    cores[0].leads(1);
    await start();
    const outcomes = asks("cancelAllOrders", ALL);
    await settle();
    cores[0].refuses();
    await settle();
    cores[0].dies();
    cores[1].leads(2);
    await settle();
    cores[1].answer();
    await settle();
    expect([outcomes, router.inFlight]).toEqual([[CANCELED], 0]);
    expect(cores[1].asked).toMatchObject([{ isAgain: true }]);
  });

  test("refused by a core that stops, and no other leads: unknown after 10 s", async () => {
    cores[0].leads(1);
    await start();
    const outcomes = asks("cancelAllOrders", ALL);
    await settle();
    cores[0].refuses();
    await settle(9_000);
    expect(outcomes).toEqual([]);
    await settle(1_100);
    expect(outcomes).toEqual(["outcome_unknown"]);
  });

  test("killed, and another leads 3 s later: no error", async () => {
    cores[0].leads(1);
    await start();
    const outcomes = asks("cancelAllOrders", ALL);
    await settle();
    cores[0].dies();
    await settle(3_000);
    const later = asks("cancelAllOrders", ALL);
    cores[1].leads(2);
    await settle();
    cores[1].answer();
    await settle();
    expect([outcomes, later]).toEqual([[CANCELED], [CANCELED]]);
    expect(cores[1].asked.map(({ isAgain }) => isAgain)).toEqual([true, false]);
    expect(losses).toEqual(["a: killed"]);
  });

  test("the announcement of a session's first socket: refused, and not sent again", async () => {
    cores[0].leads(1);
    await start();
    const lost = asks("connectSession", { session: 7 });
    await settle();
    cores[0].dies();
    await settle();
    expect(lost).toEqual(["stopped"]);
    const later = asks("connectSession", { session: 7 });
    cores[1].leads(2);
    await settle(1_000);
    expect([cores[0].connects, cores[1].connects, later]).toEqual([1, 1, []]);
  });

  test("nobody leads again: unknown after 10 s; what was never sent is not executed after 5 s", async () => {
    cores[0].leads(1);
    await start();
    const sent = asks("cancelAllOrders", ALL);
    await settle();
    cores[0].dies();
    await settle();
    const unsent = asks("cancelAllOrders", ALL);
    await settle(4_800);
    expect([sent, unsent]).toEqual([[], []]);
    await settle(300);
    expect([sent, unsent]).toEqual([[], ["not_executed"]]);
    await settle(5_000);
    expect(sent).toEqual(["outcome_unknown"]);
  });

  test("a leader that never answers: unknown after 10 s", async () => {
    cores[0].leads(1);
    await start();
    const outcomes = asks("cancelAllOrders", ALL);
    await settle(9_800);
    expect(outcomes).toEqual([]);
    await settle(300);
    expect(outcomes).toEqual(["outcome_unknown"]);
    cores[0].answer();
    await settle();
    expect(outcomes).toHaveLength(1);
  });

  test("the core says that it leads no more: it answers nothing of before, and is asked again when it leads", async () => {
    cores[0].leads(1);
    await start();
    const outcomes = asks("cancelAllOrders", ALL);
    await settle();
    cores[0].follows(2);
    cores[0].answer();
    await settle();
    expect([outcomes, router.leader]).toEqual([[], undefined]);
    cores[0].leads(3);
    await settle();
    expect(cores[0].asked.map(({ isAgain }) => isAgain)).toEqual([false, true]);
    cores[0].answer();
    await settle();
    expect([outcomes, losses]).toEqual([[CANCELED], []]);
  });

  test("a core that has lost its lead takes nothing, and its link goes on", async () => {
    cores[0].leads(1);
    await start();
    // The edge does not know yet.
    cores[0].isLeading = false;
    const outcomes = asks("cancelAllOrders", ALL);
    await settle();
    expect([outcomes, cores[0].asked]).toEqual([[], []]);
    cores[0].follows(2);
    cores[1].leads(2);
    await settle();
    cores[1].answer();
    await settle();
    expect([outcomes, losses]).toEqual([[CANCELED], []]);
  });

  test("the same core comes back, and leads: it is sent again to that one", async () => {
    cores[0].leads(1);
    await start();
    const outcomes = asks("cancelAllOrders", ALL);
    await settle();
    cores[0].dies();
    cores[0].isReachable = true;
    await settle(500);
    expect(cores[0].asked.map(({ isAgain }) => isAgain)).toEqual([false, true]);
    cores[0].answer();
    await settle();
    expect(outcomes).toEqual([CANCELED]);
  });
});

describe("without a leader", () => {
  test("reads are refused; a command waits for one", async () => {
    await start();
    expect(() => asks("tlogPolicy", {})).toThrow(expect.objectContaining({ code: "lagging" }));
    const outcomes = asks("cancelAllOrders", ALL);
    await settle(4_000);
    cores[2].leads(1);
    await settle();
    cores[2].answer();
    await settle();
    expect(outcomes).toEqual([CANCELED]);
    expect(cores[2].asked[0]?.isAgain).toBe(false);
  });

  test("closed: everything is refused, once", async () => {
    await start();
    const outcomes = asks("cancelAllOrders", ALL);
    router.close();
    expect(outcomes).toEqual(["stopped"]);
    expect(() => asks("cancelAllOrders", ALL)).toThrow(
      expect.objectContaining({ code: "stopped" }),
    );
  });
});

test("more than the leader's window: refused as by a single link, and not kept", async () => {
  cores[0].leads(1);
  await start();
  const [first, second] = [asks("cancelAllOrders", ALL), asks("cancelAllOrders", ALL)];
  expect(() => asks("cancelAllOrders", ALL)).toThrow(
    expect.objectContaining({ code: "overloaded" }),
  );
  await settle();
  cores[0].answer();
  await settle();
  expect([first, second, router.inFlight]).toEqual([[CANCELED], [CANCELED], 0]);
});

/** Sockets that close while the log, not they, decides who is connected. */

import { until } from "@perpgate/journal/testing";
import { EdgeLink, memoryTransport } from "@perpgate/link";
import { Core, NotApplied, Venue } from "@perpgate/venue";
import { TestVenue } from "@perpgate/venue/testing";
import { expect, type MockInstance, onTestFinished, test, vi } from "vitest";
import { EdgeSessions } from "../auth/edge-sessions.js";
import { BearerToken } from "../auth/session-token.js";
import { UNLIMITED } from "../limits/limit-settings.js";
import { RefusalCounts } from "../metrics/refusal-counts.js";
import { newFolder } from "../venue/testing/running-venue.js";
import { SessionSockets } from "./session-sockets.js";
import { SocketCall } from "./socket-call.js";
import { SocketPairs } from "./testing/connected-pair.js";

/** A session that cancels its orders on disconnect. */
async function begin() {
  const driver = await TestVenue.open(newFolder());
  const { venue } = driver;
  onTestFinished(() => venue.close());
  await driver.index();
  const number = await driver.signIn(1);
  const stampMs = venue.views.timeMs;
  const option = { kind: "SetSessionOption", cancelOnDisconnect: true } as const;
  await driver.submit({ ...option, stampMs, session: number });
  const observe = vi.spyOn(venue, "observe");
  const core = new Core({ venue, limits: UNLIMITED, onFault: fail });
  onTestFinished(() => core.stop());
  const transport = memoryTransport({ isCoded: process.env.PERPGATE_CODED_LINK === "1" });
  core.connect(transport.connectCore);
  const link = new EdgeLink(transport.connectEdge);
  await link.ready;
  const sessions = new SessionSockets(link, new EdgeSessions(link), fail);
  let nonce = 0;
  return {
    venue,
    core,
    link,
    sessions,
    /** Resolves once neither the edge nor the core has anything left to write. */
    settled: async () => {
      await sessions.settled();
      await core.settled();
    },
    session: { token: new BearerToken(""), number, account: 1 },
    pairs: await SocketPairs.open(),
    rest: () => driver.order(number, ++nonce, "long", 640_000),
    openOrders: () => venue.views.openOrders(1).length,
    tick: async (times: number) => {
      for (let at = 0; at < times; at++) await driver.tick();
    },
    /** The log ends the connections of this core, which learns of it, and the edge from it. */
    loseWriter: async () => {
      for (const [observer] of observe.mock.calls) observer.onLeadLost?.();
      await driver.submit({ kind: "SessionDisconnected", stampMs, session: number });
    },
  };
}

test("a socket that closed before its token was known here: does not count as a connection", async () => {
  const { sessions, settled, session, pairs, rest, openOrders } = await begin();
  const early = await pairs.connect();
  await early.client.close();
  await early.connection.closed;
  sessions.leave(early.connection);
  await sessions.bind(early.connection, session);
  const { connection, client } = await pairs.connect();
  await sessions.bind(connection, session);
  await rest();
  await client.close();
  await connection.closed;
  sessions.leave(connection);
  await settled();
  expect(openOrders()).toBe(0);
});

test("a token sent again while the sockets of an ended writer are closed: ends with its socket", async () => {
  const { sessions, settled, session, pairs, rest, openOrders, loseWriter } = await begin();
  const { connection } = await pairs.connect();
  await sessions.bind(connection, session);
  const lost = loseWriter();
  // The edge has learned of it, and closes the socket.
  while (connection.session !== undefined) await Promise.resolve();
  await sessions.bind(connection, session);
  await lost;
  await rest();
  await connection.closed;
  sessions.leave(connection);
  await settled();
  expect(openOrders()).toBe(0);
});

test("an order in flight when the log ends the writer: does not outlive its socket", async () => {
  const { sessions, settled, session, pairs, rest, openOrders, loseWriter } = await begin();
  const { connection } = await pairs.connect();
  await sessions.bind(connection, session);
  const call = new SocketCall(connection, 1, 0, fail, new RefusalCounts());
  let checked: () => void = () => undefined;
  const check = new Promise<void>((resolve) => {
    checked = resolve;
  });
  const placed = check.then(rest);
  call.answerWith(placed, () => ({}));
  await loseWriter();
  await connection.closed;
  sessions.leave(connection);
  checked();
  await placed;
  await settled();
  expect(openOrders()).toBe(0);
  // What it sends until it is closed needs a token.
  expect(connection.session).toBeUndefined();
});

test("a connection of unknown outcome that the log has later: ends, though its socket is closed", async () => {
  const { venue, sessions, settled, session, pairs, rest, openOrders } = await begin();
  await rest();
  const { connection } = await pairs.connect();
  // The log stalls: it applies the first command after its submitter was answered, and never the second.
  vi.spyOn(venue, "submitted")
    .mockImplementationOnce(async (command, evidence) => {
      venue.submit(command, evidence, () => undefined);
      throw new NotApplied("outcome_unknown");
    })
    .mockRejectedValueOnce(new NotApplied("not_executed"));
  const bound = sessions.bind(connection, session);
  await expect(bound).rejects.toMatchObject({ code: "outcome_unknown" });
  await connection.closed;
  sessions.leave(connection);
  await settled();
  expect(openOrders()).toBe(0);
});

test("a socket closes while the log has no writer of this gateway: its end is not submitted again", async () => {
  const { venue, sessions, settled, session, pairs } = await begin();
  const { connection, client } = await pairs.connect();
  await sessions.bind(connection, session);
  // The log has ended the writer, and with it the connections; the next join may be half a minute away.
  vi.spyOn(venue, "isWriting", "get").mockReturnValue(false);
  const submitted = vi.spyOn(venue, "submitted");
  submitted.mockRejectedValue(new NotApplied("not_executed"));
  await client.close();
  await connection.closed;
  sessions.leave(connection);
  await settled();
  expect(submitted).toHaveBeenCalledOnce();
});

test("a reconnection that the log does not take: the loss before it is still written", async () => {
  const { venue, sessions, settled, session, pairs, rest, openOrders } = await begin();
  const { connection, client } = await pairs.connect();
  await sessions.bind(connection, session);
  await rest();
  const next = await pairs.connect();
  let giveUp: () => void = () => undefined;
  const connecting = new Promise<void>((_, reject) => {
    giveUp = () => reject(new NotApplied("not_executed"));
  });
  // The log stalls: it takes neither the end of the first socket nor the next one.
  const submitted = vi.spyOn(venue, "submitted");
  submitted.mockRejectedValueOnce(new NotApplied("not_executed"));
  submitted.mockReturnValueOnce(connecting);
  await client.close();
  await connection.closed;
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  sessions.leave(connection);
  const bound = sessions.bind(next.connection, session);
  // The end is not submitted again meanwhile: the session has a socket.
  await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  expect(submitted).toHaveBeenCalledTimes(2);
  giveUp();
  await expect(bound).rejects.toMatchObject({ code: "not_executed" });
  await next.connection.closed;
  sessions.leave(next.connection);
  await settled();
  expect(openOrders()).toBe(0);
});

/** A lost socket whose end is in the log, and an order of it that enters the log afterwards. */
async function beginWithLateOrder(beforeItsEnd: (submitted: SubmittedSpy) => void) {
  const begun = await begin();
  const { venue, sessions, session, pairs, rest } = begun;
  const { connection, client } = await pairs.connect();
  await sessions.bind(connection, session);
  const call = new SocketCall(connection, 1, 0, fail, new RefusalCounts());
  let check: () => void = () => undefined;
  const checked = new Promise<void>((resolve) => {
    check = resolve;
  });
  const submitted = vi.spyOn(venue, "submitted");
  const placed = checked.then(rest).then(() => beforeItsEnd(submitted));
  call.answerWith(placed, () => ({}));
  await client.close();
  await connection.closed;
  sessions.leave(connection);
  await until(() => submitted.mock.results.length > 0);
  await submitted.mock.results[0]?.value;
  check();
  await placed;
  return { ...begun, submitted };
}

type SubmittedSpy = MockInstance<Venue["submitted"]>;

test("the last order of a lost socket, and a log that stalls: the order does not outlive it", async () => {
  const { settled, openOrders } = await beginWithLateOrder((submitted) => {
    // The log takes neither of the two commands that end the connection again.
    submitted.mockRejectedValueOnce(new NotApplied("not_executed"));
    submitted.mockRejectedValueOnce(new NotApplied("not_executed"));
  });
  await settled();
  expect(openOrders()).toBe(0);
});

test("the last order of a lost socket, and a log that ends the writer: the next one ends the order", async () => {
  const { venue, settled, openOrders } = await beginWithLateOrder((submitted) => {
    submitted.mockRejectedValueOnce(new NotApplied("not_executed"));
    submitted.mockRejectedValueOnce(new NotApplied("not_executed"));
  });
  vi.spyOn(venue, "isWriting", "get").mockReturnValueOnce(false);
  await settled();
  expect(openOrders()).toBe(0);
});

/** The log applies the command after its submitter was answered. */
const late: Venue["submitted"] = async function (this: Venue, command, evidence) {
  this.submit(command, evidence, () => undefined);
  throw new NotApplied("outcome_unknown");
};

test("the last order of a lost socket, and a log that takes its end late: what came since stays", async () => {
  let before = 0;
  const { settled, rest, openOrders, submitted } = await beginWithLateOrder((spy) => {
    spy.mockImplementationOnce(late).mockImplementationOnce(late);
    before = spy.mock.calls.length;
  });
  await until(() => submitted.mock.calls.length === before + 2);
  await rest();
  await settled();
  expect(openOrders()).toBe(1);
});

test("the last order of a lost socket, its end late and the next try not published: what came since stays", async () => {
  const unpublished: Venue["submitted"] = () => Promise.reject(new NotApplied("not_executed"));
  const answers = [late, late, unpublished];
  const { settled, rest, openOrders } = await beginWithLateOrder((spy) => {
    spy.mockImplementation(function (this: Venue, command, evidence, take) {
      const isEnd = command.kind.startsWith("Session");
      const answer = (isEnd ? answers.shift() : undefined) ?? Venue.prototype.submitted;
      return answer.call(this, command, evidence, take);
    });
  });
  await until(() => answers.length < 2);
  await rest();
  await settled();
  expect(answers).toEqual([]);
  expect(openOrders()).toBe(1);
});

test("the last order of a lost socket, its end in doubt when the writer ends: the next one ends the order", async () => {
  const { settled, openOrders } = await beginWithLateOrder((spy) => {
    spy.mockRejectedValueOnce(new NotApplied("outcome_unknown"));
    spy.mockRejectedValueOnce(new NotApplied("outcome_unknown"));
    const writer = vi.spyOn(Venue.prototype, "writer", "get");
    onTestFinished(() => writer.mockRestore());
    // At the first try, and at the next one.
    writer.mockReturnValueOnce("first").mockReturnValue("next");
  });
  await settled();
  expect(openOrders()).toBe(0);
});

test("a session that comes and goes while the log stalls: one end is written for all", async () => {
  const { venue, sessions, settled, session, pairs } = await begin();
  const pending: (() => void)[] = [];
  const stalled = vi.spyOn(venue, "submitted").mockImplementation(
    () =>
      new Promise<never>((_, reject) => {
        pending.push(() => reject(new NotApplied("not_executed")));
      }),
  );
  for (let i = 0; i < 10; i++) {
    const { connection, client } = await pairs.connect();
    sessions.bind(connection, session).catch(() => undefined);
    await client.close();
    await connection.closed;
    sessions.leave(connection);
  }
  const ends = stalled.mock.calls.filter(([{ kind }]) => kind === "SessionDisconnected");
  expect(ends).toHaveLength(1);
  stalled.mockRestore();
  const submitted = vi.spyOn(venue, "submitted");
  for (const giveUp of pending) giveUp();
  await settled();
  expect(submitted).toHaveBeenCalledOnce();
});

test("the gateway stops while the log stalls: the end of a session is submitted once", async () => {
  const { venue, core, sessions, settled, session, pairs } = await begin();
  const { connection, client } = await pairs.connect();
  await sessions.bind(connection, session);
  const submitted = vi.spyOn(venue, "submitted");
  submitted.mockRejectedValue(new NotApplied("not_executed"));
  core.stop();
  await client.close();
  await connection.closed;
  sessions.leave(connection);
  await settled();
  expect(submitted).toHaveBeenCalledOnce();
});

test("a link that ends: its sessions have 25 ticks to come back, also for what is in flight", async () => {
  const { link, sessions, settled, session, pairs, rest, openOrders, tick } = await begin();
  const { connection } = await pairs.connect();
  await sessions.bind(connection, session);
  await rest();
  link.close("the edge is killed");
  await tick(24);
  await settled();
  expect(openOrders()).toBe(1);
  await tick(1);
  await until(() => openOrders() === 0);
});

test("a session that comes back at another edge: only its sockets there count", async () => {
  const { core, link, sessions, settled, session, pairs, rest, openOrders, tick } = await begin();
  const { connection } = await pairs.connect();
  await sessions.bind(connection, session);
  await rest();
  link.close("the edge is killed");
  await tick(10);
  const other = memoryTransport();
  core.connect(other.connectCore);
  const next = new EdgeLink(other.connectEdge);
  await next.ready;
  const there = new SessionSockets(next, new EdgeSessions(next), fail);
  const second = await pairs.connect();
  await there.bind(second.connection, session);
  await tick(30);
  await settled();
  expect(openOrders()).toBe(1);
  await second.client.close();
  await second.connection.closed;
  there.leave(second.connection);
  await there.settled();
  expect(openOrders()).toBe(0);
});

test("a session that comes back and leaves before the ticks have passed: ends with its socket", async () => {
  const { core, link, sessions, session, pairs, rest, openOrders } = await begin();
  const { connection } = await pairs.connect();
  await sessions.bind(connection, session);
  await rest();
  link.close("the edge is killed");
  const other = memoryTransport();
  core.connect(other.connectCore);
  const next = new EdgeLink(other.connectEdge);
  await next.ready;
  const there = new SessionSockets(next, new EdgeSessions(next), fail);
  const second = await pairs.connect();
  await there.bind(second.connection, session);
  await second.client.close();
  await second.connection.closed;
  there.leave(second.connection);
  await there.settled();
  expect(openOrders()).toBe(0);
});

test("two edges with a socket of a session: the last of them ends the connection", async () => {
  const { core, sessions, settled, session, pairs, rest, openOrders, tick } = await begin();
  const other = memoryTransport();
  core.connect(other.connectCore);
  const link = new EdgeLink(other.connectEdge);
  await link.ready;
  const there = new SessionSockets(link, new EdgeSessions(link), fail);
  const [here, far] = [await pairs.connect(), await pairs.connect()];
  await sessions.bind(here.connection, session);
  await there.bind(far.connection, session);
  await rest();
  sessions.leave(here.connection);
  await settled();
  expect(openOrders()).toBe(1);
  link.close("the edge is killed");
  await tick(25);
  await until(() => openOrders() === 0);
});

test("a first socket while the log ends the writer: the core learns of its end", async () => {
  const { venue, sessions, settled, session, pairs, loseWriter } = await begin();
  const [early, next] = [await pairs.connect(), await pairs.connect()];
  await sessions.bind(early.connection, session);
  const submitted = vi.spyOn(venue, "submitted");
  const lost = loseWriter();
  // Sent before the edge learns of the loss, and executed after it.
  sessions.leave(early.connection);
  const bound = sessions.bind(next.connection, session);
  await Promise.all([bound, lost]);
  await next.connection.closed;
  sessions.leave(next.connection);
  await settled();
  const kinds = submitted.mock.calls.map(([{ kind }]) => kind);
  expect(kinds).toEqual(["SessionDisconnected", "SessionConnected", "SessionDisconnected"]);
});

function fail(error: unknown): never {
  throw error;
}

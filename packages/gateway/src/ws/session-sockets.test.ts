/** Sockets that close while the log, not they, decides who is connected. */

import { until } from "@perpgate/journal/testing";
import { NotApplied, Venue } from "@perpgate/venue";
import { TestVenue } from "@perpgate/venue/testing";
import { expect, type MockInstance, onTestFinished, test, vi } from "vitest";
import { BearerToken } from "../auth/session-token.js";
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
  const sessions = new SessionSockets(venue, fail);
  let nonce = 0;
  return {
    venue,
    sessions,
    session: { token: new BearerToken(""), number, account: 1 },
    pairs: await SocketPairs.open(),
    rest: () => driver.order(number, ++nonce, "long", 640_000),
    openOrders: () => venue.views.openOrders(1).length,
    /** The log ends the connections of this gateway, and the gateway learns of it. */
    loseWriter: async () => {
      sessions.closeAll();
      await driver.submit({ kind: "SessionDisconnected", stampMs, session: number });
    },
  };
}

test("a socket that closed before its token was known here: does not count as a connection", async () => {
  const { sessions, session, pairs, rest, openOrders } = await begin();
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
  await sessions.settled();
  expect(openOrders()).toBe(0);
});

test("a token sent again while the sockets of an ended writer are closed: ends with its socket", async () => {
  const { sessions, session, pairs, rest, openOrders, loseWriter } = await begin();
  const { connection } = await pairs.connect();
  await sessions.bind(connection, session);
  const lost = loseWriter();
  await sessions.bind(connection, session);
  await lost;
  await rest();
  await connection.closed;
  sessions.leave(connection);
  await sessions.settled();
  expect(openOrders()).toBe(0);
});

test("an order in flight when the log ends the writer: does not outlive its socket", async () => {
  const { sessions, session, pairs, rest, openOrders, loseWriter } = await begin();
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
  await sessions.settled();
  expect(openOrders()).toBe(0);
  // What it sends until it is closed needs a token.
  expect(connection.session).toBeUndefined();
});

test("a connection of unknown outcome that the log has later: ends, though its socket is closed", async () => {
  const { venue, sessions, session, pairs, rest, openOrders } = await begin();
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
  await sessions.settled();
  expect(openOrders()).toBe(0);
});

test("a socket closes while the log has no writer of this gateway: its end is not submitted again", async () => {
  const { venue, sessions, session, pairs } = await begin();
  const { connection, client } = await pairs.connect();
  await sessions.bind(connection, session);
  // The log has ended the writer, and with it the connections; the next join may be half a minute away.
  vi.spyOn(venue, "isWriting", "get").mockReturnValue(false);
  const submitted = vi.spyOn(venue, "submitted");
  submitted.mockRejectedValue(new NotApplied("not_executed"));
  await client.close();
  await connection.closed;
  sessions.leave(connection);
  await sessions.settled();
  expect(submitted).toHaveBeenCalledOnce();
});

test("a reconnection that the log does not take: the loss before it is still written", async () => {
  const { venue, sessions, session, pairs, rest, openOrders } = await begin();
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
  await sessions.settled();
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
  await submitted.mock.results[0]?.value;
  check();
  await placed;
  return { ...begun, submitted };
}

type SubmittedSpy = MockInstance<Venue["submitted"]>;

test("the last order of a lost socket, and a log that stalls: the order does not outlive it", async () => {
  const { sessions, openOrders } = await beginWithLateOrder((submitted) => {
    // The log takes neither of the two commands that end the connection again.
    submitted.mockRejectedValueOnce(new NotApplied("not_executed"));
    submitted.mockRejectedValueOnce(new NotApplied("not_executed"));
  });
  await sessions.settled();
  expect(openOrders()).toBe(0);
});

test("the last order of a lost socket, and a log that ends the writer: the next one ends the order", async () => {
  const { venue, sessions, openOrders } = await beginWithLateOrder((submitted) => {
    submitted.mockRejectedValueOnce(new NotApplied("not_executed"));
    submitted.mockRejectedValueOnce(new NotApplied("not_executed"));
  });
  vi.spyOn(venue, "isWriting", "get").mockReturnValueOnce(false);
  await sessions.settled();
  expect(openOrders()).toBe(0);
});

/** The log applies the command after its submitter was answered. */
const late: Venue["submitted"] = async function (this: Venue, command, evidence) {
  this.submit(command, evidence, () => undefined);
  throw new NotApplied("outcome_unknown");
};

test("the last order of a lost socket, and a log that takes its end late: what came since stays", async () => {
  let before = 0;
  const { sessions, rest, openOrders, submitted } = await beginWithLateOrder((spy) => {
    spy.mockImplementationOnce(late).mockImplementationOnce(late);
    before = spy.mock.calls.length;
  });
  await until(() => submitted.mock.calls.length === before + 2);
  await rest();
  await sessions.settled();
  expect(openOrders()).toBe(1);
});

test("the last order of a lost socket, its end late and the next try not published: what came since stays", async () => {
  const unpublished: Venue["submitted"] = () => Promise.reject(new NotApplied("not_executed"));
  const answers = [late, late, unpublished];
  const { sessions, rest, openOrders } = await beginWithLateOrder((spy) => {
    spy.mockImplementation(function (this: Venue, command, evidence, take) {
      const isEnd = command.kind.startsWith("Session");
      const answer = (isEnd ? answers.shift() : undefined) ?? Venue.prototype.submitted;
      return answer.call(this, command, evidence, take);
    });
  });
  await until(() => answers.length < 2);
  await rest();
  await sessions.settled();
  expect(answers).toEqual([]);
  expect(openOrders()).toBe(1);
});

test("the last order of a lost socket, its end in doubt when the writer ends: the next one ends the order", async () => {
  const { sessions, openOrders } = await beginWithLateOrder((spy) => {
    spy.mockRejectedValueOnce(new NotApplied("outcome_unknown"));
    spy.mockRejectedValueOnce(new NotApplied("outcome_unknown"));
    const writer = vi.spyOn(Venue.prototype, "writer", "get");
    onTestFinished(() => writer.mockRestore());
    // At the first try, and at the next one.
    writer.mockReturnValueOnce("first").mockReturnValue("next");
  });
  await sessions.settled();
  expect(openOrders()).toBe(0);
});

test("a session that comes and goes while the log stalls: one end is written for all", async () => {
  const { venue, sessions, session, pairs } = await begin();
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
  await sessions.settled();
  expect(submitted).toHaveBeenCalledOnce();
});

test("the gateway stops while the log stalls: the end of a session is submitted once", async () => {
  const { venue, sessions, session, pairs } = await begin();
  const { connection, client } = await pairs.connect();
  await sessions.bind(connection, session);
  const submitted = vi.spyOn(venue, "submitted");
  submitted.mockRejectedValue(new NotApplied("not_executed"));
  sessions.stop();
  await client.close();
  await connection.closed;
  sessions.leave(connection);
  await sessions.settled();
  expect(submitted).toHaveBeenCalledOnce();
});

function fail(error: unknown): never {
  throw error;
}

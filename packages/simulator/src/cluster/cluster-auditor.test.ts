/** The auditor of the cluster itself: each promise is broken once, and it must say which. */
import { type Command, LIMIT_ORDER, type PlaceOrder } from "@perpgate/engine";
import { liveWriters } from "@perpgate/engine/reading";
import { plainOrder } from "@perpgate/engine/testing";
import { encodeMessage } from "@perpgate/journal";
import { type Evidence, encodeRecord } from "@perpgate/venue";
import { expect, test } from "vitest";
import { START_TICKS } from "../listing.js";
import type { TraderAttempt } from "./attempt.js";
import { AuditedReplay } from "./audited-replay.js";
import { ClusterWorld } from "./cluster-world.js";
import type { ModelMessage } from "./model-stream.js";

const SEED = 11;
/** Of no trader of the cluster. */
const NEW_NONCE = 1_000_000;
/** What the auditor allows from the arrival at the gateway to the answer. */
const MOST_MS = 12_500;

/** A cluster at its end, with what the auditor has compared. */
async function ended(): Promise<ClusterWorld> {
  const world = new ClusterWorld(SEED, { rollsBack: false, forMs: 3_000, traders: 3 });
  await world.run();
  return world;
}

function audit(world: ClusterWorld, messages: readonly ModelMessage[] = world.stream.messages) {
  return () => world.auditor.audit(messages, world.processes);
}

function applied(world: ClusterWorld): TraderAttempt {
  const found = world.auditor.attempts.findLast(
    ({ answer, command }) => answer === "applied" && command.kind === "PlaceOrder",
  );
  if (found === undefined) throw new Error("nothing was applied");
  return found;
}

interface Step {
  /** Of the live writers, in the order of joining. */
  readonly by: number;
  readonly command: Command;
  readonly evidence?: Evidence;
}

/** What the log would have next if these writers published it, whatever they have read. */
function nextMessages(world: ClusterWorld, ...steps: readonly Step[]): ModelMessage[] {
  const { stream, time, processes } = world;
  const published = new Map<string, number>();
  return steps.map(({ by, command, evidence }, index) => {
    const { id: writer, counter: last } = liveWriters(processes[0]!.state.engine.state)[by]!;
    const counter = (published.get(writer) ?? last) + 1;
    published.set(writer, counter);
    const claim = { seq: 0, chain: new Uint8Array(32) };
    const block = { number: 0, hash: new Uint8Array(32) };
    const records = [encodeRecord(command, evidence)];
    const bytes = encodeMessage({ writer, counter, claim, block, records });
    return { sequence: stream.last + 1 + index, writer, bytes, atMs: time.nowMs };
  });
}

/** A replay of the cluster's log and these messages; `breakEngine` is called before the last of them. */
function replay(
  world: ClusterWorld,
  added: readonly ModelMessage[],
  breakEngine: (log: AuditedReplay) => void = () => undefined,
): () => void {
  return () => {
    const log = new AuditedReplay();
    const messages = [...world.stream.messages, ...added];
    for (const message of messages.slice(0, -1)) log.take(message);
    breakEngine(log);
    log.take(messages.at(-1)!);
  };
}

/** Of a trader of the cluster; it rests. */
function restingOrder(world: ClusterWorld): PlaceOrder {
  const { command } = applied(world);
  if (command.kind !== "PlaceOrder") throw new Error(command.kind);
  const { session, key } = command;
  const { timeMs: stampMs } = world.processes[0]!.state.engine.state;
  const priceTicks = Math.round(START_TICKS[0] * 0.97);
  const signed = { stampMs, session, key, nonce: NEW_NONCE };
  return plainOrder({ ...signed, type: LIMIT_ORDER, marginMicros: 100_000_000, priceTicks });
}

test("an intact cluster: nothing to say", async () => {
  expect(audit(await ended())).not.toThrow();
});

test("a command that ran was answered as not executed", async () => {
  const world = await ended();
  applied(world).answer = "not_executed";
  expect(audit(world)).toThrow(/was not to be executed, and ran at \d+/);
});

test("an answer with another position, with other events, or none", async () => {
  const world = await ended();
  const attempt = applied(world);
  attempt.seq++;
  expect(audit(world)).toThrow(/was answered at \d+, the log has \d+/);
  attempt.seq--;
  attempt.events[8]! ^= 1;
  expect(audit(world)).toThrow(/was answered differently from the log/);
  attempt.answer = "waiting";
  expect(audit(world)).toThrow(/never got an answer/);
});

test("a log that has lost its end", async () => {
  const world = await ended();
  const { messages } = world.stream;
  expect(audit(world, messages.slice(0, -1))).toThrow(/the log has|a replay of the log gives/);
});

test("a gateway that applied something else", async () => {
  const world = await ended();
  world.processes[0]?.state.engine.apply({ kind: "Tick", slot: 1 });
  expect(audit(world)).toThrow(/gateway-1: .* but a replay of the log gives/);
});

test("a command that ran twice", async () => {
  const world = await ended();
  const attempt = applied(world);
  const evidence = world.auditor.evidenceOf(attempt);
  const added = nextMessages(world, { by: 0, command: attempt.command, evidence });
  expect(replay(world, added)).toThrow(/attempt \d+ ran at \d+ and \d+/);
});

test("a nonce that ran twice", async () => {
  const world = await ended();
  const command = restingOrder(world);
  const added = nextMessages(world, { by: 0, command }, { by: 1, command });
  expect(replay(world, added)).not.toThrow();
  const breakNonces = ({ state }: AuditedReplay): void => {
    state.engine.state.sessions.find(command.session)!.nonces.orderOf = () => 0;
  };
  expect(replay(world, added, breakNonces)).toThrow(
    /nonce 1000000 ran at \d+, at \d+: .*OrderAcknowledged/,
  );
});

test("an order that was canceled while its session had a connection", async () => {
  const world = await ended();
  const order = restingOrder(world);
  const { stampMs, session } = order;
  const added = nextMessages(
    world,
    { by: 0, command: { kind: "SetSessionOption", stampMs, session, cancelOnDisconnect: true } },
    { by: 0, command: { kind: "SessionConnected", stampMs, session } },
    { by: 1, command: { kind: "SessionConnected", stampMs, session } },
    { by: 1, command: order },
    { by: 0, command: { kind: "SessionDisconnected", stampMs, session } },
  );
  expect(replay(world, added)).not.toThrow();
  const breakPresence = ({ state }: AuditedReplay): void => {
    state.engine.state.sessions.presence.isOnlyAt = () => true;
  };
  expect(replay(world, added, breakPresence)).toThrow(
    /order \d+ was canceled at \d+, its session \d+ had a connection/,
  );
});

test("an answer after more than 12.5 s", async () => {
  const world = await ended();
  const { auditor } = world;
  const process = world.processes[0]!;
  const { command } = applied(world);
  const sentAtMs = world.time.nowMs;
  const answerAfter = (ms: number): (() => void) => {
    const attempt = auditor.attempt(command, sentAtMs, process);
    return () => auditor.answered(attempt, null, "not_executed", sentAtMs + ms, process);
  };
  expect(answerAfter(MOST_MS)).not.toThrow();
  expect(answerAfter(MOST_MS + 1)).toThrow("PlaceOrder was answered after 12501 ms");
});

test("the same seed gives the same log", async () => {
  const [first, second] = [await ended(), await ended()];
  expect(second.stream.messages).toEqual(first.stream.messages);
});

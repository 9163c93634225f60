/** The auditor of the cluster itself: each promise is broken once, and it must say which. */
import { expect, test } from "vitest";
import type { Attempt } from "./attempt.js";
import { ClusterWorld } from "./cluster-world.js";
import type { StoredMessage } from "./model-stream.js";

const SEED = 11;

/** A cluster at its end, with what the auditor has compared. */
async function ended(): Promise<ClusterWorld> {
  const world = new ClusterWorld(SEED, { rollsBack: false, forMs: 3_000, traders: 3 });
  await world.run();
  return world;
}

function audit(world: ClusterWorld, messages: readonly StoredMessage[] = world.stream.messages) {
  return () => world.auditor.audit(messages, world.processes);
}

function applied(world: ClusterWorld): Attempt {
  const found = world.auditor.attempts.findLast(
    ({ answer, command }) => answer === "applied" && command.kind === "PlaceOrder",
  );
  if (found === undefined) throw new Error("nothing was applied");
  return found;
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

test("the same seed gives the same log", async () => {
  const [first, second] = [await ended(), await ended()];
  expect(second.stream.messages).toEqual(first.stream.messages);
});

import { expect, test } from "vitest";
import { decodeReplicaState, encodeReplicaState, newReplicaState } from "./replica-state.js";

test("every state has another seed, a restored one too", () => {
  const state = newReplicaState();
  const body = Buffer.concat(encodeReplicaState(state, state.engine.snapshot()));
  const others = [newReplicaState(), decodeReplicaState(body), decodeReplicaState(body)];
  const seeds = [state, ...others].map(({ engine }) => String(engine.state.seed));
  expect(new Set(seeds).size).toBe(4);
});

import { expect, test } from "vitest";
import { PROJECTION_FORMAT } from "../history/history-rows.js";
import {
  decodeReplicaState,
  encodeReplicaState,
  newReplicaState,
  ReplicaSnapshotUnreadable,
} from "./replica-state.js";

test("every state has another seed, a restored one too", () => {
  const state = newReplicaState();
  const body = Buffer.concat(encodeReplicaState(state, state.engine.snapshot()));
  const others = [newReplicaState(), decodeReplicaState(body), decodeReplicaState(body)];
  const seeds = [state, ...others].map(({ engine }) => String(engine.state.seed));
  expect(new Set(seeds).size).toBe(4);
});

test("a snapshot has the format of what the projections keep, whatever the store's is; another one is refused", () => {
  const state = newReplicaState();
  const body = Buffer.concat(encodeReplicaState(state, state.engine.snapshot()));
  // Snapshots of releases with store format 15 were of this one.
  const own = Buffer.from('"rows":15');
  const at = body.indexOf(own);
  expect(at).toBeGreaterThan(0);
  expect(PROJECTION_FORMAT).toBe(15);
  expect(decodeReplicaState(body).rows.save()).toEqual(state.rows.save());
  body.write('"rows":14', at);
  expect(() => decodeReplicaState(body)).toThrow(ReplicaSnapshotUnreadable);
});

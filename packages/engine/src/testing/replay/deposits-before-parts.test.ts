/** A log from before deposits had parts, tokens of single credits and pauses: the same state hash. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Engine } from "../../engine.js";

/** A line with the state hash, then a command a line. */
const [{ stateHash }, ...commands] = readFileSync(
  new URL("deposits-before-parts.jsonl", import.meta.url),
  "utf8",
)
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

test("a recorded log of the release before: replays to the recorded state hash", () => {
  const engine = new Engine();
  for (const command of commands) engine.apply(command);
  expect(commands.length).toBeGreaterThan(200);
  expect(engine.stateHash(sha256)).toBe(stateHash);
  expect(Engine.restore(engine.snapshot()).stateHash(sha256)).toBe(stateHash);
});

/**
 * A start with the oldest Node that npm may run on: the venue runs on the pinned one, and signals and exit
 * codes pass through. TEST_NODE_20 names the old one; without it the tests are skipped with a warning,
 * with REQUIRE_NODE_20=1, as in continuous integration, they fail.
 */

import { describe, expect, test } from "vitest";
import { MAIN, PerpgateProcess, temporaryFolder } from "./testing/perpgate-process.js";

function oldNode(): string | undefined {
  const path = process.env.TEST_NODE_20;
  if (path !== undefined) return path;
  if (process.env.REQUIRE_NODE_20 === "1") throw new Error("TEST_NODE_20 is not set");
  console.warn("SKIPPED: a start with Node 20, since TEST_NODE_20 names none.");
  return undefined;
}

describe.skipIf(oldNode() === undefined)("a start with Node 20", () => {
  const start = (...args: string[]) => new PerpgateProcess(args, {}, [oldNode() ?? "", MAIN]);

  test("--version: the pinned Node", async () => {
    const { stdout } = await start("--version").ended;
    expect(stdout).toMatch(new RegExp(`, Node ${process.versions.node}\n$`));
  });

  test("a wrong command: its exit code", async () => {
    expect(await start("nonsense").ended).toMatchObject({ code: 2, signal: null });
  });

  test("SIGTERM to the process that was started: the venue drains, exit code 0", async () => {
    const venue = start("--port", "0", "--data", temporaryFolder());
    await venue.url();
    venue.signal("SIGTERM");
    expect(await venue.ended).toMatchObject({ code: 0, signal: null });
  });
});

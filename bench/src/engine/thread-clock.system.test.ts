import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { ThreadClock } from "./thread-clock.js";

const BUSY = "let sum = 0; for (let i = 0; i < 5e8; i++) sum ^= i; process.exitCode = sum & 0;";

test("processor time of a thread: the work of another thread is not in it", async ({ skip }) => {
  const clock = new ThreadClock();
  if (!clock.isOwn) skip("this system does not count the time of threads");
  const before = process.cpuUsage();
  const start = clock.ms();
  await once(new Worker(BUSY, { eval: true }), "exit");
  const own = clock.ms() - start;
  const { user, system } = process.cpuUsage(before);
  expect(own).toBeGreaterThan(0);
  expect(own).toBeLessThan((user + system) / 1_000 / 2);
});

/** A log that cannot be written any more, in the real process: the kernel refuses its writes. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ProcessClient } from "./testing/client.js";
import { PerpgateProcess, temporaryFolder } from "./testing/perpgate-process.js";

const ORDER = { symbol: "BTCUSD", side: "long", type: "market", margin: 10, leverage: 2 };

test("a write that fails: who waits hears 503, then exit 1", async () => {
  const perpgate = new PerpgateProcess(["--port", "0", "--data", temporaryFolder()]);
  const client = new ProcessClient(await perpgate.url());
  expect((await client.signIn()).status).toBe(200);
  expect((await client.place({ ...ORDER, nonce: 1 })).status).toBe(200);
  // Eight clients that are never without an order under way, whenever the log fails.
  let nonce = 1;
  const lastAnswers = Array.from({ length: 8 }, async () => {
    for (;;) {
      nonce += 1;
      const answer = await client.place({ ...ORDER, nonce }).catch(() => undefined);
      if (answer?.status !== 200) return answer && [answer.status, answer.body.code];
    }
  });
  await promisify(execFile)("prlimit", ["--pid", String(perpgate.pid), "--fsize=1:1"]);
  expect(await Promise.all(lastAnswers)).toContainEqual([503, "stopped"]);
  const { code, stderr } = await perpgate.ended;
  expect(code).toBe(1);
  expect(stderr).toContain("perpgate: the venue stopped");
});

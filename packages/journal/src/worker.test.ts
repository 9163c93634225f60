import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startWorker } from "./worker.js";

const BUILT = fileURLToPath(new URL("../dist/worker.js", import.meta.url));

/** The priorities of a process that was started at `ofProcess` and of a thread in it that lowered its own. */
async function priorities(ofProcess: number): Promise<[number, number]> {
  const thread = `
    import(${JSON.stringify(BUILT)}).then(({ lowerPriority }) => {
      lowerPriority(5);
      require("node:worker_threads").parentPort.postMessage(require("node:os").getPriority());
    });
  `;
  const script = `
    const { getPriority, setPriority } = require("node:os");
    setPriority(Math.max(${ofProcess}, getPriority()));
    new (require("node:worker_threads").Worker)(${JSON.stringify(thread)}, { eval: true })
      .once("message", (own) => console.log(JSON.stringify([getPriority(), own])));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", script]);
  return JSON.parse(stdout);
}

test("lowerPriority: the thread is below its process, at every priority of the process", async () => {
  // Only Linux has a priority per thread.
  const niceness = process.platform === "linux" ? 5 : 0;
  for (const start of [0, 10, 19]) {
    const [whole, thread] = await priorities(start);
    expect(thread).toBe(Math.min(19, whole + niceness));
  }
});

test("startWorker: a thread whose heap is full ends with a line that names it and the flag", async () => {
  const source = "const kept = []; for (;;) kept.push(new Array(1_000).fill(0));";
  const { exited } = startWorker("hungry", `data:text/javascript,${source}`, import.meta.url, {
    resourceLimits: { maxOldGenerationSizeMb: 8 },
  });
  expect((await exited).message).toBe(
    "the hungry thread is out of memory; start node with a larger --max-old-space-size",
  );
});

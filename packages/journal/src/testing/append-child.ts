/**
 * A process that appends until it is killed, for the crash tests on a real disk.
 * Run as `node append-child.js DIRECTORY SEGMENT_BYTES`; prints `open`, then each acknowledged
 * counter on a separate line.
 */

import { openJournal } from "../open-journal.js";

const IN_FLIGHT = 64;

/** The record with this counter, so that another process can tell what it should hold. */
export function recordOf(counter: number): Uint8Array {
  return new Uint8Array(200 + (counter % 300)).fill(counter % 251);
}

async function appendForEver(directory: string, segmentBytes: number): Promise<never> {
  const journal = await openJournal({ directory, segmentBytes });
  process.stdout.write("open\n");
  let counter = journal.end.batch;
  const lane = async (): Promise<never> => {
    for (;;) {
      const mine = counter++;
      await journal.append({ writer: "1".repeat(32), counter: mine }, [recordOf(mine)]);
      process.stdout.write(`${mine}\n`);
    }
  };
  return Promise.race(Array.from({ length: IN_FLIGHT }, lane));
}

const [, script, directory, segmentBytes] = process.argv;
if (script?.endsWith("append-child.js") && directory !== undefined) {
  await appendForEver(directory, Number(segmentBytes));
}

/** Starts processes of load and readers. */
import { Child, idlePriority } from "./child.js";
import type { GatewayAddress } from "./http.js";
import type { LaneOptions, LoadDriver, LoadResult } from "./load-driver.js";
import type { ReadersHandlers } from "./readers.js";

/** Room for the garbage of a turn: a collection at high priority would delay the server. */
const UNCOLLECTED = ["--expose-gc", "--min-semi-space-size=128", "--max-semi-space-size=128"];

/** A set of connections of a load process. */
export interface LoadLane {
  saturate(count: number): Promise<LoadResult>;
  paced(count: number, rate: number): Promise<LoadResult>;
}

export type OpenLane = (options: LaneOptions) => Promise<LoadLane>;

/** Runs with a load process; `open` opens a lane in it. */
export async function withLoad<T>(run: (open: OpenLane) => Promise<T>): Promise<T> {
  const url = new URL("./load-driver.js", import.meta.url);
  const child = Child.start<LoadDriver>(url, [], { execArgv: UNCOLLECTED });
  try {
    return await run(async (options) => {
      const lane = await child.call("open", options);
      return {
        saturate: (count) => child.call("run", lane, count, 0),
        paced: (count, rate) => child.call("run", lane, count, rate),
      };
    });
  } finally {
    await child.stop();
  }
}

/**
 * Readers of a stream, a process. With `isIdle` they run only while a core is idle: readers on other
 * machines would use cores of those machines.
 */
export async function startReaders(
  address: GatewayAddress,
  sockets: number,
  stream: string | null,
  isIdle = true,
): Promise<Child<ReadersHandlers>> {
  const url = new URL("./readers.js", import.meta.url);
  const readers = Child.start<ReadersHandlers>(url, [], isIdle ? idlePriority() : {});
  await readers.call("open", address, sockets, stream);
  return readers;
}

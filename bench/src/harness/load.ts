/** Starts the load driver and gives its lanes to a bench. */
import { Child } from "./child.js";
import type { LaneOptions, LoadDriver, LoadResult } from "./load-driver.js";

export type { LoadResult } from "./load-driver.js";

/** Room for the garbage of a turn: a collection at high priority would delay the server. */
const UNCOLLECTED = ["--expose-gc", "--min-semi-space-size=128", "--max-semi-space-size=128"];

/** A set of connections of a load process. */
export interface LoadLane {
  saturate(count: number): Promise<LoadResult>;
  paced(count: number, rate: number): Promise<LoadResult>;
}

/** Runs with a load process; `open` opens a lane in it. */
export async function withLoad<T>(
  run: (open: (options: LaneOptions) => Promise<LoadLane>) => Promise<T>,
): Promise<T> {
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

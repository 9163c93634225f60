/**
 * Starts the processes of a venue before the supervisor knows what to tell them: they load their code
 * meanwhile. They end with it.
 */

import { type ChildProcess, type ForkOptions, fork } from "node:child_process";
import cluster from "node:cluster";
import { fileURLToPath } from "node:url";
import { builtModule } from "@perpgate/journal/worker";

export interface ForkedVenue {
  readonly core: ChildProcess;
  readonly edges: readonly ChildProcess[];
}

/** Standard output is the banner's. */
const OPTIONS: Pick<ForkOptions, "serialization"> & { stdio: ("ignore" | "inherit" | "ipc")[] } = {
  stdio: ["ignore", "ignore", "inherit", "ipc"],
  serialization: "advanced",
};

export function forkVenue(edges: number): ForkedVenue {
  return { core: forkCore(), edges: forkEdges(edges) };
}

/** Of a start that is refused: they have been told nothing, and their channel would end under them. */
export function endForked({ core, edges }: ForkedVenue): void {
  for (const child of [core, ...edges]) child.kill("SIGKILL");
}

export function forkCore(): ChildProcess {
  return fork(venueModule("core", "./core-process.js", import.meta.url), OPTIONS);
}

export function forkEdges(edges: number): readonly ChildProcess[] {
  return Array.from({ length: edges }, forkEdge);
}

/** It shares the ports that edges listen on. */
export function forkEdge(): ChildProcess {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    ...OPTIONS,
    exec: venueModule("edge", "./edge-process.js", import.meta.url),
    args: [],
  });
  return cluster.fork().process;
}

/** The bundle has a file for each module that is named here. */
function venueModule(_name: string, module: string, importer: string): string {
  return fileURLToPath(builtModule(module, importer));
}

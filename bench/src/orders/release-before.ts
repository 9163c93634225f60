/** The gateway of another release, started from its built folder by its own harness. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What every release's harness says of a gateway that runs. */
export interface BareGateway {
  readonly port: number;
  /** Processor time of all threads so far. */
  readonly processorMs: number;
}

type WithGateway = (run: (gateway: BareGateway) => Promise<void>) => Promise<void>;

/** @throws if the folder has no built bench. */
export async function withGatewayOf(
  folder: string,
  run: (gateway: BareGateway) => Promise<void>,
): Promise<void> {
  const path = join(folder, "bench", "dist", "harness", "gateway.js");
  const module: { readonly withGateway: WithGateway } = await import(pathToFileURL(path).href);
  return module.withGateway(run);
}

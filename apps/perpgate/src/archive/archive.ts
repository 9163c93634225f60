/**
 * `perpgate archive`: keeps an archive in PostgreSQL up to date with the log of a data folder, until a
 * signal. The venue has no part in it, and does not wait for it.
 */
import { StartError, UsageError } from "../cli/start-error.js";
import { dataFolderOf } from "../operator/data-option.js";
import { endSteps, showStep } from "../operator/verify.js";
import { readConfiguration } from "../serve/configuration.js";
import { onStopSignal } from "../serve/stop-signals.js";
import { Indexer, IndexerRefused } from "./indexer.js";

interface ArchiveOptions {
  readonly postgres?: string;
  readonly config?: string;
  readonly data?: string;
  readonly once?: boolean;
  readonly commands?: number;
  readonly json?: boolean;
}

export async function archive(options: ArchiveOptions): Promise<number> {
  const { once, commands } = options;
  const stopped = new AbortController();
  onStopSignal(() => stopped.abort());
  const indexer = new Indexer(
    { directory: dataFolderOf(options), postgres: addressOf(options), once, commands },
    {
      onProgress: ({ position }) => showStep(`archived up to position ${position}`),
      onWait: () => showStep("another process feeds the archive"),
      onFailure: (reason) => {
        process.stderr.write(`the archive cannot be written, trying again: ${reason}\n`);
      },
    },
    stopped.signal,
  );
  const held = await indexer.run().catch((error: unknown) => {
    throw error instanceof IndexerRefused ? new StartError(error.message) : error;
  });
  endSteps();
  const text = `archived up to position ${held.position}`;
  process.stdout.write(`${options.json === true ? JSON.stringify(held) : text}\n`);
  return 0;
}

/** @throws {UsageError} */
function addressOf({ postgres, config }: ArchiveOptions): string {
  if (postgres !== undefined) return postgres;
  const settings = readConfiguration(config === undefined ? {} : { config }, process.env);
  const address = settings.archive?.postgres;
  if (address !== undefined) return address;
  throw new UsageError("give --postgres URL, or archive.postgres in a configuration");
}

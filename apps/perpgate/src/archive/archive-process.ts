/** The process that feeds a venue's archive, until the stop message; forwards its log. */

import { runChild } from "@perpgate/journal/child";
import { Indexer, type IndexerSettings } from "./indexer.js";

export interface ToArchive {
  readonly kind: "stop";
}

/** A line of the log. */
export interface FromArchive {
  readonly level: "info" | "warn";
  readonly message: string;
  readonly fields: object;
}

/** Failures of one reason are a line at most as often. */
const REPEAT_MS = 60_000;

runChild<IndexerSettings, ToArchive, FromArchive>((settings, send) => {
  const stopped = new AbortController();
  let failure = { reason: "", atMs: 0 };
  let isFeeding = false;
  const indexer = new Indexer(
    settings,
    {
      onProgress: ({ position }) => {
        if (!isFeeding)
          send({ level: "info", message: "the archive is fed", fields: { position } });
        isFeeding = true;
        failure = { reason: "", atMs: 0 };
      },
      onWait: () => undefined,
      onFailure: (reason) => {
        isFeeding = false;
        const nowMs = performance.now();
        if (reason === failure.reason && nowMs - failure.atMs < REPEAT_MS) return;
        failure = { reason, atMs: nowMs };
        send({ level: "warn", message: "the archive cannot be written", fields: { reason } });
      },
    },
    stopped.signal,
  );
  void indexer.run().then(() => process.exit(0));
  return () => stopped.abort();
});

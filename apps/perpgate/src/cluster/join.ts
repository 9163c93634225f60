/**
 * `perpgate cluster join`: the data folder of a new gateway, copied from that of a peer: log, snapshots
 * and, if the log was pruned, the history, verified. Needed when the stream no longer begins at the
 * venue's beginning, and faster than reading all of it.
 */

import { backup } from "../operator/backup.js";

interface JoinOptions {
  readonly from: string;
  readonly data: string;
  readonly json?: boolean;
}

export function join({ from, data, json }: JoinOptions): Promise<number> {
  return backup({ data: from, to: data, ...(json === undefined ? {} : { json }) });
}

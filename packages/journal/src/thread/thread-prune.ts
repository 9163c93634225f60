/** Prunes in a separate thread, which ends afterwards. */

import { firstMessage, startWorker } from "../worker.js";
import { fromFailure, type PruneAnswer, type PruneThreadData } from "./messages.js";

/** Resolves with the number of segments removed; rejects with the reason and the code of the error. */
export async function pruneInThread(data: PruneThreadData): Promise<number> {
  const thread = startWorker("prune", "./prune-thread.js", import.meta.url, { workerData: data });
  const answer = await firstMessage<PruneAnswer>(thread);
  if ("failure" in answer) throw fromFailure(answer.failure);
  return answer.removed;
}

/** The files of the transparency log, and the list of each block's acknowledgements. */

import type { RequestHandlers } from "@perpgate/link";
import { ACK_ENTRY_BYTES } from "@perpgate/protocol/receipts";
import type { Venue } from "../venue.js";

type LogFiles = Pick<
  RequestHandlers,
  "tlogCheckpoint" | "tlogSuccessors" | "tlogPolicy" | "tlogTile" | "tlogAcks"
>;

export function logFiles({ promises }: Pick<Venue, "promises">): LogFiles {
  return {
    tlogCheckpoint: () => fileOf(promises?.log.published?.note),
    tlogSuccessors: () =>
      fileOf(promises === null ? undefined : JSON.stringify(promises.successors)),
    tlogPolicy: () => fileOf(promises?.policy),
    tlogTile: async ({ level, index, width, isEntries }) => ({
      file: await (isEntries
        ? promises?.bundle(index, width)
        : promises?.tile(level, index, width)),
    }),
    tlogAcks: async ({ block }, notes) => {
      const file = await promises?.ackList(block);
      notes.rows = (file?.length ?? 0) / ACK_ENTRY_BYTES;
      return { file };
    },
  };
}

function fileOf(text: string | undefined): { readonly file: Uint8Array | undefined } {
  return { file: text === undefined ? undefined : Buffer.from(text, "utf8") };
}

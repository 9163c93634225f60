/**
 * `perpgate cluster reseed`: builds the stream again from the mirror of one gateway, the longest, while
 * all gateways are stopped.
 */

import { resolve } from "node:path";
import { ClusterError, connectToAny, reseed as reseedStream } from "@perpgate/cluster";
import { openJournal } from "@perpgate/journal";
import { mirroredMessages, NotAMirror } from "@perpgate/venue";
import { Output } from "../cli/output.js";
import { StartError } from "../cli/start-error.js";
import { readConfiguration } from "../serve/configuration.js";
import { flagSettings, type ServeOptions } from "../serve/options.js";
import { journalFolderOf } from "./folders.js";
import { accessOf, logSettingsOf, streamNameOf } from "./log-access.js";

export interface ReseedOptions extends ServeOptions {
  readonly replicas?: number;
  readonly json?: boolean;
}

const REPORT_EVERY = 10_000;

export async function reseed({ replicas = 3, json, ...options }: ReseedOptions): Promise<number> {
  const settings = readConfiguration(flagSettings(options), process.env);
  const output = new Output(json === true);
  const log = logSettingsOf(settings);
  const directory = journalFolderOf(resolve(settings.data));
  // Locked until the end: no gateway may write to it meanwhile.
  const journal = await openJournal({ directory });
  try {
    const { first } = journal.recovery;
    if (journal.end.batch === 0) throw new StartError(`${directory} holds no message`);
    const connection = await connectToAny(accessOf(log, "perpgate-reseed"));
    try {
      const last = await reseedStream({
        connection,
        stream: streamNameOf(log),
        replicas,
        messages: mirroredMessages(directory, first.batch, journal.end.batch),
        onProgress: (sequence) => {
          if (sequence % REPORT_EVERY === 0) output.remark(`sequence ${sequence}`);
        },
      });
      if (output.isJson) output.json({ stream: streamNameOf(log), last });
      else output.line(`stream ${streamNameOf(log)} holds the mirror up to sequence ${last}`);
      return 0;
    } finally {
      await connection.close();
    }
  } catch (error) {
    if (error instanceof ClusterError || error instanceof NotAMirror) {
      throw new StartError(error.message);
    }
    throw error;
  } finally {
    await journal.close();
  }
}

/**
 * `perpgate cluster reseed`: builds the stream again from the mirror of one gateway, the longest, while
 * all gateways are stopped.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  ClusterError,
  reseed as reseedStream,
  type ServerAccess,
  type StreamOptions,
} from "@perpgate/cluster";
import { JournalError, JournalLocked, LogBehind, openJournal } from "@perpgate/journal";
import { mirroredMessages, NotAMirror, shownLoss } from "@perpgate/venue";
import { Output } from "../cli/output.js";
import { StartError } from "../cli/start-error.js";
import { readConfiguration } from "../serve/configuration.js";
import { flagSettings, type ServeOptions } from "../serve/options.js";
import { MIB, type Settings } from "../serve/settings.js";
import { journalFolderOf } from "./folders.js";
import { accessOf, logSettingsOf, streamNameOf } from "./log-access.js";

interface ReseedOptions extends ServeOptions {
  readonly replicas?: number;
  readonly maxBytes?: number;
  readonly json?: boolean;
}

const REPORT_EVERY = 10_000;

export async function reseedCommand(options: ReseedOptions): Promise<number> {
  const { replicas = 3, maxBytes, json, ...flags } = options;
  const settings = readConfiguration(flagSettings(flags), process.env);
  const output = new Output(json === true);
  const log = logSettingsOf(settings);
  const stream = {
    stream: streamNameOf(log),
    replicas,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  };
  try {
    const last = await fromMirror(settings, accessOf(log, "perpgate-reseed"), stream, output);
    if (output.isJson) output.json({ stream: stream.stream, last });
    else output.line(`stream ${stream.stream} holds the mirror up to sequence ${last}`);
    return 0;
  } catch (error) {
    throw isKnown(error) ? new StartError(`${error.message}${adviceOn(error)}`) : error;
  }
}

/** Returns the last sequence. */
async function fromMirror(
  { data, segmentMiB }: Settings,
  access: ServerAccess,
  stream: StreamOptions,
  output: Output,
): Promise<number> {
  const directory = journalFolderOf(resolve(data));
  // To open a journal that is missing would create it.
  if (!existsSync(directory)) throw new StartError(`there is no log in ${directory}`);
  // A stream without the mirror's end would be the venue's log for good.
  const loss = await shownLoss(resolve(data), (reason) => {
    throw new StartError(
      `the history is damaged, so it cannot show whether the mirror has lost its end: ${reason}; ` +
        `use the mirror of another gateway, or move ${join(resolve(data), "history")} away`,
    );
  });
  if (loss !== undefined) throw loss;
  // Locked until the end: no gateway may write to it meanwhile.
  const journal = await openJournal({ directory, segmentBytes: segmentMiB * MIB });
  try {
    const { first } = journal.recovery;
    if (journal.end.batch === 0) throw new StartError(`${directory} holds no message`);
    const remark = (text: string): void => output.remark(text);
    return await reseedStream({
      access,
      logger: { info: remark, warn: remark },
      ...stream,
      messages: mirroredMessages(directory, first.batch, journal.end.batch),
      onProgress: (sequence) => {
        if (sequence % REPORT_EVERY === 0) remark(`sequence ${sequence}`);
      },
    });
  } finally {
    await journal.close();
  }
}

function adviceOn(error: Error): string {
  if (error instanceof LogBehind) return "; use the mirror of another gateway";
  return error instanceof JournalLocked ? "; stop it: all gateways must be stopped" : "";
}

function isKnown(error: unknown): error is Error {
  return (
    error instanceof ClusterError ||
    error instanceof JournalError ||
    error instanceof NotAMirror ||
    // System errors, such as no access.
    (error instanceof Error && "syscall" in error)
  );
}

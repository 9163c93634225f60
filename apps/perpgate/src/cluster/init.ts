/** `perpgate cluster init`: creates the stream of a new venue and publishes its beginning, once. */

import { ClusterError, connectToAny, createStream, publishGenesis } from "@perpgate/cluster";
import { Output } from "../cli/output.js";
import { StartError } from "../cli/start-error.js";
import { readConfiguration } from "../serve/configuration.js";
import { flagSettings, type ServeOptions } from "../serve/options.js";
import type { Settings } from "../serve/settings.js";
import { accessOf, logSettingsOf, streamNameOf } from "./log-access.js";
import { beginningOf } from "./venue-beginning.js";

interface InitOptions extends ServeOptions {
  readonly replicas?: number;
  readonly maxBytes?: number;
  readonly json?: boolean;
}

export async function init(options: InitOptions): Promise<number> {
  const { replicas = 3, maxBytes, json, ...flags } = options;
  const settings = readConfiguration(flagSettings(flags), process.env);
  const stream = await beginCluster(settings, replicas, maxBytes);
  const output = new Output(json === true);
  if (output.isJson) output.json({ stream, replicas, markets: settings.markets.length });
  else output.line(`stream ${stream} with ${replicas} replicas: the venue has begun`);
  return 0;
}

/** Returns the stream's name; throws if the venue has begun already. */
export async function beginCluster(
  settings: Settings,
  replicas: number,
  maxBytes?: number,
): Promise<string> {
  const log = logSettingsOf(settings);
  const stream = streamNameOf(log);
  const records = beginningOf(settings, Date.now());
  try {
    const connection = await connectToAny(accessOf(log, "perpgate-init"));
    try {
      await createStream(connection, {
        stream,
        replicas,
        ...(maxBytes === undefined ? {} : { maxBytes }),
      });
      await publishGenesis(connection, stream, records);
    } finally {
      await connection.close();
    }
    return stream;
  } catch (error) {
    throw error instanceof ClusterError ? new StartError(error.message) : error;
  }
}

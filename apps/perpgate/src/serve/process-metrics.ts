/** The log and the metrics of one process of a venue, both with its name. */

import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { measureProcessLog, openProcessLog } from "./process-log.js";

export interface OwnProcess {
  readonly log: Logger;
  readonly metrics: Registry;
}

export function openProcess(name: string, logLevel: string): OwnProcess {
  const processLog = openProcessLog(logLevel, name);
  const metrics = new Registry();
  metrics.setDefaultLabels({ process: name });
  collectDefaultMetrics({ register: metrics });
  measureProcessLog(metrics, processLog);
  return { log: processLog.log, metrics };
}

/** The process of the crowd: runs it until the stop message and forwards its log. */

import { runChild } from "@perpgate/journal/child";
import type { BotSettings, BotVenue } from "../bot-settings.js";
import { Crowd } from "../crowd.js";

export interface CrowdData {
  readonly venue: BotVenue;
  readonly settings: BotSettings;
}

export interface ToCrowd {
  readonly withinMs: number;
}

/** A line of the log. */
export interface FromCrowd {
  readonly level: "info" | "warn";
  readonly message: string;
  readonly fields: object;
}

runChild<CrowdData, ToCrowd, FromCrowd>(({ venue, settings }, send) => {
  const crowd = new Crowd(venue, settings, {
    info: (message, fields = {}) => send({ level: "info", message, fields }),
    warn: (message, fields = {}) => send({ level: "warn", message, fields }),
  });
  return ({ withinMs }) => {
    // Open handles of the crowd must not keep the process alive.
    const end = () => process.exit(0);
    crowd.stop(withinMs).then(end, end);
  };
});

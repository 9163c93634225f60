/** What the crowd's thread and the one that started it tell each other. */

import type { BotSettings, BotVenue } from "../bot-settings.js";

export interface ThreadData {
  readonly venue: BotVenue;
  readonly settings: BotSettings;
}

export interface ToThread {
  readonly kind: "stop";
  readonly withinMs: number;
}

export interface FromThread {
  readonly kind: "log";
  readonly level: "info" | "warn";
  readonly message: string;
  readonly fields: object;
}

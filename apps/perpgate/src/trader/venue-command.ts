/** A command that reaches a venue, with the options that all of them share. */

import type { Command } from "commander";
import { addCommand, type CommandText } from "../cli/command.js";

/** Where `npm start` listens. */
export const DEFAULT_URL = "http://127.0.0.1:8080";

export interface VenueCommandOptions {
  readonly url?: string;
  readonly profile?: string;
  readonly json?: boolean;
}

export function venueCommand(program: Command, name: string, text: CommandText): Command {
  return addCommand(program, name, text)
    .option("--url <URL>", `the gateway, or several with commas (${DEFAULT_URL})  [PERPGATE_URL]`)
    .option("--profile <NAME>", "whose session (default)  [PERPGATE_PROFILE]")
    .option("--json", "JSON for programs");
}

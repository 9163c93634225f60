/** Reads the settings from flags, environment and file, and merges them. */

import { readFileSync } from "node:fs";
import { LOCAL_BOUNDS, parseStrictJson } from "@perpgate/protocol/core";
import { StartError } from "../cli/start-error.js";
import { type RawSettings, readEnvironment } from "./options.js";
import { checkSettings, joinSettings, type PartialSettings, type Settings } from "./settings.js";

export function readConfiguration(flags: RawSettings, environment: NodeJS.ProcessEnv): Settings {
  const variables = readEnvironment(environment);
  const file = flags.config ?? variables.config;
  return joinSettings([
    checkSettings(withoutConfig(flags), "command line"),
    checkSettings(withoutConfig(variables), "environment"),
    typeof file === "string" ? readSettingsFile(file) : {},
  ]);
}

function withoutConfig({ config: _, ...settings }: RawSettings): RawSettings {
  return settings;
}

/** The settings of a file, checked. @throws {StartError} */
export function readSettingsFile(path: string): PartialSettings {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new StartError(`cannot read ${path}: ${reasonOf(error)}`);
  }
  let value: unknown;
  try {
    value = parseStrictJson(text, LOCAL_BOUNDS);
  } catch (error) {
    throw new StartError(`${path}: ${reasonOf(error)}`);
  }
  return checkSettings(value, path);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.split("\n", 1).join("") : String(error);
}

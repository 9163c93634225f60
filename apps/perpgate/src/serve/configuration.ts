/** Reads the settings from flags, environment and file, and merges them. */

import { readFileSync } from "node:fs";
import { LOCAL_BOUNDS, parseStrictJson } from "@perpgate/protocol/core";
import { StartError } from "../cli/start-error.js";
import { type RawSettings, readEnvironment } from "./options.js";
import { checkSettings, joinSettings, type Settings } from "./settings.js";
import type { PartialSettings } from "./settings-schema.js";

export function readConfiguration(flags: RawSettings, environment: NodeJS.ProcessEnv): Settings {
  return joinSettings(readSources(flags, environment).map(({ settings }) => settings));
}

interface SettingsSource {
  /** Its name for the operator. */
  readonly origin: string;
  readonly settings: PartialSettings;
}

/** What each source has, checked; the first that has a setting decides it. */
export function readSources(
  flags: RawSettings,
  environment: NodeJS.ProcessEnv,
): readonly SettingsSource[] {
  const variables = readEnvironment(environment);
  const file = flags.config ?? variables.config;
  const given = [
    ["command line", withoutConfig(flags)],
    ["environment", withoutConfig(variables)],
  ] as const;
  return [
    ...given.map(([origin, raw]) => ({ origin, settings: checkSettings(raw, origin) })),
    ...(typeof file === "string" ? [{ origin: file, settings: readSettingsFile(file) }] : []),
  ];
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

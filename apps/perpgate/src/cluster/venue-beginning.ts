/** What a new venue's log begins with, from the settings. */

import { NotInUnits } from "@perpgate/protocol/core";
import {
  ConfigRefused,
  checkConfig,
  cohortCommands,
  encodeRecord,
  genesisRecord,
} from "@perpgate/venue";
import { StartError } from "../cli/start-error.js";
import { bridgeOf } from "../serve/bridge/settings-bridge.js";
import { plainAddress } from "../serve/cohort-control.js";
import type { Settings } from "../serve/settings.js";
import { venueTermsOf } from "../serve/venue-opening.js";

/** The whole beginning is one message. */
const MAX_BYTES = 900 * 1024;

/** @throws {StartError} for settings that the engine would refuse: the log could never be used. */
export function beginningOf(settings: Settings, stampMs: number): readonly Uint8Array[] {
  const { cohort } = settings;
  const { stage } = cohort;
  const terms = checkedTerms(settings);
  const genesis = genesisRecord({ ...terms, cohort: stage }, stampMs);
  const allow = cohort.allow.map(plainAddress);
  const lists = allow.length === 0 ? [] : cohortCommands({ stage, allow, disallow: [] }, stampMs);
  const records = [genesis, ...lists.map((command) => encodeRecord(command))];
  const bytes = records.reduce((sum, record) => sum + record.length, 0);
  if (bytes <= MAX_BYTES) return records;
  throw new StartError(
    "cohort.allow is too long for the beginning of a log; leave it out and use perpgate cohort",
  );
}

function checkedTerms(settings: Settings): ReturnType<typeof venueTermsOf> {
  try {
    const terms = venueTermsOf(settings, bridgeOf(settings, undefined));
    checkConfig(terms.config, terms.listing, terms.attestors);
    return terms;
  } catch (error) {
    const isKnown = error instanceof ConfigRefused || error instanceof NotInUnits;
    throw isKnown ? new StartError(error.message) : error;
  }
}

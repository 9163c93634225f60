import { JournalError } from "@perpgate/journal";
import { BackupRefused, NothingToVerify, StoreUnusable, UnknownToRelease } from "@perpgate/venue";
import { isSystemError, StartError } from "../cli/start-error.js";

const KNOWN = [BackupRefused, JournalError, NothingToVerify, StoreUnusable, UnknownToRelease];

/** What is wrong with a data folder becomes one line for the operator; any other error stays as it is. */
export function folderError(error: unknown): unknown {
  const isKnown = isSystemError(error) || KNOWN.some((Known) => error instanceof Known);
  return isKnown && error instanceof Error ? new StartError(error.message) : error;
}

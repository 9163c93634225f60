/** Which part of the past the venue keeps, and whether its archive keeps up with what is dropped. */
import { resolve } from "node:path";
import { type StoreWindow, storeWindow } from "@perpgate/venue";
import { reasonOf } from "../cli/start-error.js";
import { MIB, type Settings } from "../serve/settings.js";
import { type Finding, ok, problem, warning } from "./finding.js";

const CHECK = "history";
/** Commands that an archive may be behind: it takes thousands a second. */
const MOST_BEHIND = 1_000_000;

export function checkHistory(settings: Settings): Finding {
  const { hotDays, maxMiB } = settings.history;
  const most = maxMiB === undefined ? "" : `, ${maxMiB} MiB at most`;
  const kept = `rows of ${hotDays} days are kept${most}`;
  let found: StoreWindow | undefined;
  try {
    found = storeWindow(resolve(settings.data));
  } catch (error) {
    const advice = "nothing may keep the venue's user from reading its folder";
    return problem(CHECK, reasonOf(error), advice);
  }
  if (found === undefined) return ok(CHECK, `${kept}; there are none yet`);
  const { bytes, position, historyBefore, archived } = found;
  const oldest =
    historyBefore === null ? "from the beginning on" : `from ${dateOf(historyBefore.time)} on`;
  const has = `${kept}: ${(bytes / MIB).toFixed(1)} MiB up to position ${position}, ${oldest}`;
  if (settings.archive?.postgres === undefined) return ok(CHECK, has);
  const all = `${has}; the archive is at position ${archived}`;
  return position - archived <= MOST_BEHIND
    ? ok(CHECK, all)
    : warning(
        CHECK,
        all,
        "no row that it lacks is dropped: see why it stands still (perpgate archive)",
      );
}

function dateOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

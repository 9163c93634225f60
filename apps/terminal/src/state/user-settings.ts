/** What the trader wants to be notified of, whether keys act, and how numbers look; kept between visits. */

import { SEPARATORS, type Separator, separateThousandsBy } from "../format/numbers.js";
import { t } from "../text/texts.js";
import { readPreference, writePreference } from "./preferences.js";
import { Store } from "./store.js";

interface UserSettings {
  /** Notifications of the browser while the page is not looked at. */
  readonly notifies: boolean;
  readonly sounds: boolean;
  readonly hotkeys: boolean;
  /** The margin ratio in percent from which a position is warned of. */
  readonly warnsAt: string;
  /** Between thousands. */
  readonly separator: Separator;
}

const DEFAULT_PERCENT = "80";

export const userSettings = new Store<UserSettings>(
  {
    notifies: readPreference("notifies") === "yes",
    sounds: readPreference("sounds") === "yes",
    hotkeys: readPreference("hotkeys") !== "no",
    warnsAt: readPreference("warns-at") ?? DEFAULT_PERCENT,
    separator: SEPARATORS.find((each) => each === readPreference("separator")) ?? ",",
  },
  "immediate",
);

separateThousandsBy(userSettings.get().separator);

export function changeUserSettings(change: Partial<UserSettings>): void {
  // Before anything is drawn again.
  if (change.separator !== undefined) separateThousandsBy(change.separator);
  userSettings.update((known) => ({ ...known, ...change }));
  const { notifies, sounds, hotkeys, warnsAt, separator } = userSettings.get();
  writePreference("separator", separator);
  writePreference("notifies", notifies ? "yes" : "no");
  writePreference("sounds", sounds ? "yes" : "no");
  writePreference("hotkeys", hotkeys ? "yes" : "no");
  if (warningProblem(warnsAt) === undefined) writePreference("warns-at", warnsAt);
}

export function warningProblem(text: string): string | undefined {
  const percent = Number(text.trim());
  return text.trim() !== "" && percent >= 1 && percent <= 99 ? undefined : t.problems.warnsAt;
}

/** A share; a setting that cannot be read warns at the usual one. */
export function warningRatio(): number {
  const { warnsAt } = userSettings.get();
  return Number(warningProblem(warnsAt) === undefined ? warnsAt : DEFAULT_PERCENT) / 100;
}

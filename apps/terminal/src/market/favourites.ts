/** Markets that the user has marked; they are listed first. */

import { readPreference, writePreference } from "../state/preferences.js";
import { Store } from "../state/store.js";

export const favourites = new Store<readonly string[]>(
  (readPreference("favourites") ?? "").split(" ").filter(Boolean),
  "immediate",
);

export function switchFavourite(symbol: string): void {
  favourites.update((known) =>
    known.includes(symbol) ? known.filter((each) => each !== symbol) : [...known, symbol],
  );
  writePreference("favourites", favourites.get().join(" "));
}

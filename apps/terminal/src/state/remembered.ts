/** A choice of the layout that the next visit finds again. */

import { useState } from "react";
import { type PreferenceName, readPreference, writePreference } from "./preferences.js";

export function useRemembered<T extends string>(
  name: PreferenceName,
  allowed: readonly T[],
  fallback: T,
): [T, (value: T) => void] {
  const [value, setValue] = useState(
    () => allowed.find((each) => each === readPreference(name)) ?? fallback,
  );
  const choose = (next: T) => {
    writePreference(name, next);
    setValue(next);
  };
  return [value, choose];
}

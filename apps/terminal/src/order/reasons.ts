/** What the `reason` of an acknowledgement or order means. */

import { t } from "../text/texts.js";

export function reasonText(reason: string, hasFilled = false): string {
  if (reason === "unfunded" && hasFilled) return t.advice.unfundedRest;
  const texts: Readonly<Record<string, string>> = t.advice.reasons;
  return texts[reason] ?? reason;
}

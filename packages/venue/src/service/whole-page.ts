/** The page of a list whose filter may leave out entries. */
import { ApiError } from "@perpgate/protocol/core";
import type { FilteredRows } from "../history/filtered-rows.js";

/**
 * A page that is not full is the last one, so one that the venue stopped reading is none.
 *
 * @throws ApiError `too_many_rows`, which says how to go on.
 */
export function wholePage<T>(
  { rows, read, stoppedAt }: FilteredRows<T>,
  { after }: { readonly after?: string | undefined },
): T[] {
  if (stoppedAt === null) return [...rows];
  const found = rows.length;
  const cursor = after === undefined ? "before" : "after";
  const advice = found > 0 ? `limit=${found}` : `${cursor}=${stoppedAt}`;
  const details = { found, next: String(stoppedAt) };
  throw new ApiError("too_many_rows", { read, found, advice }, { details });
}

import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { isNoRoom, isNotThere } from "./disk.js";

/** As in jest, whose modules have another `Error` than what Node throws. */
function errorOfElsewhere(code: string): unknown {
  return runInNewContext(`Object.assign(new Error("no"), { code: ${JSON.stringify(code)} })`);
}

test("a system error of another context is known by its code", () => {
  expect(isNotThere(errorOfElsewhere("ENOENT"))).toBe(true);
  expect(isNotThere(errorOfElsewhere("EACCES"))).toBe(false);
  expect(isNoRoom(errorOfElsewhere("ENOSPC"))).toBe(true);
  expect(isNotThere(undefined)).toBe(false);
});

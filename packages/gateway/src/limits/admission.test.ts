import { expect, test } from "vitest";
import { Admission } from "./admission.js";

test("calm: two orders in a row, each alone in flight", () => {
  const admission = new Admission(10);
  const calm: boolean[] = [];
  const enter = (): void => {
    admission.enter(() => undefined);
    calm.push(admission.isCalm);
  };
  for (let i = 0; i < 3; i++) {
    enter();
    admission.leave();
  }
  expect(calm.splice(0)).toEqual([false, true, true]);
  enter();
  enter();
  expect(calm.splice(0)).toEqual([true, false]);
  admission.leave();
  admission.leave();
  enter();
  admission.leave();
  enter();
  expect(calm).toEqual([false, true]);
});

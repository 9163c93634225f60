import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Toasts } from "./toasts.js";

const titlesOf = ({ list }: Toasts) => list.get().map(({ title }) => title);

describe("toasts", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("notices leave after seconds, an error after half a minute, an alarm when it is dismissed", () => {
    const toasts = new Toasts();
    toasts.show("alarm", "Liquidated");
    toasts.show("bad", "Rejected");
    for (const title of ["1", "2", "3", "4", "5"]) toasts.show("info", title);
    expect(titlesOf(toasts)).toEqual(["Liquidated", "Rejected", "4", "5"]);
    vi.advanceTimersByTime(10_000);
    expect(titlesOf(toasts)).toEqual(["Liquidated", "Rejected"]);
    vi.advanceTimersByTime(600_000);
    expect(titlesOf(toasts)).toEqual(["Liquidated"]);
    for (const { id } of toasts.list.get()) toasts.close(id);
    expect(titlesOf(toasts)).toEqual([]);
  });

  test("more errors than there is room for: the newest four, and the newest notice", () => {
    const toasts = new Toasts();
    for (const title of ["a", "b", "c", "d", "e"]) toasts.show("bad", title);
    expect(titlesOf(toasts)).toEqual(["b", "c", "d", "e"]);
    toasts.show("good", "1");
    toasts.show("info", "2");
    expect(titlesOf(toasts)).toEqual(["b", "c", "d", "e", "2"]);
  });
});

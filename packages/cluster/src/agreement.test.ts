import { describe, expect, test } from "vitest";
import { Agreement, isMajority } from "./agreement.js";

const OWN = "own";

/** A clock that the test moves, and times of messages from servers whose clock is an hour ahead. */
function newAgreement() {
  let nowMs = 0;
  const agreement = new Agreement(() => nowMs);
  const hear = (writer: string, agrees: boolean | undefined) =>
    agreement.hear(writer, agrees, nowMs + 3_600_000);
  const count = (live: readonly string[]) =>
    agreement.count(OWN, (writer) => live.includes(writer));
  return { agreement, hear, count, wait: (ms: number) => (nowMs += ms) };
}

describe("agreement", () => {
  test("a gateway alone is a majority; one against one is none for both", () => {
    const { hear, count } = newAgreement();
    expect(count([])).toEqual({ agree: 1, disagree: 0 });
    hear("b", false);
    expect(count(["b"])).toEqual({ agree: 1, disagree: 1 });
    expect(isMajority(count(["b"]))).toBe(false);
  });

  test("two against one: the two go on, the one stops", () => {
    const { hear, count } = newAgreement();
    hear("b", true);
    hear("c", false);
    expect(isMajority(count(["b", "c"]))).toBe(true);
    hear("b", false);
    expect(isMajority(count(["b", "c"]))).toBe(false);
  });

  test("an ended writer that agreed does not count; one that disagrees counts without joining", () => {
    const { hear, count } = newAgreement();
    hear("b", true);
    hear("d", false);
    expect(count([])).toEqual({ agree: 1, disagree: 1 });
  });

  test("a message that shows nothing keeps the writer's view", () => {
    const { hear, count } = newAgreement();
    hear("b", undefined);
    expect(count(["b"])).toEqual({ agree: 2, disagree: 0 });
    hear("b", false);
    hear("b", undefined);
    expect(count(["b"])).toEqual({ agree: 1, disagree: 1 });
  });

  test("a writer counts for 5 s after its last message", () => {
    const { agreement, hear, count, wait } = newAgreement();
    hear("b", false);
    wait(5000);
    expect(count([]).disagree).toBe(1);
    expect(agreement.views()).toEqual([{ writer: "b", agrees: false, ageMs: 5000 }]);
    wait(1);
    expect(count([]).disagree).toBe(0);
  });

  test("messages of long ago, read quickly, do not count", () => {
    const { agreement, count } = newAgreement();
    agreement.hear("old", false, 1000);
    agreement.hear("new", true, 100_000);
    expect(count(["new"])).toEqual({ agree: 2, disagree: 0 });
  });

  test("a leader whose clock is an hour behind that of the last one: a writer counts for 5 s", () => {
    const { agreement, hear, count, wait } = newAgreement();
    hear("b", false);
    hear("c", false);
    wait(3000);
    agreement.hear("b", false, 3000);
    expect(agreement.views()).toMatchObject([
      { writer: "b", ageMs: 0 },
      { writer: "c", ageMs: 3000 },
    ]);
    wait(2000);
    agreement.hear("b", false, 5000);
    expect(count([])).toEqual({ agree: 1, disagree: 2 });
    wait(1);
    agreement.hear("b", false, 5001);
    expect(agreement.views()).toEqual([{ writer: "b", agrees: false, ageMs: 0 }]);
  });

  test("the own writer's messages do not count twice", () => {
    const { hear, count } = newAgreement();
    hear(OWN, true);
    expect(count([OWN])).toEqual({ agree: 1, disagree: 0 });
  });
});

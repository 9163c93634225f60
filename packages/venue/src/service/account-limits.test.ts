import type { NotesInMaking } from "@perpgate/link";
import { expect, test } from "vitest";
import { AccountLimit } from "./account-limits.js";

test("deposits: ten a minute, by account; the notes say what remains, also of a refusal", () => {
  const notes: NotesInMaking = { counted: undefined, rows: 0, work: 0, isReplay: false };
  let nowMs = 0;
  const deposits = new AccountLimit("deposits", 10 / 60, 10, () => nowMs);
  for (let i = 0; i < 10; i++) deposits.take(1, notes);
  const counted = { limit: "deposits", quota: 10, windowSeconds: 60 };
  expect(notes.counted).toEqual({ ...counted, remaining: 0, fullInSeconds: 60 });
  notes.counted = undefined;
  expect(() => deposits.take(1, notes)).toThrow(
    expect.objectContaining({
      code: "rate_limited",
      details: { limit: "deposits", retryAfterMs: 6_000 },
    }),
  );
  expect(notes.counted).toEqual({ ...counted, remaining: 0, fullInSeconds: 60 });
  deposits.take(2, notes);
  expect(notes.counted).toEqual({ ...counted, remaining: 9, fullInSeconds: 6 });
  nowMs = 6_000;
  deposits.take(1, notes);
});

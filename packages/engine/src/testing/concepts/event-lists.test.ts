/** docs/engine.md: where the page lists the fields of an event, it lists those of the event table. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EVENT_FIELDS, EVENT_KINDS, type EventKind } from "../../events/event-table.js";

const LIST = /`([A-Z][A-Za-z]+) \{([^}]*)\}`/g;

/** Names of the fields, without what the page says of them. */
function fieldsIn(list: string): string[] {
  return list
    .replaceAll(/\([^)]*\)/g, "")
    .split(",")
    .map((field) => field.replace(/:.*/, "").trim());
}

/** Single fields with their values, as in `SessionClosed {expired: 1}`. */
function isInstance(list: string): boolean {
  return list.split(",").every((field) => /^\s*\w+: \d+\s*$/.test(field));
}

test("docs/engine.md: the lists of an event's fields are whole and in order", () => {
  const page = readFileSync(new URL("../../../../../docs/engine.md", import.meta.url), "utf8");
  const kinds: readonly string[] = EVENT_KINDS;
  const shown = [...page.matchAll(LIST)]
    .map(([, kind = "", list = ""]) => ({ kind, list }))
    .filter(({ kind, list }) => kinds.includes(kind) && !isInstance(list))
    // The command of that name.
    .filter(({ list }) => !list.includes("certificate"));
  expect(shown.length).toBeGreaterThan(15);
  for (const { kind, list } of shown) {
    expect(fieldsIn(list), kind).toEqual(EVENT_FIELDS[kind as EventKind]);
  }
});

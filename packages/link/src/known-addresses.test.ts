import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KnownAddresses, LINKED_EDGES, MAX_KNOWN } from "./known-addresses.js";
import { newFolder } from "./testing/socket-links.js";

const never = (error: unknown): void => expect.unreachable(String(error));

test("addresses are known to the next run, the newest of too many", () => {
  const folder = newFolder();
  const first = new KnownAddresses(folder, never);
  for (let i = 0; i <= MAX_KNOWN; i++) first.add(`10.0.${i >> 8}.${i & 255}`);
  const next = new KnownAddresses(folder, never);
  expect([next.has("10.0.0.0"), next.has("10.0.0.1"), next.has("10.0.4.0")]).toEqual([
    false,
    true,
    true,
  ]);
  expect(statSync(join(folder, LINKED_EDGES)).mode & 0o777).toBe(0o600);
});

test("an edge that links again from its address writes nothing", () => {
  const folder = newFolder();
  const file = join(folder, LINKED_EDGES);
  const known = new KnownAddresses(folder, never);
  known.add("192.0.2.1");
  const { mtimeNs, ino } = statSync(file, { bigint: true });
  known.add("192.0.2.1");
  expect(statSync(file, { bigint: true })).toMatchObject({ mtimeNs, ino });
  expect(readFileSync(file, "utf8")).toBe("192.0.2.1\n");
});

test("a file that cannot be written is reported, and the address is known until the end", () => {
  const folder = newFolder();
  mkdirSync(join(folder, LINKED_EDGES));
  const problems: unknown[] = [];
  const known = new KnownAddresses(folder, (error) => problems.push(error));
  known.add("192.0.2.1");
  expect([known.has("192.0.2.1"), problems.length]).toEqual([true, 1]);
});

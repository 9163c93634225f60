/**
 * Evidence before every checker: the SDK's, `perpgate check`, `perpgate judge`, and the independent example.
 * The page's test has every fourth of the list. All confirm what holds and refuse every forgery.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { evidenceSamples, type SampleEvidence } from "@perpgate/protocol/testing";
import { checkEvidence, judgeReceipt } from "@perpgate/sdk";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { check } from "./receipts.js";

const { logKey, witnessKey, genuine, forged } = evidenceSamples();
const example: { confirm(text: string, options: readonly string[]): string } = await import(
  new URL("../../../../examples/check-evidence.mjs", import.meta.url).href
);
const keys = { logKey, witnessKeys: [witnessKey] };

/** What `perpgate check --json` prints about a file. */
async function printedBy(text: string): Promise<Record<string, unknown>> {
  const file = join(temporaryFolder(), "evidence.json");
  writeFileSync(file, text);
  let printed = "";
  const stdout = vi.spyOn(process.stdout, "write").mockImplementation((part) => {
    printed += String(part);
    return true;
  });
  const code = await check(file, { key: logKey, witness: [witnessKey], json: true });
  stdout.mockRestore();
  return { ...Object(JSON.parse(printed)), code };
}

/** What each checker says: the verdict, or that nothing is proven. */
async function verdictsOn({ text }: SampleEvidence): Promise<Record<string, string>> {
  const checked = await checkEvidence(text, keys);
  const { code, isProven, verdict } = await printedBy(text);
  const confirmed = example.confirm(text, [logKey, "--witness", witnessKey]);
  return {
    sdk: typeof checked === "string" ? "refused" : checked.verdict,
    "perpgate check": code === 0 && isProven === true ? String(verdict) : "refused",
    example: /^proven: (\w+)$/.exec(confirmed)?.[1] ?? "refused",
  };
}

test.each(genuine)("evidence that holds: $name", async (sample) => {
  const { verdict } = sample;
  const all = { sdk: verdict, "perpgate check": verdict, example: verdict };
  expect(await verdictsOn(sample)).toEqual(all);
});

test("the list of forgeries: long, and each of its own", () => {
  expect(forged.length).toBeGreaterThanOrEqual(45);
  expect(new Set(forged.map(({ name }) => name)).size).toBe(forged.length);
  const texts = new Set([...genuine, ...forged].map(({ text }) => text));
  expect(texts.size).toBe(genuine.length + forged.length);
});

test.each(forged)("forged evidence is refused: $name", async (sample) => {
  const all = { sdk: "refused", "perpgate check": "refused", example: "refused" };
  expect(await verdictsOn(sample)).toEqual(all);
});

test("judge: evidence is no receipt", async () => {
  for (const { text } of genuine) {
    const verdict = await judgeReceipt(JSON.parse(text), { url: "http://127.0.0.1:9" });
    expect(verdict.verdict).toBe("invalid");
  }
});

import { ParsedMessage } from "@spruceid/siwe-parser";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isFaulty, MAX_MESSAGE_CHARACTERS, MAX_RESOURCES, siweLinesOf } from "./siwe-lines.js";
import { readSiweMessage } from "./siwe-message.js";
import { parseSiweMessage } from "./testing/proofs.js";
import { type SiweFields, siweText } from "./testing/siwe-text.js";

const FIELDS: SiweFields = {
  domain: "app.example",
  address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  uri: "https://app.example/trade",
  version: "1",
  chainId: 1,
  nonce: "nonce1234",
  issuedAt: "2026-06-01T11:59:00Z",
};

function resources(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `urn:a:${i}`);
}

function refusalOf(text: string): object {
  try {
    parseSiweMessage(text);
  } catch (error) {
    if (typeof error === "object" && error !== null) return error;
  }
  throw new Error("it was accepted");
}

describe("bounds of a sign-in message", () => {
  test("32 resources: accepted; one more: refused on its line with the bound", () => {
    const most = siweText({ ...FIELDS, resources: resources(MAX_RESOURCES) });
    expect(parseSiweMessage(most).resources).toHaveLength(MAX_RESOURCES);
    const more = siweText({ ...FIELDS, resources: resources(MAX_RESOURCES + 1) });
    expect(refusalOf(more)).toMatchObject({
      code: "invalid_siwe_message",
      details: { line: 43, expected: "the end: at most 32 resources" },
    });
    expect(more.split("\n")[43 - 1]).toBe("- urn:a:32");
  });

  test("2,048 characters: accepted; one more: refused with the bound", () => {
    const empty = siweText({ ...FIELDS, statement: "" }).length;
    const padded = (length: number) =>
      siweText({ ...FIELDS, statement: "a".repeat(length - empty) });
    expect(parseSiweMessage(padded(MAX_MESSAGE_CHARACTERS)).text).toHaveLength(2_048);
    expect(refusalOf(padded(MAX_MESSAGE_CHARACTERS + 1))).toMatchObject({
      code: "invalid_siwe_message",
      details: { expected: "at most 2048 characters in all" },
    });
  });

  test("a URI of the right characters that is none: refused by the grammar on its line", () => {
    const wrong = ["http://[1::2::3]/", "http://a:b:c/", "http://[::1/", "a:?#["];
    for (const uri of wrong) {
      expect(refusalOf(siweText({ ...FIELDS, uri })), uri).toMatchObject({ details: { line: 5 } });
      const listed = siweText({ ...FIELDS, resources: ["urn:a:b", uri] });
      expect(refusalOf(listed), uri).toMatchObject({ details: { line: 12 } });
      expect(isFaulty(siweLinesOf(listed)), uri).toBe(false);
    }
  });
});

describe("the reader against the grammar", () => {
  /** What the grammar makes of the text; undefined where it refuses. */
  function grammar(text: string): ParsedMessage | undefined {
    try {
      return new ParsedMessage(text);
    } catch {
      return undefined;
    }
  }

  /** Stricter than the grammar on purpose: times by the calendar, nonces and chain ids that fit. */
  const STRICTER = /RFC 3339|letters or digits|2\^53/;
  const full = siweText({
    ...FIELDS,
    scheme: "https",
    statement: "Trade [on] Perpgate.",
    expirationTime: "2026-06-01T12:59:00+01:00",
    notBefore: "2026-06-01T11:59:00.123Z",
    requestId: "a%20b:c@d",
    resources: ["urn:perpgate:session?key=00", "ipfs://x/y?z#w"],
  });
  const fragment = fc.constantFrom(
    ..."\n \r:/?#[]@%-0aZ.é~=",
    "\n\n",
    "URI: ",
    "Version: 1\n",
    "Resources:",
    "\n- ",
    "://",
    "%41",
    "Request ID: ",
    "Not Before: 2026-06-01T11:59:00Z\n",
  );
  const edit = fc.record({ at: fc.nat(), cut: fc.nat({ max: 3 }), put: fragment });

  test("edited messages: whatever the grammar accepts is read, and read the same", () => {
    const bases = fc.constantFrom(full, siweText(FIELDS), siweText({ ...FIELDS, statement: "" }));
    let accepted = 0;
    fc.assert(
      fc.property(bases, fc.array(edit, { maxLength: 3 }), (base, edits) => {
        let text = base;
        for (const { at, cut, put } of edits) {
          const from = at % (text.length + 1);
          text = text.slice(0, from) + put + text.slice(from + cut);
        }
        const parsed = grammar(text);
        const lines = siweLinesOf(text);
        if (isFaulty(lines)) {
          if (parsed !== undefined) expect(lines.expected).toMatch(STRICTER);
          return;
        }
        if (parsed === undefined) return;
        accepted++;
        // Throws if a single field differs.
        expect(parseSiweMessage(text)).toEqual(readSiweMessage(text));
      }),
      { numRuns: 1_000 },
    );
    expect(accepted).toBeGreaterThan(30);
  });
});

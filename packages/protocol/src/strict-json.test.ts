import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Refusal } from "./error.js";
import { parseStrictJson } from "./strict-json.js";

function refusal(text: string): Pick<Refusal, "code" | "field"> {
  try {
    parseStrictJson(text);
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, field: error.field };
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

describe("parseStrictJson", () => {
  test("ordinary JSON: the same value as JSON.parse", () => {
    const ordinary = fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(ordinary, (text) => {
        fc.pre(!/__proto__|constructor|prototype/.test(text));
        let strict: unknown;
        try {
          strict = parseStrictJson(text);
        } catch (error) {
          // The one thing a serialised value may break: an integer no double tells apart.
          expect(error).toMatchObject({ code: "number_not_exact" });
          return;
        }
        expect(strict).toEqual(JSON.parse(text));
      }),
      { numRuns: 5_000 },
    );
  });

  test("arbitrary text: a value or a refusal, never another error", () => {
    const characters = fc.constantFrom(...'{}[]",:\\ue+-.0159truefalsn \n_');
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 40 }), (text) => {
        try {
          parseStrictJson(text);
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal);
        }
      }),
      { numRuns: 20_000 },
    );
  });

  test.each([
    ["", "malformed_json", undefined],
    ["{", "malformed_json", undefined],
    ["{'a':1}", "malformed_json", undefined],
    ["\ufeff{}", "malformed_json", undefined],
    ["[1,]", "malformed_json", undefined],
    ["NaN", "malformed_json", undefined],
    [`${"[".repeat(33)}${"]".repeat(33)}`, "malformed_json", undefined],
    ['{"a":1,"a":1}', "duplicate_key", "a"],
    ['{"a":1,"\\u0061":2}', "duplicate_key", "a"],
    ['{"x":[{"b":1 , "b" :2}]}', "duplicate_key", "x.0.b"],
    ['{"__proto__":{}}', "forbidden_key", "__proto__"],
    ['{"\\u005f_proto__":{}}', "forbidden_key", "__proto__"],
    ['{"a":{"constructor":1}}', "forbidden_key", "a.constructor"],
    ['{"nonce":9007199254740992}', "number_not_exact", "nonce"],
    ['{"nonce":9007199254740993}', "number_not_exact", "nonce"],
    ['{"nonce":-9007199254740993}', "number_not_exact", "nonce"],
    ['{"nonce":9007199254740990.9999999}', "number_not_exact", "nonce"],
    ['{"nonce":1.00000000000000000001}', "number_not_exact", "nonce"],
    ['{"nonce":1e400}', "number_not_exact", "nonce"],
    ['{"nonce":1e-400}', "number_not_exact", "nonce"],
    ["[1e99999999999999999999]", "number_not_exact", "0"],
  ])("%s: %s", (text, code, field) => {
    expect(refusal(text)).toEqual({ code, field });
  });

  test.each(["5", "5.0", "5.000e0", "50e-1", "0.5e1", "-0", "0.0", "9007199254740991", "0.1"])(
    "%s: an exact number in any spelling is accepted",
    (literal) => {
      expect(parseStrictJson(literal)).toBe(Number(literal));
    },
  );

  test("a 64 KiB body of brackets: refused without exhausting the stack", () => {
    expect(refusal("[".repeat(65_536)).code).toBe("malformed_json");
    expect(refusal("[".repeat(32_768) + "]".repeat(32_768)).code).toBe("malformed_json");
  });
});

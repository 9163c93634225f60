import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { ApiError } from "../errors/error.js";
import { visitedCharacters } from "../testing/visited-characters.js";
import { LOCAL_BOUNDS, REQUEST_BOUNDS } from "./json-bounds.js";
import { parseStrictJson } from "./strict-json.js";

function refusal(text: string): Pick<ApiError, "code" | "field"> {
  try {
    parseStrictJson(text);
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, field: error.field };
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
          strict = parseStrictJson(text, LOCAL_BOUNDS);
        } catch (error) {
          // The only rule that a serialised value may break: an integer beyond 2^53.
          expect(error).toMatchObject({ code: "number_not_exact" });
          return;
        }
        expect(strict).toEqual(JSON.parse(text));
      }),
      { numRuns: 5_000 },
    );
  });

  test("arbitrary text: a value or an ApiError", () => {
    const characters = fc.constantFrom(...'{}[]",:\\ue+-.0159truefalsn \n_');
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 40 }), (text) => {
        try {
          parseStrictJson(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
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
    [`${"[".repeat(5)}${"]".repeat(5)}`, "malformed_json", undefined],
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

  test("a 64 KiB body of brackets: rejected without exhausting the stack", () => {
    expect(refusal("[".repeat(65_536)).code).toBe("malformed_json");
    expect(refusal("[".repeat(32_768) + "]".repeat(32_768)).code).toBe("malformed_json");
  });
});

describe("parseStrictJson: cost", () => {
  const outcome = (text: string) => {
    try {
      parseStrictJson(text, LOCAL_BOUNDS);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  };
  const shapes: readonly (readonly [string, (n: number) => string])[] = [
    ["a fraction of zeros that ends in 1", (n) => `[1.${"0".repeat(n)}1]`],
    ["a long integer", (n) => `[${"9".repeat(n)}]`],
    ["a long exponent", (n) => `[1e${"9".repeat(n)}]`],
    ["many exponents", (n) => `[${"1e1,".repeat(n / 4)}1]`],
    ["brackets that close", (n) => "[".repeat(n / 2) + "]".repeat(n / 2)],
    ["brackets that do not", (n) => "[".repeat(n)],
    ["many keys", (n) => `{${Array.from({ length: n / 10 }, (_, i) => `"k${i}":1`).join()}}`],
    ["one long key twice", (n) => `{"${"k".repeat(n / 2)}":1,"${"k".repeat(n / 2)}":1}`],
    ["an escaped key", (n) => `{"${"\\u0061".repeat(n / 6)}":1}`],
    ["a string of backslashes", (n) => `["${"\\\\".repeat(n / 2)}"]`],
    ["a string that does not end", (n) => `["${"\\".repeat(n)}`],
    ["white space", (n) => `[${" ".repeat(n)}1]`],
    ["a wide string", (n) => `["${"\u20ac".repeat(n)}"]`],
  ];

  test.each(shapes)("%s: a bounded number of visits per character", (_, shape) => {
    for (const size of [1_000, 8_000, 64_000]) {
      const text = shape(size);
      const { byCode, byRegularExpression } = visitedCharacters(() => outcome(text));
      // Bounds, scan, the end of each token once more, and numbers that need a closer look.
      expect(byCode).toBeLessThanOrEqual(4 * text.length + 8);
      // The message of the native parser, which is short, is cleaned by one.
      expect(byRegularExpression).toBeLessThan(1_000);
    }
  });

  test("a number of 64 characters: read; of 65: number_not_exact by name", () => {
    const zeros = (count: number) => `{"price":5.${"0".repeat(count)}}`;
    expect(parseStrictJson(zeros(62))).toEqual({ price: 5 });
    expect(refusal(zeros(63))).toEqual({ code: "number_not_exact", field: "price" });
    expect(parseStrictJson(zeros(63), LOCAL_BOUNDS)).toEqual({ price: 5 });
  });

  test("512 keys and values: read; one more: malformed_json before any is parsed", () => {
    const list = (values: number) => `[${"1,".repeat(values - 1)}1]`;
    // The array itself is one of them.
    expect(parseStrictJson(list(511))).toHaveLength(511);
    const parse = vi.spyOn(JSON, "parse");
    try {
      expect(refusal(list(512)).code).toBe("malformed_json");
      expect(refusal("[".repeat(5)).code).toBe("malformed_json");
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });

  const keys = new Set(["symbol", "nonce"]);
  const stops: readonly (readonly [string, string, string, string | undefined])[] = [
    ["nesting", `[${"[".repeat(60_000)}`, "malformed_json", undefined],
    ["nesting that closes", `[${"[[[[[]]]]],".repeat(5_000)}1]`, "malformed_json", undefined],
    ["an exponent", `{"nonce":1e${"0".repeat(60_000)}1}`, "number_not_exact", "nonce"],
    ["a word", `[${"nul".repeat(20_000)}]`, "number_not_exact", undefined],
    ["an unknown key", `{"symbl":1,${'"a":1,'.repeat(10_000)}"b":1}`, "invalid_request", "symbl"],
    [
      "a key of 129 characters",
      `{"${"k".repeat(129)}":${"1,".repeat(30_000)}`,
      "invalid_request",
      `${"k".repeat(64)}…`,
    ],
  ];

  test.each(stops)("%s: stops there, and looks at nothing behind it", (_, text, code, field) => {
    let found = {};
    const { byCode } = visitedCharacters(() => {
      try {
        parseStrictJson(text, { ...REQUEST_BOUNDS, keys });
      } catch (error) {
        if (error instanceof ApiError) found = { code: error.code, field: error.field };
      }
    });
    expect(found).toEqual({ code, field });
    expect(byCode).toBeLessThan(150);
  });

  test("a known key, however it is spelled, and a key below the outermost object: read", () => {
    const bounds = { ...REQUEST_BOUNDS, keys };
    for (const text of ['{"symbol":1}', '{"s\\u0079mbol":1}', '{"nonce":{"other":1}}']) {
      expect(parseStrictJson(text, bounds)).toEqual(JSON.parse(text));
    }
    expect(() => parseStrictJson('{"__proto__":1}', bounds)).toThrow(
      expect.objectContaining({ code: "forbidden_key" }),
    );
  });

  test("brackets, commas and colons inside strings: not counted", () => {
    const text = JSON.stringify({ text: '[{,:\\"'.repeat(5_000) });
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  test("an error about a long key: cuts key and path", () => {
    const key = "k".repeat(2_000);
    const open = `{"${key}":`;
    for (const text of [
      `{"${key}":1,"${key}":1}`,
      `${open.repeat(30)}1e400${"}".repeat(30)}`,
      `${open.repeat(30)}{"constructor":1}${"}".repeat(30)}`,
    ]) {
      expect(() => parseStrictJson(text)).toThrow(
        expect.toSatisfy((error) => JSON.stringify(error.toBody("id")).length < 600),
      );
    }
  });
});

import { expect, test } from "vitest";
import { bindsSessionKey } from "./siwe-text.js";

const HEAD = ["localhost wants you to sign in with your Ethereum account:", "0x00", ""];

function message(statement: string | undefined, resources: readonly string[]): string {
  const titled =
    resources.length === 0 ? [] : ["Resources:", ...resources.map((uri) => `- ${uri}`)];
  const stated = statement === undefined ? [""] : [statement, ""];
  return [...HEAD, ...stated, "URI: http://localhost", "Nonce: nonce1234", ...titled].join("\n");
}

test("bindsSessionKey: by a resource, not by a statement that reads like one", () => {
  const resource = `urn:perpgate:session?key=${"ab".repeat(32)}`;
  expect(bindsSessionKey(message(undefined, [resource]))).toBe(true);
  expect(bindsSessionKey(message(undefined, []))).toBe(false);
  for (const statement of [`- ${resource}`, "Resources:"]) {
    expect(bindsSessionKey(message(statement, []))).toBe(false);
    expect(bindsSessionKey(message(statement, [resource]))).toBe(true);
  }
});

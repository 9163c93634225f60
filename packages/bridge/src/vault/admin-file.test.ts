import { expect, test } from "vitest";
import {
  type AdminFile,
  adminDigest,
  adminFields,
  adminFileText,
  readAdminFile,
} from "./admin-file.js";
import { vaultDigest } from "./typed-data.js";

const A = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const B = "0xaf88d065e77c8cC2239327C5EDb3A432268e5831";
const domain = { venueId: `0x${"ab".repeat(32)}`, chainId: 1, vault: A } as const;
const bounds = { sequence: 3n, expiry: 1_800_000_000n };
const signatures = [`0x${"11".repeat(65)}`] as const;

const FILES: readonly AdminFile[] = [
  { domain, action: "Unlock", data: bounds, signatures: [] },
  {
    domain,
    action: "SetAttestors",
    data: { attestors: [A, B], quorum: 2n, ...bounds },
    signatures,
  },
  { domain, action: "SetGuardians", data: { guardians: [A], ...bounds }, signatures },
  {
    domain,
    action: "SetCaps",
    data: { token: B, hourFloor: 2n ** 127n, dayFloor: 0n, ...bounds },
    signatures,
  },
  { domain, action: "Invalidate", data: { ids: [1n, 2n ** 63n], ...bounds }, signatures },
];

test.each(FILES.map((file) => [file.action, file] as const))(
  "%s: reads what was written, with the digest of its data",
  (_, file) => {
    expect(readAdminFile(adminFileText(file))).toEqual(file);
    expect(adminDigest(file)).toBe(vaultDigest(domain, file.action, file.data));
  },
);

test("fields: every field of the type, in its order", () => {
  expect(adminFields(FILES[1]!)).toEqual([
    ["attestors", `${A} ${B}`],
    ["quorum", "2"],
    ["sequence", "3"],
    ["expiry", "1800000000"],
  ]);
});

test.each<[string, (text: string) => string]>([
  ["no JSON", () => "{"],
  ["another format", (text) => text.replace("v1", "v2")],
  ["an unknown action", (text) => text.replace("SetCaps", "SetOwner")],
  ["fields of another action", (text) => text.replace("SetCaps", "Unlock")],
  ["a further field", (text) => text.replace('"dayFloor"', '"extra": "1", "dayFloor"')],
  ["a number that does not fit", (text) => text.replace(String(2n ** 127n), String(2n ** 128n))],
  ["a number that is no text", (text) => text.replace('"sequence": "3"', '"sequence": 3')],
  ["a wrong checksum", (text) => text.replace("0xaf88d065e77c8cC", "0xaf88d065e77c8CC")],
  ["a short signature", (text) => text.replace("1111", "11")],
])("a file with %s: refused", (_, change) => {
  const text = adminFileText(FILES[3]!);
  expect(change(text)).not.toBe(text);
  expect(() => readAdminFile(change(text))).toThrow();
});

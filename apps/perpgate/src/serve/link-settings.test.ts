import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { issueCertificate, newAuthority } from "@perpgate/link";
import { expect, test } from "vitest";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { coresOf, linkIdentityUntil, linkListenerOf, placeText } from "./link-settings.js";
import { checkSettings } from "./settings.js";

const UNTIL = new Date("2030-01-02T03:04:05Z");

/** Files of an authority that ends later, and of a core and an edge. */
function certificates() {
  const folder = temporaryFolder();
  const path = (name: string) => join(folder, name);
  const authority = newAuthority("tests", new Date("2040-01-01T00:00:00Z"));
  writeFileSync(path("ca"), authority.cert);
  for (const [name, role] of [
    ["core", "server"],
    ["edge", "client"],
  ] as const) {
    const { cert, key } = issueCertificate(authority, { name, role, until: UNTIL });
    writeFileSync(path(`${name}.pem`), cert);
    writeFileSync(path(`${name}.key`), key);
  }
  return { ca: path("ca"), cert: path("core.pem"), key: path("core.key"), path };
}

test("no link.listen: nobody links, whatever else there is", () => {
  expect(linkListenerOf({ link: {} })).toBeUndefined();
  expect(linkListenerOf({ link: { tls: { ca: "missing" } } })).toBeUndefined();
});

test("link.listen with its files: where, as whom, and until when", () => {
  const { ca, cert, key } = certificates();
  const link = { listen: "[::1]:7700", tls: { ca, cert, key } };
  const listener = linkListenerOf({ link });
  expect(listener?.place).toEqual({ host: "::1", port: 7_700 });
  expect(placeText(listener!.place)).toBe("[::1]:7700");
  expect(linkIdentityUntil(listener!.identity)).toEqual(UNTIL);
});

test("files that are missing, unreadable, of another key, or no certificates: refused by name", () => {
  const { ca, cert, key, path } = certificates();
  const listening = (tls: object) => () => linkListenerOf({ link: { listen: "h:1", tls } });
  expect(listening({})).toThrow('"link.tls.ca" is missing');
  expect(listening({ ca, cert })).toThrow('"link.tls.key" is missing');
  expect(listening({ ca, cert, key: path("none") })).toThrow(`cannot read ${path("none")}`);
  expect(listening({ ca, cert, key: path("edge.key") })).toThrow('"link.tls" cannot be used');
  expect(listening({ ca, cert: key, key })).toThrow('"link.tls" cannot be used');
});

test("places: a name, an address, a port that exists", () => {
  expect(coresOf({ link: {} })).toEqual([]);
  expect(coresOf({ link: { cores: ["a.example:1", "10.0.0.1:65535"] } })).toEqual([
    { host: "a.example", port: 1 },
    { host: "10.0.0.1", port: 65_535 },
  ]);
  expect(() => coresOf({ link: { cores: ["a:65536"] } })).toThrow("65536 is no port");
  for (const place of ["7700", "a", "a:", ":1", "a:b", "a b:1", "::1:7700", "http://a:1"]) {
    expect(() => checkSettings({ link: { listen: place } }, "file"), place).toThrow(
      '"link.listen" must be HOST:PORT',
    );
  }
});

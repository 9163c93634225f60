import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../limits/limit-settings.js";
import { AddressLimits } from "../limits/limits.js";
import { runGateway } from "../testing/running-gateway.js";

const folder = mkdtempSync(join(tmpdir(), "perpgate-public-data-"));
const day = join(folder, "2027-01-15");
const PACKED = gzipSync("time_at,price\r\n");
mkdirSync(day);
writeFileSync(join(folder, "index.json"), '{"days":[]}');
writeFileSync(join(day, "index.json"), '{"files":[]}');
writeFileSync(join(day, "BTCUSD-trades.csv.gz"), PACKED);
writeFileSync(join(day, "notes.txt"), "of no public kind");
mkdirSync(join(folder, ".2027-01-16.part"));
writeFileSync(join(folder, ".2027-01-16.part", "index.json"), "unfinished");
writeFileSync(join(folder, "secret.json"), "secret");
symlinkSync(join(folder, "secret.json"), join(day, "link.json"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("GET /data/index.json: asked for again after a minute, by its hash", async () => {
  const { url } = await runGateway({ publicData: folder });
  const response = await fetch(`${url}/data/index.json`);
  expect([response.status, await response.json()]).toEqual([200, { days: [] }]);
  expect(response.headers.get("cache-control")).toBe("public, max-age=60");
  const etag = response.headers.get("etag") ?? "";
  const again = await fetch(`${url}/data/index.json`, { headers: { "if-none-match": etag } });
  expect(again.status).toBe(304);
});

test("a file of a day: its bytes, and kept for ever", async () => {
  const { url } = await runGateway({ publicData: folder });
  const file = `${url}/data/2027-01-15/BTCUSD-trades.csv.gz`;
  const response = await fetch(file);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/gzip");
  // The client gets the file, not what is packed in it.
  expect(response.headers.get("content-encoding")).toBeNull();
  expect(response.headers.get("cache-control")).toContain("immutable");
  expect(Buffer.from(await response.arrayBuffer())).toEqual(PACKED);
  const etag = response.headers.get("etag") ?? "";
  expect((await fetch(file, { headers: { "if-none-match": etag } })).status).toBe(304);
  const index = await fetch(`${url}/data/2027-01-15/index.json`);
  expect(await index.json()).toEqual({ files: [] });
});

test.each([
  "2027-01-15/notes.txt",
  "2027-01-15/link.json",
  "2027-01-16/index.json",
  ".2027-01-16.part/index.json",
  "secret.json",
  "2027-01-15/..%2f..%2fsecret.json",
  "2027-01-15",
  "",
])("GET /data/%s: 404 in the shape of an error", async (path) => {
  const { url } = await runGateway({ publicData: folder });
  const response = await fetch(`${url}/data/${path}`);
  expect([response.status, await response.json()]).toMatchObject([404, { code: "not_found" }]);
});

test("downloads count as reads of the address; without a folder nothing is there", async () => {
  const addressLimits = new AddressLimits({
    ...DEFAULT_LIMITS,
    readsPerSecond: 0.001,
    readsBurst: 1,
  });
  const { url } = await runGateway({ publicData: folder, addressLimits });
  expect((await fetch(`${url}/data/index.json`)).status).toBe(200);
  expect((await fetch(`${url}/data/index.json`)).status).toBe(429);
  const { url: without } = await runGateway({});
  expect((await fetch(`${without}/data/index.json`)).status).toBe(404);
});

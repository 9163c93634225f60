import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../limits/limit-settings.js";
import { AddressLimits } from "../limits/limits.js";
import { runGateway } from "../testing/running-gateway.js";

const folder = mkdtempSync(join(tmpdir(), "perpgate-package-files-"));
writeFileSync(join(folder, "sdk.tgz"), "package bytes");
writeFileSync(join(folder, ".sdk-123"), "unfinished");
writeFileSync(join(folder, "large.tgz"), Buffer.alloc(4 * 2 ** 20 + 1));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("GET /sdk.tgz: the bytes at start, revalidated by their hash", async () => {
  const { url } = await runGateway({ packageFiles: folder });
  const response = await fetch(`${url}/sdk.tgz`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/gzip");
  expect(response.headers.get("content-encoding")).toBeNull();
  expect(response.headers.get("cache-control")).toBe("no-cache");
  expect(await response.text()).toBe("package bytes");
  const etag = response.headers.get("etag") ?? "";
  const again = await fetch(`${url}/sdk.tgz`, { headers: { "if-none-match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test("other files of the folder: not served", async () => {
  const { url } = await runGateway({ packageFiles: folder });
  for (const path of [".sdk-123", "large.tgz", "..%2fsdk.tgz", "other.tgz"]) {
    expect((await fetch(`${url}/${path}`)).status, path).toBe(404);
  }
});

test("downloads count as reads of the address", async () => {
  const addressLimits = new AddressLimits({
    ...DEFAULT_LIMITS,
    readsPerSecond: 0.001,
    readsBurst: 2,
  });
  const { url } = await runGateway({ packageFiles: folder, addressLimits });
  const statuses = [];
  for (let at = 0; at < 3; at++) statuses.push((await fetch(`${url}/sdk.tgz`)).status);
  expect(statuses).toEqual([200, 200, 429]);
});

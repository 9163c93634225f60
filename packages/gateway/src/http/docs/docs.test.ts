import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SOCKET_OPERATIONS, STREAM_CHANNELS } from "@perpgate/protocol/operations";
import { afterAll, describe, expect, test } from "vitest";
import { type Answer, ask, runGateway } from "../../testing/running-gateway.js";

const GUIDES = fileURLToPath(new URL("../../../../../docs/", import.meta.url));

const at = await runGateway({ guides: GUIDES }, afterAll);

async function page(path: string): Promise<Answer> {
  const answer = await ask(at.url + path);
  expect([path, answer.status]).toEqual([path, 200]);
  expect(answer.headers.get("content-type")).toContain("text/html");
  return answer;
}

function linksOf({ text }: Answer): string[] {
  return [...text.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href);
}

describe("/docs", () => {
  test("the REST reference links to guides and streams", async () => {
    const links = linksOf(await page("/docs"));
    for (const path of ["/docs/guides", "/docs/streams", "/v1/asyncapi.json"]) {
      expect(links).toContain(path);
      expect((await ask(at.url + path)).status).toBe(200);
    }
  });

  test("every guide is listed and rendered; links lead to pages and headings that are there", async () => {
    const list = linksOf(await page("/docs/guides"));
    const files = readdirSync(GUIDES, { recursive: true, encoding: "utf8" });
    const names = files.filter((file) => /^(adr\/)?[^/]+\.md$/.test(file));
    const urls = names.map((name) => `/docs/guides/${name.slice(0, -3)}`);
    expect(list.filter((href) => href.startsWith("/docs/guides/")).sort()).toEqual(urls.sort());
    const pages = new Map<string, Answer>();
    for (const url of urls) pages.set(url, await page(url));
    for (const [url, answer] of pages) {
      const policy = answer.headers.get("content-security-policy");
      expect(policy).toMatch(/^default-src 'none'; style-src 'self'/);
      expect(answer.text).not.toMatch(/<script|<img[^>]+src="http/);
      for (const href of linksOf(answer)) {
        if (!href.startsWith("/docs/guides/") && !href.startsWith("#")) continue;
        const [path = "", fragment] = href.split("#");
        const target = pages.get(path === "" ? url : path);
        expect([url, href, target === undefined]).toEqual([url, href, false]);
        if (fragment === undefined) continue;
        expect([url, href, target?.text.includes(`id="${fragment}"`)]).toEqual([url, href, true]);
      }
    }
    expect(pages.get("/docs/guides/streams")?.text).toContain('<h2 id="frames">Frames</h2>');
  });

  test("the streams: every operation, stream and shape, and links that lead there", async () => {
    const answer = await page("/docs/streams");
    for (const { op } of SOCKET_OPERATIONS) expect(answer.text).toContain(`id="${op}"`);
    for (const { stream } of STREAM_CHANNELS)
      expect(answer.text).toContain(`id="stream-${stream}"`);
    const shapes = linksOf(answer).filter((href) => href.startsWith("#"));
    expect(shapes.length).toBeGreaterThan(30);
    for (const href of shapes) expect(answer.text).toContain(`id="${href.slice(1)}"`);
    expect((await ask(`${at.url}/docs/style.css`)).headers.get("content-type")).toContain("css");
  });

  test("a path that is no guide: 404", async () => {
    for (const path of ["nope", "..%2fREADME", "lab/soak"]) {
      expect((await ask(`${at.url}/docs/guides/${path}`)).status).toBe(404);
    }
  });
});

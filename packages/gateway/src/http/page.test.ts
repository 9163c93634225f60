import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gunzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { ask, readUntilClose, runGateway } from "../testing/running-gateway.js";

const SCRIPT = "export const answer = 42;\n".repeat(100);
const INDEX = "<!doctype html><head><title>page</title></head>";
const parent = mkdtempSync(join(tmpdir(), "perpgate-page-"));
const folder = join(parent, "page");
mkdirSync(join(folder, "assets"), { recursive: true });
writeFileSync(join(parent, "secret.txt"), "secret");
writeFileSync(join(folder, "index.html"), INDEX);
writeFileSync(join(folder, "assets", "index-Ab3_x9Zk.js"), SCRIPT);
writeFileSync(join(folder, "assets", "packed-Ab3_x9Zk.js"), SCRIPT);
writeFileSync(join(folder, "assets", "packed-Ab3_x9Zk.js.br"), brotliCompressSync(SCRIPT));
writeFileSync(join(folder, "assets", "stale-Ab3_x9Zk.js"), SCRIPT);
writeFileSync(join(folder, "assets", "stale-Ab3_x9Zk.js.br"), brotliCompressSync("another build"));
const OWN_POLICY = "default-src 'none'; script-src 'sha256-abc='";
const OWN = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${OWN_POLICY}">`;
writeFileSync(join(folder, "own.html"), OWN);
writeFileSync(join(folder, "own.txt"), OWN);
writeFileSync(join(folder, ".stamp"), "hidden");
writeFileSync(join(folder, "tool.exe"), "of no type that a page has");
symlinkSync(join(parent, "secret.txt"), join(folder, "link.txt"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const { url, dial } = await runGateway({ page: folder }, afterAll);

describe("the page", () => {
  test("index: served at /, revalidated, under a strict policy", async () => {
    const { status, headers, text } = await ask(`${url}/?from=bookmark`);
    expect({ status, text }).toEqual({ status: 200, text: INDEX });
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-cache");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  test("a page with a policy of its own: served under it, and in no frame", async () => {
    const policyOf = async (path: string) =>
      (await ask(`${url}/${path}`)).headers.get("content-security-policy");
    expect(await policyOf("own.html")).toBe(`${OWN_POLICY}; frame-ancestors 'none'`);
    expect(await policyOf("own.txt")).toBe(await policyOf(""));
  });

  test("a hashed file: cached forever, compressed if accepted", async () => {
    const path = `${url}/assets/index-Ab3_x9Zk.js`;
    const packed = await ask(path, { headers: { "accept-encoding": "br, gzip" } });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(packed.headers.get("vary")).toBe("accept-encoding");
    expect(packed.headers.get("cache-control")).toContain("immutable");
    expect(packed.text).toBe(SCRIPT);
    for (const refused of ["identity", "gzip;q=0", "br"]) {
      const plain = await ask(path, { headers: { "accept-encoding": refused } });
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(plain.text).toBe(SCRIPT);
      expect(plain.headers.get("etag")).not.toBe(packed.headers.get("etag"));
    }
  });

  test("Brotli: served if the build made it and the client prefers it or has no preference", async () => {
    const encodingFor = async (path: string, accepted: string) => {
      const answer = await ask(`${url}/assets/${path}`, {
        headers: { "accept-encoding": accepted },
      });
      expect(answer.text).toBe(SCRIPT);
      expect(answer.headers.get("vary")).toBe("accept-encoding");
      return answer.headers.get("content-encoding");
    };
    for (const [accepted, expected] of [
      ["gzip, deflate, br, zstd", "br"],
      ["br;q=1.0, gzip;q=0.5", "br"],
      ["br;q=0.4, gzip;q=0.5", "gzip"],
      ["*", "br"],
      ["gzip, *;q=0", "gzip"],
      ["BR", "br"],
      ["br;q=0", null],
      ["br;q=x", null],
      ["identity, br;q=0.5", null],
      ["", null],
    ] as const) {
      expect(await encodingFor("packed-Ab3_x9Zk.js", accepted), accepted).toBe(expected);
    }
    expect(await encodingFor("stale-Ab3_x9Zk.js", "br, gzip")).toBe("gzip");
    expect((await ask(`${url}/assets/packed-Ab3_x9Zk.js.br`)).status).toBe(404);
  });

  test("gateways: the page is given their addresses, and its policy allows them alone", async () => {
    const pageGateways = ["https://a.example", "https://b.example:8443"];
    const other = await runGateway({ page: folder, pageGateways });
    const { headers, text } = await ask(`${other.url}/`);
    const meta =
      '<meta name="perpgate-gateways" content="https://a.example https://b.example:8443" />';
    expect(text).toBe(INDEX.replace("</head>", `${meta}</head>`));
    expect(headers.get("content-security-policy")).toContain(
      "connect-src 'self' https://a.example wss://a.example https://b.example:8443 wss://b.example:8443;",
    );
  });

  test("a sandbox: the page says so, and its policy allows the control API alone", async () => {
    const pageSandbox = { control: "http://127.0.0.1:8091" };
    const other = await runGateway({ page: folder, pageSandbox });
    const { headers, text } = await ask(`${other.url}/`);
    const meta = '<meta name="perpgate-sandbox" content="http://127.0.0.1:8091" />';
    expect(text).toBe(INDEX.replace("</head>", `${meta}</head>`));
    expect(headers.get("content-security-policy")).toContain(
      "connect-src 'self' http://127.0.0.1:8091;",
    );
  });

  test("compressed bytes: those of the file", async () => {
    const socket = await dial();
    socket.setEncoding("latin1");
    socket.write(
      "GET /assets/index-Ab3_x9Zk.js HTTP/1.1\r\nhost: x\r\naccept-encoding: gzip\r\n" +
        "connection: close\r\n\r\n",
    );
    const answer = Buffer.from(await readUntilClose(socket), "latin1");
    const body = answer.subarray(answer.indexOf("\r\n\r\n") + 4);
    expect(gunzipSync(body).toString()).toBe(SCRIPT);
  });

  test("a known ETag: 304 without a body; another one: the file", async () => {
    const etag = (await ask(`${url}/`)).headers.get("etag") ?? "";
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const answer = await ask(`${url}/`, { headers: { "if-none-match": known } });
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 304, text: "" });
    }
    expect((await ask(`${url}/`, { headers: { "if-none-match": '"x"' } })).status).toBe(200);
  });

  test("HEAD: the headers alone; POST: 405 in the shape of an error", async () => {
    const head = await ask(`${url}/`, { method: "HEAD" });
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: "" });
    const post = await ask(`${url}/`, { method: "POST" });
    expect(post.body).toMatchObject({ code: "method_not_allowed" });
    expect(post.headers.get("allow")).toBe("GET, HEAD");
  });

  test.each([
    "/../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/assets/../../secret.txt",
    "/assets/..%5c..%5csecret.txt",
    "//secret.txt",
    "/link.txt",
    "/.stamp",
    "/tool.exe",
    "/assets",
    "/assets/",
    "/index.html/",
    "/%00",
  ])("GET %s: 404 in the shape of an error", async (path) => {
    const socket = await dial();
    // Written by hand: fetch would tidy the path first.
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    const text = await readUntilClose(socket);
    expect(text).toMatch(/^HTTP\/1.1 404 /);
    expect(text).not.toContain("secret\r\n");
    expect(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "not_found" });
  });

  test("the interface and its documentation: as without a page", async () => {
    expect((await ask(`${url}/v1/markets`)).status).toBe(200);
    expect((await ask(`${url}/healthz`)).status).toBe(200);
    expect((await ask(`${url}/docs/`)).status).toBe(200);
    const unknown = await ask(`${url}/v1/nope`);
    expect(unknown).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(unknown.headers.get("content-security-policy")).toBeNull();
  });
});

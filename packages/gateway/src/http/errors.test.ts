import { afterAll, describe, expect, test, vi } from "vitest";
import { ask, BEARER, jsonPost, readUntilClose, runGateway } from "../testing/running-gateway.js";
import { sampleVenue } from "../testing/sample-venue.js";

const SHAPE = {
  code: expect.any(String),
  message: expect.any(String),
  requestId: expect.any(String),
};

const { url, dial } = await runGateway({}, afterAll);

describe("errors have one shape", () => {
  test.each<[string, number, string, string, RequestInit]>([
    ["unknown path", 404, "not_found", "/v1/nope", {}],
    ["unknown path with a body", 404, "not_found", "/nope", { method: "POST", body: "x" }],
    ["a symbol without end", 404, "not_found", `/v1/markets/${"A".repeat(150)}/book`, {}],
    ["root", 404, "not_found", "/", {}],
    ["a static file that is not there", 404, "not_found", "/docs/static/nope.js", {}],
    ["a trailing slash", 404, "not_found", "/v1/markets/", {}],
    ["a doubled slash", 404, "not_found", "//v1//markets", {}],
    ["malformed URI", 400, "malformed_uri", "/v1/markets/%E0%A4/book", {}],
    [
      "wrong content type",
      415,
      "unsupported_media_type",
      "/v1/orders",
      {
        ...jsonPost("{}", { "content-type": "text/plain" }),
      },
    ],
    [
      "form content type",
      415,
      "unsupported_media_type",
      "/v1/orders",
      {
        ...jsonPost("a=1", { "content-type": "application/x-www-form-urlencoded" }),
      },
    ],
    [
      "a type that only begins like JSON",
      415,
      "unsupported_media_type",
      "/v1/orders",
      {
        ...jsonPost("{}", { "content-type": "application/jsonx" }),
      },
    ],
    ["oversized body", 413, "body_too_large", "/v1/orders", jsonPost(" ".repeat(65_537))],
    ["malformed JSON", 400, "malformed_json", "/v1/orders", jsonPost("{")],
    ["__proto__", 400, "forbidden_key", "/v1/auth/siwe", jsonPost('{"__proto__":{}}')],
  ])("%s: %d %s", async (_, status, code, path, init) => {
    const answer = await ask(url + path, init);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toContain("application/json");
    expect(answer.body).toMatchObject({ ...SHAPE, code });
    expect(answer.body.requestId).toBe(answer.headers.get("x-request-id") ?? answer.body.requestId);
  });

  test.each([
    ["DELETE", "/v1/orders", "GET, HEAD, POST"],
    ["GET", "/v1/orders/1/cancel", "POST"],
    ["PUT", "/v1/markets/BTCUSD/book", "GET, HEAD"],
    ["OPTIONS", "/v1/auth/session", "DELETE"],
    ["POST", "/healthz", "GET, HEAD"],
    ["POST", "/metrics", "GET, HEAD"],
  ])("%s %s: 405 with Allow: %s", async (method, path, allow) => {
    const { status, headers, body } = await ask(url + path, { method });
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe(allow);
    expect(body).toMatchObject({ ...SHAPE, code: "method_not_allowed" });
  });

  test("a body of exactly the limit: read", async () => {
    const { body } = await ask(`${url}/v1/bridge/votes`, jsonPost(" ".repeat(65_536)));
    expect(body.code).toBe("malformed_json");
    // Signed bodies are stored in the log and have a lower limit.
    const order = await ask(`${url}/v1/orders`, jsonPost(" ".repeat(4_096)));
    expect(order.body.code).toBe("malformed_json");
  });

  test.each([
    ["no Host header", "GET /v1/markets HTTP/1.1\r\nconnection: close\r\n\r\n", "400"],
    [
      "an unknown expectation",
      "GET /nope HTTP/1.1\r\nhost: x\r\nexpect: magic\r\nconnection: close\r\n\r\n",
      "404",
    ],
    ["TRACE", "TRACE /v1/markets HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", "405"],
  ])("%s: the usual error body, not Node's empty one", async (_, bytes, status) => {
    const socket = await dial();
    socket.write(bytes);
    const text = await readUntilClose(socket);
    expect(text).toContain(`HTTP/1.1 ${status} `);
    expect(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).toMatchObject(SHAPE);
  });

  test("a chunked body above the limit: 413 though no length was announced", async () => {
    const socket = await dial();
    const chunk = `8000\r\n${" ".repeat(0x8000)}\r\n`;
    socket.write(
      "POST /v1/orders HTTP/1.1\r\nhost: x\r\nauthorization: Bearer t\r\n" +
        `content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(3)}`,
    );
    expect(await readUntilClose(socket)).toMatch(/^HTTP\/1.1 413 [\s\S]*"code":"body_too_large"/);
  });

  test.each([
    ["bytes that are not HTTP", "\x16\x03\x01 hello\r\n\r\n", "400", "malformed_request"],
    [
      "a header without end",
      `GET / HTTP/1.1\r\nx: ${"a".repeat(20_000)}`,
      "431",
      "headers_too_large",
    ],
    [
      "two lengths",
      "POST /v1/orders HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
      "400",
      "malformed_request",
    ],
    [
      "both length and chunks",
      "POST /v1/orders HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      "400",
      "malformed_request",
    ],
    [
      "a method nobody knows",
      "BREW /v1/markets HTTP/1.1\r\nhost: x\r\n\r\n",
      "400",
      "malformed_request",
    ],
  ])("%s: answered in the same shape, then closed", async (_, bytes, status, code) => {
    const socket = await dial();
    socket.write(bytes);
    const text = await readUntilClose(socket);
    expect(text).toContain(`HTTP/1.1 ${status} `);
    expect(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).toMatchObject({ ...SHAPE, code });
  });

  test("an unexpected failure of the core: 500 without details, which are in its log", async () => {
    const getPositions = () => Promise.reject(new Error("disk on fire"));
    const { edge, faults } = await sampleVenue({ getPositions });
    const gateway = await runGateway({ edge });
    const { status, text, body } = await ask(`${gateway.url}/v1/positions`, { headers: BEARER });
    expect(status).toBe(500);
    expect(body).toMatchObject({ ...SHAPE, code: "internal_error" });
    expect(text).not.toContain("fire");
    expect(String(faults)).toContain("disk on fire");
  });

  test("an unexpected failure of the edge: 500 without details, which are in the log", async () => {
    const { edge } = await sampleVenue();
    vi.spyOn(edge.link, "request").mockRejectedValue(new Error("disk on fire"));
    const gateway = await runGateway({ edge });
    const { status, text } = await ask(`${gateway.url}/v1/orders/cancel-all`, jsonPost("{}"));
    expect(status).toBe(500);
    expect(text).not.toContain("fire");
    expect(gateway.logLines.join("")).toContain("disk on fire");
  });

  test("an answer that does not fit its schema: 500, and the process goes on", async () => {
    const { edge } = await sampleVenue({
      getTime: () => ({ result: { time: Number.NaN } }),
    });
    const gateway = await runGateway({ edge });
    expect(await ask(`${gateway.url}/v1/time`)).toMatchObject({
      status: 500,
      body: { ...SHAPE, code: "internal_error" },
    });
  });

  test("no request pollutes a prototype", async () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    await ask(`${url}/v1/orders`, jsonPost(text));
    await ask(`${url}/v1/fills?__proto__[polluted]=1&constructor.prototype.polluted=1`);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

describe("request ids and logs", () => {
  test("a sane x-request-id: used in header, body and log", async () => {
    const { url, logLines } = await runGateway();
    const { headers, body } = await ask(`${url}/nope?token=secret`, {
      headers: { "x-request-id": "trace-1.a_B" },
    });
    expect(headers.get("x-request-id")).toBe("trace-1.a_B");
    expect(body.requestId).toBe("trace-1.a_B");
    const lines = logLines.map((line): unknown => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({ requestId: "trace-1.a_B", path: "/nope", status: 404 }),
    );
    expect(logLines.join("")).not.toContain("secret");
  });

  test.each(["a b", "x".repeat(65), "é", '"quoted"', ""])(
    "x-request-id %j: replaced",
    async (id) => {
      const bytes = Buffer.from(id, "utf8").toString("latin1");
      const { headers } = await ask(`${url}/healthz`, { headers: { "x-request-id": bytes } });
      expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test("the bearer token never reaches the log", async () => {
    const { url, logLines } = await runGateway();
    await ask(`${url}/v1/positions`, { headers: { authorization: "Bearer hush-hush" } });
    expect(logLines.length).toBeGreaterThan(0);
    expect(logLines.join("")).not.toContain("hush-hush");
  });
});

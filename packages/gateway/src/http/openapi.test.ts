import { ERROR_TABLE } from "@perpgate/protocol/core";
import { errorCodesOf, OPERATIONS } from "@perpgate/protocol/operations";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { ask, readUntilClose, runGateway } from "../testing/running-gateway.js";
import { openApiDocument } from "./openapi.js";

const GIVEN = [
  "POST /v1/auth/siwe",
  "POST /v1/auth/rotate",
  "GET /v1/markets",
  "GET /v1/markets/{symbol}/book",
  "POST /v1/orders",
  "POST /v1/orders/{id}/cancel",
  "GET /v1/positions",
  "GET /v1/fills",
  "POST /v1/bridge/deposit",
];

const ADDED = [
  "GET /v1/auth/nonce",
  "DELETE /v1/auth/session",
  "GET /v1/auth/sessions",
  "DELETE /v1/auth/sessions",
  "DELETE /v1/auth/sessions/{id}",
  "GET /v1/ledger",
  "GET /v1/funding-payments",
  "GET /v1/account",
  "GET /v1/orders",
  "GET /v1/orders/{id}",
  "POST /v1/orders/batch",
  "POST /v1/positions/{symbol}/margin",
  "POST /v1/orders/cancel",
  "POST /v1/orders/{id}/amend",
  "POST /v1/orders/cancel-all",
  "POST /v1/orders/cancel-after",
  "GET /v1/markets/{symbol}/ticker",
  "GET /v1/markets/{symbol}/trades",
  "GET /v1/markets/{symbol}/candles",
  "GET /v1/markets/{symbol}/funding",
  "GET /v1/bridge",
  "POST /v1/bridge/votes",
  "POST /v1/bridge/queue",
  "GET /v1/bridge/deposits",
  "GET /v1/bridge/deposits/{id}",
  "POST /v1/bridge/withdrawals",
  "GET /v1/bridge/withdrawals",
  "GET /v1/bridge/withdrawals/open",
  "GET /v1/bridge/withdrawals/{id}",
  "GET /v1/bridge/reserves",
  "GET /v1/account/liability",
  "GET /v1/blocks/latest",
  "GET /v1/blocks/{number}",
  "GET /v1/status",
  "GET /v1/tickers",
  "GET /v1/time",
  "GET /v1/preconfirms/{ackNonce}",
  "GET /v1/preconfirms/{ackNonce}/proof",
  "GET /v1/honesty",
  "GET /v1/openapi.json",
  "GET /v1/asyncapi.json",
  "GET /healthz",
  "GET /readyz",
];

describe("OpenAPI document", () => {
  test("served, and valid against the OpenAPI 3.1 schema", async () => {
    const { url } = await runGateway();
    const { status, body } = await ask(`${url}/v1/openapi.json`);
    expect(status).toBe(200);
    const validator = new Validator();
    const result = await validator.validate({ ...body });
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  test("names the nine given operations and the added ones, and nothing else", () => {
    const named = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    expect(named.sort()).toEqual([...GIVEN, ...ADDED].sort());
    const { paths } = openApiDocument(OPERATIONS, "1");
    expect(Object.keys(Object(paths)).sort()).toEqual(
      [...new Set(OPERATIONS.map(({ path }) => path))].sort(),
    );
  });

  test("every reference leads to a component", () => {
    const document = openApiDocument(OPERATIONS, "1");
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(new Set(names).size).toBeGreaterThan(20);
    const { schemas } = Object(document.components);
    for (const name of names) expect(schemas).toHaveProperty(name ?? "");
  });

  test("orders: the given statuses and the closed shape", () => {
    const document = openApiDocument(OPERATIONS, "1");
    expect(document).toMatchObject({
      paths: {
        "/v1/orders": {
          post: {
            operationId: "placeOrder",
            security: [{ bearer: [], serviceSig: [] }],
            responses: { "200": {}, "400": {}, "401": {}, "409": {}, "429": {}, "503": {} },
          },
        },
        "/v1/bridge/deposit": { post: { responses: { "202": {} } } },
      },
      components: { schemas: { PlaceOrderBody: { additionalProperties: false } } },
    });
  });

  test("every operation that takes a signature has the header, required or not", () => {
    const { paths } = openApiDocument(OPERATIONS, "1");
    const taking: Record<string, boolean> = {};
    for (const { id, method, path } of OPERATIONS) {
      const { parameters = [] } = Object(paths)[path][method.toLowerCase()];
      for (const { name, in: place, required } of parameters) {
        if (name === "X-Service-Sig" && place === "header") taking[id] = required;
      }
    }
    expect(taking).toEqual({
      placeOrder: true,
      placeBatch: true,
      requestWithdrawal: true,
      amendOrder: true,
      changeMargin: true,
      endOtherSessions: true,
      endSessionById: false,
      rotateSession: false,
    });
  });

  test("schemas for generators: codes are listed, enumerations typed, no default in a property", () => {
    const { schemas } = Object(openApiDocument(OPERATIONS, "1").components);
    expect(schemas.ErrorCode).toMatchObject({ type: "string", enum: Object.keys(ERROR_TABLE) });
    expect(schemas.Error.properties.code).toEqual({ $ref: "#/components/schemas/ErrorCode" });
    expect(schemas.PlaceOrderBody.required).toEqual([
      "symbol",
      "side",
      "type",
      "margin",
      "leverage",
      "nonce",
    ]);
    expect(schemas.OffByDefault).toMatchObject({ type: "boolean", default: false });
    for (const [, { properties = {} }] of Object.entries<{ properties?: object }>(schemas)) {
      for (const property of Object.values(properties)) {
        expect(property).not.toHaveProperty("default");
        if ("enum" in Object(property)) expect(property).toHaveProperty("type");
      }
    }
  });

  test("every operation: codes of the table, each once", () => {
    for (const operation of OPERATIONS) {
      const codes = errorCodesOf(operation);
      expect(new Set(codes).size).toBe(codes.length);
      for (const code of codes) expect(ERROR_TABLE).toHaveProperty(code);
    }
  });
});

describe("/docs", () => {
  test("the page and all it loads come from this process", async () => {
    const { url } = await runGateway();
    const page = await ask(`${url}/docs`);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
    expect(page.headers.get("content-security-policy")).not.toMatch(/https?:/);
    expect(page.text).not.toMatch(/https?:\/\//);
    const assets = [...page.text.matchAll(/<(?:script src|link rel="stylesheet" href)="([^"]+)"/g)];
    expect(assets.length).toBeGreaterThan(3);
    for (const [, asset] of assets) {
      expect(asset).toMatch(/^\/docs\//);
      expect((await ask(url + asset)).status).toBe(200);
    }
    const bundle = await ask(`${url}/docs/static/swagger-ui-bundle.js`);
    expect(bundle.headers.get("cache-control")).toBe("public, max-age=3600");
    const start = await ask(`${url}/docs/static/start.js`);
    expect(start.text).toContain('"url":"/v1/openapi.json"');
    expect(start.text).toContain('"validatorUrl":null');
  });

  test("a path that climbs out of the static folder: refused", async () => {
    const { dial } = await runGateway();
    const socket = await dial();
    socket.write(
      "GET /docs/static/..%2f..%2fpackage.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    );
    expect(await readUntilClose(socket)).toMatch(/^HTTP\/1.1 40[034] /);
  });
});

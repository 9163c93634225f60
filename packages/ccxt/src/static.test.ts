/**
 * Static tests in CCXT's format (`testing/static`): for a call the request that is sent, and for a response
 * what the call returns. Nothing reaches a network. `npm run docs -- ccxt` writes the files again.
 */

import { readFileSync } from "node:fs";
import { errors } from "ccxt";
import { describe, expect, test } from "vitest";
import { Perpgate } from "./perpgate.js";
import { recordStatic } from "./testing/record-static.js";

interface RequestCase {
  readonly description: string;
  readonly method: string;
  readonly url: string;
  readonly input: readonly unknown[];
  readonly output?: string;
}

interface ResponseCase {
  readonly description: string;
  readonly method: string;
  readonly input: readonly unknown[];
  readonly httpResponse: unknown;
  readonly parsedResponse: unknown;
}

interface StaticFile<Case> {
  readonly exchange: string;
  /** Fields that differ from run to run. */
  readonly skipKeys: readonly string[];
  readonly options: object;
  readonly methods: Readonly<Record<string, readonly Case[]>>;
}

function fileOf<T>(kind: string): T {
  const url = new URL(`./testing/static/${kind}/perpgate.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8"));
}

if (process.env.UPDATE_DOCS === "1") await recordStatic();
const REQUESTS = fileOf<StaticFile<RequestCase>>("request");
const RESPONSES = fileOf<StaticFile<ResponseCase>>("response");

/** As in CCXT's runner: two proxies, so that every request ends before it is sent. */
function offlineExchange({ options }: StaticFile<unknown>): Perpgate {
  return new Perpgate({
    markets: fileOf<object>("markets"),
    currencies: fileOf<object>("currencies"),
    enableRateLimit: false,
    httpProxy: "http://fake:8080",
    httpsProxy: "http://fake:8080",
    options,
  });
}

/** Null stands for undefined in the files. */
async function called(exchange: Perpgate, { method, input }: RequestCase | ResponseCase) {
  const args = input.map((argument) => argument ?? undefined);
  return Reflect.apply(Reflect.get(exchange, method), exchange, args);
}

/** Without what is undefined, as JSON has it, and without the keys to skip. */
function plain(value: unknown, skipKeys: readonly string[]): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, one: unknown) =>
      skipKeys.includes(key) || one === null ? undefined : one,
    ),
  );
}

function casesOf<Case>({ methods }: StaticFile<Case>): Case[] {
  return Object.values(methods).flat();
}

describe("requests", () => {
  const { skipKeys } = REQUESTS;
  test.each(casesOf(REQUESTS))("$method: $description", async (one) => {
    const exchange = offlineExchange(REQUESTS);
    await expect(called(exchange, one)).rejects.toThrow(errors.InvalidProxySettings);
    const [sent, stored] = [new URL(exchange.last_request_url ?? ""), new URL(one.url)];
    expect(sent.pathname).toBe(stored.pathname);
    expect(Object.fromEntries(sent.searchParams)).toEqual(Object.fromEntries(stored.searchParams));
    const { last_request_body: body } = exchange;
    expect(body === undefined).toBe(one.output === undefined);
    const bodyOf = (text: unknown) => plain(JSON.parse(String(text ?? "{}")), skipKeys);
    expect(bodyOf(body)).toEqual(bodyOf(one.output));
  });
});

describe("responses", () => {
  const { skipKeys } = RESPONSES;
  test.each(casesOf(RESPONSES))("$method: $description", async (one) => {
    const exchange = offlineExchange(RESPONSES);
    exchange.fetch = async () => structuredClone(one.httpResponse);
    const found = await called(exchange, one);
    expect(plain(found, skipKeys)).toEqual(plain(one.parsedResponse, skipKeys));
  });
});

/**
 * The package bundled for browsers, run without Node's globals and without `eval`, as under a strict
 * content security policy.
 */

import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import type { checkPreconfirm, MirroredBook, PerpgateClient } from "@perpgate/sdk";
import { build, createLogger } from "vite";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { BID, eventually, newAccount, startVenue } from "./testing/venue.js";

const ENTRY = fileURLToPath(new URL("./index.ts", import.meta.url));

/** The bundle as one script, and the bundler's warnings. */
async function bundle(): Promise<{ code: string; warnings: string[] }> {
  const warnings: string[] = [];
  const logger = createLogger("silent");
  logger.warn = (message) => warnings.push(message);
  logger.warnOnce = logger.warn;
  const built = await build({
    configFile: false,
    customLogger: logger,
    // Vite's conditions for pages, and sources instead of the build.
    resolve: { conditions: ["perpgate-source", "module", "browser", "production"] },
    build: { write: false, lib: { entry: ENTRY, name: "sdk", formats: ["iife"] } },
  });
  const [output] = Array.isArray(built) ? built : [];
  const [chunk] = output?.output ?? [];
  return { code: chunk?.type === "chunk" ? chunk.code : "", warnings };
}

/** The globals of a page. */
const PAGE = {
  AbortController,
  atob,
  btoa,
  clearInterval,
  clearTimeout,
  crypto,
  CryptoKey,
  fetch,
  Headers,
  location: new URL("https://trade.example/app"),
  performance,
  queueMicrotask,
  setInterval,
  setTimeout,
  TextDecoder,
  TextEncoder,
  URL,
  WebSocket,
};

function isClientMaker(value: unknown): value is new (options: { url: string }) => PerpgateClient {
  return typeof value === "function";
}

function isCheck(value: unknown): value is typeof checkPreconfirm {
  return typeof value === "function";
}

test("bundled for a page: no Node, no warning, no eval; signs in, trades, mirrors a book, checks", async () => {
  const { code, warnings } = await bundle();
  expect(warnings).toEqual([]);
  expect(code).not.toMatch(/node:|\brequire\(|perMessageDeflate/);
  const strict = { contextCodeGeneration: { strings: false, wasm: false } };
  expect(() => runInNewContext('Function("")', {}, strict)).toThrow(/Code generation/);
  const exported: unknown = runInNewContext(`${code}; sdk`, { ...PAGE }, strict);
  const { PerpgateClient: Client, checkPreconfirm: check }: Readonly<Record<string, unknown>> =
    Object(exported);
  if (!isClientMaker(Client)) throw new Error("the bundle does not export the client");
  if (!isCheck(check)) throw new Error("the bundle does not export the check of preconfirms");

  const at = await startVenue();
  const client = new Client({ url: at.url });
  const account = newAccount();
  const texts: string[] = [];
  const session = await client.signIn({
    account: {
      address: account.address,
      signMessage: ({ message }) => {
        texts.push(message);
        return account.signMessage({ message });
      },
    },
  });
  // The wallet shows the page's host, and the session key cannot be read.
  expect(texts[0]).toMatch(/^trade\.example wants you[\s\S]*URI: https:\/\/trade\.example\n/);
  expect(() => session.save()).toThrow(/saveable/);
  expect(session.store().sessionKey.handle).toMatchObject({ extractable: false, type: "private" });

  let book: MirroredBook | undefined;
  const watch = client.stream.watchBook("BTCUSD", (now) => {
    book = now;
  });
  await watch.ready;
  const { orderId, remainingSize } = await session.placeOrder(BID);
  await eventually(() => book?.bids()).toEqual([[60_000, remainingSize]]);
  expect(await session.stream.cancelOrder(orderId)).toMatchObject({ status: "canceled" });
  await eventually(() => book?.bids()).toEqual([]);

  await at.advance(200);
  const [proof, markets] = [await session.preconfirm(orderId), await client.markets()];
  const block = await client.block(proof.block);
  expect(check({ proof, block, markets })).toMatchObject({ isProven: true, problems: [] });
  const elsewhere = check({ proof, block: { ...block, time: 1 }, markets });
  expect(elsewhere.problems).toMatchObject([{ code: "block_hash_differs" }]);
  client.close();
});

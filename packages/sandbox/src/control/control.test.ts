import { readFileSync } from "node:fs";
import { request } from "node:http";
import { POLL } from "@perpgate/journal/testing";
import { expect, onTestFinished, test } from "vitest";
import { startVenue } from "../index.js";
import { CONTROL_OPERATIONS } from "./operations.js";

async function started() {
  const venue = await startVenue({ control: 0, until: onTestFinished });
  const { control = "" } = venue;
  const post = async (path: string, body: object = {}, headers: Record<string, string> = {}) => {
    const response = await fetch(control + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const answer = recordOf(await response.json());
    return { status: response.status, answer };
  };
  return { venue, control, post };
}

test("a program without Ed25519: makes a trader, has its order signed, crashes, goes back", async () => {
  const { venue, post } = await started();
  const { answer: trader } = await post("/traders", { funds: 5_000 });
  const order = { symbol: "BTCUSD", side: "long", type: "market", margin: 1_000, leverage: 10 };
  const body = JSON.stringify({ ...order, nonce: 1 });
  const { answer: signed } = await post("/sign", { trader: trader.id, body });
  const headers = {
    authorization: `Bearer ${trader.token}`,
    "content-type": "application/json",
    "x-service-sig": String(signed.signature),
  };
  const placed = await fetch(`${venue.url}/v1/orders`, { method: "POST", headers, body });
  expect(await placed.json()).toMatchObject({ status: "filled" });
  const { answer: saved } = await post("/save");
  const before = await (await fetch(`${venue.url}/v1/positions`, { headers })).json();
  await post("/crash", { symbol: "BTCUSD", by: 0.2 });
  const { answer: later } = await post("/advance", { duration: "10s" });
  expect(later).toMatchObject({ isManual: true, seed: 1 });
  expect(await (await fetch(`${venue.url}/v1/positions`, { headers })).json()).toEqual([]);
  expect((await post("/restore", { id: saved.id })).status).toBe(200);
  expect(await (await fetch(`${venue.url}/v1/positions`, { headers })).json()).toEqual(before);
});

test("a page of a browser, and another host after a rebinding of DNS: refused", async () => {
  const { control, post } = await started();
  const fromPage = await post("/advance", { duration: 1 }, { origin: "http://127.0.0.1" });
  expect(fromPage.status).toBe(403);
  // `fetch` does not let a program choose the host.
  const rebound = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { host: "evil.example:80" };
    const sent = request(`${control}/state`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject).end();
  });
  expect(rebound).toBe(403);
});

test("the page of this sandbox: may call; a page of another port may not", async () => {
  const { venue, control, post } = await started();
  const response = await fetch(`${control}/time`, {
    method: "OPTIONS",
    headers: { origin: venue.url, "access-control-request-headers": "content-type" },
  });
  expect(response.status).toBe(204);
  expect(response.headers.get("access-control-allow-origin")).toBe(venue.url);
  expect(response.headers.get("access-control-allow-headers")).toBe("content-type");
  expect((await post("/time", { speed: 0 }, { origin: venue.url })).status).toBe(200);
  expect((await post("/time", { speed: 0 }, { origin: control })).status).toBe(403);
});

test("time: goes at a speed, stands still, moves by calls again", async () => {
  const { venue, control, post } = await started();
  expect((await post("/time", { speed: 100 })).answer).toMatchObject({
    isManual: false,
    speed: 100,
  });
  const before = venue.time;
  await expect.poll(() => venue.time).toBeGreaterThan(before + 1_000);
  const measured = async () =>
    recordOf(await (await fetch(`${control}/state`)).json()).measuredSpeed;
  await expect.poll(measured, POLL).toBeGreaterThan(1);
  expect(await measured()).toBeLessThan(200);
  expect((await post("/advance", { duration: "1s" })).status).toBe(400);
  expect((await post("/time", { speed: 0 })).answer).toMatchObject({ isManual: true, speed: 0 });
  const { answer } = await post("/advance", { duration: "1s" });
  expect(venue.time).toBe(answer.time);
});

const TRADES = {
  name: "trades.csv",
  text: "time_ms,symbol,price,size,taker_side\n0,BTC,61000,1,long\n20000,BTC,61500,1,long\n",
};

test("replay: of a text; the answer says how fast it was", async () => {
  const { post } = await started();
  const { status, answer } = await post("/replay", { texts: [TRADES] });
  expect(status).toBe(200);
  expect(answer.replay).toMatchObject({
    isOver: true,
    problem: null,
    trades: 2,
    recordedMs: 20_000,
  });
  expect(recordOf(answer.replay).elapsedMs).toBeGreaterThan(0);
});

test("replay and play without waiting: go on as time passes; the state says how far they are", async () => {
  const { control, post } = await started();
  const state = async () => recordOf(await (await fetch(`${control}/state`)).json());
  expect(await state()).toMatchObject({ scenario: null, replay: null });
  const { answer: begun } = await post("/replay", { texts: [TRADES], wait: false });
  expect(begun.replay).toMatchObject({ isOver: false, trades: 0 });
  const text = "5s liquidity BTCUSD levels=900\n1m end";
  expect((await post("/play", { text, wait: false })).answer.scenario).toMatchObject({
    isOver: false,
    leftMs: 60_000,
  });
  const { answer: later } = await post("/advance", { duration: "10s" });
  expect(later.replay).toMatchObject({ isOver: false, trades: 1, recordedMs: 0 });
  expect(later.scenario).toMatchObject({
    name: "text",
    isOver: true,
    problem: expect.stringContaining("text:1: levels is a whole number"),
  });
  const { answer: end } = await post("/advance", { duration: "20s" });
  expect(end.replay).toMatchObject({ isOver: true, trades: 2, recordedMs: 20_000 });
});

test("stop in real time: what waits for the end of a scenario, a recording or a restart is answered", async () => {
  const { venue, post } = await started();
  await post("/time", { speed: 1 });
  const waiting = [
    post("/play", { name: "quiet-hour" }),
    post("/replay", { texts: [TRADES] }),
    post("/restart-gateway", { downFor: "1h" }),
  ];
  await expect.poll(() => venue.scenario?.isOver, POLL).toBe(false);
  await expect.poll(() => venue.replayed?.isOver, POLL).toBe(false);
  const isDown = () =>
    fetch(`${venue.url}/healthz`).then(
      () => false,
      () => true,
    );
  await expect.poll(isDown, POLL).toBe(true);
  await venue.stop();
  const stopped = { status: 503, answer: { message: "this sandbox has stopped" } };
  expect(await Promise.all(waiting)).toEqual([stopped, stopped, stopped]);
});

test("replay: a bad text is one line with its place; files of other folders are not read", async () => {
  const { post } = await started();
  const text = "time_ms,symbol,index\n1,BTC,cheap\n";
  expect(await post("/replay", { texts: [{ name: "i.csv", text }] })).toEqual({
    status: 400,
    answer: { message: "i.csv:2: index is a number of at least 0, not cheap" },
  });
  expect((await post("/replay", { files: ["/etc/passwd"] })).answer.message).toMatch(
    /^\/etc\/passwd is not in /,
  );
  expect((await post("/replay")).answer.message).toBe("a recording is at least one file");
});

test.each([
  [
    "/price",
    { symbol: "DOGEUSD", price: 1 },
    "no market DOGEUSD in this sandbox, which has BTCUSD",
  ],
  ["/price", { symbol: "BTCUSD", price: 0 }, "body/price must be > 0"],
  ["/advance", { duration: "soon" }, '"soon" is no duration'],
  ["/advance", {}, "body must have required property 'duration'"],
  ["/liquidity", { symbol: "BTCUSD", option: {} }, "body has no field option"],
  ["/liquidity", { symbol: "BTCUSD", options: { level: 5 } }, "body/options has no field level"],
  ["/takers", { symbol: "BTCUSD", options: { rate: "5" } }, "body/options/rate must be number"],
  ["/time", { speed: null }, "body/speed must be number"],
  ["/time", { speed: "10" }, "body/speed must be number"],
  ["/play", { name: "quiet-hour", wait: "false" }, "body/wait must be boolean"],
  ["/save", { id: "1" }, "body has no field id"],
  ["/restore", { id: "9" }, 'no moment "9" is saved'],
  ["/play", {}, "give either the name of a scenario or its text"],
  ["/play", { name: "crash" }, "no scenario is called crash: there is quiet-hour,"],
  ["/play", { text: "now price" }, 'text:1:1: "now" is no duration'],
  ["/refuse", { code: "busy" }, "busy is no code of the error table"],
  ["/sign", { trader: "9", body: "" }, 'no trader "9" was made here'],
])("%s %j: 400 with the reason", async (path, body, reason) => {
  const { post } = await started();
  const { status, answer } = await post(path, body);
  expect([status, answer.message]).toEqual([400, expect.stringContaining(reason)]);
});

test("every operation is in the OpenAPI document and in docs/sandbox.md", async () => {
  const { control } = await started();
  const document = recordOf(await (await fetch(`${control}/openapi.json`)).json());
  const paths = recordOf(document.paths);
  expect(Object.keys(paths).sort()).toEqual(CONTROL_OPERATIONS.map(({ path }) => path).sort());
  const page = readFileSync(new URL("../../../../docs/sandbox.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => /^\| `(?:GET|POST) /.test(line));
  const shown = rows.flatMap((row) => row.match(/\/[a-z-]+(?=`)/g) ?? []);
  expect([...new Set(shown)].sort()).toEqual(Object.keys(paths).sort());
  expect(paths["/traders"]).toMatchObject({ post: { requestBody: { required: true } } });
});

function recordOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("no object");
  return { ...value };
}

import { describe, expect, test } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { runVenue, START_MS } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

describe("a trading day over real sockets", () => {
  test("sign in, rest, fill, positions, fills, book, cancel, sign out", async () => {
    const at = await runVenue();
    const maker = await Trader.enter(at);
    const taker = await Trader.enter(at);
    expect(maker.token).toMatch(/^[A-Za-z0-9_-]{43}\.[1-9][0-9]*$/);
    expect(maker.expiresAt).toBe(START_MS + 24 * 3_600_000);

    const resting = await maker.place(
      maker.limit("short", 65_010, { margin: 1_000, leverage: 10 }),
    );
    expect(resting.status, resting.text).toBe(200);
    expect(resting.body).toMatchObject({
      status: "resting",
      filledSize: 0,
      avgFillPrice: 0,
      symbol: "BTCUSD",
      side: "short",
      nonce: 1,
      reason: null,
      elapsedMs: expect.any(Number),
    });
    expect(resting.body.ackNonce).toBe(resting.body.orderId);
    expect(resting.headers.get("ratelimit-policy")).toMatch(/^"orders";q=\d+;w=\d+$/);
    expect(resting.headers.get("ratelimit")).toMatch(/^"orders";r=\d+;t=\d+$/);

    const book = await ask(`${at.url}/v1/markets/BTCUSD/book?depth=5`);
    expect(book.body).toMatchObject({ bids: [], asks: [[65_010, 0.15382]] });

    const filled = await taker.place(taker.order({ margin: 130.02, leverage: 5 }));
    expect(filled.body).toMatchObject({
      status: "filled",
      filledSize: 0.01,
      avgFillPrice: 65_010,
      feePaid: 0.32505,
      positionAfter: { size: 0.01, avgEntry: 65_010 },
    });
    expect(Number(filled.body.ackNonce)).toBeGreaterThan(Number(resting.body.ackNonce));

    expect(await taker.list("/v1/positions")).toMatchObject([
      {
        symbol: "BTCUSD",
        side: "long",
        size: 0.01,
        avgEntry: 65_010,
        leverage: expect.any(Number),
      },
    ]);
    expect(await maker.list("/v1/positions")).toMatchObject([{ side: "short", size: -0.01 }]);
    expect(await maker.list("/v1/fills")).toMatchObject([
      { orderId: resting.body.orderId, liquidity: "maker", price: 65_010, size: 0.01 },
    ]);
    expect(await taker.list("/v1/fills?limit=1")).toMatchObject([
      { orderId: filled.body.orderId, liquidity: "taker", fee: 0.32505 },
    ]);
    expect(JSON.parse((await ask(`${at.url}/v1/markets/BTCUSD/trades`)).text)).toMatchObject([
      { price: 65_010, size: 0.01, side: "long" },
    ]);
    expect((await ask(`${at.url}/v1/markets/BTCUSD/ticker`)).body).toMatchObject({
      last: 65_010,
      ask: 65_010,
      volume24h: 0.01,
    });

    const open = await maker.list("/v1/orders");
    expect(open).toMatchObject([{ orderId: resting.body.orderId, status: "resting" }]);
    const canceled = await maker.cancel(resting.body.orderId);
    expect(canceled.body).toEqual({
      orderId: resting.body.orderId,
      status: "canceled",
      remainingSize: 0.14382,
      ackNonce: expect.stringMatching(/^[0-9]+$/),
      expectedBlock: expect.any(Number),
      time: expect.any(Number),
    });
    expect(canceled.headers.get("ratelimit-policy")).toMatch(/^"cancels";/);
    expect(await maker.list("/v1/orders")).toEqual([]);
    expect(await maker.list("/v1/orders?status=all&nonce=1")).toMatchObject([
      { status: "canceled", reason: "requested" },
    ]);
    expect((await maker.get(`/v1/orders/${resting.body.orderId}`)).body.status).toBe("canceled");

    expect((await maker.signOut()).body).toEqual({ endedAt: expect.any(Number) });
    expect((await maker.get("/v1/positions")).body.code).toBe("invalid_token");
    expect((await taker.get("/v1/positions")).status).toBe(200);
  });

  test("both forms of an Ed25519 signature, with and without 0x", async () => {
    const trader = await Trader.enter(await runVenue());
    expect((await trader.place(trader.limit("long", 60_000), "digest")).status).toBe(200);
    expect((await trader.place(trader.limit("long", 60_000), "body")).status).toBe(200);
    const text = JSON.stringify(trader.limit("long", 60_000));
    const { "x-service-sig": hex = "" } = trader.signatureOf(text);
    expect((await trader.placeText(text, { header: `0x${hex}` })).status).toBe(200);
  });

  test("account: money, cohort, the session and its scope, the address in EIP-55 capitals", async () => {
    const at = await runVenue();
    const trader = new Trader(at);
    const resources = [trader.resource("&maxNotional=5000&maxOrderNotional=1000.5&symbols=ETHUSD")];
    await trader.signIn({ resources });
    const { body } = await trader.get("/v1/account");
    expect(body).toEqual({
      address: trader.wallet.address,
      balance: 10_000,
      available: 10_000,
      reserved: 0,
      positionMargin: 0,
      equity: 10_000,
      cohort: true,
      session: {
        sessionKey: trader.sessionKey.publicHex,
        kind: "ed25519",
        expiresAt: trader.expiresAt,
        scope: { maxOrderNotional: 1_000.5, maxNotional: 5_000, symbols: ["ETHUSD"] },
        cancelOnDisconnect: false,
      },
    });
  });

  test("cancel: needs no body, and accepts an empty one or any other JSON", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const json = { "content-type": "application/json" };
    const bodies: [Record<string, string>, string | undefined][] = [
      [{}, undefined],
      [json, undefined],
      [json, ""],
      [json, "{}"],
      [json, "[]"],
      [json, '{"orderId":"999"}'],
    ];
    for (const [type, body] of bodies) {
      const { orderId } = (await trader.place(trader.limit("long", 60_000))).body;
      const headers = { ...trader.bearer(), ...type };
      const init = { method: "POST", headers, ...(body === undefined ? {} : { body }) };
      const answer = await ask(`${at.url}/v1/orders/${orderId}/cancel`, init);
      expect(answer, `${type["content-type"]} ${body}`).toMatchObject({
        status: 200,
        body: { orderId, status: "canceled" },
      });
    }
    expect(await trader.list("/v1/orders")).toEqual([]);
  });

  test("cancel-all: of one market, then of all, in order; cancel-after: arms and disarms", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const ids: unknown[] = [];
    for (const symbol of ["BTCUSD", "ETHUSD", "BTCUSD"]) {
      const price = symbol === "BTCUSD" ? 60_000 : 3_000;
      ids.push((await trader.place(trader.limit("long", price, { symbol }))).body.orderId);
    }
    const one = await trader.send("/v1/orders/cancel-all", { symbol: "ETHUSD" });
    expect(one.body).toEqual({ canceled: [ids[1]] });
    expect((await trader.send("/v1/orders/cancel-all")).body).toEqual({
      canceled: [ids[0], ids[2]],
    });
    expect((await trader.send("/v1/orders/cancel-all", {})).body).toEqual({ canceled: [] });

    const armed = await trader.send("/v1/orders/cancel-after", { afterMs: 1_000 });
    expect(armed.body).toEqual({ cancelAt: at.nowMs() + 1_000 });
    const off = await trader.send("/v1/orders/cancel-after", { afterMs: 0 });
    expect(off.body).toEqual({ cancelAt: null });
    await trader.place(trader.limit("long", 60_000));
    await trader.send("/v1/orders/cancel-after", { afterMs: 1_000 });
    await at.advance(1_200);
    expect(await trader.list("/v1/orders")).toEqual([]);
    expect(await trader.list("/v1/orders?status=all")).toContainEqual(
      expect.objectContaining({ status: "canceled", reason: "cancel_after" }),
    );
  });

  test("cancel-all with concurrent cancels: each canceled order is reported once", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const reported: unknown[] = [];
    const placed: unknown[] = [];
    for (let round = 0; round < 10; round++) {
      const bids = Array.from({ length: 6 }, () => trader.limit("long", 60_000, { margin: 1 }));
      const early = await Promise.all(bids.slice(0, 4).map((bid) => trader.place(bid)));
      const ids = early.map(({ body }) => body.orderId);
      // Concurrently, within one millisecond of the venue's time.
      const [canceled, all, ...late] = await Promise.all([
        Promise.all(ids.slice(0, 3).map((id) => trader.cancel(id))),
        trader.send("/v1/orders/cancel-all"),
        ...bids.slice(4).map((bid) => trader.place(bid)),
      ]);
      placed.push(...ids, ...late.map(({ body }) => body.orderId));
      reported.push(
        ...canceled.filter(({ status }) => status === 200).map(({ body }) => body.orderId),
        ...(Array.isArray(all.body.canceled) ? all.body.canceled : []),
      );
    }
    const open = (await trader.list("/v1/orders")).map(({ orderId }) => orderId);
    expect([...reported, ...open].sort()).toEqual([...placed].sort());
  });

  test("a deposit: queued, the same one when registered again, credited later", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const hash = "AB".repeat(32);
    const body = { chain: "arbitrum", txHash: hash, token: "USDC" };
    const queued = await trader.send("/v1/bridge/deposit", body);
    expect(queued.status).toBe(202);
    expect(queued.body).toMatchObject({
      status: "queued",
      txHash: `0x${hash.toLowerCase()}`,
      chain: "arbitrum",
    });
    const again = await trader.send("/v1/bridge/deposit", { ...body, txHash: `0x${hash}` });
    expect(again.body.depositId).toBe(queued.body.depositId);
    await at.advance(600);
    const credited = await trader.get(`/v1/bridge/deposits/${queued.body.depositId}`);
    expect(credited.body).toMatchObject({
      status: "credited",
      credits: [{ account: trader.wallet.address, amount: 10_000, logIndex: 0 }],
    });
    expect(await trader.list("/v1/bridge/deposits")).toHaveLength(1);
    expect((await trader.get("/v1/account")).body.balance).toBe(20_000);
    const stranger = await Trader.enter(at);
    const foreign = await stranger.get(`/v1/bridge/deposits/${queued.body.depositId}`);
    expect(foreign.body.code).toBe("deposit_not_found");
  });

  test("blocks and preconfirms: not sealed, then proven; another's is not there", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const { body } = await trader.place(trader.limit("long", 60_000));
    const path = `/v1/preconfirms/${body.ackNonce}`;
    expect((await trader.get(path)).body.code).toBe("not_sealed");
    await at.advance(400);
    const proof = await trader.get(path);
    // Neither is part of what is proven.
    const { elapsedMs: _, time: __, ...ack } = body;
    expect(proof.body).toMatchObject({ ack, block: body.expectedBlock, index: 0, path: [] });
    // Its first two words: the kind of the event, and the order's id.
    const leaf = Buffer.from(String(proof.body.leaf).slice(2), "hex");
    expect([leaf.length, leaf.readDoubleLE(0), leaf.readDoubleLE(8)]).toEqual([
      144,
      18,
      Number(body.orderId),
    ]);
    const block = await ask(`${at.url}/v1/blocks/${body.expectedBlock}`);
    expect(block.body).toMatchObject({ number: body.expectedBlock, ackCount: 1 });
    const stranger = await Trader.enter(at);
    const foreign = await stranger.get(path);
    expect(foreign.body).toMatchObject({ code: "preconfirm_not_found" });
    expect(foreign.text).not.toContain("0x");
    expect((await ask(at.url + path)).status).toBe(401);
  });

  test("funding that accrued in several markets, one payment a page: each once", async () => {
    const at = await runVenue({ startMs: START_MS + 3_598_000 });
    const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
    for (const [symbol, bid, ask] of [
      ["BTCUSD", 64_900, 65_100],
      ["ETHUSD", 3_190, 3_210],
    ] as const) {
      // Above the impact notional on both sides: otherwise the hour has no rate.
      const deep = { symbol, margin: 1_000, leverage: 25 };
      await maker.place(maker.limit("long", bid, deep));
      await maker.place(maker.limit("short", ask, deep));
      await taker.place(taker.order({ symbol }));
    }
    await at.advance(4_000);
    const list = (query: string) => taker.list(`/v1/funding-payments${query}`);
    const all = await list("");
    expect(all).toMatchObject([
      { symbol: "BTCUSD", accrued: true },
      { symbol: "ETHUSD", accrued: true },
    ]);
    expect(await list("?limit=1")).toEqual(all.slice(0, 1));
    expect(await list(`?limit=1&before=${all[0]?.id}`)).toEqual(all.slice(1));
    expect(await list(`?limit=1&before=${all[1]?.id}`)).toEqual([]);
    expect(await list(`?symbol=BTCUSD&before=${all[0]?.id}`)).toEqual([]);

    // Booked between two pages: not listed a second time.
    await taker.place(taker.order());
    const later = await list(`?limit=1&before=${all[0]?.id}`);
    expect(later).toMatchObject([{ symbol: "ETHUSD", id: all[1]?.id }]);
    expect(await list(`?limit=1&before=${later[0]?.id}`)).toEqual([]);
    expect(await list("")).toMatchObject([
      { symbol: "ETHUSD", accrued: true },
      { symbol: "BTCUSD", accrued: false, amount: all[0]?.amount },
    ]);
    // The ledger has one entry for all of it.
    const [accrued, ...booked] = await taker.list("/v1/ledger");
    expect(accrued).toMatchObject({ accrued: true, symbol: "ETHUSD" });
    expect(await taker.list(`/v1/ledger?before=${accrued?.id}`)).toEqual(booked);
  });

  test("candles, funding, markets: public and in the venue's own figures", async () => {
    const at = await runVenue();
    const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
    await maker.place(maker.limit("short", 65_000));
    await taker.place(taker.order());
    const candles = await ask(`${at.url}/v1/markets/BTCUSD/candles?resolution=1h`);
    expect(JSON.parse(candles.text)).toMatchObject([{ open: 65_000, trades: 1 }]);
    for (const price of ["mark", "index"]) {
      const { text } = await ask(
        `${at.url}/v1/markets/BTCUSD/candles?resolution=1d&price=${price}`,
      );
      const prices = { open: 65_000, high: 65_000, low: 65_000, close: 65_000 };
      expect(JSON.parse(text)).toMatchObject([{ ...prices, volume: 0, trades: 0 }]);
    }
    const ofLast = await ask(`${at.url}/v1/markets/BTCUSD/candles?price=last`);
    expect(JSON.parse(ofLast.text)).toMatchObject({ code: "invalid_request", field: "price" });
    expect((await ask(`${at.url}/v1/markets/BTCUSD/funding`)).text).toBe("[]");
    const markets = await ask(`${at.url}/v1/markets`);
    expect(JSON.parse(markets.text)).toMatchObject([
      { symbol: "BTCUSD", markPrice: 65_000, indexPrice: 65_000, status: "active" },
      { symbol: "ETHUSD", indexPrice: 3_200 },
      { symbol: "SOLUSD", indexPrice: null },
    ]);
  });
});

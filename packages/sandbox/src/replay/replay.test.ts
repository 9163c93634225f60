import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { POLL } from "@perpgate/journal/testing";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, onTestFinished, test } from "vitest";
import { openRecording, parseScenario, startVenue } from "../index.js";
import type { RecordedEvent } from "./events.js";

function fileOf(name: string, content: string | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-recording-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function eventsOf(...files: string[]): Promise<RecordedEvent[]> {
  const recording = await openRecording(files);
  const events: RecordedEvent[] = [];
  for (let event = await recording.next(); event !== undefined; event = await recording.next()) {
    events.push(event);
  }
  return events;
}

const T = 1_767_225_600_000;
const AT = { timeMs: T, symbol: "BTCUSDT" };
const TRADE = { kind: "trade", ...AT, side: -1, price: 60_000.5, size: 0.25 };
const BID = { kind: "level", ...AT, side: 1, price: 60_000, size: 2 };
const ASK = { kind: "level", ...AT, side: -1, price: 60_001, size: 3 };
const CLEARED = { kind: "cleared", ...AT };
const INDEX = { kind: "index", ...AT, price: 60_000.5 };

test.each<[string, string, object[]]>([
  [
    "trades.csv",
    `time_at,time_ms,symbol,id,price,size,taker_side\nx,${T},BTCUSDT,1,60000.5,0.25,short`,
    [TRADE],
  ],
  [
    "book.csv",
    `time_ms,symbol,side,price,size,snapshot\n${T},BTCUSDT,bid,60000,2,true\n${T},BTCUSDT,ask,60001,3,true`,
    [CLEARED, BID, ASK],
  ],
  ["index.csv", `time_ms,symbol,index\n${T},BTCUSDT,60000.5`, [INDEX]],
  [
    "tardis-book.csv",
    `exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount\nx,BTCUSDT,1,${T}000,true,bid,60000,2\nx,BTCUSDT,1,${T}000,false,ask,60001,3`,
    [CLEARED, BID, ASK],
  ],
  [
    "tardis-quotes.csv",
    `exchange,symbol,timestamp,local_timestamp,ask_amount,ask_price,bid_price,bid_amount\nx,BTCUSDT,1,${T}000,3,60001,60000,2`,
    [CLEARED, BID, ASK],
  ],
  [
    "tardis-snapshot.csv",
    `exchange,symbol,timestamp,local_timestamp,asks[0].price,asks[0].amount,bids[0].price,bids[0].amount,asks[1].price,asks[1].amount,bids[1].price,bids[1].amount\nx,BTCUSDT,1,${T}000,60001,3,60000,2,,,59999,4`,
    [CLEARED, BID, ASK, { ...BID, price: 59_999, size: 4 }],
  ],
  [
    "tardis-trades.csv",
    `exchange,symbol,timestamp,local_timestamp,id,side,price,amount\nx,BTCUSDT,1,${T}000,1,unknown,1,1\nx,BTCUSDT,1,${T}000,1,sell,60000.5,0.25`,
    [TRADE],
  ],
  [
    "tardis-ticker.csv",
    `exchange,symbol,timestamp,local_timestamp,funding_timestamp,funding_rate,predicted_funding_rate,open_interest,last_price,index_price,mark_price\nx,BTCUSDT,1,${T}000,,,,,,60000.5,`,
    [INDEX],
  ],
  [
    "BTCUSDT-aggTrades-2026-01-01.csv",
    `agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker\n1,60000.5,0.25,1,1,${T},true`,
    [TRADE],
  ],
  ["BTCUSDT-aggTrades-2026-01-02.csv", `1,60000.5,0.25,1,1,${T}000,True,True`, [TRADE]],
  ["BTCUSDT-trades-2026-01-01.csv", `1,60000.5,0.25,15000.1,${T},true`, [TRADE]],
  [
    "BTCUSDT-bookTicker-2026-01-01.csv",
    `update_id,best_bid_price,best_bid_qty,best_ask_price,best_ask_qty,transaction_time,event_time\n1,60000,2,60001,3,${T},${T}`,
    [CLEARED, BID, ASK],
  ],
  [
    "BTCUSDT-1m-2026-01.csv",
    `open_time,open,high,low,close,volume,close_time\n${T},60000.5,1,1,1,0,${T}`,
    [INDEX],
  ],
  ["BTCUSDT-1m-2026-02.csv", `${T},60000.5,1,1,1,0,${T + 59_999},0,0,0,0,0`, [INDEX]],
  [
    "tardis-unordered.csv",
    `exchange,symbol,timestamp,local_timestamp,id,side,price,amount\nx,BTCUSDT,9,${T}000,1,sell,60000.5,0.25\nx,BTCUSDT,5,${T}000,1,sell,60000.5,0.25`,
    [TRADE, TRADE],
  ],
  [
    "hyperliquid-book.json",
    `{"time":"2026-01-01T00:00:00.1","ver_num":1,"raw":{"channel":"l2Book","data":{"coin":"BTCUSDT","time":${T},"levels":[[{"px":"60000","sz":"2","n":1}],[{"px":"60001","sz":"3","n":1}]]}}}`,
    [CLEARED, BID, ASK],
  ],
  [
    "hyperliquid-trades.json",
    `{"coin":"BTCUSDT","side":"A","time":"2026-01-01T00:00:00.000000000","px":"60000.5","sz":"0.25"}`,
    [TRADE],
  ],
  [
    "asset_ctxs.csv",
    "time,coin,funding,oracle_px,mark_px\n2026-01-01T00:00:00Z,OLD,0,,\n2026-01-01T00:00:00Z,BTCUSDT,0,60000.5,60000.5",
    [INDEX],
  ],
])("%s", async (name, content, events) => {
  expect(await eventsOf(fileOf(name, content))).toEqual(events);
  expect(await eventsOf(fileOf(`${name}.gz`, gzipSync(content)))).toEqual(events);
});

test("Parquet: the same rows; several files come by time", async () => {
  const column = (name: string, data: (string | number | bigint)[]) => ({ name, data });
  const bytes = parquetWriteBuffer({
    columnData: [
      column("time_ms", [BigInt(T), BigInt(T + 2)]),
      column("symbol", ["BTCUSDT", "BTCUSDT"]),
      column("price", [60_000.5, 60_000.5]),
      column("size", [0.25, 0.25]),
      column("taker_side", ["short", "short"]),
    ],
  });
  const index = fileOf("index.csv", `time_ms,symbol,index\n${T + 1},BTCUSDT,60000.5`);
  expect(await eventsOf(index, fileOf("trades.parquet", new Uint8Array(bytes)))).toEqual([
    TRADE,
    { ...INDEX, timeMs: T + 1 },
    { ...TRADE, timeMs: T + 2 },
  ]);
});

test.each<[string, string | Uint8Array, string]>([
  ["a.csv", "", "a.csv:1: the file is empty"],
  ["a.csv", "when,what\n1,2", "a.csv:1: no layout has the columns when, what"],
  ["a.csv", "1,2", "a.csv:1: the columns have no names"],
  ["a.csv", "time_ms,symbol,index\n1,BTCUSD", "a.csv:2: 2 cells under 3 columns"],
  [
    "a.csv",
    "time_ms,symbol,index\n1,BTCUSD,abc",
    "a.csv:2: index is a number of at least 0, not abc",
  ],
  ["a.csv", "time_ms,symbol,index\n1,BTCUSD,0", "a.csv:2: index is a price above 0, not 0"],
  ["a.csv", "time_ms,symbol,index\n2,B,1\n1,B,1", "a.csv:3: times never go back"],
  ["a.json", '{"time":1,"raw":2}', "a.json:1: raw.data is a book"],
  ["a.json", '{"time":1,\n', "a.json:1: no JSON object"],
  [
    "a.json",
    '{"time_ms":null,"symbol":"B","index":1}',
    "a.json:1: time_ms is a number of at least 0",
  ],
  ["a.csv", "time_ms,symbol,index\n1,B,1e300", "a.csv:2: index is a number of at most 9007"],
  ["a.csv", "time_ms,symbol,index\n1,B, ", "a.csv:2: index is a number of at least 0"],
  ["a.csv", "time_ms,symbol,index\n1,B,1\n1767225600000,B,1", "a.csv:3: its time is more than 366"],
  ["a.csv", "x".repeat(2 ** 20 + 1), "a.csv:1: longer than 1048576 bytes"],
  ["a.csv.gz", gzipSync("time_ms,symbol,index\n1,B,1\n").subarray(0, 30), "a.csv.gz:1: unexpected"],
  ["a.parquet", "PAR1 and no more", "a.parquet:1: no Parquet file: "],
])("a bad file, %#: %s", async (name, content, problem) => {
  await expect(eventsOf(fileOf(name, content))).rejects.toThrow(problem);
});

test("a folder, and a file that is missing: one line with its path", async () => {
  await expect(eventsOf(tmpdir())).rejects.toThrow(`${tmpdir()}: EISDIR`);
  await expect(eventsOf("/nothing.csv")).rejects.toThrow("/nothing.csv: ENOENT");
});

/** Descriptors of this process that are of the file. */
function descriptorsOf(path: string): number {
  return readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
    } catch {
      // That of the listing itself.
      return false;
    }
  }).length;
}

describe.runIf(process.platform === "linux")("files are closed", () => {
  /** More than is read at once. */
  const many = (rows: number) =>
    Array.from({ length: rows }, (_, at) => `${at * 200},BTC,${60_000 + (at % 7)},0.5,long`);
  const HEAD = "time_ms,symbol,price,size,taker_side";
  const long = (...last: string[]) => [HEAD, ...many(20_000), ...last].join("\n");

  test.each([["trades.csv"], ["trades.csv.gz"]])(
    "%s, of a recording that was only opened",
    async (name) => {
      const text = long();
      const file = fileOf(name, name.endsWith("gz") ? gzipSync(text) : text);
      const recording = await openRecording([file]);
      await recording.close();
      await expect.poll(() => descriptorsOf(file), POLL).toBe(0);
    },
  );

  test("of a replay that fails, that is stopped, and that cannot begin", async () => {
    const file = fileOf("trades.csv", long());
    const bad = fileOf("bad.csv", [HEAD, "0,BTC,cheap,1,long", ...many(20_000)].join("\n"));
    const later = fileOf(
      "later.csv",
      [HEAD, ...many(5), "2000,BTC,cheap,1,long", ...many(20_000)].join("\n"),
    );
    const venue = await startVenue({ time: { speed: 100 }, until: onTestFinished });
    await expect(venue.replay([file, bad])).rejects.toThrow("bad.csv:2: price is a number");
    await expect(venue.replay([file, later])).rejects.toThrow("later.csv:7: price is a number");
    for (const path of [file, bad, later]) {
      await expect.poll(() => descriptorsOf(path), POLL).toBe(0);
    }
    const playing = expect(venue.replay(file)).rejects.toThrow("has stopped");
    await expect.poll(() => descriptorsOf(file), POLL).toBe(1);
    await venue.stop();
    await playing;
    await expect.poll(() => descriptorsOf(file), POLL).toBe(0);
  });
});

describe("replay", () => {
  const book = (rows: readonly string[]) =>
    fileOf("book.csv", ["time_ms,symbol,side,price,size,snapshot", ...rows].join("\n"));
  const trades = (rows: readonly string[]) =>
    fileOf("trades.csv", ["time_ms,symbol,price,size,taker_side", ...rows].join("\n"));
  const SNAPSHOT = [
    "0,BTC,bid,60000,1,true",
    "0,BTC,bid,59999,2,true",
    "0,BTC,ask,60001,1,true",
    "0,BTC,ask,60002,2,true",
  ];

  test("the book is that of the recording; an order waits behind what rested before it", async () => {
    const venue = await startVenue({ until: onTestFinished });
    const trader = await venue.trader();
    const client = venue.client();
    const files = [
      book([...SNAPSHOT, "30000,BTC,bid,59999,1.5,false", "60000,BTC,ask,60002,0,false"]),
      // The first meets what rested before, the second the trader's order, too.
      trades(["20000,BTC,60000,0.5,short", "40000,BTC,60000,0.6,short"]),
    ];
    const seen: unknown[] = [];
    let bid = "";
    const result = await venue.replay(files, {
      every: "10s",
      each: async () => {
        if (bid === "") {
          const { bids, asks } = await client.book("BTCUSD");
          seen.push({ bids, asks });
          const order = { symbol: "BTCUSD", side: "long", type: "limit", leverage: 10 } as const;
          ({ orderId: bid } = await trader.placeOrder({ ...order, price: 60_000, size: 0.2 }));
        }
        const { filledSize } = await trader.order(bid);
        seen.push(filledSize);
      },
    });
    expect(seen[0]).toEqual({
      bids: [
        [60_000, 1],
        [59_999, 2],
      ],
      asks: [
        [60_001, 1],
        [60_002, 2],
      ],
    });
    expect(seen.slice(1)).toEqual([0, 0, 0, 0.1, 0.1, 0.1]);
    expect(result).toMatchObject({ bookUpdates: 6, trades: 2, recordedMs: 60_000 });
    // The best bid was taken: the middle is that of the next one.
    expect((await client.ticker("BTCUSD")).index).toBe(60_000);
  });

  test("trades alone: the index follows them, and the sandbox quotes around it", async () => {
    const venue = await startVenue({ until: onTestFinished });
    await venue.replay(trades(["0,BTC,61000,0.5,long", "2000,BTC,62000,0.5,long"]));
    await venue.advance("1s");
    const { index, bid } = await venue.client().ticker("BTCUSD");
    expect(index).toBe(62_000);
    expect(bid).toBeGreaterThan(61_900);
  });

  test("the same seed and recording: the same log", async () => {
    const run = async () => {
      const venue = await startVenue({ seed: 5, until: onTestFinished });
      await venue.replay([book(SNAPSHOT), trades(["1000,BTC,60000,0.5,short"])]);
      return venue.logHash();
    };
    expect(await run()).toBe(await run());
  });

  test("prices and sizes that no order can have: one line with the place", async () => {
    const venue = await startVenue({ until: onTestFinished });
    await expect(venue.replay(trades(["0,BTC,9e15,1,long"]))).rejects.toThrow(
      "trades.csv:2: BTCUSD has prices from 0.1, and not 9000000000000000",
    );
    await expect(venue.replay(book(["0,BTC,bid,60000,1,", "1,BTC,bid,6,9e15,"]))).rejects.toThrow(
      "book.csv:3: no order of BTCUSD has the size 9000000000000000",
    );
    const index = fileOf("index.csv", "time_ms,symbol,index\n0,BTC,60000\n1000,BTC,1e10");
    await expect(venue.replay(index)).rejects.toThrow("index.csv:3: a price of BTCUSD is at most");
  });

  test("markets that the sandbox does not have: counted and left out, as in a file of a whole exchange", async () => {
    const venue = await startVenue({ until: onTestFinished });
    const rows = [
      "0,DOGEUSDT,1,1,long",
      "1,BTCUSDT,65000,1,long",
      "2,DOGEUSDT,1,1,long",
      "3,@107,5,1,short",
    ];
    expect(await venue.replay(trades(rows))).toMatchObject({
      trades: 1,
      ignored: { DOGEUSDT: 2, "@107": 1 },
      refused: {},
    });
    await expect(venue.replay(trades(["0,DOGEUSDT,1,1,long"]))).rejects.toThrow(
      "the recording has DOGEUSDT, this sandbox has BTCUSD",
    );
  });

  describe("a day on which all buy", () => {
    const LEVELS = Array.from({ length: 20 }, (_, level) => level);
    const TIMES = Array.from({ length: 100 }, (_, at) => 6_000 + at * 1_000);
    /**
     * `unit` of the base is 30 dollars. Half a million dollars are asked at each price, 3,000 bid at the best
     * one; a hundred buyers take 300,000 dollars each, then two sellers 1,800.
     */
    const filesOf = (base: string, price: number, unit: number) => {
      const at = (ticks: number) => (price * (1 + ticks / 15_000)).toFixed(2);
      const rows = (timeMs: number) => [
        `${timeMs},${base},bid,${at(-1)},${100 * unit},true`,
        ...LEVELS.map((level) => `${timeMs},${base},ask,${at(level)},${17_500 * unit},true`),
      ];
      return [
        book([0, ...TIMES].flatMap(rows)),
        trades([
          ...TIMES.map((timeMs) => `${timeMs + 400},${base},${at(1)},${10_000 * unit},long`),
          `120000,${base},${at(-1)},${60 * unit},short`,
          `140000,${base},${at(-1)},${60 * unit},short`,
        ]),
      ];
    };

    test.each([
      ["BTC", 60_000, 0.0005],
      ["SOL", 150, 0.2],
    ])(
      "thirty million dollars of %s: every trade is taken, open interest stays bounded",
      async (base, price, unit) => {
        const symbol = `${base}USD`;
        const venue = await startVenue({ markets: [symbol], until: onTestFinished });
        const result = await venue.replay(filesOf(base, price, unit));
        expect(result).toMatchObject({ trades: 102, refused: {} });
        const { openInterest, volume24h } = await venue.client().ticker(symbol);
        expect(volume24h / unit).toBeCloseTo(1_000_100, 0);
        expect(openInterest * price).toBeLessThan(12_000_000);
      },
    );

    test("an order keeps its place in the queue, also where another account quotes by then", async () => {
      const venue = await startVenue({ until: onTestFinished });
      const trader = await venue.trader();
      const startMs = venue.time;
      let bid = "";
      const filled: number[] = [];
      await venue.replay(filesOf("BTC", 60_000, 0.0005), {
        each: async (nowMs) => {
          if (bid === "" && nowMs - startMs > 6_500) {
            const order = { symbol: "BTCUSD", side: "long", type: "limit", leverage: 5 } as const;
            ({ orderId: bid } = await trader.placeOrder({ ...order, price: 59_996, size: 0.005 }));
          }
          if (bid !== "") filled.push((await trader.order(bid)).filledSize);
        },
      });
      // 60 units of the 100 before it, then the other 40 and it.
      expect([...new Set(filled)]).toEqual([0, 0.005]);
      expect(filled.filter((size) => size === 0).length).toBeGreaterThan(125);
    });
  });

  test("quotes that the venue has canceled: said, and placed again once it takes them", async () => {
    const venue = await startVenue({ until: onTestFinished });
    const client = venue.client();
    venue.beginPlay(
      parseScenario("10s market BTCUSD reduceOnly\n15s market BTCUSD resume\n60s end", "market"),
    );
    const seen: unknown[] = [];
    const result = await venue.replay(
      book([...SNAPSHOT, "5000,BTC,bid,59998,1,false", "30000,BTC,bid,59997,1,false"]),
      {
        every: "4s",
        each: async () => {
          const { bids } = await client.book("BTCUSD");
          seen.push(bids.length);
        },
      },
    );
    expect(seen).toEqual([2, 3, 0, 3, 3, 3, 3, 0]);
    expect(result.refused).toMatchObject({ market_reduce_only: expect.any(Number) });
  });

  test("a saved moment while it plays", async () => {
    const venue = await startVenue({ until: onTestFinished });
    const file = trades(["0,BTC,61000,0.5,long", "9000,BTC,62000,0.5,long"]);
    let turns = 0;
    const saving = venue.replay(file, {
      each: async () => {
        if (turns++ === 0) await expect(venue.save()).rejects.toThrow("is not over yet");
      },
    });
    expect(await saving).toMatchObject({ trades: 2 });
  });
});

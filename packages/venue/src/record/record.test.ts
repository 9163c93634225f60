import { type Command, UnknownToRelease } from "@perpgate/engine";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CommandUnwritable,
  decodeRecord,
  encodeRecord,
  NO_EVIDENCE,
  RecordUnreadable,
} from "./record.js";

const count = fc.maxSafeNat();
const hash = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString("hex"));
const bytes = fc.uint8Array({ maxLength: 400 });
const evidence = fc.record({
  signed: bytes,
  signature: fc.uint8Array({ maxLength: 72 }),
  publicKey: fc.uint8Array({ maxLength: 65 }),
});
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant("PlaceOrder" as const),
    stampMs: count,
    session: count,
    key: hash,
    nonce: count,
    market: fc.nat(),
    side: fc.constantFrom(1 as const, -1 as const),
    type: fc.constantFrom(0 as const, 1 as const, 2 as const),
    marginMicros: count,
    leverage: count,
    priceTicks: count,
    reduceOnly: fc.boolean(),
    postOnly: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("PlaceOrder" as const),
    stampMs: count,
    session: count,
    key: hash,
    nonce: count,
    market: fc.nat(),
    side: fc.constantFrom(1 as const, -1 as const),
    type: fc.constantFrom(0 as const, 1 as const),
    marginMicros: count,
    leverage: count,
    priceTicks: count,
    reduceOnly: fc.constant(false),
    postOnly: fc.boolean(),
    exits: fc.record({
      takeProfitTicks: count,
      takeProfitLimitTicks: count,
      stopLossTicks: count,
      stopLossLimitTicks: count,
    }),
  }),
  fc.record({
    kind: fc.constant("CancelOrder" as const),
    stampMs: count,
    session: count,
    orderId: fc.oneof(
      count,
      fc.nat().map((id) => id + 1.25),
      fc.nat().map((id) => id + 1.5),
    ),
  }),
  fc.record({
    kind: fc.constant("CancelOrder" as const),
    stampMs: count,
    session: count,
    orderId: fc.oneof(
      count,
      fc.nat().map((id) => id + 1.25),
    ),
    request: fc.record({ id: hash.map((digits) => digits.slice(32)), notAfterMs: count }),
  }),
  fc.record({ kind: fc.constant("Tick" as const), slot: count }),
  fc.record({
    kind: fc.constant("UpdateIndex" as const),
    stampMs: count,
    market: fc.nat(),
    indexTicks: count,
    slot: count,
  }),
  fc.record({
    kind: fc.constant("CancelAll" as const),
    stampMs: count,
    session: count,
    market: fc.integer({ min: -1, max: 9 }),
  }),
  fc.record({
    kind: fc.constant("SetSessionOption" as const),
    stampMs: count,
    session: count,
    cancelOnDisconnect: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("SessionDisconnected" as const),
    stampMs: count,
    session: count,
  }),
  fc.record({ kind: fc.constant("AskTime" as const), stampMs: count }),
);

const CONFIG = {
  market: {
    symbol: "BTC-PERP",
    microsPerTickLot: 1,
    takerFeePpm: 500,
    makerFeePpm: 200,
    bandPpm: 50_000,
    impactNotionalMicros: 1,
    minNotionalMicros: 1,
    maxOpenInterestMicros: 1,
    maxIndexJumpPpm: 1,
  },
  fundSeedMicros: 0,
  backstopCapMicros: 0,
  fundLossPerHourPpm: 0,
  maxOpenOrders: 1,
  attestorKind: "chain",
  attestors: 3,
  attestorQuorum: 2,
  devCreditMicros: 0,
};

/** A JSON record as a dishonest writer may publish it. */
function forged(command: object): Buffer {
  const text = Buffer.from(JSON.stringify(command));
  const record = Buffer.concat([Buffer.of(1, 0, 0, 0, 0, 0), text]);
  record.writeUInt32LE(text.length, 2);
  return record;
}

describe("a record", () => {
  test("decode: returns every command and its evidence", () => {
    fc.assert(
      fc.property(command, evidence, (given, proof) => {
        const { command: back, evidence: kept } = decodeRecord(encodeRecord(given, proof));
        expect(back).toEqual(given);
        expect(Buffer.from(kept.signed).equals(proof.signed)).toBe(true);
        expect(Buffer.from(kept.signature).equals(proof.signature)).toBe(true);
        expect(Buffer.from(kept.publicKey).equals(proof.publicKey)).toBe(true);
      }),
    );
  });

  test("decode: no evidence takes no bytes", () => {
    const record = encodeRecord({ kind: "Tick", slot: 7 });
    expect(record.length).toBe(10);
    expect(decodeRecord(record).evidence).toBe(NO_EVIDENCE);
  });

  test("decode: every truncated record is rejected, never misread", () => {
    fc.assert(
      fc.property(command, evidence, (given, proof) => {
        const whole = encodeRecord(given, proof);
        for (let length = 0; length < whole.length; length++) {
          const cut = whole.subarray(0, length);
          let misread = true;
          try {
            const back = decodeRecord(cut);
            // Cutting exactly the evidence leaves a record without any.
            misread = back.evidence !== NO_EVIDENCE;
          } catch {
            misread = false;
          }
          expect(misread, `cut to ${length} of ${whole.length}`).toBe(false);
        }
      }),
      { numRuns: 30 },
    );
  });

  test("decode: an unknown version or kind is rejected", () => {
    expect(() => decodeRecord(Uint8Array.of(1))).toThrow(RecordUnreadable);
    expect(() => decodeRecord(Uint8Array.of(2, 3))).toThrow(UnknownToRelease);
    expect(() => decodeRecord(Uint8Array.of(2, 3))).toThrow(/format 2.*engine version 3/);
    expect(() => decodeRecord(Uint8Array.of(1, 9))).toThrow(UnknownToRelease);
    expect(() => decodeRecord(Uint8Array.of(1, 9))).toThrow(/kind 9.*engine version 3/);
  });

  test("encode: a fingerprint that is not 32 bytes is rejected", () => {
    const [order] = fc.sample(
      command.filter((c) => c.kind === "PlaceOrder" && c.exits === undefined),
      1,
    );
    if (order?.kind !== "PlaceOrder") throw new Error("no order");
    expect(() => encodeRecord({ ...order, key: "abcd" })).toThrow(RangeError);
  });

  test("of a known kind that has another shape: unreadable, whatever is missing or wrong", () => {
    fc.assert(
      fc.property(
        command,
        fc.nat(),
        fc.constantFrom(null, "x", 0.5, -0.5, {}, []),
        (whole, at, wrong) => {
          const names = Object.keys(whole).filter((name) => name !== "kind");
          const name = names[at % names.length]!;
          const record = forged({ ...whole, [name]: wrong });
          expect(() => decodeRecord(record)).toThrow(RecordUnreadable);
        },
      ),
    );
  });

  test("Configure: with a figure that is no whole number, or without one: unreadable", () => {
    const { market, ...figures } = CONFIG;
    const tier = { upToMicros: 1, maxLeverage: 2, maintenancePpm: 3 };
    const configure = (config: object, listed: object, tiers: unknown): Uint8Array => {
      const whole = { ...config, markets: [{ ...listed, tiers }] };
      const times = { stampMs: 1, expiresAtMs: 2 };
      return forged({ kind: "Configure", ...times, config: whole });
    };
    expect(() => decodeRecord(configure(figures, market, [tier]))).not.toThrow();
    const broken = [
      ...Object.keys(figures).map((name) => configure({ ...figures, [name]: "3" }, market, [tier])),
      ...Object.keys(market).map((name) => configure(figures, { ...market, [name]: 0.5 }, [tier])),
      configure(figures, market, undefined),
      configure(figures, market, [{ ...tier, maxLeverage: undefined }]),
    ];
    for (const record of broken) expect(() => decodeRecord(record)).toThrow(RecordUnreadable);
  });

  test("with half of a surrogate pair in a text: unreadable, since a snapshot cannot keep it", () => {
    const names = { chain: "ethereum", txHash: "ab", token: "USDC" };
    const whole = { kind: "RegisterDeposit", stampMs: 1, session: 2, ...names } as const;
    const emoji = { ...whole, chain: "\ud83d\ude00" };
    expect(decodeRecord(encodeRecord(emoji)).command).toEqual(emoji);
    for (const half of ["\ud83d", "\ude00", "a\ud83d", "\ude00\ud83d"]) {
      const record = forged({ ...whole, txHash: half });
      expect(() => decodeRecord(record)).toThrow(RecordUnreadable);
    }
  });

  test("cut short anywhere, or of random bytes: unreadable or another record, never another error", () => {
    fc.assert(
      fc.property(command, fc.nat(), fc.uint8Array({ maxLength: 80 }), (whole, at, noise) => {
        const bytes = encodeRecord(whole);
        const versioned = Buffer.concat([Buffer.of(1, at % 5), noise]);
        for (const broken of [bytes.subarray(0, at % bytes.length), versioned]) {
          try {
            decodeRecord(broken);
          } catch (error) {
            expect(error).toBeInstanceOf(RecordUnreadable);
          }
        }
      }),
    );
  });
});

test.each<[string, Command]>([
  ["a cancel", { kind: "CancelOrder", stampMs: 1, session: 1, orderId: 1e16 }],
  [
    "a cancel of a batch",
    {
      kind: "CancelOrder",
      stampMs: 1,
      session: 1,
      orderId: 2 ** 53,
      batch: { index: 0, count: 1, key: "ab".repeat(32), nonce: 1 },
    },
  ],
  ["a tick", { kind: "Tick", slot: 0.5 }],
  ["a time of none", { kind: "CancelAfter", stampMs: 1, session: 1, afterMs: Number.NaN }],
  [
    "half a character",
    { kind: "RegisterDeposit", stampMs: 1, session: 1, chain: "\ud800", txHash: "", token: "" },
  ],
])("%s that no replica would read: not written", (_, unfit) => {
  expect(() => encodeRecord(unfit)).toThrow(CommandUnwritable);
});

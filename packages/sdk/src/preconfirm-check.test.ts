/**
 * Proofs of a real gateway hold, and every change of a proof is detected and named.
 */

import { createHash } from "node:crypto";
import {
  type Acknowledgement,
  type Block,
  checkPreconfirm,
  type NewOrder,
  type PreconfirmEvidence,
  type PreconfirmProof,
  type Session,
} from "@perpgate/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ASK, BID, BUY, newClient, newSession, startVenue } from "./testing/venue.js";

type OrderProof = PreconfirmProof & { readonly ack: Acknowledgement };
type OrderEvidence = PreconfirmEvidence & { readonly proof: OrderProof };

interface Checked {
  readonly name: string;
  readonly evidence: OrderEvidence;
}

const SELL = { ...BUY, side: "short" } as const;
const ETH = { symbol: "ETHUSD" } as const;

/** Status and reason of each order, in sequence, all in one block. */
const ORDERS: readonly [who: "maker" | "taker", order: NewOrder, ending: string][] = [
  ["maker", { ...ASK, price: 65_010 }, "resting"],
  ["maker", { ...ASK, price: 65_020.3, margin: 33.33 }, "resting"],
  ["maker", { ...ASK, price: 66_500, margin: 10 }, "resting"],
  ["taker", { ...BUY, margin: 120 }, "filled"],
  ["taker", { ...BUY, price: 65_020.3, margin: 500 }, "canceled worst_price"],
  ["taker", { ...BUY, margin: 500 }, "canceled book_empty"],
  ["maker", { ...BID, price: 64_000 }, "resting"],
  // It meets its own bid, which is canceled, and then nothing.
  ["maker", { ...SELL, margin: 500 }, "canceled book_empty"],
  ["maker", { ...BID, price: 64_000, margin: 500 }, "resting"],
  ["maker", { ...BID, price: 60_000 }, "resting"],
  ["taker", { ...BUY, type: "stop", price: 66_000 }, "pending"],
  ["taker", { ...SELL, margin: 10_000, leverage: 1, reduceOnly: true }, "filled"],
  ["taker", { ...SELL, margin: 900 }, "canceled band"],
  ["maker", { ...ASK, ...ETH, price: 3_210 }, "resting"],
  ["taker", { ...BUY, ...ETH, margin: 77.77, leverage: 3 }, "filled"],
];

let checked: readonly Checked[] = [];
let later: Checked;

beforeAll(async () => {
  const at = await startVenue({}, afterAll);
  const client = newClient(at, {}, afterAll);
  const sessions = { maker: await newSession(client), taker: await newSession(client) };
  // Sign-ins and the index are in an earlier block.
  await at.advance(200);
  const placed: { session: Session; answered: Acknowledgement; name: string }[] = [];
  for (const [who, order, ending] of ORDERS) {
    const session = sessions[who];
    const answered = await session.placeOrder(order);
    const { status, reason } = answered;
    expect([status, reason].filter((word) => word !== null).join(" ")).toBe(ending);
    placed.push({ session, answered, name: `${who}: ${order.type} ${order.side} ${ending}` });
  }
  await at.advance(200);
  const lastly = await sessions.taker.placeOrder(BID);
  placed.push({ session: sessions.taker, answered: lastly, name: "a block of one" });
  await at.advance(200);
  const markets = await client.markets();
  const all = await Promise.all(
    placed.map(async ({ session, answered, name }): Promise<Checked> => {
      const read = await session.preconfirm(answered.ackNonce);
      const proof = { ...read, ack: read.ack ?? none() };
      const block = await client.block(proof.block);
      return { name, evidence: { proof, block, markets, answered } };
    }),
  );
  checked = all.slice(0, -1);
  later = all.at(-1) ?? none();
});

function none(): never {
  throw new Error("there is no such order");
}

/** The taker's fill at two prices: an average with all its digits, and a path of several hashes. */
function sample(): OrderEvidence {
  return checked[3]?.evidence ?? none();
}

function codesOf(evidence: PreconfirmEvidence): string[] {
  return checkPreconfirm(evidence).problems.map(({ code }) => code);
}

function withProof(changes: Partial<PreconfirmProof>): PreconfirmEvidence {
  return { ...sample(), proof: { ...sample().proof, ...changes } };
}

function withAck(changes: Partial<Acknowledgement>): PreconfirmEvidence {
  return withProof({ ack: { ...sample().proof.ack, ...changes } });
}

function withBlock(changes: Partial<Block>): PreconfirmEvidence {
  return { ...sample(), block: { ...sample().block, ...changes } };
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}

function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

function bent(hex: string, byte = 5, mask = 1): string {
  const bytes = bytesOf(hex);
  bytes[byte] = (bytes[byte] ?? 0) ^ mask;
  return hexOf(bytes);
}

/** The leaf with one field changed by `step`. */
function leafWith(word: number, step: number): string {
  const bytes = bytesOf(sample().proof.leaf);
  bytes.writeDoubleLE(bytes.readDoubleLE(8 * word) + step, 8 * word);
  return hexOf(bytes);
}

describe("checkPreconfirm: valid proofs", () => {
  test("filled, resting, pending and canceled orders of two accounts and two markets all hold", () => {
    expect(checked.length).toBe(ORDERS.length);
    for (const { name, evidence } of [...checked, later]) {
      expect({ name, ...checkPreconfirm(evidence) }).toMatchObject({
        name,
        isProven: true,
        problems: [],
        leaf: { orderId: Number(evidence.proof.ack.orderId), block: evidence.block.number },
      });
      const { answered: _, ...without } = evidence;
      expect(checkPreconfirm(without).isProven).toBe(true);
    }
    expect(sample().block.ackCount).toBe(ORDERS.length);
    expect(later.evidence.block.ackCount).toBe(1);
    // Otherwise the averages would not be tested.
    expect(String(sample().proof.ack.avgFillPrice)).toMatch(/\.\d{4}/);
  });

  test("the account's number and session are those of the caller, the same in all its leaves", () => {
    const leaves = [...checked, later].map(({ evidence }) => checkPreconfirm(evidence).leaf);
    const owners = ORDERS.map(([who]) => who);
    const numbers = leaves.map((leaf) => `${leaf?.account} ${leaf?.session}`);
    expect(new Set(numbers).size).toBe(2);
    const [maker, taker] = [numbers[0], numbers[3]];
    expect(numbers.slice(0, -1)).toEqual(owners.map((who) => (who === "maker" ? maker : taker)));
  });
});

describe("checkPreconfirm: changed proofs", () => {
  test("leaf: every bit", () => {
    const { leaf } = sample().proof;
    for (let bit = 0; bit < 8 * 144; bit++) {
      const changed = bent(leaf, bit >> 3, 1 << (bit & 7));
      expect(codesOf(withProof({ leaf: changed })), `bit ${bit}`).toContain("root_differs");
    }
  });

  test("leaf: a field of the acknowledgement is named", () => {
    const fields: [word: number, field: string][] = [
      [1, "orderId"],
      [7, "nonce"],
      [8, "status"],
      [9, "reason"],
      [10, "filledSize"],
      [12, "feePaid"],
      [13, "remainingSize"],
      [14, "positionAfter.size"],
      [16, "positionAfter.unrealizedPnl"],
      [17, "expectedBlock"],
      [4, "symbol"],
    ];
    for (const [word, field] of fields) {
      const { problems } = checkPreconfirm(withProof({ leaf: leafWith(word, 1) }));
      expect(problems).toContainEqual(expect.objectContaining({ code: "ack_differs", field }));
      expect(problems).toContainEqual(expect.objectContaining({ code: "answer_differs", field }));
    }
    const turned = checkPreconfirm(withProof({ leaf: leafWith(5, -2) })).problems;
    expect(turned).toContainEqual(expect.objectContaining({ code: "ack_differs", field: "side" }));
    // A micro-dollar is below the twelfth digit of some averages; a dollar is not.
    for (const [word, field] of [
      [11, "avgFillPrice"],
      [15, "positionAfter.avgEntry"],
    ] as const) {
      const { problems } = checkPreconfirm(withProof({ leaf: leafWith(word, 1_000_000) }));
      expect(problems).toContainEqual(expect.objectContaining({ code: "ack_differs", field }));
    }
  });

  test("leaf: text that is not a leaf", () => {
    const { leaf } = sample().proof;
    for (const wrong of ["", "0x", leaf.slice(2), `${leaf}00`, leaf.slice(0, -2), `${leaf}0`]) {
      expect(codesOf(withProof({ leaf: wrong }))).toContain("leaf_unreadable");
    }
    expect(codesOf(withProof({ leaf: leafWith(4, 1_000) }))).toContain("market_mismatch");
    expect(codesOf(withProof({ leaf: leafWith(4, -1) }))).toContain("market_mismatch");
    expect(codesOf(withProof({ leaf: leafWith(10, 0.5) }))).toContain("leaf_unreadable");
  });

  test("acknowledgement: each field, in the proof and in the original response", () => {
    const { ack } = sample().proof;
    const changes: Partial<Acknowledgement>[] = [
      { ackNonce: "1" },
      { orderId: "1" },
      { symbol: "ETHUSD" },
      { side: "short" },
      { nonce: ack.nonce + 1 },
      { status: "resting" },
      { filledSize: ack.filledSize + 0.00001 },
      { remainingSize: 0.00001 },
      { avgFillPrice: Number((ack.avgFillPrice + 1e-7).toPrecision(12)) },
      { feePaid: ack.feePaid - 0.000001 },
      { expectedBlock: ack.expectedBlock + 1 },
      { reason: "band" },
      { clientOrderId: "other" },
    ];
    const position = ack.positionAfter;
    const nested: Partial<Acknowledgement["positionAfter"]>[] = [
      { size: -position.size },
      { avgEntry: position.avgEntry + 0.1 },
      { unrealizedPnl: position.unrealizedPnl + 0.000001 },
    ];
    const cases = [
      ...changes.map((change) => ({ field: Object.keys(change).join(), change })),
      ...nested.map((change) => ({
        field: `positionAfter.${Object.keys(change).join()}`,
        change: { positionAfter: { ...position, ...change } },
      })),
    ];
    const known = [
      ...Object.keys(ack),
      ...Object.keys(position).map((key) => `positionAfter.${key}`),
    ];
    const names = cases.map(({ field }) => field);
    expect(names.sort()).toEqual(known.filter((key) => key !== "positionAfter").sort());
    for (const { field, change } of cases) {
      const inProof = checkPreconfirm(withAck(change));
      expect(inProof).toMatchObject({
        isProven: false,
        problems: [{ code: "ack_differs", field }],
      });
      const answered = { ...ack, ...change };
      const inAnswer = checkPreconfirm({ ...sample(), answered });
      expect(inAnswer).toMatchObject({
        isProven: false,
        problems: [{ code: "answer_differs", field }],
      });
    }
  });

  test("path: an element changed, removed, added, swapped or not a hash", () => {
    const { path } = sample().proof;
    expect(path.length).toBeGreaterThan(2);
    path.forEach((hash, place) => {
      expect(codesOf(withProof({ path: path.with(place, bent(hash)) }))).toEqual(["root_differs"]);
      expect(codesOf(withProof({ path: path.toSpliced(place, 1) }))).toEqual(["path_too_short"]);
      const more = path.toSpliced(place, 0, hash);
      expect(codesOf(withProof({ path: more }))).toEqual(["path_too_long"]);
      for (const wrong of ["", "0x00", hash.slice(2), `${hash}00`, hash.replace(/.$/, "g")]) {
        const codes = codesOf(withProof({ path: path.with(place, wrong) }));
        expect(codes).toEqual(["path_unreadable"]);
      }
    });
    expect(codesOf(withProof({ path: [] }))).toEqual(["path_too_short"]);
    expect(codesOf(withProof({ path: path.toReversed() }))).toEqual(["root_differs"]);
  });

  test("index: every other one, and invalid ones", () => {
    const { index } = sample().proof;
    for (let other = 0; other < sample().block.ackCount; other++) {
      if (other === index) continue;
      // The last leaves have another height.
      expect(codesOf(withProof({ index: other }))).toEqual([
        expect.stringMatching(/^(root_differs|path_too_long)$/),
      ]);
    }
    for (const wrong of [ORDERS.length, -1, 0.5, Number.NaN, 2 ** 53]) {
      expect(codesOf(withProof({ index: wrong }))).toEqual(["index_outside_block"]);
    }
  });

  test("block: each field, and invalid values", () => {
    const { block } = sample();
    const changes: Record<keyof Block, [Partial<Block>, string[]]> = {
      number: [{ number: block.number + 1 }, ["other_block", "block_hash_differs"]],
      hash: [{ hash: bent(block.hash) }, ["block_hash_differs"]],
      parentHash: [{ parentHash: bent(block.parentHash) }, ["block_hash_differs"]],
      firstPosition: [{ firstPosition: "1" }, ["block_hash_differs"]],
      lastPosition: [{ lastPosition: "99999" }, ["block_hash_differs"]],
      ackCount: [{ ackCount: 2 ** 40 }, ["path_too_short", "block_hash_differs"]],
      acksRoot: [{ acksRoot: bent(block.acksRoot) }, ["root_differs", "block_hash_differs"]],
      ackListHash: [{ ackListHash: bent(block.ackListHash) }, ["block_hash_differs"]],
      eventsHash: [{ eventsHash: bent(block.eventsHash) }, ["block_hash_differs"]],
      time: [{ time: block.time + 200 }, ["block_hash_differs"]],
    };
    expect(Object.keys(changes).sort()).toEqual(Object.keys(block).sort());
    for (const [change, codes] of Object.values(changes)) {
      expect(codesOf(withBlock(change)), JSON.stringify(change)).toEqual(codes);
    }
    for (const wrong of [
      { time: -1 },
      { time: 0.5 },
      { parentHash: "0x" },
      { eventsHash: block.eventsHash.slice(2) },
      { acksRoot: "" },
      { firstPosition: "01" },
      { lastPosition: "99999999999999999" },
      { number: Number.NaN },
    ]) {
      expect(codesOf(withBlock(wrong)), JSON.stringify(wrong)).toContain("block_unreadable");
    }
    expect(codesOf(withProof({ block: block.number + 1 }))).toEqual(["other_block"]);
    expect(codesOf(withProof({ leaf: leafWith(17, 1) }))).toContain("other_block");
  });

  test("another order: its proof, leaf, index or block in place of the right one", () => {
    const mine = sample();
    for (const { name, evidence: other } of checked) {
      if (other === mine) continue;
      expect(codesOf({ ...mine, proof: other.proof }), name).toContain("answer_differs");
      expect(codesOf(withProof({ leaf: other.proof.leaf })), name).toContain("ack_differs");
      expect(codesOf(withProof({ ack: other.proof.ack })), name).toContain("ack_differs");
      const { index, leaf, path } = other.proof;
      expect(codesOf(withProof({ index, leaf, path })), name).not.toContain("root_differs");
      expect(codesOf(withProof({ index, leaf, path })), name).toContain("ack_differs");
    }
    const { block } = later.evidence;
    expect(codesOf({ ...mine, block })).toEqual([
      "other_block",
      "other_block",
      "index_outside_block",
    ]);
    expect(codesOf({ ...mine, proof: later.evidence.proof })).toContain("other_block");
  });

  test("market: another list, or other units", () => {
    const { markets } = sample();
    expect(codesOf({ ...sample(), markets: [] })).toEqual(["market_mismatch"]);
    expect(codesOf({ ...sample(), markets: [...markets].reverse() })).toContain("ack_differs");
    for (const lotSize of [0, Number.NaN, 1e-30, -1]) {
      const wrong = markets.map((market) => ({ ...market, lotSize }));
      expect(codesOf({ ...sample(), markets: wrong })).toEqual(["market_mismatch"]);
    }
    const coarse = markets.map((market) => ({ ...market, lotSize: 10 * market.lotSize }));
    expect(codesOf({ ...sample(), markets: coarse })).toContain("ack_differs");
  });

  test("a forged acknowledgement, leaf and root: the block's hash differs", () => {
    const { block, proof } = later.evidence;
    const leaf = bytesOf(proof.leaf);
    const nonce = proof.ack.nonce + 1;
    leaf.writeDoubleLE(nonce, 8 * 7);
    const acksRoot = createHash("sha256")
      .update(Buffer.concat([Buffer.of(0), leaf]))
      .digest();
    const forged: PreconfirmEvidence = {
      markets: later.evidence.markets,
      proof: { ...proof, ack: { ...proof.ack, nonce }, leaf: hexOf(leaf) },
      block: { ...block, acksRoot: hexOf(acksRoot) },
    };
    expect(codesOf(forged)).toEqual(["block_hash_differs"]);
  });
});

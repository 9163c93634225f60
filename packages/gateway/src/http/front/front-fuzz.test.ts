/**
 * The same bytes to a gateway with the front and to one without: the same orders reach the venue, and
 * the same answers come back. What the two read differently would be a way to smuggle a request.
 *
 * Every conversation ends by the server: a last request asks for it, and what follows that one fills
 * up any body that is short of bytes and is no request itself.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { runGateway } from "../../testing/running-gateway.js";
import { SAMPLE_ACK, sampleVenue } from "../../testing/sample-venue.js";
import type { Signed } from "../../venue-port.js";
import { Chance } from "../../ws/testing/order-flow.js";
import { everyOddOrder, oddOrder, plainOrder } from "./testing/odd-requests.js";
import {
  type Dial,
  exchangeAll,
  headerOf,
  type RawAnswer,
  rawGet,
  untimed,
} from "./testing/raw-http.js";

const RANDOM_CASES = 600;
const PIPELINED_CASES = 250;
const AT_ONCE = 50;
const LAST = rawGet("/healthz", { connection: "close" });
const FILLER = `${"x".repeat(40)}\r\n\r\n`.repeat(30);
/** So small that the filler is longer than any body. */
const LIMITS = { bodyBytes: 512 };

interface Side {
  readonly dial: Dial;
  /** The bodies of the orders that reached the venue, in their order, by connection. */
  readonly orders: string[];
}

async function runSide(hasFront: boolean): Promise<Side> {
  const { venue } = sampleVenue();
  const orders: string[] = [];
  const placeOrder = async (_caller: unknown, { body, bytes }: Signed<{ nonce: number }>) => {
    orders.push(Buffer.from(bytes).toString("latin1"));
    // As for a real order, the answer is there some turns later.
    await nextTurn();
    return { ...SAMPLE_ACK, nonce: body.nonce };
  };
  const { dial } = await runGateway({ venue: { ...venue, placeOrder }, hasFront, limits: LIMITS });
  return { dial, orders };
}

/** What Node says of bytes that it cannot make a request of: no request, so no id. */
function isOfConnection(answer: RawAnswer | undefined): boolean {
  return answer !== undefined && headerOf(answer, "x-request-id") === undefined;
}

/**
 * Node answers bytes that it cannot parse at once, and drops what is still under way; how much that
 * is depends on how the bytes came to its parser. Up to there the answers are the same. Whether they
 * are the same to the end is returned.
 */
function expectAlike(
  front: readonly RawAnswer[],
  node: readonly RawAnswer[],
  what: string,
): boolean {
  const [ofFront, ofNode] = [withoutLastWord(front), withoutLastWord(node)];
  const isCutShort = ofFront.length < front.length || ofNode.length < node.length;
  const shared = Math.min(ofFront.length, ofNode.length);
  if (isCutShort) expect(ofFront.slice(0, shared), what).toEqual(ofNode.slice(0, shared));
  else expect(ofFront, what).toEqual(ofNode);
  return ofFront.length === ofNode.length && front.length === node.length;
}

function withoutLastWord(answers: readonly RawAnswer[]): RawAnswer[] {
  return (isOfConnection(answers.at(-1)) ? answers.slice(0, -1) : answers).map(untimed);
}

interface Comparison {
  /** Orders that reached the venue behind the front. */
  readonly orders: readonly string[];
  readonly statuses: ReadonlySet<number>;
  /** Cases whose answers were the same to the end. */
  readonly alike: number;
}

async function compare(cases: readonly (readonly string[])[], seed: number): Promise<Comparison> {
  const [front, node] = [await runSide(true), await runSide(false)];
  const statuses = new Set<number>();
  let alike = 0;
  for (let first = 0; first < cases.length; first += AT_ONCE) {
    const conversations = cases
      .slice(first, first + AT_ONCE)
      .map((pieces) => [...pieces.slice(0, -1), (pieces.at(-1) ?? "") + LAST]);
    const fromFront = await exchangeAll(front.dial, conversations, FILLER);
    const fromNode = await exchangeAll(node.dial, conversations, FILLER);
    for (const [index, pieces] of conversations.entries()) {
      const [answers, expected] = [fromFront[index] ?? [], fromNode[index] ?? []];
      const isAlike = expectAlike(answers, expected, `seed ${seed}: ${JSON.stringify(pieces)}`);
      if (isAlike) alike++;
      for (const { status } of answers) statuses.add(status);
    }
    // Connections run side by side, so their orders are compared as a set.
    expect([...front.orders].sort(), `seed ${seed}, cases from ${first}`).toEqual(
      [...node.orders].sort(),
    );
  }
  return { orders: front.orders, statuses, alike };
}

test("nearly plain requests: read as Node reads them", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const chance = new Chance(seed);
  const random = Array.from({ length: RANDOM_CASES }, () => oddOrder(chance));
  const cases = [...everyOddOrder(), ...random].map((order) => [order]);
  const { statuses, alike } = await compare(cases, seed);
  expect(alike, `seed ${seed}`).toBeGreaterThan(cases.length / 2);
  // Otherwise the cases are not what they are meant to be.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 404, 413, 415]));
});

test("several requests in one piece, plain and odd: each answered once, in order", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const chance = new Chance(seed);
  const kinds = [
    plainOrder,
    plainOrder,
    () => rawGet("/v1/markets/BTCUSD/book"),
    () => rawGet("/v1/markets/BTCUSD/book?depth=1&other=1"),
    () => rawGet("/v1/markets"),
    () => plainOrder().replace("application/json", "application/json; charset=utf-8"),
    () => oddOrder(chance),
  ];
  const requestOf = () => kinds[chance.below(kinds.length)]!();
  const cases = Array.from({ length: PIPELINED_CASES }, () => {
    const count = 2 + chance.below(4);
    return [Array.from({ length: count }, requestOf).join("")];
  });
  const { alike } = await compare(cases, seed);
  expect(alike, `seed ${seed}`).toBeGreaterThan(cases.length / 2);
});

test("an order cut in two at every byte, and in many pieces: answered as in one", async () => {
  const whole = plainOrder();
  const cuts = Array.from({ length: whole.length - 1 }, (_, i) => i + 1);
  const cases = cuts.map((at) => [whole.slice(0, at), whole.slice(at)]);
  const two = plainOrder() + plainOrder();
  cases.push([...whole], [...two]);
  const { orders, statuses, alike } = await compare(cases, 0);
  expect([...statuses]).toEqual([200]);
  expect(orders).toHaveLength(cuts.length + 3);
  expect(alike).toBe(cases.length);
});

/** Receipts as a client gets them, and the log that they must appear in. */

import { POLL } from "@perpgate/journal/testing";
import { bytesFromHex, readAnswerLeaf, readBlockHeader } from "@perpgate/protocol/core";
import {
  ackDifferences,
  ackListHash,
  checkpointText,
  decodeReceipt,
  entriesOf,
  openCheckpoint,
  parseAckList,
  parseNoteKey,
  type Receipt,
  receiptProblem,
  requestHashOf,
  rootOfLeafHashes,
  sealedAcknowledgement,
  signatureLine,
  treeLeafHash,
  verifyOrderProof,
} from "@perpgate/protocol/receipts";
import { newLogKey, signWith, verify, verifyEd25519Now } from "@perpgate/venue";
import { afterAll, describe, expect, test } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { StreamClient } from "../ws/testing/stream-client.js";
import { newFolder, runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const { key: logKey } = newLogKey("venue.example/log");
const promises = { logKey, checkpointMs: 60_000 };
const shared = await runVenue({ promises }, afterAll);
const trust = { logKey: logKey.publicKey, verify: verifyEd25519Now };

interface BatchResult {
  readonly status: number;
  readonly ack?: Record<string, unknown>;
  readonly canceled?: Record<string, unknown>;
}

/** A cancel of its own is not signed. */
const NOTHING_SIGNED = "";

/** The receipt in an acknowledgement, completed as its owner would. */
function receiptIn(
  ack: Readonly<Record<string, unknown>>,
  trader: Trader,
  body: object | typeof NOTHING_SIGNED,
  venue = shared.venue,
): Receipt {
  const receipt = decodeReceipt(String(ack.receipt), {
    venueId: bytesFromHex(venue.listing.venueId ?? "")!,
    position: Number(ack.ackNonce),
    requestHash: requestHashOf(typeof body === "string" ? body : JSON.stringify(body)),
    address: bytesFromHex(trader.wallet.address)!,
    block: Number(ack.expectedBlock),
  });
  if (receipt === undefined) throw new Error(`no receipt in ${JSON.stringify(ack)}`);
  // Every answer has the bytes that are sealed, and says what they say.
  const bytes = Buffer.from(String(ack.leaf), "base64url");
  expect(Buffer.from(receipt.statement.leafHash)).toEqual(Buffer.from(treeLeafHash(bytes)));
  const leaf = readAnswerLeaf(new Uint8Array(bytes));
  const market = venue.views.markets()[leaf?.market ?? 0];
  if (leaf === undefined || market === undefined) throw new Error("the leaf cannot be read");
  const sealed = sealedAcknowledgement(leaf, market);
  if (typeof sealed === "string") throw new Error(sealed);
  expect(ackDifferences(sealed, ack)).toEqual([]);
  return receipt;
}

describe("receipts", () => {
  test("an order's: checked with the log's key alone, bound to the body, the account and the session", async () => {
    const trader = await Trader.enter(shared);
    const order = trader.limit("long", 60_000);
    const { body } = await trader.place(order);
    const receipt = receiptIn(body, trader, order);
    expect(await receiptProblem(receipt, trust)).toBeNull();
    expect(receipt).toMatchObject({ index: 0, size: 1 });
    expect(receipt.statement.session).toBe(Number(trader.token.split(".")[1]));
    const other = receiptIn(body, trader, { ...order, price: 60_001 });
    expect(await receiptProblem(other, trust)).toBe("the signature is not over this statement");
    const stranger = await Trader.enter(shared);
    expect(await receiptProblem(receiptIn(body, stranger, order), trust)).not.toBeNull();
    const foreign = { ...trust, logKey: newLogKey().key.publicKey };
    expect(await receiptProblem(receipt, foreign)).toBe(
      "the log's key did not certify the key of the receipt",
    );
  });

  test("a retry's: another tree, the same statement", async () => {
    const trader = await Trader.enter(shared);
    const order = trader.limit("long", 60_000);
    const first = await trader.place(order);
    await shared.advance(400);
    const again = await trader.place(order);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    const receipt = receiptIn(again.body, trader, order);
    expect(await receiptProblem(receipt, trust)).toBeNull();
    expect(receipt.statement).toEqual(receiptIn(first.body, trader, order).statement);
    expect(receipt.size).toBe(1);
  });

  test("orders at the same time: one tree for those of one batch of the log", async () => {
    const trader = await Trader.enter(shared);
    const orders = Array.from({ length: 8 }, (_, i) => trader.limit("long", 60_000 + i));
    const answers = await Promise.all(orders.map((order) => trader.place(order)));
    const receipts = answers.map(({ body }, i) => receiptIn(body, trader, orders[i]!));
    for (const receipt of receipts) expect(await receiptProblem(receipt, trust)).toBeNull();
    for (const { signature } of receipts) {
      const tree = receipts.filter((other) => other.signature.join() === signature.join());
      expect(tree.map(({ index }) => index).sort()).toEqual(tree.map((_, i) => i));
      expect(tree[0]?.size).toBe(tree.length);
    }
  });

  test("orders one at a time, then together, then one at a time: each has its own receipt", async () => {
    const trader = await Trader.enter(shared);
    let price = 60_000;
    for (const together of [1, 1, 1, 6, 1, 1, 1, 3, 1]) {
      const orders = Array.from({ length: together }, () => trader.limit("long", price++));
      const answers = await Promise.all(orders.map((order) => trader.place(order)));
      for (const [i, { body }] of answers.entries()) {
        expect(await receiptProblem(receiptIn(body, trader, orders[i]!), trust)).toBeNull();
      }
    }
  });

  test("a signed batch and an amendment: each acknowledgement has its own, also when repeated", async () => {
    const trader = await Trader.enter(shared);
    const place = { op: "place", symbol: "BTCUSD", side: "long", type: "limit", leverage: 5 };
    const body = {
      nonce: 7,
      operations: [
        { ...place, size: 0.01, price: 60_000, clientOrderId: "one" },
        { ...place, size: 0.01, price: 50_000_000 },
        { op: "amend", clientOrderId: "one", price: 60_100 },
        { op: "cancel", clientOrderId: "one" },
      ],
    };
    const statements = [];
    for (let round = 0; round < 2; round++) {
      const answer = await trader.signed("/v1/orders/batch", body);
      const { results }: { results: BatchResult[] } = JSON.parse(answer.text);
      expect(results.map(({ status }) => status)).toEqual([200, 400, 200, 200]);
      const answers = results.map(({ ack, canceled }) => ack ?? canceled);
      const acks = answers.filter((answer) => answer !== undefined);
      expect(acks[2]).toMatchObject({ orderId: acks[0]?.orderId, remainingSize: 0.01 });
      const receipts = acks.map((ack) => receiptIn(ack, trader, body));
      for (const receipt of receipts) expect(await receiptProblem(receipt, trust)).toBeNull();
      statements.push(receipts.map(({ statement }) => statement));
    }
    expect(statements[0]).toEqual(statements[1]);
    expect(statements[0]).toHaveLength(3);
  });

  test("a cancel's, by id and by the client's: of no request, and what it says is sealed", async () => {
    const trader = await Trader.enter(shared);
    const order = trader.limit("long", 60_000);
    const { orderId } = (await trader.place(order)).body;
    await trader.place({ ...trader.limit("long", 60_000), clientOrderId: "mine" });
    const named = { clientOrderId: "mine" };
    const answers = [await trader.cancel(orderId), await trader.send("/v1/orders/cancel", named)];
    for (const { status, body } of answers) {
      expect([status, body.status]).toEqual([200, "canceled"]);
      const receipt = receiptIn(body, trader, NOTHING_SIGNED);
      expect(await receiptProblem(receipt, trust)).toBeNull();
      expect(receipt.statement.session).toBe(Number(trader.token.split(".")[1]));
      expect(receipt.statement.timeMs).toBe(body.time);
    }
    const refused = await trader.cancel(orderId);
    expect(refused.status).toBe(409);
    expect(Object.keys(refused.body)).not.toEqual(expect.arrayContaining(["receipt"]));
  });

  test("a cancel over the socket: the same", async () => {
    const trader = await Trader.enter(shared);
    const { orderId } = (await trader.place(trader.limit("long", 60_000))).body;
    const socket = await StreamClient.connect(shared.url, trader.token);
    const { canceled }: { canceled?: unknown } = (await socket.ask({ op: "cancel", orderId })).d;
    const receipt = receiptIn(Object(canceled), trader, NOTHING_SIGNED);
    expect(await receiptProblem(receipt, trust)).toBeNull();
  });

  test("over the socket: the same", async () => {
    const trader = await Trader.enter(shared);
    const socket = await StreamClient.connect(shared.url, trader.token);
    const order = trader.limit("long", 60_000);
    const body = JSON.stringify(order);
    const sig = trader.signatureOf(body)["x-service-sig"];
    const answer = await socket.ask({ op: "order", body, sig });
    const { ack }: { ack?: unknown } = answer.d;
    const receipt = receiptIn(Object(ack), trader, order);
    expect(await receiptProblem(receipt, trust)).toBeNull();
  });
});

async function bytesAt(path: string): Promise<Uint8Array> {
  const response = await fetch(shared.url + path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  return new Uint8Array(await response.arrayBuffer());
}

describe("the transparency log", () => {
  test("a receipt's leaf: in the list of its block, whose header is an entry under the checkpoint", async () => {
    const trader = await Trader.enter(shared);
    const order = trader.limit("long", 60_000);
    const { statement } = receiptIn((await trader.place(order)).body, trader, order);
    await shared.advance(400);
    await shared.venue.promises?.log.advance();
    const response = await fetch(`${shared.url}/tlog/checkpoint`);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const checkpoint = await openCheckpoint(
      await response.text(),
      parseNoteKey(logKey.text)!,
      verifyEd25519Now,
    );
    if (typeof checkpoint === "string") throw new Error(checkpoint);
    const { size, root } = checkpoint;
    expect(size).toBeGreaterThanOrEqual(statement.block);
    const entries = entriesOf(await bytesAt(`/tlog/tile/entries/000.p/${size}`))!;
    expect(rootOfLeafHashes(entries.map(treeLeafHash))).toEqual(root);
    const tile = await bytesAt(`/tlog/tile/0/000.p/${size}`);
    expect(tile).toEqual(new Uint8Array(Buffer.concat(entries.map(treeLeafHash))));
    const header = readBlockHeader(entries[statement.block - 1]!)!;
    const list = await bytesAt(`/tlog/acks/${statement.block}`);
    expect(ackListHash(list)).toEqual(header.ackListHash);
    const acks = parseAckList(list)!;
    expect(rootOfLeafHashes(acks.map(({ leafHash }) => leafHash))).toEqual(header.acksRoot);
    const { position, leafHash } = statement;
    expect(acks).toContainEqual({ position, leafHash });
  });

  test("a proof: one text file that is checked with the log's key alone; the preconfirm has it, too", async () => {
    const trader = await Trader.enter(shared);
    const order = trader.limit("long", 60_000);
    const ack = (await trader.place(order)).body;
    const { statement } = receiptIn(ack, trader, order);
    await shared.advance(400);
    const path = `/v1/preconfirms/${ack.ackNonce}`;
    expect((await trader.get(`${path}/proof`)).body.code).toBe("not_in_checkpoint");
    expect((await trader.get(path)).body.log).toBeNull();
    await shared.venue.promises?.log.advance();
    const { text, headers } = await trader.get(`${path}/proof`);
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const checked = await verifyOrderProof(text, verifyEd25519Now, { logKey: logKey.text });
    if (typeof checked === "string") throw new Error(checked);
    expect(checked.leafHash).toEqual(statement.leafHash);
    expect(checked.leaf).toMatchObject({ ackNonce: statement.position, block: statement.block });
    const other = newLogKey("venue.example/log").key.text;
    expect(await verifyOrderProof(text, verifyEd25519Now, { logKey: other })).toBe(
      "the log's key did not sign the checkpoint",
    );
    expect((await trader.get(path)).body.log).toMatchObject({
      checkpoint: shared.venue.promises?.log.published?.note,
    });
    const stranger = await Trader.enter(shared);
    expect((await stranger.get(`${path}/proof`)).body.code).toBe("preconfirm_not_found");
  });

  test("a cancel's proof: the same file, and the preconfirm shows what was canceled", async () => {
    const trader = await Trader.enter(shared);
    const { orderId } = (await trader.place(trader.limit("long", 60_000))).body;
    const canceled = (await trader.cancel(orderId)).body;
    const { statement } = receiptIn(canceled, trader, NOTHING_SIGNED);
    await shared.advance(400);
    await shared.venue.promises?.log.advance();
    const path = `/v1/preconfirms/${canceled.ackNonce}`;
    const { text } = await trader.get(`${path}/proof`);
    const checked = await verifyOrderProof(text, verifyEd25519Now, { logKey: logKey.text });
    if (typeof checked === "string") throw new Error(checked);
    expect(checked.leafHash).toEqual(statement.leafHash);
    expect(checked.leaf).toMatchObject({ kind: "cancel", orderId: Number(orderId) });
    const shown = (await trader.get(path)).body;
    const { time: _time, receipt: _receipt, leaf: _leaf, ...sealed } = canceled;
    expect([shown.canceled, shown.ack]).toEqual([sealed, undefined]);
    const stranger = await Trader.enter(shared);
    expect((await stranger.get(path)).body.code).toBe("preconfirm_not_found");
  });

  test("honesty: counted from the log, as verify counts it", async () => {
    const { receipts } = await verify(shared.directory);
    const { issued, sealed, notKept, sealedMs } = receipts;
    const honesty = async () => (await ask(`${shared.url}/v1/honesty`)).body;
    // The record is read in slices, and may be some blocks behind.
    await expect
      .poll(honesty, POLL)
      .toMatchObject({ issued, sealed, notKept, sealedMs, logKey: logKey.text, witnesses: [] });
    expect(issued).toBeGreaterThan(10);
    expect(notKept).toBe(0);
  });

  test("what is not published: not found", async () => {
    const { size } = shared.venue.promises!.log.published!;
    await shared.setIndex("BTCUSD", 65_000);
    await shared.advance(400);
    for (const path of [
      `/tlog/tile/0/000.p/${size + 1}`,
      `/tlog/tile/entries/000.p/${size + 1}`,
      "/tlog/tile/0/000",
      "/tlog/tile/1/000.p/1",
      "/tlog/tile/0/0",
      "/tlog/acks/0",
      "/tlog/acks/99999",
    ]) {
      expect((await fetch(shared.url + path)).status, path).toBe(404);
    }
  });

  test("in conflict: the last checkpoint that nothing contradicts is served, and status and readiness name it", async () => {
    const at = await runVenue({ promises });
    const { log } = at.venue.promises!;
    const trader = await Trader.enter(at);
    const seal = async () => {
      await trader.place(trader.limit("long", 60_000));
      await at.advance(400);
      await log.advance();
      return log.published!;
    };
    const uncontradicted = await seal();
    const { size } = await seal();
    for (const path of ["/readyz", "/v1/status"]) {
      expect((await ask(at.url + path)).body).not.toHaveProperty("conflict");
    }
    const text = checkpointText({ origin: logKey.name, size, root: new Uint8Array(32) });
    const signature = signWith(logKey.privateKey, Buffer.from(text));
    await log.adopt(`${text}\n${signatureLine(logKey, signature)}`);
    const conflict = `another gateway has signed ${size} other blocks`;
    for (const path of ["/readyz", "/v1/status", "/v1/honesty"]) {
      expect(await ask(at.url + path)).toMatchObject({ status: 200, body: { conflict } });
    }
    const served = await fetch(`${at.url}/tlog/checkpoint`);
    expect(await served.text()).toBe(uncontradicted.note);
    expect(await (await fetch(`${at.url}/tlog/successors`)).json()).toEqual([]);
    expect(await (await fetch(`${at.url}/tlog/policy`)).text()).toBe(
      `log ${logKey.text}\nquorum none\n`,
    );
    await at.stop();
  });

  test("a restart: the checkpoint continues; the receipt key is a new one, certified by the same log key", async () => {
    const directory = newFolder();
    const sizes: number[] = [];
    const keys: Uint8Array[] = [];
    for (let life = 0; life < 2; life++) {
      const at = await runVenue({ directory, promises });
      const trader = await Trader.enter(at);
      const order = trader.limit("long", 60_000);
      const receipt = receiptIn((await trader.place(order)).body, trader, order, at.venue);
      expect(await receiptProblem(receipt, trust)).toBeNull();
      keys.push(receipt.receiptKey);
      await at.advance(400);
      await at.venue.promises?.log.advance();
      sizes.push(at.venue.promises?.log.published?.size ?? 0);
      expect(at.venue.promises?.log.conflict).toBeNull();
      await at.stop();
    }
    expect(sizes[1]).toBeGreaterThan(sizes[0]!);
    expect(keys[0]).not.toEqual(keys[1]);
  });
});

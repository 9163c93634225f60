/** Exits in the venue: views, changes, acknowledgement and leaf, a restart, and the check of what is signed. */
import { generateKeyPairSync, sign } from "node:crypto";
import type { OrderExits, PlaceOrder } from "@perpgate/engine";
import { addressOf, openSession } from "@perpgate/engine/testing";
import { exitId, readLeaf, STOP_LOSS_EXIT, TAKE_PROFIT_EXIT } from "@perpgate/protocol/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  acknowledged,
  amendCommand,
  orderCommand,
  removeFolder,
  START_MS,
  signInMessage,
  TestVenue,
  temporaryFolder,
} from "../testing/test-venue.js";
import { fingerprintOf } from "./key-signature.js";
import { verify } from "./verify.js";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const RAW = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
const KEY = fingerprintOf(RAW);
const ADDRESS = addressOf(1);
const RESOURCE = `urn:perpgate:session?key=${RAW.toString("hex")}`;
const EXITS: OrderExits = {
  takeProfitTicks: 660_000,
  takeProfitLimitTicks: 659_000,
  stopLossTicks: 640_000,
  stopLossLimitTicks: 0,
};
const BODY = {
  ...{ symbol: "BTCUSD", side: "long", type: "limit", margin: 5, leverage: 10, price: 65_000 },
  takeProfit: { price: 66_000, limitPrice: 65_900 },
  stopLoss: { price: 64_000 },
  nonce: 1,
};

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

function evidenceOf(body: unknown) {
  const signed = Buffer.from(JSON.stringify(body));
  return { signed, signature: sign(null, signed, privateKey), publicKey: new Uint8Array(0) };
}

async function openVenue(): Promise<{ driver: TestVenue; session: number }> {
  const driver = await TestVenue.open(folder);
  await driver.index();
  const siweNonce = "nonce1";
  const { seq } = await driver.submit(
    openSession({
      stampMs: START_MS,
      address: ADDRESS,
      key: KEY,
      tokenHash: "1".padStart(64, "0"),
      siweNonce,
    }),
    {
      signed: Buffer.from(signInMessage(ADDRESS, siweNonce, [RESOURCE])),
      signature: Buffer.from(ADDRESS),
      publicKey: RAW,
    },
  );
  return { driver, session: seq };
}

function withExits(session: number, exits: OrderExits = EXITS): PlaceOrder {
  return { ...orderCommand(session, 1, "long", 650_000, 5), key: KEY, exits };
}

/** Views of the account's orders, from wherever they come. */
function ordersOf({ venue }: TestVenue, session: number) {
  const { views } = venue;
  const account = views.session(session)?.account ?? 0;
  return {
    open: views.openOrders(account),
    all: views.orders(account, {}),
    fills: views.fills(account, {}),
  };
}

describe("exits in the venue", () => {
  test("they are listed, sized, paged and found after a restart like orders", async () => {
    const { driver, session } = await openVenue();
    const placed = await driver.submit(withExits(session), evidenceOf(BODY));
    const id = String(placed.seq);
    const ack = acknowledged(placed.outcome);
    expect(ack).toMatchObject({
      orderId: id,
      exits: [
        { orderId: `${id}.1`, kind: "takeProfit" },
        { orderId: `${id}.2`, kind: "stopLoss" },
      ],
    });
    const account = driver.venue.views.session(session)?.account ?? 0;
    expect(ordersOf(driver, session).open).toMatchObject([
      { orderId: id, status: "resting" },
      {
        ...{ orderId: `${id}.1`, parentOrderId: id, type: "stop", trigger: "takeProfit" },
        ...{ price: 66_000, limitPrice: 65_900, reduceOnly: true, remainingSize: 0 },
        ...{ side: "short", status: "pending", nonce: 1, timeInForce: "gtc" },
      },
      { orderId: `${id}.2`, parentOrderId: id, trigger: "stop", price: 64_000, limitPrice: null },
    ]);
    const maker = await driver.signIn(2);
    await driver.order(maker, 1, "short", 650_000, 2);
    const covered = ordersOf(driver, session).open.map((order) => order.remainingSize);
    expect(covered[1]).toBeGreaterThan(0);
    expect(covered[1]).toBe(covered[2]);
    const amended = await driver.submit(
      amendCommand(session, 2, {
        key: KEY,
        orderId: exitId(placed.seq, TAKE_PROFIT_EXIT),
        priceTicks: 661_000,
      }),
      evidenceOf({ orderId: `${id}.1`, price: 66_100, nonce: 2 }),
    );
    expect(acknowledged(amended.outcome)).toMatchObject({ orderId: `${id}.1`, status: "pending" });
    await driver.submit({
      ...{ kind: "CancelOrder", stampMs: START_MS, session },
      orderId: exitId(placed.seq, STOP_LOSS_EXIT),
    });
    const before = ordersOf(driver, session);
    expect(before.all.map(({ orderId }) => orderId)).toEqual([`${id}.2`, `${id}.1`, id]);
    await driver.venue.close();
    const reopened = await TestVenue.open(folder);
    expect(ordersOf(reopened, session)).toEqual(before);
    const { views } = reopened.venue;
    const page = (query: { before?: string; after?: string }) =>
      views.orders(account, query).map(({ orderId }) => orderId);
    expect([page({ before: `${id}.1` }), page({ after: id }), page({ after: `${id}.1` })]).toEqual([
      [id],
      [`${id}.1`, `${id}.2`],
      [`${id}.2`],
    ]);
    expect(views.order(account, exitId(placed.seq, STOP_LOSS_EXIT))).toMatchObject({
      orderId: `${id}.2`,
      status: "canceled",
      reason: "requested",
    });
    await reopened.venue.close();
    expect((await verify(folder, {})).fault).toBeNull();
  });

  test("the leaf names them, and that of an order without any has the bytes it had", async () => {
    const { driver, session } = await openVenue();
    const { seq } = await driver.submit(withExits(session), evidenceOf(BODY));
    const plain = await driver.submit({
      ...orderCommand(session, 2, "long", 640_000, 5),
      key: KEY,
    });
    await driver.venue.history.flush();
    const [withThem, without] = [seq, plain.seq].map((position) => {
      const row = driver.venue.history.ack(position);
      return row === undefined ? undefined : readLeaf(row.leaf);
    });
    expect([withThem?.type, withThem?.exits]).toEqual([1, 3]);
    expect([without?.type, without?.exits]).toEqual([1, 0]);
    await driver.venue.close();
  });
});

async function verified() {
  const recover = async (_: Uint8Array, signature: Uint8Array) => Buffer.from(signature).toString();
  return (await verify(folder, { signatures: recover })).fault;
}

describe("verify --signatures", () => {
  const { stopLoss, ...withoutLoss } = BODY;
  const different: readonly (readonly [string, unknown, string])[] = [
    ["none", withoutLoss, "stopLoss.price"],
    [
      "another price",
      { ...BODY, takeProfit: { price: 67_000, limitPrice: 65_900 } },
      "takeProfit.price",
    ],
    ["no limit", { ...BODY, takeProfit: { price: 66_000 } }, "takeProfit.limitPrice"],
    [
      "a limit more",
      { ...BODY, stopLoss: { ...stopLoss, limitPrice: 64_000 } },
      "stopLoss.limitPrice",
    ],
    ["a field more", { ...BODY, stopLoss: { ...stopLoss, size: 1 } }, "stopLoss.size"],
    ["no object", { ...BODY, stopLoss: 64_000 }, "stopLoss"],
  ];
  test.each(different)("the signed body has %s: a fault", async (_, body, field) => {
    const { driver, session } = await openVenue();
    await driver.submit(withExits(session), evidenceOf(body));
    await driver.venue.close();
    expect((await verified())?.reason).toContain(field);
  });

  test("the signed body has those of the command, also of an amendment: agrees", async () => {
    const { driver, session } = await openVenue();
    const { seq } = await driver.submit(withExits(session), evidenceOf(BODY));
    const orderId = exitId(seq, TAKE_PROFIT_EXIT);
    const { outcome } = await driver.submit(
      amendCommand(session, 2, { key: KEY, orderId, priceTicks: 661_000 }),
      evidenceOf({ orderId: `${seq}.1`, price: 66_100, nonce: 2 }),
    );
    expect(outcome.kind).toBe("acknowledged");
    await driver.venue.close();
    expect(await verified()).toBeNull();
  });

  test("the command has exits that the body lacks, or lacks those that it has: a fault", async () => {
    const { driver, session } = await openVenue();
    const { exits: _, ...plain } = withExits(session);
    await driver.submit(plain, evidenceOf(BODY));
    await driver.venue.close();
    expect((await verified())?.reason).toContain("takeProfit.price");
  });
});

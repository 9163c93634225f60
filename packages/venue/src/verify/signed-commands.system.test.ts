/** Amendments, changes of margin and batches: their results for a retry, and the check of what is signed. */
import { generateKeyPairSync, sign } from "node:crypto";
import type {
  AmendOrder,
  CancelOrder,
  ChangeMargin,
  Command,
  OpenSession,
  PlaceOrder,
} from "@perpgate/engine";
import { addressOf, openSession } from "@perpgate/engine/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
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
const nothing = new Uint8Array(0);

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

function evidenceOf(body: unknown) {
  const signed = Buffer.from(JSON.stringify(body));
  return { signed, signature: sign(null, signed, privateKey), publicKey: nothing };
}

async function openVenue(): Promise<{ driver: TestVenue; session: number }> {
  const driver = await TestVenue.open(folder);
  await driver.index();
  return { driver, session: await signIn(driver, 1) };
}

const RESOURCE = `urn:perpgate:session?key=${RAW.toString("hex")}`;

interface SignIn {
  readonly resource?: string;
  readonly statement?: string;
  readonly expirationTime?: string;
  /** Falsifies the command. */
  readonly command?: Partial<OpenSession>;
}

/** A session of the account; `visit` makes several of them distinct. */
async function signIn(driver: TestVenue, visit: number, given: SignIn = {}): Promise<number> {
  const { resource = RESOURCE, command, ...more } = given;
  const siweNonce = `nonce${visit}`;
  const resources = resource === "" ? [] : [resource];
  const { seq } = await driver.submit(
    openSession({
      stampMs: START_MS,
      address: ADDRESS,
      key: KEY,
      tokenHash: String(visit).padStart(64, "0"),
      siweNonce,
      ...command,
    }),
    {
      signed: Buffer.from(signInMessage(ADDRESS, siweNonce, resources, more)),
      signature: Buffer.from(ADDRESS),
      publicKey: RAW,
    },
  );
  return seq;
}

function order(session: number, nonce: number, price: number): PlaceOrder {
  return { ...orderCommand(session, nonce, "long", price, 5), key: KEY };
}

const ORDER_BODY = { symbol: "BTCUSD", side: "long", type: "limit", margin: 5, leverage: 10 };

function amendment(session: number, nonce: number, changes: Partial<AmendOrder>): AmendOrder {
  return amendCommand(session, nonce, { key: KEY, ...changes });
}

type Operation = PlaceOrder | AmendOrder | CancelOrder;

/** Submits a batch as a gateway does; returns the kinds of its outcomes. */
async function sendBatch(
  driver: TestVenue,
  nonce: number,
  operations: readonly Operation[],
  body: unknown,
): Promise<string[]> {
  const count = operations.length;
  const commands = operations.map((operation, index): Command => {
    return { ...operation, batch: { index, count, key: KEY, nonce } };
  });
  const kinds: string[] = [];
  await new Promise<void>((resolve) => {
    driver.venue.submitTogether(commands, evidenceOf(body), (applied, index) => {
      const outcome = applied === null ? null : driver.venue.views.outcome(applied);
      kinds.push(outcome?.kind ?? "stopped");
      if (index === count - 1) resolve();
    });
  });
  return kinds;
}

async function reported() {
  const recover = async (_: Uint8Array, signature: Uint8Array) => Buffer.from(signature).toString();
  return verify(folder, { signatures: recover });
}

async function verified() {
  return (await reported()).fault;
}

/** A venue with an order, its amendment, and a batch of one place, one refusal, one cancel. */
async function batchVenue() {
  const { driver, session } = await openVenue();
  const placed = await driver.submit(
    order(session, 1, 640_000),
    evidenceOf({ ...ORDER_BODY, price: 64_000, nonce: 1 }),
  );
  const orderId = String(placed.seq);
  await driver.submit(
    amendment(session, 2, { orderId: placed.seq, priceTicks: 641_000 }),
    evidenceOf({ orderId, price: 64_100, nonce: 2 }),
  );
  const operations: Operation[] = [
    order(session, 3, 630_000),
    amendment(session, 3, { orderId: 1, sizeLots: 5 }),
    { kind: "CancelOrder", stampMs: START_MS, session, orderId: placed.seq },
  ];
  const body = {
    nonce: 3,
    operations: [
      { op: "place", ...ORDER_BODY, price: 63_000 },
      { op: "amend", orderId: "1", size: 0.00005 },
      { op: "cancel", orderId },
    ],
  };
  return { driver, session, placed: placed.seq, operations, body };
}

describe("results by nonce", () => {
  test("a batch: those of each operation, refusals included, also after a restart", async () => {
    const { driver, session, placed, operations, body } = await batchVenue();
    const kinds = await sendBatch(driver, 3, operations, body);
    expect(kinds).toEqual(["acknowledged", "refused", "executed"]);
    const first = driver.venue.seq - 2;
    const read = (venue: TestVenue["venue"]) => {
      const { views } = venue;
      const live = views.session(session);
      if (live === undefined) throw new Error("the session is gone");
      return {
        batch: views.batchOf(live, 3),
        amended: views.acknowledgement(views.seqOfNonce(live, 2)),
        live,
        views,
      };
    };
    const { batch, amended } = read(driver.venue);
    expect(batch).toMatchObject({
      seq: first,
      operations: [
        { kind: "acknowledged", acknowledgement: { orderId: String(first), nonce: 3 } },
        { kind: "refused", refusal: "order_not_amendable" },
        { kind: "canceled", canceled: { orderId: String(placed), ackNonce: String(first + 2) } },
      ],
    });
    expect(amended?.acknowledgement).toMatchObject({ orderId: String(placed), status: "resting" });
    const again = await sendBatch(driver, 3, operations, body);
    expect(again).toEqual(["replayed", "replayed", "replayed"]);
    await driver.venue.close();
    const reopened = await TestVenue.open(folder);
    const after = read(reopened.venue);
    expect(after.batch).toEqual(batch);
    expect(after.views.batchOf(after.live, 2)).toBeUndefined();
    expect(after.views.marginChangeOf(after.live, 3)).toBeUndefined();
    await reopened.venue.close();
    expect(await verified()).toBeNull();
  });

  test("a change of margin", async () => {
    const { driver, session } = await openVenue();
    const maker = await driver.signIn(2);
    await driver.order(maker, 1, "short", 650_000, 1_000);
    await driver.order(session, 1, "long", 650_000, 100);
    const change: ChangeMargin = {
      kind: "ChangeMargin",
      stampMs: START_MS,
      session,
      key: KEY,
      nonce: 7,
      market: 0,
      amountMicros: 1_500_000,
    };
    const { outcome } = await driver.submit(
      change,
      evidenceOf({ symbol: "BTCUSD", amount: 1.5000009, nonce: 7 }),
    );
    // Without the key of the session the order above was refused: there is no position.
    expect(outcome.kind).toBe("refused");
    await driver.submit(
      { ...order(session, 2, 650_000), type: 0, priceTicks: 0 },
      evidenceOf({ ...ORDER_BODY, type: "market", nonce: 2 }),
    );
    await driver.submit(change, evidenceOf({ symbol: "BTCUSD", amount: 1.5000009, nonce: 7 }));
    const { views } = driver.venue;
    const live = views.session(session);
    if (live === undefined) throw new Error("the session is gone");
    expect(views.marginChangeOf(live, 7)).toMatchObject({
      seq: driver.venue.seq,
      change: { ackNonce: String(driver.venue.seq), symbol: "BTCUSD", amount: 1.5, nonce: 7 },
    });
    expect(views.batchOf(live, 7)).toBeUndefined();
    await driver.venue.close();
  });
});

describe("verify --signatures", () => {
  const falsified: readonly (readonly [string, (body: BatchText) => unknown, string])[] = [
    [
      "another price",
      ({ nonce, operations }) => change(nonce, operations, 0, { price: 62_000 }),
      "price",
    ],
    [
      "another target",
      ({ nonce, operations }) => change(nonce, operations, 2, { orderId: "9" }),
      "orderId",
    ],
    [
      "another operation",
      ({ nonce, operations }) => change(nonce, operations, 2, { op: "amend" }),
      "op",
    ],
    [
      "a field more",
      ({ nonce, operations }) => change(nonce, operations, 1, { margin: 5 }),
      "margin",
    ],
    ["another nonce", ({ operations }) => ({ nonce: 4, operations }), "nonce"],
    [
      "fewer operations",
      ({ nonce, operations }) => ({ nonce, operations: operations.slice(0, 2) }),
      "operations",
    ],
    ["a time limit", (body) => ({ ...body, validUntil: START_MS }), "validUntil"],
  ];
  for (const [what, falsify, field] of falsified) {
    test(`a batch whose body says otherwise: ${what}`, async () => {
      const { driver, operations, body } = await batchVenue();
      await sendBatch(driver, 3, operations, falsify(body));
      await driver.venue.close();
      expect((await verified())?.reason).toContain(field);
    });
  }

  test("a batch that is cut off at the end of the log: a fault", async () => {
    const { driver, operations, body } = await batchVenue();
    const [first] = operations;
    const batch = { index: 0, count: 3, key: KEY, nonce: 3 };
    const { seq } = await driver.submit({ ...first!, batch }, evidenceOf(body));
    await driver.venue.history.flush();
    expect(await verified()).toEqual({
      position: seq,
      reason: `the batch of ${seq} ends after 1 operations`,
    });
    await driver.venue.close();
  });

  test("operations without a signed batch before them", async () => {
    const { driver, session } = await batchVenue();
    const batch = { index: 1, count: 3, key: KEY, nonce: 3 };
    await driver.submit({ ...order(session, 3, 630_000), batch });
    await driver.venue.close();
    expect((await verified())?.reason).toContain("no signed batch");
  });

  describe("a sign-in and its message", () => {
    const ELSE = "00".repeat(32);
    const MORE = "&maxOrderNotional=100&maxNotional=2500.5&symbols=ETHUSD,BTCUSD";
    const limited = {
      resource: RESOURCE + MORE,
      command: {
        maxOrderNotionalMicros: 100_000_000,
        maxNotionalMicros: 2_500_500_000,
        markets: [1, 0],
      },
    };
    const inTwoDays = new Date(START_MS + 2 * 86_400_000).toISOString();

    async function faultOf(given: SignIn): Promise<string | null> {
      const { driver } = await openVenue();
      await signIn(driver, 2, given);
      await driver.venue.close();
      return (await verified())?.reason ?? null;
    }

    const honest: readonly (readonly [string, SignIn])[] = [
      ["caps and markets", limited],
      ["no resource", { resource: "" }],
      ["another resource", { resource: "https://a.example/terms" }],
      ["a statement that names another key", { statement: `- urn:perpgate:session?key=${ELSE}` }],
      [
        "a statement that names another key, and no resource",
        { statement: `- urn:perpgate:session?key=${ELSE}`, resource: "" },
      ],
      ["a statement that names another nonce", { statement: "Nonce: nonce1" }],
      ["a statement that is called Resources", { statement: "Resources:", resource: "" }],
      ["a key with a prefix", { resource: RESOURCE.replace("key=", "key=0x") }],
      [
        "an end in two days",
        { expirationTime: inTwoDays, command: { expiresAtMs: START_MS + 2 * 86_400_000 } },
      ],
    ];
    test.each(honest)("%s: agrees", async (_, given) => {
      expect(await faultOf(given)).toBeNull();
    });

    const different: readonly (readonly [string, SignIn, string])[] = [
      ["another nonce", { command: { siweNonce: "nonce3" } }, "the nonce nonce2, logged nonce3"],
      [
        "no cap on an order",
        { ...limited, command: { ...limited.command, maxOrderNotionalMicros: 0 } },
        "maxOrderNotional: signed 100000000, logged none",
      ],
      [
        "another cap on the account",
        { ...limited, command: { ...limited.command, maxNotionalMicros: 2_500_500_001 } },
        "maxNotional: signed 2500500000, logged 2500500001",
      ],
      [
        "every market",
        { ...limited, command: { ...limited.command, markets: [] } },
        "markets: signed 1,0, logged none",
      ],
      ["markets that the message does not name", { command: { markets: [1] } }, "logged 1"],
      [
        "another key",
        { resource: `urn:perpgate:session?key=${ELSE}` },
        "binds another session key",
      ],
      [
        "a session of a year",
        { command: { expiresAtMs: START_MS + 365 * 86_400_000 } },
        "lasts longer than the message allows",
      ],
    ];
    test.each(different)("%s: a fault", async (_, given, reason) => {
      expect(await faultOf(given)).toContain(reason);
    });

    test("a message that opens a second session, once its nonce is forgotten: listed", async () => {
      const { driver } = await openVenue();
      await signIn(driver, 2, { command: { siweNonceUntilMs: START_MS } });
      const again = await signIn(driver, 2, { command: { tokenHash: "ab".repeat(32) } });
      await driver.venue.close();
      expect(await reported()).toMatchObject({ fault: null, repeatedMessages: [again] });
    });

    test("a message that is sent twice and refused: agrees", async () => {
      const { driver } = await openVenue();
      await signIn(driver, 2);
      await signIn(driver, 2, { command: { tokenHash: "ab".repeat(32) } });
      await driver.venue.close();
      expect(await reported()).toMatchObject({ fault: null, repeatedMessages: [] });
    });

    test("a statement that names the key, and an unsigned rotation: agrees", async () => {
      const { driver } = await openVenue();
      const session = await signIn(driver, 2, { statement: `- ${RESOURCE}`, resource: "" });
      const { publicKey: other } = generateKeyPairSync("ed25519");
      const raw = other.export({ format: "der", type: "spki" }).subarray(-32);
      await driver.submit(
        {
          kind: "RotateSession",
          stampMs: START_MS,
          session,
          oldKey: KEY,
          newKey: fingerprintOf(raw),
        },
        {
          signed: Buffer.from(JSON.stringify({ newSessionKey: raw.toString("hex") })),
          signature: nothing,
          publicKey: raw,
        },
      );
      await driver.venue.close();
      expect(await verified()).toBeNull();
    });
  });

  describe("the end of another session", () => {
    const other = generateKeyPairSync("ed25519");
    const otherRaw = other.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    const cases = [
      ["signed for it", privateKey, RAW, (id: number) => `/${id}`, null],
      ["signed for all others", privateKey, RAW, () => "", null],
      [
        "signed for another one",
        privateKey,
        RAW,
        (id: number) => `/${id + 1}`,
        "was signed to end",
      ],
      ["signed by a stranger", other.privateKey, otherRaw, () => "", "a key of another account"],
      ["not signed by its key", other.privateKey, RAW, () => "", "does not verify"],
    ] as const;
    test.each(cases)("%s", async (_, key, publicKey, path, fault) => {
      const { driver } = await openVenue();
      const id = await signIn(driver, 2);
      const signed = Buffer.from(`DELETE /v1/auth/sessions${path(id)}`);
      const evidence = { signed, signature: sign(null, signed, key), publicKey };
      await driver.submit({ kind: "CloseSession", stampMs: START_MS, session: id }, evidence);
      await driver.venue.close();
      const reason = (await verified())?.reason ?? null;
      if (fault === null) expect(reason).toBeNull();
      else expect(reason).toContain(fault);
    });
  });

  test("an amendment that was signed for another order", async () => {
    const { driver, session, placed } = await batchVenue();
    await driver.submit(
      amendment(session, 5, { orderId: placed, priceTicks: 642_000 }),
      evidenceOf({ orderId: "3", price: 64_200, nonce: 5 }),
    );
    await driver.venue.close();
    expect((await verified())?.reason).toContain("orderId: signed 3");
  });
});

interface BatchText {
  readonly nonce: number;
  readonly operations: readonly object[];
}

function change(nonce: number, operations: readonly object[], at: number, changes: object) {
  return {
    nonce,
    operations: operations.map((each, i) => (i === at ? { ...each, ...changes } : each)),
  };
}

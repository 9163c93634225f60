import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type PlaceOrder, STATE_FORMAT } from "@perpgate/engine";
import { addressOf, openSession } from "@perpgate/engine/testing";
import { until } from "@perpgate/journal/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readCheckpointLines } from "../checkpoint/checkpoint-file.js";
import {
  orderCommand,
  removeFolder,
  START_MS,
  signInMessage,
  TestVenue,
  temporaryFolder,
  writeForeignSnapshot,
} from "../testing/test-venue.js";
import type { RecoverWallet } from "./evidence-check.js";
import { fingerprintOf } from "./key-signature.js";
import { verify } from "./verify.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

const nothing = new Uint8Array(0);

const hasCheckpoints = () =>
  readCheckpointLines(join(folder, "checkpoints.jsonl")).lines.length >= 5;

/** A fake wallet recovery: a signature is the address that made it. */
const recover: RecoverWallet = async (_, signature) => Buffer.from(signature).toString("utf8");

class Signer {
  readonly privateKey: KeyObject;
  readonly raw: Buffer;

  constructor(readonly kind: "ed25519" | "secp256k1") {
    if (kind === "ed25519") {
      const { privateKey, publicKey } = generateKeyPairSync("ed25519");
      this.privateKey = privateKey;
      this.raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    } else {
      const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
      this.privateKey = privateKey;
      const point = publicKey.export({ format: "der", type: "spki" }).subarray(-64);
      this.raw = Buffer.concat([Buffer.of(2 + (point[63]! & 1)), point.subarray(0, 32)]);
    }
  }

  sign(body: Uint8Array): Buffer {
    return this.kind === "ed25519"
      ? sign(null, body, this.privateKey)
      : sign("sha256", body, { key: this.privateKey, dsaEncoding: "ieee-p1363" });
  }
}

interface SignIn {
  /** What signed the message; the address's own key if missing. */
  readonly wallet?: string;
  /** The chain of the contract that confirmed it. */
  readonly contractChainId?: number;
  readonly isBound?: boolean;
}

async function signIn(driver: TestVenue, name: number, signer: Signer, more: SignIn = {}) {
  const { wallet, contractChainId, isBound = true } = more;
  const address = addressOf(name);
  const key = fingerprintOf(signer.raw);
  const siweNonce = `nonce${name}`;
  const resources = isBound ? [`urn:perpgate:session?key=${signer.raw.toString("hex")}`] : [];
  const tokenHash = address.padStart(64, "0");
  const named = { address, key, tokenHash, siweNonce };
  const chain = contractChainId === undefined ? {} : { contractChainId };
  const command = openSession({ stampMs: START_MS, ...named, ...chain });
  const { seq } = await driver.submit(command, {
    signed: Buffer.from(signInMessage(address, siweNonce, resources)),
    signature: Buffer.from(wallet ?? address),
    publicKey: signer.raw,
  });
  return { session: seq, key };
}

/** Places an order as a gateway would; `change` falsifies the body or the command. */
async function place(
  driver: TestVenue,
  signer: Signer,
  { session, key }: { session: number; key: string },
  nonce: number,
  change: { command?: Partial<PlaceOrder>; signature?: Uint8Array } = {},
) {
  const order = { ...orderCommand(session, nonce, "long", 640_000 + nonce, 5), key };
  const body = Buffer.from(
    JSON.stringify({
      symbol: "BTCUSD",
      side: "long",
      type: "limit",
      margin: 5,
      leverage: 10,
      price: (640_000 + nonce) / 10,
      nonce,
    }),
  );
  return driver.submit(
    { ...order, ...change.command },
    { signed: body, signature: change.signature ?? signer.sign(body), publicKey: nothing },
  );
}

/** A venue with both kinds of keys, some orders and some sealed blocks. */
async function someVenue() {
  const driver = await TestVenue.open(folder);
  await driver.index();
  const signers = [new Signer("ed25519"), new Signer("secp256k1")];
  const sessions = [];
  for (const [i, signer] of signers.entries()) {
    sessions.push(await signIn(driver, i + 1, signer));
  }
  for (let nonce = 1; nonce <= 20; nonce++) {
    const who = nonce % 2;
    await place(driver, signers[who]!, sessions[who]!, nonce);
    if (nonce % 5 === 0) await driver.tick();
  }
  return { driver, signer: signers[0]!, session: sessions[0]! };
}

describe("verify", () => {
  test("an intact folder: everything agrees, every signature is valid", async () => {
    const { driver } = await someVenue();
    await driver.venue.close();
    const report = await verify(folder, { signatures: recover });
    expect(report).toMatchObject({
      fault: null,
      from: 0,
      // With WriterJoined and WriterLeft.
      commands: 30,
      blocks: 4,
      acknowledgements: 20,
      orderSignatures: 20,
      sessions: 2,
      notRecheckable: [],
      receipts: { since: START_MS, issued: 20, sealed: 20 },
    });
  });

  test("a running venue: verified up to what was there", async () => {
    const { driver } = await someVenue();
    await driver.venue.history.flush();
    expect((await verify(folder)).fault).toBeNull();
    await driver.venue.close();
  });

  test("a running venue that prunes meanwhile: verified from the new beginning", async () => {
    const driver = await TestVenue.open(folder, {
      checkpoints: { everyCommands: 40, everyMs: 3_600_000, keep: 2 },
      segmentBytes: 16_384,
    });
    await driver.index();
    const signer = new Signer("ed25519");
    const session = await signIn(driver, 1, signer);
    for (let nonce = 1; nonce <= 200; nonce++) await place(driver, signer, session, nonce);
    await driver.venue.history.flush();
    await until(hasCheckpoints);
    let pruned = 0;
    // Called at the log's beginning: the following segments are removed while it is read.
    const signatures: RecoverWallet = (...signed) => {
      pruned += driver.venue.prune();
      return recover(...signed);
    };
    const report = await verify(folder, { signatures });
    expect(pruned).toBeGreaterThan(1);
    expect(report.fault).toBeNull();
    expect(report.from).toBeGreaterThan(0);
    expect(report.orderSignatures).toBeGreaterThan(0);
    await driver.venue.close();
  });

  describe("a pruned log", () => {
    /** Signs as it signed in, until the log was pruned; some orders later a new key takes its place. */
    async function rotatedAfterPruning(isBound: boolean) {
      const driver = await TestVenue.open(folder, {
        checkpoints: { everyCommands: 40, everyMs: 3_600_000, keep: 2 },
        segmentBytes: 16_384,
      });
      await driver.index();
      const newSigner = () => new Signer("ed25519");
      const signers = [newSigner(), newSigner(), newSigner()] as const;
      const session = await signIn(driver, 1, signers[0], { isBound });
      const gone = await signIn(driver, 2, signers[2]);
      await driver.submit({ kind: "CloseSession", stampMs: START_MS, session: gone.session });
      for (let nonce = 1; nonce <= 200; nonce++) await place(driver, signers[0], session, nonce);
      await driver.venue.history.flush();
      await until(hasCheckpoints);
      expect(driver.venue.prune()).toBeGreaterThan(0);
      await place(driver, signers[0], session, 201);
      const key = fingerprintOf(signers[1].raw);
      const body = Buffer.from(JSON.stringify({ newSessionKey: signers[1].raw.toString("hex") }));
      await driver.submit(
        {
          kind: "RotateSession",
          stampMs: START_MS,
          session: session.session,
          oldKey: session.key,
          newKey: key,
        },
        { signed: body, signature: signers[0].sign(body), publicKey: signers[1].raw },
      );
      await place(driver, signers[1], { session: session.session, key }, 202);
      return { driver, signers, gone };
    }

    test("a key that was rotated meanwhile: its signatures count as not checked", async () => {
      const { driver } = await rotatedAfterPruning(false);
      await driver.venue.close();
      const report = await verify(folder, { signatures: recover });
      expect(report.fault).toBeNull();
      // All but the order with the new key, and with them the rotation.
      expect(report.prunedKeySignatures).toBe(report.orderSignatures);
    });

    test("a key that was rotated meanwhile and that the message binds: checked", async () => {
      const { driver } = await rotatedAfterPruning(true);
      await driver.venue.close();
      const report = await verify(folder, { signatures: recover });
      expect(report).toMatchObject({ fault: null, prunedKeySignatures: 0 });
    });

    test("an order of a session that ended before: refused, and not checked", async () => {
      const { driver, signers, gone } = await rotatedAfterPruning(true);
      const { outcome } = await place(driver, signers[2], gone, 1);
      expect(outcome.kind).toBe("refused");
      await driver.venue.history.flush();
      expect(await verify(folder, { signatures: recover })).toMatchObject({
        fault: null,
        prunedKeySignatures: 1,
      });
      await driver.venue.close();
    });
  });

  test("an order whose command is not what was signed: its position", async () => {
    const { driver, signer, session } = await someVenue();
    const { seq } = await place(driver, signer, session, 50, { command: { leverage: 20 } });
    await place(driver, signer, session, 51);
    await driver.venue.close();
    expect((await verify(folder)).fault).toBeNull();
    expect((await verify(folder, { signatures: recover })).fault).toEqual({
      position: seq,
      reason: "leverage: signed 10, logged 20",
    });
  });

  test("an order that nobody signed: its position", async () => {
    const { driver, signer, session } = await someVenue();
    const forged = new Signer("ed25519").sign(Buffer.from("another body"));
    const { seq } = await place(driver, signer, session, 50, { signature: forged });
    await driver.venue.close();
    const { fault } = await verify(folder, { signatures: recover });
    expect(fault).toMatchObject({
      position: seq,
      reason: expect.stringContaining("does not verify"),
    });
  });

  test("a sign-in by a contract wallet: reported, not a fault", async () => {
    const { driver } = await someVenue();
    const { session } = await signIn(driver, 9, new Signer("ed25519"), {
      wallet: "a contract's word",
      contractChainId: 1,
    });
    await driver.venue.close();
    const report = await verify(folder, { signatures: recover });
    expect(report.fault).toBeNull();
    expect(report.notRecheckable).toEqual([session]);
  });

  test("a bit of a record: the position that cannot be read", async () => {
    const { driver } = await someVenue();
    await driver.venue.close();
    const journal = join(folder, "journal");
    const [segment] = (await readdir(journal)).filter((name) => name.endsWith(".log")).sort();
    const file = await open(join(journal, segment ?? ""), "r+");
    await file.write(Buffer.of(0xff), 0, 1, 2_000);
    await file.close();
    const { fault } = await verify(folder);
    expect(fault?.position).toBeGreaterThan(0);
    expect(fault?.reason).toContain("damaged");
  });

  test("a checkpoint with another hash: its position", async () => {
    const { driver } = await someVenue();
    const { seq } = driver.venue;
    const { batch, record } = driver.venue.history.durable;
    await driver.venue.close();
    const line = {
      position: seq,
      batch: seq,
      record: seq,
      stateHash: "00".repeat(32),
      format: STATE_FORMAT,
    };
    expect([batch, record].every((value) => value <= seq)).toBe(true);
    await writeFile(
      join(folder, "checkpoints.jsonl"),
      `${JSON.stringify({ ...line, block: 0, blockHash: "" })}\n{"position":`,
    );
    const { fault } = await verify(folder);
    expect(fault).toMatchObject({
      position: seq,
      reason: expect.stringContaining("the state's hash is"),
    });
  });

  test("a checkpoint and a snapshot of another format: skipped, blocks are compared", async () => {
    const { driver } = await someVenue();
    await driver.venue.close();
    // The close has written a last command.
    const { seq } = driver.venue;
    const { batch, record } = writeForeignSnapshot(folder);
    // As written before checkpoints named their format.
    const line = {
      position: seq,
      batch,
      record,
      stateHash: "00".repeat(32),
      block: 0,
      blockHash: "",
    };
    await writeFile(join(folder, "checkpoints.jsonl"), `${JSON.stringify(line)}\n`);
    expect(await verify(folder)).toMatchObject({ fault: null, checkpoints: 0, snapshots: 0 });
    const lie = { ...line, block: 4, blockHash: "00".repeat(32) };
    await writeFile(join(folder, "checkpoints.jsonl"), `${JSON.stringify(lie)}\n`);
    expect((await verify(folder)).fault?.reason).toContain("the last block is 4");
  });

  test("an empty folder: there is nothing to verify", async () => {
    await expect(verify(folder)).rejects.toMatchObject({ name: "NothingToVerify" });
    expect(await readdir(folder)).toEqual([]);
  });

  test("the folder stays as it was", async () => {
    const { driver } = await someVenue();
    await driver.venue.close();
    const journal = join(folder, "journal");
    const names = (await readdir(journal)).sort();
    const before = await Promise.all(names.map((name) => readFile(join(journal, name))));
    await verify(folder);
    expect((await readdir(journal)).sort()).toEqual(names);
    const after = await Promise.all(names.map((name) => readFile(join(journal, name))));
    expect(after.every((bytes, i) => bytes.equals(before[i]!))).toBe(true);
  });
});

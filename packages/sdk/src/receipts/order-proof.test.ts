/** The proof file of an order of a real venue, and the cosignatures in it. */

import { noteKeyText } from "@perpgate/protocol/receipts";
import { TestCosigner } from "@perpgate/protocol/testing";
import { checkOrderProof } from "@perpgate/sdk";
import { newLogKey } from "@perpgate/venue";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BID, newClient, newSession, startVenue } from "../testing/venue.js";

const { key: logKey } = newLogKey("venue.example/log");
const witness = new TestCosigner();
const stranger = new TestCosigner("witness.example/stranger");
const keys = { logKey: logKey.text, witnessKeys: [witness.text] };

/** As the venue serves it: nobody listens at the address of the witness. */
let alone: string;
/** The text that the log's key and the witnesses sign. */
let checkpoint: string;
let named: readonly string[];

beforeAll(async () => {
  const witnesses = [{ url: "http://127.0.0.1:9", key: witness.key }];
  const promises = { logKey, witnesses, checkpointMs: 60_000, witnessWaitMs: 0 };
  const at = await startVenue({ promises }, afterAll);
  const client = newClient(at, { logKey: logKey.text }, afterAll);
  const session = await newSession(client);
  const { ackNonce } = await session.placeOrder(BID);
  await at.advance(400);
  await at.venue.promises?.log.advance();
  alone = await session.preconfirmProof(ackNonce);
  checkpoint = `${alone.split("\n\n")[1]}\n`;
  named = (await client.honesty()).witnesses;
});

test("honesty: names the keys of the witnesses, under which a proof is checked", async () => {
  expect(named).toEqual([witness.text]);
  const cosigned = alone + witness.line(checkpoint);
  const checked = await checkOrderProof(cosigned, { witnessKeys: named });
  expect(checked).toMatchObject({ cosigners: ["witness.example/w1"] });
});

test("a proof: with the log's key as text, as an option or not given, and without witnesses", async () => {
  for (const given of [
    logKey.text,
    { logKey: logKey.text },
    { ...keys, require: 0 },
    {},
    undefined,
  ]) {
    expect(await checkOrderProof(alone, given)).toMatchObject({ cosigners: [] });
  }
  const other = newLogKey("venue.example/log").key.text;
  for (const given of [other, { logKey: other }]) {
    expect(await checkOrderProof(alone, given)).toBe("the log's key did not sign the checkpoint");
  }
});

test("a proof: the line with the block's place in the log is checked, as others check it", async () => {
  expect(alone).toMatch(/^index 0$/m);
  const other = alone.replace(/^index 0$/m, "index 7");
  expect(await checkOrderProof(other)).toBe("the header of block 1 is not at index 7");
});

test("a proof: an unknown witness, or another key of its name, is not among the cosigners", async () => {
  const cosigned = alone + witness.line(checkpoint) + stranger.line(checkpoint);
  expect(await checkOrderProof(cosigned)).toMatchObject({ cosigners: [] });
  expect(await checkOrderProof(cosigned, keys)).toMatchObject({ cosigners: [witness.key.name] });
  const others = { witnessKeys: [new TestCosigner().text], require: 0 };
  expect(await checkOrderProof(cosigned, others)).toMatchObject({ cosigners: [] });
});

test("a proof: a forged cosignature of a known witness makes it fail", async () => {
  const forged = alone + stranger.line(checkpoint, witness.key);
  expect(await checkOrderProof(forged, keys)).toBe(
    "the cosignature of witness.example/w1 does not hold",
  );
  const both = forged + witness.line(checkpoint);
  expect(await checkOrderProof(both, keys)).toMatch("the cosignature of witness.example/w1");
  expect(await checkOrderProof(forged, logKey.text)).toMatchObject({ cosigners: [] });
});

test("a proof: a key that is not that of a witness is refused", async () => {
  for (const text of [logKey.text, "witness.example/w1"]) {
    expect(await checkOrderProof(alone, { witnessKeys: [text] })).toBe(
      `${text} is not the verifier key of a witness`,
    );
  }
});

test("a proof: counts only with the required number of cosignatures, by default of all witnesses", async () => {
  const second = new TestCosigner("witness.example/w2");
  const witnessKeys = [witness.text, second.text];
  const one = alone + witness.line(checkpoint);
  const both = one + second.line(checkpoint);
  const cosigners = [witness.key.name, second.key.name];
  expect(await checkOrderProof(alone, keys)).toBe(
    "the checkpoint has 0 of the 1 cosignatures that are required",
  );
  expect(await checkOrderProof(one, { witnessKeys })).toMatch("1 of the 2 cosignatures");
  expect(await checkOrderProof(one, { witnessKeys, require: 1 })).toMatchObject({
    cosigners: [witness.key.name],
  });
  expect(await checkOrderProof(both, { witnessKeys })).toMatchObject({ cosigners });
  // The same line twice is one cosignature, and one witness under two names is one witness.
  const repeated = one + witness.line(checkpoint);
  expect(await checkOrderProof(repeated, { witnessKeys })).toMatch("1 of the 2 cosignatures");
  const alias = noteKeyText({ ...witness.key, name: "witness.example/alias" });
  expect(await checkOrderProof(both, { witnessKeys: [witness.text, alias] })).toMatch(
    /are one witness$/,
  );
  for (const require of [3, -1, 0.5]) {
    expect(await checkOrderProof(both, { witnessKeys, require })).toMatch(/cannot be required/);
  }
});

test("a proof: a log key of small order, or one of a witness, is refused", async () => {
  const { name, algorithm } = logKey;
  const identity = new Uint8Array(32).fill(0, 1).fill(1, 0, 1);
  for (const publicKey of [new Uint8Array(32), identity]) {
    expect(await checkOrderProof(alone, noteKeyText({ name, algorithm, publicKey }))).toBe(
      "the log key cannot be read",
    );
  }
  expect(await checkOrderProof(alone, witness.text)).toBe("the log key cannot be read");
});

/** What attestors and relayers read of open withdrawals, and the proof that a request is sealed. */

import { OpenWithdrawals } from "@perpgate/protocol";
import { checkWithdrawalProof, noteKeyText, type ProofKeys } from "@perpgate/protocol/receipts";
import { verifyEd25519Now } from "@perpgate/venue";
import { StubWitness } from "@perpgate/venue/testing";
import { Value } from "typebox/value";
import { expect, onTestFinished, test } from "vitest";
import { LOG_KEY, type WithdrawingVenue, withdrawing } from "./testing/attested-venue.js";

async function openOn({ venue }: WithdrawingVenue, query = "chain=ethereum") {
  const answer = await fetch(`${venue.at.url}/v1/bridge/withdrawals/open?${query}`);
  const page: unknown = await answer.json();
  if (!Value.Check(OpenWithdrawals, page)) throw new Error(JSON.stringify(page));
  return page;
}

async function sealed({ venue }: WithdrawingVenue): Promise<void> {
  await venue.at.advance(200);
  await venue.at.venue.promises?.log.advance();
}

test("an open withdrawal: whom it pays, no proof before a checkpoint, and then one that holds", async () => {
  const at = await withdrawing();
  const { withdrawalId } = (await at.ask({ amount: 12.5, nonce: 1 })).body;
  const page = await openOn(at);
  expect(page).toMatchObject({
    withdrawals: [
      {
        withdrawalId,
        account: at.trader.wallet.address,
        amount: 12.5,
        status: "queued",
        proof: null,
      },
    ],
    next: null,
  });
  expect((await openOn(at, "chain=arbitrum")).withdrawals).toEqual([]);
  expect((await openOn(at, `chain=ethereum&after=${withdrawalId}`)).withdrawals).toEqual([]);
  await sealed(at);
  const [withdrawal] = (await openOn(at)).withdrawals;
  const proof = withdrawal?.proof ?? "";
  const checked = await checkWithdrawalProof(proof, verifyEd25519Now, { logKey: LOG_KEY.text });
  expect(checked).toMatchObject({
    leaf: {
      withdrawalId: Number(withdrawalId),
      address: at.address,
      chainId: 1,
      token: "USDC",
      amountMicros: 12_500_000,
      deadlineMs: withdrawal?.deadline,
      nonce: 1,
    },
  });
  const nobodys = { logKey: LOG_KEY.text.replace("venue", "venu3") };
  expect(await checkWithdrawalProof(proof, verifyEd25519Now, nobodys)).toContain("log key");
  const lines = proof.split("\n");
  const [extra = ""] = lines.splice(1, 1);
  const json = Buffer.from(extra.slice(6), "base64").toString();
  const forged = (changed: string) =>
    [lines[0], `extra ${Buffer.from(changed).toString("base64")}`, ...lines.slice(1)].join("\n");
  const { leaf } = JSON.parse(json);
  for (const changed of [
    json.replace(leaf, `ff${leaf.slice(2)}`),
    json.replace('"index":0', '"index":1'),
  ]) {
    expect(await checkWithdrawalProof(forged(changed), verifyEd25519Now)).toContain("not in block");
  }
  const order = json.replace("withdrawal-proof", "order-proof");
  expect(await checkWithdrawalProof(forged(order), verifyEd25519Now)).toContain("no proof");
});

test("witnesses: a proof has the cosignatures that are there when it is made, and later ones", async () => {
  const witness = await StubWitness.start("witness.example/w1");
  onTestFinished(() => witness.close());
  const at = await withdrawing({}, undefined, 40, [{ url: witness.url, key: witness.key }]);
  const keys: ProofKeys = { logKey: LOG_KEY.text, witnessKeys: [noteKeyText(witness.key)] };
  await at.ask({ amount: 10, nonce: 1 });
  await sealed(at);
  const [withdrawal] = (await openOn(at)).withdrawals;
  const checked = await checkWithdrawalProof(withdrawal?.proof ?? "", verifyEd25519Now, keys);
  expect(checked).toMatchObject({ checkpoint: { cosigners: [witness.key.name] } });
  const stranger = await StubWitness.start("witness.example/w2");
  onTestFinished(() => stranger.close());
  const both = { ...keys, witnessKeys: [noteKeyText(witness.key), noteKeyText(stranger.key)] };
  expect(await checkWithdrawalProof(withdrawal?.proof ?? "", verifyEd25519Now, both)).toContain(
    "1",
  );
});

test("witnesses that take turns: the proof follows the newest one, whom an attestor may require", async () => {
  const names = ["witness.example/w1", "witness.example/w2"];
  const witnesses = await Promise.all(names.map((name) => StubWitness.start(name)));
  onTestFinished(() => witnesses.forEach((witness) => void witness.close()));
  const settings = witnesses.map(({ url, key }) => ({ url, key }));
  const at = await withdrawing({}, undefined, 40, settings);
  await at.ask({ amount: 10, nonce: 1 });
  const cosigners = async (): Promise<unknown> => {
    const [withdrawal] = (await openOn(at)).withdrawals;
    const keys = { logKey: LOG_KEY.text, witnessKeys: settings.map(({ key }) => noteKeyText(key)) };
    const proof = withdrawal?.proof ?? "";
    return checkWithdrawalProof(proof, verifyEd25519Now, { ...keys, require: 1 });
  };
  let hash = 0;
  const out = async () => ({ status: 503, text: "out of order" });
  const back = async () => undefined;
  for (const [i, witness] of witnesses.entries()) {
    for (const other of witnesses) other.onCheckpoint = other === witness ? back : out;
    // One that was out of order is asked again after a pause.
    const published = async () => {
      // Something for a new block.
      await at.venue.register(at.trader, (++hash).toString(16).padStart(64, "0"));
      await sealed(at);
      return at.venue.at.venue.promises?.log.published?.witnesses;
    };
    await expect.poll(published, { timeout: 60_000, interval: 500 }).toEqual([names[i]]);
    expect(await cosigners()).toMatchObject({ checkpoint: { cosigners: [names[i]] } });
  }
});

test("the proof survives a restart, and the withdrawal leaves the list when it is paid", async () => {
  const at = await withdrawing();
  await at.ask({ amount: 10, nonce: 1 });
  await sealed(at);
  const [before] = (await openOn(at)).withdrawals;
  const restarted = { ...at, venue: await at.venue.restart() };
  await sealed(restarted);
  const [after] = (await openOn(restarted)).withdrawals;
  expect(after).toMatchObject({ withdrawalId: before?.withdrawalId });
  const checked = await checkWithdrawalProof(after?.proof ?? "", verifyEd25519Now);
  expect(checked).toMatchObject({ leaf: { withdrawalId: Number(before?.withdrawalId) } });
});

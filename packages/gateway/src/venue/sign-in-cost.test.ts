/** The cost of sign-ins and rotations in jobs of the proof thread. */

import { expect, test } from "vitest";
import { RpcContractWallets } from "../auth/contract-wallets.js";
import { proofsInThisThread } from "../auth/proofs/in-this-thread.js";
import type { ProofJob, SignInProofs } from "../auth/proofs/proof-job.js";
import { type RunningVenue, runVenue, type VenueChanges } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

interface CountedVenue {
  readonly at: RunningVenue;
  /** The kinds of the jobs since the last call. */
  jobs(): readonly ProofJob["kind"][];
}

async function runCounted(changes: VenueChanges = {}): Promise<CountedVenue> {
  const real = proofsInThisThread(new RpcContractWallets(new Map()));
  const kinds: ProofJob["kind"][] = [];
  const proofs: SignInProofs = {
    servesChain: real.servesChain,
    prove: (job) => {
      kinds.push(job.kind);
      return real.prove(job);
    },
  };
  const at = await runVenue({ ...changes, proofs });
  return { at, jobs: () => kinds.splice(0) };
}

test("a sign-in: the key is checked once and the message parsed once", async () => {
  const { at, jobs } = await runCounted();
  await Trader.enter(at);
  expect(jobs()).toEqual(["key", "message"]);
});

test("sign-ins that can be refused without cryptography: no job", async () => {
  const { at, jobs } = await runCounted({ signIn: { domains: new Set(["localhost"]) } });
  const trader = await Trader.enter(at);
  jobs();
  const old = new Date(at.nowMs() - 11 * 60_000).toISOString();
  const many = Array.from({ length: 400 }, () => "a:b");
  const foreign = { domain: "b.example", uri: "https://b.example" };
  for (const [fields, code] of [
    [{ resources: many }, "invalid_siwe_message"],
    [{ statement: "a".repeat(3_000) }, "invalid_siwe_message"],
    [{ address: trader.wallet.address.toLowerCase() }, "invalid_siwe_message"],
    [foreign, "siwe_domain_not_allowed"],
    [{ issuedAt: old }, "siwe_message_too_old"],
    [{ resources: [trader.resource("&symbols=NOSUCHUSD")] }, "invalid_siwe_message"],
    [{ resources: [`urn:perpgate:session?key=${"07".repeat(32)}`] }, "session_key_mismatch"],
  ] as const) {
    expect((await trader.signIn(fields)).body.code).toBe(code);
  }
  const message = trader.message();
  expect((await trader.submitSignIn(message, { signature: "zz" })).body.code).toBe(
    "invalid_signature",
  );
  expect(jobs()).toEqual([]);
});

test("a message sent again: refused for its nonce without a job", async () => {
  const { at, jobs } = await runCounted();
  const trader = new Trader(at);
  const message = trader.message();
  expect((await trader.submitSignIn(message)).status).toBe(200);
  jobs();
  expect((await trader.submitSignIn(message)).body.code).toBe("siwe_nonce_used");
  expect(jobs()).toEqual([]);
});

test("rotations: check the new key and parse no message, signed or not", async () => {
  const { at, jobs } = await runCounted();
  const free = await Trader.enter(at);
  const bound = new Trader(at);
  await bound.signIn({ resources: [bound.resource()] });
  jobs();
  expect((await free.rotate(newSessionKey().publicHex)).status).toBe(200);
  expect(jobs()).toEqual(["key"]);
  expect((await bound.rotate(newSessionKey().publicHex)).body.code).toBe("signature_required");
  expect(jobs()).toEqual([]);
  expect((await bound.rotate(newSessionKey().publicHex, "digest")).status).toBe(200);
  expect(jobs()).toEqual(["key"]);
});

test.each([
  ["binds its key after 31 others", true],
  ["binds none, though its statement looks like it", false],
])("rotate: a session whose message %s", async (_, isBound) => {
  const { at, jobs } = await runCounted();
  const trader = new Trader(at);
  const others = Array.from({ length: 31 }, () => "a:b");
  await trader.signIn(
    isBound
      ? { resources: [...others, trader.resource()] }
      : { statement: `- ${trader.resource()}`, resources: others },
  );
  jobs();
  const next = newSessionKey();
  const unsigned = await trader.rotate(next.publicHex);
  expect(unsigned.body.code).toBe(isBound ? "signature_required" : undefined);
  if (isBound) expect((await trader.rotate(next.publicHex, "digest")).status).toBe(200);
  expect(jobs()).toEqual(["key"]);
});

/** Faults of the venue or of one vote, and restarts. */

import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { privateKeyFromSeed, publicKeyHex } from "../attestor-key.js";
import { Attestors, SEEDS } from "../testing/attestors.js";
import { DOLLAR, startEvmChain } from "../testing/evm-node.js";
import { RpcProxy } from "../testing/rpc-proxy.js";
import { type DepositPort, VenueUnreachable } from "../venue-port.js";
import { MAX_PAUSE_POLLS } from "./poll-plan.js";

const { node, usdc, alice, vault } = await startEvmChain(afterAll);
let attestors: Attestors;
let alices: number;

beforeEach(async () => {
  attestors = new Attestors(await node.timeMs());
  alices = attestors.venue.signIn(alice);
});

async function deposit(dollars: number): Promise<number> {
  const hash = await node.transfer(usdc, alice, vault, BigInt(dollars) * DOLLAR);
  return attestors.venue.register(alices, "ethereum", hash);
}

function chain(changes: object = {}) {
  const tokens = { USDC: { contract: usdc } };
  const settings = { rpc: [node.url], vault, tokens, confirmations: 3, recheckIntervalMs: 1 };
  return attestors.chain("ethereum", { ...settings, ...changes });
}

/** A venue that rejects every request with a vote on this deposit. */
function refusing(depositId: number): DepositPort {
  return attestors.portWith({
    submit: async (votes) => {
      if (votes.some(({ vote }) => vote.depositId === depositId)) {
        throw new Error("the venue responded 413: body_too_large");
      }
      return attestors.venue.submit(votes);
    },
  });
}

test("a rejected vote: other deposits are credited, this one backs off", async () => {
  const bad = await deposit(1);
  const good = [await deposit(2), await deposit(3)];
  await node.mine(3);
  const one = attestors.attestor(chain(), 0, refusing(bad));
  await one.poll();
  for (const id of good) expect(attestors.venue.deposit(id).status).toBe("credited");
  expect(attestors.venue.deposit(bad).status).toBe("queued");
  expect(attestors.happened("SubmitFailed")).toMatchObject([{ depositId: bad }]);
  // Not retried during its backoff.
  await one.poll();
  expect(attestors.happened("SubmitFailed")).toHaveLength(1);
  attestors.nowMs += 10_000;
  await one.poll();
  expect(attestors.happened("SubmitFailed")).toHaveLength(2);
});

test("a rejected vote: the watch still marks a reorganisation", async () => {
  const snapshot = await node.snapshot();
  const credited = await deposit(5);
  await node.mine(3);
  await attestors.attestor(chain()).poll();
  expect(attestors.venue.deposit(credited).status).toBe("credited");
  await node.revert(snapshot);
  const bad = await deposit(1);
  await node.mine(6);
  attestors.nowMs += 1_000;
  await attestors.attestor(chain(), 0, refusing(bad)).poll();
  expect(attestors.venue.marks).toMatchObject([{ vote: { depositId: credited } }]);
});

test("an unreadable queue: the watch continues and the poll fails", async () => {
  const snapshot = await node.snapshot();
  const credited = await deposit(5);
  await node.mine(3);
  await attestors.attestor(chain()).poll();
  await node.revert(snapshot);
  await node.mine(8);
  attestors.nowMs += 1_000;
  const port = attestors.portWith({
    pending: () => {
      throw new VenueUnreachable("the venue's queue cannot be read");
    },
  });
  await expect(attestors.attestor(chain(), 0, port).poll()).rejects.toThrow("cannot be read");
  expect(attestors.venue.marks).toMatchObject([{ vote: { depositId: credited } }]);
});

test("an unreachable venue: one request, not one per vote", async () => {
  for (let i = 1; i <= 5; i++) await deposit(i);
  await node.mine(3);
  let requests = 0;
  const port = attestors.portWith({
    submit: async () => {
      requests++;
      throw new VenueUnreachable("the venue cannot be reached: ECONNREFUSED");
    },
  });
  await expect(attestors.attestor(chain(), 0, port).poll()).rejects.toThrow(VenueUnreachable);
  expect(requests).toBe(1);
});

test("another vault, contract or minimum deposit than the venue's: no votes", async () => {
  const id = await deposit(5);
  await node.mine(3);
  const own = chain();
  for (const change of [
    { vault: "99".repeat(20) },
    { minDepositMicros: 5 },
    { tokens: [{ token: "USDC" as const, contract: "99".repeat(20), decimals: 6 }] },
  ]) {
    const terms = attestors.venue.chains.get("ethereum")!;
    attestors.venue.chains.set("ethereum", { ...terms, ...change });
    await attestors.attestor(own).poll();
    attestors.venue.chains.set("ethereum", terms);
  }
  expect(attestors.happened("ConfigurationDiffers")).toHaveLength(3);
  expect(attestors.venue.votesInLog()).toBe(0);
  await attestors.attestor(own).poll();
  expect(attestors.venue.deposit(id).status).toBe("credited");
});

test("endpoints that disagree on many deposits: one event for the poll", async () => {
  const proxy = await RpcProxy.start(node.url);
  onTestFinished(() => proxy.stop());
  // As a node without old receipts.
  proxy.lie = ({ method }, result) => (method === "eth_getTransactionReceipt" ? null : result);
  const ids = [await deposit(1), await deposit(2), await deposit(3)];
  await node.mine(3);
  await attestors.attestor(chain({ rpc: [node.url, proxy.url] })).poll();
  const [found, ...others] = attestors.happened("EndpointsDisagreed");
  expect(found).toMatchObject({ attestor: 0, deposits: 3 });
  if (found?.kind === "EndpointsDisagreed") {
    expect(ids).toContain(found.depositId);
    expect(found.endpoints).toHaveLength(2);
  }
  expect(others).toEqual([]);
});

describe("restart between registration and credit", () => {
  test("at every point: nothing lost, nothing doubled", async () => {
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    const id = attestors.venue.register(alices, "ethereum", hash);
    attestors.venue.restart();
    expect(attestors.venue.deposit(id).status).toBe("queued");
    await attestors.attestor(chain()).poll();
    attestors.venue.restart();
    expect(attestors.venue.deposit(id)).toMatchObject({ status: "confirming", confirmations: 1 });
    await attestors.attestor(chain()).poll();
    expect(attestors.venue.votesInLog()).toBe(1);
    await node.mine(3);
    attestors.venue.restart();
    await attestors.attestor(chain()).poll();
    attestors.venue.restart();
    await attestors.attestor(chain()).poll();
    expect(attestors.venue.deposit(id).status).toBe("credited");
    expect(attestors.venue.wallet(alice)).toBe(1_000_000);
  });

  test("a submission with an unknown outcome: repeated, credited once", async () => {
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    attestors.venue.register(alices, "ethereum", hash);
    await node.mine(3);
    const { venue } = attestors;
    const lossy = attestors.portWith({
      submit: async (votes) => {
        await venue.submit(votes);
        throw new Error("the response was lost");
      },
    });
    await attestors.attestor(chain(), 0, lossy).poll();
    expect(attestors.happened("SubmitFailed")).toHaveLength(1);
    await attestors.attestor(chain()).poll();
    expect(venue.wallet(alice)).toBe(1_000_000);
    expect(venue.votesInLog()).toBe(1);
  });
});

test("another key at its number at the venue: says so and does not vote", async () => {
  const id = await deposit(5);
  await node.mine(3);
  const terms = () => ({ ...attestors.venue.terms(), members: ["ab".repeat(32)] });
  const config = chain();
  await attestors.attestor(config, 0, attestors.portWith({ terms })).poll();
  expect(attestors.venue.deposit(id).status).toBe("queued");
  const difference = `the key of attestor 0: ${publicKeyHex(privateKeyFromSeed(SEEDS[0]!))} here, ${"ab".repeat(32)} at the venue`;
  expect(attestors.happened("ConfigurationDiffers")).toMatchObject([{ attestor: 0, difference }]);
  await attestors.attestor(config).poll();
  expect(attestors.venue.deposit(id).status).toBe("credited");
});

test("a hash that the chain never had, with the defaults: no vote before the venue forgets it", async () => {
  const id = attestors.venue.register(alices, "ethereum", "ff".repeat(32));
  // The engine forgets it after a day.
  const almostADayMs = 86_400_000 - 60_000;
  await node.letTimePass(almostADayMs / 1_000);
  attestors.nowMs += almostADayMs;
  const one = attestors.attestor(chain());
  for (let poll = 0; poll < MAX_PAUSE_POLLS; poll++) await one.poll();
  expect(attestors.venue.deposit(id).status).toBe("queued");
  expect(attestors.venue.votesInLog()).toBe(0);
});

/** One deposit, one vote or one endpoint at fault: nothing else waits for it. Tried on a real node. */

import { type DepositPort, VenueUnreachable } from "@perpgate/bridge";
import type { Address } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Attestors } from "./attestors.js";
import { EvmNode } from "./evm-node.js";
import { RpcProxy } from "./rpc-proxy.js";

const DOLLAR = 1_000_000n;

let node: EvmNode;
let usdc: Address;
let alice: Address;
let vault: Address;
let attestors: Attestors;
let alices: number;
let proxies: RpcProxy[] = [];

beforeAll(async () => {
  node = await EvmNode.start(1);
  alice = node.account(1);
  vault = node.account(9);
  usdc = await node.token("USDC", 6);
  await node.mint(usdc, alice, 1_000_000n * DOLLAR);
}, 120_000);

afterAll(() => node?.stop());

beforeEach(async () => {
  attestors = new Attestors(await node.timeMs());
  alices = attestors.venue.signIn(alice);
});

afterEach(async () => {
  await Promise.all(proxies.map((proxy) => proxy.stop()));
  proxies = [];
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

function portOf(changes: Partial<DepositPort>): DepositPort {
  const { venue } = attestors;
  return {
    terms: () => venue.terms(),
    pending: venue.pending.bind(venue),
    credited: venue.credited.bind(venue),
    submit: venue.submit.bind(venue),
    ...changes,
  };
}

/** A venue that does not take any request with a vote on that deposit. */
function refusing(depositId: number): DepositPort {
  return portOf({
    submit: async (votes) => {
      if (votes.some(({ vote }) => vote.depositId === depositId)) {
        throw new Error("the venue answered 413: body_too_large");
      }
      return attestors.venue.submit(votes);
    },
  });
}

test("a vote that the venue does not take: later deposits are credited, it alone waits", async () => {
  const bad = await deposit(1);
  const good = [await deposit(2), await deposit(3)];
  await node.mine(3);
  const one = attestors.attestor(chain(), 0, refusing(bad));
  await one.poll();
  for (const id of good) expect(attestors.venue.deposit(id).status).toBe("credited");
  expect(attestors.venue.deposit(bad).status).toBe("queued");
  expect(attestors.happened("SubmitFailed")).toMatchObject([{ depositId: bad }]);
  // Within its pause it is not tried again.
  await one.poll();
  expect(attestors.happened("SubmitFailed")).toHaveLength(1);
  attestors.nowMs += 10_000;
  await one.poll();
  expect(attestors.happened("SubmitFailed")).toHaveLength(2);
});

test("a vote that the venue does not take: the watch goes on and marks a reorganisation", async () => {
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

test("a pending queue that cannot be read: the watch goes on, and the poll counts as failed", async () => {
  const snapshot = await node.snapshot();
  const credited = await deposit(5);
  await node.mine(3);
  await attestors.attestor(chain()).poll();
  await node.revert(snapshot);
  await node.mine(8);
  attestors.nowMs += 1_000;
  const port = portOf({
    pending: () => {
      throw new VenueUnreachable("the venue's queue cannot be read");
    },
  });
  await expect(attestors.attestor(chain(), 0, port).poll()).rejects.toThrow("cannot be read");
  expect(attestors.venue.marks).toMatchObject([{ vote: { depositId: credited } }]);
});

test("a venue that is down: one request, not one a vote", async () => {
  for (let i = 1; i <= 5; i++) await deposit(i);
  await node.mine(3);
  let requests = 0;
  const port = portOf({
    submit: async () => {
      requests++;
      throw new VenueUnreachable("the venue cannot be reached: ECONNREFUSED");
    },
  });
  await expect(attestors.attestor(chain(), 0, port).poll()).rejects.toThrow(VenueUnreachable);
  expect(requests).toBe(1);
});

test("another vault, contract or smallest deposit than the venue's: no vote at all", async () => {
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

test("one endpoint of three stuck before a reorganisation: the others' word is enough", async () => {
  const snapshot = await node.snapshot();
  const id = await deposit(5);
  await node.mine(3);
  proxies = await Promise.all([1, 2, 3].map(() => RpcProxy.start(node.url)));
  const config = chain({ rpc: proxies.map(({ url }) => url), graceMs: 2_000 });
  const one = attestors.attestor(config);
  await one.poll();
  expect(attestors.venue.deposit(id).status).toBe("credited");
  // From here on the third repeats what it said at the last look.
  const stuck = new Map<string, unknown>();
  const { txHash } = attestors.venue.deposit(id);
  const third = proxies[2]!;
  third.lie = ({ method, params }, result) => {
    stuck.set(JSON.stringify([method, params]), result);
    return result;
  };
  attestors.nowMs += 1_000;
  await one.poll();
  third.lie = ({ method, params }, result) => {
    return stuck.get(JSON.stringify([method, params])) ?? result;
  };
  expect([...stuck.keys()].some((call) => call.includes(txHash))).toBe(true);
  await node.revert(snapshot);
  await node.mine(8);
  attestors.nowMs += 1_000;
  await one.poll();
  expect(attestors.happened("EndpointsDisagreed")).not.toEqual([]);
  expect(attestors.venue.marks).toMatchObject([{ vote: { depositId: id, verdict: "reorged" } }]);
});

test("a transaction that the node never answers about: found alone, the others are credited", async () => {
  proxies = [await RpcProxy.start(node.url)];
  const [proxy] = proxies;
  const bad = await deposit(1);
  const good = [await deposit(2), await deposit(3), await deposit(4)];
  await node.mine(3);
  const { txHash } = attestors.venue.deposit(bad);
  proxy!.hangs = (calls) => JSON.stringify(calls).includes(txHash);
  const one = attestors.attestor(chain({ rpc: [proxy!.url], timeoutMs: 200, batchSize: 8 }));
  const isCredited = (id: number) => attestors.venue.deposit(id).status === "credited";
  for (let poll = 0; poll < 8 && !good.every(isCredited); poll++) {
    await one.poll();
    // Past the endpoint's pause after a failure.
    attestors.nowMs += 60_000;
  }
  expect(good.every(isCredited)).toBe(true);
  expect(attestors.venue.deposit(bad).status).toBe("queued");
});

test("an endpoint a day behind: left out, reported, and holds up no deposit", async () => {
  proxies = await Promise.all([1, 2, 3].map(() => RpcProxy.start(node.url)));
  const late = proxies[0]!;
  late.lie = ({ method, params }, result) => {
    if (method === "eth_getTransactionReceipt") return null;
    if (method !== "eth_getBlockByNumber" || params[0] !== "latest") return result;
    if (typeof result !== "object" || result === null || !("timestamp" in result)) return result;
    const seconds = Number(result.timestamp) - 86_400;
    return { ...result, timestamp: `0x${seconds.toString(16)}` };
  };
  const id = await deposit(5);
  await node.mine(3);
  const config = chain({ rpc: proxies.map(({ url }) => url), graceMs: 2_000 });
  await attestors.attestor(config).poll();
  expect(attestors.happened("EndpointStale")).toMatchObject([{ lagMs: 86_400_000 }]);
  expect(attestors.venue.deposit(id).status).toBe("credited");
});

test("finality by the finalized block: credited behind it, and not before, whatever the count", async () => {
  proxies = [await RpcProxy.start(node.url)];
  const [proxy] = proxies;
  let finalized = 0;
  const asHex = (number: number) => `0x${number.toString(16)}`;
  proxy!.lie = ({ method, params }, result) => {
    if (method !== "eth_getBlockByNumber" || params[0] !== "finalized") return result;
    return typeof result === "object" && result !== null
      ? { ...result, number: asHex(finalized) }
      : result;
  };
  const id = await deposit(5);
  const at = await node.height();
  finalized = at - 1;
  await node.mine(20);
  const config = chain({ rpc: [proxy!.url], finality: "finalized" });
  await attestors.attestor(config).poll();
  expect(attestors.venue.deposit(id)).toMatchObject({ status: "confirming", confirmations: 2 });
  finalized = at;
  await attestors.attestor(config).poll();
  expect(attestors.venue.deposit(id).status).toBe("credited");
});

test("a node that does not know the finalized block: no answer of it counts", async () => {
  proxies = [await RpcProxy.start(node.url)];
  const [proxy] = proxies;
  proxy!.lie = ({ method, params }, result) =>
    method === "eth_getBlockByNumber" && params[0] === "finalized" ? null : result;
  const id = await deposit(5);
  await node.mine(20);
  await attestors.attestor(chain({ rpc: [proxy!.url], finality: "finalized" })).poll();
  expect(attestors.happened("EndpointFailed")).toMatchObject([{ reason: "no finalized block" }]);
  expect(attestors.venue.deposit(id).status).toBe("queued");
});

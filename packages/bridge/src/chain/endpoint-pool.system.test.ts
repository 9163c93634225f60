/** Endpoints that are down, slow, lying or stuck, in front of a real node. */

import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { MAX_PAUSE_POLLS } from "../attest/poll-plan.js";
import { AttestorHealth } from "../attestor-health.js";
import { Attestors } from "../testing/attestors.js";
import { DOLLAR, startEvmChain } from "../testing/evm-node.js";
import { RpcProxy } from "../testing/rpc-proxy.js";

const { node, usdc, alice, vault } = await startEvmChain(afterAll);
let attestors: Attestors;
let proxies: RpcProxy[];
let id: number;

beforeEach(async () => {
  proxies = await Promise.all([1, 2, 3].map(() => RpcProxy.start(node.url)));
  attestors = new Attestors(await node.timeMs());
  const hash = await node.transfer(usdc, alice, vault, DOLLAR);
  await node.mine(2);
  id = attestors.venue.register(attestors.venue.signIn(alice), "ethereum", hash);
});

afterEach(() => Promise.all(proxies.map((proxy) => proxy.stop())));

function attestor(count: number, changes: object = {}) {
  const rpc = proxies.slice(0, count).map(({ url }) => url);
  const tokens = { USDC: { contract: usdc } };
  const settings = { rpc, vault, tokens, confirmations: 3, graceMs: 20, ...changes };
  return attestors.attestor(attestors.chain("ethereum", settings));
}

function status(): string {
  return attestors.venue.deposit(id).status;
}

/** Changes a field of each Transfer log in receipts. */
function inLogs(change: (log: object) => object) {
  return ({ method }: { method: string }, result: unknown): unknown => {
    if (method !== "eth_getTransactionReceipt" || !hasLogs(result)) return result;
    return { ...result, logs: result.logs.map(change) };
  };
}

function hasLogs(value: unknown): value is { logs: object[] } {
  return typeof value === "object" && value !== null && "logs" in value;
}

describe("down", () => {
  test("the only endpoint: growing pauses, credited once it is back", async () => {
    const [first] = proxies;
    const one = attestor(1);
    first!.behaviour = "down";
    await one.poll();
    await one.poll();
    // The second poll was within the pause.
    expect(first!.requests).toBe(1);
    expect(attestors.happened("EndpointFailed")).toMatchObject([
      { reason: "HttpRequestError 503", retryAtMs: attestors.nowMs + 750 },
    ]);
    attestors.nowMs += 750;
    await one.poll();
    expect(attestors.happened("EndpointFailed").at(-1)).toMatchObject({
      retryAtMs: attestors.nowMs + 1_500,
    });
    expect(status()).toBe("queued");
    first!.behaviour = "honest";
    attestors.nowMs += 1_500;
    await one.poll();
    expect(status()).toBe("credited");
  });

  test("no connection, or a response that is not JSON-RPC: the endpoint fails", async () => {
    const [first, second] = proxies;
    second!.behaviour = "nonsense";
    await first!.stop();
    await attestor(2).poll();
    expect(status()).toBe("queued");
    expect(attestors.happened("EndpointFailed")).toHaveLength(2);
    // Events never contain the path of an endpoint, which may have an API key.
    expect(JSON.stringify(attestors.events)).not.toContain("key-in-the-path");
    proxies.shift();
  });

  test("one of three: the other two suffice", async () => {
    proxies[1]!.behaviour = "down";
    await attestor(3).poll();
    expect(status()).toBe("credited");
  });

  test("two of three: too few to agree", async () => {
    proxies[0]!.behaviour = "down";
    proxies[1]!.behaviour = "down";
    await attestor(3).poll();
    expect(status()).toBe("queued");
  });
});

describe("slow", () => {
  test("one of three: the poll ends without it and the next poll skips it", async () => {
    const slow = proxies[2]!;
    slow.behaviour = "hanging";
    const one = attestor(3, { timeoutMs: 400_000 });
    await one.poll();
    expect(status()).toBe("credited");
    const requests = slow.requests;
    attestors.venue.register(attestors.venue.signIn(alice), "ethereum", "cd".repeat(32));
    await one.poll();
    expect(slow.requests).toBe(requests);
  });

  test("the only one: a time-out", async () => {
    proxies[0]!.behaviour = "hanging";
    await attestor(1, { timeoutMs: 50 }).poll();
    expect(attestors.happened("EndpointFailed")).toMatchObject([{ reason: "timeout" }]);
    expect(status()).toBe("queued");
  });
});

describe("lying", () => {
  const lies = {
    "another amount": inLogs((log) => ({ ...log, data: `0x${"f".repeat(64)}` })),
    "another sender": inLogs((log) => ({
      ...log,
      topics: Object.entries(log)
        .filter(([key]) => key === "topics")
        .flatMap(([, topics]) => (Array.isArray(topics) ? topics : []))
        .map((topic, i) => (i === 1 ? `0x${"0".repeat(24)}${"66".repeat(20)}` : topic)),
    })),
    "no such transaction": ({ method }: { method: string }, result: unknown): unknown =>
      method === "eth_getTransactionReceipt" ? null : result,
  };

  test.each(Object.entries(lies))("%s: endpoints disagree, no vote", async (_, lie) => {
    proxies[1]!.lie = lie;
    await attestor(2).poll();
    expect(status()).toBe("queued");
    expect(attestors.happened("EndpointsDisagreed")).toMatchObject([{ depositId: id }]);
    proxies[1]!.lie = (_call, result) => result;
    await attestor(2).poll();
    expect(status()).toBe("credited");
    expect(attestors.venue.wallet(alice)).toBe(1_000_000);
  });

  test("the receipt of another transaction: ignored", async () => {
    const rich = await node.transfer(usdc, alice, vault, 500n * DOLLAR);
    const headers = { "content-type": "application/json" };
    const params = [rich];
    const call = { jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params };
    const body = JSON.stringify(call);
    const answer: { result: unknown } = JSON.parse(
      await (await fetch(node.url, { method: "POST", headers, body })).text(),
    );
    proxies[0]!.lie = ({ method }, result) =>
      method === "eth_getTransactionReceipt" ? answer.result : result;
    await node.mine(3);
    await attestor(1).poll();
    expect(status()).toBe("queued");
  });

  test("a height far ahead: the lowest height counts", async () => {
    proxies[0]!.lie = ({ params: [block] }, result) =>
      block === "latest" && typeof result === "object" ? { ...result, number: "0xffffff" } : result;
    await attestor(2, { confirmations: 100 }).poll();
    expect(attestors.venue.deposit(id)).toMatchObject({ status: "confirming", confirmations: 3 });
  });

  test("a receipt of a block that is not canonical: 0 confirmations", async () => {
    proxies[0]!.lie = ({ method, params: [block] }, result) =>
      method === "eth_getBlockByNumber" && block !== "latest" && typeof result === "object"
        ? { ...result, hash: `0x${"77".repeat(32)}` }
        : result;
    await attestor(1).poll();
    expect(attestors.venue.deposit(id)).toMatchObject({ status: "confirming", confirmations: 0 });
  });

  test("a removed log does not count", async () => {
    proxies[0]!.lie = inLogs((log) => ({ ...log, removed: true }));
    await attestor(1).poll();
    expect(attestors.venue.deposit(id)).toMatchObject({
      status: "rejected",
      reason: "no_transfer",
    });
  });
});

describe("unknown transaction", () => {
  test("queued; rejected only after the configured time by the chain's clock", async () => {
    const unknown = attestors.venue.register(
      attestors.venue.signIn(alice),
      "ethereum",
      "ab".repeat(32),
    );
    const notFoundAfterMs = 3_600_000;
    await attestor(1, { notFoundAfterMs }).poll();
    expect(attestors.venue.deposit(unknown).status).toBe("queued");
    // The attestor's clock does not count: the node might lag.
    attestors.nowMs += 10 * notFoundAfterMs;
    // An old unknown hash is looked up only once in MAX_PAUSE_POLLS polls.
    const pollUntilDue = async () => {
      const late = attestor(1, { notFoundAfterMs });
      for (let polls = 0; polls < MAX_PAUSE_POLLS; polls++) await late.poll();
    };
    await pollUntilDue();
    expect(attestors.venue.deposit(unknown).status).toBe("queued");
    await node.letTimePass(3_601);
    await pollUntilDue();
    expect(attestors.venue.deposit(unknown)).toMatchObject({
      status: "rejected",
      reason: "transaction_not_found",
    });
  });
});

describe("1,000 queued deposits", () => {
  test("one receipt call per deposit and poll, in batches; each block once", async () => {
    const hash = await node.transfer(usdc, alice, vault, DOLLAR);
    const session = attestors.venue.signIn(alice);
    attestors.venue.register(session, "ethereum", hash);
    // An account may have a hundred that nobody has seen.
    const others = Array.from({ length: 10 }, (_, i) =>
      attestors.venue.signIn(`0x${(i + 1).toString(16).padStart(40, "0")}`),
    );
    for (let i = 2; i < 1_000; i++) {
      const registrant = others[i % others.length] ?? session;
      attestors.venue.register(registrant, "ethereum", i.toString(16).padStart(64, "0"));
    }
    await node.mine(2);
    const [first] = proxies;
    await attestor(1).poll();
    expect(first!.count("eth_getTransactionReceipt")).toBe(1_000);
    expect(first!.count("eth_chainId")).toBe(1);
    // The head, and one block for each of the two transactions that exist.
    expect(first!.count("eth_getBlockByNumber")).toBe(3);
    // 1,001 calls in batches of 100, then one batch for the blocks.
    expect(first!.requests).toBe(12);
    expect(attestors.venue.wallet(alice)).toBe(2_000_000);
  });
});

async function deposit(dollars: number): Promise<number> {
  const hash = await node.transfer(usdc, alice, vault, BigInt(dollars) * DOLLAR);
  return attestors.venue.register(attestors.venue.signIn(alice), "ethereum", hash);
}

describe("stuck", () => {
  test("one of three, before a reorganisation of a credited deposit: the other two suffice", async () => {
    const snapshot = await node.snapshot();
    const late = await deposit(5);
    await node.mine(3);
    const one = attestor(3, { graceMs: 2_000, recheckIntervalMs: 1 });
    await one.poll();
    expect(attestors.venue.deposit(late).status).toBe("credited");
    // From here on the third repeats its previous responses.
    const previous = new Map<string, unknown>();
    const { txHash } = attestors.venue.deposit(late);
    const third = proxies[2]!;
    third.lie = ({ method, params }, result) => {
      previous.set(JSON.stringify([method, params]), result);
      return result;
    };
    attestors.nowMs += 1_000;
    await one.poll();
    third.lie = ({ method, params }, result) => {
      return previous.get(JSON.stringify([method, params])) ?? result;
    };
    expect([...previous.keys()].some((call) => call.includes(txHash))).toBe(true);
    await node.revert(snapshot);
    await node.mine(8);
    attestors.nowMs += 1_000;
    await one.poll();
    expect(attestors.happened("EndpointsDisagreed")).not.toEqual([]);
    expect(attestors.venue.marks).toMatchObject([
      { vote: { depositId: late, verdict: "reorged" } },
    ]);
  });

  test("on one transaction: the other deposits are credited", async () => {
    const [proxy] = proxies;
    const bad = await deposit(1);
    const good = [await deposit(2), await deposit(3), await deposit(4)];
    await node.mine(3);
    const { txHash } = attestors.venue.deposit(bad);
    proxy!.hangs = (calls) => JSON.stringify(calls).includes(txHash);
    const one = attestor(1, { timeoutMs: 200, batchSize: 8 });
    const isCredited = (id: number) => attestors.venue.deposit(id).status === "credited";
    for (let poll = 0; poll < 8 && !good.every(isCredited); poll++) {
      await one.poll();
      // Past the endpoint's pause after a failure.
      attestors.nowMs += 60_000;
    }
    expect(good.every(isCredited)).toBe(true);
    expect(attestors.venue.deposit(bad).status).toBe("queued");
  });

  test("all of them: not ready until there is a new block", async () => {
    const health = new AttestorHealth(
      { attestors: [{ index: 0 }], chains: [{ chain: "ethereum" }] },
      () => attestors.nowMs,
    );
    const one = attestor(3, { graceMs: 2_000 });
    const notReady = async () => {
      await one.poll();
      for (const event of attestors.events.splice(0)) health.observe(event);
      return health.notReadyReason();
    };
    expect(await notReady()).toBeUndefined();
    attestors.nowMs += 299_000;
    expect(await notReady()).toBeUndefined();
    attestors.nowMs += 60_000;
    expect(await notReady()).toContain("of ethereum are not attested: the newest block of");
    await node.letTimePass(350);
    // There is nothing to look up; the head is read nevertheless.
    expect(await notReady()).toBeUndefined();
  });

  test("a day behind the others: left out and reported", async () => {
    proxies[0]!.lie = ({ method, params }, result) => {
      if (method === "eth_getTransactionReceipt") return null;
      if (method !== "eth_getBlockByNumber" || params[0] !== "latest") return result;
      if (typeof result !== "object" || result === null || !("timestamp" in result)) return result;
      const seconds = Number(result.timestamp) - 86_400;
      return { ...result, timestamp: `0x${seconds.toString(16)}` };
    };
    await attestor(3, { graceMs: 2_000 }).poll();
    expect(attestors.happened("EndpointStale")).toMatchObject([{ lagMs: 86_400_000 }]);
    expect(status()).toBe("credited");
  });
});

describe("limited", () => {
  test("the size of a response: a deposit behind large receipts is credited by the same poll", async () => {
    const large = [await deposit(2), await deposit(3), await deposit(4)];
    const hashes = large.map((each) => `0x${attestors.venue.deposit(each).txHash}`);
    await node.mine(3);
    const [proxy] = proxies;
    proxy!.maxResultBytes = 100_000;
    proxy!.lie = ({ params: [hash] }, result) =>
      hashes.includes(String(hash)) ? { ...Object(result), padding: "0".repeat(200_000) } : result;
    await attestor(1).poll();
    expect(status()).toBe("credited");
    expect(large.map((each) => attestors.venue.deposit(each).status)).toEqual(
      large.map(() => "credited"),
    );
    // The remaining calls are repeated after each large receipt; blocks are small.
    expect(proxy!.requests).toBe(5);
  });

  test("calls that never get a result: repeated once per poll", async () => {
    const failing = [await deposit(2), await deposit(3)];
    const hashes = failing.map((each) => `0x${attestors.venue.deposit(each).txHash}`);
    await node.mine(3);
    const [proxy] = proxies;
    proxy!.fails = ({ params: [hash] }) => hashes.includes(String(hash));
    await attestor(1).poll();
    expect(status()).toBe("credited");
    expect(failing.map((each) => attestors.venue.deposit(each).status)).toEqual([
      "queued",
      "queued",
    ]);
    expect(proxy!.requests).toBe(3);
  });

  test("a repetition that is refused: what was answered before counts", async () => {
    await deposit(2);
    await deposit(3);
    await node.mine(3);
    const [proxy] = proxies;
    const { txHash } = attestors.venue.deposit(id);
    proxy!.fails = ({ method, params: [hash] }) => {
      if (method !== "eth_getTransactionReceipt" || hash === `0x${txHash}`) return false;
      proxy!.maxCalls = 1;
      return true;
    };
    proxy!.hangs = (calls) => {
      if (calls[0]?.method === "eth_getBlockByNumber") proxy!.maxCalls = 100;
      return false;
    };
    const one = attestor(1);
    await one.poll();
    expect(status()).toBe("credited");
    // The batch size stays: the receipts are one request.
    proxy!.fails = () => false;
    proxy!.forget();
    await one.poll();
    expect(proxy!.count("eth_getTransactionReceipt")).toBeGreaterThan(1);
    expect(proxy!.requests).toBe(2);
  });

  function registerUnknown(count: number): void {
    const session = attestors.venue.signIn(alice);
    for (let i = 1; i <= count; i++) {
      attestors.venue.register(session, "ethereum", i.toString(16).padStart(64, "0"));
    }
  }

  test.each([
    ["all of them", {}, 0],
    ["the last one of a reading, with few calls", { batchSize: 30 }, 2],
  ])(
    "requests, %s refused by status 429: few requests when they are answered again",
    async (_, changes, maxRequests) => {
      registerUnknown(60);
      const [proxy] = proxies;
      const one = attestor(1, changes);
      proxy!.maxRequests = maxRequests;
      for (let poll = 0; poll < 8; poll++) {
        proxy!.forget();
        await one.poll();
        // Past the endpoint's pause after a failure.
        attestors.nowMs += 60_000;
      }
      expect(status()).toBe("queued");
      proxy!.forget();
      proxy!.maxRequests = 10;
      await one.poll();
      expect(status()).toBe("credited");
    },
  );

  test("calls per request, by status 429: smaller requests, credited within three polls", async () => {
    registerUnknown(60);
    proxies[0]!.maxCalls = 20;
    const one = attestor(1);
    for (let poll = 0; poll < 3; poll++) {
      await one.poll();
      // Past the endpoint's pause after a failure.
      attestors.nowMs += 60_000;
    }
    expect(status()).toBe("credited");
    expect(attestors.happened("EndpointFailed")).toMatchObject([
      { reason: "HttpRequestError 429" },
      { reason: "HttpRequestError 429" },
    ]);
  });
});

describe("finality by the finalized block", () => {
  test("credited once its block is finalized, whatever the number of confirmations", async () => {
    let finalized = 0;
    proxies[0]!.lie = ({ method, params }, result) => {
      if (method !== "eth_getBlockByNumber" || params[0] !== "finalized") return result;
      return typeof result === "object" && result !== null
        ? { ...result, number: `0x${finalized.toString(16)}` }
        : result;
    };
    const late = await deposit(5);
    const at = await node.height();
    finalized = at - 1;
    await node.mine(20);
    const one = attestor(1, { finality: "finalized" });
    await one.poll();
    expect(attestors.venue.deposit(late)).toMatchObject({ status: "confirming", confirmations: 2 });
    finalized = at;
    await one.poll();
    expect(attestors.venue.deposit(late).status).toBe("credited");
  });

  test("a node without the finalized tag: the endpoint fails", async () => {
    proxies[0]!.lie = ({ method, params }, result) =>
      method === "eth_getBlockByNumber" && params[0] === "finalized" ? null : result;
    await node.mine(20);
    await attestor(1, { finality: "finalized" }).poll();
    expect(attestors.happened("EndpointFailed")).toMatchObject([{ reason: "no finalized block" }]);
    expect(status()).toBe("queued");
  });
});

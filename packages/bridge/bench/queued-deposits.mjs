/**
 * Benchmark: 1,000 queued deposits, one attestor, one endpoint. Counts the requests of a poll and
 * measures the event loop delay during polls, compared with the same time without polls.
 *
 * The endpoint is a server in a worker thread that returns receipts of three logs; the venue is a
 * list. Not included: network, engine, log. Run: `npm run build && node packages/bridge/bench/queued-deposits.mjs`.
 */

import { createServer } from "node:http";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { ChainAttestor, privateKeyFromSeed, resolveBridge, termsOf } from "@perpgate/bridge";

const DEPOSITS = 1_000;
const POLLS = 20;
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const VAULT = "11".repeat(20);
const USDC = "22".repeat(20);
const BLOCK_HASH = `0x${"33".repeat(32)}`;

function result(method, [subject], head) {
  if (method === "eth_chainId") return "0x1";
  if (method === "eth_getBlockByNumber") {
    const number = subject === "latest" ? `0x${head.toString(16)}` : subject;
    return { number, hash: BLOCK_HASH, timestamp: "0x68000000", transactions: [] };
  }
  const place = { blockHash: BLOCK_HASH, blockNumber: "0x1", transactionHash: subject };
  const log = (i) => ({
    ...place,
    address: `0x${USDC}`,
    topics: [TRANSFER, `0x${"44".repeat(20).padStart(64, "0")}`, `0x${VAULT.padStart(64, "0")}`],
    data: `0x${"f4240".padStart(64, "0")}`,
    logIndex: `0x${i.toString(16)}`,
    removed: false,
  });
  return { ...place, status: "0x1", logsBloom: `0x${"0".repeat(512)}`, logs: [0, 1, 2].map(log) };
}

function serve() {
  let head = 1;
  parentPort.on("message", () => {
    head += 4;
  });
  const server = createServer(async (request, response) => {
    const calls = await json(request);
    parentPort.postMessage({ methods: calls.map(({ method }) => method) });
    response.setHeader("content-type", "application/json");
    const answers = calls.map(({ id, method, params }) => {
      return { jsonrpc: "2.0", id, result: result(method, params, head) };
    });
    response.end(JSON.stringify(answers));
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage({ port: server.address().port }));
}

async function measure() {
  const worker = new Worker(new URL(import.meta.url));
  const counts = new Map();
  let requests = 0;
  const port = await new Promise((resolve) => {
    worker.on("message", ({ port, methods = [] }) => {
      if (port !== undefined) resolve(port);
      if (methods.length > 0) requests++;
      for (const method of methods) counts.set(method, (counts.get(method) ?? 0) + 1);
    });
  });
  const seed = "55".repeat(32);
  const { chains, attestors } = resolveBridge(
    {
      keyFiles: ["key"],
      chains: {
        ethereum: {
          rpc: [`http://127.0.0.1:${port}`],
          vault: `0x${VAULT}`,
          tokens: { USDC: { contract: `0x${USDC}` } },
          finality: "confirmations",
        },
      },
    },
    { readKey: () => seed },
  );

  const deposits = Array.from({ length: DEPOSITS }, (_, i) => ({
    depositId: i + 1,
    txHash: (i + 1).toString(16).padStart(64, "0"),
    account: i,
    status: "queued",
    registeredAtMs: Date.now(),
    creditedParts: 0,
    ownVote: null,
  }));
  let votes = 0;
  const venuePort = {
    terms: () => ({ venueId: "66".repeat(32), chains: chains.map(termsOf) }),
    pending: (_chain, _attestor, order, after) => {
      const ordered = order === "ascending" ? deposits : [...deposits].reverse();
      const from = after === 0 ? 0 : ordered.findIndex(({ depositId }) => depositId === after) + 1;
      const rows = ordered.slice(from, from + 500);
      return { rows, next: from + 500 < ordered.length ? rows.at(-1).depositId : null };
    },
    credited: () => ({ rows: [], next: null }),
    submit: async (signed) => {
      votes += signed.length;
      for (const { vote } of signed) deposits[vote.depositId - 1].ownVote = vote;
      return signed.map(() => null);
    },
  };
  const attestor = new ChainAttestor({
    attestor: attestors[0] ?? { index: 0, privateKey: privateKeyFromSeed(seed) },
    chain: chains[0],
    port: venuePort,
    clock: () => Date.now(),
    uniform: Math.random,
    observe: () => {},
  });

  await attestor.poll();
  counts.clear();
  requests = 0;
  votes = 0;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const began = performance.now();
  for (let poll = 0; poll < POLLS; poll++) {
    worker.postMessage("four more blocks");
    await attestor.poll();
  }
  const elapsedMs = performance.now() - began;
  delay.disable();
  const idle = monitorEventLoopDelay({ resolution: 1 });
  idle.enable();
  await setTimeout(elapsedMs);
  idle.disable();
  await worker.terminate();

  const per = (value) => (value / POLLS).toFixed(1);
  const ms = (nanoseconds) => `${(nanoseconds / 1e6).toFixed(1)} ms`;
  console.log(`${DEPOSITS} queued deposits, mean of ${POLLS} polls`);
  console.log(`  http requests              ${per(requests)}`);
  for (const [method, count] of counts) console.log(`  ${method.padEnd(26)} ${per(count)}`);
  console.log(`  votes submitted            ${per(votes)}`);
  console.log(`  time                       ${(elapsedMs / POLLS).toFixed(0)} ms`);
  for (const [name, histogram] of Object.entries({ polling: delay, idle })) {
    const held = [50, 99, 100].map((p) => ms(histogram.percentile(p))).join(", ");
    console.log(`  event loop delay, ${name.padEnd(9)} ${held} (p50, p99, max)`);
  }
}

if (isMainThread) await measure();
else serve();

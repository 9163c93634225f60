/**
 * Public reads: the book with 50 levels a side, beside a bare Fastify server that answers the same
 * bytes from memory.
 *
 *   npm run bench:reads [-- --help]
 */
import { benchOptions } from "./options.js";
import { type Gateway, withGateway } from "./orders/gateway.js";
import type { LoadPlan } from "./orders/load.js";
import { firstMessage, forkScript, perSecond, runLoad, stop } from "./orders/processes.js";
import { type SignedIn, signIn } from "./orders/sign-in.js";
import { signature } from "./orders/wire.js";
import { median, progress, Report } from "./report.js";

const options = benchOptions({
  command: "bench:reads",
  about: "GET book with 50 levels a side, beside a constant Fastify server of the same answer.",
  amounts: {
    count: { about: "reads of a turn", full: 40_000, short: 10_000 },
    rounds: { about: "turns of each, of which the middle one counts", full: 3, short: 3 },
  },
});
const CONNECTIONS = 16;
const DEPTH = 50;
const PATH = `/v1/markets/BTCUSD/book?depth=${DEPTH}`;

const report = new Report("reads", [
  "TLS and the network: everything is on this machine, the load included",
  "changes of the book between two reads",
]);

/** One order on each of 50 prices a side, from one tick beside the mark outward. */
async function fillBook({ origin }: Gateway, trader: SignedIn): Promise<void> {
  for (let nonce = 1; nonce <= 2 * DEPTH; nonce++) {
    const isBid = nonce % 2 === 0;
    const ticks = 650_000 + (isBid ? -1 : 1) * Math.ceil(nonce / 2);
    const side = isBid ? "long" : "short";
    const body = JSON.stringify({
      symbol: "BTCUSD",
      side,
      type: "limit",
      margin: 10 + nonce,
      leverage: 10,
      price: ticks / 10,
      nonce,
    });
    const response = await fetch(`${origin}/v1/orders`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${trader.token}`,
        "x-service-sig": signature(trader.privateKeyPem, body),
      },
      body,
    });
    if (!response.ok) throw new Error(`an order for the book: ${await response.text()}`);
    await response.arrayBuffer();
  }
}

async function reads(gateway: Gateway): Promise<void> {
  await fillBook(gateway, await signIn(gateway.origin));
  const answer = await (await fetch(`${gateway.origin}${PATH}`)).text();
  const script = new URL("./reads/constant-server.js", import.meta.url);
  const peer = forkScript(script, [Buffer.from(answer).toString("base64")]);
  try {
    await compare(gateway.port, Number(await firstMessage(peer)), answer.length);
  } finally {
    await stop(peer);
  }
}

async function compare(port: number, peerPort: number, bytes: number): Promise<void> {
  const { count, rounds } = options.amounts;
  const rateOf = async (to: number): Promise<number> => {
    const warmUp = Math.floor(count / 5);
    const plan: LoadPlan = {
      port: to,
      connections: CONNECTIONS,
      count,
      rate: 0,
      warmUp,
      send: PATH,
    };
    return perSecond(await runLoad(plan));
  };
  const ours: number[] = [];
  const peers: number[] = [];
  await rateOf(port);
  await rateOf(peerPort);
  for (let round = 1; round <= rounds; round++) {
    progress(`reads: round ${round} of ${rounds} …`);
    peers.push(await rateOf(peerPort));
    ours.push(await rateOf(port));
  }
  const peer = median(peers);
  const rate = median(ours);
  report.add(`constant Fastify answer of ${bytes} bytes`, peer, "reads/s");
  report.add(`GET book, ${DEPTH} levels a side`, rate, "reads/s", "Fastify, bar 0.8", rate / peer);
}

await report.step("the book", () => withGateway(reads));
report.print(options.json);

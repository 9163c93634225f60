/**
 * Public reads: the book with 50 levels a side, compared with a Fastify server that returns the same
 * bytes from memory.
 *
 *   npm run bench:reads [-- --help]
 */
import { createPrivateKey } from "node:crypto";
import { withPeer } from "./harness/child.js";
import { withGateway } from "./harness/gateway.js";
import { type Address, ask, signIn } from "./harness/http.js";
import { withLoad } from "./harness/load.js";
import { parseOptions } from "./harness/options.js";
import { median, progress, Report } from "./harness/report.js";
import { signatureOf } from "./harness/wire.js";

const options = parseOptions({
  command: "bench:reads",
  about: "GET book with 50 levels a side, compared with a constant Fastify answer.",
  numbers: {
    count: ["reads of a turn", 10_000, 10_000],
    rounds: ["turns of each, of which the middle one counts", 15, 5],
  },
});
const CONNECTIONS = 16;
const DEPTH = 50;
const PATH = `/v1/markets/BTCUSD/book?depth=${DEPTH}`;

const report = new Report("reads", [
  "TLS and the network: everything is on this machine, the load included",
  "changes of the book between two reads",
]);

/** One order on each of 50 prices a side, from one tick off the mark outward. */
async function fillBook(address: Address): Promise<void> {
  const { token, privateKeyPem } = await signIn(address);
  const key = createPrivateKey(privateKeyPem);
  for (let nonce = 1; nonce <= 2 * DEPTH; nonce++) {
    const isBid = nonce % 2 === 0;
    const price = 65_000 + ((isBid ? -1 : 1) * Math.ceil(nonce / 2)) / 10;
    const side = isBid ? "long" : "short";
    const size = { margin: 10 + nonce, leverage: 10 };
    const order = { symbol: "BTCUSD", side, type: "limit", ...size, price, nonce };
    const body = JSON.stringify(order);
    const signature = signatureOf(key, body);
    const { status, text } = await ask(address, "/v1/orders", { body, token, signature });
    if (status !== 200) throw new Error(`an order for the book: ${text}`);
  }
}

async function compare(address: Address, peerAddress: Address): Promise<[number[], number[]]> {
  return withLoad(async (open) => {
    const plan = { connections: CONNECTIONS, send: PATH };
    const peer = await open({ ...plan, address: peerAddress });
    const gateway = await open({ ...plan, address });
    const rates: [number[], number[]] = [[], []];
    const [count, rounds] = [options.number("count"), options.number("rounds")];
    for (let round = 0; round <= rounds; round++) {
      progress(`reads: round ${round} of ${rounds} …`);
      const pair = [await peer.saturate(count), await gateway.saturate(count)] as const;
      // The first round is warm-up.
      if (round > 0) for (const [i, { perSecond }] of pair.entries()) rates[i]!.push(perSecond);
    }
    return rates;
  });
}

async function reads(address: Address): Promise<void> {
  await fillBook(address);
  const { text } = await ask(address, PATH);
  const [peer, ours] = await withPeer(["constant", text], ({ port }) => compare(address, { port }));
  const ratio = median(ours.map((rate, i) => rate / peer[i]!));
  report.add(`constant Fastify answer of ${text.length} bytes`, median(peer), "reads/s");
  const metric = `GET book, ${DEPTH} levels a side`;
  report.add(metric, median(ours), "reads/s", "Fastify, bar 0.8", ratio);
}

await report.step("the book", () => withGateway(({ port }) => reads({ port })));
report.print(options.has("json"));

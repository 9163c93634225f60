/**
 * Public reads: the book with 50 levels a side, compared with a Fastify server that returns the same
 * bytes from memory. The book does not change between two reads.
 */
import { withGateway, withPeer } from "./harness/gateway.js";
import { ask, askSigned, type GatewayAddress, signIn } from "./harness/http.js";
import { withLoad } from "./harness/load.js";
import { parseOptions } from "./harness/options.js";
import { inTurns, median, medianRatio, Report } from "./harness/report.js";

const options = parseOptions({
  command: "npm run bench -- reads",
  about: "GET book with 50 levels a side, compared with a constant Fastify answer.",
  numbers: {
    count: ["reads of a turn", 10_000, 10_000],
    rounds: ["turns of each, of which the middle one counts", 15, 5],
  },
});
const CONNECTIONS = 16;
const DEPTH = 50;
const PATH = `/v1/markets/BTCUSD/book?depth=${DEPTH}`;
const report = new Report("reads");

/** One order on each of 50 prices a side, from one tick off the mark outward. */
async function fillBook(address: GatewayAddress): Promise<void> {
  const account = await signIn(address);
  for (let nonce = 1; nonce <= 2 * DEPTH; nonce++) {
    const isBid = nonce % 2 === 0;
    const price = 65_000 + ((isBid ? -1 : 1) * Math.ceil(nonce / 2)) / 10;
    const size = { margin: 10 + nonce, leverage: 10 };
    const order = { symbol: "BTCUSD", side: isBid ? "long" : "short", type: "limit", ...size };
    await askSigned(address, account, "/v1/orders", { ...order, price, nonce });
  }
}

async function reads(gateway: GatewayAddress): Promise<void> {
  await fillBook(gateway);
  const { text } = await ask(gateway, PATH);
  const [peer, ours] = await withPeer(["constant", text], (port) =>
    withLoad(async (open) => {
      const plan = { connections: CONNECTIONS, send: PATH };
      const lanes = [
        await open({ ...plan, address: { port } }),
        await open({ ...plan, address: gateway }),
      ];
      return inTurns("reads", options.number("rounds"), lanes, async (lane) => {
        return (await lane.saturate(options.number("count"))).perSecond;
      });
    }),
  );
  report.add(`constant Fastify answer of ${text.length} bytes`, median(peer!), "reads/s");
  const metric = `GET book, ${DEPTH} levels a side`;
  report.add(metric, median(ours!), "reads/s", "Fastify, bar 0.8", medianRatio(ours!, peer!));
}

await report.step("the book", () => withGateway(({ port }) => reads({ port })));
report.print(options.has("json"));

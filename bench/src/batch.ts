/**
 * What a batch and an amendment cost the gateway, compared with single orders in the same run.
 *
 *   npm run bench:batch [-- --help]
 *
 * The measure is processor time of the whole process, all threads: signature, log, matching and answer.
 * Turns alternate, because the speed of a shared machine changes within seconds.
 */
import { createPrivateKey } from "node:crypto";
import { Agent } from "node:http";
import { type Gateway, withGateway } from "./harness/gateway.js";
import { ask, signIn } from "./harness/http.js";
import { parseOptions } from "./harness/options.js";
import { median, Report } from "./harness/report.js";
import { signatureOf } from "./harness/wire.js";

const options = parseOptions({
  command: "bench:batch",
  about: "Batches of 20 and amendments, compared with single orders.",
  numbers: {
    count: ["requests of a turn", 400, 200],
    rounds: ["turns of each, of which the middle one counts", 15, 5],
  },
  switches: {},
});
const BATCH = 20;
const WARM_UP_TURNS = 3;
const report = new Report("batch", ["signing, which the client does"]);

const BID = { symbol: "BTCUSD", side: "long", type: "limit", size: 0.001, leverage: 10 } as const;
/** Fills nothing and rests nowhere, so that every turn finds the same book. */
const PASSING = { ...BID, price: 64_000, timeInForce: "ioc" };

/** Sends signed requests on one connection. */
class Client {
  private nonce = 0;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  private constructor(
    private readonly gateway: Gateway,
    private readonly token: string,
    private readonly key: ReturnType<typeof createPrivateKey>,
  ) {}

  static async signIn(gateway: Gateway): Promise<Client> {
    const { token, privateKeyPem } = await signIn({ port: gateway.port });
    return new Client(gateway, token, createPrivateKey(privateKeyPem));
  }

  async post(path: string, fields: object): Promise<Record<string, unknown>> {
    const body = JSON.stringify({ ...fields, nonce: ++this.nonce });
    const { token, agent } = this;
    const signature = signatureOf(this.key, body);
    const { port } = this.gateway;
    const { status, text } = await ask({ port }, path, { body, token, signature, agent });
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return Object(JSON.parse(text));
  }

  async cancel(orderId: unknown): Promise<void> {
    const { token, agent } = this;
    const { port } = this.gateway;
    const path = `/v1/orders/${orderId}/cancel`;
    const { status, text } = await ask({ port }, path, { body: "{}", token, agent });
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Microseconds of the process per call. */
async function cost(gateway: Gateway, call: () => Promise<void>): Promise<number> {
  const count = options.number("count");
  const before = gateway.processorMs;
  for (let i = 0; i < count; i++) await call();
  return ((gateway.processorMs - before) * 1_000) / count;
}

/** The middle costs of both, in turns. */
async function compare(
  gateway: Gateway,
  one: () => Promise<void>,
  other: () => Promise<void>,
): Promise<[one: number, other: number]> {
  const costs: [number[], number[]] = [[], []];
  const turns = WARM_UP_TURNS + options.number("rounds");
  for (let turn = 0; turn < turns; turn++) {
    const pair = [await cost(gateway, one), await cost(gateway, other)] as const;
    if (turn < WARM_UP_TURNS) continue;
    costs[0].push(pair[0]);
    costs[1].push(pair[1]);
  }
  return [median(costs[0]), median(costs[1])];
}

async function batches(gateway: Gateway): Promise<void> {
  const client = await Client.signIn(gateway);
  const operations = Array.from({ length: BATCH }, () => ({ op: "place", ...PASSING }));
  const [single, batch] = await compare(
    gateway,
    async () => void (await client.post("/v1/orders", PASSING)),
    async () => void (await client.post("/v1/orders/batch", { operations })),
  );
  report.detail("one order", single, "µs of processor");
  report.add(
    `a batch of ${BATCH}`,
    batch,
    "µs of processor",
    "one order, at most 8",
    batch / single,
  );
  client.close();
}

async function amendments(gateway: Gateway): Promise<void> {
  const client = await Client.signIn(gateway);
  let price = 60_000;
  const next = (): number => {
    price = price === 60_000 ? 60_100 : 60_000;
    return price;
  };
  let { orderId } = await client.post("/v1/orders", { ...BID, price });
  const amended = (await client.post("/v1/orders", { ...BID, price })).orderId;
  const [replaced, moved] = await compare(
    gateway,
    async () => {
      await client.cancel(orderId);
      ({ orderId } = await client.post("/v1/orders", { ...BID, price: next() }));
    },
    async () => {
      const change = { orderId: amended, price: next() };
      await client.post(`/v1/orders/${amended}/amend`, change);
    },
  );
  report.detail("a cancel and an order", replaced, "µs of processor");
  report.add(
    "an amendment",
    moved,
    "µs of processor",
    "cancel and order, at most 1",
    moved / replaced,
  );
  client.close();
}

await report.step("batches", () => withGateway(batches));
await report.step("amendments", () => withGateway(amendments));
report.print(options.has("json"));

/**
 * The load, in a process of its own: takes a plan over IPC, prepares every request, then either
 * keeps all connections busy (saturation) or sends at a fixed rate and measures each answer from
 * the moment its request was due, so that a stalled server cannot hide its queue.
 */
import { createPrivateKey } from "node:crypto";
import { Connection } from "./connection.js";
import { orderBody, orderRequest } from "./wire.js";

export interface LoadPlan {
  readonly port: number;
  readonly connections: number;
  readonly count: number;
  /** Requests per second; 0: as fast as the answers come. */
  readonly rate: number;
  readonly price: number;
  readonly firstNonce: number;
  readonly traders: readonly { readonly token: string; readonly privateKeyPem: string }[];
}

export interface LoadResult {
  readonly answered: number;
  readonly seconds: number;
  /** Sorted, in milliseconds. */
  readonly latenciesMs: readonly number[];
  /** Answers other than 200, by status and beginning of the body. */
  readonly refused: Readonly<Record<string, number>>;
}

function prepare(plan: LoadPlan): Buffer[] {
  const traders = plan.traders.map(({ token, privateKeyPem }) => ({
    token,
    key: createPrivateKey(privateKeyPem),
  }));
  const requests: Buffer[] = [];
  for (let i = 0; i < plan.count; i++) {
    const trader = traders[i % traders.length]!;
    const nonce = plan.firstNonce + Math.floor(i / traders.length);
    requests.push(orderRequest(trader, orderBody(nonce, plan.price)));
  }
  return requests;
}

async function run(plan: LoadPlan, requests: readonly Buffer[]): Promise<LoadResult> {
  const connections = Array.from({ length: plan.connections }, () => new Connection(plan.port));
  const latencies = new Float64Array(plan.count);
  const refused: Record<string, number> = {};
  let next = 0;
  let answered = 0;
  const started = performance.now();
  await new Promise<void>((resolve) => {
    const send = (connection: Connection, due: number): void => {
      const request = requests[next++]!;
      connection.send(request, (status, body) => {
        latencies[answered++] = performance.now() - due;
        if (status !== 200) {
          const kind = `${status} ${body.toString("utf8", 0, 60)}`;
          refused[kind] = (refused[kind] ?? 0) + 1;
        }
        if (answered === plan.count) resolve();
        else if (plan.rate === 0 && next < plan.count) send(connection, performance.now());
      });
    };
    if (plan.rate === 0) {
      for (const connection of connections)
        if (next < plan.count) send(connection, performance.now());
      return;
    }
    const pace = setInterval(() => {
      const elapsed = performance.now() - started;
      while (next < plan.count && next < (elapsed * plan.rate) / 1000) {
        const idle = connections.find((connection) => !connection.isBusy);
        if (idle === undefined) return;
        send(idle, Math.min(performance.now(), started + (next * 1000) / plan.rate + 1));
      }
      if (next === plan.count) clearInterval(pace);
    }, 1);
  });
  const seconds = (performance.now() - started) / 1000;
  for (const connection of connections) connection.close();
  return { answered, seconds, latenciesMs: Array.from(latencies.sort()), refused };
}

process.once("message", async (plan: LoadPlan) => {
  const requests = prepare(plan);
  process.send?.("ready");
  process.once("message", async () => {
    process.send?.(await run(plan, requests), () => process.disconnect());
  });
});

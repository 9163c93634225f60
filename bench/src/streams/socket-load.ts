/**
 * Order entry over sockets, in a process of its own: each socket speaks for one trader and has one
 * order under way, as each connection of the REST load has.
 */
import { createHash, createPrivateKey, sign } from "node:crypto";
import type { Socket } from "node:net";
import type { LoadPlan, LoadResult } from "../orders/load.js";
import { orderBody } from "../orders/wire.js";
import { FrameCounter } from "./frame-counter.js";
import { openSocket, textMessage } from "./plain-socket.js";

/** The beginning of `{t: "ok", …}` in MessagePack. */
const OK = Buffer.from([0x82, 0xa1, 0x74, 0xa2, 0x6f, 0x6b]);

function prepare({ traders, count, firstNonce, price }: LoadPlan, index: number): Buffer[] {
  const trader = traders[index]!;
  const key = createPrivateKey(trader.privateKeyPem);
  return Array.from({ length: Math.ceil(count / traders.length) }, (_, i) => {
    const body = orderBody(firstNonce + i, price);
    const sig = sign(null, createHash("sha256").update(body).digest(), key).toString("base64");
    return textMessage(JSON.stringify({ op: "order", id: i, body, sig }));
  });
}

async function run(plan: LoadPlan, prepared: readonly Buffer[][]): Promise<LoadResult> {
  const refused: Record<string, number> = {};
  const latenciesMs: number[] = [];
  const sockets: Socket[] = [];
  let started = 0;
  await Promise.all(
    prepared.map(async (messages, index) => {
      const counter = new FrameCounter();
      let next = 0;
      let sentAt = 0;
      let finish: () => void = () => undefined;
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const send = (): void => {
        sentAt = performance.now();
        sockets[index]!.write(messages[next++]!);
      };
      sockets[index] = await openSocket(plan.port, plan.traders[index]?.token, (chunk) => {
        counter.push(chunk, (payload) => {
          if (payload.subarray(0, OK.length).equals(OK)) return;
          const kind = payload.toString("latin1", 0, 80);
          refused[kind] = (refused[kind] ?? 0) + 1;
        });
        if (counter.frames < next) return;
        latenciesMs.push(performance.now() - sentAt);
        if (next === messages.length) finish();
        else send();
      });
      if (started === 0) started = performance.now();
      send();
      await finished;
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  for (const socket of sockets) socket.destroy();
  latenciesMs.sort((a, b) => a - b);
  return { answered: latenciesMs.length, seconds, latenciesMs, refused };
}

process.once("message", (plan: LoadPlan) => {
  const prepared = plan.traders.map((_, index) => prepare(plan, index));
  process.send?.("ready");
  process.once("message", async () => {
    process.send?.(await run(plan, prepared), () => process.disconnect());
  });
});

/**
 * One book stream to a thousand sockets, compared with a bare `ws` loop in alternating rounds:
 * processor time of a send, and how long the last socket waits.
 */
import { createPrivateKey } from "node:crypto";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, withPeer } from "../harness/child.js";
import { type Gateway, processorMs, withGateway } from "../harness/gateway.js";
import { askOnce, signIn } from "../harness/http.js";
import { Latencies, median, progress, type Report } from "../harness/report.js";
import { signatureOf } from "../harness/wire.js";
import type { ReadersHandlers } from "./readers.js";
import { startReaders } from "./start-readers.js";

const WARM_UP_ROUNDS = 10;
/** No snapshots during the measurement. */
const SETTINGS = { snapshots: { everyMs: 3_600_000 } };

/** Places an order far below the mark, or cancels the one before: one level, one frame. */
async function levelChanger({ port }: Gateway): Promise<(symbol: string) => Promise<void>> {
  const { token, privateKeyPem } = await signIn({ port });
  const key = createPrivateKey(privateKeyPem);
  const agent = new Agent({ keepAlive: true });
  const resting = new Map<string, string>();
  let nonce = 0;
  return async (symbol) => {
    const orderId = resting.get(symbol);
    resting.delete(symbol);
    const price = symbol === "BTCUSD" ? 64_900 : 31_900;
    const order = { symbol, side: "long", type: "limit", margin: 11, leverage: 10, price };
    const body = orderId === undefined ? JSON.stringify({ ...order, nonce: ++nonce }) : "{}";
    const path = orderId === undefined ? "/v1/orders" : `/v1/orders/${orderId}/cancel`;
    const signature = signatureOf(key, body);
    const { status, text } = await askOnce({ port }, path, { body, token, signature, agent });
    if (status !== 200) throw new Error(`a change of the book: ${text}`);
    const placed = /"orderId":"(\d+)"/.exec(text)?.[1];
    if (orderId === undefined && placed !== undefined) resting.set(symbol, placed);
  };
}

/** By round. */
class Measured {
  readonly waitsMs: number[] = [];
  readonly cpuMs: number[] = [];
  frameBytes = 0;

  async round(
    readers: Child<ReadersHandlers>,
    cpu: () => number,
    send: () => Promise<void>,
  ): Promise<void> {
    await readers.call("arm");
    const before = cpu();
    const sentMs = Number(process.hrtime.bigint()) / 1e6;
    await send();
    const { lastAtMs, frameBytes } = await readers.call("arrived");
    this.cpuMs.push(cpu() - before);
    this.waitsMs.push(lastAtMs - sentMs);
    this.frameBytes = frameBytes;
  }

  forget(): void {
    this.waitsMs.length = 0;
    this.cpuMs.length = 0;
  }
}

export function measureFanOut(report: Report, sockets: number, rounds: number): Promise<void> {
  return withGateway(
    (gateway) =>
      withPeer(["broadcast"], async (peer) => {
        const change = await levelChanger(gateway);
        progress(`streams: connecting twice ${sockets} readers …`);
        const readers = await startReaders({ port: gateway.port }, sockets, "book.BTCUSD", false);
        const bareReaders = await startReaders({ port: peer.port }, sockets, null, false);
        const [ours, bare] = [new Measured(), new Measured()];
        const controlsMs: number[] = [];
        const peerCpu = (): number => processorMs(peer.child.process.pid ?? 0);
        for (let i = 1 - WARM_UP_ROUNDS; i <= rounds; i++) {
          await ours.round(
            readers,
            () => gateway.processorMs,
            () => change("BTCUSD"),
          );
          await bare.round(bareReaders, peerCpu, () =>
            peer.child.call("broadcast", ours.frameBytes),
          );
          // The same change in a market without readers, over as long a time: what is not fan-out.
          const before = gateway.processorMs;
          await change("ETHUSD");
          await sleep(ours.waitsMs.at(-1) ?? 0);
          controlsMs.push(gateway.processorMs - before);
          if (i % 20 === 0) progress(`streams: fan-out, round ${i} of ${rounds} …`);
          if (i !== 0) continue;
          for (const measured of [ours, bare]) measured.forget();
          controlsMs.length = 0;
        }
        await Promise.all([readers.stop(), bareReaders.stop()]);
        addRows(report, sockets, ours, bare, median(controlsMs));
      }),
    SETTINGS,
  );
}

function addRows(
  report: Report,
  sockets: number,
  ours: Measured,
  bare: Measured,
  controlMs: number,
) {
  const cpuMs = ours.cpuMs.map((ms) => ms - controlMs);
  const micros = (ms: readonly number[]): number => (1_000 * median(ms)) / sockets;
  const speed = median(cpuMs.map((ms, i) => (bare.cpuMs[i] ?? 0) / ms));
  report.add("bare ws loop, processor time of a send", micros(bare.cpuMs), "µs");
  const name = `book stream to ${sockets} sockets`;
  report.add(`${name}, processor time of a send`, micros(cpuMs), "µs", "bare loop, bar 0.9", speed);
  report.detail("frame of that stream, one level", ours.frameBytes, "bytes");
  const [wait, bareWait] = [Latencies.of(ours.waitsMs), Latencies.of(bare.waitsMs)];
  for (const at of ["p50", "p99"] as const) {
    const metric = `${name}, order sent to the last socket, ${at}`;
    const against = `bare loop ${bareWait[at].toFixed(1)} ms`;
    report.add(metric, wait[at], "ms", against, wait[at] / bareWait[at]);
  }
}

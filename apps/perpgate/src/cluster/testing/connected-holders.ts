/**
 * Sessions that are connected to one gateway each and hold an order that ends with their connection. As
 * long as a session's socket is open, its order must be, too.
 */

import { fieldsOf, StreamClient } from "@perpgate/gateway/testing";
import { until } from "@perpgate/journal/testing";
import { expect } from "vitest";
import { type ClientAnswer, ProcessClient } from "../../testing/client.js";
import type { WhenDone } from "../../testing/perpgate-process.js";
import type { MirrorLog } from "./mirror-log.js";
import type { RunningGateway } from "./running-cluster.js";

interface Held {
  readonly orderId: number;
  readonly stream: StreamClient;
  /** The session was connected up to this position. */
  until: number;
}

/** Beyond the band of every market order. */
const FAR = 0.9;
const OPEN = 1;

export class ConnectedHolders {
  private readonly held: Held[] = [];
  private readonly current = new Map<RunningGateway, Held>();

  constructor(
    private readonly gateways: readonly RunningGateway[],
    private readonly atEnd: WhenDone,
  ) {}

  /** A new session with a new order at each gateway that has closed the last one's socket. */
  async renew(): Promise<void> {
    for (const gateway of this.gateways) {
      const before = this.current.get(gateway);
      if (before !== undefined && isOpen(before)) continue;
      const held = await this.hold(gateway);
      this.held.push(held);
      this.current.set(gateway, held);
    }
  }

  /** Notes up to where in the log the sessions were connected whose sockets are open now. */
  async note(): Promise<void> {
    for (const [gateway, held] of this.current) {
      if (!isOpen(held)) continue;
      const { position } = await gateway.status();
      // A gateway that saw its writer end by then has closed the socket.
      await held.stream.settled().catch(() => undefined);
      if (isOpen(held)) held.until = Number(position);
    }
  }

  /**
   * At the end: fails if an order ended while its session was connected; returns how many were held
   * across a step.
   */
  expectKept({ orderEnds }: MirrorLog): number {
    for (const { orderId, until } of this.held) {
      const end = orderEnds.get(orderId) ?? Number.POSITIVE_INFINITY;
      expect(end, `order ${orderId}`).toBeGreaterThan(until);
    }
    this.current.clear();
    return this.held.filter(({ until }) => until > 0).length;
  }

  private async hold({ url }: RunningGateway): Promise<Held> {
    const client = new ProcessClient(url);
    await accepted(() => client.signIn());
    const stream = await StreamClient.connect(url, client.token, undefined, this.atEnd);
    const option = await stream.ask({ op: "session", cancelOnDisconnect: true });
    expect(option).toMatchObject({ t: "ok" });
    const { body } = await accepted(() => client.request("GET", "/v1/markets"));
    const { symbol, markPrice } = fieldsOf(body["0"]);
    const price = Math.round(Number(markPrice) * FAR);
    const terms = { symbol, side: "long", type: "limit", margin: 5, leverage: 2 };
    const placed = await accepted(() => client.place({ ...terms, price, nonce: 1 }));
    expect(placed.body).toMatchObject({ status: "resting" });
    return { orderId: Number(placed.body.orderId), stream, until: 0 };
  }
}

function isOpen({ stream }: Held): boolean {
  return stream.socket.readyState === OPEN;
}

/** Again while the gateway or the index is on its way. */
async function accepted(send: () => Promise<ClientAnswer>): Promise<ClientAnswer> {
  const ask = async () => {
    const answer = await send();
    if (answer.status === 200) return answer;
    const isPassing = answer.status === 503 || answer.body.code === "stale_index";
    if (!isPassing) throw new Error(JSON.stringify(answer.body));
    return undefined;
  };
  return until(ask, { everyMs: 50 });
}

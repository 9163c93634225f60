/**
 * Traders of a cluster: each sends orders to its gateway, and moves on to the next one after a failure,
 * as a client does that takes the answers as what they say. Every answer is kept.
 */

import { setTimeout as delay } from "node:timers/promises";
import { until } from "@perpgate/journal/testing";
import { ProcessClient } from "../../testing/client.js";
import type { GivenReceipt } from "../../testing/judged-receipts.js";
import type { Acknowledged, Answers, Sent } from "./audit.js";
import { Waits } from "./waits.js";

interface InFlight {
  readonly url: string;
  readonly answer: Promise<unknown>;
  readonly giveUp: () => void;
}

const RETRY_MS = 50;
const THINK_MS = 60;
/** Answers that leave no doubt about their try. */
const NEVER_RAN: ReadonlySet<string> = new Set([
  "not_executed",
  "overloaded",
  "lagging",
  "not_ready",
]);
/** For a request that is never answered: longer than any may take. */
const GIVE_UP_MS = 60_000;

export class ClusterLoad implements Answers {
  readonly acknowledged: (Acknowledged & Sent)[] = [];
  readonly receipts: GivenReceipt[] = [];
  readonly notExecuted: Sent[] = [];
  readonly refusals = new Map<string, number>();
  /** Until a request was answered, or its connection failed; since it was last set to 0. */
  longestWaitMs = 0;
  /** The longest time in which no trader got an acknowledgement. */
  longestGapMs = 0;
  private lastMs = performance.now();
  private isOver = false;
  private hurriedUrl: string | undefined;
  private readonly waits = new Waits();
  private readonly inFlight = new Set<InFlight>();
  private readonly ended: Promise<unknown>;

  private constructor(
    private urls: readonly string[],
    clients: readonly ProcessClient[],
    inFlight: number,
  ) {
    this.ended = Promise.all(
      clients.flatMap((client, at) =>
        Array.from({ length: inFlight }, (_, lane) => this.trade(client, at, lane, inFlight)),
      ),
    );
  }

  static async start(urls: readonly string[], traders: number, inFlight = 2): Promise<ClusterLoad> {
    const clients = Array.from({ length: traders }, (_, at) => {
      return new ProcessClient(urls[at % urls.length] ?? "");
    });
    for (const client of clients) {
      const { status, body } = await client.signIn();
      if (status !== 200) throw new Error(JSON.stringify(body));
    }
    return new ClusterLoad(urls, clients, inFlight);
  }

  /** Resolves once `count` more orders are acknowledged. */
  async more(count: number): Promise<void> {
    const target = this.acknowledged.length + count;
    await until(() => this.acknowledged.length >= target);
  }

  /** Sends to these gateways only; resolves once none of the others has a request. */
  async only(urls: readonly string[]): Promise<void> {
    this.urls = urls;
    await Promise.allSettled([...this.inFlight].map(({ answer }) => answer));
  }

  /** The first order of each trader goes to this gateway, and one follows the other without a pause. */
  hurry(url: string): void {
    this.hurriedUrl = url;
  }

  /** All orders are as before `hurry`; returns the requests that the gateway has not answered. */
  calm(): number {
    const url = this.hurriedUrl;
    this.hurriedUrl = undefined;
    return [...this.inFlight].filter((request) => request.url === url).length;
  }

  /** As clients whose time limit has passed: sends elsewhere, also what that gateway has not answered. */
  leave(url: string): void {
    this.urls = this.urls.filter((other) => other !== url);
    for (const request of this.inFlight) if (request.url === url) request.giveUp();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
    this.waits.stop();
  }

  /** Fails if a request ever took longer than it may, on a machine as late as this one was then. */
  expectShortWaits(): void {
    this.waits.expectShort();
  }

  private async trade(client: ProcessClient, from: number, lane: number, lanes: number) {
    const session = Number(client.token.split(".")[1]);
    let at = from + lane;
    for (let nonce = lane + 1; !this.isOver; nonce += lanes) {
      const hurried = lane === 0 ? this.hurriedUrl : undefined;
      at = await this.place(client, session, nonce, at, hurried);
      // All gateways apply every order; the tests need faults, not a full machine.
      if (hurried === undefined) await delay(THINK_MS);
    }
  }

  /** Until the order has an answer, or the load is over; returns the gateway that it is at. */
  private async place(
    client: ProcessClient,
    session: number,
    nonce: number,
    from: number,
    hurried: string | undefined,
  ): Promise<number> {
    const order = { symbol: "BTCUSD", side: sideOf(nonce), type: "market", margin: 5, leverage: 2 };
    // After a try without an answer, what another gateway answers holds for its own try alone.
    let isUnsure = false;
    for (let at = from; ; at++) {
      const next = this.urls[at % this.urls.length] ?? "";
      const url = at === from ? (hurried ?? next) : next;
      const answer = await this.send(client, url, { ...order, nonce });
      if (answer?.status === 200) {
        const { ackNonce, orderId } = answer.body;
        const request = JSON.stringify({ ...order, nonce });
        this.receipts.push({ address: client.wallet.address, request, ack: answer.body });
        this.noteAcknowledged({
          session,
          nonce,
          ackNonce: Number(ackNonce),
          orderId: Number(orderId),
        });
        return at;
      }
      const code = String(answer?.body.code ?? "no answer");
      this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
      if (code === "not_executed" && !isUnsure) {
        this.notExecuted.push({ session, nonce });
        return at + 1;
      }
      isUnsure ||= !NEVER_RAN.has(code);
      // No gateway ran for some time; the next index is on its way.
      const isPassing = code === "stale_index";
      if (answer !== undefined && answer.status < 500 && !isPassing) {
        throw new Error(`${url}: ${JSON.stringify(answer.body)}`);
      }
      if (this.isOver) return at;
      await delay(RETRY_MS);
    }
  }

  private noteAcknowledged(order: Acknowledged & Sent): void {
    const nowMs = performance.now();
    this.longestGapMs = Math.max(this.longestGapMs, nowMs - this.lastMs);
    this.lastMs = nowMs;
    this.acknowledged.push(order);
  }

  private async send(client: ProcessClient, url: string, order: object) {
    const started = performance.now();
    const answer = client.at(url).place(order);
    const late = delay(GIVE_UP_MS, undefined, { ref: false });
    let giveUp: () => void = () => undefined;
    const left = new Promise<undefined>((resolve) => {
      giveUp = () => resolve(undefined);
    });
    const request: InFlight = { url, answer, giveUp };
    this.inFlight.add(request);
    const first = await Promise.race([answer, late, left]).catch(() => undefined);
    this.inFlight.delete(request);
    this.longestWaitMs = Math.max(this.longestWaitMs, this.waits.note(started));
    return first;
  }
}

function sideOf(nonce: number): "long" | "short" {
  return nonce % 2 === 0 ? "long" : "short";
}

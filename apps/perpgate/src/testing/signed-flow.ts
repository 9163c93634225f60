/** Sends signed requests to a process until it ends, and records what it answered. */

import { expect } from "vitest";
import type { ClientAnswer, ProcessClient } from "./client.js";

interface Sent<Body> {
  readonly client: ProcessClient;
  readonly body: Body;
  /** Undefined if the process ended first. */
  answer?: ClientAnswer;
}

export class SignedFlow<Body extends object> {
  readonly sent: Sent<Body>[] = [];
  readonly acknowledged: Required<Sent<Body>>[] = [];
  private readonly ended: Promise<unknown>;
  private onAcknowledged: () => void = () => undefined;

  /** Every client keeps `inFlight` requests in flight; their nonces begin at 1. */
  constructor(
    clients: readonly ProcessClient[],
    inFlight: number,
    private readonly path: string,
    private readonly bodyOf: (nonce: number) => Body,
  ) {
    const senders = clients.flatMap((client) =>
      Array.from({ length: inFlight }, (_, at) => this.send(client, 1 + at, inFlight)),
    );
    this.ended = Promise.all(senders);
  }

  /** Resolves once `count` requests are acknowledged. */
  async reached(count: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.onAcknowledged = () => {
        if (this.acknowledged.length >= count) resolve();
      };
      this.onAcknowledged();
    });
  }

  /** Resolves once the process takes no more requests. */
  async over(): Promise<void> {
    await this.ended;
  }

  post({ client, body }: Sent<Body>): Promise<ClientAnswer> {
    return client.request("POST", this.path, body, client.signatureOf(body));
  }

  private async send(client: ProcessClient, first: number, step: number): Promise<void> {
    for (let nonce = first; ; nonce += step) {
      const sent: Sent<Body> = { client, body: this.bodyOf(nonce) };
      this.sent.push(sent);
      const answer = await this.post(sent).catch(() => undefined);
      if (answer === undefined || answer.status >= 500) return;
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      this.acknowledged.push(Object.assign(sent, { answer }));
      this.onAcknowledged();
    }
  }
}

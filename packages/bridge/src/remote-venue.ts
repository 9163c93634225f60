/**
 * The port to a venue that runs elsewhere: asks its gateway over HTTP what there is to vote on, and
 * hands in votes. Requests for work are signed by the attestor's key; votes carry their signature.
 *
 * What the venue answers is read with suspicion only as far as shape goes: an attestor believes the
 * chain, and a venue that lies about its queue gets votes on what it asked about and nothing else.
 */

import { type KeyObject, sign } from "node:crypto";
import {
  type Chain,
  DepositQueue,
  type DepositQueueBody,
  hexFromBytes,
  MAX_VOTES_PER_REQUEST,
  type QueuedDeposit,
  SIGNATURE_HEADER,
  VotesAnswer,
  voteText,
} from "@perpgate/protocol";
import { Ajv, type ValidateFunction } from "ajv";
import type { CreditedDeposit, DepositPort, PendingDeposit } from "./venue-port.js";
import type { SignedVote } from "./vote.js";

export interface RemoteVenueOptions {
  /** The gateway's address, such as `https://perpgate.example`. */
  readonly url: string;
  /** The venue's name in votes. */
  readonly venue: string;
  /** Private keys of the attestors that run here, by number. */
  readonly keys: ReadonlyMap<number, KeyObject>;
  readonly clock: () => number;
  readonly timeoutMs: number;
}

/** The gateway did not answer as it should; the next poll asks again. */
export class VenueUnreachable extends Error {
  override readonly name = "VenueUnreachable";
}

const MAX_BODY_BYTES = 60_000;
/** Of an answer: far more than a page of the queue, or the refusals of a request's votes, can be. */
const MAX_ANSWER_BYTES = 8_388_608;
/** Of a queue, of up to five hundred deposits each. */
const MAX_PAGES = 1_000;

export class RemoteVenue implements DepositPort {
  private readonly isQueue: ValidateFunction<DepositQueue>;
  private readonly isVotesAnswer: ValidateFunction<VotesAnswer>;

  constructor(private readonly options: RemoteVenueOptions) {
    // Not with the module: every start of a venue loads that, and hardly any attests elsewhere.
    const ajv = new Ajv();
    this.isQueue = ajv.compile<DepositQueue>(DepositQueue);
    this.isVotesAnswer = ajv.compile<VotesAnswer>(VotesAnswer);
  }

  async pending(chain: Chain, attestor: number): Promise<readonly PendingDeposit[]> {
    const deposits = await this.queue(chain, attestor, "pending", 0);
    return deposits.map(({ depositId, txHash, token, status, registeredAt, ownVote }) => ({
      depositId: Number(depositId),
      txHash,
      token,
      status: status === "queued" ? "queued" : "confirming",
      registeredAtMs: registeredAt,
      ownVote,
    }));
  }

  async credited(
    chain: Chain,
    sinceMs: number,
    attestor: number,
  ): Promise<readonly CreditedDeposit[]> {
    const deposits = await this.queue(chain, attestor, "credited", Math.max(0, sinceMs));
    return deposits.map(({ depositId, txHash, token, creditedAt, credits, isMarked }) => ({
      depositId: Number(depositId),
      txHash,
      token,
      creditedAtMs: creditedAt ?? 0,
      credits,
      isMarked,
    }));
  }

  async submit(votes: readonly SignedVote[]): Promise<readonly (string | null)[]> {
    const refusals: (string | null)[] = [];
    for (const portion of portionsOf(votes)) {
      const answer = await this.post("/v1/bridge/votes", JSON.stringify({ votes: portion }), {});
      if (!this.isVotesAnswer(answer) || answer.refusals.length !== portion.length) {
        throw new VenueUnreachable("the venue's answer to votes cannot be read");
      }
      refusals.push(...answer.refusals);
    }
    return refusals;
  }

  async markReorged(vote: SignedVote): Promise<void> {
    const [refusal] = await this.submit([vote]);
    if (refusal !== null) throw new Error(`the venue refused to mark a deposit: ${refusal}`);
  }

  private async queue(
    chain: Chain,
    attestor: number,
    queue: DepositQueueBody["queue"],
    since: number,
  ): Promise<QueuedDeposit[]> {
    const key = this.options.keys.get(attestor);
    if (key === undefined) throw new RangeError(`attestor ${attestor} does not run here`);
    const { venue, clock } = this.options;
    const deposits: QueuedDeposit[] = [];
    let pages = 0;
    for (let after: string | null = "0"; after !== null; ) {
      if (++pages > MAX_PAGES) throw new VenueUnreachable("the venue's queue does not end");
      const body = JSON.stringify({ venue, attestor, chain, queue, after, since, time: clock() });
      const signature = hexFromBytes(sign(null, Buffer.from(body), key));
      const page = await this.post("/v1/bridge/queue", body, { [SIGNATURE_HEADER]: signature });
      if (!this.isQueue(page)) throw new VenueUnreachable("the venue's queue cannot be read");
      // A page that leads nowhere would be asked for without end.
      if (page.next !== null && Number(page.next) <= Number(after)) {
        throw new VenueUnreachable("the venue's queue does not go on");
      }
      deposits.push(...page.deposits);
      after = page.next;
    }
    return deposits;
  }

  private async post(
    path: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<unknown> {
    const { url, timeoutMs } = this.options;
    const aborting = new AbortController();
    const timer = setTimeout(() => aborting.abort(), timeoutMs);
    try {
      const response = await fetch(new URL(path, url), {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body,
        signal: aborting.signal,
      });
      const answer: unknown = JSON.parse(await textOf(response));
      if (response.status === 200) return answer;
      throw new VenueUnreachable(`the venue answered ${response.status}: ${codeIn(answer)}`);
    } catch (error) {
      if (error instanceof VenueUnreachable) throw error;
      const reason = error instanceof Error ? error.name : "unknown";
      throw new VenueUnreachable(aborting.signal.aborted ? "timeout" : reason, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Given up on, and the connection with it, where it grows beyond what an answer can be. */
async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) {
      throw new VenueUnreachable(`the venue answered more than ${MAX_ANSWER_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

interface WireVote {
  readonly text: string;
  readonly signature: string;
}

/** As many votes in a request as a body may hold, and at least one. */
function portionsOf(votes: readonly SignedVote[]): WireVote[][] {
  const portions: WireVote[][] = [];
  let open: WireVote[] = [];
  let bytes = 0;
  for (const { vote, signature } of votes) {
    const text = voteText(vote);
    const isFull = open.length >= MAX_VOTES_PER_REQUEST || bytes + text.length > MAX_BODY_BYTES;
    if (open.length > 0 && isFull) {
      portions.push(open);
      open = [];
      bytes = 0;
    }
    open.push({ text, signature });
    // Its signature, its line feeds as two letters each, and what JSON puts around.
    bytes += text.length + signature.length + 2 * vote.credits.length + 64;
  }
  if (open.length > 0) portions.push(open);
  return portions;
}

function codeIn(answer: unknown): string {
  return typeof answer === "object" && answer !== null && "code" in answer
    ? String(answer.code)
    : "no code";
}

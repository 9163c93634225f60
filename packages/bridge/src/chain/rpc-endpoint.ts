/**
 * One JSON-RPC address: calls go out in batches, answers are matched to calls by id and by nothing
 * else. A call that the node refuses is an error of that call; an address that does not answer, or
 * answers with something that is not JSON-RPC, fails as a whole.
 *
 * A batch whose answer is too large to take is sent again in halves, so that one transaction with a
 * huge receipt cannot keep its neighbours from being read. A batch that the node refuses as a whole
 * (too many calls, a rate limit), or does not answer in time, fails the endpoint, and the next
 * batches are half as large; they grow again after many readings that succeeded. A call that fails
 * alone is no answer to that call: a transaction that the node cannot tell about does not keep the
 * endpoint from being used for the others. A few of these in one reading fail the endpoint.
 */

import { TimeLimitError, withTimeLimit } from "@perpgate/protocol";
import type { HttpRpcClient } from "viem/utils";
import { isFields } from "./receipt.js";

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export type RpcAnswer =
  | { readonly isAnswered: true; readonly result: unknown }
  | { readonly isAnswered: false; readonly reason: string };

export class EndpointFailure extends Error {
  override readonly name = "EndpointFailure";
}

/** A batch failed in a way that one of its calls may have caused. */
class BatchFailure extends EndpointFailure {}

export interface RpcEndpointOptions {
  /** From sending a batch to the last byte of its answer. */
  readonly timeoutMs: number;
  readonly batchSize: number;
}

/** The largest receipt that a block's gas allows is about 9 MB of hex. */
const MAX_ANSWER_BYTES = 32 * 1_024 * 1_024;
/** Readings without a failure before a reduced batch is tried twice as large. */
const READINGS_TO_GROW = 20;
/** Calls of one reading that may fail alone before the endpoint counts as failing. */
const MAX_FAILED_CALLS = 4;
const TOO_LARGE = Symbol("the answer is too large");

export class RpcEndpoint {
  private client: HttpRpcClient | undefined;
  private batchSize: number;
  private succeeded = 0;
  /** Of the current reading. */
  private failedCalls = 0;

  constructor(
    private readonly url: string,
    private readonly options: RpcEndpointOptions,
    private readonly stop?: AbortSignal,
  ) {
    this.batchSize = options.batchSize;
  }

  /** Answers in the order of the calls. Rejects with an `EndpointFailure`. */
  async call(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    const answers: RpcAnswer[] = [];
    const { batchSize } = this;
    this.failedCalls = 0;
    // One batch after the other: an endpoint is never asked for more than one batch at a time.
    for (let at = 0; at < calls.length; at += batchSize) {
      answers.push(...(await this.callBatch(calls.slice(at, at + batchSize))));
    }
    if (++this.succeeded % READINGS_TO_GROW === 0) {
      this.batchSize = Math.min(this.options.batchSize, batchSize * 2);
    }
    return answers;
  }

  private async callBatch(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    let answered: unknown;
    try {
      answered = await this.send(calls);
    } catch (error) {
      if (!(error instanceof BatchFailure)) throw error;
      this.batchSize = Math.max(1, Math.floor(calls.length / 2));
      this.succeeded = 0;
      if (calls.length > 1 || ++this.failedCalls > MAX_FAILED_CALLS) throw error;
      return [{ isAnswered: false, reason: error.message }];
    }
    if (answered !== TOO_LARGE) return readAnswers(answered, calls.length);
    if (calls.length === 1) return [{ isAnswered: false, reason: "answer too large" }];
    const half = Math.ceil(calls.length / 2);
    return [
      ...(await this.callBatch(calls.slice(0, half))),
      ...(await this.callBatch(calls.slice(half))),
    ];
  }

  /** The parsed body, whatever it is, or `TOO_LARGE`. */
  private async send(calls: readonly RpcCall[]): Promise<unknown> {
    const body = calls.map(({ method, params }, id) => ({ id, method, params }));
    this.client ??= await newClient(this.url);
    const client = this.client;
    const limit = { timeoutMs: this.options.timeoutMs, signal: this.stop };
    let answered: unknown;
    try {
      answered = await withTimeLimit(limit, (signal) =>
        client.request({ body, fetchOptions: { signal } }),
      );
    } catch (error) {
      if (error instanceof Error && error.name === "ResponseBodyTooLargeError") return TOO_LARGE;
      if (error instanceof TimeLimitError) throw new BatchFailure("timeout");
      throw new EndpointFailure(this.stop?.aborted === true ? "stopped" : failureOf(error));
    }
    // One error instead of a list: the node refused the batch as a whole.
    if (isFields(answered) && isFields(answered.error)) {
      throw new BatchFailure(messageOf(answered.error));
    }
    return answered;
  }
}

/** Loaded when a chain is first asked: a venue without one starts half a second sooner. */
async function newClient(url: string): Promise<HttpRpcClient> {
  const { getHttpRpcClient } = await import("viem/utils");
  return getHttpRpcClient(url, { maxResponseBodySize: MAX_ANSWER_BYTES, timeout: 0 });
}

function readAnswers(answered: unknown, count: number): readonly RpcAnswer[] {
  if (!Array.isArray(answered)) throw new EndpointFailure("not a JSON-RPC answer");
  const answers: (RpcAnswer | undefined)[] = new Array(count);
  for (const entry of answered) {
    if (!isFields(entry)) throw new EndpointFailure("not a JSON-RPC answer");
    const { id } = entry;
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id >= count) {
      throw new EndpointFailure("an answer to no call");
    }
    if (answers[id] !== undefined) throw new EndpointFailure("two answers to one call");
    answers[id] = isFields(entry.error)
      ? { isAnswered: false, reason: messageOf(entry.error) }
      : { isAnswered: true, result: entry.result };
  }
  return Array.from(answers, (answer) => answer ?? { isAnswered: false, reason: "no answer" });
}

function messageOf(error: Readonly<Record<string, unknown>>): string {
  return `rpc error ${String(error.code)}`;
}

/** A class name, never a message: messages carry the address, and addresses carry keys. */
function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return "unreachable";
  const status = "status" in error && typeof error.status === "number" ? ` ${error.status}` : "";
  return `${error.name}${status}`;
}

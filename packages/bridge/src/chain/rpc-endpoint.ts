/**
 * One JSON-RPC endpoint. Calls are sent in batches; responses are matched to calls by id.
 *
 * - An error of one call fails that call. No response, or one that is not JSON-RPC, fails the endpoint.
 * - A batch whose response is too large is repeated in halves, so that one huge receipt does not
 *   affect other transactions.
 * - The calls of a batch that got an error while others got a result are repeated, as long as each
 *   repetition has results: nodes of the geth family end a response at a size limit and give the
 *   remaining calls an error.
 * - A batch that is rejected as a whole (too many calls) or times out fails the endpoint and halves
 *   the batch size, which grows again after many successful readings.
 * - So does status 429, but only to a minimum: it may limit requests, of which smaller batches need
 *   more.
 * - A batch of one call that fails this way fails only the call, a few times per reading: a
 *   transaction that the node cannot handle must not block the others.
 * - A search for logs that is refused is repeated over half as many blocks; what it took is remembered
 *   and doubled after many searches. Providers' limits range from 10 blocks to 10,000.
 */

import { TimeLimitError, withTimeLimit } from "@perpgate/protocol/core";
import type { HttpRpcClient } from "viem/utils";
import { isJsonObject } from "./receipt.js";

interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export type RpcResult =
  | { readonly isAnswered: true; readonly result: unknown }
  | { readonly isAnswered: false; readonly reason: string };

export class EndpointFailure extends Error {
  override readonly name = "EndpointFailure";
}

/** A batch failed in a way that one of its calls may have caused. */
class BatchFailure extends EndpointFailure {
  constructor(
    message: string,
    readonly calls: number,
  ) {
    super(message);
  }
}

/** Status 429: too many calls in the batch, or too many requests. */
class RateFailure extends EndpointFailure {}

interface RpcEndpointOptions {
  /** From sending a batch to the last byte of its response. */
  readonly timeoutMs: number;
  readonly batchSize: number;
}

/** A block's gas allows receipts of about 9 MB of hex. */
const MAX_BODY_BYTES = 32 * 1_024 * 1_024;
/** Successful readings before a reduced batch size is doubled. */
const READINGS_TO_GROW = 20;
/** Failed calls per reading that do not fail the endpoint. */
const MAX_FAILED_CALLS = 4;
/** Statuses that a smaller batch may avoid: malformed, too large. */
const BATCH_STATUSES: ReadonlySet<number | undefined> = new Set([400, 413]);
/** Status 429 makes batches no smaller than this. */
const MIN_RATED_BATCH = 10;
/** Of one search for logs. */
const MAX_BLOCKS = 2_000;
const TOO_LARGE = Symbol("response too large");

export class RpcEndpoint {
  private client: HttpRpcClient | undefined;
  private batchSize: number;
  private succeeded = 0;
  /** In the current reading. */
  private failedCalls = 0;
  private blocks = MAX_BLOCKS;
  private searches = 0;

  constructor(
    private readonly url: string,
    private readonly options: RpcEndpointOptions,
    private readonly stop?: AbortSignal,
  ) {
    this.batchSize = options.batchSize;
  }

  /** Results in the order of the calls. @throws EndpointFailure */
  async call(calls: readonly RpcCall[]): Promise<readonly RpcResult[]> {
    const results: RpcResult[] = [];
    const { batchSize } = this;
    this.failedCalls = 0;
    try {
      // Sequentially: one batch in flight per endpoint.
      for (let at = 0; at < calls.length; at += batchSize) {
        results.push(...(await this.callBatch(calls.slice(at, at + batchSize))));
      }
    } catch (error) {
      this.shrinkAfter(error, Math.min(batchSize, calls.length));
      throw error;
    }
    if (++this.succeeded % READINGS_TO_GROW === 0) {
      this.batchSize = Math.min(this.options.batchSize, batchSize * 2);
    }
    return results;
  }

  /** Blocks that a search for logs may span here, as far as is known. */
  get blocksPerSearch(): number {
    return this.blocks;
  }

  /**
   * Searches with a span that the endpoint takes. `search` returns null if it was refused, and is called
   * again with half the span. @throws EndpointFailure if one block is refused.
   */
  async search<T>(search: (blocks: number) => Promise<T | null>): Promise<T> {
    for (let { blocks } = this; blocks >= 1; blocks = Math.floor(blocks / 2)) {
      const found = await search(blocks);
      if (found === null) continue;
      // Not before one was taken: an endpoint that is out of order refuses any span.
      this.blocks = blocks;
      if (++this.searches % READINGS_TO_GROW === 0) {
        this.blocks = Math.min(MAX_BLOCKS, blocks * 2);
      }
      return found;
    }
    throw new EndpointFailure("it searches no logs");
  }

  /** `largest`: calls in the largest batch of the reading. */
  private shrinkAfter(error: unknown, largest: number): void {
    if (error instanceof BatchFailure) this.batchSize = Math.max(1, Math.floor(error.calls / 2));
    if (error instanceof RateFailure && largest > MIN_RATED_BATCH) {
      this.batchSize = Math.max(MIN_RATED_BATCH, Math.floor(largest / 2));
      this.succeeded = 0;
    }
  }

  private async callBatch(calls: readonly RpcCall[]): Promise<readonly RpcResult[]> {
    let response: unknown;
    try {
      response = await this.send(calls);
    } catch (error) {
      if (!(error instanceof BatchFailure)) throw error;
      this.succeeded = 0;
      if (calls.length > 1 || ++this.failedCalls > MAX_FAILED_CALLS) throw error;
      return [{ isAnswered: false, reason: error.message }];
    }
    if (response !== TOO_LARGE) {
      return this.completed(calls, readResults(response, calls.length));
    }
    if (calls.length === 1) return [{ isAnswered: false, reason: "response too large" }];
    const half = Math.ceil(calls.length / 2);
    return [
      ...(await this.callBatch(calls.slice(0, half))),
      ...(await this.callBatch(calls.slice(half))),
    ];
  }

  /** Repeats the calls without a result, if there are others with one. */
  private async completed(
    calls: readonly RpcCall[],
    results: readonly RpcResult[],
  ): Promise<readonly RpcResult[]> {
    const open = calls.filter((_, i) => results[i]?.isAnswered !== true);
    if (open.length === 0 || open.length === calls.length) return results;
    const repeated = await this.callBatch(open).catch((error: unknown) => {
      // The results so far are valid.
      if (error instanceof EndpointFailure) return [];
      throw error;
    });
    let next = 0;
    return results.map((result) => (result.isAnswered ? result : (repeated[next++] ?? result)));
  }

  /** The parsed body, or `TOO_LARGE`. */
  private async send(calls: readonly RpcCall[]): Promise<unknown> {
    const body = calls.map(({ method, params }, id) => ({ id, method, params }));
    this.client ??= await newClient(this.url);
    const client = this.client;
    const limit = { timeoutMs: this.options.timeoutMs, signal: this.stop };
    let response: unknown;
    try {
      response = await withTimeLimit(limit, (signal) =>
        client.request({ body, fetchOptions: { signal } }),
      );
    } catch (error) {
      if (error instanceof Error && error.name === "ResponseBodyTooLargeError") return TOO_LARGE;
      if (error instanceof TimeLimitError) throw new BatchFailure("timeout", calls.length);
      if (this.stop?.aborted === true) throw new EndpointFailure("stopped");
      const status = statusOf(error);
      if (status === 429) throw new RateFailure(failureOf(error));
      if (BATCH_STATUSES.has(status)) throw new BatchFailure(failureOf(error), calls.length);
      throw new EndpointFailure(failureOf(error));
    }
    // An error instead of a list: the node rejected the whole batch.
    if (isJsonObject(response) && isJsonObject(response.error)) {
      throw new BatchFailure(messageOf(response.error), calls.length);
    }
    return response;
  }
}

/** Loaded lazily: saves half a second at the start of a venue without chains. */
async function newClient(url: string): Promise<HttpRpcClient> {
  const { getHttpRpcClient } = await import("viem/utils");
  return getHttpRpcClient(url, { maxResponseBodySize: MAX_BODY_BYTES, timeout: 0 });
}

function readResults(response: unknown, count: number): readonly RpcResult[] {
  if (!Array.isArray(response)) throw new EndpointFailure("not a JSON-RPC response");
  const answers: (RpcResult | undefined)[] = new Array(count);
  for (const entry of response) {
    if (!isJsonObject(entry)) throw new EndpointFailure("not a JSON-RPC response");
    const { id } = entry;
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id >= count) {
      throw new EndpointFailure("a response to no call");
    }
    if (answers[id] !== undefined) throw new EndpointFailure("two responses to one call");
    answers[id] = isJsonObject(entry.error)
      ? { isAnswered: false, reason: messageOf(entry.error) }
      : { isAnswered: true, result: entry.result };
  }
  return Array.from(answers, (answer) => answer ?? { isAnswered: false, reason: "no response" });
}

function messageOf(error: Readonly<Record<string, unknown>>): string {
  return `rpc error ${String(error.code)}`;
}

/** The error's name without its message, which contains the URL and its API key. */
function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return "unreachable";
  const status = statusOf(error);
  return status === undefined ? error.name : `${error.name} ${status}`;
}

function statusOf(error: unknown): number | undefined {
  const isHttp = error instanceof Error && "status" in error && typeof error.status === "number";
  return isHttp ? Number(error.status) : undefined;
}

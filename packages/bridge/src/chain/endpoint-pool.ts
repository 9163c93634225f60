/**
 * Queries all endpoints of a chain concurrently. A failed endpoint is skipped with growing pauses. A
 * slow one is waited for only `graceMs` after enough others have responded, and is then skipped too.
 */

import type { Chain } from "@perpgate/protocol";
import { Backoff } from "../backoff.js";
import type { BridgeObserver } from "../bridge-event.js";
import type { ChainConfig } from "../config/chain-config.js";
import { type ChainView, readChain } from "./chain-view.js";
import { EndpointFailure, RpcEndpoint } from "./rpc-endpoint.js";

interface Member {
  readonly name: string;
  readonly endpoint: RpcEndpoint;
  readonly backoff: Backoff;
  isBusy: boolean;
}

type HeadView = Pick<ChainView, "endpoint" | "head">;
type Query<V> = (endpoint: RpcEndpoint, name: string) => Promise<V>;

interface PoolOptions {
  readonly clock: () => number;
  /** Uniform in [0, 1). */
  readonly uniform: () => number;
  readonly observe: BridgeObserver;
  /** Aborts requests in flight. */
  readonly stop?: AbortSignal;
}

export class EndpointPool {
  private readonly members: readonly Member[];

  constructor(
    private readonly config: ChainConfig,
    private readonly options: PoolOptions,
  ) {
    this.members = config.rpc.map((url, i) => ({
      name: `${new URL(url).host}#${i}`,
      endpoint: new RpcEndpoint(url, config, options.stop),
      backoff: new Backoff({ baseMs: 1_000, maxMs: 60_000 }, options.uniform),
      isBusy: false,
    }));
  }

  /** The views of the endpoints that responded in time. */
  read(txHashes: readonly string[]): Promise<readonly ChainView[]> {
    return this.ask((endpoint, name) => readChain(endpoint, name, this.config, txHashes));
  }

  /** What a query reads from each endpoint, of those that responded in time and have a recent head. */
  async ask<V extends HeadView>(query: Query<V>): Promise<readonly V[]> {
    const nowMs = this.options.clock();
    const queried = this.members.filter(({ isBusy, backoff }) => !isBusy && backoff.isReady(nowMs));
    const views: V[] = [];
    if (queried.length === 0) return views;
    let isOver = false;
    await new Promise<void>((resolve) => {
      let open = queried.length;
      let grace: NodeJS.Timeout | undefined;
      const end = (): void => {
        isOver = true;
        clearTimeout(grace);
        resolve();
      };
      for (const member of queried) {
        void this.query(member, query, () => isOver).then((view) => {
          if (isOver) return;
          if (view !== undefined) views.push(view);
          if (--open === 0) end();
          else if (views.length >= this.config.minAgreeing) {
            grace ??= setTimeout(end, this.config.graceMs);
          }
        });
      }
    });
    return this.fresh(views);
  }

  /** Removes endpoints with an old head. */
  private fresh<V extends HeadView>(views: readonly V[]): readonly V[] {
    const { chain, minAgreeing, maxHeadLagMs } = this.config;
    const reachedMs = reachedHeadMs(views, minAgreeing);
    if (reachedMs === null) return views;
    return views.filter(({ endpoint, head }) => {
      const lagMs = reachedMs - head.timeMs;
      if (lagMs <= maxHeadLagMs) return true;
      this.options.observe({ kind: "EndpointStale", chain, endpoint, lagMs });
      return false;
    });
  }

  /** Never rejects: a failure is reported and the endpoint skipped for a while. */
  private async query<V>(
    member: Member,
    query: Query<V>,
    isOver: () => boolean,
  ): Promise<V | undefined> {
    member.isBusy = true;
    try {
      const view = await query(member.endpoint, member.name);
      if (isOver()) this.fail(member, "slow");
      else member.backoff.succeeded();
      return view;
    } catch (error) {
      if (this.options.stop?.aborted === true) return undefined;
      this.fail(member, error instanceof EndpointFailure ? error.message : String(error));
      return undefined;
    } finally {
      member.isBusy = false;
    }
  }

  private fail({ name, backoff }: Member, reason: string): void {
    const { clock, observe } = this.options;
    const chain: Chain = this.config.chain;
    const retryAtMs = backoff.failed(clock());
    observe({ kind: "EndpointFailed", chain, endpoint: name, reason, retryAtMs });
  }
}

/** Nothing is signed and nothing said. */
class TooFewEndpoints extends Error {
  override readonly name = "TooFewEndpoints";
}

/** @throws TooFewEndpoints */
export function enough<V>(views: readonly V[], minAgreeing: number): readonly V[] {
  if (views.length >= minAgreeing) return views;
  throw new TooFewEndpoints(`${views.length} endpoints answered, and ${minAgreeing} must agree`);
}

/**
 * The time of the head that `minAgreeing` endpoints have reached, or null. One endpoint with an
 * invented head cannot change it.
 */
export function reachedHeadMs(views: readonly HeadView[], minAgreeing: number): number | null {
  const times = views.map(({ head }) => head.timeMs).sort((a, b) => b - a);
  return times[minAgreeing - 1] ?? null;
}

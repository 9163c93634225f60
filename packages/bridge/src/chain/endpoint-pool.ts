/**
 * All endpoints of a chain, asked at once. One that fails sits out with growing pauses; one that is
 * slow is waited for only a moment after enough others have answered, and then sits out as well.
 */

import type { Chain } from "@perpgate/protocol";
import type { BridgeObserver } from "../bridge-event.js";
import type { ChainConfig } from "../config/chain-config.js";
import { Backoff } from "./backoff.js";
import { type ChainView, readChain } from "./chain-view.js";
import { EndpointFailure, RpcEndpoint } from "./rpc-endpoint.js";

interface Member {
  readonly name: string;
  readonly endpoint: RpcEndpoint;
  readonly backoff: Backoff;
  isBusy: boolean;
}

export interface PoolSurroundings {
  readonly clock: () => number;
  /** Uniform in [0, 1). */
  readonly uniform: () => number;
  readonly observe: BridgeObserver;
  /** Ends requests in flight. */
  readonly stop?: AbortSignal;
}

export class EndpointPool {
  private readonly members: readonly Member[];

  constructor(
    private readonly config: ChainConfig,
    private readonly surroundings: PoolSurroundings,
  ) {
    this.members = config.rpc.map((url, i) => ({
      name: `${new URL(url).host}#${i}`,
      endpoint: new RpcEndpoint(url, config, surroundings.stop),
      backoff: new Backoff({ baseMs: 1_000, maxMs: 60_000 }, surroundings.uniform),
      isBusy: false,
    }));
  }

  /** What each endpoint says that answered in time, about these transactions. */
  async read(txHashes: readonly string[]): Promise<readonly ChainView[]> {
    const nowMs = this.surroundings.clock();
    const asked = this.members.filter(({ isBusy, backoff }) => !isBusy && backoff.isReady(nowMs));
    const views: ChainView[] = [];
    if (asked.length === 0) return views;
    let isOver = false;
    await new Promise<void>((resolve) => {
      let open = asked.length;
      let grace: NodeJS.Timeout | undefined;
      const end = (): void => {
        isOver = true;
        clearTimeout(grace);
        resolve();
      };
      for (const member of asked) {
        void this.ask(member, txHashes, () => isOver).then((view) => {
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

  /**
   * Without those whose head has stayed behind: what they do not know, or still believe, says
   * nothing about the chain. The measure is the head that `minAgreeing` endpoints have reached, so
   * that one endpoint with an invented head cannot make the others look old.
   */
  private fresh(views: readonly ChainView[]): readonly ChainView[] {
    const { chain, minAgreeing, maxHeadLagMs } = this.config;
    const times = views.map(({ head }) => head.timeMs).sort((a, b) => b - a);
    const reachedMs = times[minAgreeing - 1];
    if (reachedMs === undefined) return views;
    return views.filter(({ endpoint, head }) => {
      const lagMs = reachedMs - head.timeMs;
      if (lagMs <= maxHeadLagMs) return true;
      this.surroundings.observe({ kind: "EndpointStale", chain, endpoint, lagMs });
      return false;
    });
  }

  /** Never rejects: a failure is reported and leaves the endpoint out for a while. */
  private async ask(
    member: Member,
    txHashes: readonly string[],
    isOver: () => boolean,
  ): Promise<ChainView | undefined> {
    member.isBusy = true;
    try {
      const view = await readChain(member.endpoint, member.name, this.config, txHashes);
      if (isOver()) this.fail(member, "slow");
      else member.backoff.succeeded();
      return view;
    } catch (error) {
      if (this.surroundings.stop?.aborted === true) return undefined;
      this.fail(member, error instanceof EndpointFailure ? error.message : String(error));
      return undefined;
    } finally {
      member.isBusy = false;
    }
  }

  private fail({ name, backoff }: Member, reason: string): void {
    const { clock, observe } = this.surroundings;
    const chain: Chain = this.config.chain;
    const retryAtMs = backoff.failed(clock());
    observe({ kind: "EndpointFailed", chain, endpoint: name, reason, retryAtMs });
  }
}

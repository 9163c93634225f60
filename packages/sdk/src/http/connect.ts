/** The connection to a gateway that the client class and the functions share. */

import { type FetchLike, Gateways } from "./gateways.js";
import { HttpClient } from "./http-client.js";

export interface ConnectionOptions {
  /**
   * The gateway's address, such as `http://127.0.0.1:8080`, or those of several gateways of one venue:
   * the nearest is used, and the next one when it is lost.
   */
  readonly url: string | readonly string[];
  /** Default: the platform's `fetch`. */
  readonly fetch?: FetchLike;
  /** Milliseconds that one try may take. Default: 5,000. */
  readonly timeoutMs?: number;
  /**
   * How often a request is sent again. Default: 5. The answers `not_executed` and `outcome_unknown` do
   * not count unless this is 0.
   */
  readonly retries?: number;
  /** Milliseconds after the start of the first try from which no other starts. Default: 30,000. */
  readonly budgetMs?: number;
  /**
   * Called when a list ends because the venue does not keep older rows: with the first log position whose
   * rows it keeps. Without it such a list looks like one that ends with the first row of all.
   */
  readonly onHistoryBefore?: (position: number) => void;
  /** Whether to stay within the limits that the gateway announces. Default: true. */
  readonly pacing?: boolean;
}

/** The gateways, and what is known of their limits; it holds no socket and needs no closing. */
export interface Connection {
  /** Sends the requests; for `request` and `openSession`. */
  readonly http: HttpClient;
  /** The address of the gateway in use. */
  readonly url: string;
}

/**
 * Prepares requests to a gateway; sends none. With `request` and the operations of
 * `@perpgate/sdk/operations` a bundle holds only what it calls.
 *
 * @throws TypeError or RangeError for options that cannot work.
 * @example
 * const venue = connect({ url: "http://127.0.0.1:8080" });
 * const { mark } = await request(venue, getTicker, { params: { symbol: "BTCUSD" } });
 * console.log(mark);
 */
export function connect(options: ConnectionOptions): Connection {
  const given = typeof options.url === "string" ? [options.url] : options.url;
  const urls = [...new Set(given.map(baseUrlOf))];
  const { timeoutMs = 5_000, retries = 5, budgetMs = 30_000, pacing = true } = options;
  for (const [name, value] of Object.entries({ timeoutMs, retries, budgetMs })) {
    if (!(value >= 0)) throw new RangeError(`${name} is a number from 0 on, not ${value}`);
  }
  const fetch = options.fetch ?? ((target, init) => globalThis.fetch(target, init));
  const rules = { timeoutMs, retries, budgetMs };
  const { onHistoryBefore } = options;
  const gateways = new Gateways(urls, fetch);
  return {
    http: new HttpClient({ gateways, fetch, rules, isPaced: pacing, onHistoryBefore }),
    get url() {
      return gateways.url;
    },
  };
}

function baseUrlOf(text: string): string {
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError(`the gateway's url begins with http:// or https://, not ${url.protocol}`);
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

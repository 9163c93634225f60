/**
 * The limits of a gateway, from the headers of a response:
 *
 *   RateLimit-Policy: "orders";q=200;w=2     quota and its window in seconds
 *   RateLimit: "orders";r=187;t=1            remaining quota, and seconds until it is full again
 *   Retry-After: 1                           seconds to wait
 */

export interface LimitState {
  readonly name: string;
  /** Requests that may be sent in one burst. */
  readonly burst: number;
  readonly perSecond: number;
  /** Requests left when the response was made. */
  readonly remaining: number;
}

export interface HeadersLike {
  get(name: string): string | null;
}

/** The limit that the request counted against, if any. */
export function limitStateOf(headers: HeadersLike): LimitState | undefined {
  const policy = itemOf(headers.get("ratelimit-policy"));
  const state = itemOf(headers.get("ratelimit"));
  if (policy === undefined || state === undefined || policy.name !== state.name) return undefined;
  const { q: burst, w: seconds } = policy.numbers;
  const { r: remaining } = state.numbers;
  if (burst === undefined || seconds === undefined || remaining === undefined) return undefined;
  if (!(burst >= 1) || !(seconds > 0)) return undefined;
  return { name: policy.name, burst, perSecond: burst / seconds, remaining };
}

/** Milliseconds to wait; the header has seconds or a date. */
export function retryAfterMsOf(headers: HeadersLike, nowMs = Date.now()): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

interface Item {
  readonly name: string;
  readonly numbers: Readonly<Record<string, number | undefined>>;
}

/** The first item of a list of structured fields; the gateway sends one. */
function itemOf(text: string | null): Item | undefined {
  const match = /^\s*"([^"]{1,64})"((?:;[a-z]+=\d{1,15})*)/.exec(text ?? "");
  if (match === null) return undefined;
  const [, name = "", parameters = ""] = match;
  const numbers: Record<string, number> = {};
  for (const [, key = "", digits = ""] of parameters.matchAll(/;([a-z]+)=(\d+)/g)) {
    numbers[key] = Number(digits);
  }
  return { name, numbers };
}

/**
 * Which pages may open sockets from a browser: those that may call over HTTP.
 *
 * A browser lets any page open a socket anywhere, asks no preflight, and leaves it to the server to
 * look at `Origin`. Nothing is at stake that a browser would add by itself (there are no cookies), so
 * it is open by default; an operator who lists origins means the streams too. Whoever sends no
 * `Origin` is no page. The page that this gateway serves is of its own host, which browsers let a page
 * call without asking, so it need not be listed; they send `Origin` for its sockets all the same.
 */

import type { IncomingMessage } from "node:http";
import { ApiError } from "@perpgate/protocol";
import type { AllowedOrigins } from "../http/cors.js";

const MAX_SHOWN = 100;

/** Throws `origin_not_allowed` for a page that may not. */
export function refuseForeignPage({ headers }: IncomingMessage, allowed: AllowedOrigins): void {
  const { origin, host } = headers;
  if (allowed === "*" || origin === undefined) return;
  if (allowed.includes(origin) || isOwnPage(origin, host)) return;
  throw new ApiError("origin_not_allowed", { origin: origin.slice(0, MAX_SHOWN) });
}

/** The scheme is the page's: a proxy in front may speak TLS for this process. */
function isOwnPage(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: place } = new URL(origin);
  const own = `${protocol}//${host}`;
  return place !== "" && URL.canParse(own) && new URL(own).host === place;
}

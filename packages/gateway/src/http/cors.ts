/**
 * Cross-origin requests from browsers.
 *
 * All origins are allowed by default: tokens are in a header that browsers do not add automatically, and
 * there are no cookies. Preflights are answered before routing, since no route has OPTIONS.
 */

import type { FastifyInstance, FastifyReply } from "fastify";

/** `"*"`, or the origins that may call, such as `https://app.example`. */
export type AllowedOrigins = "*" | readonly string[];

const METHODS = "GET, HEAD, POST, DELETE";
const REQUEST_HEADERS =
  "authorization, content-type, x-service-sig, x-request-id, perpgate-min-position";
const EXPOSED_HEADERS =
  "x-request-id, ratelimit, ratelimit-policy, retry-after, idempotent-replay, allow, perpgate-position, " +
  "perpgate-history-before";
const PREFLIGHT_SECONDS = "86400";

export function allowOrigins(app: FastifyInstance, allowed: AllowedOrigins): void {
  const listed = allowed === "*" ? undefined : new Set(allowed);
  app.addHook("onRequest", (request, reply, done) => {
    const { origin } = request.headers;
    if (listed !== undefined) void reply.header("vary", "origin");
    if (origin === undefined || (listed !== undefined && !listed.has(origin))) {
      done();
      return;
    }
    void reply.header("access-control-allow-origin", listed === undefined ? "*" : origin);
    void reply.header("access-control-expose-headers", EXPOSED_HEADERS);
    const isPreflight = request.headers["access-control-request-method"] !== undefined;
    if (request.method === "OPTIONS" && isPreflight) answerPreflight(reply);
    else done();
  });
}

function answerPreflight(reply: FastifyReply): void {
  void reply
    .header("access-control-allow-methods", METHODS)
    .header("access-control-allow-headers", REQUEST_HEADERS)
    .header("access-control-max-age", PREFLIGHT_SECONDS)
    .code(204)
    .send();
}

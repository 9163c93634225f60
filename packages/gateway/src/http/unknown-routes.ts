/** Unknown paths get 404, known paths with another method 405 with `Allow`, before a body is read. */

import { ApiError } from "@perpgate/protocol/core";
import type { FastifyInstance } from "fastify";
import { LRUCache } from "lru-cache";
import type { CostBudgets } from "../limits/cost-budget.js";
import { COST } from "../limits/costs.js";
import { requestPath } from "./errors.js";

/** Paths of which the methods are kept, since a flood of 405s must not try a hundred patterns each. */
const KEPT_PATHS = 1_000;

/** Must be called before any route is registered. */
export function answerUnknownRoutes(app: FastifyInstance, budgets: CostBudgets): void {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  const allowedMethods = new LRUCache<string, string>({
    max: KEPT_PATHS,
    memoMethod: (path) => {
      const methods = routes.flatMap((route) => (route.pattern.test(path) ? route.methods : []));
      return [...new Set(methods)].sort().join(", ");
    },
  });
  let anyRoute = /^$/;
  app.addHook("onRoute", ({ url, method }) => {
    routes.push({ pattern: patternOf(url), methods: Array.isArray(method) ? method : [method] });
  });
  app.addHook("onReady", (done) => {
    // Most unknown paths are not those of any route, and one test says so.
    anyRoute = new RegExp(routes.map(({ pattern }) => pattern.source).join("|"));
    done();
  });
  // For a route that calls `callNotFound`, such as that of a missing static file.
  app.setNotFoundHandler((request) => {
    throw new ApiError("not_found", { path: requestPath(request) });
  });
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) {
      done();
      return;
    }
    if (request.exchange !== null) budgets.charge(request.exchange.key, COST.unknownPath);
    const path = requestPath(request);
    if (!anyRoute.test(path)) {
      done(new ApiError("not_found", { path }));
      return;
    }
    const allowed = allowedMethods.memo(path);
    void reply.header("allow", allowed);
    done(new ApiError("method_not_allowed", { method: request.method, allowed }));
  });
}

function patternOf(url: string): RegExp {
  const source = url
    .split("/")
    .map((part) => {
      if (part.startsWith(":")) return "[^/]+";
      return part === "*" ? ".*" : part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    })
    .join("/");
  return new RegExp(`^${source}$`);
}

/**
 * Which methods a path offers, so that a wrong one is answered 405 with `Allow` and not 404.
 *
 * It learns every route as Fastify registers it, the documentation's included.
 */

import type { FastifyInstance } from "fastify";

export class AllowedMethods {
  private readonly routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];

  watch(app: FastifyInstance): void {
    app.addHook("onRoute", ({ url, method }) => {
      const methods = Array.isArray(method) ? method : [method];
      this.routes.push({ pattern: patternOf(url), methods });
    });
  }

  of(path: string): readonly string[] {
    const matching = this.routes.filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => methods))].sort();
  }
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

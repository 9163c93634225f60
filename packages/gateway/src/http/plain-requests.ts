/**
 * Recognises the requests that need nothing of a web framework: an order as JSON of known length, and reads
 * whose path and query are plain characters. Whatever is not recognised is not judged here.
 */

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type Operation, placeOrder } from "@perpgate/protocol/operations";
import type { Handler } from "../operations/handler.js";
import { jsonBoundsOf } from "./json-body.js";
import { routePathOf } from "./routes.js";
import { type Serialize, serializerOf } from "./serializers.js";

type Texts = Readonly<Record<string, string>>;

/** An operation that is served without Fastify. */
interface PlainTarget {
  readonly handler: Handler;
  readonly operation: Operation;
  /** As in metrics: `/v1/orders/:id`. */
  readonly route: string;
  readonly bounds: ReturnType<typeof jsonBoundsOf>;
  readonly serialize: Serialize;
}

export interface PlainRequest {
  readonly target: PlainTarget;
  readonly path: string;
  readonly params: Texts;
  readonly query: Texts;
}

const NOTHING: Texts = {};
/** Text that means itself: no escapes, no separators. */
const PLAIN = /^[\w.:-]{1,64}$/;

export class PlainRequests {
  private readonly order: PlainTarget | undefined;
  /** Undefined: a path that no pattern may take, of an answer that is no JSON. */
  private readonly fixed = new Map<string, PlainTarget | undefined>();
  private readonly patterns: { readonly parts: readonly string[]; readonly target: PlainTarget }[] =
    [];

  constructor(handlers: readonly Handler[]) {
    for (const handler of handlers) {
      const { operation } = handler;
      const { method, path, success } = operation;
      const target = {
        handler,
        operation,
        route: routePathOf(operation),
        bounds: jsonBoundsOf(operation),
        serialize: serializerOf(success.schema),
      };
      if (operation === placeOrder) this.order = target;
      if (method !== "GET") continue;
      const isJson = success.type === undefined;
      if (!path.includes("{")) this.fixed.set(path, isJson ? target : undefined);
      else if (isJson) this.patterns.push({ parts: path.split("/"), target });
    }
  }

  /** Undefined: leave it to Fastify. */
  find({ method, url = "", headers }: IncomingMessage): PlainRequest | undefined {
    if (headers.host === undefined || headers.origin !== undefined) return undefined;
    if (headers.expect !== undefined || headers["transfer-encoding"] !== undefined)
      return undefined;
    if (method === "GET")
      return headers["content-length"] === undefined ? this.read(url) : undefined;
    const { order } = this;
    if (order === undefined || !isPlainOrder(method, url, headers)) return undefined;
    return { target: order, path: url, params: NOTHING, query: NOTHING };
  }

  private read(url: string): PlainRequest | undefined {
    const mark = url.indexOf("?");
    const path = mark === -1 ? url : url.slice(0, mark);
    const query = mark === -1 ? NOTHING : plainQuery(url.slice(mark + 1));
    if (query === undefined) return undefined;
    if (this.fixed.has(path)) {
      const target = this.fixed.get(path);
      return target === undefined ? undefined : { target, path, params: NOTHING, query };
    }
    const parts = path.split("/");
    for (const each of this.patterns) {
      const params = matched(each.parts, parts);
      if (params !== undefined) return { target: each.target, path, params, query };
    }
    return undefined;
  }
}

function isPlainOrder(method = "", url: string, headers: IncomingHttpHeaders): boolean {
  return (
    url === placeOrder.path &&
    method === placeOrder.method &&
    headers["content-type"] === "application/json" &&
    Number(headers["content-length"]) > 0
  );
}

/** Undefined if a name is repeated or anything is escaped. */
function plainQuery(text: string): Texts | undefined {
  const query: Record<string, string> = {};
  for (const pair of text.split("&", 8)) {
    const mark = pair.indexOf("=");
    const name = pair.slice(0, mark);
    const value = pair.slice(mark + 1);
    if (mark === -1 || !PLAIN.test(name) || !PLAIN.test(value) || name in query) return undefined;
    query[name] = value;
  }
  return query;
}

function matched(pattern: readonly string[], parts: readonly string[]): Texts | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (let i = 0; i < pattern.length; i++) {
    const [expected, part] = [pattern[i]!, parts[i]!];
    if (expected === part) continue;
    if (!expected.startsWith("{") || !PLAIN.test(part)) return undefined;
    params[expected.slice(1, -1)] = part;
  }
  return params;
}

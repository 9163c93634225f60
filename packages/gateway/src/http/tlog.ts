/**
 * The transparency log as static resources (C2SP tlog-tiles) under `/tlog`, and the list of each block's
 * acknowledgements. Everything but the checkpoint, the successors of the log's key and the policy never
 * changes once it is served, so anyone may cache it for ever.
 */

import { ApiError } from "@perpgate/protocol/core";
import { ACK_ENTRY_BYTES, parseTilePath } from "@perpgate/protocol/receipts";
import type { Promises } from "@perpgate/venue";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { chargeRows } from "../limits/charge-operation.js";
import type { CostBudgets } from "../limits/cost-budget.js";
import type { AddressLimits } from "../limits/limits.js";
import { RequestClient } from "./client.js";
import { pathOf } from "./errors.js";

const BYTES = "application/octet-stream";
const FOR_EVER = "public, max-age=31536000, immutable";
/** Two for each hash or header of a tile. */
const COST_MICROS = 500;

export interface TlogOptions {
  readonly promises: Promises;
  readonly addressLimits: AddressLimits;
  readonly budgets: CostBudgets;
}

export function serveTransparencyLog(app: FastifyInstance, options: TlogOptions): void {
  const { promises } = options;

  app.get("/tlog/checkpoint", async (request, reply) => {
    count(request, reply, options);
    const { published } = promises.log;
    if (published === undefined) throw missing(request);
    void reply.header("cache-control", "public, max-age=1");
    void reply.type("text/plain; charset=utf-8");
    return published.note;
  });

  app.get("/tlog/successors", async (request, reply) => {
    count(request, reply, options);
    void reply.header("cache-control", "public, max-age=1");
    void reply.type("application/json; charset=utf-8");
    return JSON.stringify(promises.successors);
  });

  app.get("/tlog/policy", async (request, reply) => {
    count(request, reply, options);
    void reply.header("cache-control", "public, max-age=1");
    void reply.type("text/plain; charset=utf-8");
    return promises.policy;
  });

  app.get("/tlog/tile/*", async (request, reply) => {
    count(request, reply, options);
    const named = parseTilePath(pathOf(request).slice("/tlog/".length));
    if (named === undefined) throw missing(request);
    const { level, index, width } = named.tile;
    const bytes = named.isEntries
      ? promises.bundle(index, width)
      : promises.tile(level, index, width);
    return immutable(request, reply, bytes);
  });

  app.get<{ Params: { number: string } }>("/tlog/acks/:number", async (request, reply) => {
    count(request, reply, options);
    const { number } = request.params;
    const isBlock = /^[1-9][0-9]{0,14}$/.test(number);
    const list = isBlock ? await promises.ackList(Number(number)) : undefined;
    const rows = (list?.length ?? 0) / ACK_ENTRY_BYTES;
    if (request.exchange !== null) chargeRows(options.budgets, request.exchange, rows);
    return immutable(request, reply, list);
  });
}

function count(request: FastifyRequest, reply: FastifyReply, options: TlogOptions): void {
  const { address, header } = new RequestClient(request, reply);
  options.addressLimits.takeRead(address, header);
  if (request.exchange !== null) options.budgets.charge(request.exchange.key, COST_MICROS);
}

function immutable(
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: Buffer | undefined,
): Buffer {
  if (bytes === undefined) throw missing(request);
  void reply.header("cache-control", FOR_EVER);
  void reply.type(BYTES);
  return bytes;
}

function missing(request: FastifyRequest): ApiError {
  return new ApiError("not_found", { path: pathOf(request) });
}

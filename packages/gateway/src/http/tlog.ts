/**
 * The transparency log as static resources (C2SP tlog-tiles) under `/tlog`, and the list of each block's
 * acknowledgements. Everything but the checkpoint, the successors of the log's key and the policy never
 * changes once it is served, so anyone may cache it for ever.
 */

import type { AnswerBodies, CoreAccess } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import { parseTilePath } from "@perpgate/protocol/receipts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { chargeRows } from "../limits/charge-operation.js";
import type { CostBudgets } from "../limits/cost-budget.js";
import type { AddressLimits } from "../limits/limits.js";
import { RequestClient } from "./client.js";
import { requestPath } from "./errors.js";

const BYTES = "application/octet-stream";
const FOR_EVER = "public, max-age=31536000, immutable";
/** Two for each hash or header of a tile. */
const COST_MICROS = 500;

interface TlogOptions {
  readonly link: CoreAccess;
  readonly addressLimits: AddressLimits;
  readonly budgets: CostBudgets;
}

export function serveTransparencyLog(app: FastifyInstance, options: TlogOptions): void {
  const { link } = options;
  const serve = (
    name: "checkpoint" | "successors" | "policy",
    type: string,
    read: () => Promise<LogFile>,
  ): void => {
    app.get(`/tlog/${name}`, async (request, reply) => {
      count(request, reply, options);
      const { file } = await read();
      if (file === undefined) throw missing(request);
      void reply.header("cache-control", "public, max-age=1");
      void reply.type(`${type}; charset=utf-8`);
      return Buffer.from(file);
    });
  };
  serve("checkpoint", "text/plain", () => link.request("tlogCheckpoint", {}));
  serve("successors", "application/json", () => link.request("tlogSuccessors", {}));
  serve("policy", "text/plain", () => link.request("tlogPolicy", {}));

  app.get("/tlog/tile/*", async (request, reply) => {
    count(request, reply, options);
    const named = parseTilePath(requestPath(request).slice("/tlog/".length));
    if (named === undefined) throw missing(request);
    const { tile, isEntries } = named;
    return immutable(request, reply, await link.request("tlogTile", { ...tile, isEntries }));
  });

  app.get<{ Params: { number: string } }>("/tlog/acks/:number", async (request, reply) => {
    count(request, reply, options);
    const { number } = request.params;
    if (!/^[1-9][0-9]{0,14}$/.test(number)) throw missing(request);
    const list = await link.request("tlogAcks", { block: Number(number) }, ({ rows }) => {
      if (request.exchange !== null) chargeRows(options.budgets, request.exchange, rows);
    });
    return immutable(request, reply, list);
  });
}

type LogFile = AnswerBodies["tlogPolicy"];

function count(request: FastifyRequest, reply: FastifyReply, options: TlogOptions): void {
  const { address, header } = new RequestClient(request, reply);
  options.addressLimits.takeRead(address, header);
  if (request.exchange !== null) options.budgets.charge(request.exchange.key, COST_MICROS);
}

function immutable(request: FastifyRequest, reply: FastifyReply, { file }: LogFile): Buffer {
  if (file === undefined) throw missing(request);
  void reply.header("cache-control", FOR_EVER);
  void reply.type(BYTES);
  return Buffer.from(file);
}

function missing(request: FastifyRequest): ApiError {
  return new ApiError("not_found", { path: requestPath(request) });
}

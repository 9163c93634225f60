/**
 * A handler: the code that answers one operation of the contract. The operation's schemas decode the
 * request, type the handler and serialise its result.
 */

import type { EdgeLink, OnNotes } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import type { BodyOf, Operation, ParamsOf, QueryOf, ResultOf } from "@perpgate/protocol/operations";
import type { EdgeSession } from "../auth/edge-sessions.js";
import type { BearerToken } from "../auth/session-token.js";
import type { Edge } from "../edge.js";
import type { GatewayContext } from "../http/context.js";
import { guardOf, refuseInvalid } from "../http/guard.js";
import { queryDecoderOf } from "../http/query.js";
import { chargeBoth, chargeRows, chargeWork, type Payer } from "../limits/charge-operation.js";
import type { CostBudgets } from "../limits/cost-budget.js";
import { showCounted, showRetryAfter } from "../limits/limits.js";
import type { Caller, Client } from "../request.js";
import type { VenueApi } from "../venue/venue-gateway.js";

/** A result that is already JSON text and bypasses the schema's serialiser. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** A result that is plain text, of an operation whose success is. */
export class PlainText {
  constructor(readonly text: string) {}
}

/** The request as parsed, before any schema has been checked. */
export interface RawCall {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly bodyBytes: Uint8Array;
  readonly bearerToken: BearerToken | undefined;
  readonly signature: string | undefined;
  readonly client: TimedClient;
}

export interface TimedClient extends Client, Readonly<Payer> {
  /** Milliseconds since the first byte of the request was read. */
  elapsedMs(): number;
}

export interface Call<O extends Operation> {
  readonly params: ParamsOf<O>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  readonly bodyBytes: Uint8Array;
  readonly signature: string | undefined;
  readonly client: TimedClient;
  /** The sender of the token; throws `token_required` if there is none. */
  caller(): Caller;
}

export interface Handler {
  readonly operation: Operation;
  /** Resolves with the result, or with `JsonText`. */
  run(raw: RawCall, context: GatewayContext): Promise<unknown>;
}

const NOT_FOUND = 404;

type Result<O extends Operation> = ResultOf<O> | JsonText | PlainText;

/** Binds an operation that the gateway serves without a venue. */
export function handle<O extends Operation & { readonly needsVenue: false }>(
  operation: O,
  run: (call: Call<O>, context: GatewayContext) => Result<O> | Promise<Result<O>>,
): Handler {
  const decode = decoderOf(operation);
  return { operation, run: async (raw, context) => run(decode(raw, context), context) };
}

/** Binds an operation that the core answers; it fails with `venue_unavailable` while none is linked. */
export function handleByLink<O extends Operation>(
  operation: O,
  run: (call: Call<O>, link: EdgeLink, context: GatewayContext) => Promise<Result<O>>,
): Handler {
  const decode = decoderOf(operation);
  return {
    operation,
    run: async (raw, context) => {
      const call = decode(raw, context);
      return run(call, edgeOf(context, operation.id).link, context);
    },
  };
}

/** How the core is asked for a session, and what to do with the notes of its answer. */
export interface Asking {
  readonly edge: Edge;
  readonly link: EdgeLink;
  readonly session: number;
  readonly known: EdgeSession;
  readonly onNotes: OnNotes;
}

/** Binds an operation of the caller's account, which the core counts; it tells what it has read. */
export function handleForAccount<O extends Operation>(
  operation: O,
  run: (call: Call<O>, asking: Asking, context: GatewayContext) => Promise<Result<O>>,
): Handler {
  return handleByLink(operation, async (call, link, context) => {
    const { client } = call;
    const edge = edgeOf(context, operation.id);
    const known = await edge.sessions.of(call.caller().bearerToken);
    const session = known.number;
    const onNotes: OnNotes = ({ counted, rows, work }) => {
      if (counted !== undefined) showCounted(counted, client.header);
      if (rows > 0) chargeRows(context.budgets, client, rows);
      if (work > 0) chargeWork(context.budgets, client, work);
    };
    try {
      return await run(call, { edge, link, session, known, onNotes }, context);
    } catch (error) {
      if (error instanceof ApiError) {
        if (error.code === "rate_limited") showRetryAfter(error, client.header);
        if (error.code === "invalid_token") edge.sessions.drop(session);
      }
      throw error;
    }
  });
}

/** @throws ApiError `venue_unavailable` */
export function edgeOf({ edge }: Pick<GatewayContext, "edge">, operation: string): Edge {
  if (edge === undefined) throw new ApiError("venue_unavailable", { operation });
  return edge;
}

/** Binds an operation of the venue; it fails with `venue_unavailable` while none is attached. */
export function handleByVenue<O extends Operation & { readonly needsVenue: true }>(
  operation: O,
  run: (call: Call<O>, venue: VenueApi, context: GatewayContext) => Promise<Result<O>>,
): Handler {
  const decode = decoderOf(operation);
  return {
    operation,
    run: async (raw, context) => {
      const call = decode(raw, context);
      if (context.venue === undefined) {
        throw new ApiError("venue_unavailable", { operation: operation.id });
      }
      return judged(operation, call, (each) => run(each, context.venue!, context), context.venue);
    },
  };
}

/**
 * What is not found here may be known at another gateway: it is looked for again once everything is
 * applied that any gateway has answered. The limit is not charged again.
 */
function judged<O extends Operation, T>(
  { access }: O,
  call: Call<O>,
  run: (call: Call<O>) => Promise<T>,
  venue: VenueApi,
): Promise<T> {
  // Catching up costs a message of the log, which nobody without an account may cause. Signed requests
  // are judged again where they are judged (signed-request.ts).
  if (!venue.isReplicated || access !== "bearer") return run(call);
  return run(call).catch(async (error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== NOT_FOUND) throw error;
    await venue.caughtUp();
    return run({ ...call, caller: () => ({ ...call.caller(), isCounted: true }) });
  });
}

function decoderOf<O extends Operation>(
  operation: O,
): (raw: RawCall, context: Pick<GatewayContext, "budgets">) => Call<O> {
  const isParams = guardOf<O["params"]>(operation.params);
  const isQuery = guardOf<O["query"]>(operation.query);
  const isBody = guardOf<O["body"]>(operation.body);
  const decodeQuery = queryDecoderOf(operation.query);
  return (raw, { budgets }) => {
    const { params, bodyBytes, signature, client } = raw;
    // A missing body counts as an empty one: the error then names the first missing field.
    const body = raw.body === undefined ? {} : raw.body;
    const caller = callerOf(raw, budgets);
    if (operation.access !== "public") caller();
    if (!isParams(params)) throw refuseInvalid(isParams.errors);
    const query = decodeQuery(raw.query);
    if (!isQuery(query)) throw refuseInvalid(isQuery.errors);
    if (!isBody(body)) throw refuseInvalid(isBody.errors);
    return { params, query, body, bodyBytes, signature, client, caller };
  };
}

/**
 * The account of the token's session, which was asked for; throws `token_required` or `invalid_token`.
 * Runs before the body is read, because a hash and a look-up are the least that a request can cost.
 */
export function requireLiveSession(
  bearerToken: BearerToken | undefined,
  { edge }: Pick<GatewayContext, "edge">,
): number | undefined {
  if (bearerToken === undefined) throw new ApiError("token_required", {});
  return edge?.sessions.known(bearerToken).account;
}

function callerOf({ bearerToken, client }: RawCall, budgets: CostBudgets): () => Caller {
  return () => {
    if (bearerToken === undefined) throw new ApiError("token_required", {});
    const charge = (micros: number): void => chargeBoth(budgets, client, micros);
    const work = (units: number): void => chargeWork(budgets, client, units);
    return { bearerToken, header: client.header, charge, chargeWork: work };
  };
}

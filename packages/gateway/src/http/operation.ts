/**
 * An operation: one entry of the contract, in one file.
 *
 * Its schemas decode the request, type the handler, serialise the answer and describe it in the
 * OpenAPI document; its error codes are the ones it may refuse with. `defineOperation` takes one
 * that the gateway answers alone, `defineVenueOperation` one that needs the venue and refuses with
 * `venue_unavailable` while none is attached.
 */

import { ApiError, type ErrorCode } from "@perpgate/protocol";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { BearerToken } from "../auth/session-token.js";
import type { Payer } from "../limits/charge-operation.js";
import type { Caller, Client, HeaderSink } from "../request.js";
import type { VenueApi } from "../venue/venue-gateway.js";
import type { GatewayContext } from "./context.js";
import { guardOf, refuseInvalid } from "./guard.js";
import { queryDecoderOf } from "./query.js";

export const noParams = Type.Object({});
export const noQuery = Type.Object({});
/** An operation without a body ignores what a client sends along. */
export const noBody = Type.Unknown();

export type LimitName =
  | "reads"
  | "account-reads"
  | "orders"
  | "cancels"
  | "sign-ins"
  | "deposits"
  | "attestors";
export type Access = "public" | "bearer" | "signed";

/** An answer already written out, for where the schema's serialiser would do the same work again. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** The request as Fastify has parsed it, before any schema has seen it. */
export interface RawCall {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly bodyBytes: Uint8Array;
  readonly bearerToken: BearerToken | undefined;
  readonly signature: string | undefined;
  readonly client: TimedClient;
}

/** A client whose request has a beginning. */
export interface TimedClient extends Client, Readonly<Payer> {
  /** Milliseconds since the first byte of the request was read. */
  elapsedMs(): number;
}

export interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly bodyBytes: Uint8Array;
  readonly signature: string | undefined;
  readonly client: TimedClient;
  /** The bearer; refuses with `token_required` where there is none. */
  caller(): Caller;
}

export interface OperationDescription {
  readonly id: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** OpenAPI style: `/v1/orders/{id}/cancel`. */
  readonly path: string;
  readonly tag: "auth" | "markets" | "orders" | "account" | "bridge" | "blocks" | "service";
  readonly summary: string;
  readonly access: Access;
  /** Microseconds of processor time beyond those of any request and of the answer's bytes. */
  readonly costMicros: number;
  /** Bytes that a body may have, where that is less than the server's bound. */
  readonly bodyBytes?: number;
  /** The limit that requests count against, by its name in the headers; none where undefined. */
  readonly limit?: LimitName;
  readonly params: TObject;
  readonly query: TObject;
  readonly body: TSchema;
  readonly success: {
    readonly status: 200 | 202;
    readonly description: string;
    readonly schema: TSchema;
  };
  readonly errors: readonly ErrorCode[];
}

export interface Operation extends OperationDescription {
  readonly needsVenue: boolean;
  answer(raw: RawCall, context: GatewayContext): Promise<unknown>;
}

interface Schemas<P extends TObject, Q extends TObject, B extends TSchema, S extends TSchema>
  extends OperationDescription {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly success: OperationDescription["success"] & { readonly schema: S };
}

type CallOf<P extends TObject, Q extends TObject, B extends TSchema> = Call<
  Static<P>,
  Static<Q>,
  Static<B>
>;

export function defineOperation<
  P extends TObject,
  Q extends TObject,
  B extends TSchema,
  S extends TSchema,
>(
  spec: Schemas<P, Q, B, S> & {
    handle(
      call: CallOf<P, Q, B>,
      context: GatewayContext,
    ): Static<S> | JsonText | Promise<Static<S>>;
  },
): Operation {
  const decode = decoderOf(spec);
  return {
    ...spec,
    needsVenue: false,
    answer: async (raw, context) => spec.handle(decode(raw), context),
  };
}

export function defineVenueOperation<
  P extends TObject,
  Q extends TObject,
  B extends TSchema,
  S extends TSchema,
>(
  spec: Schemas<P, Q, B, S> & {
    handle(
      call: CallOf<P, Q, B>,
      venue: VenueApi,
      context: GatewayContext,
    ): Promise<Static<S> | JsonText>;
  },
): Operation {
  const decode = decoderOf(spec);
  return {
    ...spec,
    needsVenue: true,
    answer: async (raw, context) => {
      const call = decode(raw);
      if (context.venue === undefined) {
        throw new ApiError("venue_unavailable", { operation: spec.id });
      }
      return spec.handle(call, context.venue, context);
    },
  };
}

function decoderOf<P extends TObject, Q extends TObject, B extends TSchema, S extends TSchema>(
  spec: Schemas<P, Q, B, S>,
): (raw: RawCall) => CallOf<P, Q, B> {
  const isParams = guardOf(spec.params);
  const isQuery = guardOf(spec.query);
  const isBody = guardOf(spec.body);
  const decodeQuery = queryDecoderOf(spec.query);
  return (raw) => {
    const { params, bodyBytes, signature, client } = raw;
    // No body is an empty one: the refusal then names the first field that is missing.
    const body = raw.body === undefined ? {} : raw.body;
    const caller = callerOf(raw);
    if (spec.access !== "public") caller();
    if (!isParams(params)) throw refuseInvalid(isParams.errors);
    const query = decodeQuery(raw.query);
    if (!isQuery(query)) throw refuseInvalid(isQuery.errors);
    if (!isBody(body)) throw refuseInvalid(isBody.errors);
    return { params, query, body, bodyBytes, signature, client, caller };
  };
}

/**
 * The account behind the token, or `token_required` or `invalid_token`. Asked before a body is read:
 * a hash and two look-ups are the least that a request can cost.
 */
export function requireLiveSession(
  bearerToken: BearerToken | undefined,
  header: HeaderSink,
  { venue }: Pick<GatewayContext, "venue">,
): number | undefined {
  if (bearerToken === undefined) throw new ApiError("token_required", {});
  return venue?.accountOf({ bearerToken, header });
}

function callerOf({ bearerToken, client }: RawCall): () => Caller {
  return () => {
    if (bearerToken === undefined) throw new ApiError("token_required", {});
    return { bearerToken, header: client.header };
  };
}

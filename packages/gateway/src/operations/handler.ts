/**
 * A handler: the code that answers one operation of the contract. The operation's schemas decode the
 * request, type the handler and serialise its result.
 */

import { type CoreAccess, isReadName, type OnNotes } from "@perpgate/link";
import { CLAMPED_TO } from "@perpgate/protocol";
import { ApiError, HISTORY_HEADER } from "@perpgate/protocol/core";
import type { BodyOf, Operation, ParamsOf, QueryOf, ResultOf } from "@perpgate/protocol/operations";
import type { TObject } from "typebox";
import type { EdgeSession } from "../auth/edge-sessions.js";
import type { BearerToken } from "../auth/session-token.js";
import type { Edge } from "../edge.js";
import type { GatewayContext } from "../http/context.js";
import { guardOf, refuseInvalid } from "../http/guard.js";
import { chargeRows, chargeWork, type Payer } from "../limits/charge-operation.js";
import type { CostBudgets } from "../limits/cost-budget.js";
import { showCounted, showRetryAfter } from "../limits/limits.js";
import type { Client } from "../request.js";

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
  /** Throws `token_required` if there is none. */
  token(): BearerToken;
}

export interface Handler {
  readonly operation: Operation;
  /** Resolves with the result, or with `JsonText`. */
  run(raw: RawCall, context: GatewayContext): Promise<unknown>;
}

type Result<O extends Operation> = ResultOf<O> | JsonText | PlainText;

/** Binds an operation that the gateway serves without a venue. */
export function handle<O extends Operation & { readonly needsVenue: false }>(
  operation: O,
  run: (call: Call<O>, context: GatewayContext) => Result<O> | Promise<Result<O>>,
): Handler {
  const decode = decoderOf(operation);
  return { operation, run: async (raw, context) => run(decode(raw), context) };
}

/** Binds an operation that the core answers; it fails with `venue_unavailable` while none is linked. */
export function handleByLink<O extends Operation>(
  operation: O,
  run: (call: Call<O>, link: CoreAccess, context: GatewayContext) => Promise<Result<O>>,
): Handler {
  const decode = decoderOf(operation);
  return {
    operation,
    run: async (raw, context) => {
      const call = decode(raw);
      return run(call, edgeOf(context, operation.id).link, context);
    },
  };
}

/** How the core is asked for a session, and what to do with the notes of its answer. */
export interface Asking {
  readonly edge: Edge;
  readonly link: CoreAccess;
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
    const known = await edge.sessions.of(call.token());
    const session = known.number;
    const onNotes: OnNotes = ({ counted, rows, work, historyBefore }) => {
      showEdge(historyBefore, client);
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

/** Binds a read to the core's answer as it is. */
export function handleRead(operation: Operation): Handler {
  const { id, access, success } = operation;
  if (!isReadName(id)) throw new TypeError(`the core has no request ${id}`);
  const shown = (result: unknown) =>
    success.type === "text/plain" ? new PlainText(String(result)) : result;
  if (access === "public") {
    return handleByLink(operation, async ({ params, query, client }, link, context) => {
      const onNotes: OnNotes = ({ rows, historyBefore }) => {
        showEdge(historyBefore, client);
        if (rows > 0) chargeRows(context.budgets, client, rows);
      };
      return shown((await link.request(id, { params, query }, onNotes)).result);
    });
  }
  return handleForAccount(operation, async ({ params, query }, { link, session, onNotes }) =>
    shown((await link.request(id, { session, params, query }, onNotes)).result),
  );
}

/** Says that the page ends, or begins, where the history's window does; 0: it does not. */
function showEdge(historyBefore: number, client: Client): void {
  if (historyBefore > 0) client.header(HISTORY_HEADER, String(historyBefore));
}

/** @throws ApiError `venue_unavailable` */
export function edgeOf({ edge }: Pick<GatewayContext, "edge">, operation: string): Edge {
  if (edge === undefined) throw new ApiError("venue_unavailable", { operation });
  return edge;
}

/** A signed request, as far as it is checked alike for all operations. */
interface SignedParts {
  readonly session: EdgeSession;
  readonly bytes: Uint8Array;
  readonly header: string | undefined;
  readonly client: TimedClient;
  readonly budgets: CostBudgets;
}

/** Binds an operation that the session's key signs (signed-call.ts). */
export function handleSigned<O extends Operation>(
  operation: O,
  run: (call: Call<O>, edge: Edge, signed: SignedParts) => Promise<Result<O>>,
): Handler {
  const decode = decoderOf(operation);
  return {
    operation,
    run: async (raw, context) => {
      const call = decode(raw);
      const edge = edgeOf(context, operation.id);
      const found = edge.sessions.of(call.token());
      const session = found instanceof Promise ? await found : found;
      const { bodyBytes: bytes, signature: header, client } = call;
      const { budgets } = context;
      return run(call, edge, { session, bytes, header, client, budgets });
    },
  };
}

function decoderOf<O extends Operation>(operation: O): (raw: RawCall) => Call<O> {
  const isParams = guardOf<O["params"]>(operation.params);
  const isQuery = guardOf<O["query"]>(operation.query);
  const isBody = guardOf<O["body"]>(operation.body);
  const decodeQuery = queryDecoderOf(operation.query);
  return (raw) => {
    const { params, bodyBytes, signature, client, bearerToken } = raw;
    // A missing body counts as an empty one: the error then names the first missing field.
    const body = raw.body === undefined ? {} : raw.body;
    const token = (): BearerToken => requireToken(bearerToken);
    if (operation.access !== "public") token();
    if (!isParams(params)) throw refuseInvalid(isParams.errors);
    const query = decodeQuery(raw.query);
    if (!isQuery(query)) throw refuseInvalid(isQuery.errors);
    if (!isBody(body)) throw refuseInvalid(isBody.errors);
    return { params, query, body, bodyBytes, signature, client, token };
  };
}

/**
 * The account of the token's session, which was asked for; throws `token_required` or `invalid_token`.
 * Runs before the body is read, because a hash and a look-up are the least that a request can cost.
 */
export function requireLiveSession(
  token: BearerToken | undefined,
  { edge }: Pick<GatewayContext, "edge">,
): number | undefined {
  const required = requireToken(token);
  return edge?.sessions.known(required).account;
}

function requireToken(token: BearerToken | undefined): BearerToken {
  if (token === undefined) throw new ApiError("token_required", {});
  return token;
}

/**
 * Decodes query strings: the text of a property with an integer schema becomes a number if it is a plain
 * decimal, and is clamped where the schema says so. Any other text is left for the schema to reject. A
 * parameter that the operation does not take is refused: a misspelt filter must not return everything.
 */
const INTEGER = /^-?(0|[1-9][0-9]*)$/;

type QueryDecoder = (raw: unknown) => Record<string, unknown>;

function queryDecoderOf(schema: TObject): QueryDecoder {
  const known = new Map<string, object>(Object.entries(schema.properties));
  return (raw) => {
    const query: Record<string, unknown> = {};
    if (typeof raw !== "object" || raw === null) return query;
    for (const [name, text] of Object.entries(raw)) {
      const property = known.get(name);
      if (property === undefined) throw refuseUnknown(name, known);
      query[name] = decodeValue(property, text);
    }
    return query;
  };
}

function refuseUnknown(name: string, known: ReadonlyMap<string, object>): ApiError {
  const names = known.size === 0 ? "none" : [...known.keys()].join(", ");
  return new ApiError("unknown_parameter", { name, known: names }, { field: name });
}

function decodeValue(property: object, text: unknown): unknown {
  if (Reflect.get(property, "type") !== "integer") return text;
  if (typeof text !== "string" || !INTEGER.test(text)) return text;
  const value = Number(text);
  const ceiling: unknown = Reflect.get(property, CLAMPED_TO);
  return typeof ceiling === "number" ? Math.min(value, ceiling) : value;
}

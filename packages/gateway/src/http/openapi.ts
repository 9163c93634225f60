/** The OpenAPI 3.1 document of the contract's operations. */

import { ERROR_TABLE, ErrorBody, type ErrorCode } from "@perpgate/protocol";
import {
  errorCodesOf,
  noBody,
  type Operation,
  type SignatureRule,
} from "@perpgate/protocol/operations";
import type { TObject, TSchema } from "typebox";
import { type Json, SchemaComponents } from "./schema-components.js";

export function openApiDocument(operations: readonly Operation[], version: string): Json {
  const components = new SchemaComponents();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    path[operation.method.toLowerCase()] = describeOperation(operation, components);
    paths[operation.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Perpgate",
      version,
      description:
        "A gateway to a perpetual-futures venue. This is a testnet: balances are not money. " +
        "Operations that need the venue answer 503 venue_unavailable while none is attached.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The gateway that serves this document" }],
    paths,
    components: {
      schemas: components.schemas,
      parameters: { MinPosition: MIN_POSITION },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The token from signing in." },
        serviceSig: {
          type: "apiKey",
          in: "header",
          name: "X-Service-Sig",
          description: "The session key's signature over the exact bytes of the body.",
        },
      },
    },
  };
}

function describeOperation(operation: Operation, components: SchemaComponents): Json {
  const { status, description, schema, type } = operation.success;
  const parameters = [
    ...describeParameters(operation.params, "path", components),
    ...describeParameters(operation.query, "query", components),
    ...describeSignature(operation),
    ...(operation.needsVenue ? [{ $ref: "#/components/parameters/MinPosition" }] : []),
  ];
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    security: securityOf(operation),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === noBody
      ? {}
      : { requestBody: { required: true, content: jsonContent(operation.body, components) } }),
    responses: {
      [status]: {
        description,
        headers: successHeaders(operation),
        content:
          type === undefined
            ? jsonContent(schema, components)
            : { [type]: { schema: components.refer(schema) } },
      },
      ...describeErrors(errorCodesOf(operation), components),
    },
  };
}

const text = (description: string) => ({ description, schema: { type: "string" } });
const LIMIT_HEADERS: Json = {
  "RateLimit-Policy": text(
    'The limit that applies: `"orders";q=200;w=2`, a quota and its seconds.',
  ),
  RateLimit: text('What is left of it: `"orders";r=187;t=1`, and the seconds until all is back.'),
};
const RETRY_AFTER: Json = { "Retry-After": text("Seconds to wait.") };

/** For clients of several gateways: what they have seen at one is there at the next. */
const MIN_POSITION: Json = {
  name: "Perpgate-Min-Position",
  in: "header",
  required: false,
  description:
    "Wait up to a second until the gateway has applied this log position, else 503 lagging.",
  schema: { type: "integer", minimum: 0 },
};

function successHeaders({ limit, access, needsVenue, endsAtEdge = false }: Operation): Json {
  return {
    "X-Request-Id": text("The request's id, as in logs and errors."),
    ...(needsVenue
      ? { "Perpgate-Position": text("The log position that the gateway had applied, in decimal.") }
      : {}),
    ...(endsAtEdge
      ? {
          "Perpgate-History-Before": text(
            "Where older rows belong to the page and are not kept any more: the first log position " +
              "whose rows are, in decimal.",
          ),
        }
      : {}),
    ...(limit === undefined ? {} : LIMIT_HEADERS),
    ...(access === "signed"
      ? { "Idempotent-Replay": text("`true` where the nonce was used before, by the same body.") }
      : {}),
  };
}

function securityOf({ access }: Operation): readonly Json[] {
  if (access === "public") return [];
  return access === "bearer" ? [{ bearer: [] }] : [{ bearer: [], serviceSig: [] }];
}

function describeParameters(
  schema: TObject,
  place: "path" | "query",
  components: SchemaComponents,
) {
  const required = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    // A parameter with a default is optional, although the decoded value always has it.
    required: place === "path" || (required.has(name) && !("default" in property)),
    schema: components.refer(property),
  }));
}

/**
 * The signature as a parameter, because generators of clients pass over security schemes, and each
 * request has another.
 */
function describeSignature({ access, signature }: Operation): readonly Json[] {
  const rule = access === "signed" ? BODY_SIGNATURE : signature;
  if (rule === undefined) return [];
  const description = `The session key's signature over ${rule.over}; hex or base64.`;
  const { isRequired: required } = rule;
  return [{ name: "X-Service-Sig", in: "header", required, description, schema: SIGNATURE_TEXT }];
}

const BODY_SIGNATURE: SignatureRule = { isRequired: true, over: "the exact bytes of the body" };
const SIGNATURE_TEXT: Json = { type: "string" };

function describeErrors(codes: readonly ErrorCode[], components: SchemaComponents): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const sorted = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    sorted.map(([status, group]) => [
      String(status),
      {
        description: group.map((code) => `\`${code}\``).join(", "),
        ...(status === 429 ? { headers: { ...LIMIT_HEADERS, ...RETRY_AFTER } } : {}),
        content: jsonContent(ErrorBody, components),
        "x-error-codes": group,
      },
    ]),
  );
}

function jsonContent(schema: TSchema, components: SchemaComponents): Json {
  return { "application/json": { schema: components.refer(schema) } };
}

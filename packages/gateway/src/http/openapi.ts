/**
 * The OpenAPI 3.1 document of the contract's operations.
 *
 * TypeBox schemas are JSON Schema already. A schema with a title becomes a component that is referred
 * to; any other is written where it is used.
 */

import { ERROR_TABLE, ErrorBody, type ErrorCode } from "@perpgate/protocol";
import { errorCodesOf, noBody, type Operation } from "@perpgate/protocol/operations";
import type { TObject, TSchema } from "typebox";

type Json = Record<string, unknown>;

export function openApiDocument(operations: readonly Operation[], version: string): Json {
  const components = new Components();
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

function describeOperation(operation: Operation, components: Components): Json {
  const { status, description, schema } = operation.success;
  const parameters = [
    ...describeParameters(operation.params, "path", components),
    ...describeParameters(operation.query, "query", components),
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
        content: jsonContent(schema, components),
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

function successHeaders({ limit, access }: Operation): Json {
  return {
    "X-Request-Id": text("The request's id, as in logs and errors."),
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

function describeParameters(schema: TObject, place: "path" | "query", components: Components) {
  const required = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: place,
    // A parameter with a default is optional, although the decoded value always has it.
    required: place === "path" || (required.has(name) && !("default" in property)),
    schema: components.refer(property),
  }));
}

function describeErrors(codes: readonly ErrorCode[], components: Components): Json {
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

function jsonContent(schema: TSchema, components: Components): Json {
  return { "application/json": { schema: components.refer(schema) } };
}

/** Schemas with a title, each written once. */
class Components {
  readonly schemas: Json = {};

  refer(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.refer(item));
    if (typeof schema !== "object" || schema === null) return schema;
    const entries = Object.entries(schema).map(([key, value]) => [key, this.refer(value)]);
    const plain: Json = Object.fromEntries(entries);
    if (typeof plain.title !== "string") return plain;
    this.schemas[plain.title] ??= plain;
    return { $ref: `#/components/schemas/${plain.title}` };
  }
}

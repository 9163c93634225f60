/** The AsyncAPI document as a page: every operation of the socket, every stream, every shape. */

import { getAsyncApi } from "@perpgate/protocol/operations";
import type { Json } from "../schema-components.js";
import { docsPage, escapeHtml } from "./shell.js";

export function streamReference(document: Json): string {
  const { info, channels, operations, components } = fieldsOf(document);
  const { messages, schemas } = fieldsOf(components);
  const received = entriesOf(operations).filter(([, { action }]) => action === "receive");
  const streams = entriesOf(channels).filter(([id]) => id !== "socket");
  const body = [
    "<h1>Streams</h1>",
    `<p>${textOf(fieldsOf(info).description)}</p>`,
    `<p>The same as an AsyncAPI 3 document: <a href="${getAsyncApi.path}">${getAsyncApi.path}</a>.</p>`,
    `<h2 id="operations">Operations of ${textOf(`\`${String(fieldsOf(fieldsOf(channels).socket).address)}\``)}</h2>`,
    ...received.map(([id, operation]) => operationSection(id, operation, fieldsOf(messages))),
    '<h2 id="streams">Streams</h2>',
    ...streams.map(([id, channel]) => streamSection(id, channel, fieldsOf(messages))),
    '<h2 id="shapes">Shapes</h2>',
    ...entriesOf(schemas).map(([name, schema]) => shapeSection(name, schema)),
  ];
  return docsPage("Streams", body.join("\n"));
}

function operationSection(op: string, operation: Json, messages: Json): string {
  const { summary, security, "x-error-codes": codes } = operation;
  const answer = fieldsOf(fieldsOf(messages[`${op}Answer`]).payload);
  return [
    `<h3 id="${op}"><code>${op}</code></h3>`,
    `<p>${textOf(summary)}.${security === undefined ? "" : " Needs a token."}</p>`,
    fieldTable(fieldsOf(fieldsOf(messages[op]).payload)),
    `<p>Answered by <code>${wordOf(answer)}</code>, whose <code>d</code> has:</p>`,
    fieldTable(fieldsOf(fieldsOf(answer.properties).d)),
    Array.isArray(codes) && codes.length > 0
      ? `<details><summary>Error codes</summary><p>${codes.map((code) => `<code>${escapeHtml(String(code))}</code>`).join(" ")}</p></details>`
      : "",
  ].join("\n");
}

function streamSection(id: string, channel: Json, messages: Json): string {
  const payloads = entriesOf(channel.messages).map(([name]) => {
    const { properties } = fieldsOf(fieldsOf(messages[name]).payload);
    return `<li>${typeOf(fieldsOf(fieldsOf(properties).d))}</li>`;
  });
  return [
    `<h3 id="stream-${id}"><code>${escapeHtml(String(channel.address))}</code></h3>`,
    `<p>${textOf(channel.description)}</p>`,
    `<p>The <code>d</code> of its frames is one of:</p>\n<ul>${payloads.join("\n")}</ul>`,
  ].join("\n");
}

function shapeSection(name: string, schema: Json): string {
  const { description, properties } = schema;
  return [
    `<h3 id="shape-${name}">${name}</h3>`,
    description === undefined ? "" : `<p>${textOf(description)}</p>`,
    properties === undefined ? `<p>${typeOf(schema)}</p>` : fieldTable(schema),
  ].join("\n");
}

function fieldTable({ properties, required }: Json): string {
  const needed = new Set(Array.isArray(required) ? required : []);
  const rows = entriesOf(properties).map(([name, schema]) => {
    const isOptional = needed.has(name) ? "" : " (optional)";
    return `<tr><td><code>${escapeHtml(name)}</code>${isOptional}</td><td>${typeOf(schema)}</td><td>${textOf(schema.description)}</td></tr>`;
  });
  if (rows.length === 0) return "<p>No fields of its own.</p>";
  return `<table><thead><tr><th>field</th><th>type</th><th>meaning</th></tr></thead><tbody>\n${rows.join("\n")}\n</tbody></table>`;
}

/** A schema in one line; components are links. */
function typeOf(schema: Json): string {
  const { $ref, anyOf, type, items, const: constant } = schema;
  if (typeof $ref === "string") {
    const name = escapeHtml($ref.slice($ref.lastIndexOf("/") + 1));
    return `<a href="#shape-${name}">${name}</a>`;
  }
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeOf(fieldsOf(one))).join(" or ");
  if (constant !== undefined) return `<code>${escapeHtml(JSON.stringify(constant))}</code>`;
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((word) => `<code>${escapeHtml(String(word))}</code>`).join(" ");
  }
  if (type === "array") return `array of ${typeOf(fieldsOf(items))}`;
  if (type === "object" && schema.properties !== undefined) return fieldTable(schema);
  return escapeHtml(String(type ?? "any"));
}

function wordOf({ properties }: Json): string {
  return escapeHtml(String(fieldsOf(fieldsOf(properties).t).const));
}

/** Words between backquotes are code. */
function textOf(text: unknown): string {
  const escaped = escapeHtml(text === undefined ? "" : String(text));
  return escaped.replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function fieldsOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function entriesOf(value: unknown): [string, Json][] {
  return Object.entries(fieldsOf(value)).map(([key, inner]) => [key, fieldsOf(inner)]);
}

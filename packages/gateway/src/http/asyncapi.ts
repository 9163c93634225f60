/**
 * The AsyncAPI 3 document of the socket, from the gateway's point of view: it receives operations as JSON
 * text, replies to each, and sends the frames of streams, all over one WebSocket.
 *
 * The socket is one channel; each stream is another, whose address is the stream's name.
 */

import { ErrorBody, RESOLUTIONS, SYMBOL_PATTERN } from "@perpgate/protocol";
import {
  MessageId,
  SOCKET_PATH,
  type SocketOperation,
  type StreamChannel,
} from "@perpgate/protocol/operations";
import { type TSchema, Type } from "typebox";
import { type Json, SchemaComponents } from "./schema-components.js";

const BEARER = { $ref: "#/components/securitySchemes/bearer" };
const SOCKET = "socket";
const PARAMETERS: Readonly<Record<string, Json>> = {
  symbol: { description: "A market: base and quote in one word.", examples: ["BTCUSD"] },
  resolution: { description: "The length of a candle.", enum: [...RESOLUTIONS] },
};

export function asyncApiDocument(
  operations: readonly SocketOperation[],
  streams: readonly StreamChannel[],
  version: string,
): Json {
  const document = new StreamDocument();
  for (const operation of operations) document.addOperation(operation);
  for (const stream of streams) document.addStream(stream);
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Perpgate streams",
      version,
      description:
        "One WebSocket. Messages to the gateway are JSON text, and each is answered; frames from it " +
        "are MessagePack maps `{t, s?, d}` in binary messages. This is a testnet.",
      license: { name: "Apache-2.0" },
    },
    defaultContentType: "application/msgpack",
    servers: {
      gateway: {
        host: "{host}",
        protocol: "ws",
        description: "The gateway that serves this document; `wss` behind TLS.",
        variables: { host: { default: "127.0.0.1:8080", description: "Host and port." } },
      },
    },
    ...document.parts,
  };
}

class StreamDocument {
  private readonly components = new SchemaComponents();
  private readonly messages: Json = {};
  private readonly socketMessages: Json = {};
  private readonly operations: Json = {};
  private readonly channels: Json = {
    [SOCKET]: {
      address: SOCKET_PATH,
      title: "The socket",
      description:
        "Operations and their answers. A token comes in the `Authorization` header of the upgrade, " +
        "in `auth` or in `subscribe`, and counts for the whole socket.",
      bindings: { ws: { method: "GET" } },
      messages: this.socketMessages,
    },
  };

  constructor() {
    this.addMessage(SOCKET, "error", "Why an operation, or one stream of it, was refused", {
      contentType: "application/msgpack",
      correlationId: { location: "$message.payload#/d/id" },
      payload: frameOf("error", undefined, ErrorFrame),
    });
  }

  get parts(): Json {
    return {
      channels: this.channels,
      operations: this.operations,
      components: {
        messages: this.messages,
        schemas: this.components.schemas,
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", description: "The token from signing in." },
        },
      },
    };
  }

  addOperation({ op, summary, access, message, answer, rest, errors }: SocketOperation): void {
    this.addMessage(SOCKET, op, summary, {
      contentType: "application/json",
      correlationId: { location: "$message.payload#/id" },
      payload: message,
    });
    const word = op === "ping" ? "pong" : "ok";
    const echo = { id: MessageId, ...(word === "ok" ? { op: Type.Literal(op) } : {}) };
    this.addMessage(SOCKET, `${op}Answer`, `The answer to \`${op}\``, {
      contentType: "application/msgpack",
      correlationId: { location: "$message.payload#/d/id" },
      payload: frameOf(word, undefined, Type.Object({ ...echo, ...answer.properties })),
    });
    const channel = { $ref: `#/channels/${SOCKET}` };
    const isTaken = (name: string) => ({ $ref: `#/channels/${SOCKET}/messages/${name}` });
    this.operations[op] = {
      action: "receive",
      channel,
      summary,
      ...(access === "bearer" ? { security: [BEARER] } : {}),
      messages: [isTaken(op)],
      reply: { channel, messages: [isTaken(`${op}Answer`), isTaken("error")] },
      "x-error-codes": [...new Set([...errors, ...(rest?.errors ?? [])])],
      ...(rest === undefined ? {} : { "x-rest-operation": rest.id }),
    };
  }

  addStream({ stream, address, access, summary, frames }: StreamChannel): void {
    const names = [...address.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    const messages: Json = {};
    this.channels[stream] = {
      address,
      title: address,
      description: `${summary}. Subscribed to over the socket.`,
      ...(names.length === 0
        ? {}
        : { parameters: Object.fromEntries(names.map((name) => [name, PARAMETERS[name]])) }),
      messages,
    };
    for (const [name, payload] of Object.entries(frames)) {
      const id = name === "gap" ? `${stream}Gap` : name;
      this.addMessage(stream, id, `A frame of \`${address}\``, {
        contentType: "application/msgpack",
        payload: frameOf(stream, names.length === 0 ? undefined : SUBJECTS[names.length], payload),
      });
      messages[id] = { $ref: `#/components/messages/${id}` };
    }
    const ids = Object.keys(messages);
    this.operations[`${stream}Frames`] = {
      action: "send",
      channel: { $ref: `#/channels/${stream}` },
      summary,
      ...(access === "bearer" ? { security: [BEARER] } : {}),
      messages: ids.map((id) => ({ $ref: `#/channels/${stream}/messages/${id}` })),
    };
  }

  private addMessage(channel: string, name: string, summary: string, rest: MessageParts): void {
    const { payload, ...more } = rest;
    this.messages[name] = { name, summary, ...more, payload: this.components.refer(payload) };
    if (channel === SOCKET) this.socketMessages[name] = { $ref: `#/components/messages/${name}` };
  }
}

interface MessageParts {
  readonly contentType: string;
  readonly correlationId?: Json;
  readonly payload: TSchema;
}

const ErrorFrame = Type.Object({
  id: MessageId,
  op: Type.Optional(Type.String()),
  stream: Type.Optional(Type.String({ description: "The stream, if the message named several." })),
  ...ErrorBody.properties,
});

/** The `s` of a frame, by how many parts of the name follow the first word. */
const SUBJECTS: Readonly<Record<number, TSchema>> = {
  1: Type.String({ pattern: SYMBOL_PATTERN, description: "The market." }),
  2: Type.String({ description: "Market and resolution: `BTCUSD.1m`." }),
};

function frameOf(word: string, subject: TSchema | undefined, payload: TSchema): TSchema {
  const t = Type.Literal(word);
  return subject === undefined
    ? Type.Object({ t, d: payload })
    : Type.Object({ t, s: subject, d: payload });
}

/**
 * The two ends of a request that an exchange needs: what was asked, and where the answer goes. The
 * lane has one over Node's request and response, the front one over the bare socket.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { SIGNATURE_HEADER } from "@perpgate/protocol";
import type { ClientAddressOf } from "../../ws/client-address.js";
import { isForwarded } from "../client.js";
import { firstByteAgoMs } from "../first-byte.js";

export interface Wire {
  /** When the request's first byte was read, by `performance.now()`. */
  readonly startedAtMs: number;
  /** The path without its query. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly signature: string | undefined;
  /** The id that the client offers; whether it is a sane one is not known yet. */
  readonly offeredId: string | undefined;
  readonly address: string;
  readonly isForwarded: boolean;
  /** Whether nobody is there any more to read an answer. */
  readonly isGone: boolean;
  /** Headers are names and values by turns. To be called once a request. */
  send(status: number, headers: string[], text: string): void;
}

/** A request that Node has parsed. */
export class MessageWire implements Wire {
  readonly startedAtMs: number;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly addressOf: ClientAddressOf,
  ) {
    this.startedAtMs = performance.now() - firstByteAgoMs(request);
  }

  get path(): string {
    return this.request.url?.split("?", 1)[0] ?? "";
  }

  get authorization(): string | undefined {
    return this.request.headers.authorization;
  }

  get signature(): string | undefined {
    return this.one(SIGNATURE_HEADER);
  }

  get offeredId(): string | undefined {
    return this.one("x-request-id");
  }

  get address(): string {
    return this.addressOf(this.request);
  }

  get isForwarded(): boolean {
    return isForwarded(this.request.headers);
  }

  get isGone(): boolean {
    return this.response.destroyed;
  }

  send(status: number, headers: string[], text: string): void {
    const length = String(Buffer.byteLength(text));
    headers.push("content-length", length);
    this.response.writeHead(status, headers);
    this.response.end(text);
  }

  private one(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === "string" ? value : undefined;
  }
}

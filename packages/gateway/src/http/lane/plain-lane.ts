/**
 * The way past the framework for the two requests that programs send by the thousand: an order, and
 * a read of a book.
 *
 * A framework's request, reply, hooks and logger are worth their cost for every operation but these:
 * for an order they are as much work as matching it, ten times over. So the plain form of the two,
 * from no browser, is answered here with the same operation, the same headers and the same error
 * shape. Whatever is the least unusual about a request (another content type, no length, an `Origin`,
 * an expectation, a server that stops) leaves it to the framework's route, and a test holds the two
 * ways' answers against each other.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { answerBook, plainBookOf } from "./book-lane.js";
import type { LaneOptions } from "./exchange.js";
import { isPlainOrder, serveOrder } from "./order-lane.js";
import { MessageWire } from "./wire.js";

export class PlainLane {
  private isOpen = true;

  constructor(private readonly options: LaneOptions) {}

  /** From now on every request is the framework's. */
  close(): void {
    this.isOpen = false;
  }

  /** Answers the request, or leaves it untouched and says false. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    const { origin, host, "transfer-encoding": encoding } = request.headers;
    if (!this.isOpen || origin !== undefined || host === undefined) return false;
    if (encoding !== undefined) return false;
    if (isPlainOrder(request, this.options)) {
      serveOrder(request, this.wireOf(request, response), this.options);
      return true;
    }
    const path = plainBookOf(request);
    if (path === undefined) return false;
    answerBook(this.wireOf(request, response), this.options, path);
    return true;
  }

  private wireOf(request: IncomingMessage, response: ServerResponse): MessageWire {
    return new MessageWire(request, response, this.options.addressOf);
  }
}

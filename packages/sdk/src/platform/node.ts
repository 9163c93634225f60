/** Node: version 20 has no WebSocket of its own, and a program keeps its keys where it sees fit. */

import { type ClientOptions, WebSocket } from "ws";
import type { WebSocketConstructor, WebSocketLike } from "./platform.js";

/** An option of `ws` that its types do not know yet. */
interface CloseOptions {
  readonly closeTimeout: number;
}

/** A peer that does not answer a goodbye is not waited for longer. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Without compression, which the gateway does not negotiate either. */
class PlainWebSocket extends WebSocket implements WebSocketLike {
  constructor(url: string) {
    const options: ClientOptions & CloseOptions = {
      perMessageDeflate: false,
      closeTimeout: CLOSE_TIMEOUT_MS,
    };
    super(url, options);
  }
}

export function platformWebSocket(): WebSocketConstructor | undefined {
  return PlainWebSocket;
}

export const KEYS_ARE_SAVEABLE = true;

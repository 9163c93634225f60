/** Node: the `ws` package, since version 20 has no WebSocket; keys can be saved. */

import { type ClientOptions, WebSocket } from "ws";
import type { WebSocketConstructor, WebSocketLike } from "./platform.js";

/** An option of `ws` that is missing in its types. */
interface CloseOptions {
  readonly closeTimeout: number;
}

/** How long to wait for the peer's close frame. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Without compression; the gateway does not negotiate it. */
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

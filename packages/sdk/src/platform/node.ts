/** Node: version 20 has no WebSocket of its own, and a program keeps its keys where it sees fit. */

import { WebSocket } from "ws";
import type { WebSocketConstructor, WebSocketLike } from "./platform.js";

/** Without compression, which the gateway does not negotiate either. */
class PlainWebSocket extends WebSocket implements WebSocketLike {
  constructor(url: string) {
    super(url, { perMessageDeflate: false });
  }
}

export function platformWebSocket(): WebSocketConstructor | undefined {
  return PlainWebSocket;
}

export const KEYS_ARE_SAVEABLE = true;

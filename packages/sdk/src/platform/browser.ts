/** A browser or a similar runtime: its own WebSocket, and keys that scripts cannot read. */

import type { WebSocketConstructor } from "./platform.js";

export function platformWebSocket(): WebSocketConstructor | undefined {
  return globalThis.WebSocket;
}

/** An injected script must not be able to copy the key. */
export const KEYS_ARE_SAVEABLE = false;

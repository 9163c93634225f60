/** A browser, or a runtime that is like one: its own WebSocket, and keys that cannot be read out. */

import type { WebSocketConstructor } from "./platform.js";

export function platformWebSocket(): WebSocketConstructor | undefined {
  return globalThis.WebSocket;
}

/** A script that was injected into the page must not be able to carry the key away. */
export const KEYS_ARE_SAVEABLE = false;

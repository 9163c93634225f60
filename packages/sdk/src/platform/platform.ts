/**
 * What differs between a browser and Node. The import map of the package resolves `#platform` to
 * browser.ts or node.ts, so a bundle for browsers does not include the other.
 */

/** The part of a WebSocket that the client uses: a browser's, that of `ws`, or another. */
export interface WebSocketLike {
  binaryType: string;
  /** 2 and 3: closing and closed. */
  readonly readyState?: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(code?: number, reason?: string): void;
}

export type WebSocketConstructor = new (url: string) => WebSocketLike;

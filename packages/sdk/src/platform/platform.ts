/**
 * What differs between a browser and Node. The package's import map leads `#platform` to one of the
 * two files beside this one, so a bundle for browsers never sees the other.
 */

/** As much of a WebSocket as the client uses: the one of browsers, of `ws`, or another like them. */
export interface WebSocketLike {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(code?: number, reason?: string): void;
}

export type WebSocketConstructor = new (url: string) => WebSocketLike;

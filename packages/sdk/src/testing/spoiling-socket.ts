import type { WebSocketConstructor, WebSocketLike } from "@perpgate/sdk";
import { WebSocket } from "ws";

/** A socket that drops or changes some of the messages it receives. */
export function spoiling(
  spoil: (data: Uint8Array) => Uint8Array | undefined,
): WebSocketConstructor {
  return class Spoiling implements WebSocketLike {
    binaryType = "arraybuffer";
    onopen: ((event: never) => void) | null = null;
    onmessage: ((event: never) => void) | null = null;
    onclose: ((event: never) => void) | null = null;
    onerror: ((event: never) => void) | null = null;
    private readonly inner: WebSocket;

    constructor(url: string) {
      this.inner = new WebSocket(url, { perMessageDeflate: false });
      this.inner.on("open", () => call(this.onopen, {}));
      this.inner.on("error", () => call(this.onerror, {}));
      this.inner.on("close", (code) => call(this.onclose, { code }));
      this.inner.on("message", (message: Buffer) => {
        const data = spoil(Uint8Array.from(message));
        if (data !== undefined) call(this.onmessage, { data: data.buffer });
      });
    }

    send(data: string): void {
      this.inner.send(data);
    }

    close(code?: number): void {
      this.inner.close(code);
    }
  };
}

/** The listener decides the event's type, as with any WebSocket. */
function call(listener: ((event: never) => void) | null, event: object): void {
  if (listener !== null) Reflect.apply(listener, undefined, [event]);
}

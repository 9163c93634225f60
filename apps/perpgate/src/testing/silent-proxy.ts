/** The address of a gateway at which requests for some paths arrive and are never answered. */

import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

export class SilentProxy {
  url = "";
  /** Resolves with the first request that is not answered. */
  readonly arrived: Promise<void>;
  private arrive: () => void = () => undefined;

  private constructor(
    private readonly gateway: string,
    private readonly path: RegExp,
  ) {
    this.arrived = new Promise((resolve) => {
      this.arrive = resolve;
    });
  }

  static async start(gateway: string, path: RegExp): Promise<SilentProxy> {
    const proxy = new SilentProxy(gateway, path);
    const server = createServer((incoming, answer) => proxy.pass(incoming, answer));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    proxy.url = `http://127.0.0.1:${address.port}`;
    return proxy;
  }

  private pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const { url = "", method, headers } = incoming;
    if (this.path.test(url)) {
      this.arrive();
      return;
    }
    const onward = request(this.gateway + url, { method, headers }, (from) => {
      answer.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(answer);
    });
    onward.once("error", () => answer.destroy());
    incoming.pipe(onward);
  }
}

/** The address of a gateway at which requests for some paths arrive and are never answered. */

import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { serve } from "@perpgate/protocol/testing/serve";

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
    proxy.url = await serve((incoming, answer) => proxy.pass(incoming, answer));
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

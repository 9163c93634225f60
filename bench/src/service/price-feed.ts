/** A web feed of one price that the bench sets: the index of the venue under test. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class PriceFeed {
  private constructor(
    private readonly server: Server,
    public price: number,
  ) {
    server.on("request", (_, response) => response.end(JSON.stringify({ price: this.price })));
  }

  static async open(price: number): Promise<PriceFeed> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PriceFeed(server, price);
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

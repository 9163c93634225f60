/** One address for a gateway that is stopped and started again on another port. */

import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export class Relay {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => this.accept(client));

  private constructor(private target: string) {}

  static async before(url: string): Promise<Relay> {
    const relay = new Relay(url);
    await new Promise<void>((resolve) => relay.server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      relay.cut();
      relay.server.close();
    });
    return relay;
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Ends all connections; new ones go to this address. */
  leadTo(url: string): void {
    this.target = url;
    this.cut();
  }

  private cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private accept(client: Socket): void {
    const upstream = connect(Number(new URL(this.target).port), "127.0.0.1");
    const both = [client, upstream];
    for (const socket of both) {
      this.sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        for (const one of both) {
          this.sockets.delete(one);
          one.destroy();
        }
      });
    }
    client.pipe(upstream).pipe(client);
  }
}

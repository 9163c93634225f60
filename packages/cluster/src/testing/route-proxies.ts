/**
 * Proxies in front of the servers' ports for each other, through which all routes between them pass: one
 * server is cut off from the others while all of them run, and serve their clients.
 */

import { connect, createServer, type Server, type Socket } from "node:net";

/** The server that a route's first bytes come from. */
const FROM = /"server_name":"([^"]+)"/;

interface Route {
  /** Names of servers; undefined until the one that connects has named itself. */
  readonly to: string;
  from: string | undefined;
  readonly sockets: readonly Socket[];
}

export interface RoutedServer {
  readonly name: string;
  readonly port: number;
}

export class RouteProxies {
  private readonly listeners: Server[] = [];
  private readonly routes = new Set<Route>();
  private away: string | undefined;

  static async start(servers: readonly RoutedServer[]): Promise<RouteProxies> {
    const proxies = new RouteProxies();
    for (const server of servers) await proxies.listen(server);
    return proxies;
  }

  /** In the order of the servers. */
  get ports(): number[] {
    return this.listeners.map((listener) => {
      const address = listener.address();
      return typeof address === "object" && address !== null ? address.port : 0;
    });
  }

  /** Ends the server's routes, and lets it make no other. */
  cutOff(name: string): void {
    this.away = name;
    for (const route of this.routes) this.check(route);
  }

  /** All servers reach each other again; they connect within a second or two. */
  rejoin(): void {
    this.away = undefined;
  }

  async close(): Promise<void> {
    const closed = this.listeners.map(
      (listener) => new Promise((resolve) => listener.close(resolve)),
    );
    for (const { sockets } of this.routes) for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
  }

  private async listen({ name, port }: RoutedServer): Promise<void> {
    const listener = createServer((socket) => this.route(socket, name, port));
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    this.listeners.push(listener);
  }

  private route(client: Socket, to: string, port: number): void {
    const server = connect(port, "127.0.0.1");
    const route: Route = { to, from: undefined, sockets: [client, server] };
    this.routes.add(route);
    let unread = "";
    client.on("data", (chunk: Buffer) => {
      if (route.from === undefined) {
        unread += chunk.toString("latin1");
        route.from = FROM.exec(unread)?.[1];
        this.check(route);
      }
      server.write(chunk);
    });
    server.on("data", (chunk: Buffer) => client.write(chunk));
    for (const socket of route.sockets) {
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        for (const each of route.sockets) each.destroy();
        this.routes.delete(route);
      });
    }
    this.check(route);
  }

  private check({ from, to, sockets }: Route): void {
    if (this.away === undefined || (from !== this.away && to !== this.away)) return;
    for (const socket of sockets) socket.destroy();
  }
}

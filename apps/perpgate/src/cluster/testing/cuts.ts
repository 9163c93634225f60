/**
 * Cuts that last as long as a test wants: between an edge and a core, and between a core and its servers.
 * While one lasts nothing passes, in either direction, and nothing is closed, as when a network fails.
 */

import { connect, createServer, type ListenOptions, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { type Connect, connectToCore, type RoutedCore } from "@perpgate/link";
import { temporaryFolder } from "../../testing/perpgate-process.js";

const HOST = "127.0.0.1";
const SOCKET = "link.sock";

class CuttableProxy {
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(private readonly listener: Server) {}

  static async start(at: ListenOptions, target: () => Socket): Promise<CuttableProxy> {
    const proxy = new CuttableProxy(createServer());
    proxy.listener.on("connection", (client) => {
      if (proxy.isCut) proxy.keep(client);
      else proxy.join(client, target());
    });
    await new Promise<void>((resolve) => proxy.listener.listen(at, resolve));
    return proxy;
  }

  get port(): number {
    const address = this.listener.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  cut(): void {
    this.isCut = true;
  }

  /** What was in the cut connections is lost. */
  rejoin(): void {
    this.isCut = false;
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.listener.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private join(client: Socket, server: Socket): void {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.keep(from);
      from.setNoDelay(true);
      from.on("data", (bytes) => {
        if (!this.isCut) to.write(bytes);
      });
      from.on("close", () => {
        if (!this.isCut) to.destroy();
      });
    }
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.resume();
    socket.on("error", () => undefined);
    socket.on("close", () => this.sockets.delete(socket));
  }
}

/** A core as one edge reaches it. */
export class CuttableCore implements RoutedCore {
  private constructor(
    readonly name: string,
    private readonly folder: string,
    private readonly proxy: CuttableProxy,
  ) {}

  /** `data`: where the core's socket is. */
  static async of(core: { readonly name: string; readonly data: string }): Promise<CuttableCore> {
    const folder = temporaryFolder();
    const path = join(folder, SOCKET);
    const proxy = await CuttableProxy.start({ path }, () => connect(join(core.data, SOCKET)));
    return new CuttableCore(core.name, folder, proxy);
  }

  connect(): Promise<Connect> {
    return connectToCore(this.folder);
  }

  /** Until it joins again, the edge reaches the core no more. */
  cut(): void {
    this.proxy.cut();
  }

  rejoin(): void {
    this.proxy.rejoin();
  }

  close(): Promise<void> {
    return this.proxy.close();
  }
}

/** The NATS servers as one core reaches them. */
export class CuttableServers {
  private constructor(private readonly proxies: readonly CuttableProxy[]) {}

  static async of(urls: readonly string[]): Promise<CuttableServers> {
    const proxies = urls.map((url) => {
      const target = () => connect(Number(new URL(url).port), HOST);
      return CuttableProxy.start({ host: HOST, port: 0 }, target);
    });
    return new CuttableServers(await Promise.all(proxies));
  }

  get urls(): string[] {
    return this.proxies.map(({ port }) => `nats://${HOST}:${port}`);
  }

  /** Until it joins again, the core reaches no server. */
  cut(): void {
    for (const proxy of this.proxies) proxy.cut();
  }

  rejoin(): void {
    for (const proxy of this.proxies) proxy.rejoin();
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }
}

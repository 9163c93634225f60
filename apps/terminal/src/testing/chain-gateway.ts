/**
 * A gateway that accepts deposits from chains, behind a TCP proxy whose port is known before the
 * gateway starts: with a chain, the allowed sign-in domains must be configured, and a domain includes
 * the port.
 */

import { generateKeyPairSync } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { listening } from "@perpgate/protocol/testing";
import { GatewayProcess } from "./gateway-process.js";

export const CHAINS = {
  ethereum: {
    rpc: ["http://127.0.0.1:9/"],
    vault: "0x00000000000000000000000000000000000000e1",
    tokens: { USDC: { contract: "0x00000000000000000000000000000000000000c1" } },
    confirmations: 64,
  },
  arbitrum: {
    rpc: ["http://127.0.0.1:9/"],
    vault: "0x00000000000000000000000000000000000000a2",
    tokens: { USDT: { contract: "0x00000000000000000000000000000000000000d2" } },
    confirmations: 7,
  },
};

export class ChainGateway {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly gateway: GatewayProcess,
    readonly url: string,
  ) {}

  /** `bridge`: in place of one that takes deposits from two chains. */
  static async start(
    page: string | false,
    bridge: object = { members: [newPublicKey()], chains: CHAINS },
  ): Promise<ChainGateway> {
    const server = createServer();
    const host = `127.0.0.1:${await listening(server)}`;
    // The attestors run elsewhere: this venue only counts votes and connects to no chain.
    const gateway = new GatewayProcess({ page, settings: { auth: { domains: [host] }, bridge } });
    const started = new ChainGateway(server, gateway, `http://${host}`);
    await gateway.start();
    server.on("connection", (socket) => started.forward(socket));
    return started;
  }

  async remove(): Promise<void> {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await this.gateway.remove();
  }

  private forward(socket: Socket): void {
    const upstream = connect(Number(new URL(this.gateway.url).port), "127.0.0.1");
    for (const [end, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.sockets.add(end);
      end.on("error", () => other.destroy());
      end.on("close", () => {
        this.sockets.delete(end);
        other.destroy();
      });
      end.pipe(other);
    }
  }
}

function newPublicKey(): string {
  const { x } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  return Buffer.from(x ?? "", "base64url").toString("hex");
}

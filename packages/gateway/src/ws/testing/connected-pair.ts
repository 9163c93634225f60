/**
 * The two ends of one real socket: a `ClientSocket` that the test writes frames to, and the client that
 * reads them.
 */

import { createServer } from "node:http";
import { listening } from "@perpgate/protocol/testing";
import { onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { SocketCounts } from "../../metrics/socket-counts.js";
import { budgetsWith } from "../../testing/running-gateway.js";
import { ClientSocket } from "../connection.js";
import { DEFAULT_SOCKET_LIMITS, type SocketLimits } from "../socket-limits.js";
import { type Frame, StreamClient } from "./stream-client.js";

export interface ConnectedPair {
  readonly connection: ClientSocket;
  readonly client: StreamClient;
  /** What the client has received since the last call, in order. */
  received(): Promise<Frame[]>;
}

export class SocketPairs {
  private readonly sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    autoPong: false,
  });
  private readonly arrivals: ClientSocket[] = [];
  private count = 0;

  private constructor(private readonly url: string) {}

  static async open(
    limits: Partial<SocketLimits> = {},
    budgets = budgetsWith(),
  ): Promise<SocketPairs> {
    const server = createServer();
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const pairs = new SocketPairs(`http://127.0.0.1:${await listening(server)}`);
    server.on("upgrade", (request, socket, head) => {
      pairs.sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const id = `ws${++pairs.count}`;
        const all = { ...DEFAULT_SOCKET_LIMITS, ...limits };
        pairs.arrivals.push(
          new ClientSocket(id, "127.0.0.1", webSocket, socket, all, budgets, new SocketCounts([])),
        );
      });
    });
    return pairs;
  }

  async connect(): Promise<ConnectedPair> {
    const client = await StreamClient.connect(this.url);
    const connection = this.arrivals.pop();
    if (connection === undefined) throw new Error("the server has not seen the socket");
    return {
      connection,
      client,
      received: async () => {
        connection.answer({ t: "pong", d: {} });
        await client.next("pong");
        return client.frames.splice(0);
      },
    };
  }
}

/**
 * The network between the page and its gateway, as a test decides: answers arrive late, or not at all. What
 * the page sends always arrives. A connection that has lost a message is closed, as TCP would.
 */

import type { Page, Route, WebSocketRoute } from "playwright-core";

export class BadNetwork {
  private lateMs = 0;
  private isLosing = false;
  private readonly sockets = new Set<WebSocketRoute>();

  async install(page: Page): Promise<void> {
    await page.routeWebSocket(/\/ws\//, (socket) => this.connect(socket));
    await page.route("**/v1/**", (route) => this.answer(route));
  }

  /** From now on answers are on their way for so long. */
  delay(ms: number): void {
    this.lateMs = ms;
  }

  /** From now on answers are lost. */
  lose(): void {
    this.isLosing = true;
  }

  async heal(): Promise<void> {
    const wasLosing = this.isLosing;
    this.isLosing = false;
    this.lateMs = 0;
    if (wasLosing) await this.cut();
  }

  /** Closes every socket. */
  async cut(): Promise<void> {
    const sockets = [...this.sockets];
    this.sockets.clear();
    await Promise.all(sockets.map((socket) => socket.close({ code: 4000 }).catch(() => undefined)));
  }

  private connect(socket: WebSocketRoute): void {
    this.sockets.add(socket);
    const server = socket.connectToServer();
    let isBroken = false;
    let before: Promise<unknown> = Promise.resolve();
    socket.onMessage((message) => server.send(message));
    server.onMessage((message) => {
      isBroken ||= this.isLosing;
      const arrival = new Promise((resolve) => setTimeout(resolve, this.lateMs));
      before = Promise.all([before, arrival]).then(() => {
        if (!isBroken) socket.send(message);
      });
    });
  }

  private async answer(route: Route): Promise<void> {
    try {
      const response = await route.fetch();
      await new Promise((resolve) => setTimeout(resolve, this.lateMs));
      await (this.isLosing ? route.abort() : route.fulfill({ response }));
    } catch {
      // The gateway is down, or the page has been left.
      await route.abort().catch(() => undefined);
    }
  }
}

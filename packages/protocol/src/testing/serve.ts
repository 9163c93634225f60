import { createServer, type RequestListener } from "node:http";
import { onTestFinished } from "vitest";
import { listening } from "./listening.js";

/** The address of an HTTP server that ends with the test, or with all, without a slash at its end. */
export async function serve(
  listener: RequestListener,
  whenDone: (stop: () => void) => void = onTestFinished,
): Promise<string> {
  const server = createServer(listener);
  whenDone(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${await listening(server)}`;
}

import { createServer, type RequestListener } from "node:http";
import { onTestFinished } from "vitest";
import { listening } from "./listening.js";

/** The address of an HTTP server that ends with the test, without a slash at its end. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${await listening(server)}`;
}

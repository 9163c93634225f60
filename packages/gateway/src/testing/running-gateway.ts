/** A real gateway on a real, free port, for tests; closed when they end. */

import { connect, type Socket } from "node:net";
import { pino } from "pino";
import { Registry } from "prom-client";
import { onTestFinished } from "vitest";
import { NonceIssuer } from "../auth/nonce-issuer.js";
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "../http/limits.js";
import { buildGateway, type Gateway, type GatewayOptions } from "../http/server.js";
import { CostBudgets, type CostMetrics } from "../limits/cost-budget.js";
import { type LimitSettings, UNLIMITED } from "../limits/limit-settings.js";
import { AddressLimits } from "../limits/limits.js";

/** Tests of readers that do not read last longer than such a reader may. */
const PATIENT = { connectionsPerAddress: 10_000, unreadTimeoutMs: 600_000 };

const UNCOUNTED: CostMetrics = {
  onCharged: () => undefined,
  onHeld: () => undefined,
  onParsed: () => undefined,
};

/** Unlimited but for what is given. */
export function budgetsWith(limits: Partial<LimitSettings> = {}): CostBudgets {
  return new CostBudgets({ ...UNLIMITED, ...limits }, UNCOUNTED);
}

export interface RunningGateway {
  readonly url: string;
  readonly gateway: Gateway;
  /** Every log line so far. */
  readonly logLines: readonly string[];
  /** A bare connection, for what a well-behaved client cannot send. */
  dial(localAddress?: string): Promise<Socket>;
}

export type GatewayChanges = Partial<Omit<GatewayOptions, "limits" | "log">> & {
  readonly limits?: Partial<HttpLimits>;
};

/** `atEnd` is when to close: `afterAll` for a gateway that all tests of a file share. */
export async function runGateway(
  changes: GatewayChanges = {},
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<RunningGateway> {
  const logLines: string[] = [];
  const gateway = await buildGateway({
    version: "0.0.0-test",
    clock: () => 1_700_000_000_000,
    nonces: new NonceIssuer(new Uint8Array(32).fill(1)),
    addressLimits: new AddressLimits(UNLIMITED),
    clientLimits: UNLIMITED,
    readiness: [],
    edge: undefined,
    metrics: new Registry(),
    trustProxy: false,
    origins: "*",
    ...changes,
    log: pino({ level: "info" }, { write: (line) => logLines.push(line) }),
    limits: { ...DEFAULT_HTTP_LIMITS, ...PATIENT, ...changes.limits },
  });
  const url = await gateway.listen({ host: "127.0.0.1", port: 0 });
  atEnd(() => gateway.drain(50));
  return { url, gateway, logLines, dial: (localAddress) => dial(url, localAddress) };
}

async function dial(url: string, localAddress = "127.0.0.1"): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  // A reset is one of the ways a server may close; the tests look at the close, not at how.
  socket.on("error", () => socket.destroy());
  onTestFinished(() => {
    socket.destroy();
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
}

/** Everything the server sends until it closes the connection. */
export async function readUntilClose(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  if (!socket.destroyed) await new Promise((resolve) => socket.once("close", resolve));
  return text;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One request; the body is parsed where it is JSON. */
export async function ask(url: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true && text !== "";
  const body: Readonly<Record<string, unknown>> = isJson ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, text, body };
}

/** Of session 7. */
export const SAMPLE_TOKEN = `${"t".repeat(43)}.7`;
export const BEARER = { authorization: `Bearer ${SAMPLE_TOKEN}` };

export function jsonPost(
  body: string,
  headers: Readonly<Record<string, string>> = {},
): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...BEARER, ...headers },
    body,
  };
}

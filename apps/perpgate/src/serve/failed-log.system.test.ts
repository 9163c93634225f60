/** A log that can no longer be written, in a real process: prlimit makes its writes fail. */
import { execFile } from "node:child_process";
import { Agent, get, type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { ProcessClient } from "../testing/client.js";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";

const ORDER = { symbol: "BTCUSD", side: "long", type: "market", margin: 10, leverage: 2 };
const CLIENTS = 8;

type Answer = readonly [status: number | undefined, body: unknown];

/** Resolves once the order is in the kernel's socket buffer; `answer` resolves later. */
function send(client: ProcessClient, agent: Agent, order: object) {
  const sent = request(`${client.url}/v1/orders`, {
    method: "POST",
    agent,
    headers: {
      authorization: `Bearer ${client.token}`,
      "content-type": "application/json",
      ...client.signatureOf(order),
    },
  });
  const answer = new Promise<Answer | undefined>((resolve) => {
    sent.once("error", () => resolve(undefined));
    sent.once("response", (response) => {
      const { statusCode } = response;
      json(response).then(
        (body) => resolve([statusCode, body]),
        () => resolve(undefined),
      );
    });
  });
  return new Promise<{ readonly answer: typeof answer }>((resolve) => {
    sent.end(JSON.stringify(order), () => resolve({ answer }));
  });
}

/** Opens a keep-alive connection. */
function connect(client: ProcessClient, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = get(`${client.url}/healthz`, { agent }, (response: IncomingMessage) => {
      response.resume().once("end", resolve);
    });
    asked.once("error", reject);
  });
}

test("a failed write: pending orders get 503, then exit 1", async () => {
  const perpgate = new PerpgateProcess(["--port", "0", "--data", temporaryFolder()]);
  const client = new ProcessClient(await perpgate.url());
  expect((await client.signIn()).status).toBe(200);
  expect((await client.place({ ...ORDER, nonce: 1 })).status).toBe(200);
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const clients = Array.from({ length: CLIENTS }, (_, number) => number);
  await Promise.all(clients.map(() => connect(client, agent)));
  // Stopped until the orders have reached its sockets, so that they are in flight when the log fails.
  perpgate.signalCore("SIGSTOP");
  await promisify(execFile)("prlimit", ["--pid", String(perpgate.core), "--fsize=1:1"]);
  const sent = await Promise.all(
    clients.map((number) => send(client, agent, { ...ORDER, nonce: 2 + number })),
  );
  perpgate.signalCore("SIGCONT");
  const answers = await Promise.all(sent.map(({ answer }) => answer));
  expect(answers).toContainEqual([503, expect.objectContaining({ code: "stopped" })]);
  expect(answers).not.toContainEqual([200, expect.anything()]);
  const { code, signal, stderr } = await perpgate.ended;
  expect([code, signal]).toEqual([1, null]);
  expect(stderr).toContain("perpgate: the venue stopped");
});

/** The venue as an attacker's preparations see it: plain requests from the attacker's address. */
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { SignedIn } from "../../orders/sign-in.js";
import type { Answer, Target } from "../attack.js";
import type { LineAddress } from "../wire/line.js";

/** Sign-ins are limited by address: an attacker that prepares waits its turn. */
const LIMITED_PAUSE_MS = 250;
const MOST_TRIES = 40;

export function remoteTarget(address: LineAddress, veterans: readonly SignedIn[]): Target {
  const ask = async (method: string, path: string, body?: string, token?: string) => {
    for (let tries = 1; ; tries++) {
      const answer = await askOnce(address, method, path, body, token);
      if (answer.status !== 429 || tries === MOST_TRIES) return answer;
      await sleep(LIMITED_PAUSE_MS);
    }
  };
  return {
    origin: `http://127.0.0.1:${address.port}`,
    veterans,
    get: (path, token) => ask("GET", path, undefined, token),
    post: (path, body, token) => ask("POST", path, body, token),
  };
}

function askOnce(
  { port, localAddress }: LineAddress,
  method: string,
  path: string,
  body: string | undefined,
  token: string | undefined,
): Promise<Answer> {
  const headers = {
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: "127.0.0.1", localAddress, method, path, headers });
    asked.on("error", reject);
    asked.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.end(body);
  });
}

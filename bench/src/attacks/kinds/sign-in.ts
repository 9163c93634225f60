/** Sign-ins, rotations and nonces: what strangers may ask for without a session. */
import { randomBytes } from "node:crypto";
import { signInRequest } from "../../orders/sign-in.js";
import { attacksOf, type Target } from "../attack.js";
import { flood, inTurn, paced } from "../wire/patterns.js";
import { pipeline, request } from "../wire/requests.js";
import { attackerAccount, WRONG_TOKEN } from "./accounts.js";

const FEW = { connections: 4 };
/** Characters that a message may have. */
const MESSAGE_CHARACTERS = 4_096;
/** Sign-ins a second that one address is allowed. */
const SIGN_INS_PER_SECOND = 10;

/** As many short resources as a message has room for; the first binds the session key. */
function manyResources(): string[] {
  const bound = "urn:perpgate:session?key={key}";
  const room = MESSAGE_CHARACTERS - 420;
  return [bound, ...Array.from({ length: Math.floor(room / 6) }, () => "a:b")];
}

async function withChangedSignature(target: Target, resources: readonly string[]): Promise<Buffer> {
  const { body } = await signInRequest(target.origin, { resources });
  const wrong = body.replace(/("signature":"0x)../, "$111");
  return request({ path: "/v1/auth/siwe", body: wrong });
}

export const SIGN_IN_ATTACKS = attacksOf("sign-in", [
  {
    name: "sign-in-many-resources",
    shows: "A message of 4 KB with hundreds of resources takes 70 ms to parse.",
    prepare: async (target) =>
      flood(pipeline(await withChangedSignature(target, manyResources())), FEW),
  },
  {
    name: "sign-in-many-resources-paced",
    shows: "The same at ten a second, which limits allow until ten have failed.",
    prepare: async (target) =>
      paced(await withChangedSignature(target, manyResources()), SIGN_INS_PER_SECOND, FEW),
  },
  {
    name: "sign-in-valid-many-resources",
    shows: "Valid messages with hundreds of resources, from fresh wallets, at the limit.",
    prepare: async (target) => {
      const resources = manyResources();
      const requests: Buffer[] = [];
      for (let i = 0; i < 60; i++) {
        const { body } = await signInRequest(target.origin, { resources });
        requests.push(request({ path: "/v1/auth/siwe", body }));
      }
      return paced(inTurn(requests), SIGN_INS_PER_SECOND, FEW);
    },
  },
  {
    name: "sign-in-wrong-signature",
    shows: "Recovering an address from a wrong signature costs a millisecond each.",
    prepare: async (target) => flood(pipeline(await withChangedSignature(target, [])), FEW),
  },
  {
    name: "sign-in-fresh-wallets",
    shows: "Valid sign-ins from ever new wallets, each a session and a grant in the log.",
    prepare: async (target) => {
      const requests: Buffer[] = [];
      for (let i = 0; i < 150; i++) {
        const { body } = await signInRequest(target.origin);
        requests.push(request({ path: "/v1/auth/siwe", body }));
      }
      return flood(inTurn(requests), FEW);
    },
  },
  {
    name: "sign-in-malformed",
    shows: "4 KB of text that is almost a message is parsed line by line.",
    prepare: async (target) => {
      const { body } = await signInRequest(target.origin, { resources: manyResources() });
      const malformed = body.replace("Version: 1", "Version: 2");
      return flood(pipeline(request({ path: "/v1/auth/siwe", body: malformed })), FEW);
    },
  },
  {
    name: "rotate-unsigned",
    shows: "A rotation without a signature parses the stored sign-in message again, 55 ms each.",
    prepare: async (target) => {
      const { token } = await attackerAccount(target, { resources: manyResources() });
      return flood(pipeline(rotation(token)), FEW);
    },
  },
  {
    name: "rotate-unsigned-paced",
    shows: "The same at the 100 a second that limits allow.",
    trader: "socket",
    prepare: async (target) => {
      const { token } = await attackerAccount(target, { resources: manyResources() });
      return paced(rotation(token), 100, FEW);
    },
  },
  {
    name: "rotate-in-a-loop",
    shows: "Every accepted rotation is a command of the log.",
    prepare: async (target) => {
      const { token } = await attackerAccount(target);
      const rotations = Array.from({ length: 400 }, () => rotation(token));
      return flood(pipeline(...rotations), FEW);
    },
  },
  {
    name: "nonces",
    shows: "Nonces are made and authenticated for whoever asks.",
    prepare: () => flood(pipeline(request({ path: "/v1/auth/nonce" })), FEW),
  },
  {
    name: "sign-out-wrong-token",
    shows: "Ends of sessions that do not exist are answered one by one.",
    prepare: () => {
      const path = "/v1/auth/session";
      return flood(pipeline(request({ method: "DELETE", path, token: WRONG_TOKEN })), FEW);
    },
  },
]);

/** To a key that is a valid point as often as not; both are refused or accepted alike in cost. */
function rotation(token: string): Buffer {
  const body = JSON.stringify({ newSessionKey: randomBytes(32).toString("hex") });
  return request({ path: "/v1/auth/rotate", token, body });
}

/** Sign-ins, rotations and nonces: what strangers may ask for without a session. */
import { generateKeyPairSync } from "node:crypto";
import { type SignedIn, signInRequest, tokenIn } from "../../orders/sign-in.js";
import { attacksOf, type Target } from "../attack.js";
import { flood, inTurn, paced } from "../wire/patterns.js";
import { pipeline, request } from "../wire/requests.js";
import { attackerAccount, WRONG_TOKEN } from "./accounts.js";

const FEW = { connections: 4 };
/** Fills a message of 4,096 characters. */
const MANY_RESOURCES = 610;
/** Sign-ins a second that one address is allowed. */
const SIGN_INS_PER_SECOND = 10;

/** Short resources, the first of which binds the session key. */
function manyResources(count = MANY_RESOURCES): string[] {
  return ["urn:perpgate:session?key={key}", ...Array<string>(count - 1).fill("a:b")];
}

/** A session with the longest list of resources that the venue accepts. */
async function accountWithResources(target: Target): Promise<SignedIn> {
  for (const count of [MANY_RESOURCES, 250, 100, 32, 16, 8]) {
    const resources = manyResources(count);
    const { address, privateKeyPem, body } = await signInRequest(target.origin, { resources });
    const { status, text } = await target.post("/v1/auth/siwe", body);
    if (status === 200) return { address, privateKeyPem, token: tokenIn(JSON.parse(text)) };
  }
  return attackerAccount(target, { resources: manyResources(1) });
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
      const { token } = await accountWithResources(target);
      return flood(pipeline(rotation(token)), FEW);
    },
  },
  {
    name: "rotate-unsigned-paced",
    shows: "The same at the 100 a second that limits allow.",
    trader: "socket",
    prepare: async (target) => {
      const { token } = await accountWithResources(target);
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
    shows: "Nonces are made and authenticated for everyone who asks.",
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

/** To a new valid key, which an unbound session may use without a signature. */
function rotation(token: string): Buffer {
  const { publicKey } = generateKeyPairSync("ed25519");
  const newSessionKey = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  const body = JSON.stringify({ newSessionKey: newSessionKey.toString("hex") });
  return request({ path: "/v1/auth/rotate", token, body });
}

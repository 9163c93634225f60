/** Sign-ins, rotations and nonces: what a client may request without a session. */
import { generateKeyPairSync } from "node:crypto";
import { ask, type BenchAccount, signIn, signInRequest } from "../../harness/http.js";
import { request } from "../../harness/wire.js";
import { attacksOf, type PrepareAttack, type Target } from "../attack.js";
import { flood, paced, pipeline, rotating } from "../wire/patterns.js";
import { FEW, times, WRONG_TOKEN } from "./shared.js";

/** Fills a message of 4,096 characters. */
const MANY_RESOURCES = 610;
/** Sign-ins a second that one address is allowed. */
const SIGN_INS_PER_SECOND = 10;

/** Short resources, the first of which binds the session key. */
function manyResources(count = MANY_RESOURCES): string[] {
  return ["urn:perpgate:session?key={key}", ...Array<string>(count - 1).fill("a:b")];
}

/** A session with the longest list of resources that the venue accepts. */
async function accountWithResources({ address }: Target): Promise<BenchAccount> {
  for (const count of [MANY_RESOURCES, 250, 100, 32, 16, 8]) {
    const resources = manyResources(count);
    const { body, ...account } = await signInRequest(address, { resources });
    const { status, text } = await ask(address, "/v1/auth/siwe", { body });
    const token = /"token":"([^"]+)"/.exec(text)?.[1];
    if (status === 200 && token !== undefined) return { ...account, token };
  }
  return signIn(address, { resources: manyResources(1) });
}

/** A sign-in whose signature has one byte changed. */
async function withChangedSignature({ address }: Target, resources: string[]): Promise<Buffer> {
  const { body } = await signInRequest(address, { resources });
  const wrong = body.replace(/("signature":"0x)../, "$111");
  return request({ path: "/v1/auth/siwe", body: wrong });
}

/** Valid sign-ins of new wallets. */
async function signIns({ address }: Target, count: number, resources: string[]): Promise<Buffer[]> {
  const requests: Buffer[] = [];
  for (let i = 0; i < count; i++) {
    const { body } = await signInRequest(address, { resources });
    requests.push(request({ path: "/v1/auth/siwe", body }));
  }
  return requests;
}

/** To a new valid key, which an unbound session may use without a signature. */
function rotation(token: string): Buffer {
  const { publicKey } = generateKeyPairSync("ed25519");
  const newSessionKey = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  const body = JSON.stringify({ newSessionKey: newSessionKey.toString("hex") });
  return request({ path: "/v1/auth/rotate", token, body });
}

const rotateUnsigned =
  (send: (rotation: Buffer) => ReturnType<typeof flood>): PrepareAttack =>
  async (target) =>
    send(rotation((await accountWithResources(target)).token));

const TABLE = `
sign-in-many-resources: A message of 4 KB with hundreds of resources takes 70 ms to parse.
sign-in-many-resources-paced: The same at ten a second, which limits allow until ten have failed.
sign-in-valid-many-resources: Valid messages with hundreds of resources, from fresh wallets, at the limit.
sign-in-wrong-signature: Recovering an address from a wrong signature costs a millisecond each.
sign-in-fresh-wallets: Valid sign-ins from ever new wallets, each a session and a grant in the log.
sign-in-malformed: 4 KB of text that is almost a message is parsed line by line.
rotate-unsigned: A rotation without a signature parses the stored sign-in message again, 55 ms each.
rotate-unsigned-paced*: The same at the 100 a second that limits allow.
rotate-in-a-loop: Every accepted rotation is a command of the log.
nonces: Nonces are made and authenticated for every client that asks.
sign-out-wrong-token: Ends of sessions that do not exist are answered one by one.
`;

export const SIGN_IN_ATTACKS = attacksOf("sign-in", TABLE, {
  "sign-in-many-resources": async (target) =>
    flood(pipeline(await withChangedSignature(target, manyResources())), FEW),
  "sign-in-many-resources-paced": async (target) =>
    paced(await withChangedSignature(target, manyResources()), SIGN_INS_PER_SECOND, FEW),
  "sign-in-valid-many-resources": async (target) =>
    paced(rotating(await signIns(target, 60, manyResources())), SIGN_INS_PER_SECOND, FEW),
  "sign-in-wrong-signature": async (target) =>
    flood(pipeline(await withChangedSignature(target, [])), FEW),
  "sign-in-fresh-wallets": async (target) => flood(rotating(await signIns(target, 150, [])), FEW),
  "sign-in-malformed": async ({ address }) => {
    const { body } = await signInRequest(address, { resources: manyResources() });
    const malformed = body.replace("Version: 1", "Version: 2");
    return flood(pipeline(request({ path: "/v1/auth/siwe", body: malformed })), FEW);
  },
  "rotate-unsigned": rotateUnsigned((bytes) => flood(pipeline(bytes), FEW)),
  "rotate-unsigned-paced": rotateUnsigned((bytes) => paced(bytes, 100, FEW)),
  "rotate-in-a-loop": async ({ address }) => {
    const { token } = await signIn(address);
    return flood(pipeline(...times(400, () => rotation(token))), FEW);
  },
  nonces: () => flood(pipeline(request({ path: "/v1/auth/nonce" })), FEW),
  "sign-out-wrong-token": () => {
    const path = "/v1/auth/session";
    return flood(pipeline(request({ method: "DELETE", path, token: WRONG_TOKEN })), FEW);
  },
});

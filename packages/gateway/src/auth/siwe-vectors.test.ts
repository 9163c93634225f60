import { ApiError } from "@perpgate/protocol/core";
import { describe, expect, test } from "vitest";
import { RpcContractWallets } from "./contract-wallets.js";
import { millisecondsOf } from "./rfc3339.js";
import type { SiweMessage } from "./siwe-message.js";
import { checkDomain, checkValidity } from "./siwe-rules.js";
import { checkWalletSignature, parseSiweMessage } from "./testing/proofs.js";
import { type SiweFields, siweText } from "./testing/siwe-text.js";
import { withVectors } from "./testing/vectors.js";

/** Which line each message of parsing_negative.json goes wrong on. */
const FAULTY_LINES: Readonly<Record<string, number>> = {
  "missing domain": 1,
  "missing address": 2,
  "missing uri": 6,
  "missing version": 7,
  "missing chainId": 8,
  "missing nonce": 9,
  "missing issuedAt": 10,
  "out of order uri": 6,
  "out of order version": 7,
  "out of order chainId": 8,
  "out of order nonce": 9,
  "out of order issuedAt": 10,
  "out of order expirationTime": 12,
  "out of order notBefore": 13,
  "out of order requestId": 15,
  "out of order resources": 14,
  "domain not RFC4501 authority": 1,
  "address not EIP-55": 2,
  "statement has line break": 5,
  "uri is non-RFC 3986": 6,
  "version not 1": 7,
  "not a valid chainId": 8,
  "nonce with less then 8 chars": 9,
  "non-ISO 8601 issuedAt": 10,
  "non-ISO 8601 expirationTime": 11,
  "non-ISO 8601 notBefore": 12,
  "resources not separated by line break": 15,
  "first resource not-RFC 3986": 15,
  "second resource is not-RFC3986": 16,
};

interface Verification extends SiweFields {
  readonly signature: string;
  readonly time?: string;
  readonly domainBinding?: string;
  readonly matchNonce?: string;
}

const NO_CHAINS = new RpcContractWallets(new Map());

function refusalOf(act: () => unknown): ApiError {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

function fieldsOf(message: SiweMessage): object {
  const { text: _, resources, ...fields } = message;
  return { ...fields, resources: [...resources] };
}

function expectedFields(fields: SiweFields): object {
  const time = (text: string | undefined) =>
    text === undefined ? undefined : millisecondsOf(text);
  const { domain, address, statement, uri, chainId, nonce, requestId } = fields;
  return {
    scheme: fields.scheme ?? undefined,
    ...{ domain, address, statement, uri, chainId, nonce, requestId },
    issuedAtMs: time(fields.issuedAt),
    expiresAtMs: time(fields.expirationTime),
    notBeforeMs: time(fields.notBefore),
    resources: fields.resources ?? [],
  };
}

/** What the vectors call verification: grammar, times, domain, nonce and signature together. */
async function verify(vector: Verification): Promise<void> {
  const message = parseSiweMessage(siweText(vector));
  const now = vector.time === undefined ? message.issuedAtMs : millisecondsOf(vector.time);
  if (now === undefined) throw new Error(`the vector's time ${vector.time} is none`);
  checkValidity(message, now);
  if (vector.domainBinding !== undefined) checkDomain(message, new Set([vector.domainBinding]));
  if (vector.matchNonce !== undefined && vector.matchNonce !== message.nonce) {
    throw new ApiError("siwe_nonce_not_issued", {});
  }
  await checkWalletSignature(message, vector.signature, NO_CHAINS);
}

withVectors("siwe", (read) => {
  describe("EIP-4361 vectors", () => {
    const positive =
      read<Record<string, { message: string; fields: SiweFields }>>("parsing_positive.json");
    test.each(Object.entries(positive))("parse: %s", (_, { message, fields }) => {
      expect(fieldsOf(parseSiweMessage(message))).toEqual(expectedFields(fields));
      expect(siweText(fields)).toBe(message);
    });

    const negative = read<Record<string, string>>("parsing_negative.json");
    test("parse: there is a line for every refused message", () => {
      expect(Object.keys(negative).sort()).toEqual(Object.keys(FAULTY_LINES).sort());
    });
    test.each(Object.entries(negative))("parse: %s is refused on its line", (name, message) => {
      const refusal = refusalOf(() => parseSiweMessage(message));
      expect(refusal.code).toBe("invalid_siwe_message");
      expect(refusal.details, refusal.message).toMatchObject({ line: FAULTY_LINES[name] });
    });

    const objects = read<Record<string, SiweFields>>("parsing_negative_objects.json");
    test.each(Object.entries(objects))("parse: written from fields, %s is refused", (_, fields) => {
      expect(refusalOf(() => parseSiweMessage(siweText(fields))).code).toBe("invalid_siwe_message");
    });

    const verified = read<Record<string, Verification>>("verification_positive.json");
    test.each(Object.entries(verified))("verify: %s", async (_, vector) => {
      await verify(vector);
    });

    const refused = read<Record<string, Verification>>("verification_negative.json");
    const codes: Readonly<Record<string, string>> = {
      "expired message": "siwe_message_expired",
      "domain binding": "siwe_domain_not_allowed",
      "custom time": "siwe_message_expired",
      "custom nonce": "siwe_nonce_not_issued",
      "malformed signature": "invalid_signature",
      "wrong signature": "invalid_signature",
      "not yet valid": "siwe_message_not_yet_valid",
      "invalid issuedAt": "invalid_siwe_message",
      "invalid notBefore": "invalid_siwe_message",
      "invalid expirationTime": "invalid_siwe_message",
    };
    test.each(Object.entries(refused))("verify: %s is refused", async (name, vector) => {
      await expect(verify(vector)).rejects.toMatchObject({ name: "ApiError", code: codes[name] });
    });

    const contracts = read<Record<string, { message: string; signature: string }>>("eip1271.json");
    test.each(Object.entries(contracts))(
      "verify: without its chain, the contract wallet %s is not taken for a key",
      async (_, { message, signature }) => {
        const parsed = parseSiweMessage(message);
        await expect(checkWalletSignature(parsed, signature, NO_CHAINS)).rejects.toMatchObject({
          name: "ApiError",
          status: 401,
        });
      },
    );
  });
});

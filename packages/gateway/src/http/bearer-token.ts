/** The token of an `Authorization` header, or undefined where there is none of that form. */

import { BearerToken } from "../auth/session-token.js";

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

export function bearerTokenOf(authorization: string | undefined): BearerToken | undefined {
  const text = BEARER.exec(authorization ?? "")?.[1];
  return text === undefined ? undefined : new BearerToken(text);
}

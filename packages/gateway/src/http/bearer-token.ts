/** The token of an `Authorization` header, or undefined where there is none of that form. */

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

export function bearerTokenOf(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

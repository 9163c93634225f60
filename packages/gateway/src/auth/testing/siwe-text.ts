/** Writes a sign-in message from its fields, as EIP-4361 lays it out; judges nothing. */

export interface SiweFields {
  readonly scheme?: string | null;
  readonly domain?: string;
  readonly address?: string;
  readonly statement?: string;
  readonly uri?: string;
  readonly version?: string;
  readonly chainId?: number | string;
  readonly nonce?: string;
  readonly issuedAt?: string;
  readonly expirationTime?: string;
  readonly notBefore?: string;
  readonly requestId?: string;
  readonly resources?: readonly string[];
}

export function siweText(fields: SiweFields): string {
  const { scheme, statement, resources } = fields;
  const domain = `${scheme === undefined || scheme === null ? "" : `${scheme}://`}${fields.domain ?? ""}`;
  const lines = [
    `${domain} wants you to sign in with your Ethereum account:`,
    fields.address ?? "",
    "",
    ...(statement === undefined ? [""] : [statement, ""]),
    ...titled("URI", fields.uri),
    ...titled("Version", fields.version),
    ...titled("Chain ID", fields.chainId),
    ...titled("Nonce", fields.nonce),
    ...titled("Issued At", fields.issuedAt),
    ...titled("Expiration Time", fields.expirationTime),
    ...titled("Not Before", fields.notBefore),
    ...titled("Request ID", fields.requestId),
    ...(resources === undefined ? [] : ["Resources:", ...resources.map((uri) => `- ${uri}`)]),
  ];
  return lines.join("\n");
}

function titled(title: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`${title}: ${value}`];
}

/** HTTP requests of attacks as bytes, and pipelines of them. */
export interface RequestParts {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** About what one write hands to the system. */
const PIPELINE_BYTES = 65_536;

export function request({ method, path, token, headers = {}, body }: RequestParts): Buffer {
  const lines = [
    `${method ?? (body === undefined ? "GET" : "POST")} ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...(body === undefined
      ? []
      : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return body === undefined ? head : Buffer.concat([head, Buffer.from(body)]);
}

/** The given requests over and over, in one buffer of about a write's size. */
export function pipeline(...requests: readonly Buffer[]): Buffer {
  const once = Buffer.concat(requests);
  return Buffer.concat(repeated(once, Math.max(1, Math.floor(PIPELINE_BYTES / once.length))));
}

export function repeated<T>(value: T, count: number): T[] {
  return Array<T>(count).fill(value);
}

/**
 * Requests that are nearly plain: an order, with one or several things about it that parsers have
 * been known to read differently. Each is a text of one byte a character.
 */

import type { Chance } from "../../../ws/testing/order-flow.js";

interface Parts {
  line: string;
  headers: [before: string, value: string][];
  body: string;
  lineEnd: string;
}

let nonce = 0;

export function orderText(): string {
  nonce++;
  return `{"symbol":"BTCUSD","side":"long","type":"market","margin":5,"leverage":5,"nonce":${nonce}}`;
}

function plainParts(): Parts {
  const body = orderText();
  return {
    line: "POST /v1/orders HTTP/1.1",
    headers: [
      ["host: ", "venue.test"],
      ["content-type: ", "application/json"],
      ["authorization: ", "Bearer test-token"],
      ["x-request-id: ", `id-${nonce}`],
      ["content-length: ", String(body.length)],
    ],
    body,
    lineEnd: "\r\n",
  };
}

function render({ line, headers, body, lineEnd }: Parts): string {
  const lines = [line, ...headers.map(([before, value]) => before + value), "", ""];
  return lines.join(lineEnd) + body;
}

export function plainOrder(): string {
  return render(plainParts());
}

type Change = (parts: Parts, chance: Chance) => void;

const LINES = [
  "POST  /v1/orders HTTP/1.1",
  "POST /v1/orders  HTTP/1.1",
  "POST\t/v1/orders HTTP/1.1",
  "POST /v1/orders HTTP/1.1 ",
  " POST /v1/orders HTTP/1.1",
  "\r\nPOST /v1/orders HTTP/1.1",
  "\nPOST /v1/orders HTTP/1.1",
  "post /v1/orders HTTP/1.1",
  "PUT /v1/orders HTTP/1.1",
  "POST /v1/orders HTTP/1.0",
  "POST /v1/orders HTTP/1.2",
  "POST /v1/orders HTTP/2.0",
  "POST /v1/orders http/1.1",
  "POST /v1/orders",
  "POST http://venue.test/v1/orders HTTP/1.1",
  "POST /v1/orders? HTTP/1.1",
  "POST /v1/orders?a=1 HTTP/1.1",
  "POST /v1/orders/ HTTP/1.1",
  "POST //v1/orders HTTP/1.1",
  "POST /v1/%6frders HTTP/1.1",
  "POST /v1/orders#a HTTP/1.1",
  "POST /v1/orders\0 HTTP/1.1",
  "GET /v1/orders HTTP/1.1",
  "GET /v1/markets/BTCUSD/book HTTP/1.1",
  "GET /v1/markets/BTCUSD/book?depth=1 HTTP/1.1",
  "GET /v1/markets/BTCUSD/book?depth=1&depth=2 HTTP/1.1",
  "GET /v1/markets/btcusd/book HTTP/1.1",
];

const LENGTHS: readonly ((length: number) => string)[] = [
  (n) => `+${n}`,
  (n) => `-${n}`,
  (n) => `0${n}`,
  (n) => `${n} `,
  (n) => ` ${n}`,
  (n) => `\t${n}`,
  (n) => `${n}\t`,
  (n) => `${n}, ${n}`,
  (n) => `${n},${n}`,
  (n) => `${n} ${n}`,
  (n) => `0x${n.toString(16)}`,
  (n) => `${n}e0`,
  (n) => `${n}.0`,
  (n) => `${n}\0`,
  (n) => `"${n}"`,
  (n) => String(n - 1),
  (n) => String(n + 1),
  (n) => String(n + 40),
  () => "0",
  () => "1",
  () => "",
  () => "513",
  () => "99999999999999999999",
  () => "18446744073709551617",
];

const EXTRA: readonly [string, string][] = [
  ["transfer-encoding: ", "chunked"],
  ["transfer-encoding: ", "identity"],
  ["transfer-encoding: ", "xchunked"],
  ["transfer-encoding: ", "chunked, identity"],
  ["transfer-encoding:", "\x0bchunked"],
  ["transfer-encoding : ", "chunked"],
  [" transfer-encoding: ", "chunked"],
  ["transfer_encoding: ", "chunked"],
  ["expect: ", "100-continue"],
  ["expect: ", "something"],
  ["upgrade: ", "h2c"],
  ["connection: ", "close"],
  ["connection: ", "keep-alive"],
  ["connection: ", "Keep-Alive"],
  ["connection: ", "keep-alive, close"],
  ["connection: ", "upgrade"],
  ["connection: ", "content-length"],
  ["proxy-connection: ", "close"],
  ["keep-alive: ", "timeout=1"],
  ["te: ", "trailers"],
  ["trailer: ", "content-length"],
  ["origin: ", "https://page.test"],
  ["x-forwarded-for: ", "10.0.0.1"],
  ["content-encoding: ", "gzip"],
  ["user-agent: ", "a\tb"],
  ["user-agent: ", "a b"],
  ["user-agent: ", "caf\xe9"],
  ["user-agent: ", "a\0b"],
  ["user-agent: ", "a\x7fb"],
  ["user-agent: ", "a\rb"],
  ["user-agent: ", "a\nb"],
  ["user-agent: ", "a\r\n b"],
  ["user-agent: ", "a\r\n\tb"],
  ["user-agent: ", ""],
  ["user-agent: ", "u".repeat(9_000)],
  ["user-agent: ", "u".repeat(20_000)],
  ["user-agent : ", "a"],
  ["user agent: ", "a"],
  [": ", "a"],
  ["", "no colon"],
  ["", " folded"],
];

const CHANGES: readonly Change[] = [
  (parts, chance) => {
    parts.line = pick(chance, LINES);
  },
  (parts) => {
    parts.lineEnd = "\n";
  },
  (parts, chance) => {
    const header = pick(chance, parts.headers);
    header[1] += pick(chance, ["\n", "\r", " ", "\t", "\0", "\r\n ", "\r\n\t", "\r\r", "\n\r"]);
  },
  (parts, chance) => {
    const header = pick(chance, parts.headers);
    header[1] = pick(chance, [" ", "\t", "\0", "\r\n "]) + header[1];
  },
  (parts, chance) => {
    const header = pick(chance, parts.headers);
    header[0] = pick(chance, [
      header[0].toUpperCase(),
      header[0].replace(": ", ":"),
      header[0].replace(": ", " : "),
      header[0].replace(": ", ":\t"),
      header[0].replace(": ", ":\r\n "),
      ` ${header[0]}`,
      `${header[0].slice(0, 2)}\0${header[0].slice(2)}`,
      header[0].replace("-", "_"),
    ]);
  },
  (parts, chance) => {
    const length = parts.headers.find(([name]) => name.startsWith("content-length"));
    if (length !== undefined) length[1] = pick(chance, LENGTHS)(parts.body.length);
  },
  (parts, chance) => {
    const length = pick(chance, LENGTHS)(parts.body.length);
    insert(parts, chance, ["content-length: ", length]);
  },
  (parts, chance) => insert(parts, chance, [...pick(chance, EXTRA)]),
  (parts, chance) => insert(parts, chance, [...pick(chance, parts.headers)]),
  (parts, chance) => {
    parts.headers.splice(chance.below(parts.headers.length), 1);
  },
  (parts, chance) => {
    parts.headers.sort(() => chance.below(3) - 1);
  },
  (parts) => {
    const { body, headers } = parts;
    parts.headers = headers.filter(([name]) => !name.startsWith("content-length"));
    parts.headers.push(["transfer-encoding: ", "chunked"]);
    parts.body = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  },
  (parts, chance) => {
    parts.body += pick(chance, ["x", "\r\n", "\r\n\r\n", " ", "\0", "0\r\n\r\n"]);
  },
  (parts, chance) => {
    parts.body = parts.body.slice(0, chance.below(parts.body.length));
  },
  (parts, chance) => {
    const type = parts.headers.find(([name]) => name.startsWith("content-type"));
    const types = ["text/plain", "application/json; charset=utf-8", "Application/JSON", ""];
    if (type !== undefined) type[1] = pick(chance, types);
  },
  (parts, chance) => {
    const bodies = ["{", "[]", '{"nonce":1,"nonce":1}', "\xff\xfe", "nul", "\r\n", '{"a":"\xe9"}'];
    setBody(parts, pick(chance, bodies));
  },
];

function pick<T>(chance: Chance, values: readonly T[]): T {
  return values[chance.below(values.length)]!;
}

function insert(parts: Parts, chance: Chance, header: [string, string]): void {
  parts.headers.splice(chance.below(parts.headers.length + 1), 0, header);
}

function setBody(parts: Parts, body: string): void {
  parts.body = body;
  const length = parts.headers.find(([name]) => name.startsWith("content-length"));
  if (length !== undefined) length[1] = String(body.length);
}

/** An order with one to three changes, or with some of its bytes at random. */
export function oddOrder(chance: Chance): string {
  if (chance.below(4) === 0) return scrambled(plainOrder(), chance);
  const parts = plainParts();
  const changes = 1 + chance.below(3);
  for (let i = 0; i < changes; i++) pick(chance, CHANGES)(parts, chance);
  return render(parts);
}

/** One order for each line, each length and each header of the lists above. */
export function everyOddOrder(): string[] {
  const changed = (change: (parts: Parts) => void) => {
    const parts = plainParts();
    change(parts);
    return render(parts);
  };
  return [
    ...LINES.map((line) => changed((parts) => Object.assign(parts, { line }))),
    ...LENGTHS.map((lengthOf) =>
      changed((parts) => {
        parts.headers.at(-1)![1] = lengthOf(parts.body.length);
      }),
    ),
    ...LENGTHS.map((lengthOf) =>
      changed((parts) => parts.headers.push(["content-length: ", lengthOf(parts.body.length)])),
    ),
    ...EXTRA.map((header) => changed((parts) => parts.headers.push([...header]))),
    ...EXTRA.map((header) => changed((parts) => parts.headers.unshift([...header]))),
  ];
}

const INSERTED = ["\0", "\r", "\n", "\r\n", " ", "\t", ":", "x", "\x7f", "\x80", "0", ","];

function scrambled(text: string, chance: Chance): string {
  const changes = 1 + chance.below(3);
  let changed = text;
  for (let i = 0; i < changes; i++) {
    const at = chance.below(changed.length);
    const skipped = chance.below(3);
    const inserted = chance.below(2) === 0 ? pick(chance, INSERTED) : "";
    changed = changed.slice(0, at) + inserted + changed.slice(at + skipped);
  }
  return changed;
}

/** The head of an answer, line by line as Node writes it. */

import { STATUS_CODES } from "node:http";

const STATUS_LINES: string[] = [];
/** What would begin another line in the head of an answer. */
const NOT_IN_A_VALUE = /[^\t\x20-\x7e]/;

export interface KeepAlive {
  /** The lines that say that the connection stays, and for how long. */
  readonly stays: string;
  readonly ends: string;
}

export function keepAliveLines(timeoutMs: number): KeepAlive {
  const seconds = Math.floor(timeoutMs / 1_000);
  const timeout = timeoutMs === 0 ? "" : `Keep-Alive: timeout=${seconds}\r\n`;
  return { stays: `Connection: keep-alive\r\n${timeout}\r\n`, ends: "Connection: close\r\n\r\n" };
}

/** Names and values by turns; the last line is whether the connection stays. */
export function answerHead(
  status: number,
  headers: readonly string[],
  bodyBytes: number,
  connection: string,
): string {
  let head = statusLine(status);
  for (let i = 0; i < headers.length; i += 2) head += headerLine(headers[i]!, headers[i + 1]!);
  return `${head}content-length: ${bodyBytes}\r\nDate: ${httpDate()}\r\n${connection}`;
}

function statusLine(status: number): string {
  STATUS_LINES[status] ??= `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n`;
  return STATUS_LINES[status];
}

/** Our own headers hold nothing of a client; should one ever, it still cannot become two. */
function headerLine(name: string, value: string): string {
  if (NOT_IN_A_VALUE.test(value)) throw new TypeError(`${name} cannot hold this value`);
  return `${name}: ${value}\r\n`;
}

let dateSecond = 0;
let dateText = "";

function httpDate(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1_000).toUTCString();
  }
  return dateText;
}

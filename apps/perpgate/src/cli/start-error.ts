/** An error that the user can act on: printed without a stack, with an exit code. */

import { printable } from "./printable.js";

export class StartError extends Error {
  override readonly name: string = "StartError";
  readonly exitCode: number = 1;
  /** Stable, for programs. */
  get code(): string {
    return "failed";
  }

  /** For people: one line, and advice on further lines. */
  get text(): string {
    return `perpgate: ${printable(inOneLine(this.message))}\n`;
  }

  /** For programs: one JSON document. */
  get json(): string {
    return `${JSON.stringify({ error: { code: this.code, message: this.message } })}\n`;
  }
}

/** The command was written wrongly; it did nothing. */
export class UsageError extends StartError {
  override readonly name = "UsageError";
  override readonly exitCode = 2;
  override get code(): string {
    return "usage";
  }
}

/** The message of anything thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system error, such as ENOENT. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** Whether the system refused a call, such as for want of room or access. Needs no stack. */
export function isSystemError(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error;
}

/** Joins the lines of a text. Linear in its length, because a venue may have sent it. */
export function inOneLine(text: string): string {
  const lines = text.split("\n");
  if (lines.length === 1) return text;
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
}

/** A reason not to start, or not to go on, that the operator can act on: no stack, an exit code. */

export class StartError extends Error {
  override readonly name: string = "StartError";
  readonly exitCode: number = 1;
  /** A stable word for programs. */
  get code(): string {
    return "failed";
  }

  /** For people: one line, and what to do on a second one if there is anything. */
  get text(): string {
    return `perpgate: ${inOneLine(this.message)}\n`;
  }

  /** For programs: one document. */
  get json(): string {
    return `${JSON.stringify({ error: { code: this.code, message: this.message } })}\n`;
  }
}

/** The command was written wrongly; nothing was tried. */
export class UsageError extends StartError {
  override readonly name = "UsageError";
  override readonly exitCode = 2;
  override get code(): string {
    return "usage";
  }
}

/** The lines of the text as one. It may come from a venue, so the time is linear in its length. */
export function inOneLine(text: string): string {
  const lines = text.split("\n");
  if (lines.length === 1) return text;
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
}

/** Redraws lines in place. Hides the cursor until `end`, or until the process exits. */

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
/** Cuts lines at the width of the terminal; a wrapped line would shift the rest. */
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_LINE = "\x1b[K";

export class Screen {
  private drawn = 0;
  private readonly restore = () => {
    process.stdout.write(WRAP + SHOW_CURSOR);
  };

  constructor() {
    process.stdout.write(HIDE_CURSOR + NO_WRAP);
    process.once("exit", this.restore);
  }

  get rows(): number {
    return process.stdout.rows ?? 24;
  }

  /** Draws no more lines than the terminal has: lines that scroll cannot be redrawn. */
  draw(lines: readonly string[]): void {
    const visible = lines.slice(0, Math.max(1, this.rows - 1));
    const up = this.drawn > 0 ? `\x1b[${this.drawn}A\r` : "";
    const text = visible.map((line) => `${line}${CLEAR_LINE}\n`).join("");
    process.stdout.write(up + text + CLEAR_BELOW);
    this.drawn = visible.length;
  }

  end(): void {
    process.off("exit", this.restore);
    this.restore();
  }
}

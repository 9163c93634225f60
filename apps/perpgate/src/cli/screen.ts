/**
 * Lines drawn again in the same place. The cursor is hidden meanwhile and given back at the end,
 * also where the process ends by itself.
 */

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
/** A line that is wider than the terminal is cut; wrapped, it would take two and shift the rest. */
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

  /** More lines than the terminal has would scroll, and could not be drawn over. */
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
